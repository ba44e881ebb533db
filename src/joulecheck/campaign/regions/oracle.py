"""Asking whether cases fail, and bounding how many are asked and looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from joulecheck.workload.columns import Bools, Ints

Fails = Callable[[Ints], Bools]
"""(n, width) canonical rows -> (n,) which of them fail."""

CHUNK: Final = 1 << 13
"""Cases asked in one call."""


RESERVE: Final = 4
"""The part of a limit that is kept for the last is one in so many."""


WORK: Final = 300_000
"""Cases that a search may look at, asked or not; what costs time counts as some cases."""


class Exhausted(Exception):
    """As many cases were asked, or looked at, as may be."""


class Oracle:
    """Answers whether cases fail, up to a limit."""

    def __init__(self, fails: Fails, limit: int | None) -> None:
        """Count what is asked of `fails`."""
        self._fails = fails
        self._limit = limit
        self.evaluations = 0
        self.work = WORK
        """Cases that may still be looked at."""
        self.reserved = 0 if limit is None else limit // RESERVE
        """Cases that are kept for trying what was found when a search has to stop."""

    @property
    def left(self) -> float:
        """How many cases may still be asked."""
        if self._limit is None:
            return np.inf
        return self._limit - self.reserved - self.evaluations

    def look(self, cases: int) -> None:
        """Count cases that are looked at, or what takes as long.

        Raises:
            Exhausted: they are more than may still be looked at.
        """
        if cases > self.work:
            raise Exhausted
        self.work -= cases

    def ask(self, rows: Ints) -> Bools:
        """(n,) which canonical rows fail.

        Raises:
            Exhausted: they are more than may still be asked.
        """
        if len(rows) > self.left:
            raise Exhausted
        self.evaluations += len(rows)
        parts = [
            self._fails(np.asfortranarray(rows[start : start + CHUNK]))
            for start in range(0, len(rows), CHUNK)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)
