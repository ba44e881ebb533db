"""BND006."""

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
from joulecheck_properties.margins import at_most, least
from joulecheck_properties.prices import (
    arithmetic_bound,
    arithmetic_prices,
    byte_prices,
    compulsory_bytes,
)
from joulecheck_strategies import workloads


class EnergyAboveLeastOpEnergy(Property):
    """Energy is at least that of the operations and of the bytes at their least prices.

    Statement:
        E >= ops x least op energy + sum_m e_m Q_m, where MACs count at the least
        coefficient in J/MAC and other operations at the least in J/op of the precision,
        and Q_m are the bytes that the model says cross memory m, no fewer than those of
        the operands whose home it is, each once. The terms of the layer ALU alone are at
        least the first summand.

    Rationale:
        An operation that is forgotten, counted at half (a MAC is two operations) or at
        the price of another precision costs too little, and so do bytes that take time
        but no energy.

    Domain:
        Models with a coefficient in J/MAC or J/op. One whose name ends in a precision,
        as `mac_energy.INT8`, is of that precision. A model that skips zeros, or computes
        convolutions by an algorithm with fewer products, declares an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Choi, Bedard, Fowler and Vuduc, A Roofline Model of Energy, IPDPS 2013.

    Planted bug:
        half-price-macs: a MAC is charged as one operation instead of two.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        BND013 and BND014 find the same in the terms. A model that tells its total and its
        prices, and no terms, is held from below by this law alone.
    """

    id: ClassVar = "BND006"
    name: ClassVar = "energy-above-least-op-energy"
    needs: ClassVar = frozenset({Offer.ENERGY, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="half-price-macs",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not any(price.any() for price in arithmetic_prices(model)):
            msg = "it declares no coefficient in J/MAC or J/op that moves a term of the ALU"
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The lesser of the margins of the whole and of the layer ALU."""
        answers = model.ask(cases)
        work = arithmetic_bound(model, cases)
        bytes_bound = np.zeros(len(cases))
        for name, price in byte_prices(model).items():
            crossing = compulsory_bytes(cases, model.machine.memories[name].homes)
            crossing = np.fmax(crossing, answers.traffic.get(name, np.nan))
            bytes_bound = bytes_bound + price * crossing
        terms = {
            name: joule
            for name, joule in answers.energy_terms.items()
            if model.layers.get(name) is Layer.ALU
        }
        margins = [at_most(work + bytes_bound, answers.energy)]
        if terms:
            margins.append(at_most(work, total(terms, len(cases))))
        return np.where(np.isnan(answers.energy), np.nan, least(margins, len(cases)))
