"""RNK002."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases, PeerCase, PeerCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.reference.ranking import (
    POINT_WATT,
    at_power,
    compared,
    names_at_power,
)
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import ROUNDING, at_most, least
from joulecheck_properties.peers import named, with_precisions
from joulecheck_strategies import Sizes, regular_peer_cases

LONG: Final = Sizes(images=(16, 64), image=(56, 112))
"""Long against launches of 20 us: 50 million MACs and more."""


class ClassesRankAtOnePoint(Property):
    """At 30 W a KPU needs less energy than a GPU, and a CPU more than any other class.

    Statement:
        E(X) < E(Y) and inferences / (s W) of X > those of Y, for the pairs X, Y that
        `ranking.toml` claims: KPU < GPU < CPU and TPU < CPU, all parts at INT8 and at
        30 W; E is total energy, W the power of the profile.

    Rationale:
        Instructions for 16 MACs each cost more than whatever the other classes spend on
        control, and no memory makes up for it. Half a GPU at half its clock bears its
        static power for twice as long and more. A factor of 1000 in a unit changes it.

    Domain:
        GEMMs of 1024 x 1024 x 1024 and more, convolutions of 16 images of 56 x 56 and
        more, attention-shaped chains of 512 places and more: on short work the launch
        decides. Of TPU < KPU and TPU < GPU nothing is claimed: RNK004 lists where the
        models contradict the one, and convolutions whose inputs a TPU of 2 MiB fetches
        again contradict the other. KPU < GPU rests on an estimate of static power.

    Tolerance:
        Strictness is 1e-9: the difference must be above rounding.

    Source:
        `ranking.toml` and the machine files; `joulecheck rank` has the ratios and the
        smallest change of a coefficient that flips a link.

    Planted bug:
        milliwatts: static power is read in the wrong unit.

    Shrinks to:
        The least GEMM of the domain, the KPU against the GPU.

    Stays because:
        BND009 and BND015 find the slips in a power that turn the order. This law states
        the order itself: a set of prices that is consistent and turns it shows nowhere
        else.
    """

    id: ClassVar = "RNK002"
    name: ClassVar = "classes-rank-at-one-point"
    needs: ClassVar = frozenset({Offer.ENERGY, Offer.LATENCY, Offer.PEERS})
    planted: ClassVar = Planted(
        fault="milliwatts",
        model="reference:Stillwater-KPU-T256",
        shrinks_to=PeerCase(
            Case(Gemm(m=1024, n=1024, k=1024), Precision.INT8),
            "reference:Jetson-Orin-AGX-64GB@30W",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Large regular workloads, against each class that needs more."""
        own = model.name.partition(":")[2]
        roles = {one.role: one.machine for one in compared().representatives}
        above = [
            at_power(roles[role])
            for one in compared().representatives
            if own in names_at_power(one.machine)
            for role in one.below
        ]
        reason = f"it stands for no class at {POINT_WATT:g} W, or for the last of them"
        pairs = with_precisions(
            model,
            named(model, above),
            reason,
            offering=self.needs,
            among={Precision.INT8},
        )
        return regular_peer_cases(model, pairs, sizes=LONG)

    def margin(self, model: Subject, cases: PeerCases) -> Floats:
        """How far energy, and seconds times watts, stay below those of the peer."""

        def judge(name: str, asked: Cases) -> Floats:
            peer = model.peer(name)
            mine, theirs = model.ask(asked), peer.ask(asked)
            watts, others = (s.machine.tdp or POINT_WATT for s in (model, peer))
            below = (
                at_most(mine.energy, theirs.energy, tolerance=-ROUNDING),
                at_most(mine.latency * watts, theirs.latency * others, tolerance=-ROUNDING),
            )
            answered = np.isfinite(below[0]) & np.isfinite(below[1])
            return np.where(answered, least(below, len(asked)), np.nan)

        return cases.judged(judge)
