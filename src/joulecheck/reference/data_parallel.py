"""Data-parallel machines: streaming multiprocessors (SMs) that run warps in lock step.

Every operator is a kernel. A GEMM is cut into output tiles, one thread block each, and
the blocks run in waves over the SMs; K is not split. Within a block, groups of warps
(a warp, a warpgroup or the whole block, by generation) share the operands that they
read from shared memory; an engine executes one warp instruction as a small tile of
MACs. A convolution is an implicit GEMM: shared memory holds its input once for every
tap of the filter, while L2 serves each element once a pass.

The tiles and engines are fixed lists of the machine. A count of events is the least
over them, each count by itself; time is the least over the tiles of the longest
resource, for one tile must serve all of them. Counts may therefore belong to another
tile than the time, which errs towards little energy, keeps energy and latency monotone
and the mapping independent of all prices. Lanes that lie beyond the edge of a matrix
idle: they cost time and instructions, but no arithmetic.

An engine of one row is the lanes of a warp: they take any results, so a warp fills up
whatever the shape. One operand of a lane comes from its reuse cache, the other and the
sum from the register file. A matrix engine is a rectangle that small shapes waste.

Where such an engine is the only one of a narrow format, the hardware can still run it
on the lanes of a wider one: FP8 and FP4 are unpacked to FP16 pairs, INT4 to bytes, TF32
is FP32 and bytes become FP32, whose sums are exact below 2^24, where a machine has
fewer integer lanes. The unpacking is not counted. So no format is slower than a wider
one on the shapes that a matrix engine wastes. In elementwise functions, formats
narrower than a lane are computed as pairs of 16 bits (Valhall packs bytes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Final, NamedTuple

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.composition import Each, Max, Sum
from joulecheck.estimate import Estimate
from joulecheck.machine import Memory
from joulecheck.model import UNSCALED, Scales
from joulecheck.quantities import BITS_PER_BYTE
from joulecheck.reference.layered import (
    Coefficients,
    LayeredModel,
    Rates,
    dearest,
    widths_of,
)
from joulecheck.reference.machine_file import Engine, Tile
from joulecheck.reference.stalls import stalled
from joulecheck.reference.traffic import Operands, smooth_traffic, spills
from joulecheck.workload import Precision
from joulecheck.workload.columns import (
    PARTIAL_SUM_BYTES,
    PRECISIONS,
    Floats,
    Ints,
    tensor_bytes,
)

LEVELS: Final = ("shared", "l2", "dram")
"""From the SM outwards; the traffic of a level crosses from it towards the SM."""

LANE_OPERANDS: Final = 2
"""Registers that a lane reads: both operands of an elementwise function, or the sum and
one operand of a multiply-accumulate. It writes one."""


class Unit(NamedTuple):
    """An engine as arrays: of all precisions, or picked for each operator."""

    rows: Floats
    columns: Floats
    depth: Floats
    macs_per_clock: Floats

    @property
    def clocks(self) -> Floats:
        """Of an SM, for one instruction."""
        return self.rows * self.columns * self.depth / self.macs_per_clock


class Events(NamedTuple):
    """What an execution counts, each (ops,) and then (cases,)."""

    macs: Floats
    other_ops: Floats
    instructions: Floats
    """Of warps: MAC tiles, vector operations, and requests to memories."""
    register_reads: Floats
    """Bytes."""
    register_writes: Floats
    """Bytes."""
    barriers: Floats
    """Arrivals of a group of warps."""
    branches: Floats
    """Of warps, at which their lanes may part."""
    cycles: Floats
    """Of an SM, in which one of its engines is busy."""
    requests: Floats
    """Of warps to global memory, which are coalesced into sectors."""
    sectors: Floats
    """Looked up in L2, where the SMs' views of memory meet."""
    shared: Floats
    """Bytes between shared memory and the engines."""
    l2: Floats
    """Bytes between L2 and the SMs."""
    dram: Floats
    """Bytes; no level carries less than the one beyond it."""


class DataParallelEnergyModel(LayeredModel):
    """Energy and latency of a GPU.

    Latency is, kernel by kernel, the launch and the longest of the waves of tiles on
    the engines, shared memory, L2 and DRAM: all of them overlap perfectly.
    """

    term_layers: ClassVar = {
        "alu": Layer.ALU,
        "issue": Layer.REGISTER,
        "register": Layer.REGISTER,
        "control": Layer.REGISTER,
        "clock": Layer.REGISTER,
        "shared": Layer.SCRATCHPAD,
        "coalescing": Layer.SCRATCHPAD,
        "l2": Layer.ON_CHIP,
        "coherence": Layer.ON_CHIP,
        "dram": Layer.DRAM,
        "static": Layer.STATIC,
    }
    latency_layers: ClassVar = {
        "compute": Layer.ALU,
        "launch": Layer.REGISTER,
        "shared": Layer.SCRATCHPAD,
        "l2": Layer.ON_CHIP,
        "dram": Layer.DRAM,
    }
    latency_composition = Each(Sum("launch", Max("compute", *LEVELS)))
    subtotals: ClassVar = {
        "all_compute": ("alu",),
        "all_movement": ("register", *LEVELS),
        "all_control": ("issue", "control", "clock", "coalescing", "coherence"),
        "dynamic": ("all_compute", "all_movement", "all_control"),
    }
    moves: ClassVar = {
        "mac_energy": frozenset({"alu"}),
        "op_energy": frozenset({"alu"}),
        "issue_energy": frozenset({"issue"}),
        "register_read_energy": frozenset({"register"}),
        "register_write_energy": frozenset({"register"}),
        "barrier_energy": frozenset({"control"}),
        "divergence_energy": frozenset({"control"}),
        "clock_energy": frozenset({"clock"}),
        "shared_energy": frozenset({"shared"}),
        "coalescing_energy": frozenset({"coalescing"}),
        "l2_energy": frozenset({"l2"}),
        "coherence_energy": frozenset({"coherence"}),
        "dram_energy": frozenset({"dram"}),
        "static_power": frozenset({"static"}),
    }
    saves: ClassVar = {"l2": frozenset({"coalescing", "coherence", "dram"})}

    def _passed(self, name: str, memory: Memory) -> Memory:
        """Every SM has its own shared memory; the others hand over whole sectors."""
        near = name == "shared"
        line = None if near else self.data.geometry["sector_bytes"]
        copies = self.data.units if near else 1
        return attrs.evolve(super()._passed(name, memory), copies=copies, line=line)

    @property
    def resident(self) -> dict[str, float]:
        """What fits L2 comes from DRAM once."""
        sector = self.data.geometry["sector_bytes"]
        return {"dram": self.l2_capacity // sector * sector}

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer a batch with arrays, one entry a case."""
        e = Coefficients(self.coefficients, scales)
        events, latency_terms, latency, latency_through = self._execute(cases)
        through, subtotals = self._through(cases, events, latency, e)
        return Estimate(
            energy=through[Layer.STATIC],
            latency=latency,
            utilisation=cases.ops / (latency * self.peak[cases.precision]),
            energy_terms=self._energy_terms(cases, events, latency, e),
            latency_terms=latency_terms,
            through=through,
            latency_through=latency_through,
            subtotals=subtotals,
            traffic={level: getattr(events, level) for level in LEVELS},
            events=self.told(lambda: _counts(events, latency), cases),
        )

    def _energy_terms(
        self, cases: Cases, events: Events, latency: Floats, e: Coefficients
    ) -> dict[str, Floats]:
        """Joule by term: each event times its energy."""
        found = {
            "alu": events.macs * e.by_precision("mac_energy", cases.precision)
            + events.other_ops * e.by_precision("op_energy", cases.precision),
            "issue": events.instructions * e["issue_energy"],
            "register": events.register_reads * e["register_read_energy"]
            + events.register_writes * e["register_write_energy"],
            "control": events.barriers * e["barrier_energy"]
            + events.branches * e["divergence_energy"],
            "clock": events.cycles * e.get("clock_energy"),
            "shared": events.shared * e["shared_energy"],
            "coalescing": events.requests * e["coalescing_energy"],
            "l2": events.l2 * e["l2_energy"],
            "coherence": events.sectors * e["coherence_energy"],
            "dram": events.dram * e["dram_energy"],
            "static": latency * e["static_power"],
        }
        return {term: found[term] for term in self.layers}

    def _through(
        self, cases: Cases, events: Events, latency: Floats, e: Coefficients
    ) -> tuple[dict[Layer, Floats], dict[str, Floats]]:
        """Joule up to and with each layer, and sub-totals, by the journey of each byte.

        Not a sum of the terms. Inside the SM every warp instruction pays its issue, the
        registers that a mean instruction touches and the mean cycles that an engine is
        busy with one. Outside, let Q_s >= Q_2 >= Q_d be
        the bytes that cross shared memory, L2 and DRAM, and let r bytes make a request
        and c bytes a sector. A byte that shared memory serves pays e_s; one from L2
        also its share of a request, of the look-up of a sector, and e_2; one from DRAM
        also e_d. Q_s - Q_2 bytes make the first journey, Q_2 - Q_d the second and Q_d
        the third, and by summation by parts

            sum of journeys = Q_s e_s + (Q_2 / r) e_req + Q_2 e_2 + (Q_2 / c) e_coh
                              + Q_d e_d.
        """
        alu, issue, registers = _inside(cases, events, e)
        core = alu + (issue + registers)
        per_request = 1 / self.data.geometry["request_bytes"]
        per_sector = 1 / self.data.geometry["sector_bytes"]
        near = e["shared_energy"]
        reached = near + per_request * e["coalescing_energy"]
        chip = reached + e["l2_energy"] + per_sector * e["coherence_energy"]
        home = (events.shared - events.l2, events.l2 - events.dram, events.dram)
        prices = {
            Layer.SCRATCHPAD: (near, reached, reached),
            Layer.ON_CHIP: (near, chip, chip),
            Layer.DRAM: (near, chip, chip + e["dram_energy"]),
        }
        found = {Layer.ALU: alu, Layer.REGISTER: core}
        for layer, journeys in prices.items():
            found[layer] = core + sum(
                served * price for served, price in zip(home, journeys, strict=True)
            )
        found[Layer.STATIC] = found[Layer.DRAM] + e["static_power"] * latency
        looked_up = (
            per_request * e["coalescing_energy"] + per_sector * e["coherence_energy"]
        )
        carried = near + e["l2_energy"]
        moved = zip(home, (near, carried, carried + e["dram_energy"]), strict=True)
        subtotals = {
            "all_compute": alu,
            "all_movement": registers + sum(served * price for served, price in moved),
            "all_control": issue + (home[1] + home[2]) * looked_up,
            "dynamic": found[Layer.DRAM],
        }
        return found, subtotals

    def _execute(
        self, cases: Cases
    ) -> tuple[Events, dict[str, Floats], Floats, dict[Layer, Floats]]:
        """Events, seconds by term, in all and up to each layer, of each case."""
        ops = cases.operators
        kernels = Kernels(self, cases)
        events = kernels.events()
        longest, busy = kernels.times(events)
        launch = np.full(len(ops), self.data.launch)
        terms = {name: ops.per_case(time) for name, time in busy.items()}
        terms["launch"] = ops.per_case(launch)
        return (
            Events(*map(ops.per_case, events)),
            terms,
            ops.per_case(longest + launch),
            stalled(ops, self.latency_layers, busy, {"launch": launch}),
        )

    def _greatest_rates(
        self, precision: Precision, e: Mapping[str, float]
    ) -> Iterator[Rates]:
        """Vectors of results or MACs, the steps of tiles, requests, and all memories."""
        g, sms = self.data.geometry, self.data.units * self.data.clock
        width = max(precision.bits / BITS_PER_BYTE, g["narrowest_bytes"])
        packed = g["warp"] * max(1, g["register_bytes"] / width)
        operand = self._operand_bytes(precision)
        results = self.data.vector[precision] * sms
        engines = [x for x in self.data.engines if x.precision is precision]
        vectors = {
            f"op_energy.{precision.name}": results,
            "divergence_energy": results / packed,
        } | _issued(results / packed, LANE_OPERANDS * operand, operand)
        macs = [self._mac_rates(engine, sms) for engine in engines]
        yield dearest(e, vectors, *macs)
        if "clock_energy" in self.data.coefficients:
            yield {"clock_energy": sms}
        steps = sms * self._steps_per_clock(engines)
        yield {"barrier_energy": steps, "divergence_energy": steps}
        moved = {level: self.bandwidth(level) for level in LEVELS}
        yield {f"{level}_energy": bandwidth for level, bandwidth in moved.items()}
        requests = moved["l2"] / g["request_bytes"]
        yield {
            "issue_energy": moved["shared"] / g["request_bytes"] + requests,
            "coalescing_energy": requests,
            "coherence_energy": moved["l2"] / g["sector_bytes"],
        }

    def _operand_bytes(self, precision: Precision) -> float:
        """Bytes of one register of all lanes of a warp."""
        geometry, width = self.data.geometry, precision.bits / BITS_PER_BYTE
        return float(geometry["warp"] * max(geometry["register_bytes"], width))

    def _mac_rates(self, engine: Engine, sms: float) -> dict[str, float]:
        """Rates of an engine that is never idle, on all SMs."""
        precision, macs = engine.precision, engine.macs_per_clock * sms
        width, operand = precision.bits / BITS_PER_BYTE, self._operand_bytes(precision)
        reads, writes = LANE_OPERANDS * operand, operand
        if engine.rows > 1:
            partial = float(PARTIAL_SUM_BYTES[PRECISIONS.index(precision)])
            writes = engine.rows * engine.columns * partial
            a = max(operand, engine.rows * engine.depth * width)
            reads = a + max(operand, engine.columns * engine.depth * width) + writes
        warps = macs / engine.macs
        return {f"mac_energy.{precision.name}": macs} | _issued(warps, reads, writes)

    def _steps_per_clock(self, engines: Sequence[Engine]) -> float:
        """Steps of groups of warps that one SM can go through in a clock."""
        found = []
        for tile in self.data.tiles:
            results = tile.rows * tile.columns
            clocks = min(results * x.depth / x.macs_per_clock for x in engines)
            found.append(results / (tile.group_rows * tile.group_columns) / clocks)
        return max(found)

    @cached_property
    def _vector(self) -> Floats:
        """(precisions,) elementwise results a clock of an SM."""
        return np.array([self.data.vector.get(p, np.nan) for p in PRECISIONS])

    def units_of(self, precision: Ints) -> list[Unit]:
        """The engines of each operator, by rank."""
        return [Unit(*table[:-1, precision]) for table in self._engine_tables]

    def vector_rate(self, precision: Ints) -> Floats:
        """Elementwise results a clock of an SM, for each operator."""
        return self._vector[precision]

    def bandwidth(self, level: str) -> float:
        """Bytes a second of a memory."""
        bandwidth = self.data.memories[level].bandwidth
        assert bandwidth is not None  # noqa: S101 - machine files state it
        return bandwidth

    @property
    def l2_capacity(self) -> int:
        """Bytes of L2."""
        capacity = self.data.memories["l2"].capacity
        assert capacity is not None  # noqa: S101 - machine files state it
        return capacity


class Kernels:
    """The operators of a batch on one machine; all arrays are (ops,)."""

    def __init__(self, model: DataParallelEnergyModel, cases: Cases) -> None:
        """Lay out the tensors and pick the engines."""
        self.model = model
        self.data = model.data
        self.geometry: Mapping[str, int] = model.data.geometry
        self.ops = ops = cases.operators
        self.bits = ops.per_operator(cases.bits)
        self.widths = widths_of(cases)
        precision = ops.per_operator(cases.precision)
        self.units = model.units_of(precision)
        self.vector_rate = model.vector_rate(precision)
        self.is_gemm = ops.macs > 0
        self.vectors = ops.other_ops / self._results_of_a_warp()
        a, b, c = self.each = Operands(
            self._in_sectors(ops.input_elements),
            self._in_sectors(ops.weight_elements),
            self._in_sectors(ops.output_elements),
        )
        self.near = Operands(a * (ops.external_inputs + ops.internal_inputs), b, c)
        self.far = Operands(
            a * ops.external_inputs,
            b * ~ops.weight_is_internal,
            c * ~ops.output_is_internal,
        )

    def _results_of_a_warp(self) -> Floats:
        """Elementwise results of one instruction: narrow formats share a register."""
        width = np.maximum(self.widths.element, self.geometry["narrowest_bytes"])
        packed = np.maximum(1, self.geometry["register_bytes"] / width)
        return self.geometry["warp"] * packed

    def _in_sectors(self, elements: Floats) -> Floats:
        """Bytes of tensors in whole sectors, the least that a memory hands over."""
        sector = self.geometry["sector_bytes"]
        whole: Floats = np.ceil(tensor_bytes(elements, self.bits) / sector) * sector
        return whole

    def events(self) -> Events:
        """The counts of each operator."""
        dram = self._dram()
        l2 = np.maximum(_least([self._l2(tile) for tile in self.data.tiles]), dram)
        shared = np.maximum(_least([self._shared(tile) for tile in self.data.tiles]), l2)
        mac_tiles, reads, writes, cycles = self._instructions()
        steps = _least([self._steps(tile) for tile in self.data.tiles]) * self.is_gemm
        requests = l2 / self.geometry["request_bytes"]
        loads = shared / self.geometry["request_bytes"]
        return Events(
            macs=self.ops.macs,
            other_ops=self.ops.other_ops,
            instructions=mac_tiles + self.vectors + loads + requests,
            register_reads=reads,
            register_writes=writes,
            barriers=steps,
            branches=steps + self.vectors,
            cycles=cycles,
            requests=requests,
            sectors=l2 / self.geometry["sector_bytes"],
            shared=shared,
            l2=l2,
            dram=dram,
        )

    def times(self, events: Events) -> tuple[Floats, dict[str, Floats]]:
        """Seconds without the launch, and the times of the tile that attains them.

        What a stride skips of an input comes as far as shared memory, and takes its time.
        """
        model, tiles, dram = self.model, self.data.tiles, events.dram
        least = events.shared / model.bandwidth("shared")
        by_resource = {
            "compute": np.stack([self._compute(tile) for tile in tiles]),
            "shared": np.stack([np.maximum(self._shared_time(t), least) for t in tiles]),
            "l2": np.stack([np.maximum(self._l2(tile), dram) for tile in tiles])
            / model.bandwidth("l2"),
            "dram": np.stack([dram] * len(tiles)) / model.bandwidth("dram"),
        }
        longest = np.maximum.reduce(list(by_resource.values()))
        best = longest.argmin(axis=0)[np.newaxis]

        def chosen(times: Floats) -> Floats:
            taken: Floats = np.take_along_axis(times, best, axis=0)[0]
            return taken

        return chosen(longest), {name: chosen(t) for name, t in by_resource.items()}

    def _dram(self) -> Floats:
        """Bytes between DRAM and L2: those of a smooth tiling, and what spills."""
        ops, capacity = self.ops, self.model.l2_capacity
        far = smooth_traffic(capacity, ops.m, ops.n, ops.k, self.far, self.widths)
        return far + spills(self.each, ops, capacity).total

    def _l2(self, tile: Tile) -> Floats:
        """Bytes between L2 and SMs whose blocks compute one tile each.

        Blocks of a cluster get their common operand from a single read.
        """
        a = self.near.a * np.ceil(self.ops.n / tile.columns)
        rows = tile.rows * tile.cluster_rows
        return a + self.near.b * np.ceil(self.ops.m / rows) + self.near.c

    def _shared(self, tile: Tile) -> Floats:
        """Bytes between shared memory and the groups of warps of all tiles."""
        ops, width = self.ops, self.widths.element
        rows = np.where(self.is_gemm, ops.instances * ops.m * ops.k * width, self.near.a)
        a = rows * np.ceil(ops.n / tile.group_columns)
        return a + self.near.b * np.ceil(ops.m / tile.group_rows) + self.near.c

    def _shared_time(self, tile: Tile) -> Floats:
        """Seconds: tiles are whole, and an SM has only its own shared memory."""
        bandwidth = self.model.bandwidth("shared")
        passes = 1 / tile.group_rows + 1 / tile.group_columns
        elements = tile.rows * tile.columns * (1 + passes * self.ops.k)
        waved = self._waves(tile) * self.data.units * elements * self.widths.element
        return np.where(self.is_gemm, waved, self._shared(tile)) / bandwidth

    def _waves(self, tile: Tile) -> Floats:
        waves: Floats = np.ceil(self._blocks(tile) / self.data.units)
        return waves

    def _blocks(self, tile: Tile) -> Floats:
        ops = self.ops
        across = np.ceil(ops.n / tile.columns)
        blocks: Floats = ops.instances * np.ceil(ops.m / tile.rows) * across
        return blocks

    def _steps(self, tile: Tile) -> Floats:
        """Stages of K that the groups of warps of all tiles go through."""
        groups = tile.rows * tile.columns / (tile.group_rows * tile.group_columns)
        stage = self.geometry["stage_bytes"]
        steps: Floats = np.ceil(self.ops.k * self.widths.element / stage)
        return self._blocks(tile) * groups * steps

    def _compute(self, tile: Tile) -> Floats:
        """Seconds of waves of whole tiles, or of vector operations."""
        found = [
            _mac_tiles(unit, tile.rows, tile.columns, self.ops.k) * unit.clocks
            for unit in self.units
        ]
        waved = self._waves(tile) * _least(found)
        warp = self.geometry["warp"]
        vectors = np.ceil(np.ceil(self.ops.other_ops / warp) / self.data.units)
        vectors = vectors * warp / self.vector_rate
        return np.where(self.is_gemm, waved, vectors) / self.data.clock

    def _instructions(self) -> tuple[Floats, Floats, Floats, Floats]:
        """MAC tiles, bytes that arithmetic reads from and writes to registers, cycles."""
        ops = self.ops
        found = []
        for unit in self.units:
            count = _mac_tiles(unit, ops.m, ops.n, ops.k, ops.instances)
            reads, writes = self._registers(unit)
            found.append((count, count * reads, count * writes, count * unit.clocks))
        count, reads, writes, cycles = (
            _least(x) * self.is_gemm for x in zip(*found, strict=True)
        )
        vector = self.vectors * self._operand()
        cycles = cycles + self.ops.other_ops / self.vector_rate
        return count, reads + LANE_OPERANDS * vector, writes + vector, cycles

    def _registers(self, unit: Unit) -> tuple[Floats, Floats]:
        """Bytes that one instruction reads and writes.

        Each lane reads a whole register of either operand at least, and on the lanes
        the sums are as wide as the operands: HFMA2 adds in 16 bits, DP4A in one word.
        """
        lanes, least = unit.rows == 1, self._operand()
        a = np.maximum(unit.rows * unit.depth * self.widths.element, least)
        b = np.maximum(unit.columns * unit.depth * self.widths.element, least)
        sums = unit.rows * unit.columns * self.widths.partial
        reads = np.where(lanes, LANE_OPERANDS * least, a + b + sums)
        return reads, np.where(lanes, least, sums)

    def _operand(self) -> Floats:
        """Bytes of one register of all lanes of a warp."""
        lane = np.maximum(self.widths.element, self.geometry["register_bytes"])
        return self.geometry["warp"] * lane


def _counts(events: Events, latency: Floats) -> dict[str, Floats]:
    """Each event of some cases by the coefficient that prices it."""
    return {
        "mac_energy": events.macs,
        "op_energy": events.other_ops,
        "issue_energy": events.instructions,
        "register_read_energy": events.register_reads,
        "register_write_energy": events.register_writes,
        "barrier_energy": events.barriers,
        "divergence_energy": events.branches,
        "clock_energy": events.cycles,
        "coalescing_energy": events.requests,
        "coherence_energy": events.sectors,
        **{f"{level}_energy": getattr(events, level) for level in LEVELS},
        "static_power": latency,
    }


def _issued(warps: float, reads: float, writes: float) -> dict[str, float]:
    """Rates of so many warp instructions a second, each with its bytes of registers."""
    return {
        "issue_energy": warps,
        "register_read_energy": warps * reads,
        "register_write_energy": warps * writes,
    }


def _mac_tiles(
    unit: Unit, m: Floats | int, n: Floats | int, k: Floats, instances: Floats | int = 1
) -> Floats:
    """Instructions of GEMMs of M x N x K: rectangles, or any results of the lanes."""
    rectangles = instances * np.ceil(m / unit.rows) * np.ceil(n / unit.columns)
    warps = np.ceil(instances * m * n / unit.columns)
    count: Floats = np.where(unit.rows == 1, warps, rectangles) * np.ceil(k / unit.depth)
    return count


def _least(counts: Sequence[Floats]) -> Floats:
    least: Floats = np.minimum.reduce(counts)
    return least


def _inside(cases: Cases, events: Events, e: Coefficients) -> tuple[Floats, Floats, Floats]:
    """Joule of the arithmetic, of what warps and cycles take, and of the registers."""
    mac, op = (e.by_precision(f"{x}_energy", cases.precision) for x in ("mac", "op"))
    ops = np.maximum(events.macs + events.other_ops, 1)
    share = events.macs / ops
    alu = ops * (share * mac + (1 - share) * op)
    warps = np.maximum(events.instructions, np.finfo(np.float64).tiny)
    mean = e["issue_energy"] + events.barriers / warps * e["barrier_energy"]
    mean = mean + events.branches / warps * e["divergence_energy"]
    mean = mean + events.cycles / warps * e.get("clock_energy")
    operand = events.register_reads / warps * e["register_read_energy"]
    operand = operand + events.register_writes / warps * e["register_write_energy"]
    return alu, events.instructions * mean, events.instructions * operand
