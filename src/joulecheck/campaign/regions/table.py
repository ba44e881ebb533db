"""Asked cases with the values of all terms: the data from which a region is learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.regions.vocabulary import Sort, Term, terms_of
from joulecheck.region import Atom, Columns, How
from joulecheck.region.atoms import feature_of, residues
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Floats, Ints


def at_position(columns: Columns, position: int, values: Floats) -> Floats:
    """(n,) values of operators at one place of each case; NaN where there is none."""
    if len(values) == columns.size:
        return values if position == 0 else np.full(columns.size, np.nan)
    found = np.full(columns.size, np.nan)
    there = columns.counts > position
    found[there] = values[columns.starts[there] + position]
    return found


def values_of(term: Term, columns: Columns) -> Floats:
    """(n,) a term of each case."""
    if term.position is None:
        return feature_of(term.feature, "case", columns)
    of_operators = feature_of(term.feature, "operator", columns)
    return at_position(columns, term.position, of_operators)


def codes_of(sort: Sort, columns: Columns) -> Ints:
    """(n,) a trait of each case as its code, -1 where there is none."""
    if sort.position is None:
        return columns.trait("case", sort.name).codes
    codes = columns.trait("operator", sort.name).codes.astype(np.float64)
    placed = at_position(columns, sort.position, codes)
    return np.nan_to_num(placed, nan=-1.0).astype(np.int64)


@attrs.frozen
class Placed:
    """An atom of the whole case or of the operator at one place."""

    position: int | None
    atom: Atom

    def holds(self, columns: Columns) -> Bools:
        """(n,) for which cases."""
        if self.position is None:
            return self.atom.holds("case", columns)
        held = self.atom.holds("operator", columns).astype(np.float64)
        found: Bools = at_position(columns, self.position, held) == 1
        return found


def all_hold(atoms: Sequence[Placed], columns: Columns) -> Bools:
    """(n,) for which cases every atom holds."""
    held = np.ones(columns.size, dtype=bool)
    for atom in atoms:
        held &= atom.holds(columns)
    return held


Rests = np.ndarray[tuple[int], np.dtype[np.uint16]]

FEW: Final = 16
"""Different values up to which a number may be one of a set."""


class Table:
    """Rows, whether they fail, and what can be said of them."""

    def __init__(
        self, space: CaseSpace, example: Ints, positions: int, quanta: Sequence[int]
    ) -> None:
        """Begin with no row.

        Args:
            space: of the rows.
            example: (any, width) some canonical rows; what can be said of none of them
                has no term.
            positions: how many operators have a place of their own.
            quanta: the sizes of tiles.
        """
        self.space = space
        columns = Columns(space, example)
        terms, sorts = terms_of(columns, positions, quanta)
        self.terms = [t for t in terms if not np.isnan(values_of(t, columns)).all()]
        self.sorts = [s for s in sorts if (codes_of(s, columns) >= 0).any()]
        self.costs = np.array([term.cost for term in self.terms])
        self.rows = example[:0]
        self.failing = np.zeros(0, dtype=bool)
        self.values = np.empty((len(self.terms), 0))
        self.codes = np.empty((len(self.sorts), 0), dtype=np.int64)
        self._rests: dict[tuple[int, int], Rests] = {}
        self._plain = [i for i, t in enumerate(self.terms) if t.feature.how is How.VALUE]
        self.names = [self._names(sort, columns) for sort in self.sorts]

    def rests(self, term: int, period: int) -> Rests:
        """(rows,) the residues of a whole number; `period` where there is none."""
        known = self._rests.get((term, period), np.zeros(0, dtype=np.uint16))
        if len(known) < len(self.failing):
            new = residues(self.values[term, len(known) :], period).astype(np.uint16)
            known = self._rests[term, period] = np.concatenate([known, new])
        return known

    @property
    def few(self) -> list[int]:
        """The terms that have few different values."""
        return [i for i in self._plain if len(np.unique(self.values[i])) <= FEW]

    @staticmethod
    def _names(sort: Sort, columns: Columns) -> tuple[str, ...]:
        level = "case" if sort.position is None else "operator"
        return columns.trait(level, sort.name).names

    def add(self, rows: Ints, failing: Bools, columns: Columns | None = None) -> None:
        """Append rows that were asked; `columns` are theirs, if they are not usual."""
        if not len(rows):
            return
        columns = columns or Columns(self.space, rows)
        values = [values_of(term, columns) for term in self.terms]
        codes = [codes_of(sort, columns) for sort in self.sorts]
        shape = (len(self.sorts), len(rows))
        self.rows = np.concatenate([self.rows, rows])
        self.failing = np.concatenate([self.failing, failing])
        self.values = np.concatenate([self.values, np.array(values)], axis=1)
        self.codes = np.concatenate(
            [self.codes, np.array(codes, dtype=np.int64).reshape(shape)], axis=1
        )
