"""The checks of composition that follow from what a model declares and answers.

For each layer up to which a model predicts energy or latency by itself, and for the
whole: the terms of the layers up to it, one by one, against that prediction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer
from joulecheck.composition import composed, goes_by_operator
from joulecheck.estimate import Answers, Estimate, total
from joulecheck.model import Offer, Subject
from joulecheck.space import Bounds
from joulecheck.validation.layer_checks import (
    TOLERANCE,
    Comparison,
    LayerCheck,
    LayerTag,
    Skipped,
)
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Node,
    Subgraph,
    Totals,
    Workload,
)
from joulecheck.workload.columns import Bools, Floats
from joulecheck.workload.words import workload_text

_ORDER: Final = tuple(Layer)

_MATMUL: Final = Gemm(m=512, n=512, k=512)
_RELU: Final = Elementwise(Function.RELU, (1, 512, 512, 1))

WORKLOADS: Final[Mapping[str, Sequence[Workload]]] = {
    "gemm": (
        Gemm(m=1, n=1, k=1),
        Gemm(m=1, n=1024, k=1024),
        Gemm(m=33, n=65, k=129, batch=3),
        _MATMUL,
    ),
    "conv2d": (
        Conv2d(n=1, c=64, h=56, w=56, k=64, r=3, s=3, padding=1),
        Conv2d(n=1, c=64, h=56, w=56, k=64, r=3, s=3, padding=1, groups=64),
    ),
    "elementwise": (Elementwise(Function.RELU, (1, 4, 512, 512)),),
    "subgraph": (Subgraph((Node(_MATMUL), Node(_RELU, (0,)))),),
    "totals": (Totals(ops=1 << 30, bytes=1 << 20), Totals(ops=1 << 20, bytes=1 << 24)),
}
"""What every model is asked, at each of its precisions, by kind of workload."""


def cases_of(subject: Subject) -> list[Case]:
    """The workloads that a model takes, at each precision that it has."""
    asked = [
        workload
        for nature, workloads in WORKLOADS.items()
        if nature in subject.operators
        for workload in workloads
        if _fits(workload, subject.bounds)
    ]
    return [Case(w, precision) for w in asked for precision in subject.precisions]


def _fits(workload: Workload, bounds: Bounds) -> bool:
    match workload:
        case Gemm():
            return (
                max(workload.m, workload.n, workload.k) <= bounds.gemm
                and workload.batch <= bounds.batch
            )
        case Conv2d():
            return (
                max(workload.c, workload.k) <= bounds.channels
                and max(workload.h, workload.w) <= bounds.image
                and workload.groups <= bounds.groups
            )
        case Subgraph():
            return all(_fits(node.operator, bounds) for node in workload.nodes)
        case _:
            return True


def checks_of(subject: Subject, tolerance: float = TOLERANCE) -> Iterator[LayerCheck]:
    """The checks of a model: at each boundary of its layers, and of the whole.

    What it does not offer is a check as well, which is skipped with the way to offer it.
    The model is asked once, here; what it raises is a failure of each of its checks.
    """
    asked = _asked(subject)
    for quantity in (_Energy, _Latency):
        yield from quantity(subject, asked, tolerance).checks()


@attrs.frozen(eq=False)
class _Asked:
    cases: Cases
    answers: Answers


def _asked(subject: Subject) -> _Asked:
    cases = Cases.of(cases_of(subject))
    with np.errstate(all="ignore"):
        return _Asked(cases, subject.ask(cases))


@attrs.frozen(eq=False)
class _Quantity(ABC):
    """Energy or latency of one model."""

    name: ClassVar[str]
    unit: ClassVar[str]

    subject: Subject
    asked: _Asked
    tolerance: float

    @property
    def answers(self) -> Answers:
        """What the model answered."""
        return self.asked.answers

    @property
    def size(self) -> int:
        """How many cases it was asked."""
        return len(self.asked.cases)

    def checks(self) -> Iterator[LayerCheck]:
        """The checks of all boundaries, and of the whole."""
        for layer in self.boundaries():
            yield self._check(LayerTag.of(layer), partial(self._through, layer))
        yield self._check(LayerTag.COMPOSITE, self._whole)
        if not self.boundaries():
            yield self._check(LayerTag.COMPOSITE, self._unoffered, "by layer")

    def _check(
        self, tag: LayerTag, compare: Callable[[], Comparison], what: str = ""
    ) -> LayerCheck:
        machine = self.subject.machine
        up_to = "of the whole" if tag is LayerTag.COMPOSITE else f"up to {tag.name}"
        return LayerCheck(
            machine=self.subject.name,
            name=f"{self.name} {what or up_to}",
            from_layers=self._tags(tag) or (tag,),
            predicts=tag,
            tolerance=self.tolerance,
            runner=partial(self._run, compare),
            group=machine.architecture or "no class",
        )

    def _tags(self, tag: LayerTag) -> tuple[LayerTag, ...]:
        order = tuple(LayerTag)
        found = {LayerTag.of(layer) for layer in self.layers().values() if layer}
        return tuple(one for one in order[: order.index(tag) + 1] if one in found)

    def _run(self, compare: Callable[[], Comparison]) -> Comparison:
        errors = self.answers.errors
        if errors:
            row, error = min(errors.items())
            workload = workload_text(self.asked.cases[row].workload)
            msg = f"the model raised {error} at {workload}"
            raise RuntimeError(msg)
        return compare()

    def _inner(self, layer: Layer, terms: Mapping[str, Floats]) -> dict[str, Floats]:
        inner, layers = _ORDER[: _ORDER.index(layer) + 1], self.layers()
        return {name: value for name, value in terms.items() if layers.get(name) in inner}

    def _compared(
        self, sums: Floats, predicted: Floats, given: Callable[[Estimate], Any]
    ) -> Comparison:
        """The greatest relative difference over the rows that have a prediction.

        Args:
            sums: (n,) of the increments.
            predicted: (n,) NaN where there is none, or where it is none.
            given: the prediction in the answer to one case, None if it is left out.
        """
        asked = self._comparable() & ~np.isnan(predicted)
        for gap in np.flatnonzero(self._comparable() & np.isnan(predicted)).tolist():
            asked[gap] = self._is_given(gap, given)
        if not asked.any():
            msg = f"{self.subject.name} predicts it for none of {self.size} cases"
            raise Skipped(msg)
        scale = np.maximum(np.abs(sums), np.abs(predicted))
        with np.errstate(all="ignore"):
            errors = np.abs(sums - predicted) / np.where(scale == 0, 1.0, scale)
        errors = np.where(asked, np.where(np.isnan(errors), np.inf, errors), -1.0)
        row = int(errors.argmax())
        case, unit = self.asked.cases[row], self.unit
        told = f"predicted {predicted[row]:.6g} {unit}"
        if np.isnan(predicted[row]):
            told = "but the prediction is NaN"
        return Comparison(
            float(errors[row]),
            f"{workload_text(case.workload)} {case.precision.name}: increments sum to "
            f"{sums[row]:.6g} {unit}, {told}",
        )

    def _comparable(self) -> Bools:
        """(n,) which cases are compared if there is a prediction."""
        return ~self.answers.unsupported

    def _is_given(self, row: int, given: Callable[[Estimate], Any]) -> bool:
        """Whether a prediction that is NaN among the answers was given as one."""
        try:
            found = given(self.subject.model.estimate(self.asked.cases[row], {}))
        except Exception:  # noqa: BLE001 - the batch path gave it
            return True
        return found is not None

    def _need(self, *offers: Offer) -> None:
        missing = [offer for offer in offers if offer not in self.subject.offers]
        if missing:
            msg = f"to offer it, {' and '.join(offer.value for offer in missing)}"
            raise Skipped(msg)

    @abstractmethod
    def layers(self) -> Mapping[str, Layer | None]:
        """The layer of each term."""

    @abstractmethod
    def boundaries(self) -> Sequence[Layer]:
        """The layers up to which the model predicts, from the core outwards."""

    @abstractmethod
    def _through(self, layer: Layer) -> Comparison:
        """The increments up to a layer against the prediction up to it."""

    @abstractmethod
    def _whole(self) -> Comparison:
        """All increments against the end-to-end number."""

    @abstractmethod
    def _unoffered(self) -> Comparison:
        """Say why there is no boundary."""


class _Energy(_Quantity):
    """Joule: the increments of layers add."""

    name: ClassVar = "energy"
    unit: ClassVar = "J"

    def layers(self) -> Mapping[str, Layer | None]:
        return self.subject.layers

    def boundaries(self) -> Sequence[Layer]:
        return _physical(self.answers.through)

    def _through(self, layer: Layer) -> Comparison:
        self._need(Offer.ENERGY_TERMS, Offer.LAYERS)
        inner = self._inner(layer, self.answers.energy_terms)
        sums, predicted = total(inner, self.size), self.answers.through[layer]
        return self._compared(sums, predicted, lambda one: one.through.get(layer))

    def _whole(self) -> Comparison:
        self._need(Offer.ENERGY, Offer.ENERGY_TERMS)
        sums = total(self.answers.counted_terms(), self.size)
        return self._compared(sums, self.answers.energy, _always)

    def _unoffered(self) -> Comparison:
        self._need(Offer.ENERGY_TERMS, Offer.LAYERS, Offer.THROUGH)
        msg = f"{self.subject.name} predicts energy up to no layer"
        raise Skipped(msg)


class _Latency(_Quantity):
    """Second: the increments of layers overlap as the model declares."""

    name: ClassVar = "latency"
    unit: ClassVar = "s"

    def layers(self) -> Mapping[str, Layer | None]:
        return self.subject.latency_layers

    def boundaries(self) -> Sequence[Layer]:
        return _physical(self.answers.latency_through)

    def _through(self, layer: Layer) -> Comparison:
        self._need(Offer.LATENCY_TERMS, Offer.COMPOSITION)
        if unplaced := self.answers.latency_terms.keys() - self.layers().keys():
            msg = f"declare in latency_layers the layer of {', '.join(sorted(unplaced))}"
            raise Skipped(msg)
        inner = self._inner(layer, self.answers.latency_terms)
        predicted = self.answers.latency_through[layer]
        return self._overlapped(
            inner, predicted, lambda one: one.latency_through.get(layer)
        )

    def _whole(self) -> Comparison:
        self._need(Offer.LATENCY, Offer.LATENCY_TERMS, Offer.COMPOSITION)
        return self._overlapped(self.answers.latency_terms, self.answers.latency, _always)

    def _overlapped(
        self,
        terms: Mapping[str, Floats],
        predicted: Floats,
        given: Callable[[Estimate], Any],
    ) -> Comparison:
        """As the composition says."""
        composition = self.subject.latency_composition
        assert composition is not None  # noqa: S101 - it is offered
        return self._compared(composed(composition, terms, self.size), predicted, given)

    def _comparable(self) -> Bools:
        """Single operators, where the composition goes by them: there it is exact."""
        composition, rows = self.subject.latency_composition, super()._comparable()
        if composition is not None and goes_by_operator(composition):
            rows &= self.asked.cases.operators.single
        return rows

    def _unoffered(self) -> Comparison:
        self._need(Offer.LATENCY_TERMS, Offer.LATENCY_THROUGH)
        msg = f"{self.subject.name} predicts latency up to no layer"
        raise Skipped(msg)


def _always(_: Estimate) -> bool:
    """That a total is given: what offers it must give it for all that it supports."""
    return True


def _physical(through: Mapping[Layer, Floats]) -> list[Layer]:
    """The layers of predictions in their order; static energy is one with the whole."""
    return [layer for layer in _ORDER if layer in through and layer is not Layer.STATIC]
