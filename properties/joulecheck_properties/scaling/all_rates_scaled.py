"""SCL002."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Derivation, DerivedCase, DerivedCases
from joulecheck.estimate import Answers
from joulecheck.knob import KnobKind
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.machines import common_gain
from joulecheck_properties.margins import equality, least
from joulecheck_strategies import derivations
from joulecheck_strategies.derivations import required, turned

TOLERANCE: Final = 1e-9

FACTORS: Final = (2.0, 0.5, 16.0, 1 / 1024)
"""Powers of two: they round nothing, so that no tie between mappings is broken."""


class AllRatesScaled(Property):
    """A machine that is faster by lambda in every respect takes 1/lambda of the time.

    Statement:
        T(lambda r, d / lambda) = T(r, d) / lambda for all rates r and delays d together,
        and so does every latency term; the utilisation stays.

    Rationale:
        Time has one unit: where every figure with a second in its unit is scaled, time
        is. A delay or a rate that hides in a formula, a rate squared, or a bottleneck
        that is not looked up again breaks it.

    Domain:
        Models that declare all their rates and delays as knobs; a fill that is counted
        in cycles goes with the clock. The mapping may depend on them, for scaling all
        alike changes no comparison.

    Tolerance:
        1e-9: exact, up to rounding.

    Source:
        Dimensional analysis: Buckingham, On physically similar systems, Physical Review
        4, 1914.

    Planted bug:
        fixed-launch: the launch of a derived machine is that of the first.

    Shrinks to:
        The GEMM of one MAC on a machine of twice the speed.

    Stays because:
        SCL005 finds the same where all coefficients are declared. This law needs rates
        and delays alone.
    """

    id: ClassVar = "SCL002"
    name: ClassVar = "all-rates-scaled"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.KNOBS})
    planted: ClassVar = Planted(
        fault="fixed-launch",
        model="reference:Intel-i7-12700K",
        shrinks_to=DerivedCase(
            Case(Gemm(m=1, n=1, k=1)),
            Derivation(
                {
                    "clock": 2.0,
                    "l1.bandwidth": 2.0,
                    "l2.bandwidth": 2.0,
                    "l3.bandwidth": 2.0,
                    "dram.bandwidth": 2.0,
                    "launch": 0.5,
                }
            ),
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads on machines that are faster or slower in every respect."""
        required(model, KnobKind.RATE)
        timed = model.knobs_of(KnobKind.RATE, KnobKind.DELAY)
        return derivations(model, (turned(timed, factor) for factor in FACTORS))

    def margin(self, model: Subject, cases: DerivedCases) -> Floats:
        """Tolerance less the greatest relative difference."""
        timed = model.knobs_of(KnobKind.RATE, KnobKind.DELAY)

        def gain(derivation: Derivation) -> float:
            complete = derivation.factors.keys() == timed.keys()
            return common_gain(derivation, timed) if complete else nan

        before, after = model.ask(cases.cases), model.ask_derived(cases)
        pairs = _pairs(before, after, cases.per_case(gain))
        return least((equality(a, b, TOLERANCE) for a, b in pairs), len(cases))


def _pairs(
    before: Answers, after: Answers, faster: Floats
) -> Iterator[tuple[Floats, Floats]]:
    """What is and what should be."""
    known = np.where(np.isnan(faster), np.nan, 1.0)
    yield after.latency, before.latency / faster
    yield after.utilisation, before.utilisation * known
    for name, time in before.latency_terms.items():
        yield after.latency_terms.get(name, after.absent), time / faster
