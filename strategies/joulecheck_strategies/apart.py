"""Graphs beside their operators alone, and beside others that they share nothing with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases, Part, PartedCase, PartedCases
from joulecheck.space import Gene
from joulecheck.workload import Conv2d, Node, Subgraph, nodes_of, operators_alone
from joulecheck.workload.columns import Ints, OperatorColumns
from joulecheck_strategies.reading import ReadSpace, Take
from joulecheck_strategies.workload_space import WorkloadSpace
from joulecheck_strategies.wrapping import WrappingSpace, preferring


@attrs.frozen(slots=False)
class OperatorsAloneSpace(WrappingSpace[PartedCase]):
    """Workloads beside their operators, each reading and writing outside."""

    workloads: WorkloadSpace

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """None."""
        return ()

    def read(self, take: Take) -> PartedCase:
        """Read the workload, and take it apart."""
        whole = self.workloads.read(take)
        parts = [
            Part(Case(operator, whole.precision), times)
            for operator, times in operators_alone(whole.workload)
        ]
        return PartedCase(whole, parts, "operators" if len(parts) > 1 else "")

    def encode(self, case: PartedCase) -> dict[str, int]:
        """The workload's genes."""
        return self.workloads.encode(case.whole)

    def canonical_more(self, rows: Ints) -> None:
        """Nothing: there is nothing more."""

    def batch(self, rows: Ints) -> PartedCases:
        """The workloads and all of their operators."""
        whole = self.workloads.batch(rows)
        alone, times = whole.operators.alone()
        owner = whole.operators.owner

        def item(index: int) -> PartedCase:
            return self.build(rows[index].tolist())

        def part(index: int) -> Case:
            case = int(owner[index])
            first = int(whole.operators.starts[case])
            return item(case).parts[index - first].case

        parts = Cases(whole.precision[owner], part, lambda: alone)
        return PartedCases(whole, parts, owner, times, item)


MOST_NODES: Final = 4
"""Of each of two graphs side by side."""


@attrs.frozen(slots=False)
class SideBySideSpace(ReadSpace[PartedCase]):
    """Two graphs of `workloads` as one, with no edge between them, beside either."""

    workloads: WorkloadSpace
    """Of either graph."""

    @cached_property
    def genes(self) -> tuple[Gene, ...]:
        """Those of the first graph with the precision, then those of the other."""
        *nodes, precision = self.workloads.genes
        return (
            *(attrs.evolve(gene, name=f"one.{gene.name}") for gene in nodes),
            precision,
            *(attrs.evolve(gene, name=f"other.{gene.name}") for gene in nodes),
        )

    @property
    def _split(self) -> int:
        return len(self.workloads.genes)

    def read(self, take: Take) -> PartedCase:
        """Read one graph with the precision, then the other."""

        def named(side: str, name: str) -> str:
            return name if name == "precision" else f"{side}.{name}"

        one = self.workloads.read(lambda name: take(named("one", name)))
        precision = self.workloads.precisions.index(one.precision)
        other = self.workloads.read(
            lambda name: precision if name == "precision" else take(named("other", name))
        )
        first, second = (nodes_of(case.workload) for case in (one, other))
        moved = [
            Node(n.operator, [None if s is None else s + len(first) for s in n.sources])
            for n in second
        ]
        whole = Case(Subgraph([*first, *moved]), one.precision)
        return PartedCase(whole, (Part(one), Part(other)), "graphs")

    def encode(self, case: PartedCase) -> dict[str, int]:
        """The genes of either graph."""
        one, other = (self.workloads.encode(part.case) for part in case.parts)
        found = {"precision": one.pop("precision")}
        del other["precision"]
        found |= {f"one.{name}": value for name, value in one.items()}
        return found | {f"other.{name}": value for name, value in other.items()}

    def _sides(self, rows: Ints) -> list[Ints]:
        """The rows of either graph, with the precision of both."""
        other = np.concatenate([rows[:, self._split :], rows[:, [self._split - 1]]], axis=1)
        return [rows[:, : self._split], np.asfortranarray(other)]

    def _joined(self, one: Ints, other: Ints) -> Ints:
        return np.asfortranarray(np.concatenate([one, other[:, :-1]], axis=1))

    def canonical(self, rows: Ints) -> Ints:
        """Either graph in canonical form."""
        return self._joined(*(self.workloads.canonical(side) for side in self._sides(rows)))

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """Sample either graph."""
        return self._joined(*(self.workloads.sample(rng, size) for _ in range(2)))

    def batch(self, rows: Ints) -> PartedCases:
        """The pairs as one, and the graphs: all first ones, then all others."""
        parts = self.workloads.batch(np.concatenate(self._sides(rows)))
        owner = np.tile(np.arange(len(rows)), 2)

        def columns() -> OperatorColumns:
            operators = parts.operators
            together = owner[operators.owner]
            order = np.argsort(together, kind="stable")
            starts = np.searchsorted(together[order], np.arange(len(rows)))
            return operators.taken(order, starts)

        def item(index: int) -> PartedCase:
            return self.build(rows[index].tolist())

        precision = parts.precision[: len(rows)]
        whole = Cases(precision, lambda index: item(index).whole, columns)
        return PartedCases(whole, parts, owner, np.ones(len(owner)), item)

    def nodes(self, rows: Ints) -> Ints:
        """Those of both graphs."""
        one, other = (self.workloads.nodes(side) for side in self._sides(rows))
        return one + other

    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """Either graph with fewer nodes, beside the other."""
        one, other = self._sides(np.array([row]))
        found = []
        for index, (mine, its) in enumerate(((one, other), (other, one))):
            fewer = self.workloads.smaller_graphs(mine[0].tolist())
            kept = np.repeat(its, len(fewer), axis=0)
            pair = (kept, fewer) if index else (fewer, kept)
            found.append(self._joined(*pair))
        return np.concatenate(found)


DRAWN: Final = 2
"""Convolutions drawn for each that is kept: most have one group."""


@attrs.frozen(slots=False)
class GroupsAloneSpace(WrappingSpace[PartedCase]):
    """Convolutions beside one of their groups, as often as they have groups."""

    workloads: WorkloadSpace
    """Of one convolution."""

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """None."""
        return ()

    def read(self, take: Take) -> PartedCase:
        """Read the convolution, and take one of its groups."""
        whole = self.workloads.read(take)
        conv = whole.workload
        assert isinstance(conv, Conv2d)  # noqa: S101 - the space has no other kind
        groups = conv.groups
        one = attrs.evolve(conv, c=conv.c // groups, k=conv.k // groups, groups=1)
        part = Part(Case(one, whole.precision), groups)
        return PartedCase(whole, (part,), "groups" if groups > 1 else "")

    def encode(self, case: PartedCase) -> dict[str, int]:
        """The convolution's genes."""
        return self.workloads.encode(case.whole)

    def canonical_more(self, rows: Ints) -> None:
        """Nothing: there is nothing more."""

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """Convolutions of several groups, for the most part."""
        rows = super().sample(rng, DRAWN * size)
        return preferring(rows, self._groups(rows) > 1, size)

    def _groups(self, rows: Ints) -> Ints:
        """(n,) of each canonical row."""
        c, groups, depthwise = (
            rows[:, self.workloads.column[f"0.{name}"]]
            for name in ("c", "groups", "depthwise")
        )
        return np.where(depthwise == 1, c, groups)

    def batch(self, rows: Ints) -> PartedCases:
        """The convolutions and one group of each."""
        column, groups = self.workloads.column, self._groups(rows)
        c, filters = (rows[:, column[f"0.{name}"]] for name in ("c", "filters"))
        one = np.array(rows, order="F")
        one[:, column["0.c"]] = c // groups
        one[:, column["0.filters"]] = -(-filters // groups)
        one[:, column["0.groups"]] = 1
        one[:, column["0.depthwise"]] = 0
        return PartedCases(
            self.workloads.batch(rows),
            self.workloads.batch(one),
            np.arange(len(rows)),
            groups.astype(np.float64),
            lambda index: self.build(rows[index].tolist()),
        )
