"""SEN008."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, ScaledCase, ScaledCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most
from joulecheck_strategies import perturbations


class CheaperNeverDearer(Property):
    """A lower price never raises the energy.

    Statement:
        E(min(1, f) c) <= E(max(1, f) c) for every factor f of one energy coefficient
        c; so for several, one after the other.

    Rationale:
        Every execution costs no more at lower prices, so neither does the cheapest. A
        coefficient that divides where it should multiply, or that picks a worse
        mapping when it falls, shows.

    Domain:
        Every case; also models whose mapping is the one of least energy, which are
        concave in their prices and not affine. One that weighs energy against time may
        spend more when a price falls, and declares an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The least of non-decreasing functions is non-decreasing.

    Planted bug:
        inverted-coefficient: a factor divides its coefficient where it should multiply.

    Shrinks to:
        The GEMM of one MAC with mac_energy.FP32 raised by 10 %.

    Stays because:
        SCL001 and SEN003 find the same in models that are affine in their prices. A
        mapper of least energy is concave in them, and is held by this law alone.
    """

    id: ClassVar = "SEN008"
    name: ClassVar = "cheaper-never-dearer"
    needs: ClassVar = frozenset({Offer.ENERGY, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="inverted-coefficient",
        model="reference:Intel-i7-12700K",
        shrinks_to=ScaledCase(Case(Gemm(m=1, n=1, k=1)), {"mac_energy.FP32": 1.1}),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads under one perturbed energy coefficient."""
        return perturbations(model, most=1)

    def margin(self, model: Subject, cases: ScaledCases) -> Floats:
        """How far the energy at the lower prices stays below that at the higher."""
        cheap = {name: np.minimum(1, f) for name, f in cases.scales.items()}
        dear = {name: np.maximum(1, f) for name, f in cases.scales.items()}
        less, more = (model.ask(cases.cases, scales).energy for scales in (cheap, dear))
        return at_most(less, more)
