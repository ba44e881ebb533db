"""ORD004."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import nan
from typing import ClassVar, Final

from joulecheck.case import Case, Derivation, DerivedCase, DerivedCases
from joulecheck.knob import Knob, KnobKind
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.machines import ROUNDED, direction, never_more
from joulecheck_strategies import derivations
from joulecheck_strategies.derivations import one_by_one, turned

TIMES: Final = (2.0, 3.0)


class DerivedDominatingMachineNeverSlower(Property):
    """A machine with more of everything that another has is never slower.

    Statement:
        T' <= T where no rate, count or capacity of a derived machine is smaller, for
        each unit or in all, and no delay longer.

    Rationale:
        The larger machine can leave idle what the smaller does not have. It gives each
        class its order, also one with a single machine.

    Domain:
        Resource inclusion: units are copies of one geometry, and where there are n times
        as many, what they share is n times as large and as fast too. A larger array is
        no such copy: it takes longer to fill. Models whose mapping is fixed or the
        fastest one, see SEN007.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The inclusion of schedules: every one of the smaller machine is one of the larger.

    Planted bug:
        launch-of-each-unit: the units of a derived machine are launched one by one.

    Shrinks to:
        The GEMM of one MAC with twice the units and twice all that they share.
    """

    id: ClassVar = "ORD004"
    name: ClassVar = "derived-dominating-machine-never-slower"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.KNOBS})
    planted: ClassVar = Planted(
        fault="launch-of-each-unit",
        model="reference:Intel-i7-12700K",
        shrinks_to=DerivedCase(
            Case(Gemm(m=1, n=1, k=1)),
            Derivation({"units": 2.0, "dram.bandwidth": 2.0, "l3.capacity": 2.0}),
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads on machines with more units, larger memories, less delay, or all."""
        return derivations(model, _choices(model))

    def margin(self, model: Subject, cases: DerivedCases) -> Floats:
        """How far the latency of the larger machine stays below that of the smaller."""
        better = cases.per_case(lambda derivation: _dominates(model, derivation))
        before = model.ask(cases.cases).latency
        return never_more(before, model.ask_derived(cases).latency, better)


def _choices(model: Subject) -> Iterator[Derivation]:
    counts = model.knobs_of(KnobKind.COUNT)
    for times in TIMES if counts else ():
        yield turned({**counts, **_shared(model)}, times)
    rest = model.knobs_of(KnobKind.CAPACITY, KnobKind.DELAY)
    yield from one_by_one(rest, TIMES[:1])
    yield turned(model.knobs, TIMES[0])


def _shared(model: Subject) -> dict[str, Knob]:
    """Rates and capacities that all units have together."""
    knobs = model.knobs_of(KnobKind.RATE, KnobKind.CAPACITY)
    return {name: knob for name, knob in knobs.items() if not knob.per_unit}


def _dominates(model: Subject, derivation: Derivation) -> float:
    """1 where a machine is no smaller in anything; NaN where that is not known."""
    if direction(derivation, model.knobs) != 1:
        return nan
    factors = derivation.factors
    units = _greatest(factors, model.knobs_of(KnobKind.COUNT))
    shares = [factors.get(name, 1.0) for name in _shared(model)]
    return 1.0 if all(share >= units * (1 - ROUNDED) for share in shares) else nan


def _greatest(factors: Mapping[str, float], counts: Mapping[str, Knob]) -> float:
    """How many times as many units there are."""
    return max((factors.get(name, 1.0) for name in counts), default=1.0)
