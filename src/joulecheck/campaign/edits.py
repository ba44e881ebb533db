"""Single changes to what a model answers, to find out which one repairs a violation.

A change is applied from outside: to the answers, or to a coefficient by scaling it.
Nothing of the model is touched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.case import AnyCase, Cases
from joulecheck.coefficient import Layer
from joulecheck.composition import composed
from joulecheck.estimate import MAPPINGS, Answers, Deferred, including, total
from joulecheck.model import UNSCALED, Scales, Subject
from joulecheck.workload import Precision
from joulecheck.workload.columns import PRECISIONS, Floats

FACTORS: Final = {
    -1.0: "turn the sign of",
    0.0: "drop",
    2.0: "double",
    0.5: "halve",
    8.0: "multiply by 8",
    1 / 8: "divide by 8",
    4.0: "multiply by 4",
    1 / 4: "divide by 4",
    1000.0: "multiply by 1000",
    1 / 1000: "divide by 1000",
}
"""What single slips do, the likeliest first.

A sign, MAC for op, bit for byte, an FP32 for a byte, a prefix.
"""

LIKELY: Final = dict(list(FACTORS.items())[:4])
UNLIKELY: Final = dict(list(FACTORS.items())[4:])

SEVERAL: Final = 2
"""Coefficients that a case perturbs; of more, all together are tried."""

LAYERS: Final = tuple(Layer)


@attrs.frozen
class Edit(ABC):
    """One change."""

    @property
    @abstractmethod
    def target(self) -> str:
        """What is changed: a term, a coefficient, a total."""

    @abstractmethod
    def __str__(self) -> str:
        """The change in words, such as "drop term dram from the total energy"."""

    def scales(self, scales: Scales, size: int) -> Scales:
        """The scales under which the model is asked instead."""
        del size
        return scales

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """What the changed model answers to cases under scales."""
        del model, cases, scales
        return found


@attrs.frozen
class ScaledCoefficient(Edit):
    """A coefficient has another value."""

    name: str
    factor: float
    words: str

    @property
    def target(self) -> str:
        """The coefficient."""
        return self.name

    def __str__(self) -> str:
        """Say it."""
        return self.words

    def scales(self, scales: Scales, size: int) -> Scales:
        """With the coefficient's factor on top."""
        factor = scales.get(self.name, np.ones(size)) * self.factor
        return {**scales, self.name: factor}


@attrs.frozen
class ScaledTerm(Edit):
    """An energy term has another value, in the total and all prefixes as well."""

    name: str
    factor: float

    @property
    def target(self) -> str:
        """The term."""
        return self.name

    def __str__(self) -> str:
        """Say it."""
        return f"{FACTORS[self.factor]} energy term {self.name}"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """The term times the factor, wherever it counts."""
        del cases, scales
        return _scaled(found, model, self.name, self.factor)


def _changed(found: Answers, fields: Mapping[str, Any]) -> Answers:
    """The answers with other values in some fields."""
    return attrs.evolve(found, **fields)


def _scaled(found: Answers, model: Subject, name: str, factor: Floats | float) -> Answers:
    """An energy term times a factor, wherever it counts."""
    more = (factor - 1) * found.energy_term(name)
    layer = model.layers.get(name)
    through = {
        reached: _plus(energy, more) if _includes(reached, layer) else energy
        for reached, energy in found.through.items()
    }
    sums = including(model.subtotals, name)
    return attrs.evolve(
        found,
        energy=found.energy + more,
        energy_terms={**found.energy_terms, name: found.energy_term(name) + more},
        through=through,
        subtotals={
            n: _plus(v, more) if n in sums else v for n, v in found.subtotals.items()
        },
    )


def _recounted(found: Answers, model: Subject, term: str, factor: float) -> Answers:
    """The events of the coefficients that move a term alone times a factor."""

    def events() -> dict[str, Floats]:
        return {
            name: count * factor if _moves_alone(model, name, term) else count
            for name, count in found.events.items()
        }

    return _changed(found, {"events": Deferred(events)})


def _moves_alone(model: Subject, coefficient: str, term: str) -> bool:
    declared = model.coefficients.get(coefficient)
    return declared is not None and declared.terms == frozenset({term})


ROUNDING: Final = 1e-12
"""What is left of a sum, as a share of it, when all of its parts are taken away."""


def _plus(value: Floats, more: Floats) -> Floats:
    """A sum that had a path of its own, with one part changed; 0 if nothing is left."""
    changed = value + more
    return np.where(np.abs(changed) <= ROUNDING * np.abs(value), 0.0, changed)


def _includes(reached: Layer, layer: Layer | None) -> bool:
    return layer is not None and LAYERS.index(layer) <= LAYERS.index(reached)


@attrs.frozen
class ScaledLayer(Edit):
    """All energy terms of a layer have another value."""

    layer: Layer
    factor: float

    @property
    def target(self) -> str:
        """The layer."""
        return self.layer.name

    def __str__(self) -> str:
        """Say it."""
        return f"{FACTORS[self.factor]} all of layer {self.layer.name}"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """Each term of the layer times the factor, wherever it counts."""
        del cases, scales
        for name in found.energy_terms:
            if model.layers.get(name) is self.layer:
                found = _scaled(found, model, name, self.factor)
        return found


@attrs.frozen
class ReadCoefficient(Edit):
    """A term obeys a coefficient that it did not obey, or obeys it no more."""

    coefficient: str
    name: str
    obeys: bool

    @property
    def target(self) -> str:
        """The coefficient."""
        return self.coefficient

    def __str__(self) -> str:
        """Say it."""
        if self.obeys:
            return f"let term {self.name} read coefficient {self.coefficient}"
        return f"keep coefficient {self.coefficient} out of term {self.name}"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """The term times, or divided by, the coefficient's own factor."""
        del cases
        factor = scales.get(self.coefficient, np.ones(len(found)))
        return _scaled(found, model, self.name, factor if self.obeys else 1 / factor)


@attrs.frozen
class FollowedTogether(Edit):
    """A term grows with all coefficients together once more, or once less.

    Where all are scaled by one factor, no answer tells them apart.
    """

    name: str
    more: bool

    @property
    def target(self) -> str:
        """The term."""
        return self.name

    def __str__(self) -> str:
        """Say it."""
        how = "more" if self.more else "less"
        return f"let term {self.name} grow once {how} with all coefficients"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """The term times, or divided by, the factor of all."""
        del cases
        factor = np.maximum.reduce([np.ones(len(found)), *scales.values()])
        return _scaled(found, model, self.name, factor if self.more else 1 / factor)


@attrs.frozen
class ScaledTraffic(Edit):
    """The traffic of a memory has another value, and its energy and events if due."""

    name: str
    factor: float
    with_energy: bool

    @property
    def target(self) -> str:
        """The memory."""
        return self.name

    def __str__(self) -> str:
        """Say it."""
        what = "bytes and energy" if self.with_energy else "bytes that are told"
        return f"{FACTORS[self.factor]} the {what} of {self.name}"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """The traffic times the factor."""
        del cases, scales
        if self.with_energy and self.name in found.energy_terms:
            found = _recounted(
                _scaled(found, model, self.name, self.factor), model, self.name, self.factor
            )
        bytes_ = found.traffic[self.name] * self.factor
        return _changed(found, {"traffic": {**found.traffic, self.name: bytes_}})


@attrs.frozen
class AtPrecision(Edit):
    """Another change, of the answers at one precision alone."""

    edit: Edit
    precision: Precision

    @property
    def target(self) -> str:
        """That of the other change."""
        return self.edit.target

    def __str__(self) -> str:
        """Say it."""
        return f"{self.edit} at {self.precision.name}"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """The changed answers where the precision is that one."""
        changed = self.edit.answers(found, model, cases, scales)
        here = cases.precision == PRECISIONS.index(self.precision)

        def chosen(field: str) -> Any:  # noqa: ANN401 - an array, or arrays by name
            new, old = getattr(changed, field), getattr(found, field)
            if not isinstance(new, Mapping):
                return np.where(here, new, old)
            return {n: np.where(here, v, old.get(n, v)) for n, v in new.items()}

        fields = ("energy", "latency", "utilisation", *MAPPINGS)
        return _changed(found, {field: chosen(field) for field in fields})


@attrs.frozen
class MisreportedTerm(Edit):
    """An energy or latency term is reported with another value; no total changes."""

    field: str
    """`energy_terms` or `latency_terms`."""
    name: str
    factor: float

    @property
    def target(self) -> str:
        """The term."""
        return self.name

    def __str__(self) -> str:
        """Say it."""
        kind = self.field.replace("_", " ")
        return f"{FACTORS[self.factor]} {self.name} among the {kind}"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """The term times the factor, in the breakdown alone."""
        del model, cases, scales
        terms = dict(getattr(found, self.field))
        terms[self.name] = terms[self.name] * self.factor
        return _changed(found, {self.field: terms})


@attrs.frozen
class TermInTotal(Edit):
    """A total counts a term once more, or once less."""

    total: str
    """`energy` or `latency`."""
    name: str
    times: int
    """1 or -1."""

    @property
    def target(self) -> str:
        """The term."""
        return self.name

    def __str__(self) -> str:
        """Say it."""
        how = "add {} to" if self.times > 0 else "take {} out of"
        return f"{how.format(f'term {self.name}')} the total {self.total}"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """The total with the term added."""
        del model, cases, scales
        terms = found.energy_terms if self.total == "energy" else found.latency_terms
        changed = getattr(found, self.total) + self.times * terms[self.name]
        return _changed(found, {self.total: changed})


@attrs.frozen
class LayerInTotal(Edit):
    """The total energy counts a layer of several terms once more, or once less."""

    layer: Layer
    times: int
    """1 or -1."""

    @property
    def target(self) -> str:
        """The layer."""
        return self.layer.name

    def __str__(self) -> str:
        """Say it."""
        how = "add {} to" if self.times > 0 else "take {} out of"
        return f"{how.format(f'all of layer {self.layer.name}')} the total energy"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """The total with the terms of the layer added."""
        del cases, scales
        terms = {n: e for n, e in found.energy_terms.items() if self._has(model, n)}
        more = self.times * total(terms, len(found))
        return _changed(found, {"energy": found.energy + more})

    def _has(self, model: Subject, term: str) -> bool:
        return model.layers.get(term) is self.layer


@attrs.frozen
class TermInPrefix(Edit):
    """The prediction up to a layer counts a term once more, or once less."""

    layer: Layer
    name: str
    times: int

    @property
    def target(self) -> str:
        """The term."""
        return self.name

    def __str__(self) -> str:
        """Say it."""
        how = "add {} to" if self.times > 0 else "take {} out of"
        return f"{how.format(f'term {self.name}')} the prediction up to {self.layer.name}"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """The prefix with the term added."""
        del model, cases, scales
        more = self.times * found.energy_term(self.name)
        through = {**found.through, self.layer: found.through[self.layer] + more}
        return attrs.evolve(found, through=through)


@attrs.frozen
class ScaledTotal(Edit):
    """Energy, latency or utilisation has another value, with all of its terms."""

    total: str
    factor: float

    @property
    def target(self) -> str:
        """The total."""
        return self.total

    def __str__(self) -> str:
        """Say it."""
        return f"{FACTORS[self.factor]} {self.total}"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """The total times the factor."""
        del model, cases, scales
        changed: dict[str, Any] = {self.total: getattr(found, self.total) * self.factor}
        parts = {
            "energy": ("energy_terms", "through", "subtotals"),
            "latency": ("latency_terms", "latency_through"),
        }
        for field in parts.get(self.total, ()):
            values: Mapping[Any, Floats] = getattr(found, field)
            changed[field] = {name: v * self.factor for name, v in values.items()}
        return _changed(found, changed)


@attrs.frozen
class Replaced(Edit):
    """A total is larger, or smaller, than any bound."""

    total: str
    larger: bool

    @property
    def target(self) -> str:
        """The total."""
        return self.total

    def __str__(self) -> str:
        """Say it."""
        return f"answer a much {'larger' if self.larger else 'smaller'} {self.total}"

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """10^9 or 0, whatever the unit."""
        del model, cases, scales
        value = LARGE if self.larger else 0.0
        known = np.isfinite(getattr(found, self.total))
        return _changed(found, {self.total: np.where(known, value, np.nan)})


LARGE: Final = 1e9


def last_resorts(found: Answers) -> Iterator[Edit]:
    """What is tried if nothing else repairs: zeros and wrapped numbers have no factor."""
    for whole in ("energy", "latency"):
        if not np.isnan(getattr(found, whole)).all():
            yield from (Replaced(whole, larger) for larger in (True, False))


@attrs.frozen
class Recomposed(Edit):
    """A total is composed of its terms in another way, or is the inverse of itself."""

    total: str
    how: str

    @property
    def target(self) -> str:
        """The total."""
        return self.total

    def __str__(self) -> str:
        """Say it."""
        return {
            "sum": f"make the {self.total} the sum of its terms",
            "longest": f"make the {self.total} the longest of its terms",
            "declared": f"compose the {self.total} of its terms as declared",
            "inverse": f"invert the {self.total}",
        }[self.how]

    def answers(
        self, found: Answers, model: Subject, cases: Cases, scales: Scales
    ) -> Answers:
        """The total composed anew."""
        del cases, scales
        if self.how == "inverse":
            return _changed(found, {self.total: 1 / getattr(found, self.total)})
        energy = self.total == "energy"
        terms = found.counted_terms() if energy else found.latency_terms
        if self.how == "sum":
            return _changed(found, {self.total: total(terms, len(found))})
        if self.how == "declared" and model.latency_composition is not None:
            declared = composed(model.latency_composition, terms, len(found))
            return _changed(found, {self.total: declared})
        return attrs.evolve(found, latency=np.maximum.reduce(list(terms.values())))


def edits_of(model: Subject, case: AnyCase, found: Answers) -> Iterator[Edit]:
    """Every change that is tried, the likeliest first.

    Args:
        model: the model.
        case: the case that is to be repaired.
        found: what the model answers to the first question of the case.
    """
    yield from _misread_coefficients(case, found)
    yield from _scaled_parts(model, found, LIKELY)
    yield from _counted_once_more_or_less(model, found)
    for field in ("energy_terms", "latency_terms"):
        for factor in LIKELY:
            yield from (MisreportedTerm(field, n, factor) for n in getattr(found, field))
    yield from _recomposed(model, found)
    yield from _scaled_totals(case, found)
    yield from _scaled_parts(model, found, UNLIKELY)
    yield from _scaled_traffic(found)
    yield from _swapped_coefficients(model)


def _misread_coefficients(case: AnyCase, found: Answers) -> Iterator[Edit]:
    """Of the coefficients that the case perturbs."""
    perturbed = {name: None for question in case.questions for name in question.scale}
    if len(perturbed) > SEVERAL:
        for more in (True, False):
            yield from (FollowedTogether(term, more) for term in found.energy_terms)
        return
    for obeys in (True, False):
        for name in perturbed:
            yield from (ReadCoefficient(name, term, obeys) for term in found.energy_terms)


def _scaled_parts(
    model: Subject, found: Answers, factors: Mapping[float, str]
) -> Iterator[Edit]:
    layers = dict.fromkeys(model.layers.get(name) for name in found.energy_terms)
    for factor in factors:
        yield from (ScaledTerm(name, factor) for name in found.energy_terms)
        if factor:
            for name in model.coefficients:
                words = f"{FACTORS[factor]} coefficient {name}"
                yield ScaledCoefficient(name, factor, words)
        yield from (ScaledLayer(layer, factor) for layer in layers if layer is not None)


def _scaled_totals(case: AnyCase, found: Answers) -> Iterator[Edit]:
    """The totals times a factor; where the case has two precisions, at one of them."""
    precisions = {question.case.precision: None for question in case.questions}
    for whole in ("energy", "latency", "utilisation"):
        if np.isnan(getattr(found, whole)).all():
            continue
        edits = [ScaledTotal(whole, factor) for factor in FACTORS if factor > 0]
        if len(precisions) > 1:
            for one in precisions:
                yield from (AtPrecision(edit, one) for edit in edits)
        yield from edits


def _counted_once_more_or_less(model: Subject, found: Answers) -> Iterator[Edit]:
    terms = Counter(model.layers.get(name) for name in found.energy_terms)
    layers = [layer for layer, count in terms.items() if layer and count > 1]
    for times in (1, -1):
        yield from (TermInTotal("energy", name, times) for name in found.energy_terms)
        yield from (LayerInTotal(layer, times) for layer in layers)
        yield from (TermInTotal("latency", name, times) for name in found.latency_terms)
        for layer in found.through:
            yield from (TermInPrefix(layer, name, times) for name in found.energy_terms)


def _scaled_traffic(found: Answers) -> Iterator[Edit]:
    for factor in (factor for factor in FACTORS if factor > 0):
        for with_energy in (True, False):
            yield from (ScaledTraffic(n, factor, with_energy) for n in found.traffic)


def _recomposed(model: Subject, found: Answers) -> Iterator[Edit]:
    if found.energy_terms:
        yield Recomposed("energy", "sum")
    if found.latency_terms:
        yield Recomposed("latency", "longest")
        yield Recomposed("latency", "sum")
        if model.latency_composition is not None:
            yield Recomposed("latency", "declared")
    if not np.isnan(found.utilisation).all():
        yield Recomposed("utilisation", "inverse")


def _swapped_coefficients(model: Subject) -> Iterator[Edit]:
    """Each coefficient at the value of each other one of the same unit."""
    for name, one in model.coefficients.items():
        for other_name, other in model.coefficients.items():
            if one.unit == other.unit and one.value and one.value != other.value:
                words = f"give coefficient {name} the value of {other_name}"
                yield ScaledCoefficient(name, other.value / one.value, words)


@attrs.frozen(eq=False, kw_only=True)
class EditedSubject(Subject):
    """A model whose answers are changed by one edit."""

    edit: Edit

    @classmethod
    def of_subject(cls, model: Subject, edit: Edit) -> EditedSubject:
        """The same model, edited."""
        given: dict[str, Any] = {
            field.alias or field.name: getattr(model, field.name)
            for field in attrs.fields(Subject)
        }
        return cls(**given, edit=edit)

    def ask(self, cases: Cases, scales: Scales = UNSCALED) -> Answers:
        """The edited answers to a batch."""
        found = super().ask(cases, self.edit.scales(scales, len(cases)))
        return self.edit.answers(found, self, cases, scales)

    def derived(self, factors: Mapping[str, float]) -> Subject:
        """The model of another machine, with the same edit."""
        found = super().derived(factors)
        return found if found is self else self.of_subject(found, self.edit)
