"""Asked cases of any size, by which regions that contain patterns are compared."""

from __future__ import annotations

from typing import Final

import numpy as np

from joulecheck.campaign.regions.evidence import Evidence
from joulecheck.campaign.regions.task import Task
from joulecheck.region import Columns, Region
from joulecheck.region.sampling import Sampler
from joulecheck.workload.columns import Bools, Ints

EMBEDDED: Final = 768
"""Failures and passing cases of few operators that are put into larger ones."""

CROSSINGS: Final = 2
"""Crossings after which no more cases are looked for."""

STARTS: Final = 1024
"""Cases that are crossed at a time."""


class Larger:
    """What was asked of cases of any size."""

    def __init__(self, task: Task, few: Evidence, failures: Ints) -> None:
        """Ask larger cases, around those of few operators and drawn.

        Args:
            task: what is asked, and of what.
            few: cases of few operators.
            failures: (n, width) failing rows of any size.

        Raises:
            Exhausted: too many cases would be asked.
        """
        self.task = task
        self.rows = np.concatenate([few.table.rows, failures])
        self.failing = np.concatenate(
            [few.table.failing, np.ones(len(failures), dtype=bool)]
        )
        self.columns = Columns(task.space, self.rows)
        size = min(EMBEDDED, task.effort.crossings)
        some = [
            task.rng.choice(of, min(size, len(of)), replace=False)
            for of in (few.failures, few.passes)
        ]
        inner = few.table.rows[np.concatenate(some)]
        self.ask(task.space.embedded(task.rng, inner))
        self.ask(task.space.sample(task.rng, size))

    def ask(self, rows: Ints) -> Bools:
        """(n,) which canonical rows fail; kept but for those of known regions.

        Raises:
            Exhausted: too many cases would be asked.
        """
        failing = self.task.oracle.ask(rows)
        new = ~(failing & self.task.known(rows))
        self.note(rows[new], failing[new])
        return failing

    def note(self, rows: Ints, failing: Bools) -> None:
        """Take over what was asked."""
        if len(rows):
            self.rows = np.concatenate([self.rows, rows])
            self.failing = np.concatenate([self.failing, failing])
            self.columns = Columns(self.task.space, self.rows)

    def between(self, region: Region, other: Region, size: int) -> Bools:
        """Which cases fail that are in one region and not in the other.

        If all that are known do, up to `size` more are asked.

        Raises:
            Exhausted: too many cases would be asked.
        """
        within = region.holds(self.columns)
        added = within & ~other.holds(self.columns)
        known = self.failing[added]
        if not known.all():
            return known
        task = self.task

        def inside(rows: Ints) -> Bools:
            task.oracle.look(len(rows))
            columns = Columns(task.space, rows)
            held = region.holds(columns) & ~other.holds(columns)
            held[held] = ~task.known(rows[held])
            return held

        starts = self.rows[added if added.any() else within & self.failing]
        sampler = Sampler(task.space, inside)
        rows = sampler.draw(
            task.rng, size, starts[:STARTS], at_a_time=STARTS, rounds=CROSSINGS
        )
        return np.concatenate([known, self.ask(rows)])
