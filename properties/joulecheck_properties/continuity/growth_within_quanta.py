"""CON002."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Part, PartedCase, PartedCases
from joulecheck.model import Subject
from joulecheck.property import Planted
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.costs import LawOfCosts, no_dearer_than_parts
from joulecheck_strategies import Way, dimension_splits


class GrowthWithinQuanta(LawOfCosts):
    """Work that grows costs at most the smaller work, as often as it goes in.

    Statement:
        E(d') <= ceil(d' / d) E(d) and T(d') <= ceil(d' / d) T(d), where w(d) is an operator
        of size d in one dimension.

    Rationale:
        A machine can do the smaller work over and over, the last time in part. This is what
        is left of subadditivity for uniform tiles and waves of them: a tile that suits d
        suits d' as often.

    Domain:
        Batch, M and N of a GEMM, images and filters of a convolution of one group, all
        sizes of an elementwise function. Not K, whose parts leave partial sums. A model
        of code that is not blocked, whose traffic jumps where a cache is exceeded, may
        declare an exemption, and so may a mapper that allows whole factors only.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        ceil(c x) <= c ceil(x) for whole c, tile by tile; the minimum over tiles follows.

    Planted bug:
        squared-rows: everything costs once more for each row of M.

    Shrinks to:
        Two rows of one MAC, beside one row twice.

    Stays because:
        CON001 and CON004 find the same in models that declare `splits` or `gradual`. This
        law needs no declaration.
    """

    id: ClassVar = "CON002"
    name: ClassVar = "growth-within-quanta"
    needs: ClassVar = frozenset(())
    planted: ClassVar = Planted(
        fault="squared-rows",
        model="reference:Intel-i7-12700K",
        shrinks_to=PartedCase(
            whole=Case(Gemm(m=2, n=1, k=1)),
            parts=(Part(Case(Gemm(m=1, n=1, k=1)), 2),),
            how="m",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Operators, each beside a part of one dimension, several times."""
        return dimension_splits(model, Way.REPEATED, ("batch", "m", "n"))

    def margin(self, model: Subject, cases: PartedCases) -> Floats:
        """The lesser of the margins of energy and of latency."""
        whole, parts = model.ask(cases.whole), model.ask(cases.parts)
        return np.where(cases.parted, no_dearer_than_parts(whole, parts, cases), np.nan)
