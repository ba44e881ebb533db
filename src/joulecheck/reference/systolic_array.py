"""Systolic arrays: weight-stationary D x D arrays fed by software-managed memories.

The tile model lays a GEMM out as weight tiles of D x D. Each is shifted into an array,
then up to `accumulator_rows` rows of activations stream past it; more rows load the
tile again. Activations lie in a buffer on the chip, in blocks of rows that fill it, and
weights come through a staging memory; what of them exceeds it passes again for every
block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final, NamedTuple

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.composition import Each, Max, Sum
from joulecheck.estimate import Estimate
from joulecheck.machine import Memory
from joulecheck.model import UNSCALED, Scales
from joulecheck.quantities import BITS_PER_BYTE, OPS_PER_MAC
from joulecheck.reference.layered import (
    Coefficients,
    LayeredModel,
    Prices,
    Rates,
    dearest,
)
from joulecheck.reference.stalls import once, stalled
from joulecheck.reference.traffic import Operands, spilled, spills
from joulecheck.workload import Precision
from joulecheck.workload.columns import (
    PARTIAL_SUM_BYTES,
    PRECISIONS,
    Floats,
    OperatorColumns,
    tensor_bytes,
)

OPERANDS: Final = ("input", "weight", "output")

EDGES: Final = ("dram", "host")
"""The memories outside the chip that a machine may have."""


@attrs.frozen(eq=False)
class Tiles:
    """A GEMM laid out on D x D arrays, each (ops,); all 0 without MACs."""

    row_blocks: Floats
    """Times that each weight tile is loaded because of the accumulators."""
    column_tiles: Floats
    """ceil(N / D): times that the activations stream past."""
    depth_tiles: Floats
    """ceil(K / D): partial sums of each result."""
    count: Floats
    """Weight tiles of all instances."""
    cycles: Floats


class TPUTileEnergyModel:
    """The tile model: how a GEMM maps to weight tiles, cycles and array traffic.

    Cycles of n arrays: ceil(tiles / n) x max(M, D) + 2 D - 1, which is a tile after
    the other with M rows each (a weight load takes D cycles and hides behind them),
    and the fill and drain of one array.
    """

    def __init__(self, side: int, arrays: int, accumulator_rows: int) -> None:
        """Describe the arrays: side D, their number, and rows that sums are kept for."""
        self.side = side
        self.arrays = arrays
        self.accumulator_rows = accumulator_rows

    def lay_out(self, ops: OperatorColumns) -> Tiles:
        """The tiles of each operator of a batch."""
        is_gemm = ops.macs > 0
        across, deep = np.ceil(ops.n / self.side), np.ceil(ops.k / self.side)
        count = ops.instances * across * deep
        rounds = np.ceil(count / self.arrays)
        cycles = rounds * np.maximum(ops.m, self.side) + 2 * self.side - 1
        blocks = np.ceil(ops.m / self.accumulator_rows)
        return Tiles(*(x * is_gemm for x in (blocks, across, deep, count, cycles)))


class Events(NamedTuple):
    """What an execution counts; bytes unless said otherwise, each (cases,)."""

    macs: Floats
    other_ops: Floats
    tiles: Floats
    """Loads of a weight tile; each is one instruction."""
    forwarded: Floats
    """Activations and partial sums handed from one PE to the next."""
    shifted: Floats
    """Weights moved into the arrays."""
    accumulated: Floats
    """Partial sums written to the accumulators, and read from them again."""
    streamed: Floats
    """Activations read from the near buffer."""
    stored: Floats
    """Results and operands of vector operations in the near buffer."""
    staged: Floats
    """Through the staging memory."""
    far: dict[str, Floats]
    """By operand, from or to its home outside the chip."""

    def per_case(self, ops: OperatorColumns) -> Events:
        """Summed over the operators of each case."""
        far = {operand: ops.per_case(crossing) for operand, crossing in self.far.items()}
        counts = {name: ops.per_case(getattr(self, name)) for name in self._fields[:-1]}
        return Events(**counts, far=far)


class SystolicArrayEnergyModel(LayeredModel):
    """Energy and latency of a TPU.

    Latency is the launch plus, operator by operator, the longest of the array, the
    vector unit, staging where its bandwidth is known and each memory outside the chip:
    all of them overlap perfectly.
    """

    term_layers: ClassVar = {
        "alu": Layer.ALU,
        "control": Layer.REGISTER,
        "array": Layer.REGISTER,
        "accumulator": Layer.SCRATCHPAD,
        "buffer": Layer.SCRATCHPAD,
        "staging": Layer.ON_CHIP,
        "dram": Layer.DRAM,
        "host": Layer.DRAM,
        "static": Layer.STATIC,
    }
    moves: ClassVar = {
        "mac_energy": frozenset({"alu"}),
        "op_energy": frozenset({"alu"}),
        "instruction_energy": frozenset({"control"}),
        "forwarding_energy": frozenset({"array"}),
        "weight_shift_energy": frozenset({"array"}),
        "accumulator_read_energy": frozenset({"accumulator"}),
        "accumulator_write_energy": frozenset({"accumulator"}),
        "buffer_read_energy": frozenset({"buffer"}),
        "buffer_write_energy": frozenset({"buffer"}),
        "staging_energy": frozenset({"staging"}),
        "dram_energy": frozenset({"dram"}),
        "host_energy": frozenset({"host"}),
        "static_power": frozenset({"static"}),
    }
    saves: ClassVar = {
        "activations": frozenset({"staging", "dram", "host"}),
        "weights": frozenset({"dram", "host"}),
        "accumulators": frozenset({"control", "array", "staging", "dram", "host"}),
    }
    per_unit: ClassVar = frozenset({"accumulators"})

    latency_layers: ClassVar = {
        "array": Layer.ALU,
        "vector": Layer.ALU,
        "launch": Layer.REGISTER,
        "staging": Layer.ON_CHIP,
        **dict.fromkeys(EDGES, Layer.DRAM),
    }
    smooth: ClassVar = frozenset()
    latency_composition = Sum("launch", Each(Max("array", "vector", "staging", *EDGES)))
    subtotals: ClassVar = {
        "all_compute": ("alu",),
        "all_movement": ("array", "accumulator", "buffer", "staging", *EDGES),
        "all_control": ("control",),
        "dynamic": ("all_compute", "all_movement", "all_control"),
    }

    @property
    def timed(self) -> tuple[str, ...]:
        """Staging where its bandwidth is stated, and the memories outside the chip.

        Others on the chip keep up with the arrays.
        """
        memories = self.data.memories
        staging = "staging" in memories and memories["staging"].bandwidth is not None
        return ("staging",) * staging + tuple(sorted(set(self.homes.values())))

    @property
    def tile_model(self) -> TPUTileEnergyModel:
        """How GEMMs map to this machine's arrays."""
        geometry = self.data.geometry
        return TPUTileEnergyModel(
            geometry["array_side"], self.data.units, geometry["accumulator_rows"]
        )

    @property
    def homes(self) -> Mapping[str, str]:
        """The memory outside the chip in which each operand lies."""
        memories = self.data.memories
        return {o: next(n for n, m in memories.items() if o in m.homes) for o in OPERANDS}

    @property
    def sized(self) -> tuple[str, ...]:
        """All, but weights only where some of them stay."""
        stay = self.data.geometry["weight_bytes"] > 0
        return tuple(name for name in super().sized if stay or name != "weights")

    @property
    def splits(self) -> frozenset[str]:
        """All but K: deep weights are not taken apart where they would fit in parts."""
        return frozenset({"batch", "m", "n"})

    @property
    def resident(self) -> dict[str, float]:
        """Inputs of one block, with weights that are staged or sums that are kept.

        Weights come again only for rows beyond the accumulators, and then only if a row
        of them is longer than its share of the staging memory: K w + M w_p bytes, no
        less than either.
        """
        geometry = self.data.geometry
        row = geometry["weight_bytes"] / geometry["array_side"]
        sums = geometry["accumulator_rows"] * float(PARTIAL_SUM_BYTES.min())
        room = min(geometry["activation_bytes"], row + sums)
        return dict.fromkeys(self.homes.values(), room)

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer a batch with arrays, one entry a case."""
        e = Coefficients(self.coefficients, scales)
        ops = cases.operators
        tiles = self.tile_model.lay_out(ops)
        events = self._events(cases, tiles)
        latency_terms, latency_through, latency = self._latency(cases, tiles, events)
        events = events.per_case(ops)
        found = {
            part: self._by_operand(events, latency, Prices(charged, e, cases))
            for part, charged in self.charged.items()
        }
        through, subtotals = self.split(found)
        return Estimate(
            energy=through[Layer.STATIC],
            latency=latency,
            utilisation=cases.ops / (latency * self.peak[cases.precision]),
            energy_terms=self._energy_terms(cases, events, latency, e),
            latency_terms=latency_terms,
            through=through,
            latency_through=latency_through,
            subtotals=subtotals,
            traffic=self._traffic(events),
            events=self.told(lambda: self._counts(events, latency), cases),
        )

    def _counts(self, events: Events, latency: Floats) -> dict[str, Floats]:
        """Each event by the coefficient that prices it."""
        far = self._far_traffic(events)
        return {
            "mac_energy": events.macs,
            "op_energy": events.other_ops,
            "instruction_energy": events.tiles,
            "forwarding_energy": events.forwarded,
            "weight_shift_energy": events.shifted,
            "accumulator_read_energy": events.accumulated,
            "accumulator_write_energy": events.accumulated,
            "buffer_read_energy": events.streamed,
            "buffer_write_energy": events.stored,
            "staging_energy": events.staged,
            **{f"{name}_energy": crossing for name, crossing in far.items()},
            "static_power": latency,
        }

    def _events(self, cases: Cases, tiles: Tiles) -> Events:
        """The counts of each operator."""
        ops = cases.operators
        bits = ops.per_operator(cases.bits)
        width = bits / BITS_PER_BYTE
        partial = ops.per_operator(PARTIAL_SUM_BYTES[cases.precision])
        sizes = Operands(
            tensor_bytes(ops.input_elements, bits),
            tensor_bytes(ops.weight_elements, bits),
            tensor_bytes(ops.output_elements, bits),
        )
        block = self._block(ops, sizes)
        blocks = np.maximum(tiles.row_blocks, sizes.a / ops.instances / block)
        far = self._far(ops, sizes, tiles, block)
        loads = sizes.b * blocks
        passing = far["input"] + far["output"]
        read = ops.external_inputs + ops.internal_inputs
        return Events(
            macs=ops.macs,
            other_ops=ops.other_ops,
            tiles=tiles.count * blocks,
            forwarded=ops.macs * (width + partial),
            shifted=loads,
            accumulated=ops.output_elements * tiles.depth_tiles * partial,
            streamed=ops.instances * ops.m * ops.k * width * tiles.column_tiles
            + sizes.a * read * (ops.macs == 0),
            stored=sizes.c,
            staged=loads + passing * self.data.geometry["stages_activations"],
            far=far,
        )

    def _block(self, ops: OperatorColumns, sizes: Operands) -> Floats:
        """Bytes of a block of inputs: of rows that fill the buffer, or a side of them.

        At a side, to let weights pass again and to stream inputs again for each column
        of tiles cost as much.
        """
        rows = sizes.a / ops.instances / ops.m
        side = self.data.geometry["array_side"]
        block: Floats = np.maximum(self.data.geometry["activation_bytes"], side * rows)
        return block

    def _far(
        self, ops: OperatorColumns, sizes: Operands, tiles: Tiles, block: Floats
    ) -> dict[str, Floats]:
        """Bytes from and to outside the chip, by operand.

        Between blocks of inputs stays as much of the weights as a block is large, at
        most: more would pay only in an order that keeps weights and lets inputs pass.
        Within a block, the weights of one column of tiles are loaded for each block of
        rows that the accumulators hold: from outside, as far as they are not staged.
        """
        geometry = self.data.geometry
        staged = geometry["weight_bytes"]
        a, b = sizes.a / ops.instances, sizes.b / ops.instances
        by_block = spilled(b, np.minimum(staged, block)) * np.maximum(0, a / block - 1)
        in_column = spilled(b, staged * ops.n / geometry["array_side"])
        by_rows = in_column * np.maximum(0, tiles.row_blocks - 1)
        reloads = ops.instances * np.maximum(by_block, by_rows)
        spill = spills(sizes, ops, geometry["activation_bytes"])
        return {
            "input": ops.external_inputs * sizes.a + spill.a,
            "weight": ~ops.weight_is_internal * (sizes.b + reloads) + spill.b,
            "output": ~ops.output_is_internal * sizes.c + spill.c,
        }

    def _latency(
        self, cases: Cases, tiles: Tiles, events: Events
    ) -> tuple[dict[str, Floats], dict[Layer, Floats], Floats]:
        """Seconds of each case by term, up to each layer, and in all."""
        ops = cases.operators
        peak = self.peak[cases.precision]
        passes = self._array_rate / ops.per_operator(peak)
        busy = {
            "array": tiles.cycles * passes / self.data.clock,
            "vector": ops.other_ops / self.data.geometry["vector_ops_per_clock"]
            / self.data.clock,
        }  # fmt: skip
        crossing = {"staging": events.staged, **self._far_traffic(events)}
        for name in self.timed:
            busy[name] = crossing[name] / self._bandwidth(name)
        through = stalled(
            ops, self.latency_layers, busy, {"launch": once(ops, self.data.launch)}
        )
        longest = np.maximum.reduce(list(busy.values()))
        terms = {name: ops.per_case(time) for name, time in busy.items()}
        launch = np.full(len(cases), self.data.launch)
        latency = ops.per_case(longest) + self.data.launch
        return {**terms, "launch": launch}, through, latency

    def _passed(self, name: str, memory: Memory) -> Memory:
        """Weights bypass the buffer, and activations the staging memory of some.

        The bandwidth that a file states of the memories next to the arrays is that of
        the arrays' edge, a part of the cycles; of their other ports nothing is known.
        """
        if memory.homes:
            return super()._passed(name, memory)
        activations = {"input", "output"}
        staged = activations if self.data.geometry["stages_activations"] else set()
        carried = {
            "accumulators": {"output"},
            "buffer": activations,
            "staging": {"weight", *staged},
        }
        bandwidth = memory.bandwidth if name in self.timed else None
        return attrs.evolve(memory, bandwidth=bandwidth, carries=carried[name])

    def _traffic(self, events: Events) -> dict[str, Floats]:
        """Bytes across the edge of each memory that the machine has."""
        near = {
            "accumulators": 2 * events.accumulated,
            "buffer": events.streamed + events.stored,
            "staging": events.staged,
        }
        crossing = {**near, **self._far_traffic(events)}
        return {name: crossing[name] for name in self.data.memories}

    def _far_traffic(self, events: Events) -> dict[str, Floats]:
        """Bytes across each edge of the chip, by memory."""
        homes = self.homes
        return {
            name: np.asarray(sum(events.far[o] for o in OPERANDS if homes[o] == name))
            for name in sorted(set(homes.values()))
        }

    @property
    def _array_rate(self) -> float:
        """Operations a second of all arrays with one MAC a clock and element."""
        elements = self.data.units * self.data.geometry["array_side"] ** 2
        return OPS_PER_MAC * elements * self.data.clock

    def _greatest_rates(
        self, precision: Precision, e: Mapping[str, float]
    ) -> Iterator[Rates]:
        """The arrays with their edges or the vector unit, and all memories."""
        geometry, width = self.data.geometry, precision.bits / BITS_PER_BYTE
        partial = float(PARTIAL_SUM_BYTES[PRECISIONS.index(precision)])
        peak, side = self.data.peak[precision], geometry["array_side"]
        macs = peak / OPS_PER_MAC
        rate = max(1.0, peak / self._array_rate)  # MACs a clock and element
        edge = self.data.units * side * self.data.clock * rate  # elements that enter
        results = geometry["vector_ops_per_clock"] * self.data.clock
        arrays = {
            f"mac_energy.{precision.name}": macs,
            "forwarding_energy": macs * (width + partial),
            "weight_shift_energy": edge * width,
            "instruction_energy": edge / side**2,
            "accumulator_read_energy": edge * partial,
            "accumulator_write_energy": edge * partial,
            "buffer_read_energy": edge * width,
            "buffer_write_energy": edge * width,
        }
        vector = {
            f"op_energy.{precision.name}": results,
            "buffer_read_energy": 2 * results * width,
            "buffer_write_energy": results * width,
        }
        yield dearest(e, arrays, vector)
        outside = {name: self._bandwidth(name) for name in set(self.homes.values())}
        passing = sum(outside.values()) * geometry["stages_activations"]
        yield {"staging_energy": edge * width + passing}
        yield {f"{name}_energy": bandwidth for name, bandwidth in outside.items()}

    def _bandwidth(self, name: str) -> float:
        bandwidth = self.data.memories[name].bandwidth
        assert bandwidth is not None  # noqa: S101 - machine files state it
        return bandwidth

    def _energy_terms(
        self, cases: Cases, events: Events, latency: Floats, e: Coefficients
    ) -> dict[str, Floats]:
        """Joule by term: each event times its energy."""
        found = {
            "alu": events.macs * e.by_precision("mac_energy", cases.precision)
            + events.other_ops * e.by_precision("op_energy", cases.precision),
            "control": events.tiles * e["instruction_energy"],
            "array": events.forwarded * e["forwarding_energy"]
            + events.shifted * e["weight_shift_energy"],
            "accumulator": events.accumulated
            * (e["accumulator_read_energy"] + e["accumulator_write_energy"]),
            "buffer": events.streamed * e["buffer_read_energy"]
            + events.stored * e["buffer_write_energy"],
            "staging": events.staged * e["staging_energy"],
        }
        for name, crossing in self._far_traffic(events).items():
            found[name] = np.asarray(crossing * e[f"{name}_energy"])
        return {**found, "static": latency * e["static_power"]}

    def _by_operand(self, events: Events, latency: Floats, price: Prices) -> Floats:
        """Joule at these prices, by what happens to each operand.

        Not a sum of the terms. A weight pays for its home, staging and the shift into
        an array; an activation for its home, the buffer and its way through the PEs;
        a partial sum for its way down the PEs and the accumulators.
        """
        hop = (price.element + price.partial) * price("forwarding_energy")
        return np.asarray(
            events.macs * (price("mac_energy") + hop)
            + events.other_ops * price("op_energy")
            + self._weights(events, price)
            + self._activations(events, price)
            + self._partial_sums(events, price)
            + latency * price("static_power")
        )

    def _weights(self, events: Events, price: Prices) -> Floats | float:
        home = price(f"{self.homes['weight']}_energy")
        near = price("staging_energy") + price("weight_shift_energy")
        moved = events.far["weight"] * home + events.shifted * near
        return moved + events.tiles * price("instruction_energy")

    def _activations(self, events: Events, price: Prices) -> Floats | float:
        staging = price("staging_energy")
        passing = staging if self.data.geometry["stages_activations"] else 0.0
        found = events.streamed * price("buffer_read_energy")
        found = found + events.stored * price("buffer_write_energy")
        for operand in ("input", "output"):
            home = price(f"{self.homes[operand]}_energy")
            found = found + events.far[operand] * (home + passing)
        return found

    def _partial_sums(self, events: Events, price: Prices) -> Floats | float:
        write, read = price("accumulator_write_energy"), price("accumulator_read_energy")
        return events.accumulated * write + events.accumulated * read
