"""The one declaration of a case space: a function that reads genes and builds a case.

Reading from a row gives `build`; reading while drawing gives the Hypothesis strategy,
which so draws the genes that a case uses and no others; reading while noting gives
the choice sequence under which Hypothesis reproduces the case.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final, Generic, TypeVar, cast

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from joulecheck.case import AnyCase, Batch, Cases
from joulecheck.errors import OutsideSpace
from joulecheck.space import Gene, Trait
from joulecheck.workload.columns import Floats, Ints
from joulecheck_strategies.embedding import Embedded

Take = Callable[[str], int]
"""Gives the value of the gene with that name."""

C = TypeVar("C", bound=AnyCase)


class ReadSpace(ABC, Generic[C]):
    """A case space declared by its genes and by `read`.

    Subclasses add the same declaration in arrays: `canonical`, `batch` and `sample`.
    """

    version = "1"

    @property
    @abstractmethod
    def genes(self) -> tuple[Gene, ...]:
        """The columns of a row."""

    @abstractmethod
    def read(self, take: Take) -> C:
        """Build a case from the genes that `take` gives."""

    @abstractmethod
    def encode(self, case: C) -> dict[str, int]:
        """The genes that are not at their minimum, by name. May miss: see `genes_of`."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """(size, width) canonical rows, drawn at random."""

    @abstractmethod
    def canonical(self, rows: Ints) -> Ints:
        """The same cases with every gene in its canonical form."""

    @abstractmethod
    def batch(self, rows: Ints) -> Batch:
        """The cases of canonical rows."""

    @abstractmethod
    def nodes(self, rows: Ints) -> Ints:
        """(n,) how many operators each case has."""

    @abstractmethod
    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """Canonical rows of the cases that lack some of the operators of this one."""

    def operator_fields(self, rows: Ints) -> Mapping[str, Floats | Trait]:
        """None."""
        del rows
        return {}

    def plain_cases(self, rows: Ints) -> Cases | None:
        """None, unless a subclass knows them."""
        del rows
        return None

    def traits(self, rows: Ints) -> Mapping[str, Trait]:
        """The genes that are codes, but for those of nodes and the precision."""
        return {
            gene.name: Trait(
                rows[:, index] - gene.low,
                tuple(str(value) for value in range(gene.low, gene.high + 1)),
            )
            for index, gene in enumerate(self.genes)
            if self._is_free(index) and is_code(gene)
        }

    def embed(self, rng: np.random.Generator, rows: Ints) -> Embedded | None:
        """Rows of larger graphs, not yet canonical; None, unless a subclass has some."""
        del rng, rows
        return None

    def embedded(self, rng: np.random.Generator, rows: Ints) -> Ints:
        """The same in canonical form; empty if there are no larger graphs."""
        found = self.embed(rng, rows)
        return self.empty(0) if found is None else self.canonical(found.rows)

    @cached_property
    def column(self) -> dict[str, int]:
        """The index of each gene."""
        return {gene.name: index for index, gene in enumerate(self.genes)}

    @cached_property
    def plainest(self) -> Ints:
        """(width,) the row of minima."""
        return np.array([gene.low for gene in self.genes], dtype=np.int64)

    def empty(self, size: int) -> Ints:
        """(size, width) rows of minima, stored gene by gene for fast columns."""
        return np.repeat(self.plainest[:, None], size, axis=1).T

    def build(self, row: Sequence[int]) -> C:
        """The case of one row: a pure function."""
        column = self.column
        return self.read(lambda name: int(row[column[name]]))

    def read_columns(self, row: Sequence[int]) -> tuple[int, ...]:
        """The columns of the genes that this row's case reads, in order."""
        noted: list[int] = []

        def take(name: str) -> int:
            noted.append(self.column[name])
            return int(row[noted[-1]])

        self.read(take)
        return tuple(index for index in noted if self._is_free(index))

    def _is_free(self, index: int) -> bool:
        return self.genes[index].low < self.genes[index].high

    def choices(self, row: Sequence[int]) -> tuple[int | bool, ...]:
        """The values that the strategy draws, in order, to produce this row's case."""
        return tuple(
            bool(row[index]) if _is_boolean(self.genes[index]) else int(row[index])
            for index in self.read_columns(row)
        )

    def strategy(self) -> SearchStrategy[C]:
        """Draws only the genes that a case uses, in the order in which it reads them."""

        @st.composite
        def cases(draw: DrawFn) -> C:
            return self.read(lambda name: int(draw(self._drawn[self.column[name]])))

        return cases()

    @cached_property
    def _drawn(self) -> tuple[SearchStrategy[int] | SearchStrategy[bool], ...]:
        return tuple(_values(gene) for gene in self.genes)

    def genes_of(self, case: AnyCase) -> tuple[int, ...]:
        """The canonical row of a case.

        Raises:
            OutsideSpace: the case cannot be written in these genes.
        """
        row = list(self.plainest)
        try:
            for name, value in self.encode(cast("C", case)).items():
                row[self.column[name]] = value
        except (KeyError, ValueError, AttributeError) as error:
            raise OutsideSpace(self._outside(case, repr(error))) from error
        for gene, value in zip(self.genes, row, strict=True):
            if not gene.low <= value <= gene.high:
                why = f"{gene.name}={value} is not in {gene.low}..{gene.high}"
                raise OutsideSpace(self._outside(case, why))
        if self.build(row) != case:
            raise OutsideSpace(self._outside(case, "its edges are not of this space"))
        return tuple(int(value) for value in row)

    def _outside(self, case: AnyCase, why: str) -> str:
        return f"{case} is outside {type(self).__name__}: {why}"


CODES: Final = 64
"""Values below which a gene may be a code for something rather than a number."""


def is_code(gene: Gene) -> bool:
    """Whether a gene has few values and belongs to no node; the precision is known."""
    return (
        gene.high - gene.low < CODES
        and "." not in gene.name
        and ":" not in gene.name
        and gene.name != "precision"
    )


def _is_boolean(gene: Gene) -> bool:
    return (gene.low, gene.high) == (0, 1)


def _values(gene: Gene) -> SearchStrategy[int] | SearchStrategy[bool]:
    if gene.low == gene.high:
        return st.just(gene.low)
    return st.booleans() if _is_boolean(gene) else st.integers(gene.low, gene.high)
