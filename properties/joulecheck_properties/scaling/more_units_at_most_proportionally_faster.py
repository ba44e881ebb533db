"""SCL006."""

from __future__ import annotations

from math import nan
from typing import ClassVar, Final

from joulecheck.case import Case, Derivation, DerivedCase, DerivedCases
from joulecheck.knob import KnobKind
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.machines import ROUNDED
from joulecheck_properties.margins import at_most
from joulecheck_strategies import derivations
from joulecheck_strategies.derivations import required

TIMES: Final = (2.0, 3.0, 16.0)


class MoreUnitsAtMostProportionallyFaster(Property):
    """Several times as many units are at most so many times as fast.

    Statement:
        T' >= T / n where there are n times as many units, n a whole number, and no more
        memory on the chip than before: what each unit has of its own is divided by n.

    Rationale:
        One unit can do the work of n, one after the other, and keep their data. Units
        that are counted twice, or an overhead that is forgotten where work is split,
        give more than that.

    Domain:
        Units that are copies: tiles that join to one larger array hand operands on
        further, read fewer of them, and are no count of copies. Whole factors: 1.5 times
        as many units can be twice as fast, where they spare a second round. The capacity
        of all units together stays; with the caches doubled as well, twice the units can
        be 2.7 times as fast. The rates of what belongs to the units may go with them.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Brent, The parallel evaluation of general arithmetic expressions, JACM 21, 1974.

    Planted bug:
        free-launch: a machine with more units starts in no time.

    Shrinks to:
        The GEMM of one MAC with twice the units.
    """

    id: ClassVar = "SCL006"
    name: ClassVar = "more-units-at-most-proportionally-faster"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.KNOBS})
    planted: ClassVar = Planted(
        fault="free-launch",
        model="reference:Intel-i7-12700K",
        shrinks_to=DerivedCase(
            Case(Gemm(m=1, n=1, k=1)),
            Derivation({"units": 2.0, "l1.capacity": 0.5, "l2.capacity": 0.5}),
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads on machines with more units."""
        counts = required(model, KnobKind.COUNT)
        return derivations(
            model, (_with_more(model, name, n) for n in TIMES for name in counts)
        )

    def margin(self, model: Subject, cases: DerivedCases) -> Floats:
        """How far the latency with more units stays above its share."""
        times = cases.per_case(lambda derivation: _times(model, derivation))
        before = model.ask(cases.cases).latency
        return at_most(before / times, model.ask_derived(cases).latency)


def _own(model: Subject) -> list[str]:
    """The capacities that each unit has of its own."""
    capacities = model.knobs_of(KnobKind.CAPACITY)
    return [name for name, knob in capacities.items() if knob.per_unit]


def _with_more(model: Subject, count: str, times: float) -> Derivation:
    return Derivation({count: times, **dict.fromkeys(_own(model), 1 / times)})


def _times(model: Subject, derivation: Derivation) -> float:
    """How many times as many units there are, with no more memory; else NaN."""
    factors = dict(derivation.factors)
    turned = [name for name in model.knobs_of(KnobKind.COUNT) if name in factors]
    if len(turned) != 1 or derivation.scale:
        return nan
    times = factors.pop(turned[0])
    own = _own(model)
    no_more = all(factors.get(name, 1.0) * times <= 1 + ROUNDED for name in own)
    known = times >= 1 and times.is_integer() and factors.keys() <= set(own)
    return times if known and no_more else nan
