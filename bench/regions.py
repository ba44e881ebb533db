"""How often the region of a planted fault is found exactly, and what that takes.

Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.order import Plainness
from joulecheck.campaign.reduce import reduce
from joulecheck.campaign.regions.generalise import generalise
from joulecheck.region import Generalised
from joulecheck.region.sampling import Sampler
from joulecheck.workload.columns import Ints
from planted_regions import (
    KINDS,
    OUTSIDE,
    QUANTA,
    PlantedRegion,
    planted_region,
    region_outside,
)

REGIONS: Final = 120
SHARE: Final = (3e-4, 0.5)
CASES: Final = 1 << 19
BATCH: Final = 8192
JUDGED: Final = 4000


@attrs.frozen
class Judged:
    planted: PlantedRegion
    found: Generalised
    seconds: float
    false: float
    missed: float
    exact: bool


def planted(count: int, seed: int, outside: bool = False) -> Iterator[PlantedRegion]:
    random = np.random.default_rng(seed)
    made = 0
    while made < count:
        kinds = list(OUTSIDE) if outside else KINDS
        make = region_outside if outside else planted_region
        region = make(random, kinds[made % len(kinds)])
        rows = region.space.sample(np.random.default_rng(1), 1 << 14)
        if SHARE[0] <= region.holds(rows).mean() <= SHARE[1]:
            made += 1
            yield region


def screened(region: PlantedRegion, random: np.random.Generator) -> Ints | None:
    for _ in range(CASES // BATCH):
        rows = region.space.sample(random, BATCH)
        failing = rows[region.holds(rows)]
        if len(failing):
            return failing
    return None


def neighbours(region: PlantedRegion, rows: Ints, random: np.random.Generator) -> Ints:
    moved = np.array(rows, order="F")
    genes = region.space.genes
    for step in (-1, 1):
        columns = random.integers(0, len(genes), len(rows))
        read = np.array([c for c, g in enumerate(genes) if (rows[:, c] > g.low).any()])
        columns = read[random.integers(0, len(read), len(rows))]
        each = np.arange(len(rows))
        moved[each, columns] += step
    lows, highs = np.array([(g.low, g.high) for g in genes]).T
    return region.space.canonical(np.asfortranarray(np.clip(moved, lows, highs)))


def judge(region: PlantedRegion, index: int) -> Judged | None:
    random = np.random.default_rng([7, index])
    failing = screened(region, random)
    if failing is None:
        return None
    space = region.space
    plainest = failing[Plainness.of(space, failing).order()[0]].tolist()
    reduced = reduce(space, plainest, region.holds, vectorised=True)
    started = time.process_time()
    found = generalise(
        space, region.holds, reduced.row, failing, np.random.default_rng(index), QUANTA
    )
    seconds = time.process_time() - started
    other = np.random.default_rng([8, index])
    true = Sampler(space, region.holds).draw(other, JUDGED, failing)
    members = [
        r.sample(space, other, JUDGED, failing[r.contains(space, failing)])
        for r in found.regions
    ]
    claimed = np.concatenate([*members, space.empty(0)])
    sampled = space.sample(other, JUDGED)
    near = [neighbours(region, rows, other) for rows in (true, claimed) if len(rows)]
    every = np.concatenate([sampled, true, claimed, *near])
    agree = found.contains(space, every) == region.holds(every)
    false = 1 - region.holds(claimed).mean() if len(claimed) else 0.0
    missed = 1 - found.contains(space, true).mean()
    return Judged(region, found, seconds, float(false), float(missed), bool(agree.all()))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=REGIONS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--outside", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    judged = []
    for index, region in enumerate(planted(args.count, args.seed, args.outside)):
        if args.only is not None and index != args.only:
            continue
        j = judge(region, index)
        if j is None:
            continue
        judged.append(j)
        if args.verbose or not j.exact:
            print(
                index,
                "OK" if j.exact else "XX",
                region.kind,
                region.space_name,
                "|",
                region.text,
            )
            print(
                f"      {j.seconds:.2f}s evals {j.found.evaluations} false {j.false:.4f} missed {j.missed:.4f} cov {j.found.coverage:.3f}"
            )
            if not j.exact:
                for r in j.found.regions:
                    print("      ->", r.sentence)
    for name, some in (
        ("single", [j for j in judged if "subgraphs" not in j.planted.space_name]),
        ("subgraphs", [j for j in judged if "subgraphs" in j.planted.space_name]),
    ):
        if some:
            s = np.array([j.seconds for j in some])
            print(
                name,
                len(some),
                "exact",
                sum(j.exact for j in some),
                "max false",
                max(j.false for j in some),
                "median",
                np.median(s),
                "max",
                s.max(),
                "evals",
                np.median([j.found.evaluations for j in some]),
            )
    print(f"exact {np.mean([j.exact for j in judged]):.1%} of {len(judged)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
