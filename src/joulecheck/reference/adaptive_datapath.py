"""Adaptive datapaths: hard macros wired into tiles by a configuration.

FPGA overlays and coarse-grained reconfigurable arrays lay an operator out on tiles of
multipliers. Operands reach them from scratchpads through programmable routing. Before
a datapath runs, its configuration is loaded; the machine file declares for how many
runs of an operator one configuration serves, and each run bears its part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.machine import Memory
from joulecheck.quantities import BITS_PER_BYTE, OPS_PER_MAC
from joulecheck.reference.layered import Prices, Rates
from joulecheck.reference.spatial import SpatialModel, Work, moved_by, served
from joulecheck.workload import Precision
from joulecheck.workload.columns import PARTIAL_SUM_BYTES, PRECISIONS, Floats

FACTORS: Final = 2
"""Operands that a macro latches for a MAC, besides the sum."""


class AdaptiveDatapathEnergyModel(SpatialModel):
    """Energy and latency of a machine that is configured for an operator.

    Latency: see `SpatialModel`; a run's part of the configuration comes before it.
    """

    term_layers: ClassVar = {
        "alu": Layer.ALU,
        "macro": Layer.REGISTER,
        "control": Layer.REGISTER,
        "routing": Layer.REGISTER,
        "scratchpad": Layer.SCRATCHPAD,
        "network": Layer.ON_CHIP,
        "configuration": Layer.ON_CHIP,
        "dram": Layer.DRAM,
        "static": Layer.STATIC,
    }
    latency_layers: ClassVar = {
        "tiles": Layer.ALU,
        "launch": Layer.REGISTER,
        "scratchpad": Layer.SCRATCHPAD,
        "loading": Layer.ON_CHIP,
        "dram": Layer.DRAM,
    }
    before: ClassVar = ("loading",)
    subtotals: ClassVar = {
        "all_compute": ("alu",),
        "all_movement": ("macro", "routing", "scratchpad", "network", "dram"),
        "all_control": ("control", "configuration"),
        "dynamic": ("all_compute", "all_movement", "all_control"),
    }
    moves: ClassVar = moved_by(
        {
            "alu": ("mac_energy", "op_energy"),
            "macro": ("macro_energy",),
            "control": ("tile_energy",),
            "routing": ("routing_energy",),
            "scratchpad": ("scratchpad_energy",),
            "network": ("network_energy",),
            "configuration": ("configuration_energy",),
            "dram": ("dram_energy",),
            "static": ("static_power",),
        }
    )
    last: ClassVar = "scratchpad"
    saves: ClassVar = {
        "scratchpad": frozenset({"routing", "scratchpad", "network", "dram"})
    }

    def _work(self, cases: Cases) -> Work:
        ops = cases.operators
        found = self._laid_out(cases, "scratchpad")
        near, far = found.crossing
        loaded = np.full(len(ops), self._configuration)
        latched = FACTORS * found.moved.widths.element + found.moved.widths.partial
        events = {
            "mac_energy": ops.macs,
            "op_energy": ops.other_ops,
            "macro_energy": ops.macs * latched,
            "tile_energy": found.tiling.grains * found.tiling.steps,
            "routing_energy": near,
            "scratchpad_energy": near,
            "network_energy": far,
            "configuration_energy": loaded,
            "dram_energy": far,
        }
        memories = self._passing({"scratchpad": near, "dram": far})
        loading = loaded / self._bandwidth("configuration")
        return Work(events, {"tiles": found.seconds} | memories, {"loading": loading})

    def _passed(self, name: str, memory: Memory) -> Memory:
        """The memory of configurations carries and keeps no operand."""
        if name == "configuration":
            return attrs.evolve(memory, capacity=0, term="loading")
        return super()._passed(name, memory)

    @property
    def _configuration(self) -> float:
        """Bytes of a configuration that one run of an operator bears."""
        geometry = self.data.geometry
        return geometry["configuration_bytes"] / geometry["runs_per_configuration"]

    def _priced(self, counts: Mapping[str, Floats], price: Prices) -> Floats | float:
        """Joule by macros, by tile steps, by source of a byte, and by configuration.

        Not a sum of the terms. A MAC in a macro costs its arithmetic and what it
        latches; a byte costs the way from the memory that serves it to the macros,
        routing last: see `served`; a run costs its part of a configuration.
        """
        width = FACTORS * price.element + price.partial
        macro = price("mac_energy") + width * price("macro_energy")
        inner = price("routing_energy") + price("scratchpad_energy")
        outer = price("network_energy") + price("dram_energy")
        fetched = served(
            [counts["scratchpad_energy"], counts["dram_energy"]], [inner, outer]
        )
        operators = counts["configuration_energy"] / self._configuration
        run = self._configuration * price("configuration_energy")
        return (
            counts["mac_energy"] * macro
            + counts["op_energy"] * price("op_energy")
            + counts["tile_energy"] * price("tile_energy")
            + fetched
            + operators * run
            + counts["static_power"] * price("static_power")
        )

    def _greatest_rates(
        self, precision: Precision, e: Mapping[str, float]
    ) -> Iterator[Rates]:
        yield self._arithmetic(precision, e)
        macs = self.data.peak[precision] / OPS_PER_MAC
        partial = float(PARTIAL_SUM_BYTES[PRECISIONS.index(precision)])
        latched = FACTORS * precision.bits / BITS_PER_BYTE + partial
        steps = macs / self._engine(precision).macs
        yield {"macro_energy": macs * latched, "tile_energy": steps}
        near, far = self._bandwidth("scratchpad"), self._bandwidth("dram")
        yield {"routing_energy": near, "scratchpad_energy": near}
        yield {"network_energy": far, "dram_energy": far}
        yield {"configuration_energy": self._bandwidth("configuration")}
