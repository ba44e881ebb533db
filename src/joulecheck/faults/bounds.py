"""Faults in rates, bytes and units: what breaks a bound or the order of layers."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer
from joulecheck.estimate import Estimate, total
from joulecheck.faults.planted import (
    Fault,
    FaultyModel,
    RaisingModel,
    dearer,
    sound,
    times,
)
from joulecheck.model import UNSCALED, Scale, Scales
from joulecheck.quantities import BITS_PER_BYTE
from joulecheck.reference.layered import LayeredModel
from joulecheck.workload import Precision
from joulecheck.workload.columns import PRECISIONS, Floats


def _free_memories(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    """The longest of compute and the edges of the chip, and nothing else."""
    found = sound(model, cases, scales)
    ends = {Layer.ALU, Layer.DRAM}
    terms = found.latency_terms.items()
    left = [time for name, time in terms if model.latency_layers[name] in ends]
    return attrs.evolve(found, latency=np.maximum.reduce(left))


def _half_price_macs(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    alu = found.energy_terms["alu"]
    return dearer(model, found, "alu", np.where(cases.macs > 0, -alu / 2, 0.0))


def _unwritten_results(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    memories = model.machine.memories.items()
    home = next(name for name, memory in memories if "output" in memory.homes)
    crossing = found.traffic[home] - cases.compulsory.output
    return attrs.evolve(found, traffic={**found.traffic, home: crossing})


def _uncached(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    memories = model.machine.memories.items()
    home = next(name for name, memory in memories if "input" in memory.homes)
    fetched = 2 * cases.macs * cases.bits / BITS_PER_BYTE
    crossing = found.traffic[home] + fetched
    return attrs.evolve(found, traffic={**found.traffic, home: crossing})


def _near_elements(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    near = next(iter(found.traffic))
    elements = found.traffic[near] / (cases.bits / BITS_PER_BYTE)
    return attrs.evolve(found, traffic={**found.traffic, near: elements})


def _picojoules(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    faulty = times(found, np.full(len(cases), 1e12))
    return attrs.evolve(
        faulty,
        latency=found.latency,
        latency_terms=found.latency_terms,
        latency_through=found.latency_through,
        events=found.events,
    )


def _per_mac(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    return attrs.evolve(found, energy=np.where(cases.macs > 0, found.energy, np.nan))


def _serial_terms(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    return attrs.evolve(found, latency=total(found.latency_terms, len(cases)))


def _counted_twice(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    doubled = found.subtotals["dynamic"] + found.energy_terms["alu"]
    return attrs.evolve(found, subtotals={**found.subtotals, "dynamic": doubled})


def _unlaunched(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    launch = found.latency_terms["launch"]
    through = {
        layer: time if layer is Layer.ALU else time - launch
        for layer, time in found.latency_through.items()
    }
    return attrs.evolve(found, latency_through=through)


def _layers_alone(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)

    def alone(layer: Layer) -> Floats:
        terms = found.latency_terms.items()
        own = [time for name, time in terms if model.latency_layers[name] is layer]
        longest: Floats = np.maximum.reduce(own)
        return longest

    through = {layer: alone(layer) for layer in found.latency_through}
    return attrs.evolve(found, latency_through=through)


WORD: Final = 2.0**16
"""What a counter of 16 bits wraps at."""


def _ops_in_a_word(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    return times(sound(model, cases, scales), np.mod(cases.ops, WORD) / cases.ops)


def _bytes_in_a_word(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    return times(sound(model, cases, scales), np.mod(cases.bytes, WORD) / cases.bytes)


def _one_op_energy(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    """Every operation costs what a MAC of the widest format does."""
    found = sound(model, cases, scales)
    macs = [c.value for n, c in model.coefficients.items() if n.startswith("mac_energy")]
    alu = max(macs) * (cases.macs + cases.ops)
    return dearer(model, found, "alu", alu - found.energy_terms["alu"])


def _width_upside_down(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    factor = (Precision.FP32.bits / cases.bits) ** 2
    return attrs.evolve(found, traffic={n: q * factor for n, q in found.traffic.items()})


_TF32: Final = PRECISIONS.index(Precision.TF32)
_FP32: Final = PRECISIONS.index(Precision.FP32)


def _tf32_as_fp32(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    looked_up = np.where(cases.precision == _TF32, _FP32, cases.precision)
    return sound(model, cases.at(looked_up), scales)


class DefaultingModel(FaultyModel):
    """A model that takes TF32 for FP32, whether the machine has it or not."""

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """The answer at FP32 where TF32 was asked."""
        known = Precision.FP32 if case.precision is Precision.TF32 else case.precision
        return super().estimate(Case(case.workload, known), scale)


BOUNDS_FAULTS: Final = (
    Fault(
        "free-near-memories",
        "latency is the longest of compute and the memories outside the chip",
        _free_memories,
    ),
    Fault("half-price-macs", "a MAC costs half of its energy", _half_price_macs),
    Fault(
        "unwritten-results",
        "the traffic of the edge of the chip leaves out what is written",
        _unwritten_results,
    ),
    Fault(
        "uncached",
        "each MAC fetches its operands from outside the chip as well",
        _uncached,
    ),
    Fault(
        "near-elements",
        "the traffic of the memory next to the arithmetic is in elements",
        _near_elements,
    ),
    Fault("picojoules", "energies are in picojoule", _picojoules),
    Fault(
        "per-mac",
        "a workload without MACs divides by their number",
        _per_mac,
        RaisingModel,
    ),
    Fault("serial-terms", "latency is the sum of its terms", _serial_terms),
    Fault(
        "counted-twice",
        "the sub-total of all dynamic energy counts the ALU twice",
        _counted_twice,
    ),
    Fault(
        "unlaunched-prefix",
        "the latencies up to a layer leave out the launch",
        _unlaunched,
    ),
    Fault(
        "layers-alone",
        "the latency up to a layer is that of the layer alone",
        _layers_alone,
    ),
    Fault("ops-in-a-word", "operations are counted in 16 bits", _ops_in_a_word),
    Fault("bytes-in-a-word", "bytes are counted in 16 bits", _bytes_in_a_word),
    Fault("one-op-energy", "every precision has the same ALU energy", _one_op_energy),
    Fault(
        "width-upside-down",
        "traffic grows as the elements get narrower",
        _width_upside_down,
    ),
    Fault(
        "tf32-as-fp32",
        "TF32 is looked up as FP32 where the machine has none",
        _tf32_as_fp32,
        DefaultingModel,
    ),
)
"""Faults that break a bound, an order of layers or a width."""
