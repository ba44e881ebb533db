"""How far two sets of answers agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from joulecheck.estimate import Answers
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

    A prediction through a layer that only `other` has is none.
    """
    yield from (getattr(answers, name) for name in TOTALS)
    none = np.full(len(answers), np.nan)
    for field, absent in (
        ("energy_terms", answers.absent),
        ("latency_terms", answers.absent),
        ("through", none),
    ):
        mine: dict[Any, Floats] = getattr(answers, field)
        for name in sorted({*mine, *getattr(other, field)}, key=str):
            yield mine.get(name, absent)
