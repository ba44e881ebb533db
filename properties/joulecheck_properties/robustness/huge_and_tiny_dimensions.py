"""ROB002."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, Cases
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.answered import answered
from joulecheck_strategies import huge_workloads


class HugeAndTinyDimensions(Property):
    """Workloads of any size get finite numbers, up to dimensions of 1e9.

    Statement:
        ROB001 for every valid workload whose batch, M, N, K, channels and image are 1
        to 1e9, each on its own.

    Rationale:
        Products of such sizes pass 2^31, 2^53 and 2^63: a count in an integer of fixed
        width wraps, a table ends, a loop over tiles never does. Thin shapes, 1 by 1e9,
        find tiles that are never full.

    Domain:
        Graphs of one to three operators, for models that bound no dimension. Counts are
        float64, whose relative error is below 1e-15 and whose range ends at 1e308; the
        largest such graph has 1e47 MACs.

    Tolerance:
        None: the margin is 1 or -1.

    Source:
        The model protocol.

    Planted bug:
        short-table: the table of energies ends at M = 131,071.

    Shrinks to:
        The GEMM of M = 131,072 and N = K = 1.
    """

    id: ClassVar = "ROB002"
    name: ClassVar = "huge-and-tiny-dimensions"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="short-table",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1 << 17, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads of dimensions from 1 to 1e9."""
        return huge_workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """1 where all is well, -1 where the model raised or a number is not finite."""
        return answered(model, cases)
