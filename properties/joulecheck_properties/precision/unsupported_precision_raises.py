"""PRC006."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.estimate import Answers
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Bools, Floats
from joulecheck_strategies import foreign_precisions


class UnsupportedPrecisionRaises(Property):
    """A precision that the model does not support raises Unsupported.

    Statement:
        For every precision that the model does not declare, `estimate` raises
        Unsupported and nothing else, and a batch has no energy and no latency.

    Rationale:
        A table that falls back to another precision answers a question that nobody
        asked, with numbers that look right.

    Domain:
        Every workload at a precision that is missing from `precisions`, or that was
        refused when the model was probed. An array cannot raise for a row: there NaN, or
        Unsupported for the batch, stand for the refusal.

    Tolerance:
        None: the margin is 1 or -1.

    Source:
        The model protocol.

    Planted bug:
        tf32-as-fp32: TF32 is looked up as FP32 where the machine has none.

    Shrinks to:
        The GEMM of one MAC in TF32.
    """

    id: ClassVar = "PRC006"
    name: ClassVar = "unsupported-precision-raises"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="tf32-as-fp32",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1), Precision.TF32),
    )
    thinning: ClassVar = 16

    def space(self, model: Subject) -> CaseSpace:
        """All workloads, at the precisions that the model lacks."""
        return foreign_precisions(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """1 where both paths refuse, -1 where one answers or raises something else."""
        refused = model.one_by_one.ask(cases).unsupported
        if model.in_batches.vectorised:
            refused = refused & _without_a_number(model.in_batches.ask(cases))
        return np.where(refused, 1.0, -1.0)


def _without_a_number(answers: Answers) -> Bools:
    """(n,) whether a batch gave neither energy nor latency of a case."""
    silent: Bools = np.isnan(answers.energy) & np.isnan(answers.latency)
    return answers.unsupported | silent
