"""Cases: the questions of a property, one at a time or as a batch of arrays.

A plain `Case` is what a model is asked: a workload at a precision. The other kinds
put two questions side by side, or one under perturbed coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import attrs
import numpy as np

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


class Question(NamedTuple):
    """One call of a model: what it is asked, under which scales, and its role."""

    role: str
    case: Case
    scale: Mapping[str, float]


@attrs.frozen
class Case:
    """A workload at a precision: one question to a model.

    The counts are exact ints: operations (one MAC is two), MACs and bytes.
    """

    workload: Workload
    precision: Precision = Precision.FP32

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


@attrs.frozen
class ScaledCase:
    """A case under perturbed coefficients: each named one times its factor."""

    case: Case
    scale: Mapping[str, float]

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


AnyCase = Case | ScaledCase | WorkloadPair | PrecisionPair | EquivalentPair | PartedCase


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
    Cases | ScaledCases | WorkloadPairs | PrecisionPairs | EquivalentPairs | PartedCases
)


def batch_of(case: AnyCase) -> AnyBatch:
    """The batch of one that holds `case`."""
    match case:
        case Case():
            return Cases.of([case])
        case ScaledCase():
            return ScaledCases.of([case])
        case WorkloadPair():
            return WorkloadPairs.of([case])
        case PrecisionPair():
            return PrecisionPairs.of([case])
        case EquivalentPair():
            return EquivalentPairs.of([case])
        case PartedCase():
            return PartedCases.of([case])
