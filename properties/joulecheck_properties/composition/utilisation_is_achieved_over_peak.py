"""CMP009."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import PRECISIONS, Floats
from joulecheck_properties.margins import equality
from joulecheck_strategies import workloads

TOLERANCE: Final = 1e-3


class UtilisationIsAchievedOverPeak(Property):
    """Utilisation is the achieved rate over the peak rate.

    Statement:
        u(w, p) x T(w) x peak(p) = ops(w), with one MAC counted as two operations.

    Rationale:
        The three numbers are computed in three places and mean one thing. A peak of
        another clock or of one unit, MACs for operations, or a latency that was
        corrected without the utilisation, part them while each stays plausible.

    Domain:
        Precisions for which the machine states a peak. Utilisation is the share of the
        peak that is achieved over the whole latency. A model that tells the share of
        lanes in use, or of the busy time alone, declares an exemption.

    Tolerance:
        0.1 %: a utilisation may be reported in thousandths of itself.

    Source:
        The definition of achieved over peak performance: Williams, Waterman and
        Patterson, Roofline, CACM 52(4), 2009.

    Planted bug:
        busy-utilisation: the utilisation leaves the launch out.

    Shrinks to:
        The GEMM of one MAC.
    """

    id: ClassVar = "CMP009"
    name: ClassVar = "utilisation-is-achieved-over-peak"
    needs: ClassVar = frozenset({Offer.UTILISATION, Offer.LATENCY, Offer.PEAK})
    planted: ClassVar = Planted(
        fault="busy-utilisation",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """How far the operations achieved are from those of the workload."""
        peak = np.array([model.machine.peak.get(p, np.nan) for p in PRECISIONS])
        answers = model.ask(cases)
        achieved = answers.utilisation * answers.latency * peak[cases.precision]
        return equality(achieved, cases.ops, TOLERANCE)
