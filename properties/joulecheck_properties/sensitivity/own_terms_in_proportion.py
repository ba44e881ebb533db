"""SEN001."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, ScaledCase, ScaledCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, equality, least
from joulecheck_strategies import perturbations

TOLERANCE: Final = 1e-9


class OwnTermsInProportion(Property):
    """A perturbed energy coefficient moves its own terms in proportion.

    Statement:
        Let each coefficient c be multiplied by f_c. A term t whose only coefficient is
        c becomes f_c t. A term with several becomes something between the product of
        the f_c below 1 and the product of those above 1, times t; if one of them alone
        is perturbed, t is affine in it: t(1) + t(f) = 2 t((1 + f) / 2).

    Rationale:
        A coefficient is a price for counted events. A dead coefficient, one used twice
        or one that also picks the mapping answers differently.

    Domain:
        Terms of coefficients that declare which terms they move, under one to three
        factors between 0.1 and 10. A model whose mapping depends on energy coefficients
        is concave in them instead and declares an exemption.

    Tolerance:
        1e-9 of the term: exact, up to rounding. A response of 5 to 15 % for 10 % would
        be the loosest reading of the rule.

    Source:
        Linearity of energy in the prices of a fixed execution.

    Planted bug:
        dead-coefficient: the model does not read dram_energy.

    Shrinks to:
        The GEMM of one MAC with dram_energy raised by 10 %.

    Stays because:
        SCL001 and SEN004 find the same in the total. This law names the term and the
        coefficient, for terms that have one.
    """

    id: ClassVar = "SEN001"
    name: ClassVar = "own-terms-in-proportion"
    needs: ClassVar = frozenset({Offer.ENERGY_TERMS, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="dead-coefficient",
        model="reference:Intel-i7-12700K",
        shrinks_to=ScaledCase(Case(Gemm(m=1, n=1, k=1)), {"dram_energy": 1.1}),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads under one to three perturbed energy coefficients."""
        return perturbations(model)

    def margin(self, model: Subject, cases: ScaledCases) -> Floats:
        """The least margin over the perturbed terms."""
        nominal = model.ask(cases.cases)
        scaled = model.ask(cases.cases, cases.scales)
        halfway = model.ask(cases.cases, {n: (1 + f) / 2 for n, f in cases.scales.items()})
        one_moved = sum(f != 1 for f in cases.scales.values()) == 1
        margins = []
        for term, owners in _owners(model, cases.scales).items():
            answers = (nominal, scaled, halfway)
            before, after, middle = (a.energy_term(term) for a in answers)
            factors = [f for name, f in cases.scales.items() if name in owners]
            touched = np.logical_or.reduce([f != 1 for f in factors])
            if len(owners) == 1:
                exact = equality(after, factors[0] * before, TOLERANCE)
                margins.append(np.where(touched, exact, np.nan))
                continue
            low = np.multiply.reduce([np.minimum(1, f) for f in factors])
            high = np.multiply.reduce([np.maximum(1, f) for f in factors])
            within = np.minimum(at_most(low * before, after), at_most(after, high * before))
            affine = equality(before + after, 2 * middle, TOLERANCE)
            margins.append(np.where(touched, within, np.nan))
            margins.append(np.where(touched & one_moved, affine, np.nan))
        return least(margins, len(cases))


def _owners(model: Subject, scales: Mapping[str, Floats]) -> dict[str, frozenset[str]]:
    """The coefficients of each term that one of `scales` moves."""
    declared = {n: c.terms for n, c in model.coefficients.items() if c.terms}
    moved = {term for name in scales for term in declared.get(name, ())}
    return {
        term: frozenset(name for name, terms in declared.items() if term in terms)
        for term in sorted(moved)
    }
