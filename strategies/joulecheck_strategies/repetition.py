"""Workloads and the same several times over: the batch multiplied by a whole number."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case, WorkloadPair, WorkloadPairs
from joulecheck.space import Gene
from joulecheck.workload import nodes_of
from joulecheck.workload.columns import Ints
from joulecheck_strategies.reading import Take
from joulecheck_strategies.workload_space import WorkloadSpace
from joulecheck_strategies.wrapping import WrappingSpace

MAX_TIMES: Final = 256


@attrs.frozen(slots=False)
class RepetitionSpace(WrappingSpace[WorkloadPair]):
    """Workloads beside themselves with every batch from outside 2 to `max_times` larger.

    The graph stays what it is: operands that fit each other do so at any batch.
    """

    workloads: WorkloadSpace
    max_times: int = MAX_TIMES

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """How many times."""
        return (Gene("times", 2, self.max_times),)

    def read(self, take: Take) -> WorkloadPair:
        """Read the workload, then read its canonical genes again with more batch."""
        smaller = self.workloads.read(take)
        times = take("times")
        genes = {gene.name: gene.low for gene in self.workloads.genes}
        for name, value in self.workloads.encode(smaller).items():
            genes[name] = value * times if name.endswith(".batch") else value
        return WorkloadPair(smaller, self.workloads.read(genes.__getitem__), "batch")

    def encode(self, case: WorkloadPair) -> dict[str, int]:
        """The smaller workload's genes, and how often it goes into the larger."""
        genes = self.workloads.encode(case.smaller)
        return {**genes, "times": _batch(case.larger) // _batch(case.smaller)}

    def canonical_more(self, rows: Ints) -> None:
        """Nothing: the factor is always read."""

    def batch(self, rows: Ints) -> WorkloadPairs:
        """Both workloads of each pair."""
        smaller = rows[:, : self._split]
        larger = np.array(smaller, order="F")
        for name, index in self.workloads.column.items():
            if name.endswith(".batch"):
                larger[:, index] *= rows[:, -1]
        return WorkloadPairs(
            self.workloads.batch(smaller),
            self.workloads.batch(larger),
            lambda index: self.build(rows[index].tolist()),
        )


def _batch(case: Case) -> int:
    return nodes_of(case.workload)[0].operator.input_shape.n
