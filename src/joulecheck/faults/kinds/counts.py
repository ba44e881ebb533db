"""Faults in counts of instructions and registers, consistent in all else.

No bound holds such a count, and totals, layers and coefficients agree with it: what
shows the fault is one answer held against another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.composition import Each
from joulecheck.estimate import Estimate
from joulecheck.faults.mutation import (
    Drawn,
    Kind,
    lasting,
    moved,
    one_of,
    rescaled,
    terms_of,
    with_operators,
)
from joulecheck.faults.planted import FaultyModel, near_coefficient, sound, with_near_bytes
from joulecheck.knob import KnobKind
from joulecheck.model import Scales
from joulecheck.reference.layered import LayeredModel
from joulecheck.workload import Precision
from joulecheck.workload.columns import CONV2D, PRECISIONS, Floats, OperatorColumns

Rng = np.random.Generator
Counted = Callable[[Cases], Floats]
"""(n,) bytes more next to the arithmetic."""

FLOATS: Final = frozenset({"FP64", "FP32", "TF32", "BF16", "FP16"})


def _counted(model: LayeredModel, what: str, byte: Counted) -> Drawn:
    name = near_coefficient(model)
    terms = sorted(model.coefficients[name].terms or ())

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        return with_near_bytes(model, cases, scales, byte(cases))

    places = (name, *terms, *(model.layers[term].name for term in terms), "energy")
    return Drawn(what=what, places=places, change=change)


def _work(cases: Cases) -> Floats:
    """(operators,) MACs, and results of what has none."""
    ops = cases.operators
    return np.where(ops.macs > 0, ops.macs, ops.output_elements)


def _bytes_worth(rng: Rng, model: LayeredModel, low: float, high: float) -> float:
    """As many bytes as cost so many MACs in the dearest format."""
    prices = [c.value for n, c in model.coefficients.items() if n.startswith("mac_energy")]
    byte = model.coefficients[near_coefficient(model)].value
    return float(rng.uniform(low, high)) * max(prices) / byte


def _short_loops(rng: Rng, model: LayeredModel) -> Drawn:
    limit, byte = int(one_of(rng, [8, 16, 32])), _bytes_worth(rng, model, 16, 64)

    def counted(cases: Cases) -> Floats:
        ops = cases.operators
        return ops.per_case(byte * ops.macs * (ops.k < limit))

    return _counted(model, f"{byte:.3g} bytes a MAC where K is below {limit}", counted)


def _long_loops(rng: Rng, model: LayeredModel) -> Drawn:
    limit, byte = int(one_of(rng, [64, 100, 512])), _bytes_worth(rng, model, 8, 32)

    def counted(cases: Cases) -> Floats:
        ops = cases.operators
        return ops.per_case(byte * ops.macs * (ops.n > limit))

    return _counted(model, f"{byte:.3g} bytes a MAC where N is above {limit}", counted)


def _narrowed(rng: Rng, model: LayeredModel) -> Drawn | None:
    floats = {p for p in model.precisions if p.name in FLOATS}
    narrow = [p for p in floats if any(p.narrower_than(q) for q in floats)]
    if not narrow:
        return None
    return _at(rng, model, {one_of(rng, sorted(narrow, key=lambda p: p.name))}, macs=4)


def _emulated_integers(rng: Rng, model: LayeredModel) -> Drawn | None:
    if not {Precision.INT8, Precision.FP32} <= model.precisions:
        return None
    integers = {p for p in model.precisions if p.name.startswith("INT")}
    return _at(rng, model, integers, macs=24)


def _at(rng: Rng, model: LayeredModel, some: set[Precision], macs: float) -> Drawn:
    """More bytes for all work at some precisions, worth so many MACs or twice that."""
    byte = _bytes_worth(rng, model, macs, 2 * macs)
    here = np.array([precision in some for precision in PRECISIONS])

    def counted(cases: Cases) -> Floats:
        return here[cases.precision] * byte * cases.operators.per_case(_work(cases))

    names = " ".join(sorted(precision.name for precision in some))
    return _counted(model, f"{byte:.3g} bytes an operation at {names}", counted)


def _convolution_path(rng: Rng, model: LayeredModel) -> Drawn:
    byte = _bytes_worth(rng, model, 0.01, 0.1)

    def counted(cases: Cases) -> Floats:
        ops = cases.operators
        return ops.per_case(byte * ops.macs * (ops.kind == CONV2D))

    return _counted(model, f"{byte:.3g} bytes a MAC of convolutions", counted)


def _group_loop(rng: Rng, model: LayeredModel) -> Drawn:
    byte = _bytes_worth(rng, model, 1, 2)

    def counted(cases: Cases) -> Floats:
        ops = cases.operators
        groups = (ops.kind == CONV2D) & (ops.instances > 1)
        return ops.per_case(byte * ops.macs * groups)

    return _counted(model, f"{byte:.3g} bytes a MAC of grouped convolutions", counted)


def _dear_edges(rng: Rng, model: LayeredModel) -> Drawn:
    byte = _bytes_worth(rng, model, 100, 400)

    def counted(cases: Cases) -> Floats:
        ops = cases.operators
        return ops.per_case(byte * ops.output_elements * ops.output_is_internal)

    return _counted(model, f"{byte:.3g} bytes an element of intermediates", counted)


def _once_a_call(rng: Rng, model: LayeredModel) -> Drawn:
    byte = float(rng.uniform(10, 1000))
    return _counted(
        model, f"{byte:.3g} bytes a call", lambda cases: np.full(len(cases), byte)
    )


def _same_kernel_launches(rng: Rng, model: LayeredModel) -> Drawn | None:
    """Neighbours of one kind share a launch: true of no runtime that is declared."""
    del rng
    if not model.data.launch or not isinstance(model.latency_composition, Each):
        return None  # a graph is launched once

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found, ops = sound(model, cases, scales), cases.operators
        same = np.zeros(len(ops))
        same[1:] = (ops.kind[1:] == ops.kind[:-1]) & (ops.owner[1:] == ops.owner[:-1])
        saved = model.data.launch * ops.per_case(same)
        launch = found.latency_terms["launch"] - saved
        shorter = attrs.evolve(
            found,
            latency_terms={**found.latency_terms, "launch": launch},
            latency_through={
                layer: time if layer is Layer.ALU else time - saved
                for layer, time in found.latency_through.items()
            },
        )
        return lasting(model, shorter, found.latency - saved, by_layer=False)

    return Drawn(what="of neighbours", places=("launch", "latency"), change=change)


def _short_waits(rng: Rng, model: LayeredModel) -> Drawn:
    limit, factor = int(one_of(rng, [8, 16, 32])), float(rng.uniform(16, 64))

    def columns(ops: OperatorColumns) -> OperatorColumns:
        deeper = np.where((ops.k < limit) & (ops.macs > 0), factor, 1.0)
        return attrs.evolve(ops, k=ops.k * deeper, macs=ops.macs * deeper)

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        slow = sound(model, with_operators(cases, columns), scales)
        later = attrs.evolve(
            found, latency_terms=slow.latency_terms, latency_through=slow.latency_through
        )
        return lasting(model, later, slow.latency, by_layer=False)

    what = f"{factor:.3g} times as long where K is below {limit}"
    return Drawn(what=what, places=("latency", *model.latency_layers), change=change)


def _derated(rng: Rng, model: LayeredModel) -> Drawn | None:
    if not model.machine.successor_of:
        return None  # nothing says how fast it should be
    factor = float(rng.uniform(2, 3.5))

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        launch = found.latency_terms["launch"]
        slower = attrs.evolve(
            found,
            latency_terms={
                name: time if name == "launch" else factor * time
                for name, time in found.latency_terms.items()
            },
            latency_through={
                layer: factor * time - (factor - 1) * launch * (layer is not Layer.ALU)
                for layer, time in found.latency_through.items()
            },
        )
        latency = factor * found.latency - (factor - 1) * launch
        return lasting(model, slower, latency, by_layer=False)

    what = f"all but the launch takes {factor:.3g} times as long"
    return Drawn(what=what, places=("latency", *model.latency_layers), change=change)


def _leakage_margin(rng: Rng, model: LayeredModel) -> Drawn:
    factor = float(rng.uniform(1.02, 1.1))
    names = terms_of(model, Layer.STATIC)

    def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
        found = sound(model, cases, scales)
        return rescaled(model, found, dict.fromkeys(names, factor))

    places = (*names, Layer.STATIC.name, "static_power", "energy")
    return Drawn(what=f"static x {factor:.3g}", places=places, change=change)


class LargerMovesMore(FaultyModel):
    """A model whose derived machines move more if one of their memories is larger."""

    def derive(self, factors: Mapping[str, float]) -> FaultyModel:
        """The derived machine, with more traffic if one capacity alone has grown."""
        derived = self.model.derive(factors)
        grown = {n: f for n, f in factors.items() if n in _capacities(derived) and f > 1}
        if len(grown) != 1:
            return self.planted_in(derived)
        ((name, factor),) = grown.items()

        def change(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
            found = sound(model, cases, scales)
            for memory in _capacities(model)[name]:
                found = moved(model, found, memory, factor)
            return found

        return FaultyModel(derived, change)


def _capacities(model: LayeredModel) -> dict[str, list[str]]:
    """The memories with a term that a capacity saves, by knob."""
    memories = model.machine.memories.keys() & model.layers.keys()
    return {
        name: sorted(memories & (knob.terms or frozenset()))
        for name, knob in model.knobs.items()
        if knob.kind is KnobKind.CAPACITY
    }


def _larger_moves_more(rng: Rng, model: LayeredModel) -> Drawn | None:
    del rng
    knobs = _capacities(model)
    if len(knobs) < 2:  # noqa: PLR2004 - one grows, and another stays
        return None
    saved = sorted({memory for some in knobs.values() for memory in some})
    return Drawn(
        what=f"of {', '.join(saved)}",
        places=("energy", *saved, *(f"{name}_energy" for name in saved)),
        change=sound,
        wrapper=LargerMovesMore,
    )


KINDS: Final = (
    Kind("short-loops", "a short inner loop costs more than a long one in all",
         "remainder loops costed at full overhead", _short_loops),
    Kind("long-loops", "wide results cost several times as much as narrow ones",
         "register spills that are switched on by size", _long_loops),
    Kind("narrowed", "a narrow format costs more than the wide one around it",
         "conversions counted and the saving not", _narrowed),
    Kind("emulated-integers", "integers cost more than floating point",
         "integer paths that are emulated in FP32", _emulated_integers),
    Kind("convolution-path", "a convolution costs more than the GEMM that it is",
         "two code paths for one loop nest", _convolution_path),
    Kind("group-loop", "groups cost more together than one by one",
         "a loop over groups around a kernel for all of them", _group_loop),
    Kind("dear-edges", "an intermediate costs more than writing and reading it outside",
         "overheads of fusion without its savings", _dear_edges),
    Kind("short-waits", "a short inner loop takes longer than a long one in all",
         "pipelines that are filled once a tile and counted once a step", _short_waits),
    Kind("derated", "everything but the launch takes longer than the data say",
         "an efficiency that was fitted to another machine", _derated),
    Kind("leakage-margin", "static energy has a margin on top",
         "safety factors inside of a model", _leakage_margin),
    Kind("larger-moves-more", "a derived machine with a larger memory moves more",
         "miss rates scaled the wrong way round", _larger_moves_more),
    Kind("once-a-call", "each call adds a constant to a term",
         "set-up costs inside the cost of an operator", _once_a_call),
    Kind("shared-launches", "neighbours of one kind of operator share a launch",
         "kernel caches that assume an order", _same_kernel_launches),
)  # fmt: skip
"""Kinds that seldom more than one law sees, each in its way."""
