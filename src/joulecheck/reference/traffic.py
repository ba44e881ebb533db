"""Traffic between two levels of a memory hierarchy, in closed form.

Smooth forms of an output-stationary, a weight-stationary and an input-stationary loop
order through a near memory of S bytes. All are non-decreasing in M, N and K and
non-increasing in S: N / Tn is max(1, N / max(q, s / M)), and so on. Derivation: choose
the tile that fills the near memory with the stationary operand and balances the two
that stream; then let a tile that fits whole grow along the other dimension.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from joulecheck.workload.columns import Floats, OperatorColumns


class Operands(NamedTuple):
    """Bytes that must cross once: inputs (A), weights (B) and outputs (C)."""

    a: Floats
    b: Floats
    c: Floats

    @property
    def total(self) -> Floats:
        """All three."""
        return self.a + self.b + self.c


class Widths(NamedTuple):
    """Bytes an element: of A, B and C, and of a partial sum."""

    element: Floats
    partial: Floats
    overlap: Floats | float = 1.0
    """Elements of A that memory holds for each of the M x K that the arithmetic sees.

    Below 1 where the windows of a convolution overlap, above it where they leave gaps.
    """

    @property
    def a(self) -> Floats:
        """Bytes that memory holds for each of the M x K."""
        return self.element * self.overlap


def smooth_traffic(  # noqa: PLR0913 - the three dimensions of a GEMM and its memory
    capacity: float, m: Floats, n: Floats, k: Floats, operands: Operands, widths: Widths
) -> Floats:
    """Bytes that cross into and out of a memory of `capacity` bytes: the least of three.

    Args:
        capacity: S, in bytes.
        m: (ops,) rows of each GEMM, as `n` and `k`.
        n: columns.
        k: depth.
        operands: bytes of each operand that come from or go to the far side; an
            operand that lies near is 0 and is never fetched again either.
        widths: bytes an element and a partial sum.
    """
    output = _output_stationary(capacity, m, n, operands, widths)
    sizes = Operands(widths.a, widths.element, widths.element)
    weight = _operand_stationary(capacity, n, k, operands, sizes, widths.partial)
    swapped, turned = (Operands(x.b, x.a, x.c) for x in (operands, sizes))
    inputs = _operand_stationary(capacity, m, k, swapped, turned, widths.partial)
    return np.minimum(output, np.minimum(weight, inputs))


def _output_stationary(
    capacity: float, m: Floats, n: Floats, operands: Operands, widths: Widths
) -> Floats:
    """Partial sums stay: A is read N / Tn times and B M / Tm times."""
    elements = capacity / widths.partial
    rows = np.sqrt(elements * widths.element / widths.a)  # what is narrower streams more
    columns = elements / rows
    a_passes = np.maximum(1, n / np.maximum(columns, elements / m))
    b_passes = np.maximum(1, m / np.maximum(rows, elements / n))
    return operands.a * a_passes + operands.b * b_passes + operands.c


def _operand_stationary(  # noqa: PLR0913 - the dimensions that matter and the widths
    capacity: float,
    n: Floats,
    k: Floats,
    operands: Operands,
    sizes: Operands,
    partial: Floats,
) -> Floats:
    """The K x N operand stays: A is read N / Tn times, partial sums go out and back.

    Partial sums are written and read again K / Tk - 1 times; they cross only where
    the result does. `sizes` are the bytes an element of each operand.
    """
    elements = capacity / sizes.b
    depth: Floats = np.sqrt(2 * elements * partial / sizes.a)
    breadth = elements / depth
    k_passes: Floats = np.maximum(1, k / np.maximum(depth, elements / n))
    a_passes: Floats = np.maximum(1, n / np.maximum(breadth, elements / k))
    partials: Floats = 2 * partial * (operands.c / sizes.c) * (k_passes - 1)
    return operands.a * a_passes + operands.b + operands.c + partials


def spills(each: Operands, ops: OperatorColumns, capacity: float) -> Operands:
    """Bytes of intermediates that a memory of `capacity` bytes does not keep, (ops,).

    They leave where they are written, and return to each operator that reads them.

    Args:
        each: bytes of one tensor of each operand.
        ops: the operators.
        capacity: of the last memory on the chip.
    """
    return Operands(
        spilled(each.a, capacity) * ops.internal_inputs,
        spilled(each.b, capacity) * ops.weight_is_internal,
        spilled(each.c, capacity) * ops.output_is_internal,
    )


def spilled(bytes_kept: Floats, capacity: Floats | float) -> Floats:
    """What of a tensor does not fit a memory of `capacity` bytes."""
    beyond: Floats = np.maximum(0, bytes_kept - capacity)
    return beyond
