"""The numbers that a model must give to every case it answers."""

from __future__ import annotations

from joulecheck.estimate import Answers
from joulecheck.model import Offer
from joulecheck.workload.columns import Floats


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
