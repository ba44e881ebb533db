"""Named faults: each changes what a reference model answers, and nothing else.

A fault wraps a model; it edits no source. It changes the batch path, and the scalar
path is a batch of one, unless the fault is about the difference between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any, Final, Protocol

import attrs
import numpy as np
from numpy.typing import ArrayLike

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer
from joulecheck.errors import NotOffered
from joulecheck.estimate import Deferred, Estimate, including, total
from joulecheck.model import UNSCALED, Scale, Scales, Subject
from joulecheck.reference.layered import LayeredModel, batch_of_one
from joulecheck.workload import Precision
from joulecheck.workload.columns import PRECISIONS, Floats

Change = Callable[[LayeredModel, Cases, Scales], Estimate]
"""What a faulty model answers to a batch, given the sound model."""


class FaultyModel:
    """A reference model with a fault in it; everything else is the model's own."""

    def __init__(self, model: LayeredModel, change: Change) -> None:
        """Plant `change` in `model`."""
        self.model = model
        self.change = change

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the model has
        """Everything that the fault does not touch."""
        if "model" not in self.__dict__:  # a copy that is being made
            raise AttributeError(name)
        return getattr(self.model, name)

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """The changed answer to a batch."""
        return self.change(self.model, cases, scales)

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """The changed answer to a batch of one."""
        self.model.require(case)
        return batch_of_one(self.estimate_batch, case, scale)

    def derive(self, factors: Mapping[str, float]) -> FaultyModel:
        """The model of another machine with the same fault in it."""
        return self.planted_in(self.model.derive(factors))

    def planted_in(self, model: LayeredModel) -> FaultyModel:
        """Another model with the same fault in it."""
        return type(self)(model, self.change)


class SoundScalarModel(FaultyModel):
    """A model whose batch path alone is faulty."""

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """The sound answer."""
        return self.model.estimate(case, scale)


class RaisingModel(FaultyModel):
    """A model whose scalar path raises where its batch path gives NaN."""

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        """The sound answer, or a ZeroDivisionError."""
        found = super().estimate(case, scale)
        if np.isnan(np.asarray(found.energy, dtype=np.float64)):
            msg = "division by zero"
            raise ZeroDivisionError(msg)
        return found


class LateRestoringModel(FaultyModel):
    """A model that undoes a perturbation one call too late."""

    def __init__(self, model: LayeredModel, change: Change) -> None:
        """Plant it; no perturbation is in force yet."""
        super().__init__(model, change)
        self._kept: Floats | None = None

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        """The sound answer to a perturbed batch, a perturbed one to the next."""
        found = Arrays.of(self.model.estimate_batch(cases, scales))
        kept, self._kept = self._kept, None
        if scales:
            self._kept = np.multiply.reduce(list(scales.values()))
        elif kept is not None and len(kept) == len(cases):
            return attrs.evolve(found, energy=found.energy * kept)
        return found


class Plantable(Protocol):
    """What can be planted in a reference model."""

    @property
    def name(self) -> str:
        """As a user writes it."""

    def plant(self, model: LayeredModel) -> FaultyModel:
        """The model with the fault in it."""


@attrs.frozen
class Fault:
    """A named fault and how to plant it."""

    name: str
    summary: str
    """What the model does wrong, in a sentence."""
    change: Change
    wrapper: Callable[[LayeredModel, Change], FaultyModel] = FaultyModel

    def plant(self, model: LayeredModel) -> FaultyModel:
        """The model with this fault in it."""
        return self.wrapper(model, self.change)


@attrs.frozen(kw_only=True)
class Arrays(Estimate):
    """The answer of a reference model to a batch: it offers everything, in arrays."""

    energy: Floats
    latency: Floats
    utilisation: Floats
    energy_terms: Mapping[str, Floats]
    latency_terms: Mapping[str, Floats]
    through: Mapping[Layer, Floats]
    latency_through: Mapping[Layer, Floats]
    subtotals: Mapping[str, Floats]
    traffic: Mapping[str, Floats]
    events: Mapping[str, Floats]

    @classmethod
    def of(cls, answer: Estimate) -> Arrays:
        """The same numbers, known to be arrays."""

        def arrays(values: Mapping[Any, ArrayLike]) -> dict[Any, Floats]:
            return {name: np.asarray(value) for name, value in values.items()}

        return cls(
            energy=np.asarray(answer.energy, dtype=np.float64),
            latency=np.asarray(answer.latency, dtype=np.float64),
            utilisation=np.asarray(answer.utilisation, dtype=np.float64),
            energy_terms=arrays(answer.energy_terms),
            latency_terms=arrays(answer.latency_terms),
            scope=answer.scope,
            through=arrays(answer.through),
            latency_through=arrays(answer.latency_through),
            subtotals=arrays(answer.subtotals),
            traffic=arrays(answer.traffic),
            events=Deferred(lambda: arrays(answer.events)),
        )


def sound(model: LayeredModel, cases: Cases, scales: Scales) -> Arrays:
    """The model's own answer."""
    return Arrays.of(model.estimate_batch(cases, scales))


def dearer(model: LayeredModel, found: Arrays, term: str, more: Floats) -> Arrays:
    """The answer with so much more energy in one term, wherever it counts."""
    inside = set(takewhile(lambda layer: layer is not model.layers[term], Layer))
    sums = including(model.subtotals, term)
    return attrs.evolve(
        found,
        energy=found.energy + more,
        energy_terms={**found.energy_terms, term: found.energy_terms[term] + more},
        through={x: e if x in inside else e + more for x, e in found.through.items()},
        subtotals={n: e + more if n in sums else e for n, e in found.subtotals.items()},
    )


def near_coefficient(model: LayeredModel) -> str:
    """The first price of a byte in a term that is not of a memory: of a register, a wire.

    Nothing states how many of these bytes there are.
    """
    return next(
        name
        for name, coefficient in model.coefficients.items()
        if coefficient.unit == "J/B"
        and (coefficient.terms or frozenset()).isdisjoint(model.machine.memories)
        and "." not in name
    )


def with_near_bytes(
    model: LayeredModel, cases: Cases, scales: Scales, byte: Floats
) -> Arrays:
    """The answer with so many bytes more next to the arithmetic, counted and charged."""
    name = near_coefficient(model)
    (term, *_) = sorted(model.coefficients[name].terms or ())
    price = model.coefficients[name].value * scales.get(name, 1.0)
    found = dearer(model, sound(model, cases, scales), term, byte * price)
    return attrs.evolve(
        found,
        events=Deferred(lambda: {**found.events, name: found.events[name] + byte}),
    )


def _dropped_term(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    return attrs.evolve(found, energy=found.energy - found.energy_terms["static"])


def _misplaced_layer(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    swollen = found.through[Layer.SCRATCHPAD] + found.energy_terms[_far_term(model, found)]
    return attrs.evolve(found, through={**found.through, Layer.SCRATCHPAD: swollen})


def _roofline_minimum(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    return attrs.evolve(found, latency=np.minimum.reduce([*found.latency_terms.values()]))


def _terms_of(model: LayeredModel, found: Estimate, layer: Layer) -> list[str]:
    """The terms of a layer that this machine has."""
    return [name for name in found.energy_terms if model.layers.get(name) is layer]


def _far_term(model: LayeredModel, found: Estimate) -> str:
    """The first term of DRAM, or of what stands for it on a machine without."""
    return _terms_of(model, found, Layer.DRAM)[0]


def far_coefficient(model: LayeredModel) -> str:
    """The first coefficient that moves a term of DRAM."""
    return next(
        name
        for name, coefficient in model.coefficients.items()
        if any(model.layers[term] is Layer.DRAM for term in coefficient.terms or ())
    )


def _flipped_sign(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    flipped = {
        name: -found.energy_terms[name]
        for name in _terms_of(model, found, Layer.SCRATCHPAD)
    }
    terms = {**found.energy_terms, **flipped}
    energy = found.energy + 2 * total(flipped, len(cases))
    return attrs.evolve(found, energy=energy, energy_terms=terms)


def _wrapped_rows(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    rows = cases.operators.per_case(cases.operators.m)
    return times(sound(model, cases, scales), np.mod(rows, 256) / rows)


def times(found: Arrays, factor: Floats) -> Estimate:
    """All energies, their events and all latencies times a factor a case."""

    def scaled(terms: Mapping[Any, Any]) -> dict[Any, Floats]:
        return {name: value * factor for name, value in terms.items()}

    return attrs.evolve(
        found,
        energy=found.energy * factor,
        latency=found.latency * factor,
        energy_terms=scaled(found.energy_terms),
        latency_terms=scaled(found.latency_terms),
        through=scaled(found.through),
        latency_through=scaled(found.latency_through),
        subtotals=scaled(found.subtotals),
        events=Deferred(lambda: scaled(found.events)),
    )


_INT8: Final = PRECISIONS.index(Precision.INT8)
_FP32: Final = PRECISIONS.index(Precision.FP32)


def _dear_int8(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    factor = np.where(cases.precision == _INT8, 8.0, 1.0)
    return times(sound(model, cases, scales), factor)


def _int8_as_fp32(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    looked_up = np.where(cases.precision == _INT8, _FP32, cases.precision)
    return sound(model, cases.at(looked_up), scales)


def _dead_coefficient(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    read = {name: f for name, f in scales.items() if name != far_coefficient(model)}
    return sound(model, cases, read)


def _leaking_coefficient(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    near = _terms_of(model, found, Layer.SCRATCHPAD)[0]
    before = found.energy_terms[near]
    after = before * scales.get(far_coefficient(model), 1.0)
    terms = {**found.energy_terms, near: after}
    return attrs.evolve(found, energy=found.energy + after - before, energy_terms=terms)


def _hidden_constant(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    return dearer(model, sound(model, cases, scales), "alu", 1e-12 * cases.ops)


def compute_time(model: LayeredModel, found: Arrays) -> Floats:
    """(cases,) the longest time that is neither a memory's nor the launch."""
    others = {*model.machine.memories, "launch"}
    times = [time for name, time in found.latency_terms.items() if name not in others]
    longest: Floats = np.maximum.reduce(times)
    return longest


def _macs_as_ops(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    return attrs.evolve(found, latency=compute_time(model, found) / 2)


def _compute_only(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    return attrs.evolve(found, latency=compute_time(model, found))


def _unpaid_inputs(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    memories = model.machine.memories
    home = next(name for name, memory in memories.items() if "input" in memory.homes)
    price = model.coefficients[f"{home}_energy"].value * scales.get(f"{home}_energy", 1.0)
    unpaid = cases.traffic.input * price
    return dearer(model, sound(model, cases, scales), home, -unpaid)


def _inverted_utilisation(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    return attrs.evolve(found, utilisation=1 / found.utilisation)


def _drifting(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    return times(sound(model, cases, scales), np.full(len(cases), 1.01))


def _division_by_zero(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    deep = np.mod(cases.operators.k, 8) == 7  # noqa: PLR2004 - a needle, to be found
    hit = cases.operators.per_case(deep.astype(np.float64)) > 0
    return attrs.evolve(found, energy=np.where(hit, np.nan, found.energy))


FAULTS: Final[Mapping[str, Fault]] = {
    fault.name: fault
    for fault in (
        Fault("dropped-term", "the total leaves out static power", _dropped_term),
        Fault(
            "misplaced-layer",
            "the prediction through SCRATCHPAD includes the DRAM term",
            _misplaced_layer,
        ),
        Fault(
            "roofline-minimum",
            "latency is the least of its terms, not the greatest",
            _roofline_minimum,
        ),
        Fault("flipped-sign", "the SCRATCHPAD terms are subtracted", _flipped_sign),
        Fault(
            "wrapped-rows", "M is counted modulo 256 in energy and latency", _wrapped_rows
        ),
        Fault("dear-int8", "INT8 costs eight times what it should", _dear_int8),
        Fault("int8-as-fp32", "INT8 is looked up as FP32", _int8_as_fp32),
        Fault(
            "dead-coefficient",
            "the first energy coefficient of DRAM is not read",
            _dead_coefficient,
        ),
        Fault(
            "leaking-coefficient",
            "the first energy coefficient of DRAM also scales a SCRATCHPAD term",
            _leaking_coefficient,
        ),
        Fault(
            "hidden-constant",
            "an operation costs 1 pJ that no coefficient declares",
            _hidden_constant,
        ),
        Fault("macs-as-ops", "latency is half the compute time", _macs_as_ops),
        Fault("compute-only-roofline", "latency is the compute time alone", _compute_only),
        Fault(
            "unpaid-inputs",
            "inputs are read from their home for nothing",
            _unpaid_inputs,
        ),
        Fault(
            "inverted-utilisation",
            "utilisation is peak over achieved",
            _inverted_utilisation,
        ),
        Fault(
            "kept-perturbation",
            "a perturbation is undone one call too late",
            sound,
            LateRestoringModel,
        ),
        Fault(
            "drifting-batch", "the batch path is 1 % dearer", _drifting, SoundScalarModel
        ),
        Fault(
            "division-by-zero",
            "a GEMM whose K is 7 modulo 8 divides by zero",
            _division_by_zero,
            RaisingModel,
        ),
    )
}
"""Faults in what a model counts, adds up and answers, by name."""


def inject(subject: Subject, fault: Plantable) -> Subject:
    """The same reference model with a fault in it, under the same name.

    Its peers are sound.

    Raises:
        NotOffered: the model is no reference model, or the fault does not apply to it.
    """
    if not isinstance(subject.model, LayeredModel):
        msg = f"{subject.name} is no reference model: faults can be injected in those only"
        raise NotOffered(msg)
    faulty = Subject.of(fault.plant(subject.model), name=subject.name)
    named = attrs.evolve(faulty, loadable=subject.loadable, fault=fault.name)
    return named.beside(subject.peers)
