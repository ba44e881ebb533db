"""What the operators of a layout are declared by, as arrays in case order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from joulecheck.space import Trait
from joulecheck.workload.columns import CONV2D, ELEMENTWISE, GEMM, Bools, Floats, Ints
from joulecheck_strategies.layout import FUNCTIONS, UNARY, C, H, Layout, N, Slot, W

_OF_FILTERS: Final = ("r", "s", "stride", "padding", "dilation", "groups")


def operator_fields(layout: Layout) -> dict[str, Floats | Trait]:
    """The fields of every operator, NaN where its kind has none of that name."""
    _, places = layout.places()
    size = sum(map(len, places))
    found: dict[str, Floats] = {}
    for slot, where in zip(layout.slots, places, strict=True):
        for name, (at, values) in _fields(slot).items():
            column = found.setdefault(name, np.full(size, np.nan))
            column[where[at]] = values
    codes = np.nan_to_num(found.pop("function"), nan=-1.0).astype(np.int64)
    function = Trait(codes, tuple(function.name for function in FUNCTIONS))
    return {**found, "function": function}


def _fields(slot: Slot) -> Mapping[str, tuple[Bools | Ints, Floats | Ints]]:
    """By name: which nodes of a slot have a field, and its values there."""
    reads, writes, filters = slot.input, slot.output, slot.filters
    is_gemm, is_conv = slot.kind == GEMM, slot.kind == CONV2D
    elementwise = slot.kind == ELEMENTWISE
    operands = np.where(UNARY[slot.function], 1, 2 + slot.extra)
    nodes = {
        "batch": (np.ones(len(slot.kind), dtype=bool), reads[N]),
        "m": (is_gemm, reads[H] * reads[W]),
        "n": (is_gemm, writes[C]),
        "k": (is_gemm, reads[C]),
        "c": (~is_gemm, reads[C]),
        "h": (~is_gemm, reads[H]),
        "w": (~is_gemm, reads[W]),
        "filters": (is_conv, writes[C]),
        "p": (is_conv, writes[H]),
        "q": (is_conv, writes[W]),
        "function": (elementwise, slot.function),
        "operands": (elementwise, operands),
    }
    return {
        **{name: (which, values[which]) for name, (which, values) in nodes.items()},
        **{name: (filters.at, getattr(filters, name)) for name in _OF_FILTERS},
    }
