"""The kinds of case: what a model is asked, one question or two side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from math import inf, nan
from typing import (
    Any,
    Final,
    NamedTuple,
    Never,
    get_args,
)  # fmt: skip

import attrs

from joulecheck.coefficient import check_factors
from joulecheck.errors import InvalidWorkload
from joulecheck.workload import Precision, Traffic, Workload, traffic

_NONE: Final[Mapping[str, Never]] = {}


class Question(NamedTuple):
    """One call of a model: what it is asked, under which scales, and its role."""

    role: str
    case: Case
    scale: Mapping[str, float]
    factors: Mapping[str, float] = _NONE
    """Of the knobs: which derived machine is asked."""
    peer: str = ""
    """The peer that it is put to; the model itself if empty."""


def _check_workload(_: object, __: object, value: Workload) -> None:
    if not isinstance(value, get_args(Workload)):
        kinds = ", ".join(kind.__name__ for kind in get_args(Workload))
        msg = f"Case.workload must be one of {kinds}, got {value!r}"
        raise InvalidWorkload(msg)


def _check_precision(_: object, __: object, value: Precision) -> None:
    if not isinstance(value, Precision):
        msg = f"Case.precision must be a joulecheck.Precision, got {value!r}"
        raise InvalidWorkload(msg)


@attrs.frozen
class Case:
    """A workload at a precision: one question to a model.

    The counts are exact ints: operations (one MAC is two), MACs and bytes.

    Raises:
        InvalidWorkload: a field is of another type.
    """

    workload: Workload = attrs.field(validator=_check_workload)
    precision: Precision = attrs.field(default=Precision.FP32, validator=_check_precision)

    @property
    def macs(self) -> int:
        """Multiply-accumulates."""
        return self.workload.macs

    @property
    def ops(self) -> int:
        """Operations; one MAC is two."""
        return self.workload.ops

    @property
    def traffic(self) -> Traffic:
        """Compulsory bytes by role: input, weight, output, internal."""
        return traffic(self.workload, self.precision)

    @property
    def bytes(self) -> int:
        """Compulsory external bytes: each input, weight and output tensor once."""
        return self.traffic.external

    @property
    def questions(self) -> tuple[Question, ...]:
        """Itself, unscaled."""
        return (Question("case", self, {}),)


def _check_scale(_: object, __: object, value: Mapping[str, float]) -> None:
    check_factors(value)


@attrs.frozen
class ScaledCase:
    """A case under perturbed coefficients: each named one times its factor.

    Raises:
        InvalidScale: a factor is no finite number of at least 0.
    """

    case: Case
    scale: Mapping[str, float] = attrs.field(validator=_check_scale)

    @property
    def questions(self) -> tuple[Question, ...]:
        """The case as it is, then scaled."""
        return (
            Question("nominal", self.case, {}),
            Question("scaled", self.case, self.scale),
        )


@attrs.frozen
class WorkloadPair:
    """Two workloads that differ in one dimension, which grew."""

    smaller: Case
    larger: Case
    grown: str
    """The dimension, such as "m", or "2.n" for that of node 2."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """The smaller case, then the larger."""
        return (Question("smaller", self.smaller, {}), Question("larger", self.larger, {}))


@attrs.frozen
class PrecisionPair:
    """One workload at two precisions that physics orders."""

    narrower: Case
    wider: Case

    @property
    def questions(self) -> tuple[Question, ...]:
        """The narrower case, then the wider."""
        return (
            Question("narrower", self.narrower, {}),
            Question("wider", self.wider, {}),
        )


@attrs.frozen
class Derivation:
    """How a machine differs from the one that a model describes.

    Whatever is left out stays as it is.
    """

    factors: Mapping[str, float] = attrs.field(factory=dict)
    """By knob: what the figure is multiplied by."""
    scale: Mapping[str, float] = attrs.field(factory=dict)
    """By coefficient."""

    def __str__(self) -> str:
        """Such as "clock, units x 2; launch x 0.5"."""
        return "; ".join(filter(None, map(factors_text, (self.factors, self.scale))))

    @property
    def short(self) -> str:
        """The same in fewer words, such as "clock and 4 more x 2; launch x 0.5"."""
        parts = (_by_factor(each) for each in (self.factors, self.scale))
        return "; ".join(
            f"{_some(names)} x {factor:.3g}" for part in parts for factor, names in part
        )


def factors_text(factors: Mapping[str, float]) -> str:
    """The factors in words, each with all the names that it goes with."""
    return "; ".join(f"{', '.join(names)} x {f:.9g}" for f, names in _by_factor(factors))


def _by_factor(factors: Mapping[str, float]) -> Iterable[tuple[float, Sequence[str]]]:
    names: dict[float, list[str]] = {}
    for name, factor in factors.items():
        names.setdefault(factor, []).append(name)
    return names.items()


def _some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} more"  # noqa: PLR2004 - as short


@attrs.frozen
class DerivedCase:
    """A case on the machine of a model, and on one derived from that."""

    case: Case
    derivation: Derivation

    @property
    def questions(self) -> tuple[Question, ...]:
        """The case on the machine as it is, then on the derived one."""
        derived = self.derivation
        return (
            Question("nominal", self.case, {}),
            Question("derived", self.case, derived.scale, derived.factors),
        )


@attrs.frozen
class CoefficientCase:
    """A coefficient, to which some of the model's witnesses must respond.

    The witnesses are the first cases that the model's sampler draws from a fixed seed;
    their number is the effort after which a coefficient is called dead.
    """

    coefficient: str
    witnesses: int

    @property
    def questions(self) -> tuple[Question, ...]:
        """None to show: what was asked are all of the witnesses."""
        return ()


def _as_cases(cases: Iterable[Case]) -> tuple[Case, ...]:
    return tuple(cases)


@attrs.frozen
class CaseSequence:
    """Some cases that a model is asked one after the other."""

    cases: tuple[Case, ...] = attrs.field(converter=_as_cases)

    @property
    def questions(self) -> tuple[Question, ...]:
        """Each in order."""
        return tuple(
            Question(f"case {place}", case, {})
            for place, case in enumerate(self.cases, start=1)
        )


class Wrong(Enum):
    """What is wrong with a question. The value is the factor that a coefficient gets."""

    UNKNOWN_COEFFICIENT = 1.1
    NEGATIVE_FACTOR = -1.0
    NAN_FACTOR = nan
    INFINITE_FACTOR = inf
    OTHER_WORKLOAD = 1.0
    """Of a kind that the model does not declare; no coefficient is named."""

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """Travel between processes by name, for NaN is no value of any member."""
        return getattr, (type(self), self.name)


@attrs.frozen
class InvalidCase:
    """A question with one thing wrong, which a model must refuse."""

    case: Case
    wrong: Wrong
    coefficient: str = ""
    """The one that is misused, if any; a scale that names none names it misspelt."""

    @property
    def named(self) -> str:
        """What a message about it must name."""
        misspelt = self.wrong is Wrong.UNKNOWN_COEFFICIENT
        return f"{self.coefficient}_" if misspelt else self.coefficient

    @property
    def scale(self) -> dict[str, float]:
        """The invalid scale, empty if the workload is what is wrong."""
        if self.wrong is Wrong.OTHER_WORKLOAD:
            return {}
        return {self.named: float(self.wrong.value)}

    @property
    def questions(self) -> tuple[Question, ...]:
        """The one that must be refused."""
        return (Question("invalid", self.case, self.scale),)


@attrs.frozen
class PeerCase:
    """A case that is put to the model and to one of its peers."""

    case: Case
    peer: str
    """The name of the peer."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """The case to the model, then to the peer."""
        return (
            Question("model", self.case, {}),
            Question("peer", self.case, {}, peer=self.peer),
        )


@attrs.frozen
class EquivalentPair:
    """One piece of work in two spellings."""

    one: Case
    other: Case
    how: str
    """What was exchanged, in words; "" if nothing was."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """One spelling, then the other."""
        return (Question("one", self.one, {}), Question("other", self.other, {}))


def _check_times(_: object, __: object, times: int) -> None:
    if type(times) is not int or times < 1:
        msg = f"Part.times must be an int >= 1, got {times!r}: leave out what never runs"
        raise InvalidWorkload(msg)


@attrs.frozen
class Part:
    """One of the parts of a piece of work, and how often it runs."""

    case: Case
    times: int = attrs.field(default=1, validator=_check_times)


def _as_parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(parts)


@attrs.frozen
class PartedCase:
    """A piece of work beside parts that together do all of it, or more."""

    whole: Case
    parts: tuple[Part, ...] = attrs.field(converter=_as_parts)
    how: str
    """Along what it was parted, such as "m" or "operators"; "" if it is one part."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """The whole, then each part once."""
        parts = (
            Question(f"part {n}" + f" x {p.times}" * (p.times > 1), p.case, {})
            for n, p in enumerate(self.parts, start=1)
        )
        return (Question("whole", self.whole, {}), *parts)


@attrs.frozen(kw_only=True)
class MeasuredCase:
    """A case beside what a machine took for it."""

    case: Case
    latency: float | None = None
    """Second; None where it was not measured."""
    energy: float | None = None
    """Joule."""
    tolerance: float
    """How far a prediction may be off, relative: 0.2 allows a factor 1.2 both ways."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """The case."""
        return (Question("case", self.case, {}),)


AnyCase = (
    Case
    | ScaledCase
    | WorkloadPair
    | PrecisionPair
    | EquivalentPair
    | PartedCase
    | DerivedCase
    | PeerCase
    | CoefficientCase
    | CaseSequence
    | InvalidCase
    | MeasuredCase
)
