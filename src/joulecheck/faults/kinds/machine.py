"""Faults in the data of one machine: a figure off by a factor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.estimate import Estimate
from joulecheck.faults.mutation import Drawn, Kind, one_of
from joulecheck.faults.planted import sound
from joulecheck.machine import Memory
from joulecheck.model import Scales
from joulecheck.reference.layered import LayeredModel
from joulecheck.reference.machine_file import MachineFile

Rng = np.random.Generator

FACTORS: Final = (2.0, 8.0, 1000.0, 1 / 2, 1 / 8, 1 / 1000)


Slip = Callable[[MachineFile], MachineFile]
"""The figures that are read instead of a machine's own."""


def _with_data(what: str, places: Iterable[str], slip: Slip) -> Drawn:
    """A machine with other figures, under the declarations of the sound one."""
    slipped: dict[int, tuple[LayeredModel, LayeredModel]] = {}

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        if id(model) not in slipped:  # a derived machine has figures of its own
            slipped[id(model)] = model, type(model)(slip(model.data))
        return sound(slipped[id(model)][1], cases, scales)

    return Drawn(what=what, places=places, change=change)


def _coefficient_slip(rng: Rng, model: LayeredModel) -> Drawn:
    name = one_of(rng, [n for n in model.data.coefficients if "." not in n])
    factor = one_of(rng, FACTORS)

    def slip(data: MachineFile) -> MachineFile:
        row = data.coefficients[name]
        rows = {**data.coefficients, name: attrs.evolve(row, value=row.value * factor)}
        return attrs.evolve(data, coefficients=rows)

    places = (name, *(model.coefficients[name].terms or ()))
    return _with_data(f"{name} x {factor:g}", places, slip)


def _faster(memory: Memory, factor: float) -> Memory:
    if memory.bandwidth is None:
        return memory
    return attrs.evolve(memory, bandwidth=memory.bandwidth * factor)


def _bandwidth_slip(rng: Rng, model: LayeredModel) -> Drawn:
    name, factor = one_of(rng, model.timed), one_of(rng, (2.0, 8.0, 1000.0))

    def slip(data: MachineFile) -> MachineFile:
        faster = _faster(data.memories[name], factor)
        return attrs.evolve(data, memories={**data.memories, name: faster})

    return _with_data(f"bandwidth of {name} x {factor:g}", (name, "latency"), slip)


def _rated(data: MachineFile, factor: float) -> MachineFile:
    """The machine at another clock."""
    peak = {precision: rate * factor for precision, rate in data.peak.items()}
    return attrs.evolve(data, clock=data.clock * factor, peak=peak)


def _clock_slip(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    factor = one_of(rng, FACTORS[:3])
    return _with_data(
        f"clock and peaks x {factor:g}",
        ("latency", "compute"),
        lambda data: _rated(data, factor),
    )


def _launch_slip(rng: Rng, model: LayeredModel) -> Drawn | None:
    if not model.data.launch:
        return None
    factor = one_of(rng, (1000.0, 1 / 1000))
    return _with_data(
        f"launch x {factor:g}",
        ("launch", "latency"),
        lambda data: attrs.evolve(data, launch=data.launch * factor),
    )


def _slower_generation(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    factor = one_of(rng, (1 / 4, 1 / 8, 1 / 1000))

    def slip(data: MachineFile) -> MachineFile:
        memories = {name: _faster(m, factor) for name, m in data.memories.items()}
        return attrs.evolve(_rated(data, factor), memories=memories)

    return _with_data(f"clock and bandwidths x {factor:g}", ("latency",), slip)


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
