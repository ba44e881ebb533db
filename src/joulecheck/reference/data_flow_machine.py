"""Data-flow machines: instructions that fire when their tokens have met.

There is no program counter. Every operand is a token with a tag; a store that is
addressed by content looks for its partner, and when both are there, the instruction
leaves for a processing element. An instruction works on a packed word of elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.reference.layered import Prices
from joulecheck.reference.spatial import (
    SpatialModel,
    Work,
    cut,
    levels,
    moved_by,
    served,
    streamed,
    tensors,
)
from joulecheck.workload import Precision
from joulecheck.workload.columns import Floats

PARTNERS: Final = 2
"""Tokens that must meet: each is looked up when it arrives."""

QUEUED: Final = PARTNERS + 1
"""Tokens of an instruction that pass a queue: its operands and its result."""


class DataFlowMachineEnergyModel(SpatialModel):
    """Energy and latency of a tagged-token machine.

    Latency: see `SpatialModel`; matching keeps up with the processing elements.
    """

    layers: ClassVar = {
        "alu": Layer.ALU,
        "cam": Layer.REGISTER,
        "matching": Layer.REGISTER,
        "queue": Layer.REGISTER,
        "local": Layer.SCRATCHPAD,
        "shared": Layer.ON_CHIP,
        "dram": Layer.DRAM,
        "static": Layer.STATIC,
    }
    latency_layers: ClassVar = {
        "elements": Layer.ALU,
        "launch": Layer.REGISTER,
        "local": Layer.SCRATCHPAD,
        "shared": Layer.ON_CHIP,
        "dram": Layer.DRAM,
    }
    subtotals: ClassVar = {
        "all_compute": ("alu",),
        "all_movement": ("local", "queue", "shared", "dram"),
        "all_control": ("cam", "matching"),
        "dynamic": ("all_compute", "all_movement", "all_control"),
    }
    moves: ClassVar = moved_by(
        {
            "alu": ("mac_energy", "op_energy"),
            "cam": ("cam_energy",),
            "matching": ("matching_energy", "node_energy"),
            "queue": ("queue_energy",),
            "local": ("local_energy",),
            "shared": ("shared_energy",),
            "dram": ("dram_energy",),
            "static": ("static_power",),
        }
    )

    def _work(self, cases: Cases) -> Work:
        ops = cases.operators
        (engines,), moved = self._engines(cases), tensors(cases)
        tiling = cut(ops, engines)
        lanes = engines.rows * engines.columns * engines.depth
        fired = tiling.grains * tiling.steps + ops.other_ops / lanes
        near, middle, far = levels(
            sum(streamed(moved, tiling), start=np.zeros(len(ops))),
            ops,
            moved,
            self._capacity("local", "shared"),
        )
        events = {
            "mac_energy": ops.macs,
            "op_energy": ops.other_ops,
            "cam_energy": PARTNERS * fired,
            "matching_energy": fired,
            "node_energy": fired,
            "queue_energy": QUEUED * self._token_bytes * fired,
            "local_energy": near,
            "shared_energy": middle,
            "dram_energy": far,
        }
        cycles = tiling.cycles + self._slots(ops, engines)
        busy = {
            "elements": cycles / self.data.clock,
            "local": near / self._bandwidth("local"),
            "shared": middle / self._bandwidth("shared"),
            "dram": far / self._bandwidth("dram"),
        }
        return Work(events, busy, {})

    @property
    def _token_bytes(self) -> int:
        """Of one token: its packed word and its tag."""
        return self.data.geometry["word_bytes"] + self.data.geometry["tag_bytes"]

    def _priced(self, counts: Mapping[str, Floats], price: Prices) -> Floats | float:
        """Joule by instruction that fires and by source of a byte.

        Not a sum of the terms. An instruction costs the meeting of its tokens, its node
        of the graph and the queues of all its tokens, on top of what it computes; a
        byte costs the way from the memory that serves it: see `served`.
        """
        word = QUEUED * self._token_bytes * price("queue_energy")
        meeting = PARTNERS * price("cam_energy") + price("matching_energy")
        firing = meeting + price("node_energy") + word
        fetched = served(
            [counts["local_energy"], counts["shared_energy"], counts["dram_energy"]],
            [price("local_energy"), price("shared_energy"), price("dram_energy")],
        )
        return (
            counts["mac_energy"] * price("mac_energy")
            + counts["op_energy"] * price("op_energy")
            + counts["matching_energy"] * firing
            + fetched
            + counts["static_power"] * price("static_power")
        )

    def _power(self, precision: Precision, e: Mapping[str, float]) -> Iterator[float]:
        (engine,) = (x for x in self.data.engines if x.precision is precision)
        lanes = engine.rows * engine.columns * engine.depth
        fired = self.data.units * self.data.clock * engine.macs_per_clock / lanes
        yield PARTNERS * fired * e["cam_energy"]
        yield fired * (e["matching_energy"] + e["node_energy"])
        yield QUEUED * self._token_bytes * fired * e["queue_energy"]
        for memory in ("local", "shared", "dram"):
            yield self._bandwidth(memory) * e[f"{memory}_energy"]
