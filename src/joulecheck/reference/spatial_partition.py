"""Spatially partitioned machines: a network laid out over partitions of a chip.

Each operator occupies partitions that keep its weights in their own memory, and its
results cross to the partitions of the next one over a mesh. Weights that exceed the
memories are loaded in contexts: all partitions load a part of them, the inputs pass,
and a barrier ends the context. Nothing else is fetched twice. The memories of all
partitions act as one, for weights and for activations alike, which is optimistic where
an operator needs much of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.machine import Memory
from joulecheck.quantities import OPS_PER_MAC
from joulecheck.reference.layered import Prices, Rates
from joulecheck.reference.spatial import (
    SpatialModel,
    Tensors,
    Work,
    cut,
    moved_by,
    streamed,
    tensors,
)
from joulecheck.reference.traffic import spills
from joulecheck.workload import Precision
from joulecheck.workload.columns import (
    PARTIAL_SUM_BYTES,
    PRECISIONS,
    Floats,
    OperatorColumns,
)

MEAN_DISTANCE: Final = 1 / 3
"""Between two random points of a line, as a share of its length."""

HOMES: Final = ("ingress", "egress", "dram")
"""The edges of the chip that a machine may have."""


class SpatialPartitionEnergyModel(SpatialModel):
    """Energy and latency of a partitioned machine.

    An input goes to every partition that holds columns of its weights, over a tree of
    as many links; a result goes to a partition at the mean distance of the mesh.
    Latency: see `SpatialModel`; barriers come before an operator.
    """

    term_layers: ClassVar = {
        "alu": Layer.ALU,
        "engine": Layer.REGISTER,
        "barrier": Layer.REGISTER,
        "local": Layer.SCRATCHPAD,
        "crossing": Layer.ON_CHIP,
        "mesh": Layer.ON_CHIP,
        "ingress": Layer.DRAM,
        "egress": Layer.DRAM,
        "dram": Layer.DRAM,
        "static": Layer.STATIC,
    }
    latency_layers: ClassVar = {
        "engine": Layer.ALU,
        "launch": Layer.REGISTER,
        "barrier": Layer.REGISTER,
        "local": Layer.SCRATCHPAD,
        "mesh": Layer.ON_CHIP,
        **dict.fromkeys(HOMES, Layer.DRAM),
    }
    before: ClassVar = ("barrier",)
    smooth: ClassVar = frozenset(HOMES)
    subtotals: ClassVar = {
        "all_compute": ("alu",),
        "all_movement": ("engine", "local", "crossing", "mesh", *HOMES),
        "all_control": ("barrier",),
        "dynamic": ("all_compute", "all_movement", "all_control"),
    }
    moves: ClassVar = moved_by(
        {
            "alu": ("mac_energy", "op_energy"),
            "engine": ("latch_energy", "accumulation_energy"),
            "barrier": ("barrier_energy",),
            "local": ("local_energy",),
            "crossing": ("crossing_energy",),
            "mesh": ("hop_energy",),
            "ingress": ("ingress_energy",),
            "egress": ("egress_energy",),
            "dram": ("dram_energy",),
            "static": ("static_power",),
        }
    )
    last: ClassVar = "local"
    saves: ClassVar = {"local": frozenset({"barrier", "ingress", "egress", "dram"})}

    @property
    def splits(self) -> frozenset[str]:
        """All but K: a context takes the inputs of all of it."""
        return super().splits - {"k"}

    def _work(self, cases: Cases) -> Work:
        ops = cases.operators
        (engines,), moved = self._engines(cases), tensors(cases)
        tiling = cut(ops, engines)
        passing = streamed(moved, tiling)
        contexts = np.maximum(1, moved.near.b / self._memory)
        used = np.clip(tiling.grains, 1, engines.units)
        copies = moved.near.a * np.clip(tiling.across, 1, engines.units)
        far = self._far(
            ops, moved, np.maximum(1, moved.near.b / ops.instances / self._memory)
        )
        local = np.maximum(sum(passing, start=np.zeros(len(ops))), sum(far.values()))
        events = {
            "mac_energy": ops.macs,
            "op_energy": ops.other_ops,
            "latch_energy": passing.a + passing.b,
            "accumulation_energy": ops.macs / engines.depth * moved.widths.partial,
            "barrier_energy": used * contexts,
            "local_energy": local,
            "crossing_energy": copies + moved.near.c,
            "hop_energy": copies + moved.near.c * self._distance,
            **{f"{home}_energy": crossing for home, crossing in far.items()},
        }
        cycles = tiling.cycles + self._slots(ops, engines)
        busy = {
            "engine": cycles / self.data.clock,
            **self._passing({"local": local, "mesh": events["hop_energy"], **far}),
        }
        return Work(events, busy, {"barrier": contexts * self._barrier_time})

    def _passed(self, name: str, memory: Memory) -> Memory:
        """Inputs and results cross the mesh, which keeps none; weights stay in place."""
        if name == "mesh":
            return attrs.evolve(memory, capacity=0, carries={"input", "output"})
        return super()._passed(name, memory)

    @property
    def _memory(self) -> float:
        """Bytes of the memories of all partitions."""
        return self._capacity("local")[0]

    @property
    def _distance(self) -> float:
        """Mean links between two partitions of the mesh."""
        geometry = self.data.geometry
        return MEAN_DISTANCE * (geometry["mesh_rows"] + geometry["mesh_columns"])

    @property
    def _barrier_time(self) -> float:
        return self.data.geometry["barrier_cycles"] / self.data.clock

    def _far(
        self, ops: OperatorColumns, moved: Tensors, passes: Floats
    ) -> dict[str, Floats]:
        """Bytes across each edge of the chip, by the homes of the operands.

        Inputs return for every context that holds weights of their group. An
        intermediate that exceeds the memories leaves where results do and returns
        where the operand does that it is.
        """
        spill = spills(moved.each, ops, self._memory)
        by_operand = {
            "input": moved.far.a * passes + spill.a,
            "weight": moved.far.b + spill.b,
            "output": moved.far.c + spill.c,
        }
        memories = self.data.memories
        return {
            home: np.asarray(sum(by_operand[o] for o in sorted(memories[home].homes)))
            for home in HOMES
            if home in memories
        }

    def _priced(self, counts: Mapping[str, Floats], price: Prices) -> Floats | float:
        """Joule by what computes, by what travels between partitions, and by edge.

        Not a sum of the terms. An operation costs its share of all that its engine
        latches, adds up and reads; a byte that leaves a partition costs the two ports
        and its mean number of links; a byte at the edge costs its home.
        """
        work = np.maximum(counts["mac_energy"] + counts["op_energy"], 1)
        share = counts["mac_energy"] / work
        slot = share * price("mac_energy") + counts["op_energy"] / work * price("op_energy")
        for name in ("latch_energy", "accumulation_energy", "local_energy"):
            slot = slot + counts[name] / work * price(name)
        links = counts["hop_energy"] / counts["crossing_energy"]
        trip = price("crossing_energy") + links * price("hop_energy")
        edges = [f"{home}_energy" for home in HOMES if home in self.data.memories]
        outside = sum(counts[edge] * price(edge) for edge in edges)
        return (
            work * slot
            + counts["crossing_energy"] * trip
            + counts["barrier_energy"] * price("barrier_energy")
            + outside
            + counts["static_power"] * price("static_power")
        )

    def _greatest_rates(
        self, precision: Precision, e: Mapping[str, float]
    ) -> Iterator[Rates]:
        yield self._arithmetic(precision, e)
        partial = float(PARTIAL_SUM_BYTES[PRECISIONS.index(precision)])
        depth = max(x.depth for x in self.data.engines if x.precision is precision)
        sums = self.data.peak[precision] / OPS_PER_MAC / depth
        yield {"accumulation_energy": sums * partial}
        local, mesh = self._bandwidth("local"), self._bandwidth("mesh")
        yield {"local_energy": local, "latch_energy": local}
        yield {"hop_energy": mesh, "crossing_energy": mesh}
        yield {"barrier_energy": self.data.units / self._barrier_time}
        for home in HOMES:
            if home in self.data.memories:
                yield {f"{home}_energy": self._bandwidth(home)}
