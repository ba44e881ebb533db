"""What one of several equal chips does of an operator, and what they then exchange.

An operator is the GEMM M x N x K that it amounts to. Along M each chip takes rows: batch
and positions. Along N it takes columns, the filters of a convolution, and along K a part
of the reduction, the channels. The groups of a convolution belong to its filters and
channels and are dealt out whole; of more chips than groups, each group gets equally many.
The batch of a product of two activations stays whole. An elementwise function is split
evenly.

All chips run the same program, that of the largest share: what does not divide evenly is
padded. Along M, the inputs of a chip are an even part of all: windows of a convolution
overlap, and rows that two chips need are counted once.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.workload.columns import (
    CONV2D,
    ELEMENTWISE,
    PARTIAL_SUM_BYTES,
    Floats,
    OperatorColumns,
    tensor_bytes,
)


class Along(Enum):
    """The dimension along which every operator is split."""

    M = "M"
    """Rows: activations are split and weights whole on every chip. Nothing is sent."""
    N = "N"
    """Columns: inputs are whole, weights and results split. An all-gather follows."""
    K = "K"
    """The reduction: inputs and weights are split. An all-reduce of the sums follows."""


PASSES: Final = {Along.M: 0, Along.N: 1, Along.K: 2}
"""How often a ring passes on the results: once to gather them, twice to reduce them."""


def shard(ops: OperatorColumns, chips: int, along: Along) -> OperatorColumns:
    """The operators of a chip with the largest share."""
    if chips == 1:
        return ops
    elementwise = ops.kind == ELEMENTWISE
    grouped = (ops.kind == CONV2D) & (along is not Along.M)
    groups = np.where(grouped, ops.instances, 1.0)
    instances = ops.instances / groups * np.ceil(groups / chips)
    parts = np.maximum(1.0, np.floor(chips / groups))

    def split(size: Floats, dimension: Along) -> Floats:
        return np.ceil(size / parts) if dimension is along else size

    m = np.where(elementwise, np.ceil(ops.m / chips), split(ops.m, Along.M))
    n, k = split(ops.n, Along.N), split(ops.k, Along.K)

    def read(elements: Floats) -> Floats:
        """Of a tensor of inputs: an even part of its rows, or the channels it needs."""
        needed = elements * (instances * k) / (ops.instances * ops.k)
        even = elementwise | (along is Along.M)
        return np.ceil(np.where(even, elements / chips, needed))

    is_gemm = ops.macs > 0
    return attrs.evolve(
        ops,
        instances=instances,
        m=m,
        n=n,
        k=k,
        macs=instances * m * n * k * is_gemm,
        other_ops=ops.other_ops / ops.m * m,
        input_elements=read(ops.input_elements),
        touched_elements=read(ops.touched_elements),
        weight_elements=instances * n * k * is_gemm,
        output_elements=instances * m * n,
    )


def exchanged(cases: Cases, along: Along) -> Floats:
    """(ops,) bytes of the results that each chip has a part of, or partial sums of.

    Gathered results have the width of an element, reduced ones that of a sum.
    """
    ops = cases.operators
    if along is Along.M:
        return np.zeros(len(ops))
    if along is Along.N:
        whole = tensor_bytes(ops.output_elements, ops.per_operator(cases.bits))
    else:
        width = ops.per_operator(PARTIAL_SUM_BYTES[cases.precision])
        whole = ops.output_elements * width
    return whole * (ops.macs > 0)
