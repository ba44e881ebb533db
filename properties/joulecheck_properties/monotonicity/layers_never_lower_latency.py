"""MON006."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, Cases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import never_falling
from joulecheck_strategies import workloads


class LayersNeverLowerLatency(Property):
    """The latency up to a layer is at least that up to the layer inside it.

    Statement:
        T_l <= T_k for layers l before k, in the order ALU, REGISTER, SCRATCHPAD,
        ON_CHIP, DRAM, CLUSTER, with T_l the model's own prediction (`latency_through`).

    Rationale:
        A layer further out can hold up the ones inside it and never hurry them. A prefix
        that is the time of its layer alone, or one that leaves something out, falls.

    Domain:
        Every case with predictions for two layers or more, of the same execution.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        A schedule with infinitely fast outer layers is no longer than one without.

    Planted bug:
        layers-alone: the latency up to a layer is that of the layer alone.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        CMP008 finds the same where a model tells its latency terms and their layers. This
        law needs its predictions by layer alone.
    """

    id: ClassVar = "MON006"
    name: ClassVar = "layers-never-lower-latency"
    needs: ClassVar = frozenset({Offer.LATENCY_THROUGH})
    planted: ClassVar = Planted(
        fault="layers-alone",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over neighbouring layers."""
        return never_falling(model.ask(cases).latency_through, len(cases))
