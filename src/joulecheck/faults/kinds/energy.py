"""Faults in the bookkeeping of energy: terms, layers, signs and units."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.estimate import Estimate
from joulecheck.faults.mutation import (
    Drawn,
    Kind,
    layers_of,
    moved,
    one_of,
    recounted,
    rescaled,
    terms_of,
)
from joulecheck.faults.planted import sound
from joulecheck.model import Scales
from joulecheck.reference.layered import LayeredModel

Rng = np.random.Generator


def _share_of_total(what: str, names: list[str], times: float) -> Drawn:
    """The total counts some terms so many times more."""

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        more = sum(found.energy_terms[name] for name in names) * times
        return attrs.evolve(found, energy=found.energy + more)

    return Drawn(what=what, places=names, change=change)


def _everywhere(what: str, names: list[str], factor: float) -> Drawn:
    """Some terms have another value, wherever they count."""

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        return rescaled(model, found, dict.fromkeys(names, factor))

    return Drawn(what=what, places=names, change=change)


def _with_layer(drawn: Drawn, layer: Layer) -> Drawn:
    return attrs.evolve(drawn, places={*drawn.places, layer.name})


def _layer_dropped(rng: Rng, model: LayeredModel) -> Drawn:
    layer = one_of(rng, [*layers_of(model), Layer.STATIC])
    names = terms_of(model, layer)
    return _with_layer(_share_of_total(f"layer {layer.name}", names, -1.0), layer)


def _layer_twice(rng: Rng, model: LayeredModel) -> Drawn:
    layer = one_of(rng, [*layers_of(model), Layer.STATIC])
    names = terms_of(model, layer)
    return _with_layer(_share_of_total(f"layer {layer.name}", names, 1.0), layer)


def _layer_inside_another(rng: Rng, model: LayeredModel) -> Drawn:
    inner, outer = rng.permutation([l.name for l in layers_of(model)])[:2]
    inside = one_of(rng, terms_of(model, Layer[inner]))
    outside = one_of(rng, terms_of(model, Layer[outer]))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        counted, more = found.energy_terms[outside], found.energy_terms[inside]
        some = counted > 0
        factor = np.where(some, 1 + more / np.where(some, counted, 1.0), 1.0)
        return rescaled(model, found, {outside: factor})

    return Drawn(
        what=f"term {outside} includes {inside}",
        places=(inside, outside, inner, outer),
        change=change,
    )


def _control_missing(rng: Rng, model: LayeredModel) -> Drawn:
    names = terms_of(model, Layer.REGISTER)
    one = one_of(rng, names)
    return _with_layer(_share_of_total(f"term {one}", [one], -1.0), Layer.REGISTER)


def _sign_flipped(rng: Rng, model: LayeredModel) -> Drawn:
    name = one_of(rng, [n for n, one in model.layers.items() if one != Layer.STATIC])
    return _with_layer(_everywhere(f"term {name}", [name], -1.0), model.layers[name])


def _excess_savings(rng: Rng, model: LayeredModel) -> Drawn:
    name = one_of(rng, terms_of(model, Layer.SCRATCHPAD) or terms_of(model, Layer.DRAM))
    share = float(rng.uniform(1.05, 2.0))
    drawn = _everywhere(f"{share:.0%} of term {name} are saved", [name], 1 - share)
    return _with_layer(drawn, model.layers[name])


def _macs_for_ops(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    factor = one_of(rng, [0.5, 2.0])

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        return recounted(model, rescaled(model, found, {"alu": factor}), {"alu": factor})

    drawn = Drawn(what=f"alu x {factor:g}", places=["alu"], change=change)
    return _with_layer(drawn, Layer.ALU)


def _unit_slip(rng: Rng, model: LayeredModel) -> Drawn:
    name = one_of(rng, [n for n, one in model.layers.items() if one != Layer.STATIC])
    factor = one_of(rng, [1e-3, 1e3])
    drawn = _everywhere(f"term {name} x {factor:g}", [name], factor)
    return _with_layer(drawn, model.layers[name])


def _bits_for_bytes(rng: Rng, model: LayeredModel) -> Drawn:
    names = [n for n in model.machine.memories if n in model.layers]
    name, factor = one_of(rng, names), one_of(rng, [8.0, 1 / 8])
    drawn = _everywhere(f"term {name} x {factor:g}", [name], factor)
    return _with_layer(drawn, model.layers[name])


def _wrong_layer(rng: Rng, model: LayeredModel) -> Drawn | None:
    named = [n for n in model.layers if model.layers[n] not in {Layer.ALU, Layer.STATIC}]
    name = one_of(rng, named)
    order = list(Layer)
    own = order.index(model.layers[name])
    reached = [layer for layer in layers_of(model) if order.index(layer) < own]
    if not reached:
        return None
    layer = one_of(rng, reached)

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        through = dict(found.through)
        for one in order[order.index(layer) : own]:
            if one in through:
                through[one] = through[one] + found.energy_terms[name]
        return attrs.evolve(found, through=through)

    places = (name, layer.name, model.layers[name].name)
    return Drawn(what=f"term {name} in {layer.name}", places=places, change=change)


def _cancelling(rng: Rng, model: LayeredModel) -> Drawn:
    one, other = rng.permutation([n for n in model.layers if n != "static"])[:2]

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        moved = 0.5 * found.energy_terms[one]
        terms = {
            **found.energy_terms,
            one: found.energy_terms[one] - moved,
            other: found.energy_terms[other] + moved,
        }
        return attrs.evolve(found, energy_terms=terms)

    places = (one, other, model.layers[one].name, model.layers[other].name)
    return Drawn(what=f"half of {one} is in {other}", places=places, change=change)


def _static_per_op(rng: Rng, model: LayeredModel) -> Drawn:
    del model
    rate = float(rng.uniform(0.2, 0.8))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        peak = model.peak[cases.precision]
        ideal = cases.ops / (rate * peak)
        share = {"static": ideal / found.latency}
        return recounted(model, rescaled(model, found, share), share)

    places = ("static", "static_power", "STATIC", "energy")
    return Drawn(what=f"at {rate:.0%} of the peak", places=places, change=change)


def _power_above_tdp(rng: Rng, model: LayeredModel) -> Drawn | None:
    if model.machine.tdp is None:
        return None
    factor = float(rng.uniform(5, 20))
    drawn = _everywhere(f"static x {factor:.3g}", ["static"], factor)
    return attrs.evolve(drawn, places=("static", "static_power", "STATIC", "energy"))


def _truncated(rng: Rng, model: LayeredModel) -> Drawn:
    quantum = one_of(rng, [1e-12, 1e-9])
    names = [n for n, one in model.layers.items() if one != Layer.STATIC]

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        factors = {}
        for name in names:
            energy = found.energy_terms[name]
            whole = np.floor(energy / quantum) * quantum
            factors[name] = np.where(energy > 0, whole / np.where(energy > 0, energy, 1), 1)
        return rescaled(model, found, factors)

    movers = [
        n for n, c in model.coefficients.items() if not {*names}.isdisjoint(c.terms or ())
    ]
    places = (*names, *movers, "energy")
    return Drawn(what=f"to whole {quantum:g} J", places=places, change=change)


def _free_compulsory(rng: Rng, model: LayeredModel) -> Drawn | None:
    homes = {
        (name, role)
        for name, memory in model.machine.memories.items()
        for role in memory.homes
        if f"{name}_energy" in model.coefficients and name in model.layers
    }
    if not homes:
        return None
    name, role = one_of(rng, sorted(homes))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        value = model.coefficients[f"{name}_energy"].value
        price = value * scales.get(f"{name}_energy", 1.0)
        free = price * getattr(cases.compulsory, role)
        energy = found.energy_terms[name]
        some = energy > 0
        factor = np.where(some, 1 - free / np.where(some, energy, 1.0), 1.0)
        return moved(model, found, name, factor)

    places = (name, f"{name}_energy", model.layers[name].name)
    return Drawn(what=f"the {role} of {name}", places=places, change=change)


KINDS: Final = (
    Kind("layer-dropped", "the total leaves out a layer",
         "totals whose control energy is not in what is returned", _layer_dropped),
    Kind("layer-twice", "the total counts a layer twice",
         "sums over a list that also holds a subtotal", _layer_twice),
    Kind("layer-inside-another", "a term includes a term of another layer as well",
         "L2 energy reported inside L1", _layer_inside_another),
    Kind("control-missing", "the total leaves out a term of control",
         "control overhead computed and not added", _control_missing),
    Kind("sign-flipped", "a term has the wrong sign",
         "savings and costs in one list", _sign_flipped),
    Kind("excess-savings", "more of a term is saved than there is",
         "reuse factors above one subtracted from the cost", _excess_savings),
    Kind("macs-for-ops", "arithmetic counts MACs for operations, or the reverse",
         "GMAC against GOP in published comparisons", _macs_for_ops),
    Kind("unit-slip", "a term is off by a factor of a thousand",
         "pJ and nJ in one table", _unit_slip),
    Kind("bits-for-bytes", "the energy of a memory is per bit and counted per byte",
         "pJ/bit entered as pJ/byte", _bits_for_bytes),
    Kind("wrong-layer", "a term counts in the prediction of a layer before its own",
         "cache energy attributed to the core", _wrong_layer),
    Kind("cancelling", "two terms are wrong, and their sum is not",
         "a fix of one layer that was compensated in another", _cancelling),
    Kind("static-per-op", "static energy is charged per operation, not per second",
         "leakage folded into energy per MAC", _static_per_op),
    Kind("power-above-tdp", "static power is far above what the machine may draw",
         "milliwatt entered as watt for one block", _power_above_tdp),
    Kind("truncated", "small energies are truncated to zero",
         "integers of nanojoule", _truncated),
    Kind("free-compulsory", "an operand is read from its home for nothing",
         "weights with zero bytes", _free_compulsory),
)  # fmt: skip
