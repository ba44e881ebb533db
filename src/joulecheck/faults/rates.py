"""Faults in how long a machine takes: in launches, units and clocks."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.estimate import Estimate
from joulecheck.faults.planted import Arrays, Fault, compute_time
from joulecheck.model import Scales
from joulecheck.reference.layered import LayeredModel

TICK: Final = 0.1
"""Second."""

BUSY_SHARE: Final = 4
"""Of so many units one gets work."""


def _serial_launch(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = Arrays.of(model.estimate_batch(cases, scales))
    waiting = model.data.launch * (model.data.units - 1)
    return attrs.evolve(found, latency=found.latency + waiting)


def _timer_tick(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = Arrays.of(model.estimate_batch(cases, scales))
    return attrs.evolve(found, latency=np.ceil(found.latency / TICK) * TICK)


def _idle_units(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = Arrays.of(model.estimate_batch(cases, scales))
    longer = (BUSY_SHARE - 1) * compute_time(model, found)
    return attrs.evolve(found, latency=found.latency + longer)


RATE_FAULTS: Final = (
    Fault("serial-launch", "each unit is launched after the one before it", _serial_launch),
    Fault("timer-tick", "latency is counted in whole ticks of 100 ms", _timer_tick),
    Fault("idle-units", "three of four units get no work", _idle_units),
)
