"""The physical bounds on tiny models, at the edges of their domains."""

from __future__ import annotations

import math

import pytest

from joulecheck.case import Case
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.errors import NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine, Memory
from joulecheck.reference import load_model
from joulecheck.testing import Violated, assert_holds, margin_of
from joulecheck.workload import Conv2d, Elementwise, Function, Precision, Totals
from tiny import MAC, Tiny, at, gemm, holds, margin

CPU = "reference:Intel-i7-12700K"
ALL = {"input", "weight", "output"}


def machine(
    peak: float | None = None, **memories: tuple[float | None, set[str]]
) -> Machine:
    return Machine(
        name="tiny",
        peak={} if peak is None else {Precision.FP32: peak},
        memories={
            name: Memory(bandwidth=bandwidth, homes=homes)
            for name, (bandwidth, homes) in memories.items()
        },
    )


def after(seconds: float) -> Tiny:
    """A model in which everything takes the same time."""
    return Tiny(lambda _: Estimate(latency=seconds))


class TestLatencyAboveCompute:
    """BND001."""

    @pytest.mark.parametrize(
        ("latency", "expected"),
        [(2.0, True), (3.0, True), (2.0 - 1e-8, False), (2.0 - 1e-10, True), (1.0, False)],
    )
    def test_counts_two_operations_a_mac(self, latency: float, *, expected: bool) -> None:
        answer = Estimate(latency=latency)

        assert holds("BND001", lambda _: answer, machine=machine(peak=1.0)) is expected

    def test_counts_elementwise_operations(self) -> None:
        relu = Case(Elementwise(Function.RELU, (10,)))
        answer = Estimate(latency=9.0)

        assert holds("BND001", lambda _: answer, relu, machine=machine(peak=1.0)) is False

    def test_counts_the_operations_of_totals(self) -> None:
        def ten(_: Case) -> Estimate:
            return Estimate(latency=10.0)

        declared = {"machine": machine(peak=1.0), "operators": {"totals"}}

        assert holds("BND001", ten, Case(Totals(ops=10, bytes=1)), **declared)
        assert holds("BND001", ten, Case(Totals(ops=11, bytes=1)), **declared) is False

    def test_says_nothing_of_a_precision_without_a_peak(self) -> None:
        found = holds(
            "BND001",
            lambda _: Estimate(latency=0.0),
            at(Precision.INT8),
            machine=machine(peak=1.0),
        )

        assert found is None

    def test_needs_a_peak(self) -> None:
        with pytest.raises(NotOffered, match="declare machine = "):
            assert_holds("BND001", after(1.0))


class TestLatencyAboveTraffic:
    """BND002."""

    @pytest.mark.parametrize(("latency", "expected"), [(12.0, True), (11.9, False)])
    def test_counts_every_tensor_once(self, latency: float, *, expected: bool) -> None:
        dram = machine(dram=(1.0, ALL))

        found = holds("BND002", lambda _: Estimate(latency=latency), machine=dram)

        assert found is expected

    def test_counts_each_tensor_at_its_home(self) -> None:
        """DDR3 of TPU v1 holds weights only: the rest crosses the host's bus."""
        split = machine(dram=(1.0, {"weight"}), host=(2.0, {"input", "output"}))

        assert holds("BND002", lambda _: Estimate(latency=4.0), machine=split)
        assert holds("BND002", lambda _: Estimate(latency=3.9), machine=split) is False

    def test_knows_that_the_memory_of_tpu_v1_holds_weights_only(self) -> None:
        """100,000 activations beside one weight take 0.1 us from DDR3 at all."""
        model = load_model("Google-TPU-v1")
        wide = Case(gemm(m=65536), Precision.INT8)
        memories = model.machine.memories
        slowest = 65536 / min(m.bandwidth for m in memories.values() if m.homes)
        homes = {name: memory.homes for name, memory in memories.items() if memory.homes}

        assert homes["dram"] == {"weight"}
        assert margin_of("BND002", model, wide) >= 0
        assert slowest > model.estimate(wide).latency_terms["dram"]

    def test_takes_the_slowest_memory(self) -> None:
        both = machine(l2=(100.0, ALL), dram=(1.0, ALL))

        assert holds("BND002", lambda _: Estimate(latency=1.0), machine=both) is False

    def test_leaves_out_memories_without_bandwidth_or_homes(self) -> None:
        some = machine(dram=(1.0, ALL), l2=(1e-9, set()), tape=(None, ALL))

        assert holds("BND002", lambda _: Estimate(latency=12.0), machine=some)

    def test_counts_only_what_filters_touch(self) -> None:
        """A 1x1 filter with stride 4 reads 4 of 16 rows and 4 of 16 columns."""
        strided = Case(Conv2d(n=1, c=1, h=16, w=16, k=1, r=1, s=1, stride=4))
        touched = 4 * (4 * 4 + 1 + 4 * 4)
        dram = machine(dram=(1.0, ALL))

        def answering(seconds: float) -> bool | None:
            return holds(
                "BND002", lambda _: Estimate(latency=seconds), strided, machine=dram
            )

        assert answering(touched)
        assert answering(touched - 1) is False
        assert touched < strided.bytes

    def test_counts_the_bytes_of_totals_as_input(self) -> None:
        def ten(_: Case) -> Estimate:
            return Estimate(latency=10.0)

        declared = {"machine": machine(dram=(1.0, ALL)), "operators": {"totals"}}

        assert holds("BND002", ten, Case(Totals(ops=1, bytes=10)), **declared)
        assert holds("BND002", ten, Case(Totals(ops=1, bytes=11)), **declared) is False

    def test_rounds_half_bytes_up_by_tensor(self) -> None:
        dram = machine(dram=(1.0, ALL))
        declared = {"machine": dram, "precisions": (Precision.INT4,)}

        assert holds(
            "BND002", lambda _: Estimate(latency=3.0), at(Precision.INT4), **declared
        )
        assert (
            holds("BND002", lambda _: Estimate(latency=2.9), at(Precision.INT4), **declared)
            is False
        )


class TestUtilisationIsAShare:
    """BND003."""

    @pytest.mark.parametrize(
        ("utilisation", "expected"),
        [
            (0.0, True),
            (1.0, True),
            (0.5, True),
            (1 + 1e-10, True),
            (1 + 1e-8, False),
            (-1e-8, False),
            (85.0, False),
        ],
    )
    def test_lies_between_0_and_1(self, utilisation: float, *, expected: bool) -> None:
        answer = Estimate(utilisation=utilisation)

        assert holds("BND003", lambda _: answer) is expected

    def test_says_nothing_without_one(self) -> None:
        def answer(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return Estimate(utilisation=1.0)

        assert holds("BND003", answer, Case(gemm(m=2))) is None

    def test_shows_how_far_outside_it_is(self) -> None:
        answer = Estimate(utilisation=1.5)

        assert margin("BND003", lambda _: answer) == pytest.approx(-0.5)

    def test_finds_a_percentage(self) -> None:
        def percent(case: Case) -> Estimate:
            return Estimate(utilisation=100 * min(1.0, case.ops / 1e6))

        with pytest.raises(Violated):
            assert_holds("BND003", Tiny(percent))


def paid(dram: float, **declared: object) -> Tiny:
    """A model that pays as much for its DRAM whatever it is asked."""
    given = {
        "machine": machine(dram=(None, ALL)),
        "coefficients": {"price": Coefficient("price", 1.0, "J/B", {"dram"})},
    }
    answer = Estimate(energy=dram, energy_terms={"dram": dram})
    return Tiny(lambda _: answer, **given | declared)


class TestEnergyAboveTraffic:
    """BND004."""

    @pytest.mark.parametrize(("joule", "expected"), [(12.0, True), (11.9, False)])
    def test_asks_for_every_compulsory_byte(self, joule: float, *, expected: bool) -> None:
        assert (margin_of("BND004", paid(joule), MAC) >= 0) is expected

    def test_asks_for_each_operand_of_a_function(self) -> None:
        add = Case(Elementwise(Function.ADD, (1,), operands=3))

        assert margin_of("BND004", paid(16.0), add) >= 0
        assert margin_of("BND004", paid(12.0), add) == pytest.approx(-0.25)

    def test_respects_homes(self) -> None:
        homes = machine(dram=(None, {"weight"}), host=(None, {"input", "output"}))

        assert margin_of("BND004", paid(4.0, machine=homes), MAC) >= 0
        assert margin_of("BND004", paid(3.9, machine=homes), MAC) < 0

    def test_takes_the_least_price_of_several(self) -> None:
        coefficients = {
            name: Coefficient(name, value, unit, {"dram"})
            for name, value, unit in [
                ("read", 0.5, "J/B"),
                ("write", 2.0, "J/B"),
                ("refresh", 1e-3, "W"),
            ]
        }

        assert margin_of("BND004", paid(6.0, coefficients=coefficients), MAC) >= 0
        assert margin_of("BND004", paid(5.9, coefficients=coefficients), MAC) < 0

    @pytest.mark.parametrize(("joule", "expected"), [(112.0, True), (111.9, False)])
    def test_has_what_the_chip_cannot_hold_come_from_outside(
        self, joule: float, *, expected: bool
    ) -> None:
        near, far = Memory(capacity=64), Memory(homes={"input", "output"})
        chip = Machine(name="tiny", memories={"buffer": near, "dram": far})
        layer = Case(gemm(n=4, k=8))  # 32 bytes in, 128 of weights, 16 out

        found = margin_of("BND004", paid(joule, machine=chip), layer)

        assert (found >= 0) is expected

    def test_says_nothing_of_a_case_that_is_refused(self) -> None:
        def answer(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return Estimate(energy=12.0, energy_terms={"dram": 12.0})

        model = paid(12.0)
        model.answer = answer

        assert math.isnan(margin_of("BND004", model, Case(gemm(m=2))))

    def test_needs_a_priced_memory_with_homes(self) -> None:
        with pytest.raises(NotOffered, match="no memory with homes"):
            assert_holds("BND004", paid(12.0, machine=machine(l2=(None, ALL))))


def spending(
    joule: float, seconds: float | None = None, **declared: object
) -> tuple[Tiny, Estimate]:
    """A model with the same energy and latency for everything, and that answer."""
    answer = Estimate(energy=joule, latency=seconds)
    return Tiny(lambda _: answer, **declared), answer


class TestPowerBelowTdp:
    """BND009."""

    COOLED = Machine(name="tiny", tdp=10.0)

    @pytest.mark.parametrize(
        ("joule", "expected"),
        [(5.0, True), (20.0, True), (20.0 * (1 + 1e-8), False), (1e3, False)],
    )
    def test_bounds_energy_over_time(self, joule: float, *, expected: bool) -> None:
        model, _ = spending(joule, 2.0, machine=self.COOLED)

        assert (margin_of("BND009", model, MAC) >= 0) is expected

    def test_says_nothing_of_a_case_that_is_refused(self) -> None:
        def answer(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return Estimate(energy=1.0, latency=1.0)

        assert holds("BND009", answer, Case(gemm(m=2)), machine=self.COOLED) is None

    def test_needs_a_tdp(self) -> None:
        with pytest.raises(NotOffered, match="states no tdp"):
            assert_holds("BND009", spending(1.0, 1.0)[0])


class TestPowerAboveStatic:
    """BND010."""

    LAYERS = {"alu": Layer.ALU, "leak": Layer.STATIC, "refresh": Layer.STATIC}  # noqa: RUF012 - never changed
    LEAKY = {  # noqa: RUF012 - never changed
        "core": Coefficient("core", 2.0, "W", {"leak"}),
        "memory": Coefficient("memory", 1.0, "W", {"refresh"}),
        "turbo": Coefficient("turbo", 100.0, "W", {"alu"}),
        "op": Coefficient("op", 1.0, "J/op", {"alu"}),
    }

    def holds(self, answer: Estimate) -> bool | None:
        declared = {"coefficients": self.LEAKY, "layers": self.LAYERS}
        return holds("BND010", lambda _: answer, **declared)

    @pytest.mark.parametrize(("joule", "expected"), [(6.0, True), (5.9, False)])
    def test_charges_all_static_power_for_all_the_time(
        self, joule: float, *, expected: bool
    ) -> None:
        assert self.holds(Estimate(energy=joule, latency=2.0)) is expected

    @pytest.mark.parametrize(("static", "expected"), [(4.0, True), (3.9, False)])
    def test_holds_the_terms_to_it_where_the_total_excludes_them(
        self, static: float, *, expected: bool
    ) -> None:
        answer = Estimate(
            energy=1.0,
            latency=2.0,
            energy_terms={"alu": 1.0, "leak": static, "refresh": 2.0},
            scope=frozenset({"alu"}),
        )

        assert self.holds(answer) is expected

    def test_needs_static_power(self) -> None:
        model, _ = spending(
            1.0, 1.0, layers=self.LAYERS, coefficients={"op": self.LEAKY["op"]}
        )

        with pytest.raises(NotOffered, match="no coefficient in W that moves"):
            assert_holds("BND010", model)


class TestPlausibleRanges:
    """BND011."""

    @pytest.mark.parametrize(
        ("joule", "seconds", "expected"),
        [
            (1e-12, 1e-9, True),
            (1e-9, 1e-6, True),
            (2.1e-16, 1e-9, True),
            (1.9e-16, 1e-9, False),  # of two operations
            (1e-9 * 1e12, 1e-6, False),  # in picojoule
            (1e-9, 1e-6 * 1e9, False),  # in nanosecond
            (1e-12, 1.9e-19, False),
            (0.0, 1e-6, False),
        ],
    )
    def test_spans_decades_around_what_machines_do(
        self, joule: float, seconds: float, *, expected: bool
    ) -> None:
        _, answer = spending(joule, seconds)

        assert holds("BND011", lambda _: answer) is expected

    @pytest.mark.parametrize(("joule", "expected"), [(1e6, True), (1.1e6, False)])
    def test_bounds_energy_without_latency(self, joule: float, *, expected: bool) -> None:
        """What a megawatt dissipates in the longest time that is plausible, about 1 s."""
        assert holds("BND011", lambda _: Estimate(energy=joule)) is expected

    def test_bounds_latency_without_energy(self) -> None:
        assert holds("BND011", lambda _: Estimate(latency=1.0))
        assert holds("BND011", lambda _: Estimate(latency=1.1)) is False

    def test_needs_one_of_the_two(self) -> None:
        with pytest.raises(NotOffered, match=r"return Estimate\(energy=...\) or"):
            assert_holds("BND011", Tiny(lambda _: Estimate(utilisation=0.5)))


class TestZeroWork:
    """BND012."""

    RELU = Case(Elementwise(Function.RELU, (1,)))

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            (Estimate(energy=0.0, latency=0.0), True),
            (Estimate(energy=1.0, latency=1.0), True),
            (Estimate(energy=math.nan, latency=1.0), False),
            (Estimate(energy=math.inf, latency=1.0), False),
            (Estimate(energy=-1.0, latency=1.0), False),
            (Estimate(energy=1.0, latency=1.0, energy_terms={"a": math.nan}), False),
            (Estimate(latency=1.0), False),
        ],
    )
    def test_needs_every_number(self, answer: Estimate, *, expected: bool) -> None:
        def answering(case: Case) -> Estimate:
            return Estimate(energy=1.0, latency=1.0) if case.macs else answer

        assert holds("BND012", answering, self.RELU) is expected

    def test_says_nothing_of_macs_or_of_a_refusal(self) -> None:
        def refusing(case: Case) -> Estimate:
            if not case.macs:
                raise Unsupported
            return Estimate(energy=1.0)

        assert holds("BND012", lambda _: Estimate(energy=-1.0)) is None
        assert holds("BND012", refusing, self.RELU) is None

    def test_does_not_take_an_error_for_a_number(self) -> None:
        def dividing(case: Case) -> Estimate:
            return Estimate(energy=1e-12 * case.ops / case.macs)

        with pytest.raises(Violated) as caught:
            assert_holds("BND012", Tiny(dividing))

        assert caught.value.case == Case(Elementwise(Function.RELU, (1, 1, 1, 1)))

    @pytest.mark.parametrize(
        ("totals", "expected"),
        [((0, 0), False), ((0, 5), True), ((5, 0), False), ((5, 5), None)],
    )
    def test_of_totals_is_no_operation_or_no_byte(
        self, totals: tuple[int, int], *, expected: bool | None
    ) -> None:
        ops, size = totals
        model = {"operators": {"totals"}}

        def intensity(case: Case) -> Estimate:
            return Estimate(energy=1.0 + case.ops / case.bytes)

        assert holds("BND012", intensity, Case(Totals(ops, size)), **model) is expected

    def test_finds_what_divides_by_nothing(self) -> None:
        def intensity(case: Case) -> Estimate:
            return Estimate(energy=1.0 + case.ops / case.bytes)

        with pytest.raises(Violated) as caught:
            assert_holds("BND012", Tiny(intensity, operators={"totals"}))

        assert caught.value.case == Case(Totals(ops=0, bytes=0))
