"""MON008."""

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


class MoreBytesSameOps(Property):
    """More bytes for the same operations never cost less energy or time.

    Statement:
        E(o, b) <= E(o, b') and T(o, b) <= T(o, b') for totals with b <= b' bytes.

    Rationale:
        A machine can always leave the added bytes where they are.

    Domain:
        Models that answer for totals.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The roofline: Williams, Waterman and Patterson, CACM 52(4), 2009.

    Planted bug:
        bytes-in-a-word: bytes are counted in 16 bits.

    Shrinks to:
        One operation on one byte, and on 2^16.

    Stays because:
        The bounds find the same where the fall is deep, as that of the planted bug. Of
        totals, a fall that stays above them shows by this law alone.
    """

    id: ClassVar = "MON008"
    name: ClassVar = "more-bytes-same-ops"
    needs: ClassVar = frozenset()
    planted: ClassVar = Planted(
        fault="bytes-in-a-word",
        model="joulecheck.reference.roofline:ROOFLINES:Intel-i7-12700K",
        shrinks_to=WorkloadPair(
            smaller=Case(Totals(ops=1, bytes=1)),
            larger=Case(Totals(ops=1, bytes=1 << 16)),
            grown="bytes",
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Totals, and the same with more bytes."""
        return totals_growths(model, "bytes")

    def margin(self, model: Subject, cases: WorkloadPairs) -> Floats:
        """The lesser of the margins of energy and latency."""
        fewer, more = model.ask(cases.smaller), model.ask(cases.larger)
        margins = (at_most(fewer.energy, more.energy), at_most(fewer.latency, more.latency))
        return least(margins, len(cases))
