"""A tiny model that gives models of other machines, to be broken by tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from joulecheck.case import AnyCase, Case, Derivation, DerivedCase
from joulecheck.coefficient import Coefficient
from joulecheck.errors import Unsupported
from joulecheck.estimate import Estimate
from joulecheck.knob import Knob, KnobKind
from joulecheck.model import UNSCALED, Scale, Subject
from joulecheck.property import property_named
from joulecheck.workload import Precision
from tiny import MAC

KNOBS: Final = {
    "clock": Knob(KnobKind.RATE, per_unit=True),
    "bandwidth": Knob(KnobKind.RATE),
    "units": Knob(KnobKind.COUNT, low=1.0),
    "buffer": Knob(KnobKind.CAPACITY, terms=["dram"]),
    "lane": Knob(KnobKind.CAPACITY, per_unit=True, terms=["dram"]),
    "launch": Knob(KnobKind.DELAY),
}
"""Of the machine below; a lane is a memory that each unit has."""

COEFFICIENTS: Final = {
    "mac_energy": Coefficient("mac_energy", 1e-12, "J/op"),
    "static_power": Coefficient("static_power", 1.0, "W"),
}


@attrs.frozen
class Chip:
    """An operation takes a cycle of a unit, and what exceeds the memories comes twice."""

    clock: float = 1.0
    bandwidth: float = 1.0
    units: float = 4.0
    buffer: float = 8.0
    lane: float = 1.0
    launch: float = 0.5

    name = "chip"
    precisions = (Precision.FP32, Precision.INT8)
    knobs = KNOBS
    coefficients = COEFFICIENTS

    def derive(self, factors: Mapping[str, float]) -> Chip:
        moved = {name: getattr(self, name) * f for name, f in factors.items()}
        if moved.get("units", 1.0) > 1e6:
            msg = "there is no room for so many units"
            raise Unsupported(msg)
        return attrs.evolve(self, **moved)

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        on_chip = self.buffer + self.lane * self.units
        fetched = case.bytes + max(0.0, case.bytes - on_chip)
        times = {
            "compute": case.ops / self.units / self.clock,
            "dram": fetched / self.bandwidth,
            "launch": self.launch,
        }
        latency = max(times["compute"], times["dram"]) + self.launch
        terms = {
            "alu": 1e-12 * case.ops * scale.get("mac_energy", 1.0),
            "dram": 1e-10 * fetched * scale.get("mac_energy", 1.0),
            "static": latency * scale.get("static_power", 1.0),
        }
        return Estimate(
            energy=sum(terms.values()),
            latency=latency,
            energy_terms=terms,
            latency_terms=times,
        )


class Changed:
    """A chip with another answer or another way to derive; else like a chip."""

    def __init__(
        self,
        chip: Chip | None = None,
        *,
        answer: Callable[[Chip, Case, Scale], Estimate] = Chip.estimate,
        mangle: Callable[[Mapping[str, float]], Any] = dict,
        **declared: object,
    ) -> None:
        self.chip = Chip() if chip is None else chip
        self.answer = answer
        self.mangle = mangle
        self.declared = declared
        for name, value in declared.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> object:
        return getattr(self.chip, name)

    def derive(self, factors: Mapping[str, float]) -> Changed:
        chip = self.chip.derive(self.mangle(factors))
        return Changed(chip, answer=self.answer, mangle=self.mangle, **self.declared)

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        return self.answer(self.chip, case, scale)


def on(case: Case = MAC, scale: Scale = UNSCALED, **factors: float) -> DerivedCase:
    """A case on the machine with these factors."""
    return DerivedCase(case, Derivation(factors, scale))


def margin(law: str, model: object, case: AnyCase) -> float:
    return property_named(law).margin_of(Subject.of(model), case)
