"""What one of several equal chips does of an operator, and what they then exchange.

An operator is the GEMM M x N x K that it amounts to. Along M each chip takes rows: batch
and positions. Along N it takes columns, the filters of a convolution, and along K a part
of the reduction, the channels. The groups of a convolution belong to its filters and
channels and are dealt out whole, as long as there is one for every chip; the batch of a
product of two activations stays whole. An elementwise function is split evenly.

All chips run the same program, that of the largest share: its shape is rounded up, and
what lies beyond the edge costs time and instructions. Operations and tensors are even
shares, each rounded up to one: padding is no arithmetic and is not fetched.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.reference.layered import PARTIAL_SUM_BYTES
from joulecheck.workload.columns import (
    CONV2D,
    ELEMENTWISE,
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
    one = np.ones(len(ops))
    groups = (
        np.where(ops.kind == CONV2D, ops.instances, one) if along is not Along.M else one
    )
    dealt = np.minimum(groups, chips)
    elementwise = ops.kind == ELEMENTWISE

    def share(size: Floats, parts: Floats | int) -> Floats:
        rounded: Floats = np.ceil(size / parts)
        return rounded

    def side(size: Floats) -> Floats:
        """Of the part of a dimension that one chip takes in each of its groups."""
        return np.minimum(size, share(groups * size, chips))

    def but_elementwise(parts: Floats) -> Floats:
        return np.where(elementwise, chips, parts)

    inputs = but_elementwise(dealt) if along is Along.N else chips
    outputs = but_elementwise(dealt) if along is Along.K else chips
    return attrs.evolve(
        ops,
        instances=ops.instances / groups * share(groups, chips),
        m=share(ops.m, but_elementwise(one) if along is not Along.M else chips),
        n=side(ops.n) if along is Along.N else ops.n,
        k=side(ops.k) if along is Along.K else ops.k,
        macs=share(ops.macs, chips),
        other_ops=share(ops.other_ops, chips),
        input_elements=share(ops.input_elements, inputs),
        touched_elements=share(ops.touched_elements, inputs),
        weight_elements=share(ops.weight_elements, 1 if along is Along.M else chips),
        output_elements=share(ops.output_elements, outputs),
    )


def exchanged(cases: Cases, along: Along) -> Floats:
    """(ops,) bytes of the results that each chip lacks a part of: V of the collectives.

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
