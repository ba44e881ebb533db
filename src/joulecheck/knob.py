"""Knobs: the figures of a machine that can be turned, each giving another machine."""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import Enum

import attrs


class KnobKind(Enum):
    """What sort of figure a knob turns. The value says it in words."""

    RATE = "a rate: so much a second, such as a clock or the bandwidth of a memory"
    COUNT = "a count: equal copies of what computes, on one chip"
    CAPACITY = "the capacity of a memory"
    DELAY = "a delay: seconds that pass whatever the work, such as a launch or a fill"


def _as_terms(terms: Iterable[str] | None) -> frozenset[str] | None:
    return None if terms is None else frozenset(terms)


@attrs.frozen
class Knob:
    """A figure of a machine, and by which factors it may be multiplied.

    A model that declares rates and delays declares all of them: whatever has a second
    in its unit.
    """

    kind: KnobKind
    low: float = 0.0
    """The least factor; 0 allows every positive one."""
    high: float = math.inf
    """The greatest factor."""
    per_unit: bool = False
    """Whether each unit has its own: with more units there is more of it in all."""
    terms: frozenset[str] | None = attrs.field(default=None, converter=_as_terms)
    """Of a capacity: the energy terms of the traffic that more of it never raises, and
    the latency terms of the same names. None claims nothing."""

    def allows(self, factor: float) -> bool:
        """Whether the figure may be multiplied by `factor`: a count by whole numbers."""
        if self.kind is KnobKind.COUNT and not float(factor).is_integer():
            return False
        return 0 < factor < math.inf and self.low <= factor <= self.high

    def improved(self, factor: float) -> float:
        """The factor that makes the machine better by `factor`: delays are divided."""
        return 1 / factor if self.kind is KnobKind.DELAY else factor
