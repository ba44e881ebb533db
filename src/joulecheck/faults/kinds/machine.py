"""Faults in the data of one machine: a figure off by a factor."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.estimate import Estimate
from joulecheck.faults.mutation import Drawn, Kind, one_of
from joulecheck.faults.planted import Arrays
from joulecheck.model import Scales
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import MachineFile

Rng = np.random.Generator

FACTORS: Final = (2.0, 8.0, 1000.0, 1 / 2, 1 / 8, 1 / 1000)


def _with_data(what: str, places: tuple[str, ...], data: MachineFile) -> Drawn:
    """A machine with other figures, under the declarations of the sound one."""
    slipped: dict[type, LayeredModel] = {}

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        if type(model) not in slipped:
            slipped[type(model)] = type(model)(data)
        return Arrays.of(slipped[type(model)].estimate_batch(cases, scales))

    return Drawn(what=what, places=places, change=change)


def _coefficient_slip(rng: Rng, model: LayeredModel) -> Drawn:
    name = one_of(rng, [n for n in model.data.coefficients if "." not in n])
    factor = one_of(rng, FACTORS)
    row = model.data.coefficients[name]
    rows = {**model.data.coefficients, name: attrs.evolve(row, value=row.value * factor)}
    data = attrs.evolve(model.data, coefficients=rows)
    places = (name, *(model.coefficients[name].terms or ()))
    return _with_data(f"{name} x {factor:g}", places, data)


def _bandwidth_slip(rng: Rng, model: LayeredModel) -> Drawn:
    memories = {n: m for n, m in model.data.memories.items() if m.bandwidth}
    name, factor = one_of(rng, memories), one_of(rng, (2.0, 8.0, 1000.0))
    memory = memories[name]
    assert memory.bandwidth is not None  # noqa: S101 - just filtered
    faster = attrs.evolve(memory, bandwidth=memory.bandwidth * factor)
    data = attrs.evolve(model.data, memories={**model.data.memories, name: faster})
    return _with_data(f"bandwidth of {name} x {factor:g}", (name, "latency"), data)


def _clock_slip(rng: Rng, model: LayeredModel) -> Drawn:
    factor = one_of(rng, FACTORS[:3])
    peak = {p: rate * factor for p, rate in model.data.peak.items()}
    data = attrs.evolve(model.data, clock=model.data.clock * factor, peak=peak)
    return _with_data(f"clock and peaks x {factor:g}", ("latency", "compute"), data)


def _launch_slip(rng: Rng, model: LayeredModel) -> Drawn | None:
    if not model.data.launch:
        return None
    factor = one_of(rng, (1000.0, 1 / 1000))
    data = attrs.evolve(model.data, launch=model.data.launch * factor)
    return _with_data(f"launch x {factor:g}", ("launch", "latency"), data)


def _slower_generation(rng: Rng, model: LayeredModel) -> Drawn:
    factor = one_of(rng, (1 / 4, 1 / 8, 1 / 1000))
    peak = {p: rate * factor for p, rate in model.data.peak.items()}
    memories = {
        name: m if m.bandwidth is None else attrs.evolve(m, bandwidth=m.bandwidth * factor)
        for name, m in model.data.memories.items()
    }
    clock = model.data.clock * factor
    data = attrs.evolve(model.data, clock=clock, peak=peak, memories=memories)
    return _with_data(f"clock and bandwidths x {factor:g}", ("latency",), data)


KINDS: Final = (
    Kind("coefficient-slip", "one energy figure of the machine is off by a factor",
         "a table entry of another unit", _coefficient_slip),
    Kind("bandwidth-slip", "a bandwidth of the machine is too high by a factor",
         "bits per second entered as bytes", _bandwidth_slip),
    Kind("clock-slip", "the clock of the machine is too high by a factor",
         "megahertz and gigahertz", _clock_slip),
    Kind("launch-slip", "the launch time of the machine is off by a thousand",
         "microseconds and nanoseconds", _launch_slip),
    Kind("slower-generation", "the machine is slower than its data say",
         "figures of a smaller variant under the name of a larger", _slower_generation),
)  # fmt: skip
