"""Reducing: no operator, field or pair of fields of the result can be plainer.

Hypothesis gets stuck on residues and leaves spare nodes; here whole families of
candidates are asked in single calls. Passes run from the cheapest, and start again
after each success, until none succeeds:

1. every subset of the nodes, in two rewirings;
2. every field alone: first a ladder of smaller values, then all of them;
3. pairs of fields: one to its minimum with the other free, which also moves a value
   from one field to another; then both smaller.

A model without a batch path is asked lazily, plainest candidate first, over ladders
only and up to a limit: its result is not proven minimal, and says so.
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

CHUNK: Final = 1 << 14
"""Candidates asked in one call."""

EXHAUSTIVE: Final = 1 << 18
"""Candidates of one family up to which all of them are asked."""

LAZY_LIMIT: Final = 400
"""Candidates that a model without a batch path is asked in all."""


@attrs.frozen
class Reduced:
    """The outcome of a reduction."""

    row: tuple[int, ...]
    minimality: Minimality
    evaluations: int


def reduce(
    space: CaseSpace, row: Sequence[int], fails: Fails, *, vectorised: bool
) -> Reduced:
    """The plainest failing row that the passes reach from a failing one."""
    reducer = _Reducer(space, fails, vectorised=vectorised)
    current = np.array(row, dtype=np.int64)
    while (plainer := reducer.plainer(current)) is not None:
        current = plainer
    proven = vectorised and not reducer.skipped
    return Reduced(
        tuple(current.tolist()),
        Minimality.PROVEN if proven else Minimality.UNPROVEN,
        reducer.evaluations,
    )


class _Reducer:
    """Asks families of candidates, counts them, and notes what it had to skip."""

    def __init__(self, space: CaseSpace, fails: Fails, *, vectorised: bool) -> None:
        self.space = space
        self.fails = fails
        self.vectorised = vectorised
        self.evaluations = 0
        self.skipped = False

    def plainer(self, row: Ints) -> Ints | None:
        """A plainer failing row, or None if no pass finds one."""
        self.skipped = False
        passes: list[Callable[[Ints], Iterator[Ints]]] = [
            self._fewer_nodes,
            self._field_ladders,
            self._pair_ladders,
        ]
        if self.vectorised:
            passes += [self._whole_fields, self._whole_pairs]
        for candidates in passes:
            found = self._best(row, candidates(row))
            if found is not None:
                return found
        return None

    def _best(self, row: Ints, families: Iterator[Ints]) -> Ints | None:
        """The plainest failing row of the first family that has a plainer one."""
        here = Plainness.of(self.space, row[None, :])
        for family in families:
            if not len(family):
                continue
            keys = Plainness.of(self.space, self.space.canonical(family))
            keys = keys.of_rows(keys.plainer_than(here))
            if not len(keys.rows):
                continue
            found = self._first_failing(keys.rows[keys.order()])
            if found is not None:
                return found
        return None

    def _first_failing(self, rows: Ints) -> Ints | None:
        """The first row that fails; rows are in order, plainest first."""
        chunk = CHUNK if self.vectorised else 1
        for start in range(0, len(rows), chunk):
            if not self.vectorised and self.evaluations >= LAZY_LIMIT:
                return None
            some = np.asfortranarray(rows[start : start + chunk])
            self.evaluations += len(some)
            failing = np.flatnonzero(self.fails(some))
            if len(failing):
                found: Ints = np.array(some[failing[0]])
                return found
        return None

    def _fewer_nodes(self, row: Ints) -> Iterator[Ints]:
        yield self.space.smaller_graphs(row.tolist())

    def _field_ladders(self, row: Ints) -> Iterator[Ints]:
        ladders = [
            _with(row, index, _below(self.space.genes[index], int(row[index])))
            for index in self._off_minimum(row)
        ]
        if ladders:
            yield np.concatenate(ladders)

    def _pair_ladders(self, row: Ints) -> Iterator[Ints]:
        """One field to its minimum, another to each value of a ladder."""
        families = []
        for index in self._off_minimum(row):
            lowered = _with(row, index, np.array([self.space.genes[index].low]))[0]
            for other in self._read(row):
                if other != index:
                    ladder = _ladder(self.space.genes[other], int(row[index]))
                    families.append(_with(lowered, other, ladder))
        for one, other in combinations(self._off_minimum(row), 2):
            families.append(self._grid(row, one, other, _below))
        if families:
            yield np.concatenate(families)

    def _whole_fields(self, row: Ints) -> Iterator[Ints]:
        for index in self._off_minimum(row):
            yield _with(row, index, self._up_to(index, int(row[index]) - 1))

    def _whole_pairs(self, row: Ints) -> Iterator[Ints]:
        for index in self._off_minimum(row):
            lowered = _with(row, index, np.array([self.space.genes[index].low]))[0]
            for other in self._read(row):
                if other != index:
                    high = self._highest_plainer(row, index, other)
                    yield _with(lowered, other, self._up_to(other, high))
        for one, other in combinations(self._off_minimum(row), 2):
            sizes = [int(row[i]) - self.space.genes[i].low for i in (one, other)]
            if sizes[0] * sizes[1] > EXHAUSTIVE:
                self.skipped = True
            else:
                yield self._grid(row, one, other, _all_below)

    def _highest_plainer(self, row: Ints, lowered: int, raised: int) -> int:
        """The highest value of a field that is plainer with another at its minimum."""
        gene = self.space.genes[raised]
        if row[raised] > gene.low:  # one field fewer is off its minimum: any value is
            return gene.high
        freed = int(row[lowered]) - self.space.genes[lowered].low
        return min(gene.high, gene.low + freed)

    def _up_to(self, index: int, high: int) -> Ints:
        """All values of a field up to `high`, or as many as are ever asked at once."""
        low = self.space.genes[index].low
        if high - low >= EXHAUSTIVE:
            self.skipped = True
            high = low + EXHAUSTIVE - 1
        return np.arange(low, high + 1)

    def _grid(
        self, row: Ints, one: int, other: int, values: Callable[[Gene, int], Ints]
    ) -> Ints:
        genes = self.space.genes
        ones = values(genes[one], int(row[one]))
        others = values(genes[other], int(row[other]))
        grid = np.repeat(_with(row, one, ones), len(others), axis=0)
        grid[:, other] = np.tile(others, len(ones))
        return grid

    def _off_minimum(self, row: Ints) -> list[int]:
        lows = np.array([gene.low for gene in self.space.genes])
        return np.flatnonzero(row > lows).tolist()

    def _read(self, row: Ints) -> Sequence[int]:
        return self.space.read_columns(row.tolist())


def _with(row: Ints, index: int, values: Ints) -> Ints:
    rows = np.repeat(row[:, None], len(values), axis=1).T
    rows[:, index] = values
    return rows


def _all_below(gene: Gene, value: int) -> Ints:
    return np.arange(gene.low, value)


def _below(gene: Gene, value: int) -> Ints:
    """Smaller values of a gene: near its minimum, near `value`, and halves between."""
    ladder = _ladder(gene, value)
    return ladder[ladder < value]


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
