"""Cases: the questions of a property, one at a time or as a batch of arrays.

A plain `Case` is what a model is asked: a workload at a precision. The other kinds
put two questions side by side, one under perturbed coefficients, one on a machine
derived from the model's own, or one to two models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from math import inf, nan
from typing import (
    Any,
    ClassVar,
    Final,
    Generic,
    NamedTuple,
    Never,
    Protocol,
    TypeVar,
    get_args,
)  # fmt: skip

import attrs
import numpy as np

from joulecheck.coefficient import check_factors
from joulecheck.errors import InvalidWorkload
from joulecheck.workload import Precision, Totals, Traffic, Workload, traffic
from joulecheck.workload.columns import (
    PRECISION_BITS,
    PRECISIONS,
    BatchTraffic,
    Bools,
    Floats,
    Ints,
    OperatorColumns,
    batch_traffic,
    operator_columns,
    total_ops,
)

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


class Batch(Protocol):
    """Cases of one kind as a structure of arrays."""

    def __len__(self) -> int:
        """How many cases."""

    def __getitem__(self, index: int) -> AnyCase:
        """One of them, built anew."""


class Cases:
    """A batch of plain cases.

    Columns are computed when first asked for, so a scalar model costs none of them.
    """

    def __init__(
        self,
        precision: Ints,
        item: Callable[[int], Case],
        columns: Callable[[], OperatorColumns],
        stated_bytes: Floats | None = None,
    ) -> None:
        """Hold a batch.

        Args:
            precision: (n,) indices into `joulecheck.workload.columns.PRECISIONS`.
            item: builds the case of a row.
            columns: computes the operator rows.
            stated_bytes: (n,) external bytes of `Totals` workloads, which have no
                tensors to count.
        """
        self.precision = precision
        self._item = item
        self._columns = columns
        self._stated_bytes = stated_bytes

    @classmethod
    def of(cls, cases: Sequence[Case]) -> Cases:
        """The batch of these cases, from their exact counts."""
        precision = [PRECISIONS.index(case.precision) for case in cases]
        stated = [
            float(case.workload.bytes) if isinstance(case.workload, Totals) else np.nan
            for case in cases
        ]
        return cls(
            np.array(precision, dtype=np.int64),
            cases.__getitem__,
            lambda: operator_columns([case.workload for case in cases]),
            None if np.isnan(stated).all() else np.array(stated),
        )

    def at(self, precision: Ints) -> Cases:
        """The same workloads at other precisions, given as (n,) indices."""
        return Cases(
            precision,
            lambda index: Case(self[index].workload, PRECISIONS[precision[index]]),
            lambda: self.operators,
            self._stated_bytes,
        )

    def take(self, rows: Ints) -> Cases:
        """The cases of these rows, in their order."""
        stated = self._stated_bytes
        return Cases(
            self.precision[rows],
            lambda index: self._item(int(rows[index])),
            lambda: self.operators.take(rows),
            None if stated is None else stated[rows],
        )

    def __len__(self) -> int:
        """How many cases."""
        return len(self.precision)

    def __getitem__(self, index: int) -> Case:
        """The case of a row, in exact ints."""
        return self._item(index)

    def __iter__(self) -> Iterator[Case]:
        """Each case in order."""
        return (self._item(index) for index in range(len(self)))

    @cached_property
    def operators(self) -> OperatorColumns:
        """One row an operator."""
        return self._columns()

    @property
    def bits(self) -> Ints:
        """(n,) width of an element."""
        return PRECISION_BITS[self.precision]

    @cached_property
    def macs(self) -> Floats:
        """(n,) multiply-accumulates."""
        return self.operators.per_case(self.operators.macs)

    @cached_property
    def ops(self) -> Floats:
        """(n,) operations; one MAC is two."""
        return self.operators.per_case(total_ops(self.operators))

    @cached_property
    def traffic(self) -> BatchTraffic:
        """External bytes by role, each (n,): every tensor once."""
        return self._traffic(touched_only=False)

    @cached_property
    def compulsory(self) -> BatchTraffic:
        """The same, without what of an input no filter certainly touches."""
        return self._traffic(touched_only=True)

    def _traffic(self, *, touched_only: bool) -> BatchTraffic:
        counted = batch_traffic(self.operators, self.bits, touched_only=touched_only)
        if self._stated_bytes is None:
            return counted
        stated = np.nan_to_num(self._stated_bytes)
        return attrs.evolve(counted, input=counted.input + stated)

    @property
    def bytes(self) -> Floats:
        """(n,) compulsory external bytes."""
        return self.traffic.external


@attrs.frozen(eq=False)
class ScaledCases:
    """A batch of cases under perturbed coefficients."""

    cases: Cases
    scales: Mapping[str, Floats]
    """Factors by coefficient, each (n,); 1 where a case leaves it alone."""

    kind: ClassVar = ScaledCase

    @classmethod
    def of(cls, cases: Sequence[ScaledCase]) -> ScaledCases:
        """The batch of these cases."""
        names = sorted({name for case in cases for name in case.scale})
        scales = {
            name: np.array([case.scale.get(name, 1.0) for case in cases]) for name in names
        }
        return cls(Cases.of([case.case for case in cases]), scales)

    def __len__(self) -> int:
        """How many cases."""
        return len(self.cases)

    def __getitem__(self, index: int) -> ScaledCase:
        """The case of a row, with the factors that are not 1."""
        factors = {name: float(f[index]) for name, f in self.scales.items()}
        return ScaledCase(
            self.cases[index], {name: f for name, f in factors.items() if f != 1.0}
        )


@attrs.frozen(eq=False)
class WorkloadPairs:
    """A batch of pairs of workloads, the larger with one dimension grown."""

    smaller: Cases
    larger: Cases
    item: Callable[[int], WorkloadPair]

    @classmethod
    def of(cls, pairs: Sequence[WorkloadPair]) -> WorkloadPairs:
        """The batch of these pairs."""
        return cls(
            Cases.of([pair.smaller for pair in pairs]),
            Cases.of([pair.larger for pair in pairs]),
            pairs.__getitem__,
        )

    def __len__(self) -> int:
        """How many pairs."""
        return len(self.smaller)

    def __getitem__(self, index: int) -> WorkloadPair:
        """The pair of a row."""
        return self.item(index)


@attrs.frozen(eq=False)
class PrecisionPairs:
    """A batch of workloads, each at two ordered precisions."""

    narrower: Cases
    wider: Cases

    @classmethod
    def of(cls, pairs: Sequence[PrecisionPair]) -> PrecisionPairs:
        """The batch of these pairs."""
        return cls(
            Cases.of([pair.narrower for pair in pairs]),
            Cases.of([pair.wider for pair in pairs]),
        )

    def __len__(self) -> int:
        """How many pairs."""
        return len(self.narrower)

    def __getitem__(self, index: int) -> PrecisionPair:
        """The pair of a row."""
        return PrecisionPair(self.narrower[index], self.wider[index])


@attrs.frozen(eq=False)
class DerivedCases:
    """A batch of cases, each on the machine of a model and on one of a few others."""

    cases: Cases
    derivations: Sequence[Derivation]
    """The other machines."""
    which: Ints
    """(n,) index of the other machine of each case."""

    @classmethod
    def of(cls, cases: Sequence[DerivedCase]) -> DerivedCases:
        """The batch of these cases."""
        derivations: list[Derivation] = []
        for case in cases:
            if case.derivation not in derivations:
                derivations.append(case.derivation)
        which = [derivations.index(case.derivation) for case in cases]
        plain = Cases.of([case.case for case in cases])
        return cls(plain, derivations, np.array(which, dtype=np.int64))

    def __len__(self) -> int:
        """How many cases."""
        return len(self.cases)

    def __getitem__(self, index: int) -> DerivedCase:
        """The case of a row."""
        return DerivedCase(self.cases[index], self.derivations[self.which[index]])

    def groups(self) -> Iterator[tuple[Derivation, Ints]]:
        """Each machine that some case asks for, with the rows of those cases."""
        for index, derivation in enumerate(self.derivations):
            rows = np.flatnonzero(self.which == index)
            if len(rows):
                yield derivation, rows

    def per_case(self, judge: Callable[[Derivation], float]) -> Floats:
        """(n,) a number of its derivation for each case."""
        values = np.array([judge(derivation) for derivation in self.derivations])
        found: Floats = values[self.which].astype(np.float64)
        return found


Single = TypeVar("Single", CoefficientCase, CaseSequence, InvalidCase, MeasuredCase)


@attrs.frozen(eq=False)
class Singles(Generic[Single]):
    """A batch of cases that are asked one by one: nothing of them is in arrays."""

    size: int
    item: Callable[[int], Single]

    @classmethod
    def of(cls, cases: Sequence[Single]) -> Singles[Single]:
        """The batch of these cases."""
        return cls(len(cases), cases.__getitem__)

    def __len__(self) -> int:
        """How many cases."""
        return self.size

    def __getitem__(self, index: int) -> Single:
        """The case of a row."""
        return self.item(index)

    def __iter__(self) -> Iterator[Single]:
        """Each case in order."""
        return (self.item(index) for index in range(self.size))


class PeerGroup(NamedTuple):
    """The cases of a batch that are put to one peer."""

    peer: str
    rows: Ints
    """Where they stand in the batch."""
    cases: Cases


@attrs.frozen(eq=False)
class PeerCases:
    """A batch of cases, each put to the model and to a peer, grouped by peer."""

    groups: tuple[PeerGroup, ...]
    item: Callable[[int], PeerCase]

    @classmethod
    def of(cls, cases: Sequence[PeerCase]) -> PeerCases:
        """The batch of these cases."""
        rows: dict[str, list[int]] = {}
        for row, case in enumerate(cases):
            rows.setdefault(case.peer, []).append(row)
        groups = (
            PeerGroup(peer, np.array(some), Cases.of([cases[row].case for row in some]))
            for peer, some in rows.items()
        )
        return cls(tuple(groups), cases.__getitem__)

    def __len__(self) -> int:
        """How many cases."""
        return sum(len(group.rows) for group in self.groups)

    def __getitem__(self, index: int) -> PeerCase:
        """The case of a row."""
        return self.item(index)

    def judged(self, judge: Callable[[str, Cases], Floats]) -> Floats:
        """(n,) what `judge` says of each peer's cases, in the order of the batch."""
        found = np.empty(len(self))
        for peer, rows, cases in self.groups:
            found[rows] = judge(peer, cases)
        return found


@attrs.frozen(eq=False)
class EquivalentPairs:
    """A batch of pieces of work in two spellings each."""

    one: Cases
    other: Cases
    differ: Bools
    """(n,) where the two spellings are not the same."""
    item: Callable[[int], EquivalentPair]

    @classmethod
    def of(cls, pairs: Sequence[EquivalentPair]) -> EquivalentPairs:
        """The batch of these pairs."""
        return cls(
            Cases.of([pair.one for pair in pairs]),
            Cases.of([pair.other for pair in pairs]),
            np.array([pair.one != pair.other for pair in pairs]),
            pairs.__getitem__,
        )

    def __len__(self) -> int:
        """How many pairs."""
        return len(self.one)

    def __getitem__(self, index: int) -> EquivalentPair:
        """The pair of a row."""
        return self.item(index)


@attrs.frozen(eq=False)
class PartedCases:
    """A batch of pieces of work, each beside its parts."""

    whole: Cases
    parts: Cases
    """The parts of all pieces, in any order."""
    owner: Ints
    """(parts,) the piece that each belongs to."""
    times: Floats
    """(parts,) how often each runs."""
    item: Callable[[int], PartedCase]

    @classmethod
    def of(cls, cases: Sequence[PartedCase]) -> PartedCases:
        """The batch of these."""
        parts = [(row, part) for row, case in enumerate(cases) for part in case.parts]
        return cls(
            Cases.of([case.whole for case in cases]),
            Cases.of([part.case for _, part in parts]),
            np.array([row for row, _ in parts], dtype=np.int64),
            np.array([float(part.times) for _, part in parts]),
            cases.__getitem__,
        )

    def __len__(self) -> int:
        """How many."""
        return len(self.whole)

    def __getitem__(self, index: int) -> PartedCase:
        """That of a row."""
        return self.item(index)

    @cached_property
    def parted(self) -> Bools:
        """(n,) where there is more than one part, or one more than once."""
        several: Bools = np.bincount(self.owner, self.times, len(self)) > 1
        return several

    def total(self, of_parts: Floats) -> Floats:
        """(n,) the sum of a quantity, (parts,), over all runs of all parts."""
        summed = np.bincount(self.owner, of_parts * self.times, len(self))
        return summed.astype(np.float64, copy=False)

    def greatest(self, of_parts: Floats) -> Floats:
        """(n,) the greatest of a quantity, (parts,), of a single run of a part."""
        found = np.full(len(self), -np.inf)
        with np.errstate(invalid="ignore"):  # a part without a number leaves none
            np.maximum.at(found, self.owner, of_parts)
        return found


AnyBatch = (
    Cases
    | ScaledCases
    | WorkloadPairs
    | PrecisionPairs
    | EquivalentPairs
    | PartedCases
    | DerivedCases
    | PeerCases
    | Singles[Any]
)


_BATCHES: Final[Mapping[type, Any]] = {
    Case: Cases,
    ScaledCase: ScaledCases,
    WorkloadPair: WorkloadPairs,
    PrecisionPair: PrecisionPairs,
    EquivalentPair: EquivalentPairs,
    PartedCase: PartedCases,
    DerivedCase: DerivedCases,
    PeerCase: PeerCases,
    CoefficientCase: Singles,
    CaseSequence: Singles,
    InvalidCase: Singles,
    MeasuredCase: Singles,
}


def batch_of(case: AnyCase) -> AnyBatch:
    """The batch of one that holds `case`."""
    found: AnyBatch = _BATCHES[type(case)].of([case])
    return found
