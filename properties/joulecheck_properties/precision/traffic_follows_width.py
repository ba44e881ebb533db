"""PRC004."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases, PrecisionPair, PrecisionPairs
from joulecheck.errors import NotOffered
from joulecheck.estimate import Answers
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Bools, Floats, tensor_bytes
from joulecheck_properties.margins import at_most, least
from joulecheck_properties.prices import compulsory_bytes
from joulecheck_strategies import precision_pairs

WHOLE: Final = 1 << 16
"""Bytes of a tensor from which on the last line of a memory, of at most 512 bytes,
matters less than `SLACK`."""

SLACK: Final = 0.01


class TrafficFollowsWidth(Property):
    """Bytes across the edge of the chip follow the width of the elements.

    Statement:
        Let p be below p' in the partial order, r the ratio of their widths, and Q the
        bytes that cross a memory outside the chip, C the compulsory ones of these.
        Q(p) <= Q(p'). If Q(p') = C(p'), then Q(p) = C(p): compulsory traffic is
        proportional to width. Q(p') <= r^2 Q(p) of a GEMM alone, if the model declares
        the traffic of the memory as smooth.

    Rationale:
        A tensor of half the width has half the bytes, and up to twice as much of what
        lies on the chip. A width that does not reach the traffic, or reaches it twice,
        breaks one of the three.

    Domain:
        Precisions that the model supports and the order relates, memories with homes of
        which the model tells the traffic. The second part holds for tensors of at least
        64 KiB, beside which a last line or sector is small. The third is for models whose
        traffic grows no faster than the room on the chip shrinks (`smooth`), as that of
        the best tiling of a GEMM does; where a tensor either fits or does not, it jumps.
        The lower end r of the range would need sums that narrow with the operands, and
        most do not.

    Tolerance:
        1e-9; for the second part 1 %, which is more than a last line of 512 bytes.

    Source:
        Q(w) = r Q(w / r) with a capacity of S / r, as bytes of all kinds scale alike;
        F(S / r) <= r F(S) is the smoothness.

    Planted bug:
        width-upside-down: traffic grows as the elements get narrower.

    Shrinks to:
        The GEMM of one MAC, FP32 against FP64.

    Stays because:
        BND008 and BND014 find bytes that are wrong at one precision by another level or
        by their price. This law holds the bytes of two precisions against each other and
        needs neither.
    """

    id: ClassVar = "PRC004"
    name: ClassVar = "traffic-follows-width"
    needs: ClassVar = frozenset({Offer.TRAFFIC})
    planted: ClassVar = Planted(
        fault="width-upside-down",
        model="reference:Intel-i7-12700K",
        shrinks_to=PrecisionPair(
            narrower=Case(Gemm(m=1, n=1, k=1), Precision.FP32),
            wider=Case(Gemm(m=1, n=1, k=1), Precision.FP64),
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads at two ordered precisions."""
        memories = model.machine.memories
        if not any(memories[name].homes for name in model.traffic):
            msg = "it tells the traffic of no memory with homes"
            raise NotOffered(msg)
        return precision_pairs(model)

    def margin(self, model: Subject, cases: PrecisionPairs) -> Floats:
        """The least margin over the memories."""
        narrower, wider = model.ask(cases.narrower), model.ask(cases.wider)
        return least(_margins(model, cases, narrower, wider), len(cases))


def _margins(
    model: Subject, cases: PrecisionPairs, narrower: Answers, wider: Answers
) -> Iterator[Floats]:
    a_gemm, large = cases.wider.operators.gemm, _large(cases.narrower)
    ratio = cases.wider.bits / cases.narrower.bits
    for name, memory in model.machine.memories.items():
        if memory.homes and name in narrower.traffic and name in wider.traffic:
            few, many = narrower.traffic[name], wider.traffic[name]
            once, twice = (
                compulsory_bytes(one, memory.homes) for one in (cases.narrower, cases.wider)
            )
            yield at_most(few, many)
            compulsory = large & (many <= twice * (1 + SLACK))
            yield np.where(compulsory, at_most(few, once, SLACK), np.nan)
            if name in model.smooth:
                yield np.where(a_gemm, at_most(many, ratio**2 * few), np.nan)


def _large(cases: Cases) -> Bools:
    """(n,) whether every external tensor has many lines of bytes."""
    ops = cases.operators
    bits = ops.per_operator(cases.bits)
    tensors = (
        (ops.touched_elements, ops.external_inputs > 0),
        (ops.weight_elements, (ops.weight_elements > 0) & ~ops.weight_is_internal),
        (ops.output_elements, ~ops.output_is_internal),
    )
    small = sum(
        (there & (tensor_bytes(elements, bits) < WHOLE)).astype(np.float64)
        for elements, there in tensors
    )
    found: Bools = ops.per_case(np.asarray(small)) == 0
    return found
