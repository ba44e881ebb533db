"""SCL001."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, ScaledCase, ScaledCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.reference import MODELS
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import equality
from joulecheck_strategies import uniform_scales

TOLERANCE: Final = 1e-9


class EnergyScalesWithCoefficients(Property):
    """All energy coefficients times lambda scale the energy by lambda.

    Statement:
        E(lambda c) = lambda E(c), for all coefficients c in J or W together.

    Rationale:
        Energy is homogeneous of degree one in its prices, static power among them. A
        constant in joule that hides in a formula, or a product of two energy
        coefficients, breaks it.

    Domain:
        Models that declare all their energy coefficients; also those whose mapping
        depends on them, for scaling all alike changes no comparison.

    Tolerance:
        1e-9: exact, up to rounding.

    Source:
        Euler's theorem on homogeneous functions.

    Planted bug:
        hidden-constant: one picojoule an operation that no coefficient declares.

    Shrinks to:
        The GEMM of one MAC with all coefficients raised by 10 %.

    Stays because:
        SEN004 and SCL005 find the same. SEN004 is for models that are affine in their
        coefficients, SCL005 for those with rates: of a model whose mapping follows its
        prices this law alone remains.
    """

    id: ClassVar = "SCL001"
    name: ClassVar = "energy-scales-with-coefficients"
    needs: ClassVar = frozenset({Offer.ENERGY, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="hidden-constant",
        model="reference:Intel-i7-12700K",
        shrinks_to=ScaledCase(
            Case(Gemm(m=1, n=1, k=1)),
            dict.fromkeys(MODELS["Intel-i7-12700K"]().coefficients, 1.1),
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads under one factor for all energy coefficients."""
        return uniform_scales(model)

    def margin(self, model: Subject, cases: ScaledCases) -> Floats:
        """Tolerance less the relative difference."""
        nominal = model.ask(cases.cases).energy
        scaled = model.ask(cases.cases, cases.scales).energy
        factor = next(iter(cases.scales.values()), np.ones(len(cases)))
        return equality(scaled, factor * nominal, TOLERANCE)
