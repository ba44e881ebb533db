"""A mutant beside the sound model: whether they ever answer differently."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.estimate import Estimate
from joulecheck.model import UNSCALED, Scale, Scales, Subject

SAME: Final = 1e-9
"""Relative difference up to which two numbers are one."""


class Twin:
    """Answers as the mutant does, asks the sound model the same, and compares."""

    def __init__(
        self,
        mutant: Any,  # noqa: ANN401 - a reference model
        sound: Any,  # noqa: ANN401 - likewise
        seen: list[bool] | None = None,
    ) -> None:
        """Compare these two, and note in `seen` whether they differ."""
        self._mutant = mutant
        self._sound = sound
        self._seen = [False] if seen is None else seen

    @property
    def differs(self) -> bool:
        """Whether any answer differed, of this pair or of one derived from it."""
        return self._seen[0]

    @classmethod
    def beside(cls, mutant: Subject, sound: Subject) -> tuple[Twin, Subject]:
        """The twin of two subjects, and the mutant's subject with it inside."""
        twin = cls(mutant.model, sound.model)
        return twin, attrs.evolve(mutant, model=twin)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the mutant has
        """What the mutant declares."""
        return getattr(self._mutant, name)

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """The mutant's answer to one case."""
        return self._compared("estimate", case, scale)

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """The mutant's answer to a batch."""
        return self._compared("estimate_batch", cases, scales)

    def derive(self, factors: Mapping[str, float]) -> Twin:
        """The two of another machine, compared as well."""
        return Twin(self._mutant.derive(factors), self._sound.derive(factors), self._seen)

    def _compared(self, path: str, asked: Any, scales: Any) -> Estimate:  # noqa: ANN401 - of both paths
        sound, refused = _answer(getattr(self._sound, path), asked, scales)
        found, error = _answer(getattr(self._mutant, path), asked, scales)
        if type(error) is not type(refused):
            self._seen[0] = True
        if error is not None:
            raise error
        assert found is not None  # noqa: S101 - it raised nothing
        if sound is not None and not same(found, sound):
            self._seen[0] = True
        return found


def _answer(
    path: Callable[..., Estimate], asked: object, scales: object
) -> tuple[Estimate | None, Exception | None]:
    try:
        return path(asked, scales), None
    except Exception as error:  # noqa: BLE001 - passed on by the caller
        return None, error


def same(found: Estimate, other: Estimate) -> bool:
    """Whether two answers say the same of every case."""
    pairs = [
        (getattr(found, field.name), getattr(other, field.name))
        for field in attrs.fields(Estimate)
    ]
    return all(_same(mine, theirs) for mine, theirs in pairs)


def _same(mine: Any, theirs: Any) -> bool:  # noqa: ANN401 - of any field
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(
            _same(mine[key], theirs[key]) for key in mine
        )
    if mine is None or theirs is None or isinstance(mine, frozenset):
        return bool(mine == theirs)
    return bool(np.allclose(mine, theirs, rtol=SAME, atol=0.0, equal_nan=True))
