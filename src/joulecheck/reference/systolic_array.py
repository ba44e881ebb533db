"""Systolic arrays: weight-stationary D x D arrays fed by software-managed memories.

The tile model lays a GEMM out as weight tiles of D x D. Each is shifted into an array,
then up to `accumulator_rows` rows of activations stream past it; more rows load the
tile again. Activations lie in a buffer on the chip; what of an input exceeds it is
fetched again for every column of tiles. Weights come through a staging memory, and
what of them exceeds it is fetched again for every block of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import ClassVar, Final, NamedTuple

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.estimate import Estimate
from joulecheck.model import UNSCALED, Scales
from joulecheck.quantities import BITS_PER_BYTE, OPS_PER_MAC
from joulecheck.reference.layered import (
    PARTIAL_SUM_BYTES,
    Coefficients,
    LayeredModel,
    Rates,
    dearest,
)
from joulecheck.reference.traffic import Operands, spilled
from joulecheck.workload import Precision
from joulecheck.workload.columns import (
    PRECISIONS,
    Floats,
    OperatorColumns,
    tensor_bytes,
)

OPERANDS: Final = ("input", "weight", "output")


@attrs.frozen(eq=False)
class Tiles:
    """A GEMM laid out on D x D arrays, each (ops,); all 0 without MACs."""

    row_blocks: Floats
    """Times that each weight tile is loaded."""
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
    vector unit and each memory outside the chip: all of them overlap perfectly.
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

    @property
    def timed(self) -> tuple[str, ...]:
        """The memories outside the chip: those on it keep up with the arrays."""
        return tuple(sorted(set(self.homes.values())))

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

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer a batch with arrays, one entry a case."""
        e = Coefficients(self.coefficients, scales)
        ops = cases.operators
        tiles = self.tile_model.lay_out(ops)
        events = self._events(cases, tiles)
        latency_terms, latency = self._latency(cases, tiles, events)
        events = events.per_case(ops)
        through = self._through(cases, events, latency, e)
        return Estimate(
            energy=through[Layer.STATIC],
            latency=latency,
            utilisation=cases.ops / (latency * self.peak[cases.precision]),
            energy_terms=self._energy_terms(cases, events, latency, e),
            latency_terms=latency_terms,
            through=through,
        )

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
        far = self._far(ops, sizes, tiles)
        loads = sizes.b * tiles.row_blocks
        passing = far["input"] + far["output"]
        read = ops.external_inputs + ops.internal_inputs
        return Events(
            macs=ops.macs,
            other_ops=ops.other_ops,
            tiles=tiles.count * tiles.row_blocks,
            forwarded=ops.macs * (width + partial),
            shifted=loads,
            accumulated=ops.output_elements * tiles.depth_tiles * partial,
            streamed=ops.instances * ops.m * ops.k * width * tiles.column_tiles
            + sizes.a * read * (ops.macs == 0),
            stored=sizes.c,
            staged=loads + passing * self.data.geometry["stages_activations"],
            far=far,
        )

    def _far(
        self, ops: OperatorColumns, sizes: Operands, tiles: Tiles
    ) -> dict[str, Floats]:
        """Bytes from and to outside the chip, by operand."""
        kept = self.data.geometry["activation_bytes"]
        again = spilled(sizes.a, kept) * np.maximum(0, tiles.column_tiles - 1)
        beyond = spilled(sizes.b, self.data.geometry["weight_bytes"])
        reloads = beyond * np.maximum(0, tiles.row_blocks - 1)
        spill = spilled(sizes.c, kept) * ops.output_is_internal
        return {
            "input": ops.external_inputs * (sizes.a + again) + spill,
            "weight": ~ops.weight_is_internal * (sizes.b + reloads),
            "output": ~ops.output_is_internal * sizes.c + spill,
        }

    def _latency(
        self, cases: Cases, tiles: Tiles, events: Events
    ) -> tuple[dict[str, Floats], Floats]:
        """Seconds by term, each summed over a case's operators, and in all."""
        ops = cases.operators
        peak = self.peak[cases.precision]
        passes = self._array_rate / ops.per_operator(peak)
        busy = {
            "array": tiles.cycles * passes / self.data.clock,
            "vector": ops.other_ops / self.data.geometry["vector_ops_per_clock"]
            / self.data.clock,
        }  # fmt: skip
        for name in sorted(set(self.homes.values())):
            crossing = sum(events.far[o] for o in OPERANDS if self.homes[o] == name)
            busy[name] = np.asarray(crossing) / self._bandwidth(name)
        longest = np.maximum.reduce(list(busy.values()))
        terms = {name: ops.per_case(time) for name, time in busy.items()}
        launch = np.full(len(cases), self.data.launch)
        return {**terms, "launch": launch}, ops.per_case(longest) + self.data.launch

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
        for name in sorted(set(self.homes.values())):
            crossing = sum(events.far[o] for o in OPERANDS if self.homes[o] == name)
            found[name] = np.asarray(crossing * e[f"{name}_energy"])
        return {**found, "static": latency * e["static_power"]}

    def _through(
        self, cases: Cases, events: Events, latency: Floats, e: Coefficients
    ) -> dict[Layer, Floats]:
        """Joule up to and with each layer, by what happens to each operand.

        Not a sum of the terms. A weight pays for its home, staging and the shift into
        an array; an activation for its home, the buffer and its way through the PEs;
        a partial sum for its way down the PEs and the accumulators. Prices of what
        lies beyond the asked layer are left out.
        """
        return {
            layer: self._by_operand(cases, events, latency, Prices(e, layer))
            for layer in dict.fromkeys(self.layers.values())
        }

    def _by_operand(
        self, cases: Cases, events: Events, latency: Floats, prices: Prices
    ) -> Floats:
        hop = prices("forwarding_energy", Layer.REGISTER)
        width = cases.bits / BITS_PER_BYTE + PARTIAL_SUM_BYTES[cases.precision]
        mac = prices.e.by_precision("mac_energy", cases.precision) + width * hop
        op = prices.e.by_precision("op_energy", cases.precision)
        return (
            events.macs * mac
            + events.other_ops * op
            + self._weights(events, prices)
            + self._activations(events, prices)
            + self._partial_sums(events, prices)
            + latency * prices("static_power", Layer.STATIC)
        )

    def _weights(self, events: Events, prices: Prices) -> Floats:
        home = prices(f"{self.homes['weight']}_energy", Layer.DRAM)
        staging = prices("staging_energy", Layer.ON_CHIP)
        shift = prices("weight_shift_energy", Layer.REGISTER)
        tile = prices("instruction_energy", Layer.REGISTER)
        moved = events.far["weight"] * home + events.shifted * (staging + shift)
        return moved + events.tiles * tile

    def _activations(self, events: Events, prices: Prices) -> Floats:
        staging = prices("staging_energy", Layer.ON_CHIP)
        passing = staging if self.data.geometry["stages_activations"] else 0.0
        read = prices("buffer_read_energy", Layer.SCRATCHPAD)
        write = prices("buffer_write_energy", Layer.SCRATCHPAD)
        found = events.streamed * read + events.stored * write
        for operand in ("input", "output"):
            home = prices(f"{self.homes[operand]}_energy", Layer.DRAM)
            found = found + events.far[operand] * (home + passing)
        return found

    def _partial_sums(self, events: Events, prices: Prices) -> Floats:
        write = prices("accumulator_write_energy", Layer.SCRATCHPAD)
        read = prices("accumulator_read_energy", Layer.SCRATCHPAD)
        return events.accumulated * write + events.accumulated * read


class Prices:
    """The coefficients of a batch, free where they lie beyond a layer."""

    def __init__(self, e: Coefficients, outermost: Layer) -> None:
        """Charge for everything up to and with `outermost`."""
        self.e = e
        self._charged = set(takewhile(lambda layer: layer is not outermost, Layer))
        self._charged.add(outermost)

    def __call__(self, name: str, layer: Layer) -> Floats | float:
        """The coefficient `name`, which lies in `layer`, or 0."""
        return self.e[name] if layer in self._charged else 0.0
