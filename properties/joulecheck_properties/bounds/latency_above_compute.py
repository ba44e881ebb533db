"""BND001."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import PRECISIONS, Floats
from joulecheck_properties.margins import at_most
from joulecheck_strategies import workloads


class LatencyAboveCompute(Property):
    """Latency is at least the operations over the peak rate.

    Statement:
        T(w, p) >= ops(w) / peak(p), with one MAC counted as two operations.

    Rationale:
        Nothing computes faster than its peak. A factor of two between MACs and
        operations, a unit count that is forgotten or applied twice, breaks it.

    Domain:
        Precisions for which the machine states a peak.

    Tolerance:
        1e-9, for products in another order.

    Source:
        Williams, Waterman and Patterson, Roofline, CACM 52(4), 2009.

    Planted bug:
        macs-as-ops: latency is half the compute time and nothing else.

    Shrinks to:
        The GEMM of 33 columns: 32 fill half the lanes of the eight cores, and half the
        time is then just enough.

    Stays because:
        BND005 and CMP009 find the same slips, but BND005 needs a memory of known
        bandwidth and CMP009 a utilisation. A model that states a peak and tells a latency
        has this law alone.
    """

    id: ClassVar = "BND001"
    name: ClassVar = "latency-above-compute"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.PEAK})
    planted: ClassVar = Planted(
        fault="macs-as-ops",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=33, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """How far the compute bound stays below the latency."""
        peak = np.array([model.machine.peak.get(p, np.nan) for p in PRECISIONS])
        bound = cases.ops / peak[cases.precision]
        return at_most(bound, model.ask(cases).latency)
