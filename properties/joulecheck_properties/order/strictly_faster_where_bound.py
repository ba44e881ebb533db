"""ORD002."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases, PeerCase, PeerCases
from joulecheck.estimate import Answers, total
from joulecheck.machine import Resources
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Bools, Floats
from joulecheck_properties.margins import ROUNDING, at_most
from joulecheck_properties.order.resource_inclusion_never_slower import includes
from joulecheck_properties.peers import everyone, with_precisions
from joulecheck_strategies import peer_cases

CLEAR: Final = 0.01
"""By how much one term must stand out, and how much of the latency it must be."""


class StrictlyFasterWhereBound(Property):
    """More of what bounds a workload makes it strictly faster.

    Statement:
        T(A, w) < T(B, w) if A includes B, one resource r is all that bounds w on B, and
        all rates of r are higher on A: t_r(B) + overheads = T(B), with r no launch.

    Rationale:
        All times of A are at most those of B, and that of r is less. A latency with a
        floor, or one that takes a rate from another place, does not move.

    Domain:
        Workloads that B answers with a latency of which r and what is no rate are all;
        r is 1 % of it at least, and no other resource with a rate that is not higher
        comes within 1 % of r. Higher are rates of one unit as well as of all: 60 strips
        of work take one wave on 60 cores and on 64.

    Tolerance:
        Strictness is 1e-9: the difference must be above rounding. The domain makes it
        1e-8 at least.

    Source:
        Williams, Waterman and Patterson, Roofline, CACM 52(4), 2009: what bounds an
        execution decides its time.

    Planted bug:
        throttled: latency is that of another operating point.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        ORD001 finds a larger machine that is slower. One that is as fast as the smaller,
        for it reads its figure, shows by this law alone.
    """

    id: ClassVar = "ORD002"
    name: ClassVar = "strictly-faster-where-bound"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.RESOURCES, Offer.PEERS})
    planted: ClassVar = Planted(
        fault="throttled",
        model="reference:Google-TPU-Edge-Pro",
        shrinks_to=PeerCase(Case(Gemm(m=1, n=1, k=1)), "reference:Google-TPU-Edge-Pro@15W"),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads, against each included peer than which it has higher rates."""
        slower = (peer for peer in everyone(model) if _higher(model, peer))
        reason = "no peer's machine is included in its own with a lower rate"
        needed = {Offer.LATENCY, Offer.LATENCY_TERMS}
        return peer_cases(model, with_precisions(model, slower, reason, offering=needed))

    def margin(self, model: Subject, cases: PeerCases) -> Floats:
        """How far its latency stays below, beyond rounding."""

        def judge(name: str, asked: Cases) -> Floats:
            peer = model.peer(name)
            higher = _higher(model, peer)
            theirs = peer.ask(asked)
            bound = _bound(theirs, higher, peer.machine.resources)
            below = at_most(model.ask(asked).latency, theirs.latency, tolerance=-ROUNDING)
            return np.where(bound, below, np.nan)

        return cases.judged(judge)


def _higher(model: Subject, peer: Subject) -> frozenset[str]:
    """The latency terms with higher rates on the model's machine, if it includes both."""
    mine, theirs = model.machine.resources, peer.machine.resources
    if mine is None or theirs is None or not includes(model, peer):
        return frozenset()
    return mine.higher(theirs)


def _bound(theirs: Answers, higher: frozenset[str], resources: Resources | None) -> Bools:
    """(n,) whether a term with a higher rate alone decides the latency."""
    rates = {} if resources is None else resources.rates
    busy = {name: time for name, time in theirs.latency_terms.items() if name in rates}
    overheads = total(
        {n: t for n, t in theirs.latency_terms.items() if n not in rates}, len(theirs)
    )
    none = np.zeros(len(theirs))
    bounding = np.maximum.reduce([none, *(t for n, t in busy.items() if n in higher)])
    others = np.maximum.reduce([none, *(t for n, t in busy.items() if n not in higher)])
    alone = bounding + overheads >= theirs.latency * (1 - ROUNDING)
    clear = (bounding >= CLEAR * theirs.latency) & (others <= (1 - CLEAR) * bounding)
    found: Bools = alone & clear
    return found
