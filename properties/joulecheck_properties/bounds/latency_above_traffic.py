"""BND002."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, Cases
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, least
from joulecheck_properties.prices import compulsory_bytes
from joulecheck_strategies import workloads


class LatencyAboveTraffic(Property):
    """Latency is at least the compulsory bytes over the bandwidth of their home.

    Statement:
        T(w, p) >= bytes_m(w, p) / bandwidth_m for every memory m, where bytes_m counts
        once each external tensor whose home is m.

    Rationale:
        Every external operand crosses its memory's edge at least once. A memory term
        that is left out of the roofline, or bits taken for bytes, breaks it.

    Domain:
        Memories that state a bandwidth and what lies in them. Homes are respected: TPU
        v1's DRAM holds weights only. Of a convolution's input only what its filters
        certainly touch is counted, for a stride may skip the rest.

    Tolerance:
        1e-9, for products in another order.

    Source:
        Williams, Waterman and Patterson, Roofline, CACM 52(4), 2009; compulsory misses
        of Hill and Smith, IEEE Transactions on Computers 38(12), 1989.

    Planted bug:
        compute-only-roofline: latency is the launch-free compute time alone.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        BND005 and BND016 find the same slips, but from the traffic that a model tells or
        the operands that its memories carry. This law needs no more of a machine than its
        homes and their bandwidths.
    """

    id: ClassVar = "BND002"
    name: ClassVar = "latency-above-traffic"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.BANDWIDTH})
    planted: ClassVar = Planted(
        fault="compute-only-roofline",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the memories."""
        latency = model.ask(cases).latency
        margins = []
        for memory in model.machine.memories.values():
            if memory.bandwidth and memory.homes:
                crossing = compulsory_bytes(cases, memory.homes)
                margins.append(at_most(crossing / memory.bandwidth, latency))
        return least(margins, len(cases))
