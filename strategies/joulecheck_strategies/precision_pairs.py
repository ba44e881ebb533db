"""Workloads at two precisions, the narrower of which physics says is no dearer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import attrs
import numpy as np

from joulecheck.case import Case, PrecisionPair, PrecisionPairs
from joulecheck.space import Gene, Trait
from joulecheck.workload import Precision
from joulecheck.workload.columns import PRECISIONS, Ints
from joulecheck_strategies.reading import Take
from joulecheck_strategies.workload_space import WorkloadSpace
from joulecheck_strategies.wrapping import WrappingSpace


@attrs.frozen(slots=False)
class PrecisionPairSpace(WrappingSpace[PrecisionPair]):
    """Each workload at one of `pairs` of (narrower, wider) precisions."""

    workloads: WorkloadSpace
    pairs: tuple[tuple[Precision, Precision], ...]

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """The index of the pair; the workload's own precision stays at its first."""
        return (Gene("pair", 0, len(self.pairs) - 1),)

    def read(self, take: Take) -> PrecisionPair:
        """Read the workload, then the pair."""
        unused = self.workloads.genes[-1].name
        case = self.workloads.read(lambda name: 0 if name == unused else take(name))
        narrower, wider = self.pairs[take("pair")]
        return PrecisionPair(Case(case.workload, narrower), Case(case.workload, wider))

    def encode(self, case: PrecisionPair) -> dict[str, int]:
        """The workload's genes and the index of the pair."""
        first = self.workloads.precisions[0]
        pair = (case.narrower.precision, case.wider.precision)
        genes = self.workloads.encode(Case(case.narrower.workload, first))
        return {**genes, "pair": self.pairs.index(pair)}

    def canonical_more(self, rows: Ints) -> None:
        """Leave the workload's own precision at its first."""
        rows[:, self._split - 1] = 0

    def traits(self, rows: Ints) -> Mapping[str, Trait]:
        """None: both precisions are told."""
        del rows
        return {}

    def batch(self, rows: Ints) -> PrecisionPairs:
        """The workloads at both precisions; they share their columns."""
        codes = np.array([[PRECISIONS.index(p) for p in pair] for pair in self.pairs])
        narrower, wider = codes[rows[:, -1]].T
        cases = self.workloads.batch(rows[:, : self._split])
        return PrecisionPairs(cases.at(narrower), cases.at(wider))
