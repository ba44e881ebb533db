"""The laws of precision on tiny models, at the edges of their domains."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from joulecheck.case import Case, Cases, PrecisionPair
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.errors import NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine, Memory
from joulecheck.model import Subject
from joulecheck.property import property_named
from joulecheck.testing import Violated, assert_holds
from joulecheck.workload import Elementwise, Function, Precision, Subgraph, Workload
from tiny import Tiny, TinyInBatches, at, gemm, holds, margin

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


def prices(**joules: float) -> dict[str, Coefficient]:
    """Prices by name, in J/MAC or J/op by their first word, of the term `alu`."""
    units = {"mac": "J/MAC", "op": "J/op", "dram": "J/B"}
    return {
        name: Coefficient(name.replace("_", "."), value, units[name.split("_")[0]], {"alu"})
        for name, value in joules.items()
    }


def named(coefficients: dict[str, Coefficient]) -> dict[str, Coefficient]:
    return {one.name: one for one in coefficients.values()}


class TestAluEnergyStrict:
    """PRC003."""

    RELU = Elementwise(Function.RELU, (1,))
    BOTH = Subgraph.chain(gemm(), RELU)

    def holds(
        self, narrow: float, wide: float, workload: Workload | None = None, **prices_: float
    ) -> bool | None:
        def answer(case: Case) -> Estimate:
            alu = narrow if case.precision is P.INT8 else wide
            return Estimate(energy=9.0, energy_terms={"alu": alu, "dram": 5.0})

        stated = prices_ or {"mac_INT8": 1.0, "mac_INT16": 2.0}
        case = PrecisionPair(at(P.INT8, workload), at(P.INT16, workload))
        return holds(
            "PRC003",
            answer,
            case,
            precisions=(P.INT8, P.INT16),
            layers={"alu": Layer.ALU, "dram": Layer.DRAM},
            coefficients=named(prices(**stated)),
        )

    @pytest.mark.parametrize(
        ("narrow", "wide", "expected"),
        [(1.0, 2.0, True), (2.0, 2.0, False), (3.0, 2.0, False), (2.0 - 1e-10, 2.0, False)],
    )
    def test_is_strict(self, narrow: float, wide: float, *, expected: bool) -> None:
        assert self.holds(narrow, wide) is expected

    def test_says_nothing_where_the_prices_are_equal(self) -> None:
        """As on a machine that computes FP8 as BF16."""
        stated = {"mac_INT8": 2.0, "mac_INT16": 2.0, "op_INT8": 1.0, "op_INT16": 2.0}

        assert self.holds(9.0, 2.0, **stated) is None
        assert self.holds(9.0, 2.0, self.RELU, **stated) is False
        assert self.holds(9.0, 2.0, self.BOTH, **stated) is None

    def test_takes_a_mac_for_two_operations_where_it_has_no_price(self) -> None:
        assert self.holds(9.0, 2.0, op_INT8=1.0, op_INT16=2.0) is False

    def test_needs_prices_by_precision(self) -> None:
        model = Tiny(
            lambda _: Estimate(energy=1.0, energy_terms={"alu": 1.0}),
            precisions=(P.INT8, P.INT16),
            layers={"alu": Layer.ALU},
            coefficients=named(prices(mac=1.0)),
        )

        with pytest.raises(NotOffered, match="the law compares no two"):
            assert_holds("PRC003", model)


class TestTrafficFollowsWidth:
    """PRC004."""

    LARGE = gemm(m=512, n=512, k=512)
    """Three matrices of 256 KiB in INT8."""
    CHIP = Machine(
        name="tiny", memories={"dram": Memory(homes={"input", "weight", "output"})}
    )

    def holds(
        self,
        narrow: float,
        wide: float,
        workload: Workload = LARGE,
        smooth: tuple[str, ...] = (),
    ) -> bool | None:
        """Of INT8 against INT16, in units of the compulsory bytes of each."""

        def answer(case: Case) -> Estimate:
            passes = narrow if case.precision is P.INT8 else wide
            return Estimate(traffic={"dram": passes * case.bytes})

        case = PrecisionPair(at(P.INT8, workload), at(P.INT16, workload))
        return holds(
            "PRC004",
            answer,
            case,
            precisions=(P.INT8, P.INT16),
            machine=self.CHIP,
            smooth=smooth,
        )

    @pytest.mark.parametrize(
        ("narrow", "wide", "expected"),
        [
            (1.0, 1.0, True),
            (1.009, 1.0, True),
            (1.02, 1.0, False),  # compulsory at 16 bits, so at 8 as well
            (2.0, 1.0, False),  # the width does not reach the traffic
            (3.0, 2.0, True),  # sums that are as wide may weigh more
            (4.1, 2.0, False),  # more bytes of half the width
        ],
    )
    def test_is_proportional_where_it_is_compulsory(
        self, narrow: float, wide: float, *, expected: bool
    ) -> None:
        assert self.holds(narrow, wide) is expected

    def test_allows_a_last_line_for_small_tensors(self) -> None:
        assert self.holds(1.5, 1.0, gemm(m=100, n=100, k=100))
        assert self.holds(2.1, 1.0, gemm(m=100, n=100, k=100)) is False

    @pytest.mark.parametrize(("wide", "expected"), [(2.0, True), (2.1, False)])
    def test_falls_no_faster_than_the_square_where_it_is_smooth(
        self, wide: float, *, expected: bool
    ) -> None:
        """Half the width halves the bytes, and the passes at most."""
        assert self.holds(1.0, wide, smooth=("dram",)) is expected
        assert self.holds(1.0, wide)

    def test_knows_no_square_of_a_graph(self) -> None:
        """Where an intermediate just fits, it falls by any factor."""
        chain = Subgraph.chain(self.LARGE, self.LARGE)

        assert self.holds(1.0, 9.0, chain, smooth=("dram",))

    def test_needs_a_home(self) -> None:
        answer = Estimate(traffic={"l1": 1.0})
        chip = Machine(name="tiny", memories={"l1": Memory()})

        with pytest.raises(NotOffered, match="traffic of no memory with homes"):
            assert_holds("PRC004", Tiny(lambda _: answer, machine=chip))


class TestLatencyFollowsPeaks:
    """PRC005."""

    def holds(self, narrow: float, wide: float, case: PrecisionPair) -> bool | None:
        def answer(case: Case) -> Estimate:
            return Estimate(latency=narrow if case.precision.bits == 8 else wide)

        chip = Machine(name="tiny", peak={P.INT8: 2.0, P.INT16: 1.0})
        return holds("PRC005", answer, case, machine=chip, precisions=(P.INT8, P.INT16))

    @pytest.mark.parametrize(
        ("narrow", "expected"), [(1.0, True), (2.0, True), (2.1, False)]
    )
    def test_a_narrower_format_is_no_slower(self, narrow: float, *, expected: bool) -> None:
        assert self.holds(narrow, 2.0, pair(P.INT8, P.INT16)) is expected

    def test_compares_those_with_no_lower_peak(self) -> None:
        peak = {P.FP32: 2.0, P.FP16: 1.0, P.INT16: 1.0, P.INT8: 1.0, P.INT32: 1.5}
        model = Tiny(
            lambda _: Estimate(latency=1.0),
            machine=Machine(name="tiny", peak=peak),
            precisions=(*peak, P.FP64),
        )
        space = property_named("PRC005").space(Subject.of(model))

        assert set(space.pairs) == {(P.INT8, P.INT16)}


class TestUnsupportedPrecisionRaises:
    """PRC006."""

    FOREIGN = at(P.FP64)

    def refusing(self, error: type[Exception]) -> Callable[[Case], Estimate]:
        def answer(case: Case) -> Estimate:
            if case.precision is P.FP64:
                raise error
            return Estimate(energy=1.0)

        return answer

    def test_holds_where_it_is_refused(self) -> None:
        assert holds("PRC006", self.refusing(Unsupported), self.FOREIGN)

    def test_is_violated_by_an_answer(self) -> None:
        answer = Estimate(energy=1.0)

        assert holds("PRC006", lambda _: answer, self.FOREIGN) is False

    def test_is_violated_by_another_error(self) -> None:
        assert holds("PRC006", self.refusing(KeyError), self.FOREIGN) is False

    @pytest.mark.parametrize(("number", "expected"), [(math.nan, True), (1.0, False)])
    def test_looks_at_the_batch_as_well(self, number: float, *, expected: bool) -> None:
        def together(cases: Cases) -> Estimate:
            return Estimate(energy=np.full(len(cases), number))

        model = TinyInBatches(self.refusing(Unsupported), together)
        law, batch = property_named("PRC006"), Cases.of([self.FOREIGN])

        assert (law.checked_margin(Subject.of(model), batch).item() > 0) is expected

    def test_asks_for_what_is_not_declared(self) -> None:
        with pytest.raises(Violated) as caught:
            assert_holds("PRC006", costing(FP32=1.0, INT8=1.0, FP16=1.0))

        assert caught.value.case.precision not in {P.FP32, P.INT8, P.FP16}

    def test_asks_nothing_of_a_model_of_every_precision(self) -> None:
        with pytest.raises(NotOffered, match="supports every precision"):
            assert_holds("PRC006", costing(**{p.name: 1.0 for p in P}))
