"""DET002."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.differences import agreement
from joulecheck_strategies import workloads

TOLERANCE: Final = 1e-9


class BatchEqualsScalar(Property):
    """A row of a batch has the answer that the case has alone.

    Statement:
        e_batch(w_1, ..., w_n)_i = e(w_i), for the energy, the latency, the utilisation
        and every term.

    Rationale:
        A campaign screens in batches and users ask one by one. Rows that leak into
        each other, integers that wrap in one path only, a batch path that raises or
        gives arrays of a wrong shape, show.

    Domain:
        Models with a batch path, and cases that the scalar path answers.

    Tolerance:
        1e-9, for float64 products against exact integers.

    Source:
        The definition of `estimate_batch`.

    Planted bug:
        drifting-batch: the batch path is 1 % dearer.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "DET002"
    name: ClassVar = "batch-equals-scalar"
    needs: ClassVar = frozenset({Offer.BATCH})
    planted: ClassVar = Planted(
        fault="drifting-batch",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )
    thinning: ClassVar = 16

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The agreement of both paths, whichever of them `model` prefers."""
        batch, scalar = model.in_batches.ask(cases), model.one_by_one.ask(cases)
        answered = ~scalar.unsupported
        answered[list(scalar.errors)] = False
        if batch.batch_error and answered.all():  # else one of the others may be why
            return np.full(len(cases), -1.0)
        return np.where(answered, agreement(batch, scalar, TOLERANCE), np.nan)
