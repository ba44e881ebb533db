"""The bounds of each level of memory on tiny models, at the edges of their domains."""

from __future__ import annotations

import pytest

from joulecheck.case import Case
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.errors import NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine, Memory
from joulecheck.testing import assert_holds
from joulecheck.workload import Conv2d, Elementwise, Function, Precision
from tiny import MAC, Tiny, at, gemm, holds, margin

ALL = {"input", "weight", "output"}
RELU = Case(Elementwise(Function.RELU, (1,)))


def machine(peak: float | None = None, **memories: Memory) -> Machine:
    stated = {} if peak is None else {Precision.FP32: peak}
    return Machine(name="tiny", peak=stated, memories=memories)


def answering(**declared: object) -> Tiny:
    """A model that answers alike whatever it is asked."""
    answer = Estimate(energy=1.0, latency=1.0, traffic={"l1": 1.0, "dram": 1.0})
    return Tiny(lambda _: answer, **declared)


class TestRooflineAtEveryLevel:
    """BND005."""

    def holds(self, latency: float, case: Case = MAC, **declared: object) -> bool | None:
        answer = Estimate(latency=latency, traffic=declared.pop("traffic", {}))
        return holds("BND005", lambda _: answer, case, **declared)

    @pytest.mark.parametrize(("latency", "expected"), [(12.0, True), (11.9, False)])
    def test_lets_every_operand_pass_a_near_memory(
        self, latency: float, *, expected: bool
    ) -> None:
        chip = machine(l1=Memory(bandwidth=1.0, carries=ALL))

        assert self.holds(latency, machine=chip) is expected

    def test_lets_only_those_pass_that_a_memory_carries(self) -> None:
        chip = machine(staging=Memory(bandwidth=1.0, carries={"weight"}))

        assert self.holds(4.0, machine=chip)
        assert self.holds(3.9, machine=chip) is False

    def test_takes_the_bytes_that_the_model_says_cross(self) -> None:
        chip = machine(l1=Memory(bandwidth=1.0))

        assert self.holds(20.0, machine=chip, traffic={"l1": 20.0})
        assert self.holds(19.9, machine=chip, traffic={"l1": 20.0}) is False

    def test_takes_no_fewer_than_the_compulsory_ones(self) -> None:
        chip = machine(dram=Memory(bandwidth=1.0, homes=ALL))

        assert self.holds(11.9, machine=chip, traffic={"dram": 1.0}) is False

    def test_holds_to_the_peak_as_well(self) -> None:
        chip = machine(peak=1.0, l1=Memory(bandwidth=1e9, carries=ALL))

        assert self.holds(2.0, machine=chip)
        assert self.holds(1.9, machine=chip) is False

    def test_leaves_out_memories_without_a_bandwidth(self) -> None:
        chip = machine(l1=Memory(carries=ALL), dram=Memory(bandwidth=1.0, homes=ALL))

        assert self.holds(12.0, machine=chip, traffic={"l1": 1e9})

    def test_says_nothing_of_a_case_that_is_refused(self) -> None:
        def answer(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return Estimate(latency=12.0)

        chip = machine(dram=Memory(bandwidth=1.0, homes=ALL))

        assert holds("BND005", answer, RELU, machine=chip) is None

    @pytest.mark.parametrize("memory", [Memory(bandwidth=1.0), Memory(homes=ALL)])
    def test_needs_a_bandwidth_and_what_passes(self, memory: Memory) -> None:
        model = Tiny(lambda _: Estimate(latency=1.0), machine=machine(l1=memory))

        with pytest.raises(NotOffered, match="no memory with a bandwidth and what passes"):
            assert_holds("BND005", model)


def priced(unit: str, value: float, name: str = "op", term: str = "alu") -> Coefficient:
    return Coefficient(name, value, unit, {term})


class TestEnergyAboveLeastOpEnergy:
    """BND006."""

    LAYERS = {"alu": Layer.ALU, "tags": Layer.REGISTER, "dram": Layer.DRAM}  # noqa: RUF012 - never changed

    def holds(
        self, joule: float, *prices: Coefficient, case: Case = MAC, **declared: object
    ) -> bool | None:
        coefficients = {price.name: price for price in prices}
        traffic = declared.pop("traffic", {})
        terms = declared.pop("terms", {})
        answer = Estimate(energy=joule, energy_terms=terms, traffic=traffic)
        return holds(
            "BND006", lambda _: answer, case, coefficients=coefficients, **declared
        )

    @pytest.mark.parametrize(
        ("unit", "joule", "expected"),
        [
            ("J/MAC", 3.0, True),
            ("J/MAC", 2.9, False),
            ("J/op", 6.0, True),
            ("J/op", 5.9, False),
        ],
    )
    def test_counts_a_mac_once_or_as_two_operations(
        self, unit: str, joule: float, *, expected: bool
    ) -> None:
        assert self.holds(joule, priced(unit, 3.0)) is expected

    def test_takes_the_least_of_several_prices(self) -> None:
        prices = [priced("J/MAC", 3.0), priced("J/MAC", 1.0, "idle lane")]

        assert self.holds(1.0, *prices)
        assert self.holds(0.9, *prices) is False

    def test_charges_nothing_for_operations_without_a_price(self) -> None:
        assert self.holds(0.0, priced("J/MAC", 3.0), case=RELU)
        assert self.holds(0.9, priced("J/op", 1.0), case=RELU) is False

    def test_takes_a_price_that_names_a_precision_for_that_one(self) -> None:
        prices = [priced("J/MAC", 1.0, "mac.INT8"), priced("J/MAC", 4.0, "mac.FP32")]

        assert self.holds(3.9, *prices) is False
        assert self.holds(1.0, *prices, case=at(Precision.INT8))

    def test_leaves_out_what_is_no_arithmetic(self) -> None:
        prices = [priced("J/MAC", 3.0), priced("J/MAC", 1.0, "tag", "tags")]

        assert self.holds(2.9, *prices, layers=self.LAYERS) is False
        assert self.holds(1.0, *prices)

    @pytest.mark.parametrize(("joule", "expected"), [(27.0, True), (26.9, False)])
    def test_adds_the_compulsory_bytes_at_their_home(
        self, joule: float, *, expected: bool
    ) -> None:
        prices = [priced("J/MAC", 3.0), priced("J/B", 2.0, "byte", "dram")]
        chip = machine(dram=Memory(homes=ALL))

        assert self.holds(joule, *prices, machine=chip) is expected

    def test_adds_the_bytes_that_the_model_says_cross(self) -> None:
        prices = [priced("J/MAC", 3.0), priced("J/B", 2.0, "byte", "l1")]
        declared = {"machine": machine(l1=Memory()), "traffic": {"l1": 10.0}}

        assert self.holds(23.0, *prices, **declared)
        declared["traffic"] = {"l1": 10.0}
        assert self.holds(22.9, *prices, **declared) is False

    def test_holds_the_arithmetic_alone_to_its_part(self) -> None:
        """The rest of the energy hides what is missing there."""
        found = self.holds(
            1e9, priced("J/MAC", 3.0), layers=self.LAYERS, terms={"alu": 2.9}
        )

        assert found is False

    def test_says_nothing_of_a_case_that_is_refused(self) -> None:
        def answer(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return Estimate(energy=3.0, energy_terms={"alu": 3.0})

        declared = {"coefficients": {"op": priced("J/MAC", 3.0)}, "layers": self.LAYERS}

        assert holds("BND006", answer, RELU, **declared) is None

    def test_needs_a_price_of_an_operation(self) -> None:
        model = answering(coefficients={"byte": priced("J/B", 1.0)})

        with pytest.raises(NotOffered, match="no coefficient in J/MAC or J/op"):
            assert_holds("BND006", model)


class TestIoLowerBound:
    """BND007."""

    CUBE = Case(gemm(m=1000, n=1000, k=1000))
    BYTES = 12e6
    """Of its three matrices in FP32."""

    def declared(self, capacity: int = 40_000, copies: int = 1) -> Machine:
        near = Memory(capacity=capacity, copies=copies)
        return machine(l1=near, dram=Memory(homes=ALL))

    def margin(self, crossing: float, case: Case = CUBE, **declared: object) -> float:
        answer = Estimate(traffic={"dram": crossing})
        return margin(
            "BND007", lambda _: answer, case, **{"machine": self.declared(), **declared}
        )

    def test_asks_for_the_operands_that_come_again(self) -> None:
        """10,000 elements stay: 2 10^9 / 100 - 20,000 of 4 bytes cross."""
        bound = 4 * (2e9 / 100 - 20_000)

        assert self.margin(bound) == pytest.approx(1e-9)
        assert self.margin(bound * (1 - 1e-8)) < 0
        assert self.margin(self.BYTES) == pytest.approx(self.BYTES / bound - 1)

    def test_asks_for_each_operand_once_where_all_fits(self) -> None:
        roomy = {"machine": self.declared(1 << 30)}

        assert self.margin(self.BYTES, **roomy) == pytest.approx(1e-9)
        assert self.margin(self.BYTES - 1, **roomy) < 0

    def test_counts_every_copy_of_a_memory(self) -> None:
        bound = 4 * (2e9 / 200 - 80_000)

        assert self.margin(bound, machine=self.declared(copies=4)) == pytest.approx(1e-9)

    def test_counts_in_the_width_of_an_element(self) -> None:
        """40,000 elements of a byte stay."""
        bound = 2e9 / 200 - 80_000

        found = self.margin(bound, at(Precision.INT8, self.CUBE.workload))

        assert found == pytest.approx(1e-9)

    def test_adds_up_all_edges_of_the_chip(self) -> None:
        homes = machine(
            l1=Memory(capacity=1 << 30),
            dram=Memory(homes={"weight"}),
            host=Memory(homes={"input", "output"}),
        )
        answer = Estimate(traffic={"dram": 4e6, "host": 8e6})

        assert margin("BND007", lambda _: answer, self.CUBE, machine=homes) >= 0

    def test_folds_the_batch_into_the_rows(self) -> None:
        batch = Case(gemm(m=10, n=1000, k=1000, batch=100))

        assert self.margin(4 * (2e9 / 100 - 20_000), batch) == pytest.approx(1e-9)

    def test_is_what_a_tiling_of_one_stationary_matrix_can_reach(self) -> None:
        """Blocks of 100 x 100 results: each operand crosses 10 times."""
        crossing = 4 * (2 * 10 * 1e6 + 1e6)

        assert 0 <= self.margin(crossing) < 0.06

    @pytest.mark.parametrize(
        "lacking",
        [
            machine(l1=Memory(), dram=Memory(homes=ALL)),
            machine(l1=Memory(capacity=8), dram=Memory(homes={"input", "output"})),
        ],
    )
    def test_needs_every_capacity_and_home(self, lacking: Machine) -> None:
        model = answering(machine=lacking)

        with pytest.raises(NotOffered, match="home of input, weight and output"):
            assert_holds("BND007", model)


class TestNearTrafficAboveFar:
    """BND008."""

    CHIP = machine(
        l1=Memory(carries=ALL), l2=Memory(carries=ALL), dram=Memory(homes=ALL, carries=ALL)
    )

    def holds(self, case: Case = MAC, /, **traffic: float) -> bool | None:
        chip = traffic.pop("machine", self.CHIP)
        answer = Estimate(traffic=traffic)
        return holds("BND008", lambda _: answer, case, machine=chip)

    @pytest.mark.parametrize(
        ("l1", "l2", "dram", "expected"),
        [
            (3.0, 2.0, 1.0, True),
            (2.0, 2.0, 2.0, True),
            (2.0, 3.0, 1.0, False),
            (3.0, 1.0, 2.0, False),
            (2.0, 2.0 + 1e-10, 1.0, True),
            (2.0, 2.0 + 1e-8, 1.0, False),
        ],
    )
    def test_compares_each_level_with_those_beyond(
        self, l1: float, l2: float, dram: float, *, expected: bool
    ) -> None:
        assert self.holds(l1=l1, l2=l2, dram=dram) is expected

    def test_adds_up_the_edges_whose_operands_all_pass(self) -> None:
        chip = machine(
            buffer=Memory(carries=ALL),
            staging=Memory(carries={"weight"}),
            dram=Memory(homes={"weight"}),
            host=Memory(homes={"input", "output"}),
        )
        answer = {"machine": chip, "staging": 1.0, "dram": 1.0, "host": 2.0}

        assert self.holds(buffer=3.0, **answer)
        assert self.holds(buffer=2.9, **answer) is False

    def test_says_nothing_where_a_stride_skips_inputs(self) -> None:
        skipping = Case(Conv2d(n=1, c=1, h=4, w=4, k=1, r=1, s=1, stride=4))

        assert self.holds(skipping, l1=1.0, l2=9.0, dram=9.0) is None

    def test_says_nothing_of_levels_that_it_is_not_told_of(self) -> None:
        assert self.holds(l1=2.0, dram=1.0)
        assert self.holds(l2=2.0) is None

    def test_needs_two_memories_that_are_in_line(self) -> None:
        model = answering(machine=machine(l1=Memory(), dram=Memory(homes=ALL)))

        with pytest.raises(NotOffered, match="carries the operands of the other"):
            assert_holds("BND008", model)
