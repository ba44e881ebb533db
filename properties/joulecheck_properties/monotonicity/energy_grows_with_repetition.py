"""MON004."""

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
from joulecheck_strategies import repetitions


class EnergyGrowsWithRepetition(Property):
    """The same work several times over never costs less energy.

    Statement:
        E(w) <= E(w') where w' is w with its batch times a whole number.

    Rationale:
        A machine can always leave the repetitions undone and spend no more. A mapper
        that reaches another, much better execution for twice the work has missed it,
        or has miscounted one of the two.

    Domain:
        Workloads with operations, every batch that comes from outside 2 to 256 times
        larger. Unlike MON002 it holds for mappers that split dimensions into whole
        factors only: a factor of the larger batch, divided, is one of the smaller. A
        mapper that lays images out in space, and not one after the other, may declare
        an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        A schedule of the larger batch, each factor divided by its share of the whole
        number, is one of the smaller with as few of every event.

    Planted bug:
        wrapped-rows: energy counts M modulo 256, as a counter of eight bits would.

    Shrinks to:
        The GEMM of 128 rows and one MAC each, twice.

    Stays because:
        MON002 finds most of the same, but a mapper that allows whole factors only is
        exempt from it. Such a mapper is held to growth by this law alone.
    """

    id: ClassVar = "MON004"
    name: ClassVar = "energy-grows-with-repetition"
    needs: ClassVar = frozenset({Offer.ENERGY})
    planted: ClassVar = Planted(
        fault="wrapped-rows",
        model="reference:Intel-i7-12700K",
        shrinks_to=WorkloadPair(
            smaller=Case(Gemm(m=128, n=1, k=1)),
            larger=Case(Gemm(m=128, n=1, k=1, batch=2)),
            grown="batch",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads, each beside itself several times over."""
        return repetitions(model)

    def margin(self, model: Subject, cases: WorkloadPairs) -> Floats:
        """How far the energy of the work done once stays below that of the repetition."""
        once = model.ask(cases.smaller).energy
        repeated = model.ask(cases.larger).energy
        return np.where(cases.smaller.ops > 0, at_most(once, repeated), np.nan)
