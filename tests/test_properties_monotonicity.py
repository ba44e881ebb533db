"""The laws of growth and sign on tiny models, at the edges of their domains."""

from __future__ import annotations

import math

import pytest

from joulecheck.case import Case, WorkloadPair
from joulecheck.coefficient import Layer
from joulecheck.errors import NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.testing import Violated, assert_holds
from joulecheck.workload import Conv2d, Totals
from tiny import MAC, Tiny, gemm, holds, margin, margins


class TestNothingNegative:
    """MON001."""

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            (Estimate(energy=1.0), True),
            (Estimate(energy=0.0), True),
            (Estimate(energy=-1e-30), False),
            (Estimate(latency=-1.0), False),
            (Estimate(utilisation=-0.1), False),
            (Estimate(energy=1.0, energy_terms={"alu": 2.0, "saved": -1.0}), False),
            (Estimate(energy=1.0, energy_terms={"alu": 1.0, "rest": -1e-10}), True),
            (Estimate(latency=1.0, latency_terms={"hidden": -0.5}), False),
            (Estimate(energy=1.0, latency=-1e-9), False),
        ],
    )
    def test_looks_at_every_quantity(self, answer: Estimate, *, expected: bool) -> None:
        assert holds("MON001", lambda _: answer) is expected

    def test_is_relative_to_the_largest_of_a_kind(self) -> None:
        answer = Estimate(energy=4.0, energy_terms={"alu": 5.0, "saved": -1.0})

        assert margin("MON001", lambda _: answer) == pytest.approx(-0.2)

    def test_says_nothing_of_a_case_that_is_refused(self) -> None:
        def answer(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return Estimate(energy=1.0, energy_terms={"alu": 1.0})

        assert holds("MON001", answer, Case(gemm(m=2))) is None

    def test_says_nothing_of_a_case_in_a_batch_that_is_refused(self) -> None:
        def answer(case: Case) -> Estimate:
            if case.macs % 2 == 0:
                raise Unsupported
            return Estimate(energy=1.0, energy_terms={"alu": 1.0})

        found = margins("MON001", answer, [MAC, Case(gemm(m=2)), Case(gemm(m=3))])

        assert [math.isnan(m) for m in found] == [False, True, False]

    def test_applies_to_models_of_totals(self) -> None:
        def answer(case: Case) -> Estimate:
            return Estimate(energy=-1.0 if case.ops > 4 else 1.0)

        with pytest.raises(Violated) as caught:
            assert_holds("MON001", Tiny(answer, operators={"totals"}))

        assert caught.value.case == Case(Totals(ops=5, bytes=1))


def grown(smaller: Case, larger: Case) -> WorkloadPair:
    return WorkloadPair(smaller, larger, "0.m")


@pytest.mark.parametrize(("law", "quantity"), [("MON002", "energy"), ("MON003", "latency")])
class TestGrowsWithWork:
    """MON002 and MON003."""

    def test_allows_an_equal_cost(self, law: str, quantity: str) -> None:
        pair = grown(MAC, Case(gemm(m=2)))

        assert holds(law, lambda _: Estimate(**{quantity: 1.0}), pair)

    def test_is_violated_by_a_lower_cost(self, law: str, quantity: str) -> None:
        pair = grown(MAC, Case(gemm(m=2)))

        found = margin(law, lambda case: Estimate(**{quantity: 1 / case.ops}), pair)

        assert found == pytest.approx(-0.5)

    def test_allows_rounding(self, law: str, quantity: str) -> None:
        pair = grown(MAC, Case(gemm(m=2)))

        def falling(drop: float) -> bool | None:
            answer = lambda case: Estimate(**{quantity: 1 - drop * (case.macs > 1)})  # noqa: E731 - two of them
            return holds(law, answer, pair)

        assert falling(1e-10)
        assert falling(1e-8) is False

    def test_says_nothing_of_a_pair_that_does_not_grow(
        self, law: str, quantity: str
    ) -> None:
        answer = Estimate(**{quantity: 1.0})

        assert holds(law, lambda _: answer, WorkloadPair(MAC, MAC, "")) is None

    def test_says_nothing_where_the_larger_is_refused(
        self, law: str, quantity: str
    ) -> None:
        def answer(case: Case) -> Estimate:
            if case.macs > 1:
                raise Unsupported
            return Estimate(**{quantity: 1.0})

        assert holds(law, answer, grown(MAC, Case(gemm(m=2)))) is None

    def test_catches_a_mapper_of_perfect_factors(self, law: str, quantity: str) -> None:
        def perfect_factors(case: Case) -> Estimate:
            """Tiles of a power of two that divides M."""
            m = getattr(case.workload, "m", 1)
            tile = max(d for d in (1, 2, 4, 8) if m % d == 0)
            return Estimate(**{quantity: case.ops / tile})

        model = Tiny(perfect_factors, operators={"gemm"})

        with pytest.raises(Violated) as caught:
            assert_holds(law, model, max_examples=300)

        assert caught.value.case == grown(Case(gemm(m=3)), Case(gemm(m=4)))

    def test_never_grows_a_filter(self, law: str, quantity: str) -> None:
        """MACs fall from R = 4 to R = 7 where H is 7: no law relates them."""

        def macs(case: Case) -> Estimate:
            return Estimate(**{quantity: float(case.ops)})

        def conv(r: int) -> Case:
            return Case(Conv2d(n=1, c=1, h=7, w=7, k=1, r=r, s=1))

        assert conv(4).macs > conv(7).macs
        assert_holds(law, Tiny(macs, operators={"conv2d", "subgraph"}), max_examples=500)

    def test_is_not_asked_of_totals(self, law: str, quantity: str) -> None:
        model = Tiny(lambda _: Estimate(**{quantity: 1.0}), operators={"totals"})

        with pytest.raises(NotOffered, match="totals"):
            assert_holds(law, model)


class TestEnergyGrowsWithRepetition:
    """MON004."""

    TWICE = WorkloadPair(Case(gemm(m=3)), Case(gemm(m=3, batch=2)), "batch")

    def test_allows_an_equal_cost(self) -> None:
        assert holds("MON004", lambda _: Estimate(energy=1.0), self.TWICE)

    def test_is_violated_by_a_lower_cost(self) -> None:
        found = margin("MON004", lambda case: Estimate(energy=1 / case.ops), self.TWICE)

        assert found == pytest.approx(-0.5)

    def test_holds_where_one_row_more_costs_less(self) -> None:
        def whole_factors(case: Case) -> Estimate:
            awkward = case.ops % 4 > 0
            return Estimate(energy=1.5 if awkward else case.ops / 8)

        more = grown(Case(gemm(m=3)), Case(gemm(m=4)))
        twice = WorkloadPair(Case(gemm(m=12)), Case(gemm(m=12, batch=2)), "batch")

        assert holds("MON002", whole_factors, more) is False
        assert holds("MON004", whole_factors, self.TWICE)
        assert holds("MON004", whole_factors, twice)

    def test_says_nothing_of_a_case_that_is_refused(self) -> None:
        def answer(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return Estimate(energy=1.0)

        assert holds("MON004", answer, self.TWICE) is None

    def test_does_not_apply_to_models_of_totals(self) -> None:
        with pytest.raises(NotOffered, match="totals only"):
            assert_holds(
                "MON004", Tiny(lambda _: Estimate(energy=1.0), operators={"totals"})
            )


@pytest.mark.parametrize(
    ("law", "field"), [("MON005", "through"), ("MON006", "latency_through")]
)
class TestLayersNeverLower:
    """MON005 and MON006."""

    @pytest.mark.parametrize(
        ("prefixes", "expected"),
        [
            ({"ALU": 1.0, "REGISTER": 2.0, "DRAM": 3.0}, True),
            ({"ALU": 1.0, "REGISTER": 1.0, "DRAM": 1.0}, True),
            ({"ALU": 1.0, "REGISTER": 0.5, "DRAM": 3.0}, False),
            ({"DRAM": 3.0, "REGISTER": 2.0, "ALU": 1.0}, True),
            ({"ALU": 3.0, "CLUSTER": 2.0}, False),
            ({"ALU": 1.0, "DRAM": 1.0 - 1e-10}, True),
            ({"ALU": 1.0, "DRAM": 1.0 - 1e-8}, False),
            ({"DRAM": 1.0}, None),
        ],
    )
    def test_follows_the_order_of_the_layers(
        self, law: str, field: str, prefixes: dict[str, float], *, expected: bool | None
    ) -> None:
        through = {Layer[name]: value for name, value in prefixes.items()}
        answer = Estimate(**{field: through})

        assert holds(law, lambda _: answer) is expected

    def test_passes_over_a_layer_that_a_case_does_not_predict(
        self, law: str, field: str
    ) -> None:
        def answer(case: Case) -> Estimate:
            middle = {Layer.REGISTER: 9.0} if case != MAC else {}
            return Estimate(**{field: {Layer.ALU: 3.0, **middle, Layer.DRAM: 2.0}})

        found = margins(law, answer, [Case(gemm(m=2)), MAC])

        assert [value < 0 for value in found] == [True, True]
        assert found[1] == pytest.approx(-1 / 3)


@pytest.mark.parametrize(("law", "grown"), [("MON007", "ops"), ("MON008", "bytes")])
class TestMoreTotals:
    """MON007 and MON008."""

    def pair(self, grown: str) -> WorkloadPair:
        smaller = {"ops": 5, "bytes": 5}
        larger = {**smaller, grown: 6}
        return WorkloadPair(Case(Totals(**smaller)), Case(Totals(**larger)), grown)

    @pytest.mark.parametrize(
        ("quantity", "step", "expected"),
        [
            ("energy", 1.0, True),
            ("energy", 0.0, True),
            ("energy", -1.0, False),
            ("latency", 1.0, True),
            ("latency", -1.0, False),
        ],
    )
    def test_grows_in_energy_and_latency(
        self, law: str, grown: str, quantity: str, step: float, *, expected: bool
    ) -> None:
        def answer(case: Case) -> Estimate:
            return Estimate(**{quantity: 10 + step * getattr(case, grown)})

        assert holds(law, answer, self.pair(grown), operators={"totals"}) is expected

    def test_says_nothing_of_the_other_number(self, law: str, grown: str) -> None:
        other = "bytes" if grown == "ops" else "ops"

        def answer(case: Case) -> Estimate:
            return Estimate(energy=10 - getattr(case, other))

        assert holds(law, answer, self.pair(grown), operators={"totals"})

    def test_is_for_models_of_totals(self, law: str, grown: str) -> None:
        del grown
        with pytest.raises(NotOffered, match="does not answer for totals"):
            assert_holds(law, Tiny(lambda _: Estimate(energy=1.0)))
