"""SEN006."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

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


class PairsAdditive(Property):
    """Two energy coefficients change the energy by the sum of what each changes.

    Statement:
        E(f a, g b) - E(f a) - E(g b) + E = 0 for the factors f, g of any two energy
        coefficients a, b; also for each energy term and each prediction through a
        layer.

    Rationale:
        One price of another is no price: two coefficients that multiply each other
        cannot be calibrated one at a time, and no perturbation of a single one shows
        it.

    Domain:
        Every two energy coefficients, both in J or W an event: by their units they
        cannot be factors of one term. A model whose mapping depends on them declares
        an exemption.

    Tolerance:
        1e-9 of the energy: exact, up to rounding.

    Source:
        Linearity of energy in the prices of a fixed execution.

    Planted bug:
        coupled-coefficient: a factor of dram_energy multiplies the total.

    Shrinks to:
        The GEMM of one MAC with l3_energy and dram_energy raised by 10 %.

    Stays because:
        SCL001 and SEN004 find a product of two coefficients from all together. This law
        names the two.
    """

    id: ClassVar = "SEN006"
    name: ClassVar = "pairs-additive"
    needs: ClassVar = frozenset({Offer.ENERGY, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="coupled-coefficient",
        model="reference:Intel-i7-12700K",
        shrinks_to=ScaledCase(
            Case(Gemm(m=1, n=1, k=1)), {"l3_energy": 1.1, "dram_energy": 1.1}
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads under two perturbed energy coefficients."""
        return perturbations(model, least=2, most=2)

    def margin(self, model: Subject, cases: ScaledCases) -> Floats:
        """The least margin of equality over all energies."""
        first, second = _apart(cases)
        nominal, both = model.ask(cases.cases), model.ask(cases.cases, cases.scales)
        one, other = (model.ask(cases.cases, scales) for scales in (first, second))
        return least(
            (
                equality(joint + neither, a + b, TOLERANCE)
                for neither, a, b, joint in energies(nominal, one, other, both)
            ),
            len(cases),
        )


def _apart(cases: ScaledCases) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """The scales of one of the two coefficients of each case, and of the other."""
    seen = np.zeros(len(cases), dtype=bool)
    first, second = {}, {}
    for name, factors in cases.scales.items():
        moved = factors != 1
        first[name] = np.where(moved & ~seen, factors, 1.0)
        second[name] = np.where(moved & seen, factors, 1.0)
        seen |= moved
    return first, second
