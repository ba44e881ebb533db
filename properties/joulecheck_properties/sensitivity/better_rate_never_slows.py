"""SEN007."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, Derivation, DerivedCase, DerivedCases
from joulecheck.knob import KnobKind
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.machines import direction, never_more
from joulecheck_strategies import derivations
from joulecheck_strategies.derivations import one_by_one, required


class BetterRateNeverSlows(Property):
    """A higher rate never makes a machine slower, nor a lower one faster.

    Statement:
        T(r') <= T(r) where no rate of r' is below that of r, and no other figure of the
        machine differs.

    Rationale:
        Every schedule of the slower machine is one of the faster and ends no later
        there. A rate that multiplies where it should divide, or a bottleneck that is
        looked up for the wrong machine, breaks it.

    Domain:
        Clocks and bandwidths: not the size of an array, whose fill takes longer, and not
        a number of chips, between which messages pass. Models whose mapping is fixed or
        the fastest one; a model that maps for least energy may leave a fast mapping when
        static energy shrinks, and declares an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The inclusion of schedules; Amdahl, Validity of the single processor approach,
        AFIPS 1967, for the bound on the other side (SCL003).

    Planted bug:
        clocked-launch: the launch of a derived machine grows with its clock.

    Shrinks to:
        The GEMM of one MAC with twice the clock.

    Stays because:
        SCL002 and SCL003 find the same where rates move by one factor. This law lets each
        move by its own.
    """

    id: ClassVar = "SEN007"
    name: ClassVar = "better-rate-never-slows"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.KNOBS})
    planted: ClassVar = Planted(
        fault="clocked-launch",
        model="reference:Intel-i7-12700K",
        shrinks_to=DerivedCase(Case(Gemm(m=1, n=1, k=1)), Derivation({"clock": 2.0})),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads with one rate higher or lower."""
        return derivations(model, one_by_one(required(model, KnobKind.RATE)))

    def margin(self, model: Subject, cases: DerivedCases) -> Floats:
        """How far the latency of the faster machine stays below that of the slower."""
        rates = model.knobs_of(KnobKind.RATE)
        better = cases.per_case(lambda derivation: direction(derivation, rates))
        before = model.ask(cases.cases).latency
        return never_more(before, model.ask_derived(cases).latency, better)
