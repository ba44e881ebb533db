"""SYM006."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, EquivalentPair, EquivalentPairs
from joulecheck.model import COSTS, Offer, Subject
from joulecheck.property import Planted
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import CONV2D, Floats
from joulecheck_properties.costs import LawOfCosts
from joulecheck_properties.margins import ROUNDING, equality, least
from joulecheck_strategies import TransposedGemm, transpositions


class TranspositionWhereDeclared(LawOfCosts):
    """What a model says it does not tell apart costs the same.

    Statement:
        E(w) = E(w'), or T(w) = T(w'), or both, as `symmetries` declares for "gemm" (A and B
        exchanged, M and N with them: C^T = B^T A^T) and for "image" (H and W exchanged, R
        and S with them).

    Rationale:
        A mapping that treats both operands, or both axes, alike must give the same cost in
        either order. Formulas that are written once for each side drift apart.

    Domain:
        Models that declare the symmetry, for the costs that they declare. It can hold for
        GEMMs where both operands have one width and one home, and not for the latency of
        a weight-stationary array, which fills with one operand and streams the other.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The declaration of the model; the arithmetic is the same.

    Planted bug:
        strided-weights: weights pass one register more than inputs do.

    Shrinks to:
        One row by two columns, beside two rows by one column.
    """

    id: ClassVar = "SYM006"
    name: ClassVar = "transposition-where-declared"
    needs: ClassVar = frozenset({Offer.SYMMETRIES})
    planted: ClassVar = Planted(
        fault="strided-weights",
        model="reference:Stillwater-KPU-T256",
        shrinks_to=EquivalentPair(
            one=Case(Gemm(m=1, n=2, k=1)),
            other=Case(Gemm(m=2, n=1, k=1)),
            how=TransposedGemm.how,
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Operators, each beside what a declared symmetry exchanges it for."""
        return transpositions(model)

    def margin(self, model: Subject, cases: EquivalentPairs) -> Floats:
        """The least margin of equality over the costs that the symmetry leaves alone."""
        one, other = model.ask(cases.one), model.ask(cases.other)
        is_image = cases.one.operators.kind == CONV2D
        margins = []
        for cost in COSTS:
            in_image, in_gemm = (
                cost in model.symmetries.get(name, ()) for name in ("image", "gemm")
            )
            holds = np.where(is_image, in_image, in_gemm)
            same = equality(getattr(one, cost), getattr(other, cost), ROUNDING)
            margins.append(np.where(cases.differ & holds, same, np.nan))
        return least(margins, len(cases))
