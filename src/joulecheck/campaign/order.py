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

    @classmethod
    def of(cls, space: CaseSpace, rows: Ints) -> Plainness:
        """Compute the keys of canonical rows."""
        above = rows - np.array([gene.low for gene in space.genes])
        size = np.log2(1.0 + above).sum(axis=1).round(LOG_DIGITS)
        return cls(rows, space.nodes(rows), (above > 0).sum(axis=1), size)

    def order(self) -> Ints:
        """Indices of the rows, plainest first."""
        varying = np.flatnonzero((self.rows != self.rows[0]).any(axis=0))
        keys = (*self.rows.T[varying[::-1]], self.size, self.off_minimum, self.nodes)
        return np.lexsort(keys)

    def of_rows(self, which: Bools | Ints) -> Plainness:
        """The keys of some of the rows."""
        return Plainness(
            self.rows[which], self.nodes[which], self.off_minimum[which], self.size[which]
        )

    def plainer_than(self, other: Plainness) -> Bools:
        """(n,) which rows are plainer than the one row of `other`."""
        differs = self.rows != other.rows[0]
        first = differs.argmax(axis=1)
        each = np.arange(len(self.rows))
        less = self.rows[each, first] < other.rows[0, first]
        keys = (
            (self.nodes, other.nodes[0]),
            (self.off_minimum, other.off_minimum[0]),
            (self.size, other.size[0]),
        )
        plainer: Bools = less & differs.any(axis=1)
        for mine, theirs in reversed(keys):
            plainer = (mine < theirs) | ((mine == theirs) & plainer)
        return plainer
