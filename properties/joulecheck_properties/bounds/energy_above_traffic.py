"""BND004."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, Cases
from joulecheck.errors import NotOffered
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, least
from joulecheck_properties.prices import byte_prices, compulsory_bytes
from joulecheck_strategies import workloads

OPERANDS: Final = ("input", "weight", "output")


class EnergyAboveTraffic(Property):
    """The energy of a memory is at least its compulsory bytes times their price.

    Statement:
        E_m(w, p) >= e_m * bytes_m(w, p) for every memory m, where bytes_m counts once
        each external tensor whose home is m, and e_m is the least coefficient in J/B
        that moves the term E_m. An operand without a home lies on the chip; what of it
        exceeds the memories there comes from a home as well.

    Rationale:
        Every external operand crosses its memory's edge at least once, and pays for it.
        An operand that is read for nothing, an operand that is forgotten among several
        of a kind, or weights that are held where there is no room for them, show.

    Domain:
        Memories that state what lies in them, with an energy term of the same name that
        a coefficient in J/B moves. Of a convolution's input only what its filters
        certainly touch is counted.

    Tolerance:
        1e-9, for products in another order.

    Source:
        Compulsory misses: Hill and Smith, IEEE Transactions on Computers 38(12), 1989.

    Planted bug:
        unpaid-inputs: inputs are read from their home for nothing.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        BND014 holds the term of a memory to its traffic on both sides, where the model
        tells the traffic. A model that tells terms and prices alone has this bound.
    """

    id: ClassVar = "BND004"
    name: ClassVar = "energy-above-traffic"
    needs: ClassVar = frozenset({Offer.ENERGY, Offer.ENERGY_TERMS, Offer.COEFFICIENTS})
    planted: ClassVar = Planted(
        fault="unpaid-inputs",
        model="reference:Intel-i7-12700K",
        shrinks_to=Case(Gemm(m=1, n=1, k=1)),
    )

    def space(self, model: Subject) -> CaseSpace:
        """All workloads."""
        if not _prices(model):
            msg = (
                "it declares no memory with homes whose name is that of an energy term "
                "and of which a coefficient in J/B moves that term"
            )
            raise NotOffered(msg)
        return workloads(model)

    def margin(self, model: Subject, cases: Cases) -> Floats:
        """The least margin over the memories, and over all of them together."""
        answers = model.ask(cases)
        prices = _prices(model)
        margins, paid = [], np.zeros(len(cases))
        owed = min(prices.values()) * _overflow(model, cases)
        for name, price in prices.items():
            homes = model.machine.memories[name].homes
            bound = price * compulsory_bytes(cases, homes)
            energy = answers.energy_terms.get(name, np.zeros(len(cases)))
            margins.append(at_most(bound, energy))
            paid, owed = paid + energy, owed + bound
        margins.append(at_most(owed, paid))
        return np.where(np.isnan(answers.energy), np.nan, least(margins, len(cases)))


def _prices(model: Subject) -> Mapping[str, float]:
    """Joule a byte at least, for each memory with homes and an energy term."""
    memories = model.machine.memories
    return {name: e for name, e in byte_prices(model).items() if memories[name].homes}


def _overflow(model: Subject, cases: Cases) -> Floats:
    """(n,) bytes of the operands without a home that do not fit on the chip."""
    memories = model.machine.memories.values()
    homes = {role for memory in memories for role in memory.homes}
    near = [memory.capacity for memory in memories if not memory.homes]
    if not near or None in near:
        return np.zeros(len(cases))
    room = sum(filter(None, near))
    sizes = [getattr(cases.compulsory, role) for role in OPERANDS if role not in homes]
    return np.asarray(
        sum(np.maximum(0, size - room) for size in sizes) + np.zeros(len(cases))
    )
