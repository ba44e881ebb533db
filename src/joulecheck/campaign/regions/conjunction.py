"""A conjunction of few ends that nearly all failures meet and hardly any passing case.

Each number gives a lower and an upper end, the outermost that the failures have but for
a few; of these ends, the fewest are chosen that keep out the passing cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, log2
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


def conjunction(
    features: Sequence[Feature], table: Floats, failing: Bools
) -> tuple[End, ...] | None:
    """As few ends as do, at most `MOST_ENDS`; none if nearly everything fails.

    Args:
        features: what can be spoken of, the plainest first.
        table: (features, n) their values, NaN where there is none.
        failing: (n,) which cases fail, at least one.
    """
    allowed = KEPT * failing.sum()
    if (~failing).sum() <= allowed:
        return ()
    for most in range(1, MOST_ENDS + 1):
        for lost in LOST:
            search = _Search(table, failing, int(lost * failing.sum()))
            chosen = search.cover(most, allowed)
            if chosen is not None:
                return tuple(search.ends(features, chosen))
    return None


class _Search:
    """The ends that lose few failures, of all rows of a table."""

    def __init__(self, table: Floats, failing: Bools, lost: int) -> None:
        """Find them.

        Args:
            table: (features, n) values.
            failing: (n,) which fail.
            lost: failures that each end may leave out.
        """
        lows = np.where(np.isnan(table), -np.inf, table)
        highs = np.where(np.isnan(table), np.inf, table)
        self.sides = np.concatenate([lows, -highs])
        """(2 features, n): an end keeps what is not below it."""
        inside = self.sides[:, failing]
        self.at = np.partition(inside, lost, axis=1)[:, lost]
        self.passing = self.sides[:, ~failing]
        self.excluded = self.passing < self.at[:, None]

    def cover(self, most: int, allowed: float) -> list[int] | None:
        """Up to `most` ends that leave at most so many passing cases; the best first."""
        left = np.ones(self.excluded.shape[1], dtype=bool)
        chosen: list[int] = []
        while left.sum() > allowed:
            gains = self.excluded[:, left].sum(axis=1)
            best = int(gains.argmax())
            if len(chosen) == most or not gains[best]:
                return None
            chosen.append(best)
            left &= ~self.excluded[best]
        return chosen

    def ends(self, features: Sequence[Feature], chosen: Sequence[int]) -> list[End]:
        """The chosen ends, each at a plain number before the next passing case."""
        return [self._end(features, one, [o for o in chosen if o != one]) for one in chosen]

    def _end(self, features: Sequence[Feature], one: int, others: Sequence[int]) -> End:
        alone = self.excluded[one] & ~self.excluded[list(others)].any(axis=0)
        outside = self.passing[one, alone].max(initial=-np.inf)
        is_low, inside = one < len(features), self.at[one]
        sign = 1 if is_low else -1
        at = plain(sign * float(inside), sign * float(outside))
        return End(features[one % len(features)], at, is_low)


def plain(inside: float, outside: float) -> float:
    """The plainest number from `inside` towards `outside`, which is excluded.

    It is a large power of two if there is one, or else the decimal of the fewest digits
    that is nearest to the middle.
    """
    if not isfinite(outside):
        return inside
    low, high = sorted((inside, outside))
    are_whole = low.is_integer() and high.is_integer()
    middle = (low + high) / 2
    decimals = (float(f"{middle:.{digits}e}") for digits in range(DIGITS))
    powers = (2.0 ** floor(log2(high)),) if high >= ROUND else ()
    for found in (*powers, *decimals):
        is_between = low < found < high or found == inside
        if is_between and (found.is_integer() or not are_whole):
            return found
    return inside
