"""Laws of what a piece of work costs, in energy, in latency, or in both."""

from __future__ import annotations

from collections.abc import Sequence

from joulecheck.case import PartedCases
from joulecheck.estimate import Answers
from joulecheck.model import COSTS, Offer, Subject
from joulecheck.property import Property
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, least


class LawOfCosts(Property):
    """A law that holds for energy and for latency, whichever a model gives."""

    needs = frozenset()

    def missing(self, model: Subject) -> Sequence[Offer]:
        """What the law needs, and energy where there is no latency either."""
        found = [*super().missing(model)]
        if not {Offer.ENERGY, Offer.LATENCY} & model.offers:
            found.insert(0, Offer.ENERGY)
        return found


def no_dearer_than_parts(whole: Answers, parts: Answers, cases: PartedCases) -> Floats:
    """How far each cost of the whole stays below those of all its parts together."""
    pairs = ((getattr(whole, c), cases.total(getattr(parts, c))) for c in COSTS)
    return least((at_most(one, other) for one, other in pairs), len(cases))


def no_dearer_than_twice_a_part(
    whole: Answers, parts: Answers, cases: PartedCases
) -> Floats:
    """How far each cost of the whole stays below twice that of its dearest part."""
    pairs = ((getattr(whole, c), 2 * cases.greatest(getattr(parts, c))) for c in COSTS)
    return least((at_most(one, other) for one, other in pairs), len(cases))


def no_cheaper_than_parts(whole: Answers, parts: Answers, cases: PartedCases) -> Floats:
    """How far each cost of the whole stays above that of its dearest part."""
    pairs = ((cases.greatest(getattr(parts, c)), getattr(whole, c)) for c in COSTS)
    return least((at_most(one, other) for one, other in pairs), len(cases))
