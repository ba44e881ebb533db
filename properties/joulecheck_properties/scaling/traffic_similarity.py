"""SCL004."""

from __future__ import annotations

from functools import partial
from math import isclose, nan, sqrt
from typing import ClassVar, Final

import attrs
import numpy as np

from joulecheck.case import Case, Cases, Derivation, DerivedCase, DerivedCases
from joulecheck.errors import NotOffered
from joulecheck.knob import Knob, KnobKind
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats, OperatorColumns
from joulecheck_properties.machines import common_gain
from joulecheck_properties.margins import at_most, least
from joulecheck_strategies import DerivationSpace, derivations
from joulecheck_strategies.derivations import required, turned

SIDES: Final = (2, 3, 5)
"""Lambda: by how much each side of a GEMM grows."""


class TrafficSimilarity(Property):
    """A larger GEMM with as much more room moves bytes in proportion to its matrices.

    Statement:
        Q(lambda M, lambda N, lambda K; lambda^2 S) <= lambda^2 Q(M, N, K; S) for a whole
        lambda, with Q the bytes that cross a memory outside the chip and S all
        capacities on it. Where tiles need not be whole it is an equality.

    Rationale:
        Reuse is a matter of shape. A traffic that goes with the operations, with the
        root of the wrong capacity, or that counts in the wrong dimension is not similar.

    Domain:
        GEMMs, and memories outside the chip whose traffic the model tells and declares
        as smooth. All capacities that it declares as knobs grow together: they must be
        all that decides traffic.

    Tolerance:
        1e-9, for products in another order.

    Source:
        Dimensional analysis of the input-output bound of Hong and Kung, STOC 1981: the
        tiles of the smaller GEMM, lambda times as large, are tiles of the larger.

    Planted bug:
        uncached: each MAC fetches its operands from DRAM as well.

    Shrinks to:
        The GEMM of one MAC, beside that of 2 x 2 x 2 with four times the room.

    Stays because:
        BND005, BND007 and BND014 find traffic that is wrong by its time, its least or its
        price. Traffic that is dear at every size alike, and does not scale with the room
        on the chip, shows by this law alone.
    """

    id: ClassVar = "SCL004"
    name: ClassVar = "traffic-similarity"
    needs: ClassVar = frozenset({Offer.TRAFFIC, Offer.KNOBS})
    planted: ClassVar = Planted(
        fault="uncached",
        model="reference:Intel-i7-12700K",
        shrinks_to=DerivedCase(
            Case(Gemm(m=1, n=1, k=1)),
            Derivation({f"{level}.capacity": 4.0 for level in ("l1", "l2", "l3")}),
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """GEMMs on machines with more room: the smaller of the two that are compared."""
        if not model.smooth & model.traffic:
            msg = "it tells the traffic of no memory that it declares as smooth"
            raise NotOffered(msg)
        if "gemm" not in model.operators:
            msg = "it does not answer for gemm"
            raise NotOffered(msg)
        rooms = required(model, KnobKind.CAPACITY)
        found = derivations(model, [turned(rooms, float(side**2)) for side in SIDES])
        gemms = attrs.evolve(found.workloads, kinds=("gemm",), max_nodes=1)
        return DerivationSpace(gemms, found.derivations)

    def margin(self, model: Subject, cases: DerivedCases) -> Floats:
        """The least margin over the memories."""
        rooms = model.knobs_of(KnobKind.CAPACITY)
        side = cases.per_case(partial(_side, rooms=rooms))
        larger = attrs.evolve(cases, cases=_grown(cases.cases, np.nan_to_num(side, nan=1)))
        before, after = model.ask(cases.cases), model.ask_derived(larger)
        margins = (
            at_most(after.traffic[name], side**2 * before.traffic[name])
            for name in sorted(model.smooth & model.traffic)
            if name in before.traffic and name in after.traffic
        )
        return np.where(cases.cases.operators.gemm, least(margins, len(cases)), np.nan)


def _side(derivation: Derivation, rooms: dict[str, Knob]) -> float:
    """The whole number whose square all capacities grow by, and nothing else; or NaN."""
    gain = common_gain(derivation, rooms)
    if derivation.factors.keys() != rooms.keys() or not gain > 1:
        return nan
    side = round(sqrt(gain))
    return float(side) if isclose(side**2, gain) else nan


def _grown(cases: Cases, side: Floats) -> Cases:
    """GEMMs with each side so many times as long; other workloads are left to no law."""

    def item(index: int) -> Case:
        case, times = cases[index], int(side[index])
        if not isinstance(case.workload, Gemm):
            return case
        sizes = {name: times * getattr(case.workload, name) for name in ("m", "n", "k")}
        return attrs.evolve(case, workload=attrs.evolve(case.workload, **sizes))

    return Cases(cases.precision, item, lambda: _grown_columns(cases.operators, side))


def _grown_columns(ops: OperatorColumns, side: Floats) -> OperatorColumns:
    times = ops.per_operator(side)
    sides = {name: getattr(ops, name) * times for name in ("m", "n", "k")}
    matrices = {
        name: getattr(ops, name) * times**2
        for name in ("input_elements", "touched_elements", "weight_elements")
    }
    return attrs.evolve(
        ops,
        **sides,
        **matrices,
        output_elements=ops.output_elements * times**2,
        macs=ops.macs * times**3,
    )
