"""What one of several equal chips does of an operator, and what they then exchange.

An operator is the GEMM M x N x K that it amounts to. Along M each chip takes rows: batch
and positions. Along N it takes columns, the filters of a convolution, and along K a part
of the reduction, the channels. The groups of a convolution belong to its filters and
channels and are dealt out whole; of more chips than groups, each group gets equally many.
The batch of a product of two activations stays whole. An elementwise function is split
evenly.

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
    split = _rows(ops, chips) if along is Along.M else _groups(ops, chips, along)
    return attrs.evolve(
        split,
        macs=_share(ops.macs, chips),
        other_ops=_share(ops.other_ops, chips),
    )


def _share(whole: Floats, parts: Floats | int) -> Floats:
    rounded: Floats = np.ceil(whole / parts)
    return rounded


def _rows(ops: OperatorColumns, chips: int) -> OperatorColumns:
    return attrs.evolve(
        ops,
        m=_share(ops.m, chips),
        input_elements=_share(ops.input_elements, chips),
        touched_elements=_share(ops.touched_elements, chips),
        output_elements=_share(ops.output_elements, chips),
    )


def _groups(ops: OperatorColumns, chips: int, along: Along) -> OperatorColumns:
    """Groups of a convolution, and within each its columns or its reduction.

    Along N a chip reads the inputs of its groups, along K it has sums of all their
    results. Anything but a convolution is one group.
    """
    elementwise = ops.kind == ELEMENTWISE
    groups = np.where(ops.kind == CONV2D, ops.instances, 1.0)
    within = np.maximum(1.0, np.floor(chips / groups))
    own = np.where(elementwise, float(chips), np.minimum(groups, chips))
    inputs, outputs = (own, chips) if along is Along.N else (chips, own)
    return attrs.evolve(
        ops,
        instances=ops.instances / groups * _share(groups, chips),
        m=np.where(elementwise, _share(ops.m, chips), ops.m),
        n=_share(ops.n, within) if along is Along.N else ops.n,
        k=_share(ops.k, within) if along is Along.K else ops.k,
        input_elements=_share(ops.input_elements, inputs),
        touched_elements=_share(ops.touched_elements, inputs),
        weight_elements=_share(ops.weight_elements, chips),
        output_elements=_share(ops.output_elements, outputs),
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
