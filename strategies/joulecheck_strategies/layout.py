"""Rows of genes as nodes in arrays: the array twin of `WorkloadSpace.read`.

A test holds the two together: for every row, the columns and the canonical genes
from here equal those of the case that `read` builds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
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
UNARY: Final = np.array([f.unary for f in FUNCTIONS])

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


Read = Callable[[str], Ints]
"""Gives the values of a gene of one slot, one for each of its nodes."""

Place = tuple[Ints, Read]
"""The graphs that reach a slot, in ascending order, and the genes of their nodes."""


def places(rows: Ints, column: Mapping[str, int], max_nodes: int) -> Iterator[Place]:
    """The slots of the graphs that rows of genes describe, canonical or not.

    There is a first one even of no graphs.
    """
    alive = np.arange(len(rows))
    for slot in range(max_nodes):
        if slot:
            alive = alive[rows[alive, column[f"{slot}.more"]] == 1]
            if not len(alive):
                return
        yield alive, partial(_gathered, rows, column, slot, alive)


def _gathered(
    rows: Ints, column: Mapping[str, int], slot: int, graphs: Ints, name: str
) -> Ints:
    values: Ints = rows[:, column[f"{slot}.{name}"]]
    return values if len(graphs) == len(rows) else values[graphs]


class Layout:
    """The nodes of a batch of graphs, slot by slot."""

    def __init__(
        self, size: int, max_nodes: int, places: Iterable[Place], kinds: Ints
    ) -> None:
        """Derive all shapes.

        Args:
            size: how many graphs.
            max_nodes: how many slots they have at most.
            places: the slots, from the first on.
            kinds: the operator kind of each value of the gene `kind`.
        """
        self.size = size
        self.slots: list[Slot] = []
        self._kinds = kinds
        self._outputs = np.zeros((max_nodes - 1, 4, size), dtype=np.int64)
        for slot, (graphs, gene) in enumerate(places):
            self._add(slot, graphs, gene)

    def _add(self, slot: int, graphs: Ints, gene: Read) -> None:
        kind = self._kinds[gene("kind")]
        source = np.maximum(slot - 1 - gene("source"), OUTSIDE)
        reads = self._input(gene, graphs, kind, source)
        second = self._second(slot, gene, graphs, kind, source, reads)
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
        if slot < len(self._outputs):  # no node reads that of the last slot
            self._outputs[slot][:, graphs] = writes

    def _input(self, gene: Read, graphs: Ints, kind: Ints, source: Ints) -> Ints:
        """Shapes of the first operands: a root's own genes, else what its source gave."""
        reads = np.stack([gene("batch"), gene("c"), gene("h"), gene("w")])
        is_gemm = kind == GEMM
        if is_gemm.any():
            reads[C] = np.where(is_gemm, gene("k"), reads[C])
            reads[H] = np.where(is_gemm, gene("m"), reads[H])
            reads[W] = np.where(is_gemm, 1, reads[W])
        inside = np.flatnonzero(source != OUTSIDE)
        reads[:, inside] = self._outputs[source[inside], :, graphs[inside]].T
        return reads

    def _second(  # noqa: PLR0913 - the parts of one node
        self,
        slot: int,
        gene: Read,
        graphs: Ints,
        kind: Ints,
        source: Ints,
        reads: Ints,
    ) -> Ints:
        """The nearest earlier slot that fits as second operand, where one is wanted."""
        second = np.full(len(graphs), OUTSIDE)
        binary = (kind == ELEMENTWISE) & ~UNARY[gene("function")]
        wanted = (source != OUTSIDE) & (gene("second") == 1) & (binary | (kind == GEMM))
        at = np.flatnonzero(wanted)
        if len(at):
            offered = self._outputs[:slot, :, graphs[at]]
            fits = np.where(
                binary[at], _is_equal(offered, reads[:, at]), _is_b(offered, reads[:, at])
            )
            fits &= source[at] != np.arange(slot)[:, None]
            nearest = slot - 1 - fits[::-1].argmax(axis=0)
            second[at] = np.where(fits.any(axis=0), nearest, OUTSIDE)
        return second

    def _multiply(  # noqa: PLR0913 - the parts of one node
        self,
        gene: Read,
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
        inside = np.flatnonzero(is_gemm & (second != OUTSIDE))
        offered = self._outputs[second[inside], :, graphs[inside]].T
        positions = offered[H] * offered[W]
        transposed = offered[C] == reads[C, inside]
        columns[inside] = np.where(transposed, positions, offered[C])
        writes[C] = np.where(is_gemm, columns, writes[C])
        writes[H] = np.where(is_gemm, reads[H] * reads[W], writes[H])
        writes[W] = np.where(is_gemm, 1, writes[W])

    def write_genes(self, rows: Ints, column: Mapping[str, int]) -> None:
        """Write the canonical genes of all nodes into rows of minima."""
        values_of_kind = np.zeros(len(OPERATORS), dtype=np.int64)
        values_of_kind[self._kinds] = np.arange(len(self._kinds))
        for place, slot in enumerate(self.slots):
            _write_genes(place, slot, rows, column, values_of_kind)

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
        parts = [
            _columns(slot, is_read)
            for slot, is_read in zip(self.slots, self._is_read(), strict=True)
        ]
        if len(parts) == 1:
            return parts[0]
        starts, places = self.places()
        return OperatorColumns.interleaved(starts, parts, places)

    def places(self) -> tuple[Ints, list[Ints]]:
        """The first operator row of each graph, and by slot those of its nodes."""
        counts = np.bincount(np.concatenate([s.graphs for s in self.slots]))
        starts = np.cumsum(counts) - counts
        return starts, [starts[s.graphs] + index for index, s in enumerate(self.slots)]

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


def _is_equal(offered: Ints, reads: Ints) -> Bools:
    """(slots, nodes) which tensors of earlier slots have the shape that a node reads."""
    equal: Bools = (offered == reads).all(axis=1)
    return equal


def _is_b(offered: Ints, reads: Ints) -> Bools:
    """(slots, nodes) which can be the B operand of a GEMM, as they are or transposed."""
    batch: Bools = offered[:, N] == reads[N]
    channels: Bools = offered[:, C] == reads[C]
    positions: Bools = offered[:, H] * offered[:, W] == reads[C]
    return batch & (channels | positions)


def _convolve(gene: Read, kind: Ints, reads: Ints, writes: Ints) -> Filters:
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
    write("extra", slot.extra, elementwise & ~UNARY[slot.function])
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


def _columns(slot: Slot, is_read: Bools) -> OperatorColumns:
    """The columns of the nodes of one slot, each as if it were a case of its own."""
    reads, writes = slot.input.astype(np.float64), slot.output.astype(np.float64)
    inputs, outputs = (
        shape[N] * shape[C] * shape[H] * shape[W] for shape in (reads, writes)
    )
    ones, zeros = np.ones(len(slot.kind)), np.zeros(len(slot.kind))
    inside = slot.source != OUTSIDE
    batched = (slot.kind == GEMM) & (slot.second != OUTSIDE)
    found = OperatorColumns(
        starts=np.arange(len(slot.kind)),
        kind=slot.kind,
        instances=np.where(batched, writes[N], ones),
        m=np.where(batched, 1.0, writes[N]) * (writes[H] * writes[W]),
        n=writes[C],
        k=reads[C],
        macs=outputs * reads[C],
        other_ops=zeros,
        input_elements=inputs,
        touched_elements=inputs,
        external_inputs=ones - inside,
        internal_inputs=inside.astype(np.float64),
        weight_elements=np.where(batched, writes[N], ones) * reads[C] * writes[C],
        weight_is_internal=batched,
        output_elements=outputs,
        output_is_internal=is_read,
    )
    if len(slot.filters.at):
        found = _with_filters(found, slot)
    at = np.flatnonzero(slot.kind == ELEMENTWISE)
    return _with_functions(found, slot, at) if len(at) else found


def _with_filters(gemms: OperatorColumns, slot: Slot) -> OperatorColumns:
    """The columns with those of convolutions in place of GEMMs of the same tensors."""
    at, filters = slot.filters.at, slot.filters
    n = gemms.n[at] / filters.groups
    k = gemms.k[at] / filters.groups * filters.r * filters.s
    return attrs.evolve(
        gemms,
        instances=_put(gemms.instances, at, filters.groups),
        n=_put(gemms.n, at, n),
        k=_put(gemms.k, at, k),
        macs=_put(gemms.macs, at, gemms.output_elements[at] * k),
        touched_elements=_put(gemms.touched_elements, at, _touched(slot)),
        weight_elements=_put(gemms.weight_elements, at, filters.groups * k * n),
    )


def _with_functions(gemms: OperatorColumns, slot: Slot, at: Ints) -> OperatorColumns:
    """The columns with those of elementwise nodes in place of GEMMs."""
    unary, outputs = UNARY[slot.function[at]], gemms.output_elements[at]
    operands = np.where(unary, 1, 2 + slot.extra[at])
    inside = gemms.internal_inputs[at] + (slot.second[at] != OUTSIDE)
    cost = _COST[slot.function[at]] * np.maximum(1, operands - 1)
    return attrs.evolve(
        gemms,
        m=_put(gemms.m, at, outputs),
        n=_put(gemms.n, at, 1.0),
        k=_put(gemms.k, at, 1.0),
        macs=_put(gemms.macs, at, 0.0),
        other_ops=_put(gemms.other_ops, at, outputs * cost),
        external_inputs=_put(gemms.external_inputs, at, operands - inside),
        internal_inputs=_put(gemms.internal_inputs, at, inside),
        weight_elements=_put(gemms.weight_elements, at, 0.0),
    )


def _put(column: Floats, at: Ints, values: Floats | Ints | float) -> Floats:
    changed = column.copy()
    changed[at] = values
    return changed


def _touched(slot: Slot) -> Floats:
    """Elements of each convolution's input that are certainly read.

    It is `certainly_touched` in arrays.
    """
    filters, at = slot.filters, slot.filters.at
    reads, writes = slot.input[:, at], slot.output[:, at]
    rows = _touched_axis(filters, reads[H], writes[H], filters.r)
    columns = _touched_axis(filters, reads[W], writes[W], filters.s)
    touched: Floats = reads[N].astype(np.float64) * reads[C] * rows * columns
    return touched


def _touched_axis(filters: Filters, size: Ints, outputs: Ints, taps: Ints) -> Ints:
    last = (outputs - 1) * filters.stride + taps - filters.padding
    blocks = outputs * taps - 2 * filters.padding
    single = outputs - 2 * -(-filters.padding // np.maximum(filters.stride, 1))
    gapless = np.where(taps >= filters.stride, np.minimum(size, last), blocks)
    found: Ints = np.maximum(0, np.where(filters.dilation == 1, gapless, single))
    return found
