"""CMP001."""

from __future__ import annotations

from typing import ClassVar, Final

from joulecheck.case import Case, Cases
from joulecheck.estimate import total
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import equality
from joulecheck_strategies import workloads

TOLERANCE: Final = 1e-3


class LayersSumToTotal(Property):
    """The energy terms sum to the model's own total.

    Statement:
        |sum_t E_t - E| <= 0.001 max(|sum_t E_t|, |E|), over the terms t that the
        total claims to include (its scope).

    Rationale:
        Energy is additive over layers and terms. A term that is missing from the
        total, counted twice or returned beside it steers decisions unseen.

    Domain:
        Every case for which the model gives a total and terms.

    Tolerance:
        0.1 %, what a report to a reader can hide. A model whose total is a path of
        its own should stay below 1e-9; the margin, 0.001 less the difference, shows it.

    Source:
        Additivity of energy; the bound of 0.1 % is this project's.

    Planted bug:
        dropped-term: the total leaves out static power.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        SEN010 finds the same under perturbed coefficients. This law needs none, and a
        total that is wrong by a constant moves with none.
    """

    id: ClassVar = "CMP001"
    name: ClassVar = "layers-sum-to-total"
    needs: ClassVar = frozenset({Offer.ENERGY, Offer.ENERGY_TERMS})
    planted: ClassVar = Planted(
        fault="dropped-term",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """Tolerance less the relative difference."""
        answers = model.ask(cases)
        terms = answers.counted_terms()
        return equality(total(terms, len(cases)), answers.energy, TOLERANCE)
