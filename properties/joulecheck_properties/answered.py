"""Whether a valid question got an answer in finite numbers."""

from __future__ import annotations

import numpy as np

from joulecheck.case import Cases
from joulecheck.estimate import Answers
from joulecheck.model import Offer, Subject
from joulecheck.workload.columns import Bools, Floats


def answered(model: Subject, cases: Cases) -> Floats:
    """1 where all is well, -1 where the model raised or a number is not finite.

    NaN where the model says that it does not answer for the case.
    """
    answers = model.ask(cases)
    good = _finite(answers, model.offers)
    good[list(answers.errors)] = False
    return np.where(answers.unsupported, np.nan, np.where(good, 1.0, -1.0))


def offered_numbers(answers: Answers, offers: frozenset[Offer]) -> list[Floats]:
    """The totals that the model offers, and every term of them, each (n,)."""
    totals = {
        Offer.ENERGY: answers.energy,
        Offer.LATENCY: answers.latency,
        Offer.UTILISATION: answers.utilisation,
    }
    return [
        *(values for offer, values in totals.items() if offer in offers),
        *answers.energy_terms.values(),
        *answers.latency_terms.values(),
    ]


def _finite(answers: Answers, offers: frozenset[Offer]) -> Bools:
    optional = (
        answers.through,
        answers.latency_through,
        answers.subtotals,
        answers.traffic,
        answers.events,
    )
    bounded = [~np.isinf(number) for numbers in optional for number in numbers.values()]
    known = map(np.isfinite, offered_numbers(answers, offers))
    finite = [np.ones(len(answers), dtype=bool), *known, *bounded]
    found: Bools = np.logical_and.reduce(finite)
    return found
