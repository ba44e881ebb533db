"""ROB001."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, Cases
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.answered import answered
from joulecheck_strategies import workloads


class ValidInputGetsNumbers(Property):
    """A valid question never raises, and its answer is finite.

    Statement:
        For every valid workload at a supported precision the model returns, and every
        number that it offers is neither infinite nor NaN. A prediction through a layer,
        a sub-total or the traffic of a memory may be left out.

    Rationale:
        A model that divides by a tile count of zero, or that has no schedule for a
        shape, fails in the middle of somebody's exploration.

    Domain:
        Every case but those for which the model raises Unsupported.

    Tolerance:
        None: the margin is 1 or -1.

    Source:
        The model protocol.

    Planted bug:
        division-by-zero: the model raises for a GEMM whose K is 7 modulo 8.

    Shrinks to:
        The GEMM of K = 7 and M = N = 1.

    Stays because:
        ROB002 finds the same among sizes up to 1e9, in graphs of up to three operators.
        This law asks it of the workloads that all other laws draw.
    """

    id: ClassVar = "ROB001"
    name: ClassVar = "valid-input-gets-numbers"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="division-by-zero",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=7)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """1 where all is well, -1 where the model raised or a number is not finite."""
        return answered(model, cases)
