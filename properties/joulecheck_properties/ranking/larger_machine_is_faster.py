"""RNK003."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases, PeerCase, PeerCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.reference.ranking import compared
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import GEMM, PRECISIONS, Bools, Floats
from joulecheck_properties.margins import at_most
from joulecheck_properties.peers import LARGE, advantage, named, with_precisions
from joulecheck_strategies import regular_peer_cases

TWICE: Final = 2.0


class LargerMachineIsFaster(Property):
    """Twice the peak and twice the bandwidth win on large regular work.

    Statement:
        T(A, w, p) <= T(B, w, p) for A a data-centre part and B an edge part of its
        class, or A a systolic array and B a stored-program machine of its tier and w a
        GEMM, if A states at least twice the peak at p of B and twice the bandwidth to
        each operand's home.

    Rationale:
        What a data centre is for, and an array. Without the condition neither is true:
        in most of the comparisons of `joulecheck rank` in which an edge part is faster,
        it is an NPU with more peak than the server.

    Domain:
        Tiers of `ranking.toml`; GEMMs with M and N of 4096 and more and K of 1024 and
        more, dense convolutions as large, attention-shaped chains of 4096 places and
        more. A factor of two because work of x waves, x > 1, takes ceil(x) < 2 x. A
        systolic array is compared on GEMMs alone: few channels or narrow heads leave
        most of it empty.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Williams, Waterman and Patterson, Roofline, CACM 52(4), 2009.

    Planted bug:
        idle-units: three of four units get no work.

    Shrinks to:
        The least GEMM of the domain, at INT8 against Jetson Thor.

    Stays because:
        CMP009 and ORD003 find the same slips where there is a utilisation or a
        predecessor. Of an array against a processor, or of a server against an edge part,
        this law alone speaks.
    """

    id: ClassVar = "RNK003"
    name: ClassVar = "larger-machine-is-faster"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.PEAK, Offer.BANDWIDTH, Offer.PEERS})
    planted: ClassVar = Planted(
        fault="idle-units",
        model="reference:H100-PCIe-80GB",
        shrinks_to=PeerCase(
            Case(Gemm(m=4096, n=4096, k=1024), Precision.INT8),
            "reference:Jetson-Thor-128GB",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Large regular workloads, against each part that has half of all."""
        smaller = (peer for peer in _comparable(model) if any(_twice(model, peer)))
        reason = "it is twice no part of another tier of its class, and no such array"
        pairs = with_precisions(model, smaller, reason, offering={Offer.LATENCY})
        return regular_peer_cases(model, pairs, sizes=LARGE)

    def margin(self, model: Subject, cases: PeerCases) -> Floats:
        """How far its latency stays below that of the smaller part."""

        def judge(name: str, asked: Cases) -> Floats:
            peer = model.peer(name)
            below = at_most(model.ask(asked).latency, peer.ask(asked).latency)
            known = np.array(_twice(model, peer))[asked.precision]
            if model.machine.architecture != peer.machine.architecture:
                known &= _single_gemms(asked)
            return np.where(known, below, np.nan)

        return cases.judged(judge)


def _comparable(model: Subject) -> Iterator[Subject]:
    """Edge parts of its class, or stored-program machines of the tier of an array."""
    own = model.name.rpartition(":")[2]
    tiers = compared().tiers
    mine = model.machine.architecture
    if own in tiers["data_centre"]:
        edge = named(model, tiers["edge"])
        yield from (peer for peer in edge if peer.machine.architecture == mine)
    if mine == "SYSTOLIC_ARRAY":
        beside = named(model, next((tier for tier in tiers.values() if own in tier), ()))
        for peer in beside:
            if peer.machine.architecture == "STORED_PROGRAM":
                yield peer


def _twice(model: Subject, peer: Subject) -> list[bool]:
    """By precision: whether the model's machine states twice of everything."""
    return [advantage(model.machine, peer.machine, p) >= TWICE for p in PRECISIONS]


def _single_gemms(cases: Cases) -> Bools:
    ops = cases.operators
    operators = np.diff(np.append(ops.starts, len(ops)))
    found: Bools = (operators == 1) & (ops.kind[ops.starts] == GEMM)
    return found
