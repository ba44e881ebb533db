"""Machine files: TOML data with a source for every figure, validated on load."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

import attrs
from cattrs import Converter
from cattrs.errors import BaseValidationError

from joulecheck.coefficient import Coefficient, Provenance
from joulecheck.errors import InvalidMachine, UnknownName, did_you_mean
from joulecheck.machine import Machine, Memory
from joulecheck.reference.resources import resources_of
from joulecheck.structured import by_name, explained, strict_converter
from joulecheck.workload import Precision

_FOLDER: Final = files("joulecheck.reference").joinpath("machines")

FORMAT: Final = 1
"""The number that a machine file states as its `format`."""


@attrs.frozen
class Engine:
    """One execution unit of a core at one precision, as a tile of MACs."""

    precision: Precision
    rows: int
    """M of one instruction's tile."""
    columns: int
    """N of it."""
    depth: int
    """K of it."""
    macs_per_clock: int
    """Of one core, all ports together."""
    source: str
    units: int | None = None
    """How many of the machine's units have it; all, where absent."""

    @property
    def macs(self) -> int:
        """Of one instruction."""
        return self.rows * self.columns * self.depth


@attrs.frozen
class Tile:
    """An output tile of a GEMM that one core computes, and how its operands are shared."""

    rows: int
    """M of it."""
    columns: int
    """N of it."""
    group_rows: int
    """M of the part of it whose operands are read from near memory together."""
    group_columns: int
    """N of that part."""
    source: str
    cluster_rows: int = 1
    """Tiles one below the other whose common operand is sent to all of them at once."""


@attrs.frozen
class CoefficientRow:
    """A coefficient as a machine file states it, in SI units."""

    value: float
    unit: str
    source: str
    provenance: Provenance


@attrs.frozen(kw_only=True)
class Link:
    """How equal chips of a machine reach each other, in a ring."""

    bandwidth: float
    """Byte a second that a chip sends to the next one."""
    latency: float
    """Second that a step of a ring takes beside its bytes."""
    chips: int
    """How many it joins at most."""
    energy: CoefficientRow
    """Of a byte from one chip to the next, at both ends."""
    sources: Mapping[str, str]
    """Where the other figures come from, by figure."""


@attrs.frozen(kw_only=True)
class OperatingPoint:
    """Another clock and power at which a machine runs, and what changes with them.

    The peaks and the rates of the memories on the chip go with the clock and the
    units. An event costs the same energy: the supply is taken as nominal.
    """

    clock: float
    """Hertz."""
    units: int | None = None
    """Where some of them are off."""
    tdp: float | None = None
    """Watt."""
    memory_rate: float = 1.0
    """That of the memories outside the chip, over the one that the file states."""
    source: str


@attrs.frozen(kw_only=True)
class MachineFile:
    """The content of a machine file."""

    format: int
    name: str
    architecture: str
    process_nm: float
    units: int
    clock: float
    """Hertz, sustained, at which the peaks hold."""
    idle_power: float
    """Watt."""
    launch: float
    """Second before a piece of work starts."""
    tdp: float | None = None
    """Watt; absent where the vendor publishes none."""
    geometry: Mapping[str, int]
    """The sizes that a class of machines has: lanes, array side, buffers in bytes."""
    quanta: tuple[int, ...]
    successor_of: tuple[str, ...] = ()
    """The machines of the generation before it, by the names of their files."""
    peak: Mapping[Precision, float]
    """Operations a second; one MAC is two."""
    memories: Mapping[str, Memory]
    engines: tuple[Engine, ...] = ()
    tiles: tuple[Tile, ...] = ()
    vector: Mapping[Precision, int] = attrs.field(factory=dict)
    """Elementwise results a clock of one core, where the engines do not tell."""
    coefficients: Mapping[str, CoefficientRow]
    sources: Mapping[str, str]
    link: Link | None = None
    """Absent where the chips of a machine do not work together."""
    operating_points: Mapping[str, OperatingPoint] = attrs.field(factory=dict)
    """By name; the file itself states one point in full."""

    @property
    def machine(self) -> Machine:
        """What the harness needs to know of it."""
        return Machine(
            name=self.name,
            architecture=self.architecture,
            process_nm=self.process_nm,
            units=self.units,
            clock=self.clock,
            peak=self.peak,
            memories=self.memories,
            tdp=self.tdp,
            idle_power=self.idle_power,
            quanta=self.quanta,
            sources=self.sources,
            operating_points=tuple(self.operating_points),
            resources=resources_of(self),
            successor_of=self.successor_of,
        )

    def at(self, name: str) -> MachineFile:
        """The machine at one of its operating points, called MACHINE@POINT.

        Raises:
            UnknownName: it has no such point.
        """
        if name not in self.operating_points:
            points = ", ".join(self.operating_points)
            known = f"it has {points}" if points else "its file states one point only"
            msg = f"{self.name} has no operating point {name!r}: {known}"
            raise UnknownName(msg)
        point = self.operating_points[name]
        units = point.units or self.units
        rate = units * point.clock / (self.units * self.clock)
        return attrs.evolve(
            self,
            name=f"{self.name}@{name}",
            units=units,
            clock=point.clock,
            tdp=point.tdp,
            peak={precision: peak * rate for precision, peak in self.peak.items()},
            memories={
                key: _faster(memory, point.memory_rate if memory.homes else rate)
                for key, memory in self.memories.items()
            },
            operating_points={},
            successor_of=(),
        )

    def coefficient(self, name: str, terms: frozenset[str]) -> Coefficient:
        """One of its coefficients, with the energy terms that a model says it moves."""
        row = self.coefficients[name]
        return Coefficient(name, row.value, row.unit, terms, row.source, row.provenance)


def _faster(memory: Memory, rate: float) -> Memory:
    if memory.bandwidth is None:
        return memory
    return attrs.evolve(memory, bandwidth=memory.bandwidth * rate)


@cache
def load_machine(name: str) -> MachineFile:
    """The machine file of that name, validated; NAME@POINT is one of its points.

    Raises:
        UnknownName: there is no such machine, or it has no such point.
        InvalidMachine: a key is missing, unknown or of the wrong type, the format is
            not the one that this version reads, or the figures contradict each other.
    """
    base, at, point = name.rpartition("@")
    if at:
        return load_machine(base).at(point)
    if name not in machine_names():
        msg = f"no machine file is called {name!r}: {did_you_mean(name, machine_names())}"
        raise UnknownName(msg)
    source = _FOLDER.joinpath(f"{name}.toml")
    return parse_machine(source.read_text(encoding="utf-8"), name)


@cache
def machine_names() -> frozenset[str]:
    """The machines that have a file."""
    return frozenset(file.name.removesuffix(".toml") for file in _FOLDER.iterdir())


def parse_machine(text: str, name: str) -> MachineFile:
    """A machine from the text of its file. `name` is for messages.

    Raises:
        InvalidMachine: see `load_machine`.
    """
    try:
        data = tomllib.loads(text)
        _check_format(data, name)
        loaded = _READER.structure(data, MachineFile)
    except (tomllib.TOMLDecodeError, BaseValidationError) as error:
        msg = f"machine file {name}: {explained(error)}"
        raise InvalidMachine(msg) from error
    _check_peaks(loaded)
    return loaded


def _reader() -> Converter:
    """What reads the data of a file, with the code for its classes generated."""
    made = strict_converter()
    by_name(made, Precision)
    for kind in (MachineFile, Engine, Tile):  # members of a tuple are generated late
        made.get_structure_hook(kind)
    return made


_READER: Final = _reader()
"""Made on import and not on the first load, for that takes longer than to read a file."""


def _check_format(data: Mapping[str, Any], name: str) -> None:
    found = data.get("format")
    if found != FORMAT:
        msg = (
            f"machine file {name}: format must be {FORMAT}, got {found!r}; "
            f"read it with the joulecheck that it was written for"
        )
        raise InvalidMachine(msg)


PEAK_TOLERANCE: Final = 0.02


def _check_peaks(loaded: MachineFile) -> None:
    """Hold peak = units x MACs a clock x 2 x clock within 2 %, where engines say."""
    for precision, stated in loaded.peak.items():
        engines = [e for e in loaded.engines if e.precision is precision]
        if not engines:
            continue
        per_clock = max(e.macs_per_clock * (e.units or loaded.units) for e in engines)
        derived = 2 * per_clock * loaded.clock
        if abs(stated - derived) > PEAK_TOLERANCE * stated:
            msg = (
                f"machine file {loaded.name}: peak {precision.name} must be units x "
                f"ops a clock x clock = {derived:.4g} op/s within 2 %, got {stated:.4g}"
            )
            raise InvalidMachine(msg)
