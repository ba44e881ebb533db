"""How margins are formed: relative differences that are NaN where nothing is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from joulecheck.coefficient import Layer
from joulecheck.workload.columns import Floats

ROUNDING: Final = 1e-9
"""Relative slack for sums of floats in another order, and for nothing else."""


def equality(actual: Floats, expected: Floats, tolerance: float) -> Floats:
    """`tolerance` less the relative difference of two arrays."""
    return tolerance - np.abs(actual - expected) / _scale(actual, expected)


def at_most(smaller: Floats, larger: Floats, tolerance: float = ROUNDING) -> Floats:
    """How far `smaller` stays below `larger`, relative, with a little slack."""
    return tolerance + (larger - smaller) / _scale(smaller, larger)


def least(margins: Iterable[Floats], size: int) -> Floats:
    """The least of several margins of each case; NaN only where all are."""
    found: Floats = np.fmin.reduce([np.full(size, np.nan), *margins])
    return found


def never_falling(prefixes: Mapping[Layer, Floats], size: int) -> Floats:
    """The least margin of each prediction up to a layer against the one before it."""
    margins = []
    before = np.full(size, np.nan)
    for layer in Layer:
        if layer in prefixes:
            here = prefixes[layer]
            margins.append(at_most(before, here))
            before = np.where(np.isnan(here), before, here)
    return least(margins, size)


def _scale(one: Floats, other: Floats) -> Floats:
    scale = np.maximum(np.abs(one), np.abs(other))
    return np.where(scale == 0, 1.0, scale)
