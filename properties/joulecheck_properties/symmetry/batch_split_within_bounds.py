"""SYM005."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Part, PartedCase, PartedCases
from joulecheck.model import Subject
from joulecheck.property import Planted
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.costs import (
    LawOfCosts,
    no_cheaper_than_parts,
    no_dearer_than_parts,
    no_dearer_than_twice_a_part,
)
from joulecheck_strategies import batch_splits


class BatchSplitWithinBounds(LawOfCosts):
    """A batch costs at least its dearer part, and at most both parts.

    Statement:
        max(E(a), E(b)) <= E(a + b) <= E(a) + E(b), and the same of latency, where w(a) is a
        graph whose inputs all have a batch of a. A model that does not split its batch has
        E(a + b) <= 2 max(E(a), E(b)) above.

    Rationale:
        A machine that does the whole batch does either part, and it may do one after the
        other. Below, launches, weights and fills are shared, so that both sides are bounds
        and no equality.

    Domain:
        All graphs below. Above, graphs without intermediates: where operators run one by
        one over the whole batch, as in a framework, intermediates may exceed a memory that
        would keep those of either part. The sum bounds models that declare "batch" in
        `splits`: a model of uniform tiles may pay for a tile of the larger part once more
        than for both parts, but not for more than the larger part twice. A mapper that
        allows whole factors only is not monotone and declares an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Both parts one after the other are a schedule of the whole; a schedule of the whole,
        clipped, is one of either part.

    Planted bug:
        wrapped-rows: energy and latency count M modulo 256, as a counter of eight bits
        would.

    Shrinks to:
        A GEMM of 128 rows and one MAC each, of which the whole has two.

    Stays because:
        CON001 and CON002 find the same of single operators. Of graphs, whose operators
        all split, this law alone speaks.
    """

    id: ClassVar = "SYM005"
    name: ClassVar = "batch-split-within-bounds"
    needs: ClassVar = frozenset(())
    planted: ClassVar = Planted(
        fault="wrapped-rows",
        model="reference:Intel-i7-12700K",
        shrinks_to=PartedCase(
            whole=Case(Gemm(m=128, n=1, k=1, batch=2)),
            parts=(Part(Case(Gemm(m=128, n=1, k=1))), Part(Case(Gemm(m=128, n=1, k=1)))),
            how="batch",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Graphs, each beside two parts of its batch."""
        return batch_splits(model)

    def margin(self, model: Subject, cases: PartedCases) -> Floats:
        """The least of the margins of both bounds, of both costs."""
        whole, parts = model.ask(cases.whole), model.ask(cases.parts)
        above = no_cheaper_than_parts(whole, parts, cases)
        if "batch" in model.splits:
            below = no_dearer_than_parts(whole, parts, cases)
        else:
            below = no_dearer_than_twice_a_part(whole, parts, cases)
        operators = cases.whole.operators
        inside = operators.per_case(operators.output_is_internal.astype(np.float64)) > 0
        return np.where(inside, above, np.fmin(above, below))
