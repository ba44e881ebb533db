"""CMP006."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.composition import composed, goes_by_operator
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, equality
from joulecheck_strategies import workloads

TOLERANCE: Final = 1e-9


class LatencyCompositionAsDeclared(Property):
    """Latency is what the model says that its terms make together.

    Statement:
        T = f(t_1, t_2, ...), with f the declared composition of sums (one after the
        other) and maxima (at once). If it goes operator by operator, T >= f of the
        summed terms of a graph.

    Rationale:
        CMP003 leaves a wide gap between perfect overlap and none. Which of the two holds
        where is the heart of a latency model, and a term that slipped from one group to
        the other, or that is missing from the total, shows here alone.

    Domain:
        Models that declare their composition. For a graph whose operators take turns the
        terms are sums, and a longest sum is at most the sum of the longest, so that the
        composition is a lower bound; for a single operator it is exact.

    Tolerance:
        1e-9: exact, up to rounding.

    Source:
        The model's own declaration; sublinearity of sum and maximum.

    Planted bug:
        serial-terms: latency is the sum of all terms, though memories overlap.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        CMP008 finds the same where a model tells its latency by layer, and CMP003 where
        it leaves the range of any composition. Between these only the declared one tells
        a sum from a maximum.
    """

    id: ClassVar = "CMP006"
    name: ClassVar = "latency-composition-as-declared"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.LATENCY_TERMS, Offer.COMPOSITION})
    planted: ClassVar = Planted(
        fault="serial-terms",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """Of a single operator the equality, of a graph the bound."""
        answers, composition = model.ask(cases), model.latency_composition
        assert composition is not None  # noqa: S101 - it is offered
        expected = composed(composition, answers.latency_terms, len(cases))
        exact = equality(answers.latency, expected, TOLERANCE)
        if not goes_by_operator(composition):
            return exact
        return np.where(cases.operators.single, exact, at_most(expected, answers.latency))
