"""RNK001."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases, PeerCase, PeerCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.reference.archetypes import ARRAY_SIDE, RANKED, technology
from joulecheck.reference.ranking import on_chip_share
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Bools, Floats, tensor_bytes
from joulecheck_properties.margins import ROUNDING, at_most
from joulecheck_properties.peers import named, with_precisions
from joulecheck_strategies import Sizes, regular_peer_cases

FAMILY: Final = "archetype"

DENSE: Final = Sizes(
    m=(1024, 32768),
    n=(1024, 32768),
    k=(1024, 32768),
    channels=(3, 2048),
    image=(14, 224),
    filters=(32, 2048),
    length=(512, 16384),
    width=(32, 256),
)

DEEP: Final = 5 * ARRAY_SIDE
"""Depth of a convolution from which on partial sums of the array are cheap."""


class ClassesRankInOneTechnology(Property):
    """In one technology a TPU needs less energy than a KPU, a GPU and a CPU in turn.

    Statement:
        E(TPU) < E(KPU) < E(GPU) < E(CPU) for class archetypes that share node, tables,
        MACs, clock and capacity; E is on-chip dynamic energy at INT8.

    Rationale:
        A CPU pays an instruction for 64 MACs, a GPU for 4096, a KPU its tags and edges,
        a TPU its accumulators. What is left when the technology is the same is the
        price of control.

    Domain:
        GEMMs of 1024 x 1024 x 1024 and more, dense convolutions of eight images and
        more, attention-shaped chains of 512 places and more. TPU < KPU on part of it:
        on attention whose scores stay in far memory, and where a convolution has 128
        filters and a depth of 640, an array and five passes: in half-empty arrays, and
        where a partial sum is written for few products, the KPU wins. Where another
        layout does on whole regions, RNK004 lists it. The links of the KPU rest on
        assumed figures.

    Tolerance:
        Strictness is 1e-9: the difference must be above rounding.

    Source:
        `archetypes.toml`; the probability of each link over the ranges of its figures
        and what it rests on: `joulecheck rank`.

    Planted bug:
        dear-int8: INT8 costs eight times what it should, as if it were emulated.

    Shrinks to:
        The least GEMM of the domain.

    Stays because:
        BND013 and CMP009 find the slips in an archetype that turn the order. This law
        states the order itself: a set of prices that is consistent and turns it shows
        nowhere else.
    """

    id: ClassVar = "RNK001"
    name: ClassVar = "classes-rank-in-one-technology"
    needs: ClassVar = frozenset({Offer.ENERGY_TERMS, Offer.THROUGH, Offer.PEERS})
    planted: ClassVar = Planted(
        fault="dear-int8",
        model="archetype:KPU",
        shrinks_to=PeerCase(
            Case(Gemm(m=1024, n=1024, k=1024), Precision.INT8), "archetype:GPU"
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Large regular workloads, against the next class of the order."""
        family, _, own = model.name.partition(":")
        following = RANKED[RANKED.index(own) + 1 :][:1] if own in RANKED else ()
        ranked = named(model, following if family == FAMILY else ())
        reason = f"it is none of the archetypes {', '.join(RANKED[:-1])}"
        pairs = with_precisions(model, ranked, reason, offering=self.needs)
        return regular_peer_cases(model, pairs, sizes=DENSE)

    def margin(self, model: Subject, cases: PeerCases) -> Floats:
        """How far its energy stays below that of the next class, beyond rounding."""
        firm_everywhere = not model.name.endswith(f":{RANKED[0]}")

        def judge(name: str, asked: Cases) -> Floats:
            mine, theirs = (
                on_chip_share(subject.name, subject.ask(asked))
                for subject in (model, model.peer(name))
            )
            below = at_most(mine, theirs, tolerance=-ROUNDING)
            return np.where(firm_everywhere | _suits_the_array(asked), below, np.nan)

        return cases.judged(judge)


def _suits_the_array(cases: Cases) -> Bools:
    """(n,) operators that fill the array, and attention that stays in far memory."""
    ops = cases.operators
    kept = tensor_bytes(ops.output_elements, ops.per_operator(cases.bits))
    stays = ops.output_is_internal & (kept <= technology().far_bytes)
    fills = ~ops.output_is_internal & (ops.n >= ARRAY_SIDE) & (ops.k >= DEEP)
    operators = np.diff(np.append(ops.starts, len(ops)))
    inside = ops.per_case(stays.astype(np.float64)) >= operators - 1
    found: Bools = np.where(operators > 1, inside, ops.per_case(fills.astype(np.float64)))
    return found.astype(bool)
