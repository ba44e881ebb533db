"""MEA001."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases, MeasuredCase, Singles
from joulecheck.errors import NotOffered
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats

LATENCY: Final = 0.00233217
"""Second: what the model of the planted bug predicts for its case without the bug."""


class PredictionsMeetMeasurements(Property):
    """A prediction is within the tolerance of what was measured.

    Statement:
        |ln(predicted / measured)| <= ln(1 + tolerance) for the latency and the energy,
        whichever of them was measured.

    Rationale:
        The other laws tell whether a model may be true; only a machine tells whether it
        is. A factor is compared, so that a prediction of half is as wrong as of double.

    Domain:
        Measurements that a user has recorded, where the model answers for the case. No
        campaign draws such cases: `joulecheck overlay` files them.

    Tolerance:
        None: each recorded case states its own.

    Source:
        The measurement.

    Planted bug:
        macs-as-ops: latency is half the compute time.

    Shrinks to:
        Nothing: the case that was measured is the case.
    """

    id: ClassVar = "MEA001"
    name: ClassVar = "predictions-meet-measurements"
    needs: ClassVar = frozenset()
    drawn: ClassVar = False
    planted: ClassVar = Planted(
        fault="macs-as-ops",
        model="reference:Intel-i7-12700K",
        shrinks_to=MeasuredCase(
            case=Case(Gemm(1024, 1024, 1024)), latency=LATENCY, tolerance=0.2
        ),
    )

    def space(self, model: Subject) -> CaseSpace:  # noqa: ARG002 - none has any
        """None: nobody can draw what a machine took.

        Raises:
            NotOffered: always.
        """
        msg = "its cases are measurements: `joulecheck overlay FILE` holds a model to some"
        raise NotOffered(msg)

    def margin(self, model: Subject, cases: Singles[MeasuredCase]) -> Floats:
        """The tolerance that is left, as the logarithm of a factor."""
        answers = model.ask(Cases.of([case.case for case in cases]))
        off: Floats = np.full(len(cases), np.nan)
        for quantity in ("latency", "energy"):
            measured = [getattr(case, quantity) or np.nan for case in cases]
            ratio = getattr(answers, quantity) / np.array(measured)
            off = np.fmax(off, np.abs(np.log(ratio)))  # the one that is there
        margin: Floats = np.log1p([case.tolerance for case in cases]) - off
        return margin
