"""SEN004."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.differences import energies
from joulecheck_properties.margins import equality, least
from joulecheck_strategies import energy_coefficients, workloads

TOLERANCE: Final = 1e-9

DOUBLED: Final = 2.0
"""Doubling moves an affine energy by exactly c dE/dc."""


class ElasticitiesSumToOne(Property):
    """The shares of all energy coefficients make up the whole energy.

    Statement:
        sum_i c_i dE/dc_i = E over all energy coefficients c_i; also for each energy
        term and each prediction through a layer. As E is affine in each of them,
        c_i dE/dc_i = E(2 c_i) - E.

    Rationale:
        It is the account of a model's prices: what is missing from the sum is spent on
        a coefficient that nothing reads or that no declaration names, and what is too
        much is counted under two of them.

    Domain:
        Every case of a model that declares all its energy coefficients. One whose
        mapping depends on them declares an exemption: doubling a price may change it.

    Tolerance:
        1e-9: exact, up to rounding.

    Source:
        Euler's theorem on homogeneous functions.

    Planted bug:
        hidden-constant: one picojoule an operation that no coefficient declares.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        SCL001 and SCL005 find the same in one step. This law adds up what the
        coefficients move one by one, and so tells how much of the energy obeys none.
    """

    id: ClassVar = "SEN004"
    name: ClassVar = "elasticities-sum-to-one"
    needs: ClassVar = frozenset({Offer.ENERGY, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="hidden-constant",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )
    thinning: ClassVar = 16
    """A case costs a call a coefficient, up to 31 on the reference machines."""

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        energy_coefficients(model)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin of equality between each energy and its account."""
        names = model.energy_coefficients
        factors = np.full(len(cases), DOUBLED)
        nominal = model.ask(cases)
        doubled = [model.ask(cases, {name: factors}) for name in names]
        return least(
            (
                equality(np.sum(each, axis=0) - len(each) * whole, whole, TOLERANCE)
                for whole, *each in energies(nominal, *doubled)
            ),
            len(cases),
        )
