"""Reducing: no operator, field or pair of fields of the result can be plainer.

Hypothesis gets stuck on residues and leaves spare nodes; here whole families of
candidates are asked in single calls. Passes run from the cheapest, and start again
after each success, until none succeeds:

1. every subset of the nodes, in two rewirings;
2. ladders of values for every field, then for every two of them;
3. every field alone: all its smaller values;
4. every pair of fields: one to its minimum with the other free, which also moves a
   value from one field to another; then all that is plainer, such as one field smaller
   and the other larger for a smaller product;
5. three fields together, as far as that takes few candidates, which proves nothing.

A model without a batch path is asked lazily, plainest candidate first, the first two
passes only and up to a limit; each success is followed by halving every field. Its
result is not proven minimal, and says so. Nor is that of a law that costs a scalar call
a case if it reaches its limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.order import Plainness
from joulecheck.counterexample import Minimality
from joulecheck.space import CaseSpace, Gene
from joulecheck.workload.columns import Bools, Ints

Fails = Callable[[Ints], Bools]
"""(n, width) canonical rows -> (n,) which of them fail."""

CHUNK: Final = 1 << 13
"""Candidates that are put in order together and asked in one call."""

EXHAUSTIVE: Final = 1 << 18
"""Values of a field or of a pair of fields up to which all of them are asked."""

EXTRA: Final = 1 << 16
"""Candidates of a pass that proves nothing."""

RUNG: Final = 4
"""Values of one field that a ladder tries for each value of another, largest first."""

LAZY_LIMIT: Final = 400
"""Candidates that a model without a batch path is asked in all, and the least that a
law which checks one case of many is asked."""


@attrs.frozen
class Reduced:
    """The outcome of a reduction."""

    row: tuple[int, ...]
    minimality: Minimality
    evaluations: int


def reduce(
    space: CaseSpace,
    row: Sequence[int],
    fails: Fails,
    *,
    vectorised: bool,
    thinning: int = 1,
) -> Reduced:
    """The plainest failing row that the passes reach from a failing one.

    Args:
        space: where the row comes from.
        row: canonical genes of a failing case.
        fails: which rows of a batch fail.
        vectorised: whether asking a batch costs little more than asking a case.
        thinning: of the law; one above 1 gets as much less to ask as it is dearer.
    """
    reducer = _Reducer(space, fails, vectorised=vectorised, thinning=thinning)
    current = np.array(row, dtype=np.int64)
    while (plainer := reducer.plainer(current)) is not None:
        current = plainer if vectorised else reducer.halved(plainer)
    proven = vectorised and not reducer.skipped
    return Reduced(
        tuple(current.tolist()),
        Minimality.PROVEN if proven else Minimality.UNPROVEN,
        reducer.evaluations,
    )


class _Reducer:
    """Asks families of candidates, counts them, and notes what it had to skip."""

    def __init__(
        self, space: CaseSpace, fails: Fails, *, vectorised: bool, thinning: int
    ) -> None:
        self.space = space
        self.fails = fails
        self.vectorised = vectorised
        self.chunk = max(1, CHUNK // thinning) if vectorised else 1
        self.limit = LAZY_LIMIT if not vectorised else None
        if vectorised and thinning > 1:
            self.limit = max(LAZY_LIMIT, EXHAUSTIVE // thinning)
        self.moves = Moves(space.genes)
        self.evaluations = 0
        self.skipped = False

    def plainer(self, row: Ints) -> Ints | None:
        """A plainer failing row, or None if no pass finds one."""
        self.skipped = False
        passes = [self._fewer_nodes, self._field_ladders, self._pair_ladders]
        if self.vectorised:
            passes += [self._whole_fields, self._whole_pairs, self._small_triples]
        for candidates in passes:
            found = self._best(row, candidates(row))
            if found is not None:
                return found
        return None

    def halved(self, row: Ints) -> Ints:
        """The row with each field brought down to where it seems to have a threshold."""
        for index in self.moves.off_minimum(row):
            holds = int(self.moves.lows[index]) - 1
            while row[index] - holds > 1:
                middle = np.array([[(holds + row[index]) // 2]])
                found = self._best(row, self.moves.families(row, [index], middle))
                if found is None:
                    holds = int(middle[0, 0])
                else:
                    row = found
        return row

    def _best(self, row: Ints, families: Iterator[Ints]) -> Ints | None:
        """The plainest failing row of the first families that have a plainer one."""
        here = Plainness.of(self.space, row[None, :])
        for candidates in _merged(families):
            if self._is_spent:
                return None
            rows = self.space.canonical(candidates)
            keys = Plainness.of(self.space, rows)
            found = self._first_failing(rows, keys.order(keys.plainer_than(here)))
            if found is not None:
                return found
        return None

    @property
    def _is_spent(self) -> bool:
        """Whether no more may be asked; then something was skipped."""
        spent = self.limit is not None and self.evaluations >= self.limit
        self.skipped |= spent
        return spent

    def _first_failing(self, rows: Ints, order: Ints) -> Ints | None:
        """The first of the rows, in this order, that fails."""
        for start in range(0, len(order), self.chunk):
            if self._is_spent:
                return None
            some = order[start : start + self.chunk]
            some = rows.T.take(some, axis=1).T  # kept gene by gene
            self.evaluations += len(some)
            failing = np.flatnonzero(self.fails(some))
            if len(failing):
                found: Ints = np.array(some[failing[0]])
                return found
        return None

    def _fewer_nodes(self, row: Ints) -> Iterator[Ints]:
        yield self.space.smaller_graphs(row.tolist())

    def _field_ladders(self, row: Ints) -> Iterator[Ints]:
        for index in self.moves.off_minimum(row):
            yield self.moves.smaller(row, index)

    def _pair_ladders(self, row: Ints) -> Iterator[Ints]:
        off = self.moves.off_minimum(row)
        for index in off:
            for other in self._free_without(row, index):
                yield self.moves.emptied(row, index, other)
        for pair in combinations(off, 2):
            yield self.moves.rungs(row, pair)

    def _whole_fields(self, row: Ints) -> Iterator[Ints]:
        for index in self.moves.off_minimum(row):
            yield from self._up_to(row, index, int(row[index]) - 1)

    def _whole_pairs(self, row: Ints) -> Iterator[Ints]:
        off = self.moves.off_minimum(row)
        for index in off:
            lowered = self.moves.lowered(row, index)
            for other in self._free_without(row, index):
                high = self._highest(row, index, other)
                yield from self._up_to(lowered, other, high)
        for pair in combinations(off, 2):
            values = self.moves.trades(row, pair, EXHAUSTIVE)
            self.skipped |= values is None
            if values is None:
                values = self.moves.edge(row, pair)
            yield from self.moves.families(row, pair, values)

    def _small_triples(self, row: Ints) -> Iterator[Ints]:
        off, left = set(self.moves.off_minimum(row)), EXTRA
        for triple in combinations(self._read(row), 3):
            if len(off.intersection(triple)) > 1:
                values = self.moves.trades(row, triple, left)
                if values is not None:
                    left -= len(values)
                    yield from self.moves.families(row, triple, values)

    def _highest(self, row: Ints, lowered: int, raised: int) -> int:
        """The highest value of a field that is plainer with another at its minimum."""
        gene = self.space.genes[raised]
        if row[raised] > gene.low:  # one field fewer is off its minimum: any value is
            return gene.high
        freed = int(row[lowered]) - self.space.genes[lowered].low
        return min(gene.high, gene.low + freed)

    def _up_to(self, row: Ints, index: int, high: int) -> Iterator[Ints]:
        """All values of a field up to `high`, or as many as are ever asked."""
        low = self.space.genes[index].low
        self.skipped |= high - low >= EXHAUSTIVE
        values = np.arange(low, min(high, low + EXHAUSTIVE - 1) + 1)
        return self.moves.families(row, [index], values[:, None])

    def _free_without(self, row: Ints, index: int) -> list[int]:
        """The other fields that the case reads, before or after one is lowered."""
        lowered = self.moves.lowered(row, index)
        return sorted({*self._read(row), *self._read(lowered)} - {index})

    def _read(self, row: Ints) -> Sequence[int]:
        return self.space.read_columns(row.tolist())


class Moves:
    """Candidates that differ from a row in one, two or three fields."""

    def __init__(self, genes: Sequence[Gene]) -> None:
        """Move within the bounds of these genes."""
        self.genes = genes
        self.lows = np.array([gene.low for gene in genes], dtype=np.int64)

    def off_minimum(self, row: Ints) -> list[int]:
        """The fields that are not at their minimum."""
        return np.flatnonzero(row > self.lows).tolist()

    def lowered(self, row: Ints, index: int) -> Ints:
        """The row with one field at its minimum."""
        lowered = row.copy()
        lowered[index] = self.lows[index]
        return lowered

    def with_values(self, row: Ints, fields: Sequence[int], values: Ints) -> Ints:
        """The row once for each of the `values`, (n, fields), of these fields."""
        rows = np.repeat(row[:, None], len(values), axis=1).T
        rows[:, list(fields)] = values
        return rows

    def families(self, row: Ints, fields: Sequence[int], values: Ints) -> Iterator[Ints]:
        """The same, as many at a time as are asked in one call."""
        for start in range(0, len(values), CHUNK):
            yield self.with_values(row, fields, values[start : start + CHUNK])

    def smaller(self, row: Ints, index: int) -> Ints:
        """A ladder of smaller values of one field."""
        ladder = _ladder(self.genes[index], int(row[index]))
        return self.with_values(row, [index], ladder[ladder < row[index], None])

    def emptied(self, row: Ints, index: int, other: int) -> Ints:
        """One field at its minimum, another on a ladder around what the first held."""
        ladder = _ladder(self.genes[other], int(row[index]))
        return self.with_values(self.lowered(row, index), [other], ladder[:, None])

    def rungs(self, row: Ints, pair: tuple[int, int]) -> Ints:
        """Two fields: each smaller on its ladder, and one on it for the other's sake."""
        one, other = (_ladder(self.genes[index], int(row[index])) for index in pair)
        grid = np.meshgrid(one[one < row[pair[0]]], other[other < row[pair[1]]])
        values = [np.column_stack([part.ravel() for part in grid])]
        values.append(self._along(row, pair, one, RUNG))
        values.append(self._along(row, (pair[1], pair[0]), other, RUNG)[:, ::-1])
        return self.with_values(row, pair, np.concatenate(values))

    def edge(self, row: Ints, pair: tuple[int, int]) -> Ints:
        """Two fields: every value of one, with the largest plainer ones of the other."""
        every = np.arange(self.genes[pair[0]].low, self.genes[pair[0]].high + 1)
        return self._along(row, pair, every, max(1, EXTRA // len(every)))

    def _along(self, row: Ints, pair: tuple[int, int], ones: Ints, width: int) -> Ints:
        """(n, 2) values of a pair, from the largest of the second that is no less plain."""
        one, other = (self.genes[index] for index in pair)
        largest = self._product(row, pair) // (1 + ones - one.low) + other.low - 1
        others = np.minimum(largest, other.high)[:, None] - np.arange(width)
        found = np.column_stack([np.repeat(ones, width), others.ravel()])
        return found[found[:, 1] >= other.low]

    def trades(self, row: Ints, fields: Sequence[int], limit: int) -> Ints | None:
        """All values of some fields whose sum of logarithms is no more than the row's.

        None if they are more than `limit`.
        """
        genes = [self.genes[index] for index in fields]
        sizes = [gene.high - gene.low + 1 for gene in genes]
        factors = _factors(self._product(row, fields), sizes, limit)
        if factors is None:
            return None
        return factors + self.lows[list(fields)] - 1

    def _product(self, row: Ints, fields: Sequence[int]) -> int:
        return int(np.prod(1 + row[list(fields)] - self.lows[list(fields)]))


def _merged(families: Iterator[Ints]) -> Iterator[Ints]:
    """The candidates of the families in order, about `CHUNK` at a time."""
    waiting: list[Ints] = []
    for family in families:
        waiting.append(family)
        if sum(map(len, waiting)) >= CHUNK:
            yield np.concatenate(waiting)
            waiting = []
    if sum(map(len, waiting)):
        yield np.concatenate(waiting)


def _factors(most: int, sizes: Sequence[int], limit: int) -> Ints | None:
    """(n, fields) all numbers from 1 to `sizes` whose product is at most `most`.

    The smallest products come first. None if they are more than `limit`.
    """
    values, room = np.empty((1, 0), dtype=np.int64), np.array([most])
    for size in sizes:
        counts = np.minimum(room, size)
        if counts.sum() > limit:
            return None
        owner = np.repeat(np.arange(len(values)), counts)
        factor = np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner] + 1
        values = np.column_stack([values[owner], factor])
        room = room[owner] // factor
    ordered: Ints = values[np.argsort(values.prod(axis=1), kind="stable")]
    return ordered


def _ladder(gene: Gene, value: int) -> Ints:
    """Values of a gene at which a predicate is likely to change, around `value`."""
    span = value - gene.low
    halves = [gene.low + (span >> shift) for shift in range(span.bit_length() + 1)]
    powers = [1 << shift for shift in range(gene.high.bit_length() + 1)]
    near = [value - step for step in range(-2, 10)]
    first = range(gene.low, gene.low + 10)
    rungs = {*halves, *near, *first, *powers, *(power + 1 for power in powers)}
    rungs |= {power - 1 for power in powers}
    return np.array(sorted(r for r in rungs if gene.low <= r <= gene.high))
