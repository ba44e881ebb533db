"""ORD001."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases, PeerCase, PeerCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most
from joulecheck_properties.peers import everyone, with_precisions
from joulecheck_strategies import peer_cases


class ResourceInclusionNeverSlower(Property):
    """A machine that has all that another has is never slower.

    Statement:
        T(A, w) <= T(B, w) for every workload w, if A includes B: the same tiles,
        engines and memories, no rate and no capacity smaller for one unit or in all, no
        delay longer, and every precision of B.

    Rationale:
        A can do what B does and leave the rest idle. A model in which more units cost
        time, or in which a rate is divided where it should be multiplied, breaks it.

    Domain:
        Peers that the model's machine includes, computed from `Machine.resources` of
        both and from no list; at the precisions of the included one. What units share
        must be no smaller for one of them either, since a correct model may give each
        its part: H100 SXM does not include H100 PCIe, whose L2 is as fast and serves
        fewer units. A larger array is no inclusion: a result of one MAC takes 767
        cycles on a side of 256, and 383 on one of 128.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Simulation: any schedule of the included machine is one of the including.

    Planted bug:
        serial-launch: each unit is launched after the one before it.

    Shrinks to:
        The GEMM of one MAC on Orin AGX, whose GPU has twice the units of Orin NX.

    Stays because:
        ORD002 and ORD004 find the same where one resource decides, or in derived
        machines. This law holds two machines of a catalogue against each other on all
        workloads.
    """

    id: ClassVar = "ORD001"
    name: ClassVar = "resource-inclusion-never-slower"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.RESOURCES, Offer.PEERS})
    planted: ClassVar = Planted(
        fault="serial-launch",
        model="reference:Jetson-Orin-AGX-64GB",
        shrinks_to=PeerCase(Case(Gemm(m=1, n=1, k=1)), "reference:Jetson-Orin-NX-16GB"),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads, against each peer that the machine includes."""
        included = (peer for peer in everyone(model) if includes(model, peer))
        reason = "the machine of none of its peers is included in its own"
        pairs = with_precisions(model, included, reason, offering={Offer.LATENCY})
        return peer_cases(model, pairs)

    def margin(self, model: Subject, cases: PeerCases) -> Floats:
        """How far its latency stays below that of the included machine."""

        def judge(name: str, asked: Cases) -> Floats:
            peer = model.peer(name)
            if not includes(model, peer):
                return np.full(len(asked), np.nan)
            return at_most(model.ask(asked).latency, peer.ask(asked).latency)

        return cases.judged(judge)


def includes(model: Subject, peer: Subject) -> bool:
    """Whether the machine of one includes that of the other, and not the reverse."""
    mine, theirs = model.machine.resources, peer.machine.resources
    if mine is None or theirs is None:
        return False
    return mine.includes(theirs) and not theirs.includes(mine)
