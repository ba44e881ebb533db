"""ORD003."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases, PeerCase, PeerCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import PRECISIONS, Floats
from joulecheck_properties.margins import at_most
from joulecheck_properties.peers import LARGE, advantage, named, with_precisions
from joulecheck_strategies import regular_peer_cases


class LaterGenerationNeverSlower(Property):
    """A machine is no slower than the one that it replaces, on large work.

    Statement:
        T(A, w, p) <= T(B, w, p) if the machine file of A declares that it succeeds B.

    Rationale:
        That is what a generation is for. A peak or a bandwidth that is taken from the
        wrong row of a table, or for another clock, breaks it.

    Domain:
        Precisions at which the successor states no lower peak, with no lower bandwidth
        to any home: B100 computes FP64 and FP32 slower than H100. GEMMs with M and N of
        4096 and more, K of 1024 and more, and dense convolutions as large: 1024 tiles of
        128 x 128 make seven waves on 148 units, so that a last one that is partly empty
        costs no more than what a generation gains. It is not so for small work: V100
        has the higher clock and is up to 8 % faster than A100 on one wave, Granite
        Rapids takes longer to launch. Nor for attention: H100's L2 is stated slower
        than A100's.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        `successor_of` of the machine files, each with its source.

    Planted bug:
        idle-units: three of four units get no work.

    Shrinks to:
        The least GEMM of the domain, against V100.
    """

    id: ClassVar = "ORD003"
    name: ClassVar = "later-generation-never-slower"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.PEAK, Offer.BANDWIDTH, Offer.PEERS})
    planted: ClassVar = Planted(
        fault="idle-units",
        model="reference:A100-SXM4-80GB",
        shrinks_to=PeerCase(Case(Gemm(m=4096, n=4096, k=1024)), "reference:V100-SXM3-32GB"),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Large GEMMs and convolutions, against the machines that it replaces."""
        before = named(model, model.machine.successor_of)
        reason = "its machine declares no predecessor among its peers (successor_of)"
        pairs = with_precisions(model, before, reason, offering={Offer.LATENCY})
        return regular_peer_cases(model, pairs, forms=("gemm", "convolution"), sizes=LARGE)

    def margin(self, model: Subject, cases: PeerCases) -> Floats:
        """How far its latency stays below that of the predecessor."""

        def judge(name: str, asked: Cases) -> Floats:
            peer = model.peer(name)
            no_less = np.array(
                [advantage(model.machine, peer.machine, p) >= 1 for p in PRECISIONS]
            )
            below = at_most(model.ask(asked).latency, peer.ask(asked).latency)
            return np.where(no_less[asked.precision], below, np.nan)

        return cases.judged(judge)
