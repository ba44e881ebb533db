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


def _finite(answers: Answers, offers: frozenset[Offer]) -> Bools:
    offered = {
        Offer.ENERGY: answers.energy,
        Offer.LATENCY: answers.latency,
        Offer.UTILISATION: answers.utilisation,
    }
    quantities = [
        *(values for offer, values in offered.items() if offer in offers),
        *answers.energy_terms.values(),
        *answers.latency_terms.values(),
    ]
    bounded = [~np.isinf(energy) for energy in answers.through.values()]
    finite = [np.ones(len(answers), dtype=bool), *map(np.isfinite, quantities), *bounded]
    found: Bools = np.logical_and.reduce(finite)
    return found
