"""SCL003."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Derivation, DerivedCase, DerivedCases
from joulecheck.knob import Knob, KnobKind
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.machines import common_gain
from joulecheck_properties.margins import at_most
from joulecheck_strategies import derivations
from joulecheck_strategies.derivations import (
    BETTER,
    WORSE,
    one_by_one,
    required,
    turned,
)


class SomeRatesScaled(Property):
    """A machine with some rates higher by lambda is at most lambda times as fast.

    Statement:
        T / lambda <= T' <= T where some rates are multiplied by lambda >= 1 and all else
        stays; for lambda below 1, T <= T' <= T / lambda.

    Rationale:
        What is not made faster takes as long as before. A rate that enters twice gives
        more than it can, and one that moves a delay too.

    Domain:
        Any choice of clocks and bandwidths, all together among them, with the delays as
        they are; models whose mapping is fixed or the fastest one, see SEN007.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Amdahl, Validity of the single processor approach to achieving large scale
        computing capabilities, AFIPS 1967.

    Planted bug:
        twice-clocked-launch: the launch of a derived machine is divided by its clock's
        factor squared.

    Shrinks to:
        The GEMM of one MAC with twice the clock.

    Stays because:
        SCL002 and SEN007 find the same where all rates move, or by its sign. That a rate
        which is half as high costs at most twice the time is stated by this law alone.
    """

    id: ClassVar = "SCL003"
    name: ClassVar = "some-rates-scaled"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.KNOBS})
    planted: ClassVar = Planted(
        fault="twice-clocked-launch",
        model="reference:Intel-i7-12700K",
        shrinks_to=DerivedCase(Case(Gemm(m=1, n=1, k=1)), Derivation({"clock": 2.0})),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads with one rate, all but one or all of them higher or lower."""
        return derivations(model, _choices(required(model, KnobKind.RATE)))

    def margin(self, model: Subject, cases: DerivedCases) -> Floats:
        """The lesser distance from the two bounds."""
        rates = model.knobs_of(KnobKind.RATE)
        faster = cases.per_case(lambda derivation: common_gain(derivation, rates))
        before = model.ask(cases.cases).latency
        after = model.ask_derived(cases).latency
        bounds = before, before / faster
        above = at_most(np.minimum(*bounds), after)
        return np.minimum(above, at_most(after, np.maximum(*bounds)))


def _choices(rates: Mapping[str, Knob]) -> Iterator[Derivation]:
    yield from one_by_one(rates, (BETTER,))
    if len(rates) > 1:
        for left_out in rates:
            others = {name: knob for name, knob in rates.items() if name != left_out}
            yield turned(others, WORSE)
        yield from (turned(rates, factor) for factor in (BETTER, WORSE))
