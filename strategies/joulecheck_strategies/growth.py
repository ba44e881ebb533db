"""Ordered pairs of workloads: the same graph with one dimension grown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case, WorkloadPair, WorkloadPairs
from joulecheck.space import Gene, Trait
from joulecheck.workload import Conv2d, nodes_of
from joulecheck.workload.columns import Bools, Ints
from joulecheck_strategies.embedding import Embedded
from joulecheck_strategies.reading import Take
from joulecheck_strategies.workload_space import READ_BY, ROOT_OF, WorkloadSpace
from joulecheck_strategies.wrapping import WrappingSpace

GROWABLE: Final = ("batch", "m", "k", "c", "h", "w", "n", "filters")
"""The genes in which energy and latency are monotone; R, S and the rest are not."""

MAX_GROWTH: Final = 65536


@attrs.frozen(slots=False)
class GrowthSpace(WrappingSpace[WorkloadPair]):
    """Workloads with one of their own dimensions grown by 1 to `max_growth`.

    A pair in which growing would change the graph itself (an operand that no longer
    fits, other groups) is replaced by one that does not grow: `grown` is then "".
    """

    workloads: WorkloadSpace
    max_growth: int = MAX_GROWTH

    @cached_property
    def growable(self) -> tuple[str, ...]:
        """The names of all genes that may grow, in the order of the row."""
        names = (gene.name for gene in self.workloads.genes)
        return tuple(n for n in names if n.partition(".")[2] in GROWABLE)

    @cached_property
    def more_genes(self) -> tuple[Gene, ...]:
        """Which of the used dimensions grows, and by how much."""
        return (
            Gene("dimension", 0, len(self.growable) - 1),
            Gene("growth", 0, self.max_growth),
        )

    def read(self, take: Take) -> WorkloadPair:
        """Read the workload, then read its canonical genes again with one grown."""
        smaller = self.workloads.read(take)
        names = self._used_by(smaller)
        grown = names[take("dimension") % len(names)]
        growth = take("growth")
        genes = {gene.name: gene.low for gene in self.workloads.genes}
        genes |= self.workloads.encode(smaller)
        genes[grown] += growth
        larger = self.workloads.read(genes.__getitem__)
        if smaller == larger or not _same_structure(smaller, larger):
            return WorkloadPair(smaller, smaller, "")
        return WorkloadPair(smaller, larger, grown)

    def _used_by(self, case: Case) -> list[str]:
        """The growable genes of a case, in the order of the row."""
        found = set()
        for slot, node in enumerate(nodes_of(case.workload)):
            kind = _nature(node.operator)
            genes = set(READ_BY[kind])
            if node.sources[0] is None:
                genes |= set(ROOT_OF[kind])
            if kind == "gemm" and node.sources[1] is not None:
                genes.discard("n")
            found |= {f"{slot}.{gene}" for gene in genes & set(GROWABLE)}
        return [name for name in self.growable if name in found]

    def encode(self, case: WorkloadPair) -> dict[str, int]:
        """The smaller workload's genes, the dimension's place and its growth."""
        genes = self.workloads.encode(case.smaller)
        if not case.grown:
            return genes
        used = self._used_by(case.smaller)
        larger = self.workloads.encode(case.larger)
        return {
            **genes,
            "dimension": used.index(case.grown),
            "growth": larger[case.grown] - genes[case.grown],
        }

    def canonical_more(self, rows: Ints) -> None:
        """Fold the dimension onto the used ones; drop a growth that changes the graph."""
        used = self._used(rows)
        rows[:, -2] %= np.maximum(used.sum(axis=1), 1)
        grown, columns = self._grown(rows, used)
        before, after = self.workloads.layout(rows), self.workloads.layout(grown)
        after.write_genes(grown, self.workloads.column)
        each = np.arange(len(rows))
        rows[:, -1] = grown[each, columns] - rows[each, columns]
        rows[~before.same_structure(after) | (rows[:, -1] <= 0), -2:] = 0

    def _used(self, rows: Ints) -> Bools:
        """(n, growable) which growable genes each canonical row reads."""
        used = np.zeros((len(rows), len(self.growable)), dtype=bool)
        place = {name: index for index, name in enumerate(self.growable)}
        layout = self.workloads.layout(rows)
        for slot, nodes in enumerate(layout.slots):
            for name, where in nodes.reads_genes().items():
                if name in GROWABLE:
                    used[nodes.graphs[where], place[f"{slot}.{name}"]] = True
        return used

    def _grown(self, rows: Ints, used: Bools) -> tuple[Ints, Ints]:
        """The rows with the chosen dimension grown, and its column in each."""
        names = np.array([self.column[name] for name in self.growable])
        columns = names[self._chosen(rows, used)]
        grown = rows.copy(order="F")
        grown[np.arange(len(rows)), columns] += rows[:, -1]
        return grown, columns

    def _chosen(self, rows: Ints, used: Bools) -> Ints:
        """Which of `growable` the gene `dimension` of each row means."""
        chosen: Ints = (used.cumsum(axis=1) > rows[:, -2:-1]).argmax(axis=1)
        return chosen

    def batch(self, rows: Ints) -> WorkloadPairs:
        """Both workloads of each pair."""
        grown, _ = self._grown(rows, self._used(rows))
        return WorkloadPairs(
            self.workloads.batch(rows[:, : self._split]),
            self.workloads.batch(grown[:, : self._split]),
            lambda index: self.build(rows[index].tolist()),
        )

    def traits(self, rows: Ints) -> Mapping[str, Trait]:
        """Which dimension grows, whichever node has it."""
        chosen = self._chosen(rows, self._used(rows))
        names = tuple(dict.fromkeys(n.partition(".")[2] for n in self.growable))
        place = np.array([names.index(n.partition(".")[2]) for n in self.growable])
        return {"grown": Trait(np.where(rows[:, -1] > 0, place[chosen], -1), names)}

    def embed(self, rng: np.random.Generator, rows: Ints) -> Embedded | None:
        """Larger workloads in which the same dimension of the same node grows."""
        larger = super().embed(rng, rows)
        if larger is None:
            return None
        found, split = larger.rows, self._split
        found[:, :split] = self.workloads.canonical(found[:, :split])
        chosen = self._chosen(rows, self._used(rows))
        place = chosen + len(GROWABLE) * larger.offsets
        before = np.arange(len(self.growable)) < place[:, None]
        found[:, -2] = (self._used(found) & before).sum(axis=1)
        return larger

    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """The smaller workloads, with each of their first dimensions grown instead."""
        workloads = self.workloads.smaller_graphs(row[: self._split])
        rows = np.repeat(self._joined(workloads, len(workloads)), _TRIED, axis=0)
        rows[:, -2] = np.tile(np.arange(_TRIED), len(workloads))
        rows[:, -1] = row[-1]
        rows = np.asfortranarray(rows)
        self.canonical_more(rows)
        return rows


_TRIED: Final = 6


def _nature(operator: object) -> str:
    return type(operator).__name__.lower()


def _same_structure(smaller: Case, larger: Case) -> bool:
    """Whether growing kept all edges and filters, and made nothing smaller."""
    before, after = nodes_of(smaller.workload), nodes_of(larger.workload)
    return all(
        old.sources == new.sources
        and _no_smaller(old.operator.input_shape, new.operator.input_shape)
        and _no_smaller(old.operator.output_shape, new.operator.output_shape)
        and _same_filters(old.operator, new.operator)
        for old, new in zip(before, after, strict=True)
    )


def _no_smaller(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    return all(old <= new for old, new in zip(before, after, strict=True))


def _same_filters(before: object, after: object) -> bool:
    if not (isinstance(before, Conv2d) and isinstance(after, Conv2d)):
        return True
    depthwise = before.groups == before.c and after.groups == after.c
    alike = depthwise and before.k * after.c == after.k * before.c
    same_groups = before.groups == after.groups or alike
    return (before.r, before.s) == (after.r, after.s) and same_groups
