"""BND014."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, least
from joulecheck_properties.prices import traffic_prices
from joulecheck_strategies import workloads


class MemoryEnergyWithinTrafficPrices(Property):
    """The energy of a memory is that of its traffic, at prices that are declared.

    Statement:
        least_m Q_m <= E_m <= greatest_m Q_m for every memory m whose traffic Q_m the
        model tells, with the least and the greatest coefficient in J/B that moves the
        energy term E_m.

    Rationale:
        The bytes that take time and those that take energy are the same. A price a bit
        that is taken for one a byte, an element size that is fixed in one of two
        formulas, or a width that enters both the bytes and their price, part them.

    Domain:
        Memories with an energy term of the same name that coefficients in J/B alone may
        move: none in joule an access, and none that claims no term.

    Tolerance:
        1e-9, for products in another order.

    Source:
        Bytes times energy a byte: Choi, Bedard, Fowler and Vuduc, A Roofline Model of
        Energy, IPDPS 2013.

    Planted bug:
        price-a-bit: a byte of the memories outside the chip costs what eight do.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        CMP010 finds the same where a model tells its events. This law needs traffic and
        prices alone, and holds the bytes that take time to those that are charged.
    """

    id: ClassVar = "BND014"
    name: ClassVar = "memory-energy-within-traffic-prices"
    needs: ClassVar = frozenset({Offer.ENERGY_TERMS, Offer.TRAFFIC, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="price-a-bit",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not model.traffic & traffic_prices(model).keys():
            msg = (
                "it tells the traffic of no memory with an energy term of its name that "
                "coefficients in J/B alone move"
            )
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the memories."""
        answers = model.ask(cases)
        margins = []
        for name, (low, high) in traffic_prices(model).items():
            if name in answers.traffic and name in answers.energy_terms:
                crossing, energy = answers.traffic[name], answers.energy_terms[name]
                ends = (at_most(low * crossing, energy), at_most(energy, high * crossing))
                margins.append(np.minimum(*ends))
        return least(margins, len(cases))
