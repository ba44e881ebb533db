"""Domain-flow machines: planes of PEs that recurrences flow through, fed by streamers.

A domain-flow program is a system of recurrences over a domain of index points, here
M x N x K. Every PE keeps one result of the plane M x N and takes part in K wavefronts;
inputs and weights enter at two edges of the plane and are handed from PE to PE, tagged
with their point of the domain. DMA engines move blocks between memory and a global
scratchpad, block movers between that and the scratchpads of the tiles, streamers
between those and the edges of the PEs. The scratchpads of all tiles act as one: a
block lies in one of them and passes from tile to tile.

No silicon of this class has been measured in public. Every figure of the machine files
is an assumption of its published simulators or an estimate, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final, NamedTuple

import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.model import COSTS
from joulecheck.quantities import BITS_PER_BYTE, OPS_PER_MAC
from joulecheck.reference.layered import Prices, Rates, dearest
from joulecheck.reference.spatial import (
    Engines,
    SpatialModel,
    Work,
    cut,
    levels,
    moved_by,
    served,
    tensors,
)
from joulecheck.workload import Precision
from joulecheck.workload.columns import (
    PARTIAL_SUM_BYTES,
    PRECISIONS,
    Floats,
    OperatorColumns,
)

INJECTED: Final = 2
"""Operands that a PE hands on with every MAC: an input and a weight."""


class Plane(NamedTuple):
    """How the index points of a GEMM lie on the PEs, all (ops,)."""

    inputs: Floats
    """Times that the inputs are injected."""
    weights: Floats
    """Times that the weights are injected."""
    cycles: Floats


class KPUTileEnergyModel:
    """The tile model: a GEMM on tiles of rows x columns PEs of one engine, whole tiles.

    A tile takes rows x columns results and all K wavefronts of them; the inputs of its
    rows and the weights of its columns stream through it once. Tiles of results go to
    the tiles of PEs in rounds. Cycles: those of `cut`, and the skew of the first
    wavefront, which is a step for each row and column that is used.
    """

    def __init__(self, engines: Engines) -> None:
        """Describe the tiles, one engine an operator: precisions differ in them."""
        self.engines = engines

    def lay_out(self, ops: OperatorColumns) -> Plane:
        """The plane of each operator; no cycle without MACs."""
        tiling = cut(ops, self.engines)
        return Plane(
            inputs=np.maximum(1, tiling.across),
            weights=np.maximum(1, tiling.down),
            cycles=tiling.cycles + skew(ops, self.engines),
        )


def least(planes: Sequence[Plane]) -> Plane:
    """The least of each count over the engines that a precision may run on.

    Where tiles of another format are more, or free, narrow operands run on those.
    """
    return Plane(*(np.minimum.reduce(counts) for counts in zip(*planes, strict=True)))


def skew(ops: OperatorColumns, engines: Engines) -> Floats:
    """Cycles until the first wavefront has reached the last PE that is used."""
    used = np.minimum(ops.m, engines.rows) + np.minimum(ops.n, engines.columns)
    late: Floats = used * engines.step * (ops.macs > 0)
    return late


class DomainFlowEnergyModel(SpatialModel):
    """Energy and latency of a domain-flow machine as one plane of PEs.

    The PEs of all tiles form one plane, which a GEMM covers without a quantum: what
    does not fill the plane leaves its rest to other instances, and what exceeds it
    takes fractional passes. More tiles make a larger array, in which operands are handed
    on further and enter less often: they are no copies of each other. Latency: see
    `SpatialModel`; programs load while the operator before them runs.
    """

    units_are_copies: ClassVar = False

    term_layers: ClassVar = {
        "alu": Layer.ALU,
        "tracking": Layer.REGISTER,
        "program": Layer.REGISTER,
        "boundary": Layer.REGISTER,
        "forwarding": Layer.REGISTER,
        "streamer": Layer.SCRATCHPAD,
        "tile": Layer.SCRATCHPAD,
        "global": Layer.ON_CHIP,
        "dma": Layer.ON_CHIP,
        "dram": Layer.DRAM,
        "static": Layer.STATIC,
    }
    latency_layers: ClassVar = {
        "plane": Layer.ALU,
        "launch": Layer.REGISTER,
        "tile": Layer.SCRATCHPAD,
        "global": Layer.ON_CHIP,
        "dram": Layer.DRAM,
    }
    subtotals: ClassVar = {
        "all_compute": ("alu",),
        "all_movement": (
            "boundary", "forwarding", "streamer", "tile", "global", "dma", "dram",
        ),
        "all_control": ("tracking", "program"),
        "dynamic": ("all_compute", "all_movement", "all_control"),
    }  # fmt: skip
    moves: ClassVar = moved_by(
        {
            "alu": ("mac_energy", "op_energy"),
            "tracking": ("tracking_energy",),
            "program": ("program_energy",),
            "boundary": ("injection_energy", "extraction_energy"),
            "forwarding": ("forwarding_energy", "accumulation_energy"),
            "streamer": ("streamer_energy",),
            "tile": ("tile_energy",),
            "global": ("global_energy",),
            "dma": ("dma_energy",),
            "dram": ("dram_energy",),
            "static": ("static_power",),
        }
    )
    last: ClassVar = "global"
    saves: ClassVar = {
        "tile": frozenset({"streamer", "tile", "global"}),
        "global": frozenset({"streamer", "tile", "global", "dma", "dram"}),
    }

    @property
    def symmetries(self) -> dict[str, tuple[str, ...]]:
        """Square tiles do not tell inputs from weights either."""
        square = all(engine.rows == engine.columns for engine in self.data.engines)
        return super().symmetries | ({"gemm": COSTS} if square else {})

    @property
    def _program_bytes(self) -> int:
        """Of one operator's program, which goes to all tiles, idle ones too."""
        return self.data.units * self.data.geometry["program_bytes"]

    def _plane(self, ops: OperatorColumns, engines: Engines) -> Plane:
        """A plane of sqrt(tiles) x sqrt(tiles) tiles without seams."""
        side = np.sqrt(engines.units)
        columns = np.maximum(1, ops.n / (engines.columns * side))
        rows = np.maximum(1, ops.m / (engines.rows * side))
        tiles = ops.instances * ops.m * ops.n / (engines.rows * engines.columns)
        steps = np.maximum(1, ops.k / engines.depth)
        rounds = np.maximum(1, tiles / engines.units)
        busy = rounds * steps * engines.step * (ops.macs > 0)
        return Plane(columns, rows, busy + skew(ops, engines))

    def _work(self, cases: Cases) -> Work:
        ops = cases.operators
        engines, moved = self._engines(cases), tensors(cases)
        plane = least([self._plane(ops, engine) for engine in engines])
        entering = moved.expanded * plane.inputs + moved.near.b * plane.weights
        edge, blocks, far = levels(
            entering + moved.near.c, ops, moved, self._capacity("tile", "global")
        )
        program = self._program_bytes * np.ones(len(ops))
        events = {
            "mac_energy": ops.macs,
            "op_energy": ops.other_ops,
            "tracking_energy": ops.macs + ops.other_ops,
            "program_energy": program,
            "injection_energy": entering,
            "extraction_energy": moved.near.c,
            "forwarding_energy": INJECTED * ops.macs * moved.widths.element,
            "accumulation_energy": ops.macs * moved.widths.partial,
            "streamer_energy": edge,
            "tile_energy": edge,
            "global_energy": blocks,
            "dma_energy": far,
            "dram_energy": far,
        }
        cycles = plane.cycles + self._slots(ops, engines[0])
        memories = self._passing({"tile": edge, "global": blocks + program, "dram": far})
        return Work(events, {"plane": cycles / self.data.clock} | memories, {})

    def _priced(self, counts: Mapping[str, Floats], price: Prices) -> Floats | float:
        """Joule by points of the domain, by what enters and leaves it, and by source.

        Not a sum of the terms. A point of M x N x K costs its MAC, the match of its
        tags, the hand-over of both operands and the update of its sum. What enters and
        leaves the plane costs its way across the edge, and before that the way from
        the memory that serves it: see `served`.
        """
        hop = INJECTED * price.element * price("forwarding_energy")
        update = price.partial * price("accumulation_energy")
        point = price("mac_energy") + price("tracking_energy") + hop + update
        other = price("op_energy") + price("tracking_energy")
        fetched = served(
            [counts["tile_energy"], counts["global_energy"], counts["dram_energy"]],
            [
                price("streamer_energy") + price("tile_energy"),
                price("global_energy"),
                price("dma_energy") + price("dram_energy"),
            ],
        )
        return (
            counts["mac_energy"] * point
            + counts["op_energy"] * other
            + counts["injection_energy"] * price("injection_energy")
            + counts["extraction_energy"] * price("extraction_energy")
            + counts["program_energy"] * price("program_energy")
            + fetched
            + counts["static_power"] * price("static_power")
        )

    def _greatest_rates(
        self, precision: Precision, e: Mapping[str, float]
    ) -> Iterator[Rates]:
        yield self._arithmetic(precision, e)
        width = precision.bits / BITS_PER_BYTE
        partial = float(PARTIAL_SUM_BYTES[PRECISIONS.index(precision)])
        slots = self.data.peak[precision] / OPS_PER_MAC
        yield {
            "tracking_energy": slots,
            "forwarding_energy": INJECTED * width * slots,
            "accumulation_energy": partial * slots,
        }
        edge, blocks = self._bandwidth("tile"), self._bandwidth("global")
        yield dearest(e, {"injection_energy": edge}, {"extraction_energy": edge})
        yield {"streamer_energy": edge, "tile_energy": edge}
        yield dearest(e, {"global_energy": blocks}, {"program_energy": blocks})
        far = self._bandwidth("dram")
        yield {"dma_energy": far, "dram_energy": far}


class KPUTileEnergyAdapter(DomainFlowEnergyModel):
    """The tile model with the interface of a layered model.

    It is the domain-flow model with the plane cut into whole tiles: what the tile model
    lays out is charged and timed like any other plane.
    """

    units_are_copies: ClassVar = True

    def _plane(self, ops: OperatorColumns, engines: Engines) -> Plane:
        return KPUTileEnergyModel(engines).lay_out(ops)
