"""How far two sets of answers agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from joulecheck.estimate import Answers
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import equality, least


def agreement(one: Answers, other: Answers, tolerance: float) -> Floats:
    """The least margin of equality over every quantity of two sets of answers."""
    pairs = zip(_quantities(one, other), _quantities(other, one), strict=True)
    return least((equality(a, b, tolerance) for a, b in pairs), len(one))


def _quantities(answers: Answers, other: Answers) -> Iterator[Floats]:
    """All quantities of `answers`; a term that only `other` has is 0."""
    yield from (answers.energy, answers.latency, answers.utilisation)
    for field in ("energy_terms", "latency_terms", "through"):
        mine: dict[Any, Floats] = getattr(answers, field)
        for name in sorted({*mine, *getattr(other, field)}, key=str):
            yield mine.get(name, np.zeros(len(answers)))
