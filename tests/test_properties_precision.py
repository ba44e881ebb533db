"""The laws of precision on tiny models, at the edges of their domains."""

from __future__ import annotations

import pytest

from joulecheck.case import Case, PrecisionPair
from joulecheck.errors import NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.model import Subject
from joulecheck.property import property_named
from joulecheck.testing import Violated, assert_holds
from joulecheck.workload import Precision
from tiny import Tiny, at, holds, margin

P = Precision


def pair(narrower: Precision, wider: Precision) -> PrecisionPair:
    return PrecisionPair(at(narrower), at(wider))


def costing(**joules: float) -> Tiny:
    """A model with a price for each precision that it has."""

    def answer(case: Case) -> Estimate:
        return Estimate(energy=joules[case.precision.name] * case.ops)

    return Tiny(answer, precisions=[Precision[name] for name in joules])


class TestNarrowerCostsNoMore:
    """PRC001."""

    def test_allows_an_equal_cost(self) -> None:
        model = costing(FP32=1.0, FP16=1.0)

        assert holds("PRC001", model.answer, pair(P.FP16, P.FP32))

    def test_is_violated_by_a_dearer_one(self) -> None:
        model = costing(FP32=1.0, FP16=4.0)

        found = margin("PRC001", model.answer, pair(P.FP16, P.FP32))

        assert found == pytest.approx(-0.75)

    @pytest.mark.parametrize(("extra", "expected"), [(1e-10, True), (1e-8, False)])
    def test_allows_rounding(self, extra: float, *, expected: bool) -> None:
        model = costing(FP32=1.0, INT8=1.0, FP16=1.0 + extra)

        assert holds("PRC001", model.answer, pair(P.FP16, P.FP32)) is expected

    def test_orders_no_float_against_an_integer(self) -> None:
        """INT8 dearer than FP16 is no matter of this law."""
        with pytest.raises(NotOffered, match="PRC001"):
            assert_holds("PRC001", costing(INT8=9.0, FP16=1.0, BF16=2.0))

    def test_compares_every_ordered_pair_of_the_model(self) -> None:
        model = Subject.of(costing(FP32=4.0, FP16=2.0, BF16=2.0, INT8=1.0, INT4=0.5))
        space = property_named("PRC001").space(model)

        assert set(space.pairs) == {
            (P.FP16, P.FP32),
            (P.BF16, P.FP32),
            (P.INT4, P.INT8),
        }

    def test_finds_a_fallback_to_fp32(self) -> None:
        with pytest.raises(Violated) as caught:
            assert_holds("PRC001", costing(INT32=3.0, INT16=1.0, INT8=3.0))

        assert caught.value.case == pair(P.INT8, P.INT16)

    def test_says_nothing_where_one_is_refused(self) -> None:
        def answer(case: Case) -> Estimate:
            if case.precision is P.INT8:
                raise Unsupported
            return Estimate(energy=1.0)

        assert holds("PRC001", answer, pair(P.INT8, P.INT16)) is None


class TestInt8BelowFp32:
    """PRC002."""

    @pytest.mark.parametrize(
        ("int8", "fp32", "expected"),
        [
            (1.0, 4.0, True),
            (1.0, 1.0, False),
            (1.0 - 1e-10, 1.0, False),
            (1.0 - 1e-8, 1.0, True),
            (2.0, 1.0, False),
            (0.0, 1.0, True),
            (0.0, 0.0, False),
        ],
    )
    def test_is_strict(self, int8: float, fp32: float, *, expected: bool) -> None:
        model = costing(INT8=int8, FP32=fp32)

        assert holds("PRC002", model.answer, pair(P.INT8, P.FP32)) is expected

    def test_needs_both_precisions(self) -> None:
        with pytest.raises(NotOffered, match="PRC002"):
            assert_holds("PRC002", costing(INT8=1.0, BF16=2.0, INT16=2.0))

    def test_is_not_asked_of_totals(self) -> None:
        model = Tiny(lambda case: Estimate(energy=case.ops), operators={"totals"})

        with pytest.raises(NotOffered, match="totals"):
            assert_holds("PRC002", model)
