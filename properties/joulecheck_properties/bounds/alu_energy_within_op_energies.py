"""BND013."""

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
from joulecheck_properties.margins import at_most
from joulecheck_properties.prices import (
    alu_terms,
    arithmetic_prices,
    greatest_arithmetic_prices,
    moved_in,
    priced_operations,
)
from joulecheck_strategies import workloads

UNITS = frozenset({"J/MAC", "J/op"})


class AluEnergyWithinOpEnergies(Property):
    """The energy of the ALU is that of the operations, at prices that are declared.

    Statement:
        sum_o least(o) <= E_alu <= sum_o greatest(o), over the operations o of the
        workload, where E_alu are the terms of the layer ALU, and a MAC costs between the
        least and the greatest coefficient in J/MAC of the precision, any other operation
        between those in J/op.

    Rationale:
        BND006 asks for enough. Too much is as wrong: a grouped convolution charged as a
        dense one, a stride that is forgotten, two operations charged as two MACs, or a
        price of another precision.

    Domain:
        Models all of whose coefficients that may move a term of the ALU are in J/MAC or
        J/op. The layer holds the operations that the workload needs. A model that also
        charges it for lanes which compute on padding declares an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Energy of an operation times their number: Horowitz, Computing's Energy Problem,
        ISSCC 2014.

    Planted bug:
        macs-charged-twice: each of the two operations of a MAC costs a MAC.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "BND013"
    name: ClassVar = "alu-energy-within-op-energies"
    needs: ClassVar = frozenset({Offer.ENERGY_TERMS, Offer.LAYERS, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="macs-charged-twice",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not moved_in(model, Layer.ALU, UNITS):
            msg = "it declares no layer ALU that coefficients in J/MAC or J/op alone move"
            raise NotOffered(msg)
        if model.operators == {"totals"}:
            msg = "it answers for totals only, which do not tell MACs from other operations"
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The lesser distance to the two ends."""
        answers = model.ask(cases)
        terms = alu_terms(model, answers)
        if not terms:
            return np.full(len(cases), np.nan)
        energy = total(terms, len(cases))
        least = priced_operations(arithmetic_prices(model), cases)
        greatest = priced_operations(greatest_arithmetic_prices(model), cases)
        return np.minimum(at_most(least, energy), at_most(energy, greatest))
