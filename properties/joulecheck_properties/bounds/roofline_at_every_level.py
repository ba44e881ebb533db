"""BND005."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Elementwise, Function
from joulecheck.workload.columns import PRECISIONS, Floats
from joulecheck_properties.margins import at_most, least
from joulecheck_properties.prices import memory_times, passing
from joulecheck_strategies import workloads


class RooflineAtEveryLevel(Property):
    """No level of memory lets more operations a second pass than its roofline.

    Statement:
        ops / T <= min(peak(p), AI_m x bandwidth_m) for every memory m, near or far, with
        AI_m = ops / Q_m. Q_m are the bytes that the model says cross m, as traffic or as
        events of the prices in J/B of m's energy term, and no fewer than those of the
        operands that m carries or is the home of, each once.

    Rationale:
        BND001 and BND002 look at the two ends of a machine. What is between them can be
        the bottleneck as well: a cache, a network or a buffer that only energy knows of
        is infinitely fast in the latency.

    Domain:
        Memories that state a bandwidth, and of which the model tells the bytes or the
        machine the operands that pass. Of a convolution's input only what its filters
        certainly touch is compulsory. A bandwidth is that of all ports and copies, in
        both directions.

    Tolerance:
        1e-9, for products in another order.

    Source:
        Williams, Waterman and Patterson, Roofline, CACM 52(4), 2009; level by level:
        Ilic, Pratas and Sousa, Cache-aware Roofline Model, IEEE Computer Architecture
        Letters 13(1), 2014.

    Planted bug:
        free-near-memories: latency is the longest of compute and DRAM.

    Shrinks to:
        RELU of one element: its bytes take longer through the global scratchpad than
        from DRAM.

    Stays because:
        BND016 finds the same of the latency terms. A model that tells no terms is held at
        every level by this law alone.
    """

    id: ClassVar = "BND005"
    name: ClassVar = "roofline-at-every-level"
    needs: ClassVar = frozenset({Offer.LATENCY})
    planted: ClassVar = Planted(
        fault="free-near-memories",
        model="reference:Stillwater-KPU-T64",
        shrinks_to=Case(Elementwise(Function.RELU, (1, 1, 1, 1))),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not passing(model):
            msg = "it declares no memory with a bandwidth and what passes it"
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the peak and the memories."""
        answers = model.ask(cases)
        peak = np.array([model.machine.peak.get(p, np.nan) for p in PRECISIONS])
        times = memory_times(model, cases, answers)
        bounds = [cases.ops / peak[cases.precision], *times.values()]
        return least((at_most(time, answers.latency) for time in bounds), len(cases))
