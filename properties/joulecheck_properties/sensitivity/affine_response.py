"""SEN003."""

from __future__ import annotations

from typing import ClassVar, Final

from joulecheck.case import Case, ScaledCase, ScaledCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.differences import energies
from joulecheck_properties.margins import equality, least
from joulecheck_strategies import perturbations

TOLERANCE: Final = 1e-9


class AffineResponse(Property):
    """Energy is affine in each energy coefficient.

    Statement:
        E((1 + f)/2 c) = (E(c) + E(f c))/2 for every factor f of one energy coefficient
        c; also for each energy term and each prediction through a layer.

    Rationale:
        A fixed execution counts events, and a coefficient is the price of one kind: the
        rest of the energy does not depend on it. A price that is clipped, rounded,
        squared or looked up in steps answers differently, also where it declares no
        terms, so that SEN001 leaves it out.

    Domain:
        Every energy coefficient, alone, under factors between 0.1 and 10. A model whose
        mapping depends on energy coefficients is concave in them instead and declares
        an exemption; SEN008 and SCL001 hold for it all the same.

    Tolerance:
        1e-9: exact, up to rounding.

    Source:
        Linearity of energy in the prices of a fixed execution.

    Planted bug:
        saturating-coefficient: coefficients follow a factor up to 1.2 only.

    Shrinks to:
        The GEMM of one MAC with mac_energy.FP32 doubled.

    Stays because:
        SCL001 and SEN004 find the same from all coefficients together. This law turns one
        at a time, under factors from 0.1 to 10, and names it.
    """

    id: ClassVar = "SEN003"
    name: ClassVar = "affine-response"
    needs: ClassVar = frozenset({Offer.ENERGY, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="saturating-coefficient",
        model="reference:Intel-i7-12700K",
        shrinks_to=ScaledCase(Case(Gemm(m=1, n=1, k=1)), {"mac_energy.FP32": 2.0}),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads under one perturbed energy coefficient."""
        return perturbations(model, most=1)

    def margin(self, model: Subject, cases: ScaledCases) -> Floats:
        """The least margin of equality over all energies, at the middle of the step."""
        half_way = {name: (1 + f) / 2 for name, f in cases.scales.items()}
        nominal = model.ask(cases.cases)
        middle = model.ask(cases.cases, half_way)
        scaled = model.ask(cases.cases, cases.scales)
        return least(
            (
                equality(between, (before + after) / 2, TOLERANCE)
                for before, between, after in energies(nominal, middle, scaled)
            ),
            len(cases),
        )
