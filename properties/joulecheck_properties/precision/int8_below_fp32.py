"""PRC002."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from joulecheck.case import Case, PrecisionPair, PrecisionPairs
from joulecheck.model import Offer, Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Floats
from joulecheck_properties.margins import ROUNDING, at_most
from joulecheck_strategies import precision_pairs

PAIR: Final = (Precision.INT8, Precision.FP32)


class Int8BelowFp32(Property):
    """INT8 costs strictly less energy than FP32 at an equal operation count.

    Statement:
        E(w, INT8) < E(w, FP32) for every workload w with at least one operation.

    Rationale:
        A quarter of the bytes and less than a tenth of the switched gates. Equality
        means that precision does not reach the model's energy.

    Domain:
        Machines that support both, workloads with operations.

    Tolerance:
        Strictness is 1e-9: the difference must be above rounding.

    Source:
        Horowitz, Computing's Energy Problem, ISSCC 2014: multiply and add 0.23 pJ in
        INT8, 4.6 pJ in FP32.

    Planted bug:
        int8-as-fp32: INT8 is looked up as FP32.

    Shrinks to:
        The GEMM of one MAC.

    Stays because:
        PRC001 orders formats of one kind alone. INT8 against FP32 is an order between
        kinds, and this law the one that states it.
    """

    id: ClassVar = "PRC002"
    name: ClassVar = "int8-below-fp32"
    needs: ClassVar = frozenset({Offer.ENERGY})
    planted: ClassVar = Planted(
        fault="int8-as-fp32",
        model="reference:Intel-i7-12700K",
        shrinks_to=PrecisionPair(
            narrower=Case(Gemm(m=1, n=1, k=1), Precision.INT8),
            wider=Case(Gemm(m=1, n=1, k=1), Precision.FP32),
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Workloads at INT8 and at FP32."""
        return precision_pairs(model, pairs=(PAIR,))

    def margin(self, model: Subject, cases: PrecisionPairs) -> Floats:
        """How far INT8 stays below FP32, beyond rounding."""
        narrower, wider = model.ask(cases.narrower), model.ask(cases.wider)
        below = at_most(narrower.energy, wider.energy, tolerance=-ROUNDING)
        return np.where(cases.wider.ops > 0, below, np.nan)
