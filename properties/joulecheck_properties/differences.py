"""How far two sets of answers agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.estimate import MAPPINGS, Answers
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import equality, least

TOTALS: Final = ("energy", "latency", "utilisation")


def agreement(one: Answers, other: Answers, tolerance: float) -> Floats:
    """The least margin of equality over every quantity of two sets of answers.

    A number in one and none in the other differ as much as can be.
    """
    pairs = zip(_quantities(one, other), _quantities(other, one), strict=True)
    return least((_equality(a, b, tolerance) for a, b in pairs), len(one))


def agreement_of_totals(one: Answers, other: Answers, tolerance: float) -> Floats:
    """The same over energy, latency and utilisation alone."""
    pairs = ((getattr(one, name), getattr(other, name)) for name in TOTALS)
    return least((_equality(a, b, tolerance) for a, b in pairs), len(one))


def _equality(one: Floats, other: Floats, tolerance: float) -> Floats:
    differ = np.isnan(one) != np.isnan(other)
    return np.where(differ, -1.0, equality(one, other, tolerance))


def _quantities(answers: Answers, other: Answers) -> Iterator[Floats]:
    """All quantities of `answers`; a term that only `other` has is 0.

    A prediction through a layer, a sub-total or a traffic that only `other` has is none.
    """
    yield from (getattr(answers, name) for name in TOTALS)
    none = np.full(len(answers), np.nan)
    for field in MAPPINGS:
        absent = answers.absent if field.endswith("_terms") else none
        mine: dict[Any, Floats] = getattr(answers, field)
        for name in sorted({*mine, *getattr(other, field)}, key=str):
            yield mine.get(name, absent)


def energies(*answers: Answers) -> Iterator[tuple[Floats, ...]]:
    """Each energy of some answers to the same cases: total, terms, prefixes, sub-totals.

    A term that one of them lacks is 0 there, the others are none.
    """
    yield tuple(one.energy for one in answers)
    for name in sorted({name for one in answers for name in one.energy_terms}):
        yield tuple(one.energy_term(name) for one in answers)
    none = np.full(len(answers[0]), np.nan)
    for layer in sorted({layer for one in answers for layer in one.through}, key=str):
        yield tuple(one.through.get(layer, none) for one in answers)
    for name in sorted({name for one in answers for name in one.subtotals}):
        yield tuple(one.subtotals.get(name, none) for one in answers)


def reordered(answers: Answers, order: Sequence[int]) -> Answers:
    """The answers of a batch in another order: first that of row `order[0]`."""
    rows = list(order)

    def picked(terms: dict[Any, Floats]) -> dict[Any, Floats]:
        return {name: values[rows] for name, values in terms.items()}

    changed: dict[str, Any] = {
        "energy": answers.energy[rows],
        "latency": answers.latency[rows],
        "utilisation": answers.utilisation[rows],
        **{field: picked(getattr(answers, field)) for field in MAPPINGS},
        "unsupported": answers.unsupported[rows],
        "errors": {
            place: answers.errors[row]
            for place, row in enumerate(rows)
            if row in answers.errors
        },
    }
    return attrs.evolve(answers, **changed)
