"""The overlay: predictions beside measurements, and which figures they hang on.

A prediction agrees where it is within the tolerance of the measured median, as a
factor. One whose repeats differ by more than that and lie on both sides of the
prediction decides nothing.

The figures behind a prediction are those to which it responds: by coefficient under a
scale, by knob on a derived machine. The elasticity d ln(prediction) / d ln(figure) is
the share of the prediction that hangs on the figure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases, MeasuredCase
from joulecheck.counterexample import Blame, Counterexample, numbers_of
from joulecheck.errors import InvalidSetting, Unsupported
from joulecheck.estimate import Answers
from joulecheck.knob import KnobKind
from joulecheck.model import Subject
from joulecheck.validation.measurement import Measurement
from joulecheck.workload.columns import Floats

LAW: Final = "MEA001"

QUANTITIES: Final = ("latency", "energy")

NUDGE: Final = 1.01
"""The factor by which a figure is changed to see what responds."""

NOTABLE: Final = 0.05
"""Less elasticity than this, and a prediction does not hang on a figure."""

DECISIVE: Final = 0.5
"""From this elasticity on, a measurement that agrees speaks for the figure."""


class Verdict(Enum):
    """What a measurement says of a prediction."""

    AGREES = "agrees"
    DISAGREES = "DISAGREES"
    TOO_NOISY = "too noisy"
    """The repeats differ by more than the tolerance, and include the prediction."""
    NOT_PREDICTED = "not predicted"


@attrs.frozen(kw_only=True)
class Comparison:
    """One measured quantity beside its prediction."""

    measurement: Measurement
    quantity: str
    """Of `QUANTITIES`."""
    measured: float
    """Second or joule."""
    predicted: float | None
    verdict: Verdict
    figures: Mapping[str, float] = attrs.field(factory=dict)
    """Elasticities of the prediction by coefficient or knob, the greatest first."""
    because: str = ""

    @property
    def ratio(self) -> float:
        """Predicted over measured; infinite where no float holds it."""
        return math.nan if self.predicted is None else _over(self.predicted, self.measured)

    @property
    def log_ratio(self) -> float:
        """Its natural logarithm, which any float has."""
        return math.log(self.predicted or math.nan) - math.log(self.measured)

    @property
    def spread(self) -> float | None:
        """(greatest - least) / median of the repeats."""
        ends = self.measurement.spread(self.quantity)
        return None if ends is None else (ends.greatest - ends.least) / self.measured

    @property
    def leading(self) -> str:
        """The figure that the prediction hangs on most."""
        return next(iter(self.figures), "")


@attrs.frozen(kw_only=True)
class Calibrated:
    """A figure of a machine that measurements confirm."""

    machine: str
    figure: str
    comparisons: tuple[Comparison, ...]
    """All of them agree."""

    @property
    def ratios(self) -> list[float]:
        """Predicted over measured."""
        return [c.ratio for c in self.comparisons]


@attrs.frozen(kw_only=True, eq=False)
class Disagreement:
    """Measurements that contradict a machine in the same way."""

    machine: str
    quantity: str
    figure: str
    """What the contradicted predictions hang on most; "" if on nothing declared."""
    comparisons: tuple[Comparison, ...]
    """The worst first."""
    repair: float | None
    """The factor on the figure with which their median would be met."""

    @property
    def worst(self) -> Comparison:
        """The one that is furthest off."""
        return self.comparisons[0]


@attrs.frozen(kw_only=True)
class Overlay:
    """All comparisons, and what follows from them."""

    tolerance: float
    comparisons: tuple[Comparison, ...]

    @cached_property
    def calibrated(self) -> list[Calibrated]:
        """The figures that decide some agreeing predictions and no other ones.

        What a model was fitted to confirms nothing.
        """
        against = {
            (c.measurement.machine, figure)
            for c in self._with(Verdict.DISAGREES)
            for figure in _decisive(c)
        }
        speaking: dict[tuple[str, str], list[Comparison]] = defaultdict(list)
        for c in self._with(Verdict.AGREES):
            if c.measurement.use == "check":
                for figure in _decisive(c):
                    speaking[c.measurement.machine, figure].append(c)
        return [
            Calibrated(machine=machine, figure=figure, comparisons=tuple(agreeing))
            for (machine, figure), agreeing in sorted(speaking.items())
            if (machine, figure) not in against
        ]

    @cached_property
    def disagreements(self) -> list[Disagreement]:
        """What is contradicted, grouped by machine, quantity and leading figure."""
        groups: dict[tuple[str, str, str], list[Comparison]] = defaultdict(list)
        for c in self._with(Verdict.DISAGREES):
            groups[c.measurement.machine, c.quantity, c.leading].append(c)
        return [
            Disagreement(
                machine=machine,
                quantity=quantity,
                figure=figure,
                comparisons=tuple(sorted(group, key=_off, reverse=True)),
                repair=_repair(group, figure),
            )
            for (machine, quantity, figure), group in sorted(groups.items())
        ]

    def _with(self, verdict: Verdict) -> Iterator[Comparison]:
        return (c for c in self.comparisons if c.verdict is verdict)


def _decisive(comparison: Comparison) -> list[str]:
    return [name for name, e in comparison.figures.items() if abs(e) >= DECISIVE]


def _off(comparison: Comparison) -> float:
    return abs(comparison.log_ratio)


def _repair(group: Sequence[Comparison], figure: str) -> float | None:
    """The factor by which `figure` would meet the median of the group.

    A prediction is a share that goes with the figure, or for a rate against it, and the
    rest, which stays. There is no factor where the rest alone is too much.
    """
    if not figure:
        return None
    wanted = float(np.median([_factor(c, c.figures[figure]) for c in group]))
    return wanted if 0 < wanted < math.inf else None


def _factor(comparison: Comparison, elasticity: float) -> float:
    """On a figure, so that the prediction meets the measurement; 0 or less if none does."""
    share = abs(elasticity)
    allowed = (_over(comparison.measured, comparison.predicted or math.nan) - 1) / share + 1
    if elasticity > 0:
        return allowed
    return _over(1.0, allowed) if allowed > 0 else math.inf


def _over(one: float, other: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float64(one) / other)


def overlay(
    measurements: Iterable[Measurement],
    model_named: Callable[[str], Subject],
    tolerance: float = 0.2,
) -> Overlay:
    """Hold models to measurements.

    Args:
        measurements: of any machines, in any order; comparisons keep it by machine.
        model_named: finds a model by the name that a measurement states.
        tolerance: relative; 0.2 lets a prediction be off by a factor 1.2 both ways.

    Raises:
        InvalidSetting: the tolerance is not above 0.
        UnknownName: a measurement names no model.
    """
    if not 0 < tolerance < math.inf:
        msg = f"tolerance must be above 0, such as 0.2, got {tolerance}"
        raise InvalidSetting(msg)
    by_machine: dict[str, list[Measurement]] = defaultdict(list)
    for one in measurements:
        by_machine[one.machine].append(one)
    found = [
        comparison
        for machine, some in by_machine.items()
        for comparison in _compared(model_named(machine), some, tolerance)
    ]
    return Overlay(tolerance=tolerance, comparisons=tuple(found))


def _compared(
    model: Subject, measurements: Sequence[Measurement], tolerance: float
) -> Iterator[Comparison]:
    cases = Cases.of([one.case for one in measurements])
    answers = model.ask(cases)
    responses = dict(_responses(model, cases, answers))
    for row, one in enumerate(measurements):
        named = attrs.evolve(one, machine=model.name)
        for quantity in QUANTITIES:
            measured = getattr(one, quantity)
            if measured is None:
                continue
            predicted = float(getattr(answers, quantity)[row])
            figures = {name: float(r[quantity][row]) for name, r in responses.items()}
            because = answers.errors.get(row) or f"the model predicts no {quantity}"
            if answers.unsupported[row] or one.case.precision not in model.precisions:
                because = "the model does not support the case"
            yield _comparison(named, quantity, predicted, figures, tolerance, because)


def _comparison(  # noqa: PLR0913 - what is known of one number
    one: Measurement,
    quantity: str,
    predicted: float,
    figures: Mapping[str, float],
    tolerance: float,
    because: str,
) -> Comparison:
    measured: float = getattr(one, quantity)
    there = math.isfinite(predicted) and predicted > 0
    made = Comparison(
        measurement=one,
        quantity=quantity,
        measured=measured,
        predicted=predicted if there else None,
        verdict=Verdict.NOT_PREDICTED,
        because=because,
    )
    if not there:
        return made
    notable = {name: e for name, e in figures.items() if abs(e) >= NOTABLE}
    ordered = sorted(notable, key=lambda name: (-abs(notable[name]), name))
    return attrs.evolve(
        made,
        figures={name: notable[name] for name in ordered},
        verdict=_verdict(made, tolerance),
        because="",
    )


def _verdict(made: Comparison, tolerance: float) -> Verdict:
    if _off(made) <= math.log1p(tolerance):
        return Verdict.AGREES
    ends = made.measurement.spread(made.quantity)
    noisy = ends is not None and ends.greatest / ends.least > 1 + tolerance
    inside = ends is not None and ends.least <= (made.predicted or 0.0) <= ends.greatest
    return Verdict.TOO_NOISY if noisy and inside else Verdict.DISAGREES


def _responses(
    model: Subject, cases: Cases, nominal: Answers
) -> Iterator[tuple[str, dict[str, Floats]]]:
    """The elasticities, (n,) by quantity, of each coefficient, rate and delay."""
    for name in model.coefficients:
        changed = model.ask(cases, {name: np.full(len(cases), NUDGE)})
        yield name, _elasticities(nominal, changed)
    for name in model.knobs_of(KnobKind.RATE, KnobKind.DELAY):
        try:
            changed = model.derived({name: NUDGE}).ask(cases)
        except Unsupported:
            continue
        yield name, _elasticities(nominal, changed)


def _elasticities(nominal: Answers, changed: Answers) -> dict[str, Floats]:
    with np.errstate(all="ignore"):
        return {
            quantity: np.nan_to_num(
                np.log(getattr(changed, quantity) / getattr(nominal, quantity))
                / np.log(NUDGE),
                posinf=0.0,
                neginf=0.0,
            )
            for quantity in QUANTITIES
        }


def counterexample(found: Disagreement, model: Subject, tolerance: float) -> Counterexample:
    """The finding of a disagreement: its worst measurement, and what it hangs on."""
    worst = found.worst
    case = MeasuredCase(
        case=worst.measurement.case, tolerance=tolerance, **{found.quantity: worst.measured}
    )
    too_much = math.copysign(1.0, worst.log_ratio)
    moves = {name: -too_much * e for name, e in worst.figures.items()}
    return Counterexample(
        model=model.name,
        property=LAW,
        case=case,
        genes=(),
        margin=math.log1p(tolerance) - _off(worst),
        numbers=tuple(numbers_of(model, case)),
        blame=Blame(coefficients=moves),
    )
