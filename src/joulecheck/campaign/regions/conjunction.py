"""A conjunction of few ends that nearly all failures meet and hardly any passing case.

Each number gives a lower and an upper end, the outermost that the failures have but for
a few; of these ends, few are chosen that keep out the passing cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import floor, isfinite, isnan, log2
from typing import Final

import attrs
import numpy as np

from joulecheck.region import Feature, Interval
from joulecheck.workload.columns import Bools, Floats

MOST_ENDS: Final = 3

LOST: Final = (0.0, 0.001, 0.003)
"""Shares of the failures that an end may leave out, the least first."""

KEPT: Final = 0.004
"""Passing cases inside, for each failure, that may stay."""

DIGITS: Final = 15
"""Of a float: in so many, any gap holds a decimal."""

SHORT: Final = 2
"""Of an end beyond which no case passes."""

SMALL: Final = 10
"""Whole numbers below it are as plain as any."""

ROUND: Final = 1 << 10
"""Powers of two from here on are plain numbers."""


@attrs.frozen
class End:
    """A number from which on, or up to which, cases fail."""

    feature: Feature
    at: float
    is_low: bool

    @property
    def atom(self) -> Interval:
        """As a condition of a region."""
        if self.is_low:
            return Interval(self.feature, low=self.at)
        return Interval(self.feature, high=self.at)


class Ends:
    """The ends of some numbers, for one set of failures; of them conjunctions are made."""

    def __init__(self, features: Sequence[Feature], table: Floats, failing: Bools) -> None:
        """Find them.

        Args:
            features: what can be spoken of, the plainest first.
            table: (features, n) their values, NaN where there is none.
            failing: (n,) which cases fail, at least one.
        """
        self.features = features
        self.inside = table[:, failing]
        self.outside = table[:, ~failing]
        self.allowed = KEPT * self.inside.shape[1]
        numbers = [int(share * self.inside.shape[1]) for share in LOST]
        self.sides = [self._sides(number) for number in dict.fromkeys(numbers)]

    def conjunction(self, most: int) -> tuple[End, ...] | None:
        """Few ends that do, at most `MOST_ENDS`; none if nearly everything fails.

        Args:
            most: of the features, how many may be spoken of.
        """
        if is_little(self.outside.shape[1], self.inside.shape[1]):
            return ()
        best: tuple[End, ...] | None = None
        for sides in self.sides:
            chosen = self._cover(sides, most)
            if chosen is not None and (best is None or len(chosen) < len(best)):
                best = tuple(self._ends(sides, chosen))
        return best

    def _sides(self, lost: int) -> _Sides:
        """The outermost values of the failures, but for so many."""
        gone = np.isnan(self.inside).sum(axis=1) > lost
        lows = np.where(np.isnan(self.inside), -np.inf, self.inside)
        highs = np.where(np.isnan(self.inside), np.inf, self.inside)
        low = np.partition(lows, lost, axis=1)[:, lost]
        high = -np.partition(-highs, lost, axis=1)[:, lost]
        with np.errstate(invalid="ignore"):
            below = ~(self.outside >= low[:, None])
            above = ~(self.outside <= high[:, None])
        below[gone | ~np.isfinite(low)] = False
        above[gone | ~np.isfinite(high)] = False
        return _Sides(low, high, np.stack([below, above], axis=1))

    def _cover(self, sides: _Sides, most: int) -> list[tuple[int, int]] | None:
        """Ends that together leave no more passing cases than may be; the best first."""
        excluded = sides.excluded[:most].reshape(-1, self.outside.shape[1])
        chosen: list[int] = []
        left = np.arange(self.outside.shape[1])
        while len(left) > self.allowed:
            gains = excluded[:, left].sum(axis=1)
            best = int(gains.argmax())
            if len(chosen) == MOST_ENDS or not gains[best]:
                return None
            chosen.append(best)
            left = left[~excluded[best, left]]
        return [divmod(one, 2) for one in self._needed(excluded, chosen)]

    def _needed(self, excluded: Bools, chosen: Sequence[int]) -> list[int]:
        """The chosen ends without those that later ones make up for."""
        needed = list(chosen)
        for one in chosen:
            rest = [other for other in needed if other != one]
            if (~excluded[rest].any(axis=0)).sum() <= self.allowed:
                needed = rest
        return needed

    def _ends(self, sides: _Sides, chosen: Sequence[tuple[int, int]]) -> Iterator[End]:
        """The chosen ends, each at a plain number before the next passing case."""
        for index, is_high in chosen:
            others = [sides.excluded[one] for one in chosen if one != (index, is_high)]
            alone = sides.excluded[index, is_high] & ~np.any(others, axis=0)
            outside = self.outside[index, alone]
            inside = float((sides.high if is_high else sides.low)[index])
            nearest = np.nanmin(outside, initial=np.inf)
            if not is_high:
                nearest = np.nanmax(outside, initial=-np.inf)
            at = plain(inside, float(nearest))
            yield End(self.features[index], at, not is_high)


@attrs.frozen(eq=False)
class _Sides:
    """The lower and the upper end of each number."""

    low: Floats
    high: Floats
    excluded: Bools
    """(features, 2, passing) which passing cases each end keeps out."""


def is_little(passing: int, failing: int) -> bool:
    """Whether so many passing cases may stay among so many failures."""
    return passing <= KEPT * failing


def plain(inside: float, outside: float) -> float:
    """The plainest number from `inside` towards `outside`, which is excluded.

    It is `inside` if that is a small whole number or a power of two, a large power of two
    if there is one, or else the decimal of the fewest digits that is nearest to the middle.
    If `outside` is infinite, it is `inside` rounded to two digits towards there.
    """
    if isnan(outside):
        return inside
    if not isfinite(outside):
        rounding = ROUND_CEILING if outside > 0 else ROUND_FLOOR
        return float(Context(SHORT, rounding).create_decimal(Decimal(repr(inside))))
    low, high = sorted((inside, outside))
    are_whole = low.is_integer() and high.is_integer()
    if are_whole and _is_plain(int(inside)):
        return inside
    middle = (low + high) / 2
    decimals = (float(f"{middle:.{digits}e}") for digits in range(DIGITS))
    powers = [float(1 << floor(log2(high)))] if high >= ROUND else []
    for found in (*powers, *decimals):
        is_between = low < found < high or found == inside
        if is_between and (found.is_integer() or not are_whole):
            return found
    return inside


def _is_plain(whole: int) -> bool:
    return abs(whole) < SMALL or whole & (whole - 1) == 0
