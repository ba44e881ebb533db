"""Which of two cases is plainer: the order in which a search minimises."""

from __future__ import annotations

import attrs
import numpy as np

from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Floats, Ints

LOG_DIGITS = 9
"""Sums of logarithms that differ less than this are equal, on every machine."""


@attrs.frozen(eq=False)
class Plainness:
    """The keys of some rows, in the order in which they count; then lexicographic."""

    rows: Ints
    nodes: Ints
    off_minimum: Ints
    size: Floats
    """Sum over the genes of log2(1 + value - minimum)."""
    columns: Ints
    """The genes that are off their minimum in some row; most are in none."""

    @classmethod
    def of(cls, space: CaseSpace, rows: Ints) -> Plainness:
        """Compute the keys of canonical rows."""
        lows = np.array([gene.low for gene in space.genes])
        columns = np.flatnonzero(rows.T.max(axis=1, initial=np.iinfo(np.int64).min) > lows)
        off_minimum = np.zeros(len(rows), dtype=np.int64)
        size = np.zeros(len(rows))
        for column in columns:
            above = rows[:, column] - lows[column]
            off_minimum += above > 0
            size += np.log2(1.0 + above)
        return cls(rows, space.nodes(rows), off_minimum, size.round(LOG_DIGITS), columns)

    def order(self, which: Bools | None = None) -> Ints:
        """Indices of the rows, or of those marked in `which`, plainest first."""
        chosen = np.arange(len(self.rows)) if which is None else np.flatnonzero(which)
        genes = [self.rows[:, column][chosen] for column in self.columns[::-1]]
        keys = (self.size, self.off_minimum, self.nodes)
        found: Ints = chosen[np.lexsort((*genes, *(key[chosen] for key in keys)))]
        return found

    def plainer_than(self, other: Plainness) -> Bools:
        """(n,) which rows are plainer than the one row of `other`."""
        keys = (
            (self.nodes, other.nodes),
            (self.off_minimum, other.off_minimum),
            (self.size, other.size),
        )
        plainer, tied = np.zeros(len(self.rows), dtype=bool), np.ones(len(self.rows), bool)
        for mine, theirs in keys:
            plainer |= tied & (mine < theirs)
            tied &= mine == theirs
        plainer[tied] = _lexically_less(self.rows[tied], other.rows[0])
        return plainer


def _lexically_less(rows: Ints, row: Ints) -> Bools:
    differs = rows != row
    first = differs.argmax(axis=1)
    less: Bools = rows[np.arange(len(rows)), first] < row[first]
    return less
