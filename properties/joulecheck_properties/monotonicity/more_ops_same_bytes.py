"""MON007."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, WorkloadPair, WorkloadPairs
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Totals
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most, least
from joulecheck_strategies import totals_growths


class MoreOpsSameBytes(Property):
    """More operations on the same bytes never cost less energy or time.

    Statement:
        E(o, b) <= E(o', b) and T(o, b) <= T(o', b) for totals with o <= o' operations.

    Rationale:
        A machine can always leave the added operations undone.

    Domain:
        Models that answer for totals. With shapes it would be no law: operations do not
        grow alone.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The roofline: Williams, Waterman and Patterson, CACM 52(4), 2009.

    Planted bug:
        ops-in-a-word: operations are counted in 16 bits.

    Shrinks to:
        One operation on one byte, and 2^16 of them.

    Stays because:
        The bounds find the same where the fall is deep, as that of the planted bug. Of
        totals, a fall that stays above them shows by this law alone.
    """

    id: ClassVar = "MON007"
    name: ClassVar = "more-ops-same-bytes"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="ops-in-a-word",
        model="joulecheck.reference.roofline:ROOFLINES:Intel-i7-12700K",
        shrinks_to=WorkloadPair(
            smaller=Case(Totals(ops=1, bytes=1)),
            larger=Case(Totals(ops=1 << 16, bytes=1)),
            grown="ops",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Totals, and the same with more operations."""
        return totals_growths(model, "ops")

    def margin(self, model: Subject, cases: WorkloadPairs) -> Floats:
        """The lesser of the margins of energy and latency."""
        fewer, more = model.ask(cases.smaller), model.ask(cases.larger)
        margins = (at_most(fewer.energy, more.energy), at_most(fewer.latency, more.latency))
        return least(margins, len(cases))
