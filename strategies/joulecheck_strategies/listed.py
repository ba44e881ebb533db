"""Cases that can be listed: few, and of no size that could vary."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

import attrs
import numpy as np

from joulecheck.case import CoefficientCase, InvalidCase, Singles
from joulecheck.space import Gene
from joulecheck.workload.columns import Ints
from joulecheck_strategies.reading import ReadSpace, Take

Listed = TypeVar("Listed", CoefficientCase, InvalidCase)


@attrs.frozen(slots=False)
class ListedSpace(ReadSpace[Listed]):
    """Each of some cases, the plainest first."""

    cases: tuple[Listed, ...]

    @cached_property
    def genes(self) -> tuple[Gene, ...]:
        """The place in the list."""
        return (Gene("place", 0, len(self.cases) - 1),)

    def read(self, take: Take) -> Listed:
        """Read the place."""
        return self.cases[take("place")]

    def encode(self, case: Listed) -> dict[str, int]:
        """The place."""
        return {"place": self.cases.index(case)}

    def canonical(self, rows: Ints) -> Ints:
        """The rows themselves: the gene is always read."""
        return rows

    def batch(self, rows: Ints) -> Singles[Listed]:
        """The cases of rows."""
        return Singles(len(rows), lambda index: self.cases[rows[index, 0]])

    def nodes(self, rows: Ints) -> Ints:
        """One each."""
        return np.ones(len(rows), dtype=np.int64)

    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """None: there is no graph."""
        return np.empty((0, len(row)), dtype=np.int64)

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """All in turn, from a random one on, so that few draws reach every case."""
        first, count = rng.integers(len(self.cases)), len(self.cases)
        rows: Ints = (first + np.arange(size, dtype=np.int64)) % count
        return rows[:, None]
