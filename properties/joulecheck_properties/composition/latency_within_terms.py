"""CMP003."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.estimate import total
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most
from joulecheck_strategies import workloads


class LatencyWithinTerms(Property):
    """Latency lies between the longest of its terms and their sum.

    Statement:
        max_i t_i <= T <= sum_i t_i.

    Rationale:
        Latency is not additive: terms overlap in part. No overlap is better than
        perfect (the maximum) and none is worse than none (the sum).

    Domain:
        Every case for which the model gives a latency and its terms, each as if it
        were alone. For a graph each term is summed over the operators, and the bounds
        hold still: sum_o max_i <= T <= sum_o sum_i, and max_i sum_o <= sum_o max_i.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Williams, Waterman and Patterson, Roofline, CACM 52(4), 2009, for the maximum;
        the sum is serial execution.

    Planted bug:
        roofline-minimum: the roofline takes the least of the terms, not the greatest.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        CMP006 and CMP008 find the same where a model declares its composition or its
        latency by layer. This law needs the terms alone.
    """

    id: ClassVar = "CMP003"
    name: ClassVar = "latency-within-terms"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.LATENCY_TERMS})
    planted: ClassVar = Planted(
        fault="roofline-minimum",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The lesser of the two margins."""
        answers = model.ask(cases)
        latency, terms = answers.latency, answers.latency_terms
        longest = np.maximum.reduce([np.zeros(len(cases)), *terms.values()])
        above = at_most(longest, latency)
        return np.minimum(above, at_most(latency, total(terms, len(cases))))
