"""Evidence: asked cases of few operators around some failures, as a table.

It starts from crossings of the failures with fresh draws and from scans along the axes
of anchors, failures that are far from each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from joulecheck.campaign.regions.scan import Scan, Scanner, periods_of
from joulecheck.campaign.regions.table import Table
from joulecheck.campaign.regions.task import Scope, Task
from joulecheck.region.sampling import Sampler
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
    """What was asked about the surroundings of one failure, within a scope."""

    def __init__(self, task: Task, scope: Scope, seed: Ints) -> None:
        """Know one failure.

        Args:
            task: what is asked, and of what.
            scope: which cases count.
            seed: (width,) a failing row; only what can be said of it tells failures.
        """
        self.task = task
        self.scope = scope
        self.seed = seed
        self.table = Table(task.space, seed[None, :], scope.positions, task.quanta)
        self.periods: dict[int, int] = {}
        """By column of a gene: the period with which its axes alternate."""
        self.all_periods: list[int] = []
        self.add(seed[None, :], np.ones(1, dtype=bool))

    def gather(self, failures: Ints) -> None:
        """Cross and scan.

        Args:
            failures: (n, width) other failing rows.

        Raises:
            Exhausted: too many cases would be asked.
        """
        few = failures[self.scope.admits(failures)][:MOST_FAILURES]
        self.add(few, np.ones(len(few), dtype=bool))
        effort, sampler = self.task.effort, Sampler(self.task.space, self.scope.admits)
        drawn = self.task.space.sample(self.task.rng, effort.crossings)
        self.ask(drawn[self.scope.admits(drawn)])
        for _ in range(CROSSINGS):
            crossed = sampler.crossed(self.task.rng, self._parents(effort.crossings), drawn)
            self.ask(crossed[self.scope.admits(crossed)])
        self._scan()

    def ask(self, rows: Ints) -> Bools:
        """(n,) which canonical rows fail; all are kept.

        Raises:
            Exhausted: too many cases would be asked.
        """
        failing = self.task.oracle.ask(rows)
        self.add(rows, failing)
        return failing

    def add(self, rows: Ints, failing: Bools) -> None:
        """Keep rows that were asked, but for the failures of known regions."""
        if failing.any():
            explained = np.zeros(len(rows), dtype=bool)
            explained[failing] = self.task.known(rows[failing])
            rows, failing = rows[~explained], failing[~explained]
        self.table.add(rows, failing)

    @property
    def failures(self) -> Ints:
        """Indices of the failing rows that may be described with the seed; it is first.

        If operators have places, they have as many, and of the same kinds: a place is
        then the same thing in all of them.
        """
        alike = self.table.failing & self.scope.alike(self.table.rows)
        if self.scope.positions > 1:
            kinds = [i for i, s in enumerate(self.table.sorts) if s.name == "kind"]
            codes = self.table.codes[kinds]
            alike &= (codes == codes[:, :1]).all(axis=0)
        return np.flatnonzero(alike)

    @property
    def passes(self) -> Ints:
        """Indices of the passing rows of the table."""
        return np.flatnonzero(~self.table.failing)

    def _parents(self, size: int) -> Ints:
        failing = self.table.rows[self.failures]
        parents = failing[self.task.rng.integers(0, len(failing), size)]
        parents[: size // 4] = self.seed
        return parents

    def _anchors(self) -> Ints:
        """The seed, and failures that are far from it and from each other."""
        rows = self.table.rows[self.failures]
        logs = np.log2(1.0 + rows - rows.min(axis=0))
        chosen, distance = [0], np.full(len(rows), np.inf)
        while len(chosen) < min(self.task.effort.anchors, len(rows)):
            distance = np.minimum(distance, np.abs(logs - logs[chosen[-1]]).sum(axis=1))
            chosen.append(int(distance.argmax()))
        return rows[chosen]

    def _scan(self) -> None:
        """Scan the axes of the anchors: windows, which give the periods, then ladders."""
        scanner = Scanner(self.task.space, self.task.oracle, self.task.quanta)
        axes = scanner.axes(self._anchors())
        windows = scanner.scan(
            axes, [scanner.window(a, self.task.effort.reach) for a in axes]
        )
        self._note_periods(windows)
        wide = [
            axis for axis in axes if self._range(axis.column) > 2 * self.task.effort.reach
        ]
        steps = [self.periods.get(axis.column, 1) for axis in wide]
        between = self.task.effort.rungs
        rungs = [scanner.ladder(a, q, between) for a, q in zip(wide, steps, strict=True)]
        ladders = scanner.scan(wide, rungs)
        scans = [*windows, *ladders, *scanner.ends(ladders, self.periods)]
        kept = [(scan, self._kept(scan)) for scan in scans]
        rows = np.concatenate([scan.rows(which) for scan, which in kept])
        failing = np.concatenate([scan.failing[which] for scan, which in kept])
        rows = self.task.space.canonical(np.asfortranarray(rows))
        admitted = self.scope.admits(rows)
        self.add(rows[admitted], failing[admitted])

    def _note_periods(self, windows: Sequence[Scan]) -> None:
        """Note the period of each gene, that of most anchors, and the commonest of all."""
        seen: dict[int, Counter[int]] = {}
        two: dict[int, Counter[int]] = {}
        for scan in windows:
            found = periods_of(scan, self.task.quanta)
            counts = seen if len(found) == 1 else two
            counts.setdefault(scan.axis.column, Counter()).update(found)
        for column, pairs in two.items():
            if column not in seen and max(pairs.values(), default=0) > 1:
                seen[column] = pairs
        self.periods = {
            column: max(counts, key=lambda q: (counts[q], q))
            for column, counts in seen.items()
        }
        every = sum(seen.values(), Counter[int]())
        modes = {q for column, q in self.periods.items() if seen[column][q] > 1}
        order = [q for q, _ in every.most_common()]
        commonest = sorted(order, key=lambda q: q not in modes)[:MOST_PERIODS]
        often = max(every.values(), default=0) / SELDOM
        self.all_periods = sorted(q for q in commonest if q in modes or every[q] >= often)

    def _range(self, column: int) -> int:
        return self.task.space.genes[column].high - self.task.space.genes[column].low

    def _kept(self, scan: Scan) -> Ints:
        """Indices of the ends, both sides of some changes, and values by residue."""
        changes = scan.changes
        some = np.concatenate([changes[:CHANGES], changes[-CHANGES:]])
        which = {0, len(scan.values) - 1, *some.tolist(), *(some + 1).tolist()}
        period = self.periods.get(scan.axis.column)
        if period is None:
            which |= set(self.task.rng.integers(0, len(scan.values), CHANGES).tolist())
        else:
            rests = scan.values % period
            for failing in (True, False):
                at = np.flatnonzero(scan.failing == failing)
                which |= set(at[np.unique(rests[at], return_index=True)[1]].tolist())
        return np.array(sorted(which))
