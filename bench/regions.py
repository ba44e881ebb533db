"""How often the region of a planted fault is found exactly, and what that takes.

A region counts as exact if nothing tells it from the planted one: not what the sampler
draws, not cases inside of either, not their neighbours one step of a gene away. A second
set of regions is outside of what the finder can say: there it must claim nothing that is
false. Time is that of the process, from the minimal case on. Exits with 1 if a target is
missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
import numpy as np

from conditions import QUANTA
from joulecheck.campaign.memory import keep_freed_memory
from joulecheck.campaign.order import Plainness
from joulecheck.campaign.reduce import reduce
from joulecheck.campaign.regions.generalise import generalise
from joulecheck.region import Generalised
from joulecheck.region.sampling import Sampler
from joulecheck.workload.columns import Ints
from planted_regions import (
    KINDS,
    OUTSIDE,
    PlantedRegion,
    planted_region,
    region_outside,
)

REGIONS: Final = 120
OUTSIDE_REGIONS: Final = 40

SHARE: Final = (3e-4, 0.5)
"""Of the cases that a region may hold: rarer ones are not found, others are no fault."""

SCREENED: Final = 1 << 19
"""Cases after which a screening gives up."""

BATCH: Final = 8192
JUDGED: Final = 4000
"""Cases inside of a region by which it is judged, and as many that are drawn."""

EXACT: Final = 0.93
FALSE: Final = 0.01
SECONDS: Final = {"single operators": 0.5, "subgraphs": 2.0}


@attrs.frozen
class Judged:
    """What was found of a planted region, and how it compares."""

    planted: PlantedRegion
    found: Generalised
    seconds: float
    false: float
    """Of the cases inside of what was found, the share that do not fail."""
    missed: float
    """Of the failures, the share outside of what was found."""
    exact: bool

    @property
    def size(self) -> str:
        """What its cases are."""
        graphs = self.planted.space_name.endswith("subgraphs")
        return "subgraphs" if graphs else "single operators"


def planted(count: int, seed: int, *, outside: bool = False) -> Iterator[PlantedRegion]:
    """Regions that are neither too rare nor too common, of each kind as many."""
    random = np.random.default_rng(seed)
    kinds, make = (OUTSIDE, region_outside) if outside else (KINDS, planted_region)
    names, made = list(kinds), 0
    while made < count:
        region = make(random, names[made % len(names)])
        rows = region.space.sample(np.random.default_rng(1), 1 << 14)
        if SHARE[0] <= region.holds(rows).mean() <= SHARE[1]:
            made += 1
            yield region


def screened(region: PlantedRegion, random: np.random.Generator) -> Ints | None:
    """The failures of the first batch that has some."""
    for _ in range(SCREENED // BATCH):
        rows = region.space.sample(random, BATCH)
        failing = rows[region.holds(rows)]
        if len(failing):
            return failing
    return None


def neighbours(region: PlantedRegion, rows: Ints, random: np.random.Generator) -> Ints:
    """The rows with one or two genes that some row uses one step up or down."""
    genes = region.space.genes
    lows, highs = np.array([(gene.low, gene.high) for gene in genes]).T
    used = np.flatnonzero((rows > lows).any(axis=0))
    each, moved = np.arange(len(rows)), np.array(rows, order="F")
    for step in (-1, 1):
        moved[each, used[random.integers(0, len(used), len(rows))]] += step
    return region.space.canonical(np.asfortranarray(np.clip(moved, lows, highs)))


def judge(region: PlantedRegion, index: int) -> Judged | None:
    """Screen, reduce and generalise as a campaign does, and compare; None if unseen."""
    failing = screened(region, np.random.default_rng([7, index]))
    if failing is None:
        return None
    space, holds = region.space, region.holds
    plainest = failing[Plainness.of(space, failing).order()[0]].tolist()
    row = reduce(space, plainest, holds, vectorised=True).row
    random, started = np.random.default_rng(index), time.process_time()
    found = generalise(space, holds, row, failing, random, QUANTA)
    seconds = time.process_time() - started
    random = np.random.default_rng([8, index])
    inside = Sampler(space, holds).draw(random, JUDGED, failing)
    claimed = _claimed(region, found, failing, random)
    near = [neighbours(region, of, random) for of in (inside, claimed) if len(of)]
    every = np.concatenate([space.sample(random, JUDGED), inside, claimed, *near])
    return Judged(
        planted=region,
        found=found,
        seconds=seconds,
        false=float(1 - holds(claimed).mean()) if len(claimed) else 0.0,
        missed=float(1 - found.contains(space, inside).mean()),
        exact=bool((found.contains(space, every) == holds(every)).all()),
    )


def _claimed(
    region: PlantedRegion, found: Generalised, failing: Ints, random: np.random.Generator
) -> Ints:
    """Cases inside of what was found."""
    space = region.space
    parts = [np.empty((0, len(space.genes)), dtype=np.int64)]
    for one in found.regions:
        starts = failing[one.contains(space, failing)]
        parts.append(one.sample(space, random, JUDGED, starts))
    return np.concatenate(parts)


def report(judged: Judged, index: int, *, verbose: bool) -> None:
    """Print what was found of a region, if it is not exact or all are asked for."""
    if judged.exact and not verbose:
        return
    text = "exact" if judged.exact else "not exact"
    print(f"{index}: {judged.planted.space_name}, {judged.planted.text}: {text}")
    print(
        f"    false {judged.false:.3%}, missed {judged.missed:.3%}, explains "
        f"{judged.found.coverage:.1%} of the failures seen; {judged.seconds:.2f} s, "
        f"{judged.found.evaluations:,} cases asked"
    )
    for region in judged.found.regions:
        print(f"    found: {region.sentence}")


def report_within(judged: Sequence[Judged]) -> bool:
    """Print the shares and times of what can be said; whether the targets are met."""
    exact = float(np.mean([one.exact for one in judged]))
    reached = [exact >= EXACT]
    print(
        f"{len(judged)} planted regions: {exact:.1%} exact, target >= {EXACT:.0%} "
        f"{_verdict(reached[-1])}"
    )
    for size, limit in SECONDS.items():
        some = [one for one in judged if one.size == size]
        if not some:
            continue
        seconds = np.array([one.seconds for one in some])
        asked = np.median([one.found.evaluations for one in some])
        reached.append(bool(np.median(seconds) < limit))
        print(
            f"{size}: {np.mean([one.exact for one in some]):.1%} of {len(some)} exact; "
            f"median {np.median(seconds):.2f} s, longest {seconds.max():.1f} s, median "
            f"{asked:,.0f} cases asked; target median < {limit:g} s {_verdict(reached[-1])}"
        )
    return all([*reached, report_false(judged)])


def report_false(judged: Sequence[Judged]) -> bool:
    """Print the worst false membership; whether the target is met."""
    worst = max(one.false for one in judged)
    reached = worst < FALSE
    print(f"worst false membership {worst:.3%}, target < {FALSE:.0%} {_verdict(reached)}")
    return reached


def report_outside(judged: Sequence[Judged]) -> bool:
    """Print what is claimed of regions that cannot be said; whether none is false."""
    coverage = np.array([one.found.coverage for one in judged])
    seconds = np.array([one.seconds for one in judged])
    print(
        f"{len(judged)} regions outside of the language: median coverage of the failures "
        f"seen {np.median(coverage):.1%}, from {coverage.min():.1%} to "
        f"{coverage.max():.1%}; {np.mean([one.exact for one in judged]):.0%} exact; median "
        f"{np.median(seconds):.2f} s, longest {seconds.max():.1f} s"
    )
    return report_false(judged)


def _verdict(reached: bool) -> str:  # noqa: FBT001 - said of it
    return "reached" if reached else "MISSED"


def measured(regions: Iterator[PlantedRegion], *, verbose: bool) -> list[Judged]:
    """Judge each region that a screening sees."""
    found = []
    for index, region in enumerate(regions):
        judged = judge(region, index)
        if judged is not None:
            report(judged, index, verbose=verbose)
            found.append(judged)
    return found


def main() -> int:
    """Measure both sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="print all regions")
    asked = parser.parse_args()
    keep_freed_memory()  # as a campaign does
    within = measured(planted(REGIONS, asked.seed), verbose=asked.verbose)
    outside = planted(OUTSIDE_REGIONS, asked.seed, outside=True)
    beyond = measured(outside, verbose=asked.verbose)
    reached = [report_within(within), report_outside(beyond)]
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
