"""Faults in what becomes of a model when a figure of its machine changes.

All but one derive another machine than they are asked for: a figure that should stay
moves with another, one that should move stays, or one moves twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import attrs

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.estimate import Estimate
from joulecheck.faults.planted import Arrays, Change, Fault, FaultyModel
from joulecheck.knob import KnobKind
from joulecheck.model import Scales
from joulecheck.quantities import us
from joulecheck.reference.layered import LayeredModel

Factors = Mapping[str, float]

Mangle = Callable[[LayeredModel, Factors], Factors]
"""What is derived instead, from the model and the factors that were asked for."""


class MisderivingModel(FaultyModel):
    """A model that answers well and derives another machine than it is asked for."""

    def __init__(self, model: LayeredModel, change: Change, mangle: Mangle) -> None:
        """Plant `mangle` in `model`."""
        super().__init__(model, change)
        self.mangle = mangle

    def derive(self, factors: Factors) -> FaultyModel:
        """The wrong machine."""
        return super().derive(self.mangle(self.model, factors))

    def planted_in(self, model: LayeredModel) -> FaultyModel:
        """Another model that derives as badly."""
        return MisderivingModel(model, self.change, self.mangle)


def _sound(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    return model.estimate_batch(cases, scales)


def _launch_times(factors: Factors, more: float) -> Factors:
    return {**factors, "launch": factors.get("launch", 1.0) * more}


def _clocked_launch(_: LayeredModel, factors: Factors) -> Factors:
    return _launch_times(factors, factors.get("clock", 1.0))


def _fixed_launch(_: LayeredModel, factors: Factors) -> Factors:
    return {name: factor for name, factor in factors.items() if name != "launch"}


def _twice_clocked_launch(_: LayeredModel, factors: Factors) -> Factors:
    return _launch_times(factors, factors.get("clock", 1.0) ** -2)


def _launch_of_each_unit(_: LayeredModel, factors: Factors) -> Factors:
    return _launch_times(factors, factors.get("units", 1.0))


def _free_launch(_: LayeredModel, factors: Factors) -> Factors:
    return _launch_times(factors, 1e-9 if factors.get("units", 1.0) > 1 else 1.0)


def _dividing_capacity(model: LayeredModel, factors: Factors) -> Factors:
    found = dict(factors)
    for name, knob in model.knobs.items():
        if knob.kind is KnobKind.CAPACITY:
            for memory in model.data.memories:
                rate = f"{memory}.bandwidth"
                found[rate] = found.get(rate, 1.0) / factors.get(name, 1.0)
    return found


def _idle_tail(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = Arrays.of(model.estimate_batch(cases, scales))
    price = model.coefficients["static_power"].value * scales.get("static_power", 1.0)
    tail = price * us
    static = found.energy_terms["static"] + tail
    through = {**found.through, Layer.STATIC: found.through[Layer.STATIC] + tail}
    return attrs.evolve(
        found,
        energy=found.energy + tail,
        energy_terms={**found.energy_terms, "static": static},
        through=through,
    )


def _misderiving(name: str, summary: str, mangle: Mangle) -> Fault:
    return Fault(name, summary, _sound, partial(MisderivingModel, mangle=mangle))


MACHINE_FAULTS: Final = (
    _misderiving(
        "clocked-launch", "the launch is multiplied by the clock's factor", _clocked_launch
    ),
    _misderiving("fixed-launch", "the launch stays whatever its knob says", _fixed_launch),
    _misderiving(
        "twice-clocked-launch",
        "the launch is divided by the clock's factor twice",
        _twice_clocked_launch,
    ),
    _misderiving(
        "launch-of-each-unit",
        "each unit of a derived machine is launched after the other",
        _launch_of_each_unit,
    ),
    _misderiving(
        "free-launch", "a machine with more units starts in no time", _free_launch
    ),
    _misderiving(
        "dividing-capacity",
        "the bandwidths are divided by the factor of a capacity",
        _dividing_capacity,
    ),
    Fault("idle-tail", "static power is paid for a microsecond after the end", _idle_tail),
)
"""Faults in derived machines, and in what has a second in its unit."""
