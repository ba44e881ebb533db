"""Faults in the composition of latency, in utilisation and in overheads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.composition import composed
from joulecheck.estimate import Estimate
from joulecheck.faults.mutation import Drawn, Kind, lasting, one_of
from joulecheck.faults.planted import Arrays, sound
from joulecheck.model import Scales
from joulecheck.reference.layered import LayeredModel
from joulecheck.workload.columns import Floats

Rng = np.random.Generator


def _latency(
    rng: Rng,
    what: str,
    place: tuple[str, ...],
    of: Callable[[LayeredModel, Arrays, Cases], Floats],
) -> Drawn:
    """Another latency in the total alone, or in the predictions by layer as well."""
    by_layer = bool(rng.integers(2))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        return lasting(model, found, of(model, found, cases), by_layer=by_layer)

    where = "by layer as well" if by_layer else "in the total"
    return Drawn(what=f"{what}, {where}", places=("latency", *place), change=change)


def _compute_terms(model: LayeredModel, found: Arrays) -> list[str]:
    others = {*model.machine.memories, "launch"}
    return [name for name in found.latency_terms if name not in others]


def _memory_terms(model: LayeredModel) -> list[str]:
    return list(model.timed)


def _longest(found: Arrays, names: list[str]) -> Floats:
    times = [found.latency_terms[name] for name in names if name in found.latency_terms]
    longest: Floats = np.maximum.reduce(times)
    return longest


def _minimum(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    return _latency(
        rng,
        "of all terms",
        (),
        lambda _, found, __: np.minimum.reduce(list(found.latency_terms.values())),
    )


def _sum(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    return _latency(
        rng,
        "of all terms",
        (),
        lambda _, found, __: np.add.reduce(list(found.latency_terms.values())),
    )


def _compute_only(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    return _latency(
        rng,
        "the longest compute term",
        ("dram",),
        lambda model, found, _: _longest(found, _compute_terms(model, found)),
    )


def _memory_only(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    return _latency(
        rng,
        "the longest memory term",
        ("compute",),
        lambda model, found, _: _longest(found, _memory_terms(model)),
    )


def _halved(rng: Rng, model: LayeredModel) -> Drawn:
    factor = one_of(rng, [0.5, 0.25])
    del model
    return _latency(rng, f"x {factor:g}", (), lambda _, found, __: found.latency * factor)


def _units_missing(rng: Rng, model: LayeredModel) -> Drawn | None:
    del rng
    if model.data.units == 1:
        return None

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        terms = dict(found.latency_terms)
        for name in _compute_terms(model, found):
            terms[name] = terms[name] / model.data.units
        before, after = (
            composed(model.latency_composition, times, len(cases))
            for times in (found.latency_terms, terms)
        )
        ended = found.latency * np.where(before > 0, after / before, 1.0)
        shorter = attrs.evolve(found, latency_terms=terms)
        return lasting(model, shorter, ended, by_layer=False)

    places = ("latency", "compute", "array", "engine", "plane", "tiles", "elements")
    return Drawn(what=f"{model.data.units} units", places=places, change=change)


def _utilisation_twice(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    return _latency(
        rng,
        "latency over utilisation",
        ("utilisation",),
        lambda _, found, __: found.latency / np.clip(found.utilisation, 1e-9, 1),
    )


def _utilisation_above_one(rng: Rng, model: LayeredModel) -> Drawn:
    factor = float(rng.uniform(2, 8))
    del model

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        return attrs.evolve(found, utilisation=found.utilisation * factor)

    return Drawn(what=f"x {factor:.3g}", places=("utilisation",), change=change)


def _launch_twice(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    return _latency(
        rng,
        "in the total",
        ("launch",),
        lambda _, found, __: found.latency + found.latency_terms["launch"],
    )


def _launch_missing(rng: Rng, model: LayeredModel) -> Drawn:
    limit = 10.0 ** rng.integers(4, 9)
    del model

    def of(_: LayeredModel, found: Arrays, cases: Cases) -> Floats:
        small = cases.ops < limit
        return found.latency - np.where(small, found.latency_terms["launch"], 0.0)

    return _latency(rng, f"below {limit:g} operations", ("launch",), of)


def _jump(rng: Rng, model: LayeredModel) -> Drawn:
    limit, factor = 2.0 ** rng.integers(16, 30), float(rng.uniform(2, 5))
    del model

    def of(_: LayeredModel, found: Arrays, cases: Cases) -> Floats:
        return found.latency * np.where(cases.bytes < limit, factor, 1.0)

    return _latency(rng, f"x {factor:.3g} below {limit:g} bytes", (), of)


KINDS: Final = (
    Kind("roofline-minimum", "latency is the least of its terms", "min for max", _minimum),
    Kind("roofline-sum", "latency is the sum of terms that overlap",
         "sum for max", _sum),
    Kind("compute-only", "latency is the compute time alone",
         "memory time computed and not used", _compute_only),
    Kind("memory-only", "latency is the memory time alone",
         "compute time computed and not used", _memory_only),
    Kind("latency-halved", "latency is too short by a constant factor",
         "MACs over a peak in operations", _halved),
    Kind("units-twice", "compute time is divided by the units twice",
         "a peak of the chip taken for that of a unit", _units_missing),
    Kind("utilisation-twice", "latency is divided by the utilisation twice",
         "efficiency applied in the peak and in the time", _utilisation_twice),
    Kind("utilisation-above-one", "utilisation exceeds one",
         "utilisation against the wrong peak", _utilisation_above_one),
    Kind("launch-twice", "the total counts the launch twice",
         "overhead added by two callers", _launch_twice),
    Kind("launch-missing", "small work starts for nothing",
         "overheads that are skipped below a threshold", _launch_missing),
    Kind("latency-jump", "small work takes several times what it should",
         "a mode switch in the wrong direction", _jump),
)  # fmt: skip
