"""PRC001."""

from __future__ import annotations

from typing import ClassVar

from joulecheck.case import Case, PrecisionPair, PrecisionPairs
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import at_most
from joulecheck_strategies import precision_pairs


class NarrowerCostsNoMore(Property):
    """A narrower precision costs no more energy.

    Statement:
        E(w, p) <= E(w, p') for p below p' in the partial order FP64 > FP32 > TF32 >
        {BF16, FP16} > FP8 and INT32 > INT16 > INT8 > INT4.

    Rationale:
        Narrower operands move fewer bytes and switch fewer gates. A precision that is
        missing from a table and falls back to FP32, or a scaling applied upside down,
        breaks it.

    Domain:
        Pairs of precisions that the machine supports and the order relates. Floating
        point against integer, and FP16 against BF16, are not ordered.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        Horowitz, Computing's Energy Problem, ISSCC 2014: energy of an operation and of
        a memory access by width.

    Planted bug:
        dear-int8: INT8 costs eight times what it should, as if it were emulated.

    Shrinks to:
        The GEMM of one MAC, INT8 against INT16.
    """

    id: ClassVar = "PRC001"
    name: ClassVar = "narrower-costs-no-more"
    needs: ClassVar = frozenset({Offer.ENERGY})
    planted: ClassVar = Planted(
        fault="dear-int8",
        model="reference:Google-TPU-v1",
        shrinks_to=PrecisionPair(
            narrower=Case(Gemm(m=1, n=1, k=1), Precision.INT8),
            wider=Case(Gemm(m=1, n=1, k=1), Precision.INT16),
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads at two ordered precisions."""
        return precision_pairs(model)

    def margin(self, model: Subject, cases: PrecisionPairs) -> Floats:
        """How far the narrower stays below the wider."""
        narrower, wider = model.ask(cases.narrower), model.ask(cases.wider)
        return at_most(narrower.energy, wider.energy)
