"""The laws that hold numbers to their definitions, on tiny models."""

from __future__ import annotations

import pytest

from joulecheck.case import Case
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.errors import NotOffered
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine, Memory, Resources
from joulecheck.resolve import ModelRef
from joulecheck.testing import applicable, assert_holds, assert_holds_for
from joulecheck.workload import Conv2d, Elementwise, Function, Node, Precision, Subgraph
from tiny import MAC, Tiny, at, gemm, holds

RELU = Case(Elementwise(Function.RELU, (5,)))

ALU = {"alu": Layer.ALU}
LEAK = {"leak": Layer.STATIC}


def priced(unit: str, value: float, name: str, *terms: str) -> Coefficient:
    return Coefficient(name, value, unit, terms or None)


def declared(*prices: Coefficient) -> dict[str, Coefficient]:
    return {price.name: price for price in prices}


MAC_PRICE = priced("J/MAC", 3.0, "mac", "alu")
OP_PRICE = priced("J/op", 1.0, "op", "alu")


class TestAluEnergyWithinOpEnergies:
    """BND013."""

    def holds(self, joule: float, *prices: Coefficient, case: Case = MAC) -> bool | None:
        answer = Estimate(energy=joule, energy_terms={"alu": joule, "l1": 100.0})
        return holds(
            "BND013",
            lambda _: answer,
            case,
            layers={**ALU, "l1": Layer.SCRATCHPAD},
            coefficients=declared(*prices),
        )

    @pytest.mark.parametrize(
        ("joule", "expected"), [(3.0, True), (2.9, False), (3.1, False)]
    )
    def test_is_exact_where_there_is_one_price(
        self, joule: float, *, expected: bool
    ) -> None:
        assert self.holds(joule, MAC_PRICE) is expected

    @pytest.mark.parametrize(
        ("joule", "expected"), [(1.0, True), (2.0, True), (3.1, False)]
    )
    def test_lies_between_several_prices(self, joule: float, *, expected: bool) -> None:
        idle = priced("J/MAC", 1.0, "idle lane", "alu")

        assert self.holds(joule, MAC_PRICE, idle) is expected

    def test_counts_a_mac_as_two_operations(self) -> None:
        assert self.holds(2.0, OP_PRICE)
        assert self.holds(4.0, OP_PRICE) is False

    def test_counts_other_operations(self) -> None:
        assert self.holds(5.0, MAC_PRICE, OP_PRICE, case=RELU)
        assert self.holds(10.0, MAC_PRICE, OP_PRICE, case=RELU) is False

    def test_says_nothing_of_operations_without_a_price(self) -> None:
        assert self.holds(1.0, MAC_PRICE, case=RELU) is None

    def test_takes_the_price_of_the_precision(self) -> None:
        prices = [
            priced("J/MAC", 1.0, "mac.INT8", "alu"),
            priced("J/MAC", 4.0, "mac.FP32", "alu"),
        ]

        assert self.holds(4.0, *prices)
        assert self.holds(4.0, *prices, case=at(Precision.INT8)) is False

    @pytest.mark.parametrize(
        "other",
        [
            priced("J", 1.0, "wake-up", "alu"),
            priced("W", 1.0, "clock tree", "alu"),
            priced("J", 1.0, "anything"),
        ],
    )
    def test_needs_an_alu_that_operations_alone_move(self, other: Coefficient) -> None:
        with pytest.raises(NotOffered, match="coefficients in J/MAC or J/op alone"):
            assert_holds(
                "BND013",
                Tiny(
                    lambda _: Estimate(energy_terms={"alu": 1.0}),
                    layers=ALU,
                    coefficients=declared(MAC_PRICE, other),
                ),
            )

    def test_is_not_for_a_cluster_whose_shares_are_padded(self) -> None:
        one, eight = (ModelRef(f"reference:Google-TPU-v4@{n}xN").load() for n in (1, 8))

        assert "BND013" in applicable(one)
        assert "BND013" not in applicable(eight)


class TestMemoryEnergyWithinTrafficPrices:
    """BND014."""

    MACHINE = Machine(name="tiny", memories={"dram": Memory(), "l1": Memory()})

    def holds(self, joule: float, *prices: Coefficient, told: str = "dram") -> bool | None:
        answer = Estimate(energy=joule, energy_terms={"dram": joule}, traffic={told: 10.0})
        return holds(
            "BND014",
            lambda _: answer,
            machine=self.MACHINE,
            coefficients=declared(*prices),
        )

    @pytest.mark.parametrize(
        ("joule", "expected"), [(20.0, True), (19.0, False), (21.0, False)]
    )
    def test_is_exact_where_there_is_one_price(
        self, joule: float, *, expected: bool
    ) -> None:
        assert self.holds(joule, priced("J/B", 2.0, "byte", "dram")) is expected

    @pytest.mark.parametrize(
        ("joule", "expected"), [(20.0, True), (45.0, True), (51.0, False)]
    )
    def test_lies_between_reading_and_writing(
        self, joule: float, *, expected: bool
    ) -> None:
        read, write = (priced("J/B", v, f"{v}", "dram") for v in (2.0, 5.0))

        assert self.holds(joule, read, write) is expected

    @pytest.mark.parametrize(
        ("other", "told"),
        [
            (priced("J", 1.0, "activation", "dram"), "dram"),
            (priced("J", 1.0, "anything"), "dram"),
            (priced("J/B", 1.0, "byte of l1", "l1"), "l1"),
        ],
    )
    def test_needs_a_memory_that_bytes_alone_move(
        self, other: Coefficient, told: str
    ) -> None:
        prices = {"byte": priced("J/B", 2.0, "byte", "dram"), "other": other}
        answer = Estimate(energy_terms={"dram": 1.0}, traffic={told: 1.0})
        model = Tiny(lambda _: answer, machine=self.MACHINE, coefficients=prices)

        if told == "l1":
            assert holds("BND014", lambda _: answer, machine=self.MACHINE,
                         coefficients=prices) is None  # fmt: skip
            return
        with pytest.raises(NotOffered, match="coefficients in J/B alone move"):
            assert_holds("BND014", model)


class TestStaticEnergyWithinStaticPower:
    """BND015."""

    def holds(self, joule: float) -> bool | None:
        answer = Estimate(latency=2.0, energy_terms={"alu": 100.0, "leak": joule})
        return holds(
            "BND015",
            lambda _: answer,
            layers={**ALU, **LEAK},
            coefficients=declared(priced("W", 3.0, "static", "leak"), MAC_PRICE),
        )

    @pytest.mark.parametrize(
        ("joule", "expected"), [(6.0, True), (1.0, True), (6.1, False)]
    )
    def test_leaks_no_longer_than_the_work_takes(
        self, joule: float, *, expected: bool
    ) -> None:
        assert self.holds(joule) is expected

    def test_needs_leakage_that_power_alone_moves(self) -> None:
        answer = Estimate(latency=1.0, energy_terms={"leak": 1.0})
        prices = declared(priced("J", 3.0, "retention", "leak"))

        with pytest.raises(NotOffered, match="coefficients in W alone move"):
            assert_holds("BND015", Tiny(lambda _: answer, layers=LEAK, coefficients=prices))


class TestMemoryTimeAboveTraffic:
    """BND016."""

    def holds(self, seconds: float, traffic: float, *homes: str) -> bool | None:
        answer = Estimate(latency_terms={"dram": seconds}, traffic={"dram": traffic})
        chip = Machine(name="tiny", memories={"dram": Memory(bandwidth=2.0, homes=homes)})
        return holds("BND016", lambda _: answer, machine=chip)

    @pytest.mark.parametrize(("seconds", "expected"), [(5.0, True), (4.9, False)])
    def test_takes_the_bytes_that_are_told(self, seconds: float, *, expected: bool) -> None:
        assert self.holds(seconds, 10.0) is expected

    @pytest.mark.parametrize(("seconds", "expected"), [(4.0, True), (3.9, False)])
    def test_takes_no_fewer_than_the_compulsory_ones(
        self, seconds: float, *, expected: bool
    ) -> None:
        """One MAC in FP32 reads eight bytes."""
        assert self.holds(seconds, 1.0, "input", "weight") is expected

    @pytest.mark.parametrize(("seconds", "expected"), [(5.0, True), (4.9, False)])
    def test_takes_the_bytes_that_its_prices_are_charged_for(
        self, seconds: float, *, expected: bool
    ) -> None:
        answer = Estimate(
            latency_terms={"dram": seconds}, events={"byte": 10.0, "hop": 99.0}
        )
        chip = Machine(name="tiny", memories={"dram": Memory(bandwidth=2.0)})
        prices = declared(
            priced("J/B", 1.0, "byte", "dram"), priced("J/B", 1.0, "hop", "dram", "noc")
        )

        found = holds("BND016", lambda _: answer, machine=chip, coefficients=prices)

        assert found is expected

    @pytest.mark.parametrize(("seconds", "expected"), [(5.0, True), (4.9, False)])
    def test_takes_the_term_that_a_memory_declares(
        self, seconds: float, *, expected: bool
    ) -> None:
        answer = Estimate(latency_terms={"loading": seconds}, traffic={"rom": 10.0})
        chip = Machine(name="tiny", memories={"rom": Memory(bandwidth=2.0, term="loading")})
        layers = {"loading": Layer.ON_CHIP}

        found = holds("BND016", lambda _: answer, machine=chip, latency_layers=layers)

        assert found is expected

    def test_says_nothing_of_a_memory_without_a_term(self) -> None:
        answer = Estimate(latency_terms={"compute": 0.0}, traffic={"dram": 10.0})
        chip = Machine(name="tiny", memories={"dram": Memory(bandwidth=2.0)})

        assert holds("BND016", lambda _: answer, machine=chip) is None

    def test_needs_a_bandwidth(self) -> None:
        answer = Estimate(latency_terms={"dram": 1.0}, traffic={"dram": 10.0})
        chip = Machine(name="tiny", memories={"dram": Memory()})

        with pytest.raises(NotOffered, match="no memory with a latency term"):
            assert_holds("BND016", Tiny(lambda _: answer, machine=chip))

    def test_needs_a_term_of_the_name_if_the_terms_are_declared(self) -> None:
        answer = Estimate(latency_terms={"memory": 1.0}, traffic={"dram": 10.0})
        chip = Machine(name="tiny", memories={"dram": Memory(bandwidth=2.0)})
        model = Tiny(lambda _: answer, machine=chip, latency_layers={"memory": Layer.DRAM})

        assert "BND016" not in applicable(model)

    def test_holds_for_a_gpu_whose_stride_skips_inputs(self) -> None:
        conv = Conv2d(n=1, c=11, h=29, w=491, k=1, r=1, s=1, stride=2)

        assert_holds_for("BND016", "reference:H100-SXM5-80GB", Case(conv))


class TestLaunchAsDeclared:
    """BND017."""

    PAIR = Case(Subgraph([Node(RELU.workload), Node(RELU.workload, (0,))]))

    def chip(self, **delays: float) -> Machine:
        resources = Resources(shape={}, rates={}, capacities={}, delays=delays)
        return Machine(name="tiny", resources=resources)

    def holds(self, seconds: float, case: Case = MAC) -> bool | None:
        answer = Estimate(latency_terms={"launch": seconds})
        return holds("BND017", lambda _: answer, case, machine=self.chip(launch=2.0))

    @pytest.mark.parametrize(
        ("seconds", "expected"), [(2.0, True), (1.9, False), (2.1, False)]
    )
    def test_one_operator_starts_once(self, seconds: float, *, expected: bool) -> None:
        assert self.holds(seconds) is expected

    @pytest.mark.parametrize(
        ("seconds", "expected"), [(2.0, True), (4.0, True), (1.9, False), (4.1, False)]
    )
    def test_a_graph_starts_once_or_each_operator(
        self, seconds: float, *, expected: bool
    ) -> None:
        assert self.holds(seconds, self.PAIR) is expected

    def test_needs_a_term_of_the_name_of_a_delay(self) -> None:
        answer = Estimate(latency_terms={"start": 1.0})
        layers = {"start": Layer.REGISTER}

        with pytest.raises(NotOffered, match="no delay that is a latency term"):
            assert_holds(
                "BND017",
                Tiny(
                    lambda _: answer, machine=self.chip(launch=2.0), latency_layers=layers
                ),
            )


class TestUtilisationIsAchievedOverPeak:
    """CMP009."""

    CHIP = Machine(name="tiny", peak={Precision.FP32: 8.0})

    def holds(self, utilisation: float, case: Case = MAC) -> bool | None:
        answer = Estimate(latency=1.0, utilisation=utilisation)
        return holds("CMP009", lambda _: answer, case, machine=self.CHIP)

    @pytest.mark.parametrize(
        ("utilisation", "expected"),
        [(0.25, True), (0.2502, True), (0.125, False), (0.26, False)],
    )
    def test_counts_a_mac_as_two_operations(
        self, utilisation: float, *, expected: bool
    ) -> None:
        assert self.holds(utilisation) is expected

    def test_counts_all_work(self) -> None:
        assert self.holds(1.0, Case(gemm(m=4)))
        assert self.holds(5 / 8, RELU)

    def test_says_nothing_of_a_precision_without_a_peak(self) -> None:
        assert self.holds(0.25, at(Precision.INT8)) is None
