"""Graphs beside the parts that their batch is cut into."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case, Part, PartedCase, PartedCases
from joulecheck.space import Gene
from joulecheck.workload import nodes_of
from joulecheck.workload.columns import Ints
from joulecheck_strategies.reading import Take
from joulecheck_strategies.tables import draw, value_table
from joulecheck_strategies.workload_space import WorkloadSpace
from joulecheck_strategies.wrapping import WrappingSpace

LARGEST_PART: Final = 512


@attrs.frozen(slots=False)
class BatchSplitSpace(WrappingSpace[PartedCase]):
    """Graphs whose inputs all have one batch, beside the same with two parts of it.

    Operands that fit each other do so at any batch, so that the graph stays what it is.
    """

    workloads: WorkloadSpace

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """The batches of both parts."""
        high = min(LARGEST_PART, self.workloads.bounds.batch)
        return (Gene("one", 1, high), Gene("other", 1, high))

    def read(self, take: Take) -> PartedCase:
        """Read both parts of the batch, then the graph, and again with each part."""
        sizes = [take("one"), take("other")]
        genes: dict[str, int] = {}

        def noted(name: str) -> int:
            if name.endswith(".batch"):
                return sum(sizes)
            genes[name] = take(name)
            return genes[name]

        whole = self.workloads.read(noted)
        parts = [Part(self._again(genes, size)) for size in sizes]
        return PartedCase(whole, parts, "batch")

    def _again(self, genes: Mapping[str, int], batch: int) -> Case:
        """The graph of these genes at a batch."""
        return self.workloads.read(
            lambda name: batch if name.endswith(".batch") else genes[name]
        )

    def encode(self, case: PartedCase) -> dict[str, int]:
        """The graph's genes at a batch of 1, and the batches of both parts."""
        genes = {
            name: 1 if name.endswith(".batch") else value
            for name, value in self.workloads.encode(case.whole).items()
        }
        one, other = (
            nodes_of(part.case.workload)[0].operator.input_shape.n for part in case.parts
        )
        return {**genes, "one": one, "other": other}

    def canonical(self, rows: Ints) -> Ints:
        """The graph at a batch of 1; both parts are always read."""
        return super().canonical(self._at(rows, 1))

    def canonical_more(self, rows: Ints) -> None:
        """Nothing: both parts are always read."""

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """Graphs at a batch of 1, and both parts each from its table."""
        drawn = self._joined(self.workloads.sample(rng, size), size)
        for index in (-2, -1):
            gene = self.genes[index]
            drawn[:, index] = draw(rng, gene, value_table(gene, (), ()), size)
        return self.canonical(drawn)

    @cached_property
    def _batches(self) -> list[int]:
        """The columns of all batches."""
        names = self.workloads.column.items()
        return [index for name, index in names if name.endswith(".batch")]

    def _at(self, rows: Ints, batch: Ints | int) -> Ints:
        """The rows with every batch from outside at this one, (n, 1) or one for all."""
        found = np.array(rows, order="F")
        found[:, self._batches] = batch
        return found

    def batch(self, rows: Ints) -> PartedCases:
        """The wholes, all first parts and all second parts."""
        graphs, sizes = rows[:, : self._split], rows[:, -2:]
        parts = [self._at(graphs, sizes[:, [index]]) for index in range(2)]
        return PartedCases(
            self.workloads.batch(self._at(graphs, sizes.sum(axis=1, keepdims=True))),
            self.workloads.batch(np.concatenate(parts)),
            np.tile(np.arange(len(rows)), 2),
            np.ones(2 * len(rows)),
            lambda index: self.build(rows[index].tolist()),
        )
