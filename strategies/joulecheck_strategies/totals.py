"""Workloads as two numbers, operations and bytes, for models that ask no more."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases, WorkloadPair, WorkloadPairs
from joulecheck.space import Gene
from joulecheck.workload import Precision, Totals
from joulecheck.workload.columns import PRECISIONS, Ints, totals_columns
from joulecheck_strategies.reading import ReadSpace, Take
from joulecheck_strategies.tables import draw, value_table

MAX_TOTAL: Final = 1 << 48


@attrs.frozen(slots=False)
class TotalsSpace(ReadSpace[Case]):
    """`Totals` of `min_total` to `max_total` operations and bytes, at some precisions."""

    precisions: tuple[Precision, ...] = (Precision.FP32,)
    max_total: int = MAX_TOTAL
    constants: tuple[int, ...] = ()
    min_total: int = 1

    @cached_property
    def genes(self) -> tuple[Gene, ...]:
        """Operations, bytes, and the index of the precision."""
        return (
            Gene("ops", self.min_total, self.max_total),
            Gene("bytes", self.min_total, self.max_total),
            Gene("precision", 0, len(self.precisions) - 1),
        )

    def read(self, take: Take) -> Case:
        """Read the two numbers, then the precision."""
        totals = Totals(ops=take("ops"), bytes=take("bytes"))
        return Case(totals, self.precisions[take("precision")])

    def encode(self, case: Case) -> dict[str, int]:
        """The two numbers and the index of the precision."""
        totals = case.workload
        if not isinstance(totals, Totals):
            raise ValueError(totals)  # noqa: TRY004 - means outside the space, see genes_of
        precision = self.precisions.index(case.precision)
        return {"ops": totals.ops, "bytes": totals.bytes, "precision": precision}

    def canonical(self, rows: Ints) -> Ints:
        """The rows themselves: every gene is read."""
        return rows

    def batch(self, rows: Ints) -> Cases:
        """The cases of rows, with columns computed when asked for."""
        table = np.array([PRECISIONS.index(p) for p in self.precisions])
        ops, stated = (rows[:, index].astype(np.float64) for index in range(2))
        return Cases(
            table[rows[:, 2]],
            lambda index: self.build(rows[index].tolist()),
            lambda: totals_columns(ops),
            stated,
        )

    def nodes(self, rows: Ints) -> Ints:
        """One each."""
        return np.ones(len(rows), dtype=np.int64)

    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """None: there is no graph."""
        return np.empty((0, len(row)), dtype=np.int64)

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """Each gene from its table of corners."""
        rows = self.empty(size)
        for index, gene in enumerate(self.genes):
            table = value_table(gene, self.constants, ())
            rows[:, index] = draw(rng, gene, table, size)
        return rows


@attrs.frozen(slots=False)
class TotalsGrowthSpace(ReadSpace[WorkloadPair]):
    """Pairs of `Totals`, the larger with more operations or more bytes alone."""

    totals: TotalsSpace
    grown: str
    """"ops" or "bytes"."""

    @cached_property
    def genes(self) -> tuple[Gene, ...]:
        """Those of the smaller totals, and by how much one of them grows."""
        return (*self.totals.genes, Gene("growth", 1, self.totals.max_total))

    def read(self, take: Take) -> WorkloadPair:
        """Read the smaller totals, then the growth."""
        smaller = self.totals.read(take)
        more = getattr(smaller.workload, self.grown) + take("growth")
        larger = attrs.evolve(smaller.workload, **{self.grown: more})
        return WorkloadPair(smaller, Case(larger, smaller.precision), self.grown)

    def encode(self, case: WorkloadPair) -> dict[str, int]:
        """The genes of the smaller totals, and the growth."""
        before, after = (
            getattr(one.workload, self.grown) for one in (case.smaller, case.larger)
        )
        return {**self.totals.encode(case.smaller), "growth": after - before}

    def canonical(self, rows: Ints) -> Ints:
        """The rows themselves: every gene is read."""
        return rows

    def batch(self, rows: Ints) -> WorkloadPairs:
        """Both totals of each pair."""
        larger = rows[:, :-1].copy()
        larger[:, self.column[self.grown]] += rows[:, -1]
        return WorkloadPairs(
            self.totals.batch(rows[:, :-1]),
            self.totals.batch(larger),
            lambda index: self.build(rows[index].tolist()),
        )

    def nodes(self, rows: Ints) -> Ints:
        """One each."""
        return self.totals.nodes(rows)

    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """None: there is no graph."""
        return self.totals.smaller_graphs(row)

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """The totals as in their space, and the growth from its table."""
        growth = self.genes[-1]
        more = draw(rng, growth, value_table(growth, (), ()), size)
        return np.asfortranarray(np.column_stack([self.totals.sample(rng, size), more]))
