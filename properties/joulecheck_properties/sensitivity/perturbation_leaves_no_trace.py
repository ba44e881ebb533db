"""SEN009."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases, ScaledCase, ScaledCases
from joulecheck.model import Offer, Scales, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import PRECISIONS, Floats
from joulecheck_properties.differences import agreement
from joulecheck_properties.margins import least
from joulecheck_strategies import perturbations

TOLERANCE: Final = 1e-12

NO_COEFFICIENT: Final = "no such coefficient"
"""A scale that names it beside others is refused, if anything is."""


class PerturbationLeavesNoTrace(Property):
    """After a perturbation, also one that fails, the nominal answer is what it was.

    Statement:
        e(w), asked after e(w) under some factors, is the same after e(w) under others,
        and after calls under the same that the model refuses: one with a coefficient
        that it does not have, one at a precision that it does not support; for the
        energy, the latency, the utilisation and every term.

    Rationale:
        Models that set coefficients for a call must reset them on every way out. One
        that forgets it after an exception answers wrongly until somebody restarts it,
        and no single question shows it.

    Domain:
        Every case of a model with energy coefficients. A call that the model does not
        refuse is a perturbation like the others.

    Tolerance:
        1e-12 of the quantity, so that vector instructions of another width may differ
        in the last bits.

    Source:
        The model protocol: nothing that a scale changes outlives the call.

    Planted bug:
        unrestored-coefficient: a perturbation stays in force if the call fails.

    Shrinks to:
        The GEMM of one MAC with the first coefficient raised by 10 %.
    """

    id: ClassVar = "SEN009"
    name: ClassVar = "perturbation-leaves-no-trace"
    needs: ClassVar = frozenset({Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="unrestored-coefficient",
        model="reference:Intel-i7-12700K",
        shrinks_to=ScaledCase(Case(Gemm(m=1, n=1, k=1)), {"mac_energy.FP64": 1.1}),
    )
    thinning: ClassVar = 64
    """A call that fails in a batch is repeated case by case."""

    def space(self, model: Subject) -> CaseSpace:
        """Workloads under one to three perturbed energy coefficients."""
        return perturbations(model)

    def margin(self, model: Subject, cases: ScaledCases) -> Floats:
        """The least agreement of the nominal answers with the first of them."""
        plain, scales = cases.cases, cases.scales
        model.ask(plain, {name: 1 / factors for name, factors in scales.items()})
        before = model.ask(plain)  # a trace that every call leaves is now another one
        margins = []
        for asked, under in ((plain, scales), *_refused(model, plain, scales)):
            model.ask(asked, under)
            margins.append(agreement(before, model.ask(plain), TOLERANCE))
        return least(margins, len(cases))


def _refused(
    model: Subject, cases: Cases, scales: Scales
) -> Iterator[tuple[Cases, Scales]]:
    """What the model should refuse, with factors that it must not keep."""
    size = len(cases)
    yield cases, {**scales, NO_COEFFICIENT: np.full(size, 1.1)}
    others = [code for code, p in enumerate(PRECISIONS) if p not in model.precisions]
    if others:
        yield cases.at(np.full(size, others[0])), scales
