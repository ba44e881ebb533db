"""Contrast: the nearest case that holds, to be laid beside a minimal case that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from joulecheck.space import CaseSpace, Gene
from joulecheck.workload.columns import Floats, Ints

STEPS: Final = 16
"""How far a field is moved one by one, in both directions; further on by doubling."""

PAIR_STEPS: Final = 3
"""The same where two fields are moved."""

SCALAR_LIMIT: Final = 60
"""Cases that a model without a batch path is asked."""

Margins = Callable[[Ints], Floats]
"""(n, width) canonical rows -> (n,) margins, NaN outside the domain."""


def nearest_passing(
    space: CaseSpace, row: Sequence[int], margins: Margins, *, vectorised: bool
) -> tuple[int, ...] | None:
    """The row of the nearest case for which a law holds, or None if none is near.

    Nearest is the fewest fields changed, then the least change, counted in doublings.

    Args:
        space: of the law.
        row: the case that fails.
        margins: of the law.
        vectorised: whether many cases are one call.
    """
    start = np.array(row, dtype=np.int64)
    columns = space.read_columns(row)
    for candidates in (_singles(space, start, columns), _pairs(space, start, columns)):
        rows = _near_first(space, start, candidates)
        found = _first_passing(rows if vectorised else rows[:SCALAR_LIMIT], margins)
        if found is not None:
            return tuple(found.tolist())
        if not vectorised:
            break
    return None


def _first_passing(rows: Ints, margins: Margins) -> Ints | None:
    if not len(rows):
        return None
    passing = np.flatnonzero(margins(rows) >= 0)
    if not len(passing):
        return None
    first: Ints = rows[passing[0]]
    return first


def _near_first(space: CaseSpace, start: Ints, candidates: Iterator[Ints]) -> Ints:
    """The canonical rows of candidates, each once, the nearest first."""
    rows = np.array(list(candidates), dtype=np.int64).reshape(-1, len(start))
    rows = np.unique(space.canonical(np.asfortranarray(rows)), axis=0)
    rows = rows[(rows != start).any(axis=1)]
    lows = np.array([gene.low for gene in space.genes])
    apart = np.abs(np.log2(1.0 + rows - lows) - np.log2(1.0 + start - lows)).sum(axis=1)
    changed = (rows != start).sum(axis=1)
    further = np.abs(rows - start).sum(axis=1)
    nearest: Ints = rows[np.lexsort((further, apart.round(9), changed))]
    return nearest


def _singles(space: CaseSpace, start: Ints, columns: Sequence[int]) -> Iterator[Ints]:
    for column in columns:
        for value in _values(space.genes[column], int(start[column]), STEPS):
            yield _with(start, {column: value})


def _pairs(space: CaseSpace, start: Ints, columns: Sequence[int]) -> Iterator[Ints]:
    for one, other in combinations(columns, 2):
        for value in _values(space.genes[one], int(start[one]), PAIR_STEPS):
            for second in _values(space.genes[other], int(start[other]), PAIR_STEPS):
                yield _with(start, {one: value, other: second})


def _values(gene: Gene, at: int, steps: int) -> list[int]:
    """Values around one, all within its bounds: neighbours, then doublings to the ends."""
    near = range(at - steps, at + steps + 1)
    doubled = [at + sign * (1 << power) for power in range(40) for sign in (1, -1)]
    ratios = [at * 2, at * 4, at // 2, at // 4, gene.low, gene.high]
    values = {*near, *doubled, *ratios} if steps == STEPS else {*near, gene.low, gene.high}
    return sorted(v for v in values if gene.low <= v <= gene.high and v != at)


def _with(row: Ints, values: dict[int, int]) -> Ints:
    changed = row.copy()
    changed[list(values)] = list(values.values())
    return changed
