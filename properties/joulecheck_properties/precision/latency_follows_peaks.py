"""PRC005."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, PrecisionPair, PrecisionPairs
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most
from joulecheck_strategies import ORDERED_PAIRS, precision_pairs


class LatencyFollowsPeaks(Property):
    """A narrower precision whose peak is no lower takes no longer.

    Statement:
        T(w, p) <= T(w, p') for p below p' in the partial order with peak(p) >= peak(p').
        That it gains no more than its peak allows is BND001 at p.

    Rationale:
        The machine can widen the operands as it loads them, compute as for p', and has
        fewer bytes to wait for. A peak that is missing from a table, or an emulation
        that the peak does not know of, breaks it.

    Domain:
        Pairs of precisions that the machine's own peaks order: INT8 on a V100 is slower
        than its FP16, and not compared with it. A machine that cannot widen, because its
        narrow formats run on engines only that waste small shapes, declares an
        exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Inclusion of schedules: the schedule at p', with operands widened in registers,
        is one at p.

    Planted bug:
        dear-int8: INT8 takes eight times as long as it should, as if it were emulated.

    Shrinks to:
        The GEMM of one MAC, INT8 against INT16.

    Stays because:
        CMP009 finds the same where a model tells a utilisation. This law needs peaks and
        latencies alone.
    """

    id: ClassVar = "PRC005"
    name: ClassVar = "latency-follows-peaks"
    needs: ClassVar = frozenset({Offer.LATENCY, Offer.PEAK})
    planted: ClassVar = Planted(
        fault="dear-int8",
        model="reference:Google-TPU-v1",
        shrinks_to=PrecisionPair(
            narrower=Case(Gemm(m=1, n=1, k=1), Precision.INT8),
            wider=Case(Gemm(m=1, n=1, k=1), Precision.INT16),
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads at two precisions that the order and the peaks relate."""
        peak = model.machine.peak
        pairs = [
            (narrower, wider)
            for narrower, wider in ORDERED_PAIRS
            if narrower in peak and wider in peak and peak[narrower] >= peak[wider]
        ]
        return precision_pairs(model, pairs=pairs)

    def margin(self, model: Subject, cases: PrecisionPairs) -> Floats:
        """How far the narrower stays below the wider."""
        narrower, wider = model.ask(cases.narrower), model.ask(cases.wider)
        return at_most(narrower.latency, wider.latency)
