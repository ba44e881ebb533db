"""From a minimal failing case and the failures of a screening to regions."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.order import Plainness
from joulecheck.campaign.regions.chosen import Chosen
from joulecheck.campaign.regions.effort import FULL, SPARING, Effort
from joulecheck.campaign.regions.evidence import Evidence
from joulecheck.campaign.regions.larger import Larger
from joulecheck.campaign.regions.learner import Learner
from joulecheck.campaign.regions.lift import Lifter, as_patterns
from joulecheck.campaign.regions.oracle import Exhausted, Fails, Oracle
from joulecheck.campaign.regions.task import Scope, Task
from joulecheck.region import Columns, Feature, Generalised, Interval, Measured, Region
from joulecheck.region.sampling import DistinctRows
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Ints

MOST_REGIONS: Final = 4
"""That together may describe where a property fails."""

SEEDS: Final = 2
"""Failures around which no region was found, after which no other is tried."""

ATTEMPTS: Final = 3
"""To accept a region, each with what the one before has shown."""

WALKS: Final = 6
"""Known failures from each of which fresh cases are reached that lean to no other."""

WALKED: Final = 12
"""Of the fresh cases, those that are reached so are one in so many, each time."""

MEASURED: Final = 1 << 14
"""Draws of the space's sampler by which the share of a region is measured."""

CONFIDENT: Final = 1.959964
"""Standard deviations on either side that hold 95 % of a normal distribution."""


def generalise(  # noqa: PLR0913 - what a search is given
    space: CaseSpace,
    fails: Fails,
    minimal_row: Sequence[int],
    failing_rows: Ints,
    rng: np.random.Generator,
    quanta: Sequence[int] = (),
    *,
    vectorised: bool = True,
    limit: int | None = None,
    most: int = MOST_REGIONS,
) -> Generalised:
    """The regions around a minimal failing row, and around failures that it leaves out.

    Args:
        space: of the cases.
        fails: says which canonical rows fail.
        minimal_row: a failing row, as plain as may be.
        failing_rows: (n, width) other rows that failed in a screening.
        rng: the random numbers; the result depends on nothing else.
        quanta: the sizes in which the machine works: periods and tiles to try.
        vectorised: whether `fails` is fast in bulk; if not, few cases are asked and no
            region is proven.
        limit: how many cases may be asked in all; then what was found so far stands.
        most: how many regions are looked for.
    """
    effort = FULL if vectorised else SPARING
    search = _Search(space, Oracle(fails, limit), rng, quanta, effort, most)
    return search.run(np.array(minimal_row, dtype=np.int64), failing_rows)


class _Search:
    """Finds one region after the other, each outside of those before."""

    def __init__(  # noqa: PLR0913 - what a search is given
        self,
        space: CaseSpace,
        oracle: Oracle,
        rng: np.random.Generator,
        quanta: Sequence[int],
        effort: Effort,
        most: int,
    ) -> None:
        self.most = most
        self.regions: list[Region] = []
        self.task = Task(space, oracle, rng, quanta, effort, self._known)
        self.stopped = False

    def run(self, minimal: Ints, failures: Ints) -> Generalised:
        """The regions of a minimal failing row and of others."""
        seen = failures if len(failures) else minimal[None, :]
        questions = Columns(self.task.space, minimal[None, :]).questions
        self.task.oracle.work //= max(1, len(questions))  # which take as much each
        seed, left, in_vain = minimal, seen, 0
        seeds = min(SEEDS, self.most)
        while len(left) and in_vain < seeds and len(self.regions) < self.most:
            region = self._region(seed, left)
            if region is None:
                in_vain += 1
            else:
                self._take(region, seen)
                left = seen[~self._known(seen)]
            if self.stopped:
                break
            seed = self._next(left) if len(left) else seed
        return Generalised(
            regions=self.regions,
            coverage=float(self._known(seen).mean()),
            evaluations=self.task.oracle.evaluations,
            proven=self._is_proven,
        )

    @property
    def _is_proven(self) -> bool:
        proven = [r.measured is not None and r.measured.proven for r in self.regions]
        return any(proven) and all(proven) and not self.stopped

    def _take(self, found: tuple[Region, int], seen: Ints) -> None:
        """Keep a region, and no longer those that seem to lie within it."""
        region, space = found[0], self.task.space
        rows = np.concatenate([seen, space.sample(self.task.rng, MEASURED)])
        columns = Columns(space, rows)
        within = region.holds(columns)
        self.regions = [r for r in self.regions if (r.holds(columns) & ~within).any()]
        self.regions.append(self._measured(found, seen))

    def _known(self, rows: Ints) -> Bools:
        inside = np.zeros(len(rows), dtype=bool)
        if self.regions and len(rows):
            columns = Columns(self.task.space, rows)
            for region in self.regions:
                inside |= region.holds(columns)
        return inside

    def _next(self, failures: Ints) -> Ints:
        """One of some failures as the next seed, of as few operators as may be."""
        task = self.task
        row: Ints = failures[task.rng.integers(len(failures))]
        while True:
            smaller = task.space.smaller_graphs(row.tolist())
            smaller = smaller[~self._known(smaller)]
            if len(smaller) > task.oracle.left:
                return row
            failing = smaller[task.oracle.ask(smaller)]
            if not len(failing):
                return row
            row = failing[Plainness.of(task.space, failing).order()[0]]

    def _region(self, seed: Ints, failures: Ints) -> tuple[Region, int] | None:
        """A region around a seed, and how many fresh cases in it failed, all of them."""
        task = self.task
        nodes = int(task.space.nodes(seed[None, :])[0])
        evidence = Evidence(task, Scope(task.space, nodes), seed)
        try:
            evidence.gather(failures)
            return self._proven(evidence, failures)
        except Exhausted:
            self.stopped = True
            return self._unproven(evidence)

    def _proven(self, evidence: Evidence, failures: Ints) -> tuple[Region, int] | None:
        task, graphs = self.task, self._graphs(evidence.seed)
        larger = Larger(task, evidence, failures) if graphs else None
        for _ in range(ATTEMPTS):
            learner = Learner(evidence)
            chosen = learner.learn()
            if chosen is None:
                return None
            lifted = None if larger is None else Lifter(learner, larger).lift()
            region = _of_operators(chosen) if larger is None else lifted
            if region is None:
                return None
            rows, failing = self._tried(region, evidence, task.effort.accept)
            if failing.all():
                return attrs.evolve(region.merged, graphs=graphs), len(rows)
            few = evidence.scope.admits(rows)
            evidence.add(rows[few], failing[few])
            if larger is not None:
                larger.note(rows, failing)
        return None

    def _unproven(self, evidence: Evidence) -> tuple[Region, int] | None:
        """What the evidence says so far of cases of few operators, tried on the rest."""
        chosen = Learner(evidence).conjunction()
        if chosen is None:
            return None
        region, graphs = _of_operators(chosen), self._graphs(evidence.seed)
        if graphs:
            few = Interval(Feature(("nodes",)), None, float(evidence.scope.positions))
            region = attrs.evolve(region, atoms=[*region.atoms, few])
        self.task.oracle.reserved = 0
        size = int(min(self.task.effort.accept, self.task.oracle.left))
        rows, failing = self._tried(region, evidence, size)
        if not len(rows) or not failing.all():
            return None
        return attrs.evolve(region.merged, graphs=graphs), len(rows)

    def _graphs(self, row: Ints) -> bool:
        """Whether there are cases of more operators than a row has."""
        return bool(len(self.task.space.embedded(self.task.rng, row[None, :])))

    def _tried(self, region: Region, evidence: Evidence, size: int) -> tuple[Ints, Bools]:
        """Fresh cases inside, and which of them fail."""
        task = self.task
        starts = evidence.table.rows[evidence.failures]
        starts = starts[region.contains(task.space, starts)]
        found = DistinctRows(starts[:0])
        for start in task.rng.permutation(starts)[:WALKS]:
            walked = region.sample(task.space, task.rng, size // WALKED, start[None, :])
            found.add(walked)
        found.add(region.sample(task.space, task.rng, size, starts))
        rows = np.asfortranarray(found.rows[:size])
        return rows, task.oracle.ask(rows)

    def _measured(self, found: tuple[Region, int], seen: Ints) -> Region:
        region, tried = found
        task = self.task
        drawn = task.space.sample(task.rng, MEASURED)
        inside = int(region.contains(task.space, drawn).sum())
        low, high = interval_of_share(inside, len(drawn))
        measured = Measured(
            share=inside / len(drawn),
            share_low=low,
            share_high=high,
            coverage=float(region.contains(task.space, seen).mean()),
            tried=tried,
            proven=tried >= FULL.accept,
        )
        return attrs.evolve(region, measured=measured)


def _of_operators(chosen: Sequence[Chosen]) -> Region:
    """The region of cases that have no more operators than the seed."""
    atoms = [condition.final for condition in chosen]
    whole = [atom.atom for atom in atoms if atom.position is None]
    return Region(as_patterns(atoms), whole)


def interval_of_share(hits: int, drawn: int) -> tuple[float, float]:
    """The 95 % confidence interval of a share of which some draws show `hits`: Wilson's."""
    share, z = hits / drawn, CONFIDENT
    scale = 1 + z * z / drawn
    centre = (share + z * z / (2 * drawn)) / scale
    reach = z / scale * sqrt(share * (1 - share) / drawn + (z / (2 * drawn)) ** 2)
    return max(0.0, centre - reach), min(1.0, centre + reach)
