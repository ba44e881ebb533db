"""Class archetypes: what a class of machine costs when the technology is the same.

The archetypes share process node, tables of operation, SRAM and DRAM energy, MACs a
clock, clock and capacity, all stated in `archetypes.toml`. They differ by the
mechanisms of their class alone: instructions and vector registers, warps and their
bookkeeping, a weight-stationary array, tokens of a domain and streamers.

Two rules turn the common tables into prices. A near memory is read in banks of one
64-bit word a clock: a cache is one array, the multiprocessor has its 32 banks, the
systolic array a bank for each lane or column, a domain-flow tile eight banks, which
feed its two edges of 32 bytes a clock. A byte that comes from the far memory is read
from a bank of 256 KiB, travels the same distance in every class, and is written to
near memory.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial
from importlib.resources import files
from typing import Any, Final, NamedTuple

import attrs
import numpy as np

from joulecheck.coefficient import Provenance
from joulecheck.errors import InvalidMachine, UnknownName, did_you_mean
from joulecheck.machine import Memory
from joulecheck.quantities import BITS_PER_BYTE, OPS_PER_MAC, KiB, MiB
from joulecheck.reference.data_parallel import DataParallelEnergyModel
from joulecheck.reference.domain_flow import DomainFlowEnergyModel, KPUTileEnergyAdapter
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import CoefficientRow, Engine, MachineFile, Tile
from joulecheck.reference.stored_program import StoredProgramEnergyModel
from joulecheck.reference.systolic_array import SystolicArrayEnergyModel
from joulecheck.structured import by_name, strict_converter
from joulecheck.workload import Precision
from joulecheck.workload.columns import Floats

Number = Floats | float
Values = Mapping[str, Number]
"""Parameters by name, each a float, or an array with one entry a draw."""
Price = Callable[[Values], Number]

INT8: Final = "INT8"
WORD_BYTES: Final = 8
"""The word that the SRAM table prices."""


@attrs.frozen(kw_only=True)
class Parameter:
    """One figure of the technology or of a class's own mechanism."""

    value: float
    range: tuple[float, float]
    """Its two ends; their order is that of the sources, not of size."""
    unit: str
    source: str
    provenance: Provenance = Provenance.INTERPOLATED
    """UNKNOWN where no publication states it: value and range are estimates."""
    together: str = ""
    """Parameters with the same word here move together over their ranges."""

    @property
    def assumed(self) -> bool:
        """Whether no publication states it."""
        return self.provenance is Provenance.UNKNOWN

    def at(self, quantile: Number) -> Number:
        """The value that lies so far between the ends, on a logarithmic scale."""
        first, last = self.range
        return np.asarray(first * (last / first) ** np.asarray(quantile))


@attrs.frozen(kw_only=True)
class Technology:
    """What all archetypes share; SI units."""

    format: int
    process_nm: float
    macs_per_clock: int
    clock: float
    """Hertz."""
    near_bytes: int
    far_bytes: int
    far_bank_bytes: int
    near_bandwidth: float
    """Byte a second, as the other two."""
    far_bandwidth: float
    dram_bandwidth: float
    dram_bytes: int
    static_power: float
    """Watt."""
    sources: Mapping[str, str]
    parameters: Mapping[str, Parameter]

    @property
    def nominal(self) -> dict[str, Number]:
        """The nominal value of each parameter."""
        return {name: parameter.value for name, parameter in self.parameters.items()}

    @property
    def peak(self) -> float:
        """INT8 operations a second; one MAC is two."""
        return OPS_PER_MAC * self.macs_per_clock * self.clock

    def drawn(self, rng: np.random.Generator, draws: int) -> dict[str, Number]:
        """Each parameter log-uniform over its range, (draws,); groups move as one."""
        quantiles: dict[str, Floats] = {}
        found: dict[str, Number] = {}
        for name, parameter in self.parameters.items():
            key = parameter.together or name
            if key not in quantiles:
                quantiles[key] = rng.random(draws)
            found[name] = parameter.at(quantiles[key])
        return found


@cache
def technology() -> Technology:
    """The common technology.

    Raises:
        InvalidMachine: the data file breaks a rule.
    """
    source = files("joulecheck.reference").joinpath("archetypes.toml")
    data = tomllib.loads(source.read_text(encoding="utf-8"))
    made = strict_converter()
    by_name(made, Provenance)
    found = made.structure(data, Technology)
    for name, parameter in found.parameters.items():
        low, high = sorted(parameter.range)
        if not low <= parameter.value <= high:
            msg = f"archetypes.toml: {name} must lie in {low:g} to {high:g}"
            raise InvalidMachine(msg)
    return found


class _Recorder(dict[str, Number]):
    """Parameters that remember which of them were asked for."""

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self.asked: list[str] = []

    def __getitem__(self, name: str) -> Number:
        self.asked.append(name)
        return super().__getitem__(name)


def parameters_of(price: Price) -> tuple[str, ...]:
    """The parameters that a price depends on, in the order in which it asks."""
    recorder = _Recorder(technology().nominal)
    price(recorder)
    return tuple(dict.fromkeys(recorder.asked))


def sram_read(p: Values, size: float) -> Number:
    """Joule a byte of reading an SRAM of `size` bytes.

    A power law through the two nearest rows of the table (8 KiB, 32 KiB, 1 MiB),
    carried on below the first of them.
    """
    rows = ((8 * KiB, "sram_8k"), (32 * KiB, "sram_32k"), (1 * MiB, "sram_1m"))
    (small, low), (large, high) = rows[:2] if size <= rows[1][0] else rows[1:]
    share = np.log(size / small) / np.log(large / small)
    found: Number = p[low] * (p[high] / p[low]) ** share / WORD_BYTES
    return found


def sram_write(p: Values, size: float) -> Number:
    """Joule a byte of writing an SRAM of `size` bytes."""
    return sram_read(p, size) * p["write_ratio"]


def far_write(p: Values) -> Number:
    """Joule a byte of what DRAM hands over: the write into far memory."""
    return sram_write(p, technology().far_bank_bytes)


def from_far(p: Values, near_bank: float) -> Number:
    """Joule a byte from far to near memory: read, wire and write."""
    read = sram_read(p, technology().far_bank_bytes)
    return read + p["far_distance"] * p["wire"] + sram_write(p, near_bank)


def _device(p: Values) -> Number:
    return p["dram"]


def _device_and_fill(p: Values) -> Number:
    return p["dram"] + far_write(p)


def _of(name: str) -> Price:
    return lambda p: p[name]


COMMON: Final[Mapping[str, Price]] = {
    f"mac_energy.{INT8}": _of("mac"),
    f"op_energy.{INT8}": _of("add"),
    "static_power": lambda _: technology().static_power,
}


def _registers(p: Values) -> Number:
    return p["register"] * p["write_ratio"]


def _stored_program(cores: int) -> dict[str, Price]:
    """Prices of a CPU: one instruction price for fetch, decode and dispatch."""
    near = technology().near_bytes / cores
    return {
        **COMMON,
        "fetch_energy": _of("instruction"),
        "decode_energy": lambda _: 0.0,
        "dispatch_energy": lambda _: 0.0,
        "register_read_energy": _of("register"),
        "register_write_energy": _registers,
        "l1_energy": lambda p: sram_read(p, near),
        "l3_energy": lambda p: from_far(p, near),
        "dram_energy": _device_and_fill,
    }


MULTIPROCESSORS: Final = 8
SHARED_BANKS: Final = 32
"""Of a multiprocessor: CUDA C++ Programming Guide, shared memory."""


def _data_parallel() -> dict[str, Price]:
    """Prices of a GPU: issue once a warp, and the bookkeeping of warps."""
    bank = technology().near_bytes / MULTIPROCESSORS / SHARED_BANKS

    def state(p: Values) -> Number:
        return p["warp_state"] * p["sram_8k"]

    return {
        **COMMON,
        "issue_energy": _of("warp_instruction"),
        "register_read_energy": _of("register"),
        "register_write_energy": _registers,
        "barrier_energy": lambda p: state(p) * (1 + p["write_ratio"]),
        "divergence_energy": state,
        "shared_energy": lambda p: sram_read(p, bank) + p["crossbar"] * p["wire"],
        "coalescing_energy": state,
        "l2_energy": lambda p: from_far(p, bank),
        "coherence_energy": state,
        "dram_energy": _device_and_fill,
    }


ARRAY_SIDE: Final = 128
ACCUMULATOR_ROWS: Final = 512
"""256 KiB of sums, an eighth of near memory; TPU v1 has a seventh, 4 of 28 MiB
(Jouppi et al., ISCA 2017)."""
ACCUMULATOR_BYTES: Final = ACCUMULATOR_ROWS * 4
"""Of one column."""


def _systolic_array() -> dict[str, Price]:
    """Prices of a TPU: hand-over between PEs, weight shift, accumulators."""
    lane = technology().near_bytes / ARRAY_SIDE - ACCUMULATOR_BYTES

    def accumulator(p: Values) -> Number:
        return sram_read(p, ACCUMULATOR_BYTES)

    return {
        **COMMON,
        "instruction_energy": _of("tile_instruction"),
        "forwarding_energy": _of("flip_flop"),
        "weight_shift_energy": lambda p: ARRAY_SIDE / 2 * p["flip_flop"],
        "accumulator_read_energy": accumulator,
        "accumulator_write_energy": lambda p: accumulator(p) * p["write_ratio"],
        "buffer_read_energy": lambda p: sram_read(p, lane),
        "buffer_write_energy": lambda p: sram_write(p, lane),
        "staging_energy": lambda p: from_far(p, lane),
        "dram_energy": _device_and_fill,
    }


PE_TILES: Final = 16
PE_SIDE: Final = 32
TILE_BANKS: Final = 8


def _domain_flow() -> dict[str, Price]:
    """Prices of a KPU: tags, hand-over, edges of the plane, streamers, DMA."""
    bank = technology().near_bytes / PE_TILES / TILE_BANKS
    return {
        **COMMON,
        "tracking_energy": _of("tracking"),
        "program_energy": lambda p: from_far(p, bank),
        "injection_energy": lambda p: p["edge_registers"] * _registers(p),
        "extraction_energy": lambda p: p["edge_registers"] * p["register"],
        "forwarding_energy": _of("flip_flop"),
        "accumulation_energy": _of("flip_flop"),
        "streamer_energy": lambda p: PE_SIDE / 2 * p["flip_flop"],
        "tile_energy": lambda p: sram_read(p, bank),
        "global_energy": lambda p: from_far(p, bank),
        "dma_energy": far_write,
        "dram_energy": _device,
    }


class Structure(NamedTuple):
    """How a class lays out the common MACs and capacities."""

    units: int
    quanta: tuple[int, ...]
    near: tuple[str, int]
    """The name of the near memory, and the bytes of it that the model asks for."""
    far: str
    geometry: Mapping[str, int]
    engines: tuple[Engine, ...] = ()
    tiles: tuple[Tile, ...] = ()
    vector: Mapping[Precision, int] = {}


@attrs.frozen(kw_only=True)
class Archetype:
    """A class of machine in the common technology."""

    name: str
    architecture: str
    model: type[LayeredModel]
    prices: Mapping[str, Price]
    structure: Structure
    mechanism: str
    """What the class has of its own, in words."""
    assumed_structure: str = ""
    """What of its layout no publication states; empty if all of it is published."""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """All parameters that its prices depend on."""
        names = (name for price in self.prices.values() for name in parameters_of(price))
        return tuple(dict.fromkeys(names))

    @property
    def assumed(self) -> tuple[str, ...]:
        """Those of them that no publication states."""
        known = technology().parameters
        return tuple(name for name in self.parameters if known[name].assumed)

    def scales(self, values: Values) -> dict[str, Floats]:
        """The factor of each coefficient when the parameters take these values."""
        nominal = technology().nominal
        return {
            name: np.asarray(price(values) / price(nominal))
            for name, price in self.prices.items()
            if parameters_of(price) and price(nominal)
        }

    @cached_property
    def built(self) -> LayeredModel:
        """The model of this archetype at nominal values."""
        return self.model(_machine_file(self))


def _row(name: str, price: Price) -> CoefficientRow:
    known, asked = technology().parameters, parameters_of(price)
    assumed = any(known[one].assumed for one in asked)
    source = "; ".join(f"{one}: {known[one].source}" for one in asked)
    return CoefficientRow(
        value=float(price(technology().nominal)),
        unit=UNITS.get(name.removesuffix("_energy"), "J/B"),
        source=source or "archetypes.toml",
        provenance=Provenance.UNKNOWN if assumed else Provenance.INTERPOLATED,
    )


UNITS: Final = {
    f"mac_energy.{INT8}": "J/MAC",
    f"op_energy.{INT8}": "J/op",
    "static_power": "W",
    "tracking": "J/MAC",
    "barrier": "J/arrival",
    "divergence": "J/branch",
    "coalescing": "J/request",
    "coherence": "J/sector",
    **dict.fromkeys(
        ("fetch", "decode", "dispatch", "issue", "instruction"), "J/instruction"
    ),
}
"""Of each coefficient that is no price of a byte."""


def _machine_file(archetype: Archetype) -> MachineFile:
    """The archetype as a machine file would state it."""
    t, layout = technology(), archetype.structure
    near, near_bytes = layout.near
    homes = frozenset({"input", "weight", "output"})
    return MachineFile(
        format=1,
        name=f"archetype:{archetype.name}",
        architecture=archetype.architecture,
        process_nm=t.process_nm,
        units=layout.units,
        clock=t.clock,
        idle_power=t.static_power,
        launch=0.0,
        geometry=layout.geometry,
        quanta=layout.quanta,
        peak={Precision.INT8: t.peak},
        memories={
            near: Memory(bandwidth=t.near_bandwidth, capacity=near_bytes),
            layout.far: Memory(bandwidth=t.far_bandwidth, capacity=t.far_bytes),
            "dram": Memory(t.dram_bandwidth, t.dram_bytes, homes),
        },
        engines=layout.engines,
        tiles=layout.tiles,
        vector=layout.vector,
        coefficients={name: _row(name, price) for name, price in archetype.prices.items()},
        sources=t.sources,
    )


def _engine(rows: int, columns: int, depth: int, rate: int, source: str) -> Engine:
    return Engine(Precision.INT8, rows, columns, depth, rate, source)


CORES: Final = 128
MATRIX_CORES: Final = 16
SIMD_BYTES: Final = 64


def _cores(count: int, engine: Engine, kernel_rows: int, kernel_vectors: int) -> Structure:
    return Structure(
        units=count,
        quanta=(engine.columns,),
        near=("l1", technology().near_bytes // count),
        far="l3",
        geometry={
            "simd_bytes": SIMD_BYTES,
            "vector_ports": 2,
            "kernel_rows": kernel_rows,
            "kernel_vectors": kernel_vectors,
        },
        engines=(engine,),
    )


_SIMD: Final = _engine(1, 16, 4, 128, "two VPDPBUSD of 512 bits a clock, uops.info")
_AMX: Final = _engine(16, 16, 64, 1024, "TDPBUSD, 16 x 16 x 64 MACs in 16 clocks, Intel")
_MMA: Final = _engine(
    16, 8, 32, 2048, "mma.m16n8k32, NVIDIA A100 Tensor Core GPU Architecture, 2020"
)
_DP4A: Final = _engine(1, 32, 4, 2048, "DP4A, four products a lane, CUDA C++ Guide")


def _multiprocessors(engine: Engine) -> Structure:
    blocks = ((128, 256, 64), (128, 128, 64), (64, 64, 32), (32, 16, 16), (16, 32, 16))
    return Structure(
        units=MULTIPROCESSORS,
        quanta=(engine.columns,),
        near=("shared", technology().near_bytes // MULTIPROCESSORS),
        far="l2",
        geometry={
            "warp": 32,
            "register_bytes": 4,
            "request_bytes": 512,
            "sector_bytes": 32,
            "stage_bytes": 64,
            "narrowest_bytes": 2,
        },
        engines=(engine,),
        tiles=tuple(
            Tile(rows, columns, group, group, "usual block and warp tiles of CUTLASS")
            for rows, columns, group in blocks
        ),
        vector={Precision.INT8: 128},
    )


def _array() -> Structure:
    """One array, whose activations and weights both have far memory to stay in."""
    sums = ARRAY_SIDE * ACCUMULATOR_BYTES
    buffer = technology().near_bytes - sums
    return Structure(
        units=1,
        quanta=(ARRAY_SIDE, ACCUMULATOR_ROWS),
        near=("buffer", buffer),
        far="staging",
        geometry={
            "array_side": ARRAY_SIDE,
            "accumulator_rows": ACCUMULATOR_ROWS,
            "activation_bytes": technology().far_bytes,
            "weight_bytes": technology().far_bytes,
            "stages_activations": 1,
            "vector_ops_per_clock": ARRAY_SIDE * BITS_PER_BYTE,
        },
    )


def _plane() -> Structure:
    side = PE_SIDE
    source = "32 x 32 PEs, one INT8 MAC each a clock; assumed, no silicon is published"
    return Structure(
        units=PE_TILES,
        quanta=(side,),
        near=("tile", technology().near_bytes),
        far="global",
        geometry={"program_bytes": 256},
        engines=(_engine(side, side, 1, side * side, source),),
    )


_NO_SILICON: Final = "no domain-flow silicon is measured in public"


def _domain(name: str, model: type[LayeredModel], mechanism: str) -> Archetype:
    return Archetype(
        name=name,
        architecture="DOMAIN_FLOW",
        model=model,
        prices=_domain_flow(),
        structure=_plane(),
        mechanism=mechanism,
        assumed_structure=_NO_SILICON,
    )


def _tpu(mechanism: str) -> Archetype:
    return Archetype(
        name="TPU",
        architecture="SYSTOLIC_ARRAY",
        model=SystolicArrayEnergyModel,
        prices=_systolic_array(),
        structure=_array(),
        mechanism=mechanism,
    )


def _cpu(name: str, cores: int, structure: Structure, mechanism: str) -> Archetype:
    return Archetype(
        name=name,
        architecture="STORED_PROGRAM",
        model=StoredProgramEnergyModel,
        prices=_stored_program(cores),
        structure=structure,
        mechanism=mechanism,
    )


def _gpu(name: str, engine: Engine, mechanism: str) -> Archetype:
    return Archetype(
        name=name,
        architecture="DATA_PARALLEL",
        model=DataParallelEnergyModel,
        prices=_data_parallel(),
        structure=_multiprocessors(engine),
        mechanism=mechanism,
    )


RANKED: Final = ("TPU", "KPU", "GPU", "CPU")
"""The stated order, least energy first."""


@cache
def _archetypes() -> dict[str, Archetype]:
    array = "one weight-stationary array of 128 x 128, accumulators of 512 rows"
    simd, amx = _cores(CORES, _SIMD, 6, 2), _cores(MATRIX_CORES, _AMX, 16, 1)
    found = (
        _tpu(array),
        _domain("KPU", KPUTileEnergyAdapter, "16 tiles of 32 x 32 PEs, whole tiles"),
        _gpu("GPU", _MMA, "8 multiprocessors, warps on a matrix engine 16 x 8 x 32"),
        _cpu("CPU", CORES, simd, "128 out-of-order cores, two 512-bit SIMD units each"),
        _domain("KPU-seamless", DomainFlowEnergyModel, "the same PEs as one plane"),
        _gpu("GPU-lanes", _DP4A, "the same with DP4A in the lanes, no matrix engine"),
        _cpu("CPU-matrix", MATRIX_CORES, amx, "16 cores with a matrix engine each"),
    )
    return {archetype.name: archetype for archetype in found}


def archetype_names() -> tuple[str, ...]:
    """All archetypes: those of the order, then the ones that are reported beside it."""
    return tuple(_archetypes())


def archetype(name: str) -> Archetype:
    """One archetype.

    Raises:
        UnknownName: there is none of that name.
    """
    known = _archetypes()
    if name not in known:
        msg = f"no archetype is called {name!r}: {did_you_mean(name, known)}"
        raise UnknownName(msg)
    return known[name]


def _built(name: str) -> LayeredModel:
    return archetype(name).built


MODELS: Final[Mapping[str, Callable[[], LayeredModel]]] = {
    name: partial(_built, name) for name in archetype_names()
}
"""The family `archetype:` of the entry point."""


def device_share(chosen: Archetype, values: Values) -> Number:
    """What of its `dram_energy` is spent outside the chip; the rest fills far memory."""
    share: Any = values["dram"] / chosen.prices["dram_energy"](values)
    return np.asarray(share)
