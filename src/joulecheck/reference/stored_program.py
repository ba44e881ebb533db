"""Stored-program machines: cores with SIMD or tile engines behind local memories.

CPUs with caches, and DSPs with scratchpads: each has the levels that its file states,
from the core outwards, and the last one is outside the chip.

Every operator runs as a blocked kernel. An instruction works on a tile of MACs; a
strip is one row of such a tile, the grain at which work spreads over the cores.
Traffic into registers follows from a micro-kernel tile of fixed size, into the caches
and from DRAM from smooth closed forms of their capacities (`traffic`).

The engines of a core are one vector unit and, on some, one tile unit. A count is the
least over the engines that the core has for a precision. For K of 1 or 2 that takes
the time of the vector unit and the instructions of the tile unit, which is optimistic
by at most one instruction a strip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Final, NamedTuple

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.composition import Composition, Each, Max, Sum
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
from joulecheck.reference.stalls import once, stalled
from joulecheck.reference.traffic import Operands, Widths, smooth_traffic, spills
from joulecheck.workload import Precision
from joulecheck.workload.columns import Floats, tensor_bytes

LEVELS: Final = ("l1", "l2", "l3", "dram")
"""All that a machine may have, from the core outwards: the first and the last always.

The traffic of a level crosses from it towards the core.
"""

REGISTER_OPERANDS: Final = 3
"""Vector registers that a multiply-accumulate reads; it writes one."""


PIPELINE: Final = ("fetch_energy", "decode_energy", "dispatch_energy")
"""What every instruction pays."""


class Events(NamedTuple):
    """What an execution counts, each (cases,)."""

    macs: Floats
    other_ops: Floats
    instructions: Floats
    """MAC tiles, other vector operations, and loads and stores of a register."""
    register_reads: Floats
    """Bytes."""
    register_writes: Floats
    """Bytes."""
    bytes: dict[str, Floats]
    """Crossing each level; the near ones carry at least what the far ones do."""


class Times(NamedTuple):
    """Seconds that each resource is busy, (cases,)."""

    compute: Floats
    memories: dict[str, Floats]
    through: dict[Layer, Floats]
    """Up to each layer, (cases,)."""


class StoredProgramEnergyModel(LayeredModel):
    """Energy and latency of a CPU or a DSP.

    Latency is the launch plus, operator by operator, the longest of the compute time
    and the time of each memory level: all of them overlap perfectly.
    """

    term_layers: ClassVar = {
        "alu": Layer.ALU,
        "pipeline": Layer.REGISTER,
        "register": Layer.REGISTER,
        "l1": Layer.SCRATCHPAD,
        "l2": Layer.SCRATCHPAD,
        "l3": Layer.ON_CHIP,
        "dram": Layer.DRAM,
        "static": Layer.STATIC,
    }
    latency_layers: ClassVar = {
        "compute": Layer.ALU,
        "launch": Layer.REGISTER,
        "l1": Layer.SCRATCHPAD,
        "l2": Layer.SCRATCHPAD,
        "l3": Layer.ON_CHIP,
        "dram": Layer.DRAM,
    }
    subtotals: ClassVar = {
        "all_compute": ("alu",),
        "all_movement": ("register", *LEVELS),
        "all_control": ("pipeline",),
        "dynamic": ("all_compute", "all_movement", "all_control"),
    }
    moves: ClassVar = {
        "mac_energy": frozenset({"alu"}),
        "op_energy": frozenset({"alu"}),
        "fetch_energy": frozenset({"pipeline"}),
        "decode_energy": frozenset({"pipeline"}),
        "dispatch_energy": frozenset({"pipeline"}),
        "register_read_energy": frozenset({"register"}),
        "register_write_energy": frozenset({"register"}),
        "l1_energy": frozenset({"l1"}),
        "l2_energy": frozenset({"l2"}),
        "l3_energy": frozenset({"l3"}),
        "dram_energy": frozenset({"dram"}),
        "static_power": frozenset({"static"}),
    }
    saves: ClassVar = dict.fromkeys(("l1", "l2", "l3"), frozenset(LEVELS))
    per_unit: ClassVar = frozenset({"l1", "l2"})

    @property
    def sized(self) -> tuple[str, ...]:
        """Every level but DRAM."""
        return self.levels[:-1]

    @property
    def latency_composition(self) -> Composition:
        """A launch, and for each operator the longest of its resources."""
        return Sum("launch", Each(Max("compute", *self.levels)))

    def _passed(self, name: str, memory: Memory) -> Memory:
        """Every core has its own L1 and L2."""
        private = self.term_layers[name] is Layer.SCRATCHPAD
        carried = super()._passed(name, memory)
        return attrs.evolve(carried, copies=self.data.units if private else 1)

    @property
    def resident(self) -> dict[str, float]:
        """What fits the last level on the chip comes from DRAM once."""
        *_, last, home = self.levels
        return {home: self._capacity(last)}

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """The memories of this machine, from the core outwards."""
        return tuple(level for level in LEVELS if level in self.data.memories)

    @property
    def splits(self) -> frozenset[str]:
        """M and N of every strip; K where there is one engine that all of it runs on.

        Engines of one precision have the same columns, so that the least over them
        depends on K alone.
        """
        one = max(Counter(e.precision for e in self.data.engines).values()) == 1
        return frozenset({"batch", "m", "n"} | ({"k"} if one else set()))

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer a batch with arrays, one entry a case."""
        e = Coefficients(self.coefficients, scales)
        events, times, latency = self._execute(cases)
        terms = self._energy_terms(cases, events, latency, e)
        through, subtotals = self._through(cases, events, latency, e)
        return Estimate(
            energy=through[Layer.STATIC],
            latency=latency,
            utilisation=cases.ops / (latency * self.peak[cases.precision]),
            energy_terms=terms,
            latency_terms={
                "compute": times.compute,
                **times.memories,
                "launch": np.full(len(cases), self.data.launch),
            },
            through=through,
            latency_through=times.through,
            subtotals=subtotals,
            traffic=events.bytes,
            events=self.told(lambda: self._counts(events, latency), cases),
        )

    def _counts(self, events: Events, latency: Floats) -> dict[str, Floats]:
        """Each event by the coefficient that prices it."""
        return {
            "mac_energy": events.macs,
            "op_energy": events.other_ops,
            **dict.fromkeys(PIPELINE, events.instructions),
            "register_read_energy": events.register_reads,
            "register_write_energy": events.register_writes,
            **{f"{level}_energy": events.bytes[level] for level in self.levels},
            "static_power": latency,
        }

    def _energy_terms(
        self, cases: Cases, events: Events, latency: Floats, e: Coefficients
    ) -> dict[str, Floats]:
        """Joule by term: each event times its energy."""
        pipeline = e["fetch_energy"] + e["decode_energy"] + e["dispatch_energy"]
        return {
            "alu": events.macs * e.by_precision("mac_energy", cases.precision)
            + events.other_ops * e.by_precision("op_energy", cases.precision),
            "pipeline": events.instructions * pipeline,
            "register": events.register_reads * e["register_read_energy"]
            + events.register_writes * e["register_write_energy"],
            **{lvl: events.bytes[lvl] * e[f"{lvl}_energy"] for lvl in self.levels},
            "static": latency * e["static_power"],
        }

    def _through(
        self, cases: Cases, events: Events, latency: Floats, e: Coefficients
    ) -> tuple[dict[Layer, Floats], dict[str, Floats]]:
        """Joule up to each layer, and sub-totals, by where work and bytes come from.

        Not a sum of the terms. Inside the core, an operation costs its share of an
        instruction and of register traffic on top of its own energy. Outside, a byte
        that is served from level l crosses all levels up to l, so that

            sum_l Q_l e_l = sum_l (Q_l - Q_(l+1)) (e_1 + ... + e_l)

        (summation by parts): Q_l - Q_(l+1) is what level l serves, and the bracket is
        the price of bringing a byte from there.
        """
        alu, issue, registers = _inside(cases, events, e)
        core = alu + (issue + registers)
        found = {Layer.ALU: alu, Layer.REGISTER: core}
        served = np.zeros(len(cases))
        for reached, end in enumerate(self.levels, start=1):
            served = _served(events.bytes, self.levels[:reached], e)
            found[self.layers[end]] = core + served
        found[Layer.STATIC] = found[Layer.DRAM] + e["static_power"] * latency
        subtotals = {
            "all_compute": alu,
            "all_movement": registers + served,
            "all_control": issue,
            "dynamic": found[Layer.DRAM],
        }
        return found, subtotals

    def _greatest_rates(
        self, precision: Precision, e: Mapping[str, float]
    ) -> Iterator[Rates]:
        """Vectors of results or MACs, loads and stores, and all memories."""
        geometry, cores = self.data.geometry, self.data.units * self.data.clock
        lanes = geometry["simd_bytes"] * BITS_PER_BYTE / precision.bits
        vectors = geometry["vector_ports"] * cores
        uses = [{f"op_energy.{precision.name}": vectors * lanes} | self._issued(vectors)]
        for engine in self.data.engines:
            if engine.precision is precision:
                macs = engine.macs_per_clock * cores
                strips = macs / (engine.columns * engine.depth)
                uses.append({f"mac_energy.{precision.name}": macs} | self._issued(strips))
        yield dearest(e, *uses)
        yield dict.fromkeys(PIPELINE, self._bandwidth("l1") / geometry["simd_bytes"])
        yield {f"{level}_energy": self._bandwidth(level) for level in self.levels}

    def _issued(self, vectors: float) -> dict[str, float]:
        """Rates of what so many vector instructions a second cost beside arithmetic."""
        written = vectors * self.data.geometry["simd_bytes"]
        registers = {
            "register_read_energy": REGISTER_OPERANDS * written,
            "register_write_energy": written,
        }
        return dict.fromkeys(PIPELINE, vectors) | registers

    def _execute(self, cases: Cases) -> tuple[Events, Times, Floats]:
        ops = cases.operators
        bits = ops.per_operator(cases.bits)
        lanes = self.data.geometry["simd_bytes"] * BITS_PER_BYTE / bits
        vector_ops = ops.other_ops / lanes
        is_gemm = ops.macs > 0
        tiles, strips, cycles = self._tiles(cases)
        crossing = self._bytes(cases)
        simd_bytes = self.data.geometry["simd_bytes"]
        vectors = strips * is_gemm + vector_ops
        instructions = tiles * is_gemm + vector_ops + crossing["l1"] / simd_bytes
        sums = ops.per_case
        events = Events(
            macs=cases.macs,
            other_ops=sums(ops.other_ops),
            instructions=sums(instructions),
            register_reads=sums(REGISTER_OPERANDS * simd_bytes * vectors),
            register_writes=sums(simd_bytes * vectors),
            bytes={level: sums(crossing[level]) for level in self.levels},
        )
        ports = self.data.geometry["vector_ports"]
        vector_cycles = np.ceil(np.ceil(vector_ops) / self.data.units) / ports
        compute = np.where(is_gemm, cycles, vector_cycles) / self.data.clock
        memories = {lvl: crossing[lvl] / self._bandwidth(lvl) for lvl in self.levels}
        busy = np.maximum.reduce([compute, *memories.values()])
        through = stalled(
            ops,
            self.latency_layers,
            {"compute": compute, **memories},
            {"launch": once(ops, self.data.launch)},
        )
        by_level = {level: sums(time) for level, time in memories.items()}
        times = Times(sums(compute), by_level, through)
        unknown = np.isnan(self.peak[cases.precision])  # any width has lanes
        return events, times, np.where(unknown, np.nan, sums(busy) + self.data.launch)

    def _bandwidth(self, level: str) -> float:
        bandwidth = self.data.memories[level].bandwidth
        assert bandwidth is not None  # noqa: S101 - machine files state it
        return bandwidth

    def _tiles(self, cases: Cases) -> tuple[Floats, Floats, Floats]:
        """Instructions, strips and cycles of the GEMMs of each operator."""
        ops = cases.operators
        found: list[tuple[Floats, Floats, Floats]] = []
        for table in self._engine_tables:
            rows, columns, depth, rate, _ = map(ops.per_operator, table[:, cases.precision])
            across, steps = np.ceil(ops.n / columns), np.ceil(ops.k / depth)
            tiles = ops.instances * np.ceil(ops.m / rows) * across * steps
            grains = ops.instances * ops.m * across
            waves = np.ceil(grains / self.data.units)
            found.append((tiles, grains * steps, waves * steps * columns * depth / rate))
        tiles, strips, cycles = (np.minimum.reduce(x) for x in zip(*found, strict=True))
        return tiles, strips, cycles

    def _bytes(self, cases: Cases) -> dict[str, Floats]:
        """Bytes of each operator that cross each level."""
        ops = cases.operators
        bits = ops.per_operator(cases.bits)
        a, b, c = each = Operands(
            tensor_bytes(ops.input_elements, bits),
            tensor_bytes(ops.weight_elements, bits),
            tensor_bytes(ops.output_elements, bits),
        )
        near = Operands(a * (ops.external_inputs + ops.internal_inputs), b, c)
        far = Operands(
            a * ops.external_inputs,
            b * ~ops.weight_is_internal,
            c * ~ops.output_is_internal,
        )
        *on_chip, home = self.levels
        kept = self._capacity(on_chip[-1])
        spill = spills(each, ops, kept).total
        widths = widths_of(cases)
        sizes = (ops.m, ops.n, ops.k)
        crossing = {home: smooth_traffic(kept, *sizes, far, widths) + spill}
        beyond = crossing[home]
        for inner, level in reversed([*pairwise(on_chip)]):
            traffic = smooth_traffic(self._capacity(inner), *sizes, near, widths)
            beyond = np.maximum(traffic, beyond)
            crossing[level] = beyond
        core = self._micro_kernel(ops.m, ops.n, near, widths)
        crossing[self.levels[0]] = np.maximum(core, beyond)
        return crossing

    def _micro_kernel(
        self, m: Floats, n: Floats, operands: Operands, widths: Widths
    ) -> Floats:
        """Bytes between registers and L1 for output tiles that stay in registers."""
        geometry = self.data.geometry
        columns = geometry["kernel_vectors"] * geometry["simd_bytes"] / widths.element
        a = operands.a * np.ceil(n / columns)
        return a + operands.b * np.ceil(m / geometry["kernel_rows"]) + operands.c

    def _capacity(self, level: str) -> int:
        capacity = self.data.memories[level].capacity
        assert capacity is not None  # noqa: S101 - machine files state it
        return capacity


def _inside(cases: Cases, events: Events, e: Coefficients) -> tuple[Floats, Floats, Floats]:
    """Joule of the arithmetic, of the instructions and of the registers."""
    precision = cases.precision
    mac, op = (e.by_precision(f"{x}_energy", precision) for x in ("mac", "op"))
    ops = np.maximum(events.macs + events.other_ops, 1)
    share = events.macs / ops
    alu = ops * (share * mac + (1 - share) * op)
    issued = events.instructions / ops
    issue = issued * e["fetch_energy"] + issued * e["decode_energy"]
    issue = issue + issued * e["dispatch_energy"]
    operand = events.register_reads / ops * e["register_read_energy"]
    result = events.register_writes / ops * e["register_write_energy"]
    return alu, ops * issue, ops * (operand + result)


def _served(
    crossing: Mapping[str, Floats], levels: tuple[str, ...], e: Coefficients
) -> Floats:
    """Joule of bringing each byte from the level of `levels` that serves it."""
    price: Floats | float = 0.0
    energy: Floats | float = 0.0
    beyond = [*levels[1:], None]
    for level, further in zip(levels, beyond, strict=True):
        price = price + e[f"{level}_energy"]
        served = crossing[level] - (crossing[further] if further else 0)
        energy = energy + served * price
    return np.asarray(energy)
