"""PRC003."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, PrecisionPair, PrecisionPairs
from joulecheck.coefficient import Layer
from joulecheck.estimate import Answers
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.quantities import OPS_PER_MAC
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import PRECISIONS, Bools, Floats
from joulecheck_properties.margins import ROUNDING, at_most
from joulecheck_properties.prices import arithmetic_prices
from joulecheck_strategies import ORDERED_PAIRS, precision_pairs


class AluEnergyStrict(Property):
    """The arithmetic of a narrower precision costs strictly less where its operations do.

    Statement:
        A(w, p) < A(w, p') for p below p' in the partial order, if every kind of operation
        that w has, MAC or other, has a lower declared energy at p than at p'. A is the
        sum of the terms of the layer ALU.

    Rationale:
        Equality means that the precision does not reach the arithmetic: one price serves
        all formats, or the narrower one is looked up as the wider. Totals hide it, for
        bytes shrink all the same.

    Domain:
        Pairs of precisions that the model supports and the order relates, whose energies
        in J/MAC or J/op are declared a precision, as in `mac_energy.INT8`. The term must
        be the arithmetic alone.

    Tolerance:
        Strictness is 1e-9: the difference must be above rounding.

    Source:
        Horowitz, Computing's Energy Problem, ISSCC 2014: energies of additions and
        multiplications by width.

    Planted bug:
        one-op-energy: every precision has the same ALU energy.

    Shrinks to:
        The GEMM of one MAC, FP32 against FP64.

    Stays because:
        BND013 finds the same where all coefficients of the ALU are in joule an operation.
        Where others move its terms as well, the order between formats is what is left.
    """

    id: ClassVar = "PRC003"
    name: ClassVar = "alu-energy-strict"
    needs: ClassVar = frozenset({Offer.ENERGY_TERMS, Offer.LAYERS, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="one-op-energy",
        model="reference:Intel-i7-12700K",
        shrinks_to=PrecisionPair(
            narrower=Case(Gemm(m=1, n=1, k=1), Precision.FP32),
            wider=Case(Gemm(m=1, n=1, k=1), Precision.FP64),
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads at two ordered precisions."""
        prices = arithmetic_prices(model)
        cheaper = [
            (narrower, wider)
            for narrower, wider in ORDERED_PAIRS
            if any(
                price[PRECISIONS.index(narrower)] < price[PRECISIONS.index(wider)]
                for price in prices
            )
        ]
        return precision_pairs(model, pairs=cheaper)

    def margin(self, model: Subject, cases: PrecisionPairs) -> Floats:
        """How far the narrower stays below the wider, beyond rounding."""
        narrower, wider = (
            _arithmetic(model, model.ask(one)) for one in (cases.narrower, cases.wider)
        )
        below = at_most(narrower, wider, tolerance=-ROUNDING)
        return np.where(_cheaper(model, cases), below, np.nan)


def _arithmetic(model: Subject, answers: Answers) -> Floats:
    """(n,) joule of the layer ALU."""
    terms = (t for t, layer in model.layers.items() if layer is Layer.ALU)
    return sum((answers.energy_term(term) for term in terms), start=answers.absent)


def _cheaper(model: Subject, cases: PrecisionPairs) -> Bools:
    """(n,) whether each kind of operation that a case has costs less at the narrower."""
    mac, op = (
        price[cases.narrower.precision] < price[cases.wider.precision]
        for price in arithmetic_prices(model)
    )
    macs = cases.wider.macs > 0
    others = cases.wider.ops > OPS_PER_MAC * cases.wider.macs
    found: Bools = (macs | others) & (mac | ~macs) & (op | ~others)
    return found
