"""MON001."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import ROUNDING, least
from joulecheck_strategies import workloads


class NothingNegative(Property):
    """No total, term, latency, utilisation or traffic is negative.

    Statement:
        x >= 0 for the energy, the latency, the utilisation, every term of them, and the
        bytes that cross each memory.

    Rationale:
        Energy is dissipated and time passes. A negative term is a saving that is
        subtracted from a cost which is counted elsewhere, or a sign error.

    Domain:
        Every case. A model whose terms are differences to a baseline declares an
        exemption; its owner may accept the finding as a modelling choice.

    Tolerance:
        1e-9 of the magnitude of the quantity and its fellow terms.

    Source:
        The second law of thermodynamics.

    Planted bug:
        flipped-sign: the SCRATCHPAD terms are subtracted instead of added.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        BND012, BND014 and SEN008 find the same where traffic, prices or coefficients are
        declared. This law needs nothing but an answer.
    """

    id: ClassVar = "MON001"
    name: ClassVar = "nothing-negative"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="flipped-sign",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least of all quantities, each relative to the largest of its kind."""
        answers = model.ask(cases)
        kinds = (
            [answers.energy, *answers.energy_terms.values()],
            [answers.latency, *answers.latency_terms.values()],
            [answers.utilisation],
            [*answers.traffic.values()],
        )
        return ROUNDING + least((_least_share(kind) for kind in kinds if kind), len(cases))


def _least_share(quantities: list[Floats]) -> Floats:
    largest = np.fmax.reduce([np.abs(q) for q in quantities])
    least_of_all: Floats = np.fmin.reduce(quantities)
    return least_of_all / np.where(largest == 0, 1.0, largest)
