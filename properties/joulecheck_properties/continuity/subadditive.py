"""CON001."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Part, PartedCase, PartedCases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.costs import LawOfCosts, no_dearer_than_parts
from joulecheck_strategies import Way, dimension_splits


class Subadditive(LawOfCosts):
    """A whole costs no more than two parts of it.

    Statement:
        E(a + b) <= E(a) + E(b) and T(a + b) <= T(a) + T(b), where w(d) is an operator of
        size d in one dimension. In K it holds up to what the parts' partial sums cost,
        M N (2 w_p - w_c) bytes, for which as many elementwise additions stand as move them.

    Rationale:
        A machine can do one part after the other. Where the whole is dearer, the mapping
        has missed that: it streams inputs again as soon as they exceed a buffer, or it
        balances tiles for operands of equal size where one is much smaller.

    Domain:
        Models that declare the dimension in `splits`: batch, M, N and K of a GEMM, images
        and filters of a convolution of one group, all sizes of an elementwise function
        (which are M). Not models of uniform tiles, whose whole may pay up to 11 % more than
        its parts: CON002 holds for those.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Both parts one after the other are a schedule of the whole.

    Planted bug:
        squared-rows: everything costs once more for each row of M.

    Shrinks to:
        Two rows of one MAC, cut in two.

    Stays because:
        CON002 finds the same where the larger work costs more than a whole number of
        times the smaller. For models that split their work this bound is the tighter one:
        the whole costs no more than two parts of any sizes.
    """

    id: ClassVar = "CON001"
    name: ClassVar = "subadditive"
    needs: ClassVar = frozenset({Offer.SPLITS})
    planted: ClassVar = Planted(
        fault="squared-rows",
        model="reference:Intel-i7-12700K",
        shrinks_to=PartedCase(
            whole=Case(Gemm(m=2, n=1, k=1)),
            parts=(Part(Case(Gemm(m=1, n=1, k=1))), Part(Case(Gemm(m=1, n=1, k=1)))),
            how="m",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Operators, each beside two parts of one dimension."""
        return dimension_splits(model, Way.IN_TWO, model.splits)

    def margin(self, model: Subject, cases: PartedCases) -> Floats:
        """The lesser of the margins of energy and of latency."""
        whole, parts = model.ask(cases.whole), model.ask(cases.parts)
        return np.where(cases.parted, no_dearer_than_parts(whole, parts, cases), np.nan)
