"""DET001."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases, ScaledCase, ScaledCases
from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.differences import agreement
from joulecheck_strategies import perturbations, workloads

TOLERANCE: Final = 1e-12


class SameQuestionSameAnswer(Property):
    """The same question has the same answer, also after a perturbation in between.

    Statement:
        e(w) = e(w), asked once, asked again, and asked after e(w) under other
        coefficients; for the energy, the latency, the utilisation and every term.

    Rationale:
        A search, a cache and a regression test rely on it. A perturbation that is not
        undone, a cache without the coefficients in its key, or a random start show.

    Domain:
        Every case. Without coefficients the question is repeated only.

    Tolerance:
        1e-12 of the quantity, so that vector instructions of another width may differ
        in the last bits.

    Source:
        The definition of a function.

    Planted bug:
        kept-perturbation: a perturbation stays in force after the call.

    Shrinks to:
        The GEMM of one MAC with the first coefficient raised by 10 %.

    Stays because:
        SEN009 finds the same after other coefficients. A model without coefficients is
        asked this law alone.
    """

    id: ClassVar = "DET001"
    name: ClassVar = "same-question-same-answer"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="kept-perturbation",
        model="reference:Intel-i7-12700K",
        shrinks_to=ScaledCase(Case(Gemm(m=1, n=1, k=1)), {"mac_energy.FP64": 1.1}),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads under perturbed coefficients, or plain ones where there are none."""
        try:
            return perturbations(model)
        except NotOffered:
            return workloads(model)

    def margin(self, model: Subject, cases: Cases | ScaledCases) -> Floats:
        """The least agreement of the first answer with the later ones."""
        plain = cases.cases if isinstance(cases, ScaledCases) else cases
        first, second = model.ask(plain), model.ask(plain)
        repeated = agreement(first, second, TOLERANCE)
        if not isinstance(cases, ScaledCases):
            return repeated
        model.ask(plain, cases.scales)
        return np.fmin(repeated, agreement(first, model.ask(plain), TOLERANCE))
