"""SEN010."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, ScaledCase, ScaledCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Floats
from joulecheck_strategies import perturbations

TOLERANCE: Final = 1e-3

NOTICEABLE: Final = 1e-9
"""Of the total, or of its terms together: less drowns in the rounding of the sum."""


class TotalMovesWithItsTerms(Property):
    """A perturbed coefficient moves the total by as much as it moves the terms.

    Statement:
        E(f) - E(1) = sum_t (E_t(f) - E_t(1)) under factors f of one to three
        coefficients, over the terms t that the total claims to include.

    Rationale:
        CMP001 compares the total with the sum of its terms, and a term below its
        tolerance can be missing, counted twice or of the wrong sign there. What such a
        term's own coefficient moves is that term alone.

    Domain:
        Perturbations that move the terms by at least 1e-9 of the total and of the sum of
        |E_t|: a total that is what is left of large terms is rounded as these are. A
        mapping that depends on the coefficients changes nothing: both sides are of the
        same answers.

    Tolerance:
        0.1 % of the sum of |E_t(f) - E_t(1)|, of which rounding makes 1e-6 at most.

    Source:
        Additivity of energy.

    Planted bug:
        uncounted-control: the total leaves out a term of instructions and control.

    Shrinks to:
        The GEMM of one MAC with instruction_energy raised by 10 %.
    """

    id: ClassVar = "SEN010"
    name: ClassVar = "total-moves-with-its-terms"
    needs: ClassVar = frozenset({Offer.ENERGY, Offer.ENERGY_TERMS, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="uncounted-control",
        model="reference:Google-TPU-v4",
        shrinks_to=ScaledCase(
            Case(Gemm(m=1, n=1, k=1), Precision.INT8), {"instruction_energy": 1.1}
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads under one to three perturbed energy coefficients."""
        return perturbations(model)

    def margin(self, model: Subject, cases: ScaledCases) -> Floats:
        """How far the total moves with the terms, of how far they move."""
        nominal = model.ask(cases.cases)
        scaled = model.ask(cases.cases, cases.scales)
        before, after = nominal.counted_terms(), scaled.counted_terms()
        moved, size, whole = (np.zeros(len(cases)) for _ in range(3))
        for name in sorted({*before, *after}):
            change = scaled.energy_term(name) - nominal.energy_term(name)
            moved, size = moved + change, size + np.abs(change)
            whole = whole + np.abs(nominal.energy_term(name))
        off = np.abs(scaled.energy - nominal.energy - moved)
        known = size >= NOTICEABLE * np.fmax(whole, np.abs(nominal.energy))
        return np.where(known & (size > 0), TOLERANCE - off / size, np.nan)
