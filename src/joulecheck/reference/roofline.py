"""Rooflines: a machine as a few rates and prices, for workloads of two numbers.

`Totals` state operations and bytes but no shapes, so that neither tiles nor traffic
can follow from them. What is left of a machine is its peak, the bandwidth of the memory
that its inputs come from, and what an operation, a byte and a second cost. An operation
is charged as half a MAC, for that is what most of them are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import ClassVar, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.composition import Max, Sum
from joulecheck.errors import Unsupported
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine
from joulecheck.model import UNSCALED, Scales
from joulecheck.quantities import OPS_PER_MAC
from joulecheck.reference import MACHINES
from joulecheck.reference.layered import Coefficients, LayeredModel, Rates
from joulecheck.reference.machine_file import MachineFile, load_machine
from joulecheck.workload import Precision, Totals


class RooflineModel(LayeredModel):
    """Energy and latency of totals on one machine.

    Latency is the launch and the longer of compute and memory time.
    """

    term_layers: ClassVar = {"alu": Layer.ALU, "memory": Layer.DRAM, "static": Layer.STATIC}
    latency_layers: ClassVar = {
        "compute": Layer.ALU,
        "launch": Layer.REGISTER,
        "memory": Layer.DRAM,
    }
    latency_composition = Sum("launch", Max("compute", "memory"))
    subtotals: ClassVar = {"dynamic": ("alu", "memory")}
    operators = frozenset({"totals"})

    def __init__(self, data: MachineFile) -> None:
        """Build the model of one machine."""
        super().__init__(data)
        memories = self.data.memories
        self.home = next(n for n, memory in memories.items() if "input" in memory.homes)

    @cached_property
    def machine(self) -> Machine:
        """The machine with one level of memory, for a roofline knows of no more."""
        machine = super().machine
        return attrs.evolve(machine, memories={self.home: machine.memories[self.home]})

    @cached_property
    def coefficients(self) -> dict[str, Coefficient]:
        """Those of the machine file that an operation, a byte or a second moves."""
        return {
            name: self.data.coefficient(name, self._moved_by(name))
            for name in self.data.coefficients
            if self._moved_by(name)
        }

    def _moved_by(self, coefficient: str) -> frozenset[str]:
        stem = coefficient.partition(".")[0]
        moves = {"mac_energy": "alu", self._byte_energy: "memory", "static_power": "static"}
        return frozenset({moves[stem]} if stem in moves else ())

    @property
    def _byte_energy(self) -> str:
        return f"{self.home}_energy"

    def _greatest_rates(
        self, precision: Precision, e: Mapping[str, float]
    ) -> Iterator[Rates]:
        """Half as many MACs as operations, and the bandwidth."""
        del e
        yield {f"mac_energy.{precision.name}": self.data.peak[precision] / OPS_PER_MAC}
        yield {self._byte_energy: self._bandwidth}

    def require(self, case: Case) -> None:
        """Refuse what is no totals at a precision that the machine has.

        Raises:
            Unsupported: it has no such precision, or the workload has shapes.
        """
        self.require_precision(case.precision)
        if not isinstance(case.workload, Totals):
            msg = f"the roofline of {self.name} takes totals only: it knows no shapes"
            raise Unsupported(msg)

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer a batch with arrays, one entry a case."""
        e = Coefficients(self.coefficients, scales)
        ops, crossing = cases.ops, cases.bytes
        op = e.by_precision("mac_energy", cases.precision) / OPS_PER_MAC
        peak, bandwidth = self.peak[cases.precision], self._bandwidth
        launch = np.full(len(cases), self.data.launch)
        compute, memory = ops / peak, crossing / bandwidth
        latency = np.maximum(compute, memory) + launch
        work = ops * op + crossing * e[self._byte_energy]
        energy = work + latency * e["static_power"]
        stall = np.maximum(0, crossing / bandwidth - compute)
        return Estimate(
            energy=energy,
            latency=latency,
            utilisation=ops / (latency * peak),
            energy_terms={
                "alu": ops * op,
                "memory": crossing * e[self._byte_energy],
                "static": latency * e["static_power"],
            },
            latency_terms={"compute": compute, "memory": memory, "launch": launch},
            through={Layer.ALU: ops * op, Layer.DRAM: work, Layer.STATIC: energy},
            latency_through={
                Layer.ALU: compute,
                Layer.REGISTER: compute + launch,
                Layer.DRAM: compute + stall + launch,
            },
            subtotals={"dynamic": work},
            traffic={self.home: crossing},
            events=self.told(
                lambda: {
                    "mac_energy": ops / OPS_PER_MAC,
                    self._byte_energy: crossing,
                    "static_power": latency,
                },
                cases,
            ),
        )

    @property
    def _bandwidth(self) -> float:
        bandwidth = self.data.memories[self.home].bandwidth
        assert bandwidth is not None  # noqa: S101 - machine files state it
        return bandwidth


def load_roofline(name: str) -> RooflineModel:
    """The roofline of one machine.

    Raises:
        InvalidMachine: its file breaks a rule.
    """
    return RooflineModel(load_machine(name))


ROOFLINES: Final[Mapping[str, Callable[[], RooflineModel]]] = MappingProxyType(
    {name: partial(load_roofline, name) for name in MACHINES}
)
"""A family of its own: `joulecheck.reference.roofline:ROOFLINES`."""
