"""CON004."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Part, PartedCase, PartedCases
from joulecheck.model import DIMENSIONS, Offer, Subject
from joulecheck.property import Planted
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.costs import LawOfCosts, no_dearer_than_parts
from joulecheck_strategies import Way, dimension_splits


class NoJumpBeyondQuanta(LawOfCosts):
    """One element more costs at most one quantum more.

    Statement:
        E(d + 1) <= E(d) + E(q) and T(d + 1) <= T(d) + T(q), where w(d) is an operator of
        size d in one dimension and q = min(d, the largest of the machine's quanta).

    Rationale:
        Ceilings, fills and spills grow by a tile, a row of tiles or a partial pass at a
        time, all of which work of the size of a quantum pays too. A cliff does not: a mode,
        a capacity or a threshold beyond which everything costs more.

    Domain:
        Models that declare `gradual`. Batch, M, N and K of a GEMM, images and filters of a
        convolution of one group, all sizes of an elementwise function. Not machines whose
        tiles run in waves, where one element more may start a wave on all units, and not
        caches that lose all reuse at once.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        ceil((d + 1) / q) <= ceil(d / q) + 1 for every quantum.

    Planted bug:
        second-pass: a K beyond 512 makes everything pass twice.

    Shrinks to:
        The GEMM of one result and a K of 513.

    Stays because:
        CON001 finds the same in models that declare `splits`. A gradual model of uniform
        tiles declares none, and is held by this law: one element more costs no more than
        a quantum.
    """

    id: ClassVar = "CON004"
    name: ClassVar = "no-jump-beyond-quanta"
    needs: ClassVar = frozenset({Offer.GRADUAL})
    planted: ClassVar = Planted(
        fault="second-pass",
        model="reference:Intel-i7-12700K",
        shrinks_to=PartedCase(
            whole=Case(Gemm(m=1, n=1, k=513)),
            parts=(Part(Case(Gemm(m=1, n=1, k=512))), Part(Case(Gemm(m=1, n=1, k=32)))),
            how="k",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Operators, each beside one element less and a quantum."""
        return dimension_splits(model, Way.STEP, DIMENSIONS)

    def margin(self, model: Subject, cases: PartedCases) -> Floats:
        """The lesser of the margins of energy and of latency."""
        whole, parts = model.ask(cases.whole), model.ask(cases.parts)
        return np.where(cases.parted, no_dearer_than_parts(whole, parts, cases), np.nan)
