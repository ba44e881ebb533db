"""From a minimal failing case and the failures of a screening to regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.order import Plainness
from joulecheck.campaign.regions.effort import FULL, SPARING
from joulecheck.campaign.regions.evidence import Evidence
from joulecheck.campaign.regions.larger import Larger
from joulecheck.campaign.regions.learner import Chosen, Learner
from joulecheck.campaign.regions.lift import Lifter, as_patterns
from joulecheck.campaign.regions.oracle import Exhausted, Fails, Oracle
from joulecheck.campaign.regions.task import Scope, Task
from joulecheck.region import Generalised, Measured, Region
from joulecheck.region.columns import Columns
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Ints

MOST_REGIONS: Final = 4
"""That together may describe where a property fails."""

ATTEMPTS: Final = 4
"""To accept a region, each with what the one before has shown."""


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
        limit: how many cases may be asked in all.
    """
    effort = FULL if vectorised else SPARING
    generaliser = _Generaliser(space, Oracle(fails, limit), rng, quanta, effort)
    return generaliser.run(np.array(minimal_row, dtype=np.int64), failing_rows)


class _Generaliser:
    def __init__(self, space, oracle, rng, quanta, effort) -> None:
        self.regions: list[Region] = []
        self.task = Task(space, oracle, rng, quanta, effort, self._known)

    def run(self, minimal: Ints, failures: Ints) -> Generalised:
        space = self.task.space
        seed, left = minimal, failures
        stopped = False
        try:
            while len(self.regions) < MOST_REGIONS:
                region = self._region(seed, left)
                if region is None:
                    break
                self.regions.append(region)
                left = failures[~self._known(failures)]
                if not len(left):
                    break
                seed = self._smaller(left[Plainness.of(space, left).order()[0]])
        except Exhausted:
            stopped = True
        inside = self._known(failures)
        coverage = float(inside.mean()) if len(inside) else 0.0
        proven = not stopped and all(r.measured and r.measured.proven for r in self.regions)
        return Generalised(
            regions=self.regions,
            coverage=coverage,
            evaluations=self.task.oracle.evaluations,
            proven=proven,
        )

    def _known(self, rows: Ints) -> Bools:
        inside = np.zeros(len(rows), dtype=bool)
        if self.regions and len(rows):
            columns = Columns(self.task.space, rows)
            for region in self.regions:
                inside |= region.holds(columns)
        return inside

    def _smaller(self, row: Ints) -> Ints:
        """A failing row of as few operators as are needed, in no known region."""
        task = self.task
        while True:
            smaller = task.space.smaller_graphs(row.tolist())
            smaller = smaller[~self._known(smaller)]
            failing = smaller[task.oracle.ask(smaller)] if len(smaller) else smaller
            if not len(failing):
                return row
            row = failing[Plainness.of(task.space, failing).order()[0]]

    def _region(self, seed: Ints, failures: Ints) -> Region | None:
        task = self.task
        nodes = int(task.space.nodes(seed[None, :])[0])
        evidence = Evidence(task, Scope(task.space, nodes), seed)
        evidence.gather(failures)
        larger: Larger | None = None
        for _ in range(ATTEMPTS):
            learner = Learner(evidence)
            chosen = learner.learn()
            if chosen is None:
                return None
            if self._has_larger(seed):
                larger = larger or Larger(task, evidence, failures)
                region = Lifter(learner, larger).lift()
            else:
                region = _of_operators(chosen)
            if region is None:
                return None
            starts = evidence.table.rows[evidence.failures]
            starts = starts[region.contains(task.space, starts)]
            rows = region.sample(task.space, task.rng, task.effort.accept, starts)
            failing = task.oracle.ask(rows)
            if failing.all():
                return self._measured(region, len(rows), failures)
            small = evidence.scope.admits(rows)
            evidence.add(rows[small], failing[small])
            if larger is not None:
                larger.note(rows, failing)
        return None

    def _has_larger(self, seed: Ints) -> bool:
        """Whether there are cases of more operators."""
        return bool(len(self.task.space.embedded(self.task.rng, seed[None, :])))

    def _measured(self, region: Region, tried: int, failures: Ints) -> Region:
        task = self.task
        drawn = task.space.sample(task.rng, MEASURED)
        inside = int(region.contains(task.space, drawn).sum())
        low, high = wilson(inside, len(drawn))
        coverage = region.contains(task.space, failures).mean() if len(failures) else 0.0
        measured = Measured(
            share=inside / len(drawn),
            share_low=low,
            share_high=high,
            coverage=float(coverage),
            tried=tried,
            proven=tried >= FULL.accept,
        )
        return attrs.evolve(region, measured=measured)


def _of_operators(chosen: Sequence[Chosen]) -> Region:
    """The region of cases that cannot have more operators."""
    atoms = [condition.final for condition in chosen]
    whole = [atom.atom for atom in atoms if atom.position is None]
    return Region(as_patterns(atoms), whole)


MEASURED: Final = 1 << 14


def wilson(hits: int, drawn: int) -> tuple[float, float]:
    """The 95 % confidence interval of a share, by Wilson."""
    z = 1.959964
    share = hits / drawn
    centre = share + z * z / (2 * drawn)
    spread = z * np.sqrt(share * (1 - share) / drawn + z * z / (4 * drawn * drawn))
    scale = 1 + z * z / drawn
    return max(0.0, float((centre - spread) / scale)), min(1.0, float((centre + spread) / scale))
