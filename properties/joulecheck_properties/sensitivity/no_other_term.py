"""SEN002."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, ScaledCase, ScaledCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import equality, least
from joulecheck_strategies import perturbations

TOLERANCE: Final = 1e-9


class NoOtherTerm(Property):
    """A perturbed energy coefficient moves no term but its own, and no latency.

    Statement:
        For every term t that no perturbed coefficient declares, t' = t; and T' = T.

    Rationale:
        A coefficient that leaks into another layer makes that layer's calibration
        depend on it, and no total shows it.

    Domain:
        Coefficients that declare which terms they move, one to three at a time. A model
        whose mapping depends on energy coefficients declares an exemption.

    Tolerance:
        1e-9 of the term: equal, up to rounding.

    Source:
        Isolation of the prices of a fixed execution.

    Planted bug:
        leaking-coefficient: dram_energy also scales the l2 term.

    Shrinks to:
        The GEMM of one MAC with dram_energy raised by 10 %.

    Stays because:
        SCL001 and SEN001 find the same in the totals or in terms of one coefficient. This
        law names the term that a coefficient leaks into.
    """

    id: ClassVar = "SEN002"
    name: ClassVar = "no-other-term"
    needs: ClassVar = frozenset({Offer.ENERGY_TERMS, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="leaking-coefficient",
        model="reference:Intel-i7-12700K",
        shrinks_to=ScaledCase(Case(Gemm(m=1, n=1, k=1)), {"dram_energy": 1.1}),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads under one to three perturbed energy coefficients."""
        return perturbations(model)

    def margin(self, model: Subject, cases: ScaledCases) -> Floats:
        """The least margin over what should not have moved."""
        nominal = model.ask(cases.cases)
        scaled = model.ask(cases.cases, cases.scales)
        margins = [equality(scaled.latency, nominal.latency, TOLERANCE)]
        for term in sorted({*nominal.energy_terms, *scaled.energy_terms}):
            may_move = np.zeros(len(cases), dtype=bool)
            for name, factors in cases.scales.items():
                terms = model.coefficients[name].terms
                if terms is None or term in terms:
                    may_move |= factors != 1
            before, after = (answers.energy_term(term) for answers in (nominal, scaled))
            still = equality(after, before, TOLERANCE)
            margins.append(np.where(may_move, np.nan, still))
        return least(margins, len(cases))
