"""What a search for regions is given, and which cases count in a part of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import numpy as np

from joulecheck.campaign.regions.effort import Effort
from joulecheck.campaign.regions.oracle import Oracle
from joulecheck.region import Region, SomeOperator
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Ints


@attrs.frozen(eq=False)
class Task:
    """What is asked, and of what."""

    space: CaseSpace
    oracle: Oracle
    rng: np.random.Generator
    quanta: Sequence[int]
    """Periods and sizes of tiles to try."""
    effort: Effort
    known: Callable[[Ints], Bools]
    """Which rows are in a region that is known already."""


@attrs.frozen(eq=False)
class Scope:
    """The cases of few operators, or those that have operators of some patterns."""

    space: CaseSpace
    nodes: int | None = None
    """How many operators at most; each has a place of its own."""
    patterns: tuple[SomeOperator, ...] = ()

    @property
    def positions(self) -> int:
        """How many operators are told apart by their place."""
        return self.nodes or 0

    def admits(self, rows: Ints) -> Bools:
        """(n,) which canonical rows count."""
        if self.nodes is not None:
            few: Bools = self.space.nodes(rows) <= self.nodes
            return few
        return Region(self.patterns).contains(self.space, rows)

    def alike(self, rows: Ints) -> Bools:
        """(n,) which of the rows that count have as many operators as is told apart."""
        if self.nodes is None:
            return np.ones(len(rows), dtype=bool)
        equal: Bools = self.space.nodes(rows) == self.nodes
        return equal
