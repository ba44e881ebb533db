"""BND015."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.coefficient import Layer
from joulecheck.errors import NotOffered
from joulecheck.estimate import total
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most
from joulecheck_properties.prices import moved_in, static_power, static_terms
from joulecheck_strategies import workloads


class StaticEnergyWithinStaticPower(Property):
    """Static energy is at most the static power times the latency.

    Statement:
        E_static(w) <= P_static x T(w), with E_static the terms of the layer STATIC and
        P_static the sum of the coefficients in W that move them.

    Rationale:
        Nothing leaks for longer than the work takes. Leakage that is charged for each
        operation or each unit, or a figure in milliwatt, exceeds it. BND010 holds the
        total from below.

    Domain:
        Models whose terms of the layer STATIC are moved by coefficients in W alone.
        Gating the power of idle parts only lowers the left side.

    Tolerance:
        1e-9, for a product.

    Source:
        Kim et al., Leakage Current: Moore's Law Meets Static Power, IEEE Computer
        36(12), 2003.

    Planted bug:
        leakage-of-each-unit: the static power of the chip is that of each unit.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        CMP010 finds the same where a model tells the seconds that it charges leakage for.
        This law takes no count: it holds leakage to the latency.
    """

    id: ClassVar = "BND015"
    name: ClassVar = "static-energy-within-static-power"
    needs: ClassVar = frozenset(
        {Offer.ENERGY_TERMS, Offer.LATENCY, Offer.LAYERS, Offer.COEFFICIENTS}
    )
    planted: ClassVar = Planted(
        fault="leakage-of-each-unit",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not moved_in(model, Layer.STATIC, {"W"}):
            msg = "it declares no layer STATIC that coefficients in W alone move"
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """How far static energy stays below the bound."""
        answers = model.ask(cases)
        terms = static_terms(model, answers)
        if not terms:
            return np.full(len(cases), np.nan)
        return at_most(total(terms, len(cases)), static_power(model) * answers.latency)
