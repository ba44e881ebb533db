"""Evidence: asked cases of few operators around some failures, as a table.

It starts from crossings of the failures with fresh draws and from scans along the axes
of anchors, failures that are far from each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from joulecheck.campaign.regions.effort import Effort
from joulecheck.campaign.regions.oracle import Oracle
from joulecheck.campaign.regions.scan import Scan, Scanner, period_of
from joulecheck.campaign.regions.table import Table
from joulecheck.region.sampling import Sampler
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Ints

MOST_FAILURES: Final = 1024
"""Failures of the screening that are looked at."""

CROSSINGS: Final = 2

MOST_PERIODS: Final = 6
"""Different periods that are tried for all numbers."""

SELDOM: Final = 5
"""Times less often than the commonest one a period may be seen."""

CHANGES: Final = 8
"""Changes at either end of an axis of which both sides are kept."""


class Evidence:
    """What was asked about the surroundings of one failure."""

    def __init__(  # noqa: PLR0913 - what a search is given
        self,
        space: CaseSpace,
        oracle: Oracle,
        rng: np.random.Generator,
        seed: Ints,
        *,
        quanta: Sequence[int],
        effort: Effort,
        known: Callable[[Ints], Bools],
    ) -> None:
        """Know one failure.

        Args:
            space: of the cases.
            oracle: says which fail.
            rng: the random numbers.
            seed: (width,) a failing row.
            quanta: periods and sizes of tiles to try.
            effort: how much to ask.
            known: which rows are in a region that is known already.
        """
        self.space = space
        self.oracle = oracle
        self.rng = rng
        self.seed = seed
        self.quanta = quanta
        self.effort = effort
        self.known = known
        self.nodes = int(space.nodes(seed[None, :])[0])
        self.table = Table(space, space.sample(rng, 64), self.nodes, quanta)
        self.periods: dict[int, int] = {}
        """By column of a gene: the period with which its axes alternate."""
        self.all_periods: list[int] = []

    def gather(self, failures: Ints) -> None:
        """Cross and scan.

        Args:
            failures: (n, width) other failing rows.

        Raises:
            Exhausted: too many cases would be asked.
        """
        few = self.small(failures)[:MOST_FAILURES]
        rows = np.concatenate([self.seed[None, :], few])
        self._add(rows, np.ones(len(rows), dtype=bool))
        self.ask(self.small(self.space.sample(self.rng, self.effort.crossings)))
        for _ in range(CROSSINGS):
            self._cross()
        self._scan()

    def small(self, rows: Ints) -> Ints:
        """Those with no more operators than the seed."""
        return rows[self.space.nodes(rows) <= self.nodes]

    def ask(self, rows: Ints) -> Bools:
        """(n,) which canonical rows fail; all are kept.

        Raises:
            Exhausted: too many cases would be asked.
        """
        failing = self.oracle.ask(rows)
        self._add(rows, failing)
        return failing

    def _add(self, rows: Ints, failing: Bools) -> None:
        """Keep what is news: not the failures of known regions."""
        if failing.any():
            explained = np.zeros(len(rows), dtype=bool)
            explained[failing] = self.known(rows[failing])
            rows, failing = rows[~explained], failing[~explained]
        self.table.add(rows, failing)

    @property
    def failures(self) -> Ints:
        """Indices of the failing rows of the table that have the seed's operators."""
        table = self.table
        return np.flatnonzero(
            table.failing & (self.space.nodes(table.rows) == self.nodes)
        )

    @property
    def passes(self) -> Ints:
        """Indices of the passing rows of the table."""
        return np.flatnonzero(~self.table.failing)

    def _cross(self) -> None:
        """Cross the failures with fresh draws."""
        failing = self.table.rows[self.failures]
        parents = failing[self.rng.integers(0, len(failing), self.effort.crossings)]
        parents[: len(parents) // 4] = self.seed
        sampler = Sampler(self.space, lambda rows: np.ones(len(rows), dtype=bool))
        self.ask(self.small(sampler.crossed(self.rng, parents)))

    def _anchors(self) -> Ints:
        """The seed, and failures that are far from it and from each other."""
        rows = self.table.rows[self.failures]
        logs = np.log2(1.0 + rows - rows.min(axis=0))
        chosen, distance = [0], np.full(len(rows), np.inf)
        while len(chosen) < min(self.effort.anchors, len(rows)):
            distance = np.minimum(distance, np.abs(logs - logs[chosen[-1]]).sum(axis=1))
            chosen.append(int(distance.argmax()))
        return rows[chosen]

    def _scan(self) -> None:
        """Scan the axes of the anchors: windows, which give the periods, then ladders."""
        scanner = Scanner(self.space, self.oracle, self.quanta)
        axes = scanner.axes(self._anchors())
        windows = scanner.scan(axes, [scanner.window(a, self.effort.reach) for a in axes])
        self._note_periods(windows)
        wide = [axis for axis in axes if self._range(axis.column) > 2 * self.effort.reach]
        steps = [self.periods.get(axis.column, 1) for axis in wide]
        rungs = [scanner.ladder(a, step) for a, step in zip(wide, steps, strict=True)]
        ladders = scanner.scan(wide, rungs)
        scans = [*windows, *ladders, *scanner.ends(ladders, self.periods)]
        kept = [(scan, self._kept(scan)) for scan in scans]
        rows = np.concatenate([scan.rows(which) for scan, which in kept])
        failing = np.concatenate([scan.failing[which] for scan, which in kept])
        rows = self.space.canonical(np.asfortranarray(rows))
        small = self.space.nodes(rows) <= self.nodes
        self._add(rows[small], failing[small])

    def _note_periods(self, windows: Sequence[Scan]) -> None:
        """Note the period of each gene, that of most anchors, and the commonest of all."""
        seen: dict[int, Counter[int]] = {}
        for scan in windows:
            period = period_of(scan, self.quanta)
            if period is not None:
                seen.setdefault(scan.axis.column, Counter())[period] += 1
        self.periods = {
            column: max(counts, key=lambda q: (counts[q], q))
            for column, counts in seen.items()
        }
        every = sum(seen.values(), Counter[int]())
        often = max(every.values(), default=0) / SELDOM
        commonest = every.most_common(MOST_PERIODS)
        self.all_periods = sorted(q for q, count in commonest if count >= often)

    def _range(self, column: int) -> int:
        return self.space.genes[column].high - self.space.genes[column].low

    def _kept(self, scan: Scan) -> Ints:
        """Indices of the ends, both sides of some changes, and values by residue."""
        changes = scan.changes
        some = np.concatenate([changes[:CHANGES], changes[-CHANGES:]])
        which = {0, len(scan.values) - 1, *some.tolist(), *(some + 1).tolist()}
        period = self.periods.get(scan.axis.column)
        if period is None:
            which |= set(self.rng.integers(0, len(scan.values), CHANGES).tolist())
        else:
            rests = scan.values % period
            for failing in (True, False):
                at = np.flatnonzero(scan.failing == failing)
                which |= set(at[np.unique(rests[at], return_index=True)[1]].tolist())
        return np.array(sorted(which))
