"""Batches of cases of one kind, as structures of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import (
    Any,
    ClassVar,
    Final,
    Generic,
    NamedTuple,
    Protocol,
    TypeVar,
)  # fmt: skip

import attrs
import numpy as np

from joulecheck.case.kinds import (
    AnyCase,
    Case,
    CaseSequence,
    CoefficientCase,
    Derivation,
    DerivedCase,
    EquivalentPair,
    InvalidCase,
    MeasuredCase,
    PartedCase,
    PeerCase,
    PrecisionPair,
    ScaledCase,
    WorkloadPair,
)
from joulecheck.workload import Totals
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
