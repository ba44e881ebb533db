"""BND016."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, least
from joulecheck_properties.prices import memory_times, passing
from joulecheck_strategies import workloads


class MemoryTimeAboveTraffic(Property):
    """The time of a memory is at least its traffic over its bandwidth.

    Statement:
        t_m >= Q_m / bandwidth_m for every memory m with a latency term t_m of its name or
        of the one that it declares. Q_m are the bytes that the model says cross m, as
        traffic or as events of the prices in J/B of m's energy term, and no fewer than
        those of the operands that m carries or is the home of, each once.

    Rationale:
        BND002 and BND005 look at the whole latency, which another term decides most of
        the time. A bandwidth that is read from the wrong row shows in the term.

    Domain:
        Memories that state a bandwidth, and of which the model tells the bytes or the
        machine the operands that pass. Of a convolution's input only what its filters
        certainly touch is compulsory. A term is the time of its memory alone.

    Tolerance:
        1e-9, for products in another order.

    Source:
        Williams, Waterman and Patterson, Roofline, CACM 52(4), 2009.

    Planted bug:
        both-ways: a memory outside the chip reads and writes at its rate at once.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "BND016"
    name: ClassVar = "memory-time-above-traffic"
    needs: ClassVar = frozenset({Offer.LATENCY_TERMS})
    planted: ClassVar = Planted(
        fault="both-ways",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not any(
            not model.latency_layers or _term(model, name) in model.latency_layers
            for name in passing(model)
        ):
            msg = (
                "it declares no memory with a latency term of its name, a bandwidth, and "
                "what passes it"
            )
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the memories with a term."""
        answers = model.ask(cases)
        margins = (
            at_most(time, answers.latency_terms[_term(model, name)])
            for name, time in memory_times(model, cases, answers).items()
            if _term(model, name) in answers.latency_terms
        )
        return least(margins, len(cases))


def _term(model: Subject, memory: str) -> str:
    """The latency term in which the bytes of a memory pass."""
    return model.machine.memories[memory].term or memory
