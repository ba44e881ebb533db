"""Faults in what a machine does a second: in launches, units, clocks and watts."""

from __future__ import annotations

from typing import Final

import attrs

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.estimate import Estimate
from joulecheck.faults.planted import Arrays, Fault, compute_time
from joulecheck.model import Scales
from joulecheck.reference.layered import LayeredModel

MILLI: Final = 1000
"""Milliwatts of a watt."""

BUSY_SHARE: Final = 4
"""Of so many units one gets work."""


def _serial_launch(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = Arrays.of(model.estimate_batch(cases, scales))
    waiting = model.data.launch * (model.data.units - 1)
    return attrs.evolve(found, latency=found.latency + waiting)


def _throttled(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = Arrays.of(model.estimate_batch(cases, scales))
    for point in [*model.data.operating_points][-1:]:
        slowed = type(model)(model.data.at(point)).estimate_batch(cases, scales)
        found = attrs.evolve(found, latency=Arrays.of(slowed).latency)
    return found


def _idle_units(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = Arrays.of(model.estimate_batch(cases, scales))
    longer = (BUSY_SHARE - 1) * compute_time(model, found)
    return attrs.evolve(found, latency=found.latency + longer)


def _milliwatts(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = Arrays.of(model.estimate_batch(cases, scales))
    more = (MILLI - 1) * found.energy_terms["static"]
    terms = {**found.energy_terms, "static": found.energy_terms["static"] + more}
    through = {**found.through, Layer.STATIC: found.through[Layer.STATIC] + more}
    return attrs.evolve(
        found, energy=found.energy + more, energy_terms=terms, through=through
    )


RATE_FAULTS: Final = (
    Fault("serial-launch", "each unit is launched after the one before it", _serial_launch),
    Fault("throttled", "latency is that of another operating point", _throttled),
    Fault("idle-units", "three of four units get no work", _idle_units),
    Fault("milliwatts", "static power is a thousand times what it is", _milliwatts),
)
