"""MON002."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, WorkloadPair, WorkloadPairs
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most
from joulecheck_strategies import growths


class EnergyGrowsWithWork(Property):
    """More work never costs less energy.

    Statement:
        E(w) <= E(w') where w' is w with one dimension grown: M, N, K or batch of a
        GEMM, N, C, K, H or W of a convolution, or the input of an elementwise function;
        in a graph, whatever follows from it.

    Rationale:
        A machine can always leave the added part undone and spend no more.

    Domain:
        Pairs in which the larger workload contains the smaller: the edges of the graph
        stay, no size shrinks and the operations grow. Not R, S, stride, dilation or
        groups (a depthwise convolution may gain channels, with as many filters each):
        with H = 7 and no padding the MACs for R = 1..7 are 49 144 225 256 225 144 49. A
        mapper that allows perfect factors only, or that optimises something else, is
        not monotone and declares an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        A schedule of the larger workload, clipped, is one of the smaller; true for a
        fixed tile and for an exact minimum over a family that is closed under clipping.

    Planted bug:
        wrapped-rows: energy counts M modulo 256, as a counter of eight bits would.

    Shrinks to:
        The GEMM of one MAC, its batch grown to 256.
    """

    id: ClassVar = "MON002"
    name: ClassVar = "energy-grows-with-work"
    needs: ClassVar = frozenset({Offer.ENERGY})
    planted: ClassVar = Planted(
        fault="wrapped-rows",
        model="reference:Intel-i7-12700K",
        shrinks_to=WorkloadPair(
            smaller=Case(Gemm(m=1, n=1, k=1)),
            larger=Case(Gemm(m=1, n=1, k=1, batch=256)),
            grown="0.batch",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads with one dimension grown."""
        return growths(model)

    def margin(self, model: Subject, cases: WorkloadPairs) -> Floats:
        """How far the energy of the smaller stays below that of the larger."""
        smaller = model.ask(cases.smaller).energy
        larger = model.ask(cases.larger).energy
        grew = cases.larger.ops > cases.smaller.ops
        return np.where(grew, at_most(smaller, larger), np.nan)
