"""Machines derived from others: a figure of a machine file times a factor.

A knob is called like the figure: `clock`, `units`, `launch`, `NAME.bandwidth` and
`NAME.capacity`. The peaks follow the clock and the units. With more units come the
rates of the memories on the chip, as at an operating point; their capacities stay what
the file states, each or all together. The clock of the arithmetic moves no memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from joulecheck.errors import Unsupported
from joulecheck.machine import Memory
from joulecheck.reference.machine_file import Engine, MachineFile

UNITS: Final = "units"

MESH: Final = "mesh_columns"
"""The side of a mesh along which it grows with its units."""

SIZES: Final = {
    "activation_bytes": "activations.capacity",
    "weight_bytes": "weights.capacity",
    "accumulator_rows": "accumulators.capacity",
}
"""Capacities that a file states as geometry, with their knobs."""


def derived(data: MachineFile, factors: Mapping[str, float]) -> MachineFile:
    """The machine with each named figure times its factor.

    It has no published power and no operating points.

    Raises:
        Unsupported: a number of units is not whole.
    """
    units = factors.get(UNITS, 1.0)
    rate = units * factors.get("clock", 1.0)
    geometry = {
        name: _resized(size, factors.get(SIZES.get(name, ""), 1.0))
        for name, size in data.geometry.items()
    }
    if MESH in geometry:
        geometry[MESH] = _whole(f"{data.name}.{MESH}", geometry[MESH], units)
    return attrs.evolve(
        data,
        name=f"{data.name} with {_named(factors)}",
        units=_whole(f"{data.name}.units", data.units, units),
        clock=data.clock * factors.get("clock", 1.0),
        launch=data.launch * factors.get("launch", 1.0),
        tdp=None,
        peak={precision: peak * rate for precision, peak in data.peak.items()},
        engines=tuple(_more(data.name, engine, units) for engine in data.engines),
        geometry=geometry,
        memories={
            name: _turned(name, memory, factors, units)
            for name, memory in data.memories.items()
        },
        operating_points={},
    )


def _named(factors: Mapping[str, float]) -> str:
    return ", ".join(f"{name} x {factor:g}" for name, factor in sorted(factors.items()))


def _whole(what: str, count: int, factor: float) -> int:
    if not (count * factor).is_integer():
        msg = f"{what} must stay a whole number, got {count} x {factor:g}"
        raise Unsupported(msg)
    return int(count * factor)


def _more(name: str, engine: Engine, factor: float) -> Engine:
    if engine.units is None:
        return engine
    what = f"{name}, engines of {engine.precision.name}: units"
    return attrs.evolve(engine, units=_whole(what, engine.units, factor))


def _turned(
    name: str, memory: Memory, factors: Mapping[str, float], units: float
) -> Memory:
    rate = factors.get(f"{name}.bandwidth", 1.0) * (1.0 if memory.homes else units)
    size = factors.get(f"{name}.capacity", 1.0)
    return attrs.evolve(
        memory,
        bandwidth=None if memory.bandwidth is None else memory.bandwidth * rate,
        capacity=None if memory.capacity is None else _resized(memory.capacity, size),
    )


def _resized(size: int, factor: float) -> int:
    """A number of bytes or rows times a factor, rounded down, at least one."""
    return size if factor == 1.0 else max(1, int(size * factor))
