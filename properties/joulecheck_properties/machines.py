"""What a derivation does to a machine, for the domains of laws about derived ones."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose, nan
from typing import Final

import numpy as np

from joulecheck.case import Derivation
from joulecheck.knob import Knob
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most

ROUNDED: Final = 1e-12
"""Relative slack for a factor and its inverse."""


def gains(derivation: Derivation, knobs: Mapping[str, Knob]) -> list[float]:
    """By how much each knob that is turned makes the machine better; below 1, worse.

    Empty if one is turned that is not of `knobs`, or a coefficient is scaled.
    """
    factors = derivation.factors
    if derivation.scale or not factors.keys() <= knobs.keys():
        return []
    return [knobs[name].improved(factor) for name, factor in factors.items()]


def direction(derivation: Derivation, knobs: Mapping[str, Knob]) -> float:
    """1 where all that is turned is of `knobs` and for the better, -1 for the worse.

    NaN for anything else, and where nothing is turned.
    """
    found = gains(derivation, knobs)
    if found and min(found) >= 1:
        return 1.0
    return -1.0 if found and max(found) <= 1 else nan


def common_gain(derivation: Derivation, knobs: Mapping[str, Knob]) -> float:
    """By how much some of `knobs`, and nothing else, are turned alike; else NaN."""
    found = gains(derivation, knobs)
    if not found or not isclose(min(found), max(found), rel_tol=ROUNDED):
        return nan
    return found[0]


def never_more(before: Floats, after: Floats, better: Floats) -> Floats:
    """The margin of a quantity that a better machine never raises nor a worse one lowers.

    Args:
        before: on the machine as it is.
        after: on the derived one.
        better: the `direction` of each case.
    """
    smaller = np.where(better > 0, after, before)
    larger = np.where(better > 0, before, after)
    return np.where(np.isnan(better), np.nan, at_most(smaller, larger))
