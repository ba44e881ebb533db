"""Atoms: single conditions on a feature of a case, or of an operator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import attrs
import numpy as np

from joulecheck.region.columns import Columns
from joulecheck.region.features import Feature
from joulecheck.workload.columns import Bools, Floats

Level = Literal["case", "operator"]
"""Whether an atom is asked of whole cases or of their operators."""

EXACT: Final = 2.0**53
"""Floats from here on have no residues."""


def _as_ints(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(numbers))


def _as_floats(numbers: Iterable[float]) -> tuple[float, ...]:
    return tuple(sorted(numbers))


def _as_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


def feature_of(feature: Feature, level: Level, columns: Columns) -> Floats:
    """The feature of each case, or of each operator.

    Raises:
        UnknownName: the space has no such column, or it is no number.
    """
    return feature.values(columns.case if level == "case" else columns.operator)


@attrs.frozen
class Interval:
    """A feature from `low` to `high`, both included; None is no bound."""

    feature: Feature
    low: float | None = None
    high: float | None = None

    def holds(self, level: Level, columns: Columns) -> Bools:
        """For which cases, or operators."""
        values = feature_of(self.feature, level, columns)
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        held: Bools = (values >= low) & (values <= high)
        return held

    def ending(self, end: float, *, low: bool) -> Interval:
        """The interval with another lower or upper end."""
        return attrs.evolve(self, low=end) if low else attrs.evolve(self, high=end)


@attrs.frozen
class Residues:
    """A whole feature whose rest by `period` is one of some."""

    feature: Feature
    period: int = attrs.field(validator=attrs.validators.ge(2))
    residues: tuple[int, ...] = attrs.field(converter=_as_ints)

    def holds(self, level: Level, columns: Columns) -> Bools:
        """For which cases, or operators."""
        rests = residues(feature_of(self.feature, level, columns), self.period)
        wanted = np.zeros(self.period + 1, dtype=bool)
        wanted[[rest for rest in self.residues if 0 <= rest < self.period]] = True
        return wanted[rests]


def residues(values: Floats, period: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The rests of whole values; `period` where there is none."""
    whole = (np.abs(values) < EXACT) & (np.floor(values) == values)
    numbers = np.where(whole, values, 0).astype(np.int64)
    return np.where(whole, numbers % period, period)


@attrs.frozen
class Values:
    """A feature that is one of some numbers."""

    feature: Feature
    values: tuple[float, ...] = attrs.field(converter=_as_floats)

    def holds(self, level: Level, columns: Columns) -> Bools:
        """For which cases, or operators."""
        return np.isin(feature_of(self.feature, level, columns), self.values)


@attrs.frozen
class Kinds:
    """A trait, such as the precision, that is one of some."""

    of: str
    names: tuple[str, ...] = attrs.field(converter=_as_names)

    def holds(self, level: Level, columns: Columns) -> Bools:
        """For which cases, or operators."""
        trait = columns.trait(level, self.of)
        wanted = np.array([name in self.names for name in (*trait.names, "")])
        return wanted[trait.codes]


Atom = Interval | Residues | Values | Kinds


def merged(atoms: Iterable[Atom]) -> list[Atom]:
    """The atoms, with both ends of an interval of one feature as one atom."""
    found: dict[object, Atom] = {}
    for atom in atoms:
        key = atom.feature if isinstance(atom, Interval) else atom
        known = found.get(key)
        if isinstance(atom, Interval) and isinstance(known, Interval):
            low, high = _both(known.low, atom.low), _both(known.high, atom.high, -1)
            found[key] = Interval(atom.feature, low, high)
        else:
            found[key] = atom
    return list(found.values())


def _both(one: float | None, other: float | None, sign: int = 1) -> float | None:
    """The larger of two ends, the smaller if `sign` is negative; None is no end."""
    if one is None or other is None:
        return other if one is None else one
    return sign * max(sign * one, sign * other)
