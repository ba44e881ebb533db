"""Decisions that people take by a model: what bounds a workload, which design is better.

A decision is a choice among options by a number that the model gives to each. Two models
that differ in every number may still agree on every choice, and then it does not matter
which of them one asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import InvalidSetting, JoulecheckError, NotOffered
from joulecheck.knob import KnobKind
from joulecheck.model import SMALLEST, Offer, Subject
from joulecheck.workload.columns import Floats

SIDES: Final = 2

IMPROVED: Final = 2.0
"""By which the design points that nobody names improve one figure each."""

METRICS: Final[Mapping[str, tuple[Offer, str]]] = {
    "latency": (Offer.LATENCY, "s"),
    "energy": (Offer.ENERGY, "J"),
}
"""What designs and machines are compared by, with its unit."""

Numbers = Callable[[int, Cases, Sequence[int]], Floats]
"""Of a side, 0 or 1, for some cases: (cases, options) the numbers of these options."""


@attrs.frozen(eq=False)
class Decision:
    """A choice, and the number by which either of two models makes it."""

    question: str
    options: tuple[str, ...]
    unit: str
    numbers: Numbers
    largest: bool = False
    """Whether the option with the largest number is chosen, instead of the smallest."""
    ranked: bool = False
    """Whether the order of any two options counts, instead of the one that is chosen."""
    of_two: bool = False
    """Whether a choice between two of the options is a decision by itself."""

    def scores(self, side: int, cases: Cases, options: Sequence[int]) -> Floats:
        """(cases, options) numbers of which the smallest is chosen; NaN for no answer."""
        numbers = self.numbers(side, cases, options)
        with np.errstate(divide="ignore"):
            scores: Floats = 1 / numbers if self.largest else numbers
        return scores


def bottleneck(sides: Sequence[Subject]) -> Decision:
    """Which of the latency terms is the longest.

    Raises:
        NotOffered: there are not two that both models have.
    """
    known = [set(_latency_terms(subject)) for subject in sides]
    options = tuple(name for name in _latency_terms(sides[0]) if name in known[1])
    if len(options) < SIDES:
        names = " and ".join(subject.name for subject in sides)
        msg = f"{names} have no two latency terms in common"
        raise NotOffered(msg)

    def numbers(side: int, cases: Cases, some: Sequence[int]) -> Floats:
        terms = sides[side].ask(cases).latency_terms
        none = np.full(len(cases), np.nan)
        return np.column_stack([terms.get(options[option], none) for option in some])

    return Decision("bottleneck", options, "s", numbers, largest=True)


def _latency_terms(subject: Subject) -> list[str]:
    kinds = (w for kind, w in SMALLEST.items() if kind in subject.operators)
    smallest = Case(next(kinds), subject.precisions[0])
    return [*subject.ask(Cases.of([smallest])).latency_terms]


def better_design(
    sides: Sequence[Subject], points: Mapping[str, Mapping[str, float]], metric: str
) -> Decision:
    """Which of some design points is the better one.

    Args:
        sides: two models.
        points: by name, the factors of knobs that make the design; if empty, each knob
            that both models have is improved by itself.
        metric: one of `METRICS`.

    Raises:
        NotOffered: a model derives no machines, or lacks the metric.
        Unsupported: there can be no such machine.
        UnknownName: there is no such knob.
        InvalidSetting: a knob does not allow its factor.
    """
    _require(sides, Offer.KNOBS, metric)
    for side in sides:
        _allow(side, points)
    points = points or _improvements(sides)
    designs = [[side.derived(point) for point in points.values()] for side in sides]
    numbers = partial(_of_metric, designs, metric)
    question = f"better design by {metric}"
    return Decision(question, tuple(points), METRICS[metric][1], numbers, of_two=True)


def _allow(subject: Subject, points: Mapping[str, Mapping[str, float]]) -> None:
    for point, factors in points.items():
        for name, factor in factors.items():
            knob = subject.knobs.get(name)
            if knob is not None and not knob.allows(factor):
                whole = "whole and " if knob.kind is KnobKind.COUNT else ""
                msg = (
                    f"the design {point}: the factor on {name} of {subject.name} must be "
                    f"{whole}finite, above 0 and from {knob.low:g} to {knob.high:g}, got "
                    f"{factor:g}"
                )
                raise InvalidSetting(msg)


def _improvements(sides: Sequence[Subject]) -> dict[str, dict[str, float]]:
    one, other = sides
    found = {
        f"{name} x {factor:g}": {name: factor}
        for name, knob in one.knobs.items()
        if name in other.knobs
        and knob.allows(factor := knob.improved(IMPROVED))
        and other.knobs[name].allows(factor)
        and all(_exists(side, {name: factor}) for side in sides)
    }
    if len(found) < SIDES:
        msg = f"{one.name} and {other.name} have no two knobs in common"
        raise NotOffered(msg)
    return found


def _exists(subject: Subject, factors: Mapping[str, float]) -> bool:
    try:
        subject.derived(factors)
    except JoulecheckError:
        return False
    return True


def rank_among(
    sides: Sequence[Subject], others: Mapping[str, Subject], metric: str
) -> Decision:
    """Which of the other machines the one that the models are of is better than.

    Raises:
        NotOffered: a model lacks the metric, or there are no others.
    """
    _require(sides, None, metric)
    if not others:
        msg = f"{sides[0].name} has no family to be ranked in: name machines by --among"
        raise NotOffered(msg)
    subjects = [[side, *others.values()] for side in sides]
    options = ("this machine", *others)
    return _ranking(options, subjects, metric)


def rank_all(sides: Sequence[Mapping[str, Subject]], metric: str) -> Decision:
    """In which order machines come that both sides have a model of."""
    options = tuple(name for name in sides[0] if name in sides[1])
    return _ranking(options, [[side[name] for name in options] for side in sides], metric)


def _ranking(
    options: tuple[str, ...], subjects: Sequence[Sequence[Subject]], metric: str
) -> Decision:
    question = f"ranking of machines by {metric}"
    numbers = partial(_of_metric, subjects, metric)
    unit = METRICS[metric][1]
    return Decision(question, options, unit, numbers, ranked=True, of_two=True)


def _of_metric(
    subjects: Sequence[Sequence[Subject]],
    metric: str,
    side: int,
    cases: Cases,
    options: Sequence[int],
) -> Floats:
    asked = [subjects[side][option].ask(cases) for option in options]
    return np.column_stack([getattr(answers, metric) for answers in asked])


def _require(sides: Sequence[Subject], offer: Offer | None, metric: str) -> None:
    for subject in sides:
        for needed in filter(None, (offer, METRICS[metric][0])):
            if needed not in subject.offers:
                msg = f"{subject.name} does not take this decision: {needed.value}"
                raise NotOffered(msg)
