"""Machines: one product as data, every figure optional."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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

    @property
    def constants(self) -> tuple[int, ...]:
        """The integers at which this machine may change its behaviour, ascending."""
        capacities = {m.capacity for m in self.memories.values() if m.capacity}
        return tuple(sorted({*capacities, *self.quanta, *filter(None, [self.units])}))
