"""Graphs beside themselves with two neighbours exchanged that do not read each other."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases, EquivalentPair, EquivalentPairs
from joulecheck.space import Gene
from joulecheck.workload import Node, Subgraph, nodes_of
from joulecheck.workload.columns import Bools, Ints, OperatorColumns
from joulecheck_strategies.reading import Take
from joulecheck_strategies.workload_space import WorkloadSpace
from joulecheck_strategies.wrapping import WrappingSpace, preferring

DRAWN: Final = 3
"""Graphs drawn for each that is kept: most are chains, which leave nothing to exchange."""


@attrs.frozen(slots=False)
class ReorderedSpace(WrappingSpace[EquivalentPair]):
    """Graphs of `workloads` with two adjacent, independent nodes exchanged.

    All topological orders of a graph are reached by such steps. A graph that has none
    stands beside itself.
    """

    workloads: WorkloadSpace

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """Which of the exchanges that the graph allows."""
        return (Gene("exchange", 0, max(0, self.workloads.max_nodes - 2)),)

    def read(self, take: Take) -> EquivalentPair:
        """Read the workload, then the exchange."""
        case = self.workloads.read(take)
        places = _exchangeable(nodes_of(case.workload))
        chosen = take("exchange")
        if not places:
            return EquivalentPair(case, case, "")
        return _exchanged(case, places[chosen % len(places)])

    def encode(self, case: EquivalentPair) -> dict[str, int]:
        """The graph's genes, and which exchange gives the other."""
        genes = self.workloads.encode(case.one)
        places = _exchangeable(nodes_of(case.one.workload))
        pairs = [_exchanged(case.one, place) for place in places]
        return {**genes, "exchange": pairs.index(case) if places else 0}

    def canonical_more(self, rows: Ints) -> None:
        """Fold the exchange onto those that there are."""
        rows[:, -1] %= np.maximum(self._exchangeable(rows).sum(axis=1), 1)

    def _exchangeable(self, rows: Ints) -> Bools:
        """(n, max_nodes) whether a node may change places with the one after it."""
        found = np.zeros((len(rows), self.workloads.max_nodes), dtype=bool)
        for slot, nodes in enumerate(self.workloads.layout(rows).slots[1:]):
            free = (nodes.source != slot) & (nodes.second != slot)
            found[nodes.graphs[free], slot] = True
        return found

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """Graphs that allow an exchange, for the most part."""
        rows = super().sample(rng, DRAWN * size)
        wanted = np.asarray(self._exchangeable(rows).any(axis=1))
        return preferring(rows, wanted, size)

    def batch(self, rows: Ints) -> EquivalentPairs:
        """Each graph and the other order of its operators."""
        possible = self._exchangeable(rows)
        differ = np.asarray(possible.any(axis=1))
        places = (possible.cumsum(axis=1) > rows[:, -1:]).argmax(axis=1)
        one = self.workloads.batch(rows[:, : self._split])

        def columns() -> OperatorColumns:
            operators = one.operators
            order = np.arange(len(operators))
            first = operators.starts[differ] + places[differ]
            order[first], order[first + 1] = first + 1, first
            return operators.taken(order, operators.starts)

        def item(index: int) -> EquivalentPair:
            return self.build(rows[index].tolist())

        other = Cases(one.precision, lambda index: item(index).other, columns)
        return EquivalentPairs(one, other, differ, item)


def _exchangeable(nodes: tuple[Node, ...]) -> list[int]:
    return [i for i, after in enumerate(nodes[1:]) if i not in after.sources]


def _exchanged(case: Case, place: int) -> EquivalentPair:
    nodes = list(nodes_of(case.workload))
    nodes[place : place + 2] = nodes[place + 1], nodes[place]
    moved: dict[int | None, int] = {place: place + 1, place + 1: place}
    renamed = [
        Node(node.operator, [moved.get(source, source) for source in node.sources])
        for node in nodes
    ]
    how = f"nodes {place} and {place + 1} exchanged"
    return EquivalentPair(case, Case(Subgraph(renamed), case.precision), how)
