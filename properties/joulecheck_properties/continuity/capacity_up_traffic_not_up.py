"""CON003."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from joulecheck.case import Case, Derivation, DerivedCase, DerivedCases
from joulecheck.errors import NotOffered
from joulecheck.knob import Knob, KnobKind
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.machines import direction, never_more
from joulecheck_properties.margins import least
from joulecheck_strategies import derivations
from joulecheck_strategies.derivations import one_by_one


class CapacityUpTrafficNotUp(Property):
    """A larger memory never raises the traffic that it is there to save.

    Statement:
        t' <= t for every energy term t, and every latency term of the same name, that a
        capacity declares to save, where that capacity grows and all prices and rates
        stay; t' >= t where it shrinks.

    Rationale:
        What a memory keeps need not be fetched again, and a larger one can keep all that
        a smaller one keeps. A list of tiles that does not nest, a capacity in the wrong
        unit or on the wrong side of a fraction breaks it.

    Domain:
        Terms that the knob names; where several capacities change, those that all of
        them name. A model that maps for least time or energy may trade traffic at one
        level for some at another, and then names only what it never trades: the prices
        stay, so that bytes and joule go together.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The inclusion of schedules; Mattson et al., Evaluation techniques for storage
        hierarchies, IBM Systems Journal 9, 1970, for stack algorithms.

    Planted bug:
        dividing-capacity: the bandwidths of a derived machine are divided by the factor
        of its capacities.

    Shrinks to:
        The GEMM of one MAC with twice the first level.
    """

    id: ClassVar = "CON003"
    name: ClassVar = "capacity-up-traffic-not-up"
    needs: ClassVar = frozenset({Offer.ENERGY_TERMS, Offer.KNOBS})
    planted: ClassVar = Planted(
        fault="dividing-capacity",
        model="reference:Intel-i7-12700K",
        shrinks_to=DerivedCase(Case(Gemm(m=1, n=1, k=1)), Derivation({"l1.capacity": 2.0})),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads with one memory larger or smaller."""
        capacities = _claiming(model)
        if not capacities:
            msg = "it declares no knob of kind CAPACITY with the terms that it saves"
            raise NotOffered(msg)
        return derivations(model, one_by_one(capacities))

    def margin(self, model: Subject, cases: DerivedCases) -> Floats:
        """The least margin over the terms that the turned capacities save."""
        capacities = _claiming(model)
        before, after = model.ask(cases.cases), model.ask_derived(cases)
        margins = []
        for term in sorted({t for knob in capacities.values() for t in knob.terms or ()}):
            saving = {n: k for n, k in capacities.items() if term in (k.terms or ())}
            better = cases.per_case(partial(direction, knobs=saving))
            margins.append(
                never_more(before.energy_term(term), after.energy_term(term), better)
            )
            if term in before.latency_terms:
                times = after.latency_terms.get(term, after.absent)
                margins.append(never_more(before.latency_terms[term], times, better))
        return least(margins, len(cases))


def _claiming(model: Subject) -> dict[str, Knob]:
    """The capacities that declare what they save."""
    capacities = model.knobs_of(KnobKind.CAPACITY)
    return {name: knob for name, knob in capacities.items() if knob.terms}
