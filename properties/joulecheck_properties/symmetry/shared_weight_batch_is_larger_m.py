"""SYM004."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, EquivalentPair, EquivalentPairs
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.differences import agreement
from joulecheck_properties.margins import ROUNDING
from joulecheck_strategies import BatchAsRows, respellings


class SharedWeightBatchIsLargerM(Property):
    """A batch of GEMMs that share their weights is one GEMM of all their rows.

    Statement:
        e(Gemm(M, N, K, batch = b)) = e(Gemm(b M, N, K)) for the energy, the latency, the
        utilisation and every term.

    Rationale:
        The batch shares B, so that its rows are rows of one matrix. A model that reads the
        weights again for each element of the batch, or maps each element by itself, counts
        what the machine does not have to do.

    Domain:
        GEMMs of a batch of two or more whose B comes from outside. In a graph, B may be an
        intermediate, which the batch does not share: the law does not speak of those.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The definition of `Gemm`: C[batch, M, N] = A[batch, M, K] x B[K, N].

    Planted bug:
        batched-weights: weights pass a register again for each element of the batch.

    Shrinks to:
        Twice one MAC, beside a GEMM of two rows.

    Stays because:
        CON001, CON002 and SYM005 find the same where it grows with the batch. That both
        spellings cost the same is stated by this law alone.
    """

    id: ClassVar = "SYM004"
    name: ClassVar = "shared-weight-batch-is-larger-m"
    needs: ClassVar = frozenset(())
    planted: ClassVar = Planted(
        fault="batched-weights",
        model="reference:Intel-i7-12700K",
        shrinks_to=EquivalentPair(
            one=Case(Gemm(m=1, n=1, k=1, batch=2)),
            other=Case(Gemm(m=2, n=1, k=1)),
            how=BatchAsRows.how,
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """GEMMs with a batch, each beside one with more rows."""
        return respellings(model, BatchAsRows())

    def margin(self, model: Subject, cases: EquivalentPairs) -> Floats:
        """The least margin of equality over all quantities."""
        one, other = model.ask(cases.one), model.ask(cases.other)
        return np.where(cases.differ, agreement(one, other, ROUNDING), np.nan)
