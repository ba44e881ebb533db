"""Rows of genes as nodes in arrays: the array twin of `WorkloadSpace.read`.

A test holds the two together: for every row, the columns and the canonical genes
from here equal those of the case that `read` builds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import attrs
import numpy as np

from joulecheck.workload import Function
from joulecheck.workload.columns import (
    CONV2D,
    ELEMENTWISE,
    GEMM,
    OPERATORS,
    Bools,
    Floats,
    Ints,
    OperatorColumns,
)

FUNCTIONS: Final = tuple(Function)
_COST: Final = np.array([f.cost for f in FUNCTIONS])
_UNARY: Final = np.array([f.unary for f in FUNCTIONS])

N, C, H, W = range(4)
OUTSIDE: Final = -1
"""A source that is no earlier slot."""


@attrs.frozen(eq=False)
class Filters:
    """The convolutions among the nodes of a slot; entries are aligned."""

    at: Ints
    """Which nodes of the slot they are."""
    r: Ints
    s: Ints
    stride: Ints
    padding: Ints
    dilation: Ints
    groups: Ints


@attrs.frozen(eq=False)
class Slot:
    """The nodes in one place of all the graphs that reach it; entries are aligned."""

    graphs: Ints
    """Which graphs reach this place."""
    kind: Ints
    source: Ints
    second: Ints
    """The earlier slot that is the second operand, or `OUTSIDE`."""
    input: Ints
    """(4, nodes) N, C, H, W of the first operand."""
    output: Ints
    """(4, nodes) N, C, H, W of the result."""
    filters: Filters
    function: Ints
    extra: Ints
    """Operands beyond two of a function that is not unary."""

    @property
    def operands(self) -> Ints:
        """Activation inputs of an elementwise node."""
        return np.where(_UNARY[self.function], 1, 2 + self.extra)

    def reads_genes(self) -> dict[str, Bools]:
        """(nodes,) which nodes read each gene that can grow."""
        is_gemm, outside = self.kind == GEMM, self.source == OUTSIDE
        image = outside & ~is_gemm
        return {
            "batch": outside,
            "m": outside & is_gemm,
            "k": outside & is_gemm,
            "c": image,
            "h": image,
            "w": image,
            "n": is_gemm & (self.second == OUTSIDE),
            "filters": self.kind == CONV2D,
        }


Gene = Callable[[str], Ints]


class Layout:
    """The nodes of a batch of graphs, slot by slot."""

    def __init__(
        self, rows: Ints, column: Mapping[str, int], max_nodes: int, kinds: Ints
    ) -> None:
        """Derive all shapes.

        Args:
            rows: (n, width) genes, canonical or not.
            column: the index of each gene by name.
            max_nodes: how many slots the genes have.
            kinds: the operator kind of each value of the gene `kind`.
        """
        self.size = len(rows)
        self.slots: list[Slot] = []
        self._rows = rows
        self._column = column
        self._kinds = kinds
        self._outputs: list[Ints] = []
        alive = np.arange(self.size)
        for slot in range(max_nodes):
            if slot:
                alive = alive[rows[alive, column[f"{slot}.more"]] == 1]
            if not len(alive):
                break
            self._add(slot, alive)

    def _add(self, slot: int, graphs: Ints) -> None:
        def gene(name: str) -> Ints:
            values: Ints = self._rows[:, self._column[f"{slot}.{name}"]]
            return values if len(graphs) == self.size else values[graphs]

        kind = self._kinds[gene("kind")]
        source = np.maximum(slot - 1 - gene("source"), OUTSIDE)
        reads = self._input(gene, graphs, kind, source)
        second = self._second(gene, graphs, kind, source, reads)
        writes = reads.copy()
        self._multiply(gene, graphs, kind, second, reads, writes)
        filters = _convolve(gene, kind, reads, writes)
        self.slots.append(
            Slot(
                graphs=graphs,
                kind=kind,
                source=source,
                second=second,
                input=reads,
                output=writes,
                filters=filters,
                function=gene("function"),
                extra=gene("extra"),
            )
        )
        everywhere = np.zeros((4, self.size), dtype=np.int64)
        everywhere[:, graphs] = writes
        self._outputs.append(everywhere)

    def _input(self, gene: Gene, graphs: Ints, kind: Ints, source: Ints) -> Ints:
        """Shapes of the first operands: a root's own genes, else what its source gave."""
        reads = np.stack([gene("batch"), gene("c"), gene("h"), gene("w")])
        is_gemm = kind == GEMM
        if is_gemm.any():
            reads[C] = np.where(is_gemm, gene("k"), reads[C])
            reads[H] = np.where(is_gemm, gene("m"), reads[H])
            reads[W] = np.where(is_gemm, 1, reads[W])
        for earlier, output in enumerate(self._outputs):
            inside = source == earlier
            reads[:, inside] = output[:, graphs[inside]]
        return reads

    def _second(
        self, gene: Gene, graphs: Ints, kind: Ints, source: Ints, reads: Ints
    ) -> Ints:
        """The nearest earlier slot that fits as second operand, where one is wanted."""
        second = np.full(len(graphs), OUTSIDE)
        binary = (kind == ELEMENTWISE) & ~_UNARY[gene("function")]
        wanted = (source != OUTSIDE) & (gene("second") == 1)
        wanted &= binary | (kind == GEMM)
        if not wanted.any():
            return second
        for earlier, output in enumerate(self._outputs):
            offered = output[:, graphs]
            exists = offered[N] > 0
            equal = binary & (offered == reads).all(axis=0)
            fits = wanted & exists & (source != earlier)
            second[fits & (equal | ((kind == GEMM) & _is_b(offered, reads)))] = earlier
        return second

    def _multiply(  # noqa: PLR0913 - the parts of one node
        self,
        gene: Gene,
        graphs: Ints,
        kind: Ints,
        second: Ints,
        reads: Ints,
        writes: Ints,
    ) -> None:
        """Give each GEMM its N: a gene, or what its second operand implies."""
        is_gemm = kind == GEMM
        if not is_gemm.any():
            return
        columns = gene("n").copy()
        for earlier, output in enumerate(self._outputs):
            inside = is_gemm & (second == earlier)
            offered = output[:, graphs[inside]]
            positions = offered[H] * offered[W]
            columns[inside] = np.where(
                offered[C] == reads[C, inside], positions, offered[C]
            )
        writes[C] = np.where(is_gemm, columns, writes[C])
        writes[H] = np.where(is_gemm, reads[H] * reads[W], writes[H])
        writes[W] = np.where(is_gemm, 1, writes[W])

    def write_genes(self, rows: Ints) -> None:
        """Write the canonical genes of all nodes into rows of minima."""
        values_of_kind = np.zeros(len(OPERATORS), dtype=np.int64)
        values_of_kind[self._kinds] = np.arange(len(self._kinds))
        for place, slot in enumerate(self.slots):
            _write_genes(place, slot, rows, self._column, values_of_kind)

    def same_structure(self, grown: Layout) -> Bools:
        """(n,) whether `grown` has the same edges and filters and no smaller size."""
        same = np.ones(self.size, dtype=bool)
        for before, after in zip(self.slots, grown.slots, strict=True):
            kept = (before.second == after.second) & (
                (before.input <= after.input) & (before.output <= after.output)
            ).all(axis=0)
            old, new = before.filters, after.filters
            kept[old.at] &= (old.r == new.r) & (old.s == new.s)
            kept[old.at] &= (old.groups == new.groups) | _more_channels_alike(before, after)
            same[before.graphs[~kept]] = False
        return same

    def operator_columns(self) -> OperatorColumns:
        """One row an operator, in the order of the graphs."""
        if len(self.slots) == 1:
            return _columns(self.slots, np.arange(self.size), self._is_read())
        counts = np.bincount(np.concatenate([s.graphs for s in self.slots]))
        starts = np.cumsum(counts) - counts
        return _columns(self.slots, starts, self._is_read())

    def _is_read(self) -> list[Bools]:
        """For each slot, (nodes,) whether a later node of the graph reads its output."""
        read = np.zeros((len(self.slots) + 1, self.size), dtype=bool)
        for slot in self.slots:
            read[slot.source, slot.graphs] = True
            read[slot.second, slot.graphs] = True
        return [read[place, slot.graphs] for place, slot in enumerate(self.slots)]


def _more_channels_alike(before: Slot, after: Slot) -> Bools:
    """Whether both are depthwise, with as many filters for each channel."""
    old, new = before.filters, after.filters
    channels, grown = before.input[C, old.at], after.input[C, new.at]
    depthwise = (old.groups == channels) & (new.groups == grown)
    filters, more = before.output[C, old.at], after.output[C, new.at]
    alike: Bools = depthwise & (filters * grown == more * channels)
    return alike


def _is_b(offered: Ints, reads: Ints) -> Bools:
    """Whether a tensor can be the B operand of a GEMM, as it is or transposed."""
    batch: Bools = offered[N] == reads[N]
    channels: Bools = offered[C] == reads[C]
    positions: Bools = offered[H] * offered[W] == reads[C]
    return batch & (channels | positions)


def _convolve(gene: Gene, kind: Ints, reads: Ints, writes: Ints) -> Filters:
    """Clip the filters of each convolution to its input and derive its output."""
    at = np.flatnonzero(kind == CONV2D)
    if not len(at):
        return Filters(*[at] * 7)
    image = reads[:, at]
    names = ("padding", "dilation", "stride")
    padding, dilation, stride = (gene(name)[at] for name in names)
    divisor = np.gcd(image[C], gene("groups")[at])
    groups = np.where(gene("depthwise")[at] == 1, image[C], divisor)
    height, width = image[H] + 2 * padding, image[W] + 2 * padding
    r = np.minimum(gene("r")[at], (height - 1) // dilation + 1)
    s = np.minimum(gene("s")[at], (width - 1) // dilation + 1)
    writes[C, at] = -(-gene("filters")[at] // groups) * groups
    writes[H, at] = (height - dilation * (r - 1) - 1) // stride + 1
    writes[W, at] = (width - dilation * (s - 1) - 1) // stride + 1
    return Filters(at, r, s, stride, padding, dilation, groups)


def _write_genes(
    place: int,
    slot: Slot,
    rows: Ints,
    column: Mapping[str, int],
    values_of_kind: Ints,
) -> None:
    def write(name: str, values: Ints, where: Bools | Ints | None = None) -> None:
        target = slot.graphs if where is None else slot.graphs[where]
        rows[target, column[f"{place}.{name}"]] = values if where is None else values[where]

    write("kind", values_of_kind[slot.kind])
    if place:
        write("more", np.ones_like(slot.kind))
        write("source", place - 1 - slot.source)
    reads = slot.reads_genes()
    for gene, axis in (("batch", N), ("k", C), ("m", H), ("c", C), ("h", H), ("w", W)):
        write(gene, slot.input[axis], reads[gene])
    write("n", slot.output[C], reads["n"])
    write("second", (slot.second != OUTSIDE).astype(np.int64))
    elementwise = slot.kind == ELEMENTWISE
    write("function", slot.function, elementwise)
    write("extra", slot.extra, elementwise & ~_UNARY[slot.function])
    _write_filters(place, slot, rows, column)


def _write_filters(place: int, slot: Slot, rows: Ints, column: Mapping[str, int]) -> None:
    filters = slot.filters
    graphs = slot.graphs[filters.at]
    channels = slot.input[C, filters.at]
    depthwise = (filters.groups == channels) & (channels > 1)
    values = {
        "filters": slot.output[C, filters.at] - filters.groups + 1,
        "r": filters.r,
        "s": filters.s,
        "stride": filters.stride,
        "padding": filters.padding,
        "dilation": filters.dilation,
        "depthwise": depthwise.astype(np.int64),
        "groups": np.where(depthwise, 1, filters.groups),
    }
    for name, value in values.items():
        rows[graphs, column[f"{place}.{name}"]] = value


def _columns(slots: list[Slot], starts: Ints, read: list[Bools]) -> OperatorColumns:
    size = sum(len(slot.graphs) for slot in slots)
    table = np.empty((15, size))
    for place, (slot, is_read) in enumerate(zip(slots, read, strict=True)):
        table[:, starts[slot.graphs] + place] = _table(slot, is_read)
    return OperatorColumns.of_table(starts, table)


def _touched(slot: Slot, inputs: Floats) -> Floats:
    """Elements of one input that are certainly read: `certainly_touched` in arrays."""
    touched = inputs.copy()
    filters, at = slot.filters, slot.filters.at
    reads, writes = slot.input[:, at], slot.output[:, at]
    rows = _touched_axis(filters, reads[H], writes[H], filters.r)
    columns = _touched_axis(filters, reads[W], writes[W], filters.s)
    touched[at] = reads[N].astype(np.float64) * reads[C] * rows * columns
    return touched


def _touched_axis(filters: Filters, size: Ints, outputs: Ints, taps: Ints) -> Ints:
    last = (outputs - 1) * filters.stride + taps - filters.padding
    blocks = outputs * taps - 2 * filters.padding
    single = outputs - 2 * -(-filters.padding // np.maximum(filters.stride, 1))
    gapless = np.where(taps >= filters.stride, np.minimum(size, last), blocks)
    found: Ints = np.maximum(0, np.where(filters.dilation == 1, gapless, single))
    return found


def _table(slot: Slot, is_read: Bools) -> tuple[Floats | Ints | Bools, ...]:
    """The rows that `OperatorColumns.of_table` takes."""
    reads, writes = slot.input.astype(np.float64), slot.output.astype(np.float64)
    ones = np.ones(len(slot.graphs))
    inputs, outputs = reads.prod(axis=0), writes.prod(axis=0)
    batched = (slot.kind == GEMM) & (slot.second != OUTSIDE)
    positions = writes[H] * writes[W]
    instances = np.where(batched, writes[N], ones)
    m = np.where(batched, positions, writes[N] * positions)
    n, k = writes[C].copy(), reads[C].copy()
    at, filters = slot.filters.at, slot.filters
    instances[at] = filters.groups
    n[at] /= filters.groups
    k[at] = k[at] / filters.groups * filters.r * filters.s
    elementwise = slot.kind == ELEMENTWISE
    m[elementwise] = outputs[elementwise]
    n[elementwise] = k[elementwise] = 1
    macs = np.where(elementwise, 0, outputs * k)
    weights = np.where(elementwise, 0, instances * k * n)
    operands = np.where(elementwise, slot.operands, 1)
    cost = _COST[slot.function] * np.maximum(1, operands - 1)
    other = np.where(elementwise, outputs * cost, 0)
    inside = (slot.source != OUTSIDE).astype(np.float64)
    inside += elementwise & (slot.second != OUTSIDE)
    return (
        slot.kind, instances, m, n, k, macs, other, inputs, _touched(slot, inputs),
        operands - inside, inside, weights, batched, outputs, is_read,
    )  # fmt: skip
