"""Faults against the definition of a number: a price, a share, a power."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.composition import composed
from joulecheck.estimate import Estimate
from joulecheck.faults.mutation import lasting
from joulecheck.faults.planted import Fault, dearer, sound
from joulecheck.model import Scales
from joulecheck.quantities import BITS_PER_BYTE, OPS_PER_MAC
from joulecheck.reference.layered import LayeredModel


def _macs_charged_twice(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    more = (OPS_PER_MAC - 1) * found.energy_terms["alu"]
    return dearer(model, found, "alu", np.where(cases.macs > 0, more, 0.0))


def _price_a_bit(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    for name in found.traffic:
        if model.layers.get(name) is Layer.DRAM:
            more = (BITS_PER_BYTE - 1) * found.energy_terms[name]
            found = dearer(model, found, name, more)
    return found


def _leakage_of_each_unit(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    more = (model.data.units - 1) * found.energy_terms["static"]
    return dearer(model, found, "static", more)


def _busy_utilisation(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    busy = found.latency - found.latency_terms["launch"]
    return attrs.evolve(found, utilisation=found.utilisation * found.latency / busy)


def _both_ways(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    terms = {
        name: time / 2 if model.latency_layers[name] is Layer.DRAM else time
        for name, time in found.latency_terms.items()
    }
    shorter = composed(model.latency_composition, terms, len(cases))
    longer = composed(model.latency_composition, found.latency_terms, len(cases))
    latency = found.latency * shorter / longer
    return attrs.evolve(found, latency=latency, latency_terms=terms)


def _uncounted_control(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    control = next(n for n, layer in model.layers.items() if layer is Layer.REGISTER)
    return attrs.evolve(found, energy=found.energy - found.energy_terms[control])


def _launch_in_milliseconds(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    launch = 1000 * found.latency_terms["launch"]
    later = attrs.evolve(found, latency_terms={**found.latency_terms, "launch": launch})
    return lasting(model, later, found.latency + 0.999 * launch, by_layer=True)


DEFINITION_FAULTS: Final = (
    Fault("macs-charged-twice", "both operations of a MAC cost a MAC", _macs_charged_twice),
    Fault("price-a-bit", "the prices of bytes outside the chip are a bit's", _price_a_bit),
    Fault(
        "leakage-of-each-unit",
        "the static power of the chip is that of each unit",
        _leakage_of_each_unit,
    ),
    Fault(
        "both-ways",
        "the memories outside the chip read and write at their rate at once",
        _both_ways,
    ),
    Fault(
        "launch-in-milliseconds",
        "a launch in microseconds is read as milliseconds",
        _launch_in_milliseconds,
    ),
    Fault(
        "uncounted-control",
        "the total leaves out a term of instructions and control",
        _uncounted_control,
    ),
    Fault(
        "busy-utilisation",
        "the utilisation leaves the launch out",
        _busy_utilisation,
    ),
)
"""Faults against the definition of a number."""
