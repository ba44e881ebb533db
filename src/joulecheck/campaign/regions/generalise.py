"""From a minimal failing case and the failures of a screening to regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.regions.effort import FULL, SPARING, Effort
from joulecheck.campaign.regions.evidence import Evidence
from joulecheck.campaign.regions.learner import Learner
from joulecheck.campaign.regions.oracle import Exhausted, Fails, Oracle
from joulecheck.campaign.regions.table import Placed
from joulecheck.region import Generalised, Measured, Region, SomeOperator
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Ints

MOST_REGIONS: Final = 4
TRIES: Final = 3


def generalise(
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
    oracle = Oracle(fails, limit)
    effort = FULL if vectorised else SPARING
    regions: list[Region] = []
    minimal = np.array(minimal_row, dtype=np.int64)
    seeds = [minimal]
    left = failing_rows

    def known(rows: Ints) -> Bools:
        inside = np.zeros(len(rows), dtype=bool)
        for region in regions:
            inside |= region.contains(space, rows)
        return inside

    while seeds and len(regions) < MOST_REGIONS:
        seed = seeds.pop()
        evidence = Evidence(space, oracle, rng, seed, quanta=quanta, effort=effort, known=known)
        evidence.gather(left)
        learner = Learner(evidence)
        region = None
        for _ in range(TRIES):
            atoms = learner.learn()
            if atoms is None:
                break
            candidate = as_region(atoms)
            rows = candidate.sample(space, rng, effort.accept, evidence.table.rows[evidence.failures])
            failing = oracle.ask(rows)
            if failing.all():
                region = candidate
                break
            evidence._add(rows[:200], failing[:200])
            evidence._add(rows[~failing], failing[~failing])
        if region is None:
            break
        regions.append(region)
        left = failing_rows[~known(failing_rows)]
        if len(left):
            seeds.append(left[0])
    inside = known(failing_rows)
    return Generalised(regions=regions, coverage=float(inside.mean()) if len(inside) else 0.0, evaluations=oracle.evaluations, proven=False)


def as_region(atoms: Sequence[Placed]) -> Region:
    positions = sorted({a.position for a in atoms if a.position is not None})
    return Region(
        operators=[SomeOperator([a.atom for a in atoms if a.position == p]) for p in positions],
        atoms=[a.atom for a in atoms if a.position is None],
    )
