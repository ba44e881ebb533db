"""Many workloads as a structure of arrays: one row an operator, grouped by case.

Dimensions up to 2^31 fit the int64 genes they come from; products are float64, whose
relative error is below 1e-15, where int64 would wrap at (1e9)^3.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from joulecheck.quantities import BITS_PER_BYTE, OPS_PER_MAC
from joulecheck.workload.operators import Conv2d, Elementwise, Gemm
from joulecheck.workload.precision import Precision
from joulecheck.workload.subgraph import Node, Workload, loop_nest, nodes_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

Number = TypeVar("Number", np.float64, np.int64)

PRECISIONS: Final = tuple(Precision)
"""Column `precision` of a batch holds indices into this tuple."""

PRECISION_BITS: Final[Ints] = np.array([p.bits for p in PRECISIONS], dtype=np.int64)

PARTIAL_SUM_BYTES: Final[Floats] = np.array(
    [8.0 if p.bits == Precision.FP64.bits else 4.0 for p in PRECISIONS]
)
"""By precision: sums of 64-bit formats are kept in 64 bits, all others in 32."""

OPERATORS: Final = (Gemm, Conv2d, Elementwise)
"""Column `kind` of an operator row holds indices into this tuple."""

GEMM, CONV2D, ELEMENTWISE = range(len(OPERATORS))


@attrs.frozen(eq=False)
class OperatorColumns:
    """Operator rows of a batch. All arrays have one entry an operator, in case order.

    Elements are counted per tensor, so that widths of half a byte round up tensor by
    tensor.
    """

    starts: Ints
    """First operator row of each case."""
    kind: Ints
    """Index into `OPERATORS`."""
    instances: Floats
    """Independent GEMMs: groups of a convolution, batch of an activation x activation."""
    m: Floats
    n: Floats
    k: Floats
    macs: Floats
    other_ops: Floats
    input_elements: Floats
    """Of one activation input."""
    touched_elements: Floats
    """Of one such input, those that are certainly read."""
    external_inputs: Floats
    """How many such inputs come from outside."""
    internal_inputs: Floats
    """How many are intermediates."""
    weight_elements: Floats
    """Of the second operand of a GEMM or convolution, wherever it comes from."""
    weight_is_internal: Bools
    """Whether that operand is an intermediate."""
    output_elements: Floats
    output_is_internal: Bools
    """Whether a later operator of the case reads the output."""

    @classmethod
    def of_table(cls, starts: Ints, table: Floats) -> OperatorColumns:
        """The operators of a (15, operators) table of the fields after `starts`."""
        *numbers, weight_is_internal, outputs, output_is_internal = table
        kind, instances, m, n, k, macs, other_ops, *tensors = numbers
        size, touched, outside, inside, weights = tensors
        return cls(
            starts=starts,
            kind=kind.astype(np.int64),
            instances=instances,
            m=m,
            n=n,
            k=k,
            macs=macs,
            other_ops=other_ops,
            input_elements=size,
            touched_elements=touched,
            external_inputs=outside,
            internal_inputs=inside,
            weight_elements=weights,
            weight_is_internal=weight_is_internal.astype(bool),
            output_elements=outputs,
            output_is_internal=output_is_internal.astype(bool),
        )

    @classmethod
    def interleaved(
        cls, starts: Ints, parts: Sequence[OperatorColumns], places: Sequence[Ints]
    ) -> OperatorColumns:
        """The operators of several columns, those of each part at its places."""
        names = [field.name for field in attrs.fields(cls) if field.name != "starts"]
        merged = {name: [getattr(part, name) for part in parts] for name in names}
        return cls(starts=starts, **{n: _merged(v, places) for n, v in merged.items()})

    def taken(self, operators: Ints, starts: Ints) -> OperatorColumns:
        """These operators in this order, as cases that start at `starts`."""
        names = [field.name for field in attrs.fields(OperatorColumns)]
        kept = {name: getattr(self, name)[operators] for name in names if name != "starts"}
        return OperatorColumns(starts=starts, **kept)

    def alone(self) -> tuple[OperatorColumns, Floats]:
        """Each operator as a case that reads and writes outside, and how often it runs.

        It is `joulecheck.workload.operators_alone` in arrays.
        """
        often = np.where(self.weight_is_internal, self.instances, 1.0)
        none = np.zeros(len(self), dtype=bool)
        return attrs.evolve(
            self,
            starts=np.arange(len(self)),
            instances=self.instances / often,
            macs=self.macs / often,
            input_elements=self.input_elements / often,
            touched_elements=self.touched_elements / often,
            external_inputs=self.external_inputs + self.internal_inputs,
            internal_inputs=np.zeros(len(self)),
            weight_elements=self.weight_elements / often,
            weight_is_internal=none,
            output_elements=self.output_elements / often,
            output_is_internal=none,
        ), often

    def __len__(self) -> int:
        """How many operators."""
        return len(self.kind)

    @cached_property
    def owner(self) -> Ints:
        """The case of each operator row."""
        counts = np.diff(np.append(self.starts, len(self)))
        return np.repeat(np.arange(len(self.starts)), counts)

    @property
    def one_each(self) -> bool:
        """Whether every case is a single operator."""
        return len(self.starts) == len(self)

    @property
    def single(self) -> Bools:
        """(cases,) whether each case is a single operator."""
        found: Bools = np.diff(np.append(self.starts, len(self))) == 1
        return found

    @property
    def gemm(self) -> Bools:
        """(cases,) whether each case is a single GEMM."""
        found: Bools = self.single & (self.kind[self.starts] == GEMM)
        return found

    def take(self, cases: Ints) -> OperatorColumns:
        """The operators of these cases, in their order."""
        counts = np.diff(np.append(self.starts, len(self)))[cases]
        ends = np.cumsum(counts)
        starts = ends - counts
        rows = np.arange(ends[-1] if len(ends) else 0)
        rows += np.repeat(self.starts[cases] - starts, counts)
        names = [f.name for f in attrs.fields(type(self)) if f.name != "starts"]
        taken = {name: getattr(self, name)[rows] for name in names}
        return OperatorColumns(starts=starts, **taken)

    def per_case(self, rows: Floats) -> Floats:
        """Sum `rows` (one entry an operator) over the operators of each case."""
        return rows if self.one_each else np.add.reduceat(rows, self.starts)

    def per_operator(self, cases: NDArray[Number]) -> NDArray[Number]:
        """Repeat `cases` (one entry a case) for each operator of the case."""
        return cases if self.one_each else cases[self.owner]


def _merged(parts: Sequence[NDArray[Any]], places: Sequence[Ints]) -> NDArray[Any]:
    merged = np.empty(sum(map(len, parts)), dtype=parts[0].dtype)
    for part, where in zip(parts, places, strict=True):
        merged[where] = part
    return merged


@attrs.frozen(eq=False)
class BatchTraffic:
    """The arrays of `joulecheck.workload.Traffic`, in bytes, one entry a case."""

    input: Floats
    weight: Floats
    output: Floats
    internal: Floats

    @property
    def external(self) -> Floats:
        """Input, weight and output together."""
        return self.input + self.weight + self.output


def tensor_bytes(elements: Floats, bits: Ints) -> Floats:
    """Bytes of tensors of `elements` at `bits` each, a last half byte rounded up."""
    whole: Floats = np.ceil(elements * bits / BITS_PER_BYTE)
    return whole


def batch_traffic(
    operators: OperatorColumns, bits: Ints, *, touched_only: bool = False, line: int = 1
) -> BatchTraffic:
    """Traffic of each case, every external tensor once.

    Args:
        operators: the operators of the batch.
        bits: (cases,) width of an element.
        touched_only: count of inputs only what is certainly read.
        line: bytes of which each tensor has whole multiples.
    """
    width = operators.per_operator(bits)
    elements = operators.touched_elements if touched_only else operators.input_elements

    def whole(count: Floats) -> Floats:
        size = tensor_bytes(count, width)
        return size if line == 1 else np.ceil(size / line) * line

    inputs = whole(elements)
    weights = whole(operators.weight_elements)
    outputs = whole(operators.output_elements)
    sums = operators.per_case
    return BatchTraffic(
        input=sums(inputs * operators.external_inputs),
        weight=sums(weights * ~operators.weight_is_internal),
        output=sums(outputs * ~operators.output_is_internal),
        internal=sums(outputs * operators.output_is_internal),
    )


def operator_columns(workloads: Sequence[Workload]) -> OperatorColumns:
    """The rows of `workloads`, computed exactly in Python ints and then rounded once.

    A `Totals` contributes one row without MACs, tensors or traffic.
    """
    rows: list[tuple[float, ...]] = []
    starts: list[int] = []
    for workload in workloads:
        starts.append(len(rows))
        nodes = nodes_of(workload)
        rows += [_row(nodes, index) for index in range(len(nodes))]
        if not nodes:
            rows.append((ELEMENTWISE, 1, 0, 0, 0, 0, workload.ops, *(0,) * 8))
    table = np.array(rows, dtype=np.float64).reshape(len(rows), _WIDTH)
    return OperatorColumns.of_table(np.array(starts, dtype=np.int64), table.T)


_WIDTH: Final = 15


def totals_columns(ops: Floats) -> OperatorColumns:
    """The rows of `Totals` of so many operations each: no MACs, tensors or traffic."""
    table = np.zeros((_WIDTH, len(ops)))
    table[0], table[1], table[6] = ELEMENTWISE, 1, ops
    return OperatorColumns.of_table(np.arange(len(ops)), table)


def _row(nodes: Sequence[Node], index: int) -> tuple[float, ...]:
    operator, sources = nodes[index].operator, nodes[index].sources
    nest = loop_nest(nodes[index])
    is_gemm = isinstance(operator, Gemm)
    activations = sources[:1] if is_gemm else sources
    weight_is_internal = is_gemm and sources[1] is not None
    weights = (
        nest.instances * nest.k * nest.n if weight_is_internal else operator.weight_elements
    )
    return (
        OPERATORS.index(type(operator)),
        *nest,
        operator.macs,
        operator.other_ops,
        operator.input_elements // operator.input_tensors,
        operator.touched_elements,
        activations.count(None),
        len(activations) - activations.count(None),
        weights,
        weight_is_internal,
        operator.output_elements,
        any(index in later.sources for later in nodes[index + 1 :]),
    )


def total_ops(operators: OperatorColumns) -> Floats:
    """Operations of each operator row; one MAC is two."""
    return OPS_PER_MAC * operators.macs + operators.other_ops
