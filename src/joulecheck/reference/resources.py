"""What of a machine file decides the speed of a machine, for `Machine.resources`.

An amount that units share is stated for one of them and for all. Capacities are
stated as the models of the class read them: those of one unit, or of all together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from joulecheck.machine import Memory, Resources

if TYPE_CHECKING:
    from joulecheck.reference.machine_file import MachineFile

COMPUTE: Final[Mapping[str, str]] = {
    "ADAPTIVE_DATAPATH": "tiles",
    "DATA_FLOW_MACHINE": "elements",
    "DATA_PARALLEL": "compute",
    "DOMAIN_FLOW": "plane",
    "SPATIAL_PARTITION": "engine",
    "STORED_PROGRAM": "compute",
    "SYSTOLIC_ARRAY": "array",
}
"""By class: the latency term of its arithmetic."""

LOADING: Final[Mapping[str, str]] = {"configuration": "loading"}
"""The latency term of a memory that is not called like it."""

SHAPES: Final = frozenset(
    {
        "array_side",
        "kernel_rows",
        "kernel_vectors",
        "mesh_columns",
        "mesh_rows",
        "narrowest_bytes",
        "register_bytes",
        "request_bytes",
        "sector_bytes",
        "simd_bytes",
        "stage_bytes",
        "stages_activations",
        "tag_bytes",
        "warp",
        "word_bytes",
    }
)
"""Sizes of a geometry in which work is cut."""

SHARED: Final = ("activation_bytes", "weight_bytes")
"""Capacities in a geometry, of all units together."""

PRIVATE: Final = ("accumulator_rows",)
"""Capacities in a geometry, of one unit."""

VECTOR: Final[Mapping[str, str]] = {
    "vector_ports": "compute",
    "vector_ops_per_clock": "vector",
}
"""Rates in a geometry and their latency terms; the first is of one unit."""

DELAYS: Final = ("barrier_cycles", "configuration_bytes", "program_bytes")
"""What passes before work starts; a configuration serves several runs."""


def resources_of(data: MachineFile) -> Resources:
    """The resources of a machine, from its file."""
    return Resources(
        shape={
            "architecture": data.architecture,
            "memories": tuple((name, m.homes) for name, m in data.memories.items()),
            "tiles": tuple(_tile(data)),
            **{p.name: _engines(data, p.name) for p in data.peak},
            **{name: size for name, size in data.geometry.items() if name in SHAPES},
        },
        rates=_rates(data),
        capacities=dict(_capacities(data)),
        delays={"launch": data.launch, **_delays(data)},
    )


def _tile(data: MachineFile) -> Iterator[tuple[int, ...]]:
    for tile in data.tiles:
        group = (tile.group_rows, tile.group_columns)
        yield (tile.rows, tile.columns, *group, tile.cluster_rows)


def _engines(data: MachineFile, precision: str) -> tuple[tuple[int, ...], ...]:
    """The tiles of MACs of the engines that a precision runs on."""
    engines = (e for e in data.engines if e.precision.name == precision)
    return tuple((e.rows, e.columns, e.depth) for e in engines)


def _shared(what: str, amount: float, units: int) -> Iterator[tuple[str, float]]:
    """An amount of all units together, and the share of one."""
    yield f"{what} in all", amount
    yield f"{what} a unit", amount / units


def _rates(data: MachineFile) -> dict[str, dict[str, float]]:
    compute = COMPUTE[data.architecture]
    found: dict[str, dict[str, float]] = {compute: {"clock": data.clock}}

    def add(term: str, what: str, amount: float, units: int = data.units) -> None:
        found.setdefault(term, {}).update(_shared(what, amount, units))

    for precision, peak in data.peak.items():
        add(compute, f"peak {precision.name}", peak)
    for rank, engine in enumerate(data.engines):
        units = engine.units or data.units
        what = f"{engine.precision.name} on engine {rank}"
        add(compute, what, engine.macs_per_clock * units * data.clock, units)
    for precision, results in data.vector.items():
        add(compute, f"vector {precision.name}", results * data.units * data.clock)
    for what, term in VECTOR.items():
        if what in data.geometry:
            units = data.units if what == "vector_ports" else 1
            add(term, what, data.geometry[what] * units * data.clock)
    for name, memory in data.memories.items():
        if memory.bandwidth is not None:
            add(LOADING.get(name, name), "bandwidth", memory.bandwidth)
    return found


def _capacities(data: MachineFile) -> Iterator[tuple[str, float]]:
    private = _private_memories(data)
    for name, memory in data.memories.items():
        if memory.capacity is None:
            continue
        if memory.homes or name in private:
            yield name, memory.capacity
        else:
            yield from _shared(name, memory.capacity, data.units)
    for what in SHARED:
        if what in data.geometry:
            yield from _shared(what, data.geometry[what], data.units)
    for what in PRIVATE:
        if what in data.geometry:
            yield what, data.geometry[what]


def _private_memories(data: MachineFile) -> frozenset[str]:
    """The memories whose capacity is stated for one unit."""
    if data.architecture == "DATA_PARALLEL":
        return frozenset({"shared"})
    if data.architecture == "STORED_PROGRAM":
        return frozenset([*filter(lambda m: not _is_outside(data, m), data.memories)][:-1])
    return frozenset()


def _is_outside(data: MachineFile, name: str) -> bool:
    memory: Memory = data.memories[name]
    return bool(memory.homes)


def _delays(data: MachineFile) -> dict[str, float]:
    runs = data.geometry.get("runs_per_configuration", 1)
    stated = {what: data.geometry[what] for what in DELAYS if what in data.geometry}
    return {
        what: amount / runs if what == "configuration_bytes" else float(amount)
        for what, amount in stated.items()
    }
