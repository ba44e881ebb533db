"""BND009."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most
from joulecheck_strategies import workloads


class PowerBelowTdp(Property):
    """Average power stays within the thermal design power.

    Statement:
        E(w) / T(w) <= TDP.

    Rationale:
        What a machine is cooled for bounds what it can dissipate over a workload. Static
        energy in the wrong unit, an energy an operation that belongs to another node, or
        a latency that forgets a bottleneck exceed it.

    Domain:
        Machines that state a TDP. A model of the first instants of a turbo mode, which
        exceed it, declares an exemption.

    Tolerance:
        1e-9, for a product.

    Source:
        The definition of thermal design power. It is a theorem where static power and
        all greatest rates times their energies add up to no more.

    Planted bug:
        milliwatts: the static power in watt is read as milliwatt.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        BND015 finds the same in the static term. This law needs no terms and no prices: a
        power that no package can carry away shows in two numbers.
    """

    id: ClassVar = "BND009"
    name: ClassVar = "power-below-tdp"
    needs: ClassVar = frozenset({Offer.ENERGY, Offer.LATENCY})
    planted: ClassVar = Planted(
        fault="milliwatts",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if model.machine.tdp is None:
            msg = "its machine states no tdp"
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """How far the energy stays below what the TDP lets through in that time."""
        answers = model.ask(cases)
        return at_most(answers.energy, (model.machine.tdp or 0.0) * answers.latency)
