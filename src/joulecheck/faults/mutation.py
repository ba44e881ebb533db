"""Mutations: kinds of fault whose parameters are drawn, to plant in any reference model.

A named fault of `joulecheck.faults.planted` is one example. A kind stands for a whole
family of slips; `KIND#VARIANT` names one of them, and with the model's name it decides
everything that is drawn.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer
from joulecheck.errors import NotOffered
from joulecheck.estimate import Deferred
from joulecheck.faults.planted import Arrays, Change, FaultyModel, dearer
from joulecheck.reference.layered import LayeredModel
from joulecheck.workload.columns import (
    CONV2D,
    Bools,
    Floats,
    OperatorColumns,
    operator_columns,
)

MARK: Final = "#"
"""Between a kind's name and the number of a variant."""


def _as_places(places: Iterable[str]) -> frozenset[str]:
    return frozenset(places)


@attrs.frozen(kw_only=True)
class Drawn:
    """One mutation with its parameters."""

    what: str
    """The parameters in words."""
    places: frozenset[str] = attrs.field(converter=_as_places)
    """Terms, coefficients, layers or totals, any of which a good blame names."""
    change: Change
    wrapper: Callable[[LayeredModel, Change], FaultyModel] = FaultyModel


Draw = Callable[[np.random.Generator, LayeredModel], Drawn | None]
"""Draws a mutation for a model; None if the kind has none for it."""


@attrs.frozen
class Kind:
    """A kind of fault."""

    name: str
    summary: str
    """What such a model does wrong, in a sentence."""
    history: str
    """Where such faults were seen in public."""
    draw: Draw


@attrs.frozen
class Mutation:
    """One variant of a kind: what it changes depends on the model that it is put in."""

    kind: Kind
    variant: int

    @property
    def name(self) -> str:
        """Such as "layer-dropped#2"."""
        return f"{self.kind.name}{MARK}{self.variant}"

    @property
    def summary(self) -> str:
        """That of the kind."""
        return self.kind.summary

    def drawn(self, model: LayeredModel) -> Drawn:
        """What it changes in a model.

        Raises:
            NotOffered: the kind does not apply to this model.
        """
        words = [zlib.crc32(text.encode()) for text in (self.kind.name, model.name)]
        rng = np.random.default_rng([*words, self.variant])
        found = self.kind.draw(rng, model)
        if found is None:
            msg = f"{self.kind.name} cannot be planted in {model.name}: {self.summary}"
            raise NotOffered(msg)
        return found

    def plant(self, model: LayeredModel) -> FaultyModel:
        """The model with this mutation in it.

        Raises:
            NotOffered: the kind does not apply to this model.
        """
        found = self.drawn(model)
        return found.wrapper(model, found.change)


def rescaled(
    model: LayeredModel, found: Arrays, factors: Mapping[str, Floats | float]
) -> Arrays:
    """Energy terms times factors, wherever they count."""
    exact = {name: found.energy_terms[name] * factor for name, factor in factors.items()}
    for name, factor in factors.items():
        found = dearer(model, found, name, found.energy_terms[name] * (factor - 1))
    return attrs.evolve(found, energy_terms={**found.energy_terms, **exact})


def moved(
    model: LayeredModel, found: Arrays, memory: str, factor: Floats | float
) -> Arrays:
    """The bytes of a memory times a factor: its energy, and what is told of them."""
    traffic = dict(found.traffic)
    if memory in traffic:
        traffic[memory] = traffic[memory] * factor
    dearer = rescaled(model, found, {memory: factor})
    counted = recounted(model, dearer, {memory: factor})
    return attrs.evolve(counted, traffic=traffic)


def recounted(
    model: LayeredModel, found: Arrays, factors: Mapping[str, Floats | float]
) -> Arrays:
    """The events of energy terms times factors, as they are told."""
    return attrs.evolve(
        found,
        events=Deferred(
            lambda: {
                name: count * factors.get(_term(model, name), 1.0)
                for name, count in found.events.items()
            }
        ),
    )


def _term(model: LayeredModel, coefficient: str) -> str:
    """The term that a coefficient of a reference model moves."""
    return min(model.coefficients[coefficient].terms or {coefficient})


def lasting(
    model: LayeredModel, found: Arrays, latency: Floats, *, by_layer: bool
) -> Arrays:
    """The answer with another latency in all, and what a model computes from it.

    Those are the utilisation, static energy and the seconds that it is charged for, and
    `by_layer` the latencies up to each layer. The terms of latency stay.
    """
    lasts = np.where(found.latency > 0, latency / found.latency, 1.0)
    static = dict.fromkeys(terms_of(model, Layer.STATIC), lasts)
    with np.errstate(divide="ignore"):
        utilisation = found.utilisation / lasts
    changed = recounted(model, rescaled(model, found, static), static)
    through = found.latency_through
    if by_layer:
        through = {layer: time * lasts for layer, time in through.items()}
    return attrs.evolve(
        changed, latency=latency, utilisation=utilisation, latency_through=through
    )


def terms_of(model: LayeredModel, layer: Layer) -> list[str]:
    """The energy terms of a layer."""
    return [name for name, one in model.layers.items() if one is layer]


def layers_of(model: LayeredModel) -> list[Layer]:
    """The layers that the model has terms in, without STATIC."""
    return [
        layer for layer in dict.fromkeys(model.layers.values()) if layer != Layer.STATIC
    ]


def one_of(rng: np.random.Generator, values: Iterable[Any]) -> Any:  # noqa: ANN401 - one of them
    """One of some values, each as likely."""
    choices = list(values)
    return choices[int(rng.integers(len(choices)))]


def with_operators(
    cases: Cases, change: Callable[[OperatorColumns], OperatorColumns]
) -> Cases:
    """The same cases with the columns of their operators changed."""
    return Cases(cases.precision, cases.__getitem__, lambda: change(cases.operators))


def windows_in_full(ops: OperatorColumns) -> OperatorColumns:
    """The operators with the elements that windows of convolutions share for each."""
    taps = np.maximum(ops.input_elements, ops.m * ops.k * ops.instances)
    is_convolution = ops.kind == CONV2D
    return attrs.evolve(
        ops, input_elements=np.where(is_convolution, taps, ops.input_elements)
    )


def with_cases(cases: Cases, change: Callable[[Case], Case], concerned: Bools) -> Cases:
    """Some cases changed, one by one, each to one of as many operators.

    Args:
        cases: all of them.
        change: what becomes of one.
        concerned: (operators,) where a change is possible.
    """
    operators = cases.operators
    rows = np.flatnonzero(operators.per_case(concerned.astype(np.float64)))
    changed = operator_columns([change(cases[index]).workload for index in rows.tolist()])
    here = np.isin(operators.owner, rows)

    def column(name: str) -> Any:  # noqa: ANN401 - an array
        values = getattr(operators, name).copy()
        values[here] = getattr(changed, name)
        return values

    names = [f.name for f in attrs.fields(OperatorColumns) if f.name != "starts"]
    columns = attrs.evolve(operators, **{name: column(name) for name in names})
    return Cases(cases.precision, lambda index: change(cases[index]), lambda: columns)


def variants(kind: Kind, model: LayeredModel, most: int) -> list[Mutation]:
    """The first variants of a kind for a model, each with other parameters."""
    found: dict[str, Mutation] = {}
    for variant in range(4 * most):
        mutation = Mutation(kind, variant)
        try:
            what = mutation.drawn(model).what
        except NotOffered:
            return []
        found.setdefault(what, mutation)
        if len(found) == most:
            break
    return list(found.values())
