"""Case spaces that ask something more of each workload: they wrap a workload space."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, TypeVar

import numpy as np

from joulecheck.case import AnyCase, Case, Cases
from joulecheck.space import Gene, Trait
from joulecheck.workload.columns import Bools, Floats, Ints
from joulecheck_strategies.embedding import Embedded
from joulecheck_strategies.reading import ReadSpace
from joulecheck_strategies.tables import draw, value_table

C = TypeVar("C", bound=AnyCase)

KEPT_ANYHOW: Final = 8
"""One row in this many is kept whatever it is; see `preferring`."""


def preferring(rows: Ints, wanted: Bools, size: int) -> Ints:
    """`size` of the rows: first those that are wanted, and a few of any."""
    chosen = np.array(wanted)
    chosen[::KEPT_ANYHOW] = True
    kept = np.argsort(~chosen, kind="stable")[:size]
    return np.asfortranarray(rows[kept])


class WrappingSpace(ReadSpace[C]):
    """A workload space with more genes behind those of the workload."""

    workloads: ReadSpace[Case]

    @property
    @abstractmethod
    def more_genes(self) -> tuple[Gene, ...]:
        """The genes behind those of the workload."""

    @abstractmethod
    def canonical_more(self, rows: Ints) -> None:
        """Bring the genes behind those of the (canonical) workload into form, in place."""

    @cached_property
    def genes(self) -> tuple[Gene, ...]:
        """Those of the workload, then its own."""
        return (*self.workloads.genes, *self.more_genes)

    @property
    def _split(self) -> int:
        return len(self.workloads.genes)

    def canonical(self, rows: Ints) -> Ints:
        """The workload's genes in canonical form, then its own."""
        found = self._joined(self.workloads.canonical(rows[:, : self._split]), len(rows))
        found[:, self._split :] = rows[:, self._split :]
        self.canonical_more(found)
        return found

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """Sample the workloads, then its own genes each from its table."""
        rows = self._joined(self.workloads.sample(rng, size), size)
        for index in range(self._split, len(self.genes)):
            gene = self.genes[index]
            rows[:, index] = draw(rng, gene, self.own_table(gene), size)
        self.canonical_more(rows)
        return rows

    def own_table(self, gene: Gene) -> Ints:
        """Equally likely values of one of its own genes."""
        return value_table(gene, (), ())

    def _joined(self, workloads: Ints, size: int) -> Ints:
        rows = self.empty(size)
        rows[:, : self._split] = workloads
        return rows

    def operator_fields(self, rows: Ints) -> Mapping[str, Floats | Trait]:
        """Those of the workload's operators."""
        return self.workloads.operator_fields(rows[:, : self._split])

    def plain_cases(self, rows: Ints) -> Cases | None:
        """Those of the workload."""
        return self.workloads.plain_cases(rows[:, : self._split])

    def embed(self, rng: np.random.Generator, rows: Ints) -> Embedded | None:
        """Larger workloads, each with its row's other genes."""
        larger = self.workloads.embed(rng, np.asfortranarray(rows[:, : self._split]))
        if larger is None:
            return None
        found = np.array(rows, order="F")
        found[:, : self._split] = larger.rows
        return Embedded(found, larger.offsets)

    def nodes(self, rows: Ints) -> Ints:
        """Those of the workload."""
        return self.workloads.nodes(rows[:, : self._split])

    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """The smaller workloads, each with this row's other genes."""
        smaller = self.workloads.smaller_graphs(row[: self._split])
        rows = self._joined(smaller, len(smaller))
        rows[:, self._split :] = np.asarray(row)[self._split :]
        self.canonical_more(rows)
        return rows
