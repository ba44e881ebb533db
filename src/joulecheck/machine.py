"""Machines: one product as data, every figure optional."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Final

import attrs

from joulecheck.workload import Precision


def _as_operands(operands: Iterable[str]) -> frozenset[str]:
    return frozenset(operands)


@attrs.frozen
class Memory:
    """One memory of a machine."""

    bandwidth: float | None = None
    """Byte a second."""
    capacity: int | None = None
    """Byte, of one copy."""
    homes: frozenset[str] = attrs.field(default=frozenset(), converter=_as_operands)
    """The operands whose external copy lies here: "input", "weight", "output"."""
    carries: frozenset[str] = attrs.field(default=frozenset(), converter=_as_operands)
    """The operands that pass through it, every byte of them, between their home and
    the arithmetic; none where that is not known."""
    copies: int = 1
    """How many there are of it, such as one a core. The bandwidth is that of all."""
    line: int | None = None
    """Byte: of each tensor, whole lines of so many cross its edge; any number if absent."""
    term: str | None = None
    """The latency term in which its bytes pass, if that is not called like it."""


_ROUNDING: Final = 1e-9
"""Relative: amounts that differ less are equal."""

_NOTABLY: Final = 1 + 1e-4
"""A rate that is less than this times another is not called higher."""


@attrs.frozen(kw_only=True)
class Resources:
    """All that decides how fast a machine is, so that it can include another.

    An amount that units share is stated twice, for one unit and for all together: a
    machine with more units includes another only if neither is smaller.
    """

    shape: Mapping[str, Hashable]
    """What must be the same: sizes of tiles, engines, lines, lanes, and the memories."""
    rates: Mapping[str, Mapping[str, float]]
    """By latency term: all that bounds it, in whatever a second."""
    capacities: Mapping[str, float]
    """The more, the less is moved."""
    delays: Mapping[str, float]
    """The less, the sooner work starts: launch, fill, what is loaded before. One that is
    called like a latency term is in seconds, of each start."""

    def includes(self, other: Resources) -> bool:
        """Whether whatever `other` does could be done here in no more time."""
        return (
            all(self.shape.get(name) == value for name, value in other.shape.items())
            and all(
                _no_less(self.rates.get(term, {}), rates)
                for term, rates in other.rates.items()
            )
            and _no_less(self.capacities, other.capacities)
            and _no_less(other.delays, self.delays)
        )

    def higher(self, other: Resources) -> frozenset[str]:
        """The latency terms that are bounded by higher rates alone than in `other`."""
        return frozenset(
            term
            for term, rates in other.rates.items()
            if all(
                self.rates.get(term, {}).get(what, 0.0) >= rate * _NOTABLY
                for what, rate in rates.items()
            )
        )


def _no_less(amounts: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Whether no amount of `others` is missing or smaller."""
    return all(
        amounts.get(what, -1.0) >= amount * (1 - _ROUNDING)
        for what, amount in others.items()
    )


@attrs.frozen(kw_only=True)
class Machine:
    """What is known of one product. A figure that is not known is absent, never 0."""

    name: str
    architecture: str | None = None
    """Its class, such as "STORED_PROGRAM" or "SYSTOLIC_ARRAY"."""
    process_nm: float | None = None
    units: int | None = None
    """Cores or arrays."""
    clock: float | None = None
    """Hertz, sustained."""
    peak: Mapping[Precision, float] = attrs.field(factory=dict)
    """Operations a second (one MAC is two) by precision."""
    memories: Mapping[str, Memory] = attrs.field(factory=dict)
    """From the one next to the arithmetic outwards."""
    tdp: float | None = None
    """Watt."""
    idle_power: float | None = None
    """Watt."""
    quanta: tuple[int, ...] = ()
    """The sizes in elements in which the machine works: lanes, tiles, array sides."""
    sources: Mapping[str, str] = attrs.field(factory=dict)
    """Where the figures come from, by figure."""
    operating_points: tuple[str, ...] = ()
    """The names of other clocks and powers at which it runs."""
    resources: Resources | None = None
    """Only where all that decides its speed is known."""
    successor_of: tuple[str, ...] = ()
    """The names of the machines of the generation before it, which it replaces."""

    @property
    def constants(self) -> tuple[int, ...]:
        """The integers at which this machine may change its behaviour, ascending."""
        capacities = {m.capacity for m in self.memories.values() if m.capacity}
        return tuple(sorted({*capacities, *self.quanta, *filter(None, [self.units])}))
