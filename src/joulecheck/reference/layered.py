"""What all reference models share: coefficients under scale, and the protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.errors import UnknownName, Unsupported, did_you_mean
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine
from joulecheck.model import UNSCALED, Scale, Scales
from joulecheck.quantities import BITS_PER_BYTE
from joulecheck.reference.machine_file import MachineFile
from joulecheck.reference.traffic import Widths
from joulecheck.workload import Precision, Totals
from joulecheck.workload.columns import PRECISIONS, Floats, Ints

PARTIAL_SUM_BYTES: Final[Floats] = np.array(
    [8.0 if p.bits == Precision.FP64.bits else 4.0 for p in PRECISIONS]
)
"""By precision: sums of 64-bit formats are kept in 64 bits, all others in 32."""


def widths_of(cases: Cases) -> Widths:
    """The widths of each operator of a batch, (ops,)."""
    ops = cases.operators
    seen = ops.instances * ops.m * ops.k
    return Widths(
        ops.per_operator(cases.bits) / BITS_PER_BYTE,
        ops.per_operator(PARTIAL_SUM_BYTES[cases.precision]),
        np.where(ops.macs > 0, ops.input_elements / seen, 1.0),
    )


class Coefficients:
    """The values of a model's coefficients under the scales of one batch."""

    def __init__(self, declared: Mapping[str, Coefficient], scales: Scales) -> None:
        """Hold them.

        Raises:
            UnknownName: a scale names no coefficient.
        """
        unknown = scales.keys() - declared.keys()
        if unknown:
            name = min(unknown)
            known = did_you_mean(name, declared)
            msg = f"no coefficient is called {name!r}: {known}"
            raise UnknownName(msg)
        self._declared = declared
        self._scales = scales

    def __getitem__(self, name: str) -> Floats | float:
        """A value, one a case where it is scaled."""
        return self._declared[name].value * self._scales.get(name, 1.0)

    def by_precision(self, stem: str, precision: Ints) -> Floats:
        """The coefficient `stem.PRECISION` of each case's precision."""
        table = np.full(len(PRECISIONS), np.nan)
        for index, one in enumerate(PRECISIONS):
            name = f"{stem}.{one.name}"
            if name in self._declared:
                table[index] = self._declared[name].value
        values = table[precision]
        for name, factors in self._scales.items():
            if name.startswith(f"{stem}."):
                scaled = PRECISIONS.index(Precision[name.removeprefix(f"{stem}.")])
                values = np.where(precision == scaled, values * factors, values)
        return values


class LayeredModel(ABC):
    """A reference model: energy by term and layer, latency by term, vectorised.

    Subclasses count events and time; the scalar path is a batch of one.
    """

    layers: ClassVar[Mapping[str, Layer]]
    moves: ClassVar[Mapping[str, frozenset[str]]]
    """The energy terms that each coefficient moves; `mac_energy` stands for all its
    precisions."""

    operators = frozenset({"gemm", "conv2d", "elementwise", "subgraph"})

    def __init__(self, data: MachineFile) -> None:
        """Build the model of one machine."""
        self.name = data.name
        self.data = data
        self.precisions = frozenset(data.peak)

    @cached_property
    def machine(self) -> Machine:
        """The machine as the harness knows it."""
        return self.data.machine

    @cached_property
    def coefficients(self) -> dict[str, Coefficient]:
        """Every coefficient of the machine file, with the terms that it moves."""
        return {
            name: self.data.coefficient(name, self.moves[name.partition(".")[0]])
            for name in self.data.coefficients
        }

    @cached_property
    def peak(self) -> Floats:
        """(precisions,) operations a second, NaN where not supported."""
        return np.array([self.data.peak.get(p, np.nan) for p in PRECISIONS])

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """Answer one case: the batch of one.

        Raises:
            Unsupported: the machine has no such precision, or the workload is totals.
            UnknownName: a scale names no coefficient.
        """
        self.require(case)
        return batch_of_one(self.estimate_batch, case, scale)

    def require(self, case: Case) -> None:
        """Refuse what the machine cannot run.

        Raises:
            Unsupported: it has no such precision, or the workload is totals.
        """
        if case.precision not in self.precisions:
            names = ", ".join(sorted(p.name for p in self.precisions))
            msg = f"{self.name} computes in {names}, not in {case.precision.name}"
            raise Unsupported(msg)
        if isinstance(case.workload, Totals):
            msg = f"{self.name} needs operators, not totals: their shapes decide"
            raise Unsupported(msg)

    @abstractmethod
    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """Answer a batch with arrays, one entry a case."""


def batch_of_one(
    estimate_batch: Callable[[Cases, Scales], Estimate], case: Case, scale: Scale
) -> Estimate:
    """The scalar answer of a vectorised model."""
    scales = {name: np.array([factor]) for name, factor in scale.items()}
    found = estimate_batch(Cases.of([case]), scales)
    return Estimate(
        energy=_only(found.energy),
        latency=_only(found.latency),
        utilisation=_only(found.utilisation),
        energy_terms={n: _only(v) for n, v in found.energy_terms.items()},
        latency_terms={n: _only(v) for n, v in found.latency_terms.items()},
        through={layer: _only(v) for layer, v in found.through.items()},
    )


def _only(value: object) -> float:
    return float(np.asarray(value)[0])
