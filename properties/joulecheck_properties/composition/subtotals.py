"""CMP007."""

from __future__ import annotations

from typing import ClassVar, Final

from joulecheck.case import Case, Cases
from joulecheck.estimate import total
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import equality, least
from joulecheck_strategies import workloads

TOLERANCE: Final = 1e-9


class Subtotals(Property):
    """Each sub-total is the sum of the parts that it names.

    Statement:
        S = sum_i E_i for every sub-total S that the model gives, over the energy terms
        and other sub-totals that it declares for it: such as compute + data movement +
        control = overhead.

    Rationale:
        Reports show sub-totals, and decisions rest on them. One that misses a part or
        has it twice leaves the total and every term right.

    Domain:
        Cases for which the model gives the sub-total. A term that a case does not have
        is 0.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Additivity of energy.

    Planted bug:
        counted-twice: the sub-total of all dynamic energy counts the ALU twice.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "CMP007"
    name: ClassVar = "subtotals"
    needs: ClassVar = frozenset({Offer.ENERGY_TERMS, Offer.SUBTOTALS})
    planted: ClassVar = Planted(
        fault="counted-twice",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the sub-totals."""
        answers = model.ask(cases)
        parts = {**answers.energy_terms, **answers.subtotals}
        margins = []
        for name, declared in model.subtotals.items():
            if name in answers.subtotals:
                summed = {part: parts[part] for part in declared if part in parts}
                found = total(summed, len(cases))
                margins.append(equality(answers.subtotals[name], found, TOLERANCE))
        return least(margins, len(cases))
