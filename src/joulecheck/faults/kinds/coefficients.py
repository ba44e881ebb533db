"""Faults in what coefficients and precisions do."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.estimate import Estimate
from joulecheck.faults.mutation import Drawn, Kind, lasting, moved, one_of, rescaled
from joulecheck.faults.planted import sound
from joulecheck.model import Scales
from joulecheck.reference.layered import LayeredModel
from joulecheck.workload import Precision
from joulecheck.workload.columns import PRECISION_BITS, PRECISIONS

Rng = np.random.Generator


def _energy_coefficients(model: LayeredModel) -> list[str]:
    """Energy coefficients that do not depend on the precision."""
    return [n for n, c in model.coefficients.items() if c.is_energy and "." not in n]


def _terms(model: LayeredModel, name: str) -> list[str]:
    return sorted(model.coefficients[name].terms or ())


def _dead(rng: Rng, model: LayeredModel) -> Drawn:
    name = one_of(rng, _energy_coefficients(model))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        read = {n: factor for n, factor in scales.items() if n != name}
        return sound(model, cases, read)

    places = (name, *_terms(model, name))
    return Drawn(what=f"coefficient {name}", places=places, change=change)


def _leaking(rng: Rng, model: LayeredModel) -> Drawn:
    name = one_of(rng, _energy_coefficients(model))
    others = [n for n in model.layers if n not in _terms(model, name)]
    into = one_of(rng, others)

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        return rescaled(model, found, {into: scales.get(name, np.ones(len(cases)))})

    places = (name, into, *_terms(model, name))
    return Drawn(what=f"coefficient {name} in term {into}", places=places, change=change)


def _hidden(rng: Rng, model: LayeredModel) -> Drawn:
    name = one_of(rng, [n for n, one in model.layers.items() if one != Layer.STATIC])
    share = float(rng.uniform(0.1, 1.0))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        nominal = sound(model, cases, {}).energy_terms[name]
        now = found.energy_terms[name]
        some = now > 0
        factor = np.where(some, 1 + share * nominal / np.where(some, now, 1.0), 1.0)
        return rescaled(model, found, {name: factor})

    places = (name, model.layers[name].name, *_moving(model, name))
    return Drawn(what=f"{share:.0%} of term {name}", places=places, change=change)


def _moving(model: LayeredModel, term: str) -> list[str]:
    return [n for n, c in model.coefficients.items() if term in (c.terms or ())]


def _squared(rng: Rng, model: LayeredModel) -> Drawn:
    name = one_of(rng, _energy_coefficients(model))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        if name not in scales:
            return sound(model, cases, scales)
        return sound(model, cases, {**scales, name: scales[name] ** 2})

    places = (name, *_terms(model, name))
    return Drawn(what=f"coefficient {name}", places=places, change=change)


def _read_and_write(rng: Rng, model: LayeredModel) -> tuple[str, str] | None:
    """The coefficients of the two directions of one memory, if it has both."""
    stems = [
        n.removesuffix("_write_energy")
        for n in model.coefficients
        if n.endswith("_write_energy")
        and n.replace("_write_", "_read_") in model.coefficients
    ]
    if not stems:
        return None
    stem = one_of(rng, stems)
    return f"{stem}_read_energy", f"{stem}_write_energy"


def _larger_for_both(rng: Rng, model: LayeredModel) -> Drawn | None:
    names = _read_and_write(rng, model)
    if names is None:
        return None
    values = {name: model.coefficients[name].value for name in names}
    larger = max(values.values())

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        ones = np.ones(len(cases))
        raised = {n: larger / v * scales.get(n, ones) for n, v in values.items()}
        return sound(model, cases, {**scales, **raised})

    places = (*names, *_terms(model, names[1]))
    return Drawn(what=f"of {' and '.join(names)}", places=places, change=change)


def _read_for_write(rng: Rng, model: LayeredModel) -> Drawn | None:
    names = _read_and_write(rng, model)
    if names is None:
        return None
    read, write = names
    ratio = model.coefficients[read].value / model.coefficients[write].value

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        ones = np.ones(len(cases))
        as_read = scales.get(read, ones) * ratio
        return sound(model, cases, {**scales, write: as_read})

    places = (read, write, *_terms(model, write))
    return Drawn(what=f"{write} is {read}", places=places, change=change)


def _narrow(rng: Rng, model: LayeredModel) -> Precision | None:
    narrow = [
        p
        for p in sorted(model.precisions, key=lambda p: p.name)
        if any(p.narrower_than(q) for q in model.precisions)
    ]
    return one_of(rng, narrow) if narrow else None


def _wider(rng: Rng, model: LayeredModel, narrow: Precision) -> Precision:
    wider = [q for q in model.precisions if narrow.narrower_than(q)]
    found: Precision = one_of(rng, sorted(wider, key=lambda p: p.name))
    return found


def _precision_missing(rng: Rng, model: LayeredModel) -> Drawn | None:
    narrow = _narrow(rng, model)
    if narrow is None:
        return None
    wider = _wider(rng, model, narrow)
    priced = (f"mac_energy.{narrow.name}", f"mac_energy.{wider.name}")
    if any(name not in model.coefficients for name in priced):
        return None
    least = model.coefficients[priced[1]].value / model.coefficients[priced[0]].value
    at = PRECISIONS.index(narrow)
    factor = least * one_of(rng, [1.0, 2.0])

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        here = np.where(cases.precision == at, factor, 1.0)
        return rescaled(model, found, {"alu": here})

    places = ("alu", "ALU", "energy", *priced)
    what = f"{narrow.name} costs {factor:.3g} times its arithmetic"
    return Drawn(what=what, places=places, change=change)


def _scaled_twice(rng: Rng, model: LayeredModel) -> Drawn | None:
    names = [n for n in model.machine.memories if n in model.layers]
    if len({p.bits for p in model.precisions}) < 2:  # noqa: PLR2004 - two widths to compare
        return None
    name = one_of(rng, names)
    widest = max(p.bits for p in model.precisions)

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        return rescaled(model, found, {name: PRECISION_BITS[cases.precision] / widest})

    places = (name, model.layers[name].name, f"{name}_energy", "energy")
    return Drawn(what=f"term {name}", places=places, change=change)


def _four_bytes(rng: Rng, model: LayeredModel) -> Drawn | None:
    names = [n for n in model.machine.memories if n in model.layers]
    if all(p.bits >= 32 for p in model.precisions):  # noqa: PLR2004 - four bytes
        return None
    name = one_of(rng, names)

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        width = np.maximum(PRECISION_BITS[cases.precision], 32) / 32
        bits = PRECISION_BITS[cases.precision]
        return moved(model, found, name, width * 32 / bits)

    places = (name, model.layers[name].name, f"{name}_energy", "energy")
    return Drawn(what=f"term {name}", places=places, change=change)


def _penalty(rng: Rng, model: LayeredModel) -> Drawn | None:
    narrow = _narrow(rng, model)
    if narrow is None:
        return None
    at, factor = PRECISIONS.index(narrow), float(rng.uniform(4, 16))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        here = np.where(cases.precision == at, factor, 1.0)
        dynamic = [n for n, layer in model.layers.items() if layer is not Layer.STATIC]
        found = rescaled(model, found, dict.fromkeys(dynamic, here))
        terms = {name: time * here for name, time in found.latency_terms.items()}
        slower = attrs.evolve(found, latency_terms=terms)
        return lasting(model, slower, found.latency * here, by_layer=True)

    what = f"{narrow.name} x {factor:.3g}"
    return Drawn(what=what, places=("energy", "latency", "alu"), change=change)


KINDS: Final = (
    Kind("dead-coefficient", "a coefficient is not read",
         "constants that replaced a table entry", _dead),
    Kind("leaking-coefficient", "a coefficient moves a term of another layer",
         "one price reused for two memories", _leaking),
    Kind("hidden-constant", "a part of a term obeys no coefficient",
         "literals in formulas", _hidden),
    Kind("squared-coefficient", "a coefficient is applied twice",
         "process scaling in the table and in the formula", _squared),
    Kind("read-for-write", "writes cost what reads cost",
         "one access energy for both directions", _read_for_write),
    Kind("larger-for-both", "reading and writing both cost the larger of the two",
         "a maximum taken for safety", _larger_for_both),
    Kind("precision-missing", "a precision falls back to the arithmetic of a wider one",
         "INT4 above INT8 because its table entry is missing", _precision_missing),
    Kind("scaled-twice", "the width of a precision enters a term twice",
         "bytes and energy per byte both scaled", _scaled_twice),
    Kind("four-bytes", "a memory counts four bytes an element at every precision",
         "element sizes fixed at FP32", _four_bytes),
    Kind("penalty", "a supported precision pays the penalty of an unsupported one",
         "a default branch that is always taken", _penalty),
)  # fmt: skip
