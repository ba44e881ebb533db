"""Data-flow machines: instructions that fire when their tokens have met.

There is no program counter. Every operand is a token with a tag; a store that is
addressed by content looks for its partner, and when both are there, the instruction
leaves for a processing element. An instruction works on a packed word of elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.reference.layered import Prices, Rates
from joulecheck.reference.spatial import SpatialModel, Work, moved_by, served
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

    term_layers: ClassVar = {
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
    last: ClassVar = "shared"
    saves: ClassVar = {
        "local": frozenset({"local", "shared"}),
        "shared": frozenset({"local", "shared", "dram"}),
    }

    def _work(self, cases: Cases) -> Work:
        ops = cases.operators
        found = self._laid_out(cases, "local", "shared")
        near, middle, far = found.crossing
        tiles = found.tiling.grains * found.tiling.steps
        fired = tiles + ops.other_ops / found.engines.macs
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
        memories = self._passing({"local": near, "shared": middle, "dram": far})
        return Work(events, {"elements": found.seconds} | memories, {})

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

    def _greatest_rates(
        self, precision: Precision, e: Mapping[str, float]
    ) -> Iterator[Rates]:
        yield self._arithmetic(precision, e)
        engine = self._engine(precision)
        fired = self.data.units * self.data.clock * engine.macs_per_clock / engine.macs
        yield {
            "cam_energy": PARTNERS * fired,
            "matching_energy": fired,
            "node_energy": fired,
            "queue_energy": QUEUED * self._token_bytes * fired,
        }
        for memory in ("local", "shared", "dram"):
            yield {f"{memory}_energy": self._bandwidth(memory)}
