"""SYM001."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from joulecheck.case import Case, EquivalentPair, EquivalentPairs
from joulecheck.model import Subject
from joulecheck.property import Planted, Property
from joulecheck.space import CaseSpace
from joulecheck.workload import Conv2d, Gemm
from joulecheck.workload.columns import Floats
from joulecheck_properties.differences import agreement
from joulecheck_properties.margins import ROUNDING
from joulecheck_strategies import PointwiseAsGemm, respellings


class PointwiseConvolutionIsGemm(Property):
    """A pointwise convolution is a GEMM.

    Statement:
        e(Conv2d(N, C, H, W, K, R = S = 1)) = e(Gemm(M = N H W, N = K, K = C)) for the
        energy, the latency, the utilisation and every term.

    Rationale:
        With one tap, stride 1 and no padding every position of every image is a row of a
        matrix, and each element is read by one position. Two code paths count one thing;
        they differ where one copies patches that are no copies, or forgets the images.

    Domain:
        Models that answer for both. Filters of 1 x 1, stride 1, no padding, dilation 1, one
        group. A mapper that splits N, H and W apart by whole factors may find less than it
        finds for their product, and may declare an exemption.

    Tolerance:
        1e-9, for sums in another order.

    Source:
        The definition of both operators: the same MACs on the same elements.

    Planted bug:
        copied-patches: a convolution copies its input into patches, register by register.

    Shrinks to:
        The convolution of one MAC, beside the GEMM of one MAC.
    """

    id: ClassVar = "SYM001"
    name: ClassVar = "pointwise-convolution-is-gemm"
    needs: ClassVar = frozenset(())
    planted: ClassVar = Planted(
        fault="copied-patches",
        model="reference:Intel-i7-12700K",
        shrinks_to=EquivalentPair(
            one=Case(Conv2d(n=1, c=1, h=1, w=1, k=1, r=1, s=1)),
            other=Case(Gemm(m=1, n=1, k=1)),
            how=PointwiseAsGemm.how,
        ),
    )

    def space(self, model: Subject) -> CaseSpace:
        """Pointwise convolutions, each beside its GEMM."""
        return respellings(model, PointwiseAsGemm())

    def margin(self, model: Subject, cases: EquivalentPairs) -> Floats:
        """The least margin of equality over all quantities."""
        one, other = model.ask(cases.one), model.ask(cases.other)
        return np.where(cases.differ, agreement(one, other, ROUNDING), np.nan)
