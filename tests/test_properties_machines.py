"""The laws of derived machines on a tiny chip, at the edges of their domains."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np
import pytest

from derivable import KNOBS, Changed, Chip, margin, on
from joulecheck.case import Case, DerivedCase
from joulecheck.coefficient import Coefficient
from joulecheck.errors import NotOffered
from joulecheck.estimate import Estimate
from joulecheck.knob import Knob, KnobKind
from joulecheck.machine import Machine, Memory
from joulecheck.model import Exemption, Scale
from joulecheck.testing import Violated, assert_holds
from joulecheck.workload import Elementwise, Function
from tiny import MAC, gemm

LARGE = Case(gemm(m=64, n=64, k=64))

Factors = Mapping[str, float]


def holds(law: str, model: object, case: DerivedCase) -> bool | None:
    """Whether the law holds for a case; None if it says nothing of it."""
    found = margin(law, model, case)
    return None if np.isnan(found) else found >= 0


def answering(**changes: Callable[[Chip, Case], float]) -> Changed:
    """A chip with some numbers of its own."""

    def answer(chip: Chip, case: Case, scale: Scale) -> Estimate:
        found = chip.estimate(case, scale)
        return attrs.evolve(found, **{n: f(chip, case) for n, f in changes.items()})

    return Changed(answer=answer)


def deriving(mangle: Callable[[Factors], Factors]) -> Changed:
    """A chip that derives something else."""
    return Changed(mangle=mangle)


def without(*kinds: KnobKind) -> Changed:
    left = {name: knob for name, knob in KNOBS.items() if knob.kind not in kinds}
    return Changed(knobs=left)


class TestBetterRateNeverSlows:
    """SEN007."""

    @pytest.mark.parametrize("case", [MAC, LARGE])
    @pytest.mark.parametrize("factor", [1.0, 1.5, 1000.0, 0.5])
    @pytest.mark.parametrize("rates", [["clock"], ["bandwidth"], ["clock", "bandwidth"]])
    def test_holds_for_a_roofline(
        self, case: Case, factor: float, rates: list[str]
    ) -> None:
        assert holds("SEN007", Chip(), on(case, **dict.fromkeys(rates, factor)))

    def test_is_violated_by_a_clock_that_multiplies(self) -> None:
        slow = answering(latency=lambda chip, case: case.ops * chip.clock)

        assert holds("SEN007", slow, on(clock=2.0)) is False
        assert holds("SEN007", slow, on(clock=0.5)) is False
        assert holds("SEN007", slow, on(bandwidth=2.0))

    @pytest.mark.parametrize(
        "factors",
        [
            {"units": 2.0},
            {"buffer": 2.0},
            {"launch": 0.5},
            {"clock": 2.0, "bandwidth": 0.5},
            {"clock": 2.0, "launch": 2.0},
            {},
        ],
    )
    def test_says_nothing_of_other_figures_or_of_trades(self, factors: Factors) -> None:
        assert holds("SEN007", Chip(), on(**factors)) is None

    def test_says_nothing_of_scaled_coefficients(self) -> None:
        case = on(MAC, {"mac_energy": 2.0}, clock=2.0)

        assert holds("SEN007", Chip(), case) is None

    def test_says_nothing_of_a_machine_that_cannot_be(self) -> None:
        def mangle(_: Factors) -> Factors:
            return {"units": 1e9}

        assert holds("SEN007", deriving(mangle), on(clock=2.0)) is None

    def test_lets_a_mapper_for_least_energy_declare_an_exemption(self) -> None:
        model = Changed(exemptions=[Exemption("SEN007", "maps for least energy")])

        with pytest.raises(NotOffered, match="maps for least energy"):
            assert_holds("SEN007", model)

    def test_is_not_offered_without_rates(self) -> None:
        with pytest.raises(NotOffered, match="declares no knob of kind RATE"):
            assert_holds("SEN007", without(KnobKind.RATE))

    def test_is_not_offered_where_no_rate_may_be_turned(self) -> None:
        fixed = Knob(KnobKind.RATE, low=1.0, high=1.0)

        with pytest.raises(NotOffered, match="the ranges of its knobs allow none"):
            assert_holds("SEN007", Changed(knobs={"clock": fixed}))

    def test_stays_within_the_range_of_a_knob(self) -> None:
        asked: list[float] = []

        def note(factors: Factors) -> Factors:
            asked.extend(factors.values())
            return factors

        narrow = {"clock": Knob(KnobKind.RATE, low=0.9, high=2.0)}
        assert_holds("SEN007", Changed(mangle=note, knobs=narrow), max_examples=50)

        assert set(asked) == {2.0, 1.1}


class TestAllRatesScaled:
    """SCL002."""

    def every(self, factor: float, case: Case = MAC, **others: float) -> DerivedCase:
        faster = dict.fromkeys(("clock", "bandwidth"), factor)
        return on(case, **{**faster, "launch": 1 / factor, **others})

    @pytest.mark.parametrize("case", [MAC, LARGE])
    @pytest.mark.parametrize("factor", [2.0, 0.5, 3.0, 1e-9])
    def test_holds_for_a_roofline(self, case: Case, factor: float) -> None:
        assert holds("SCL002", Chip(), self.every(factor, case))

    def test_is_violated_by_a_hidden_delay(self) -> None:
        late = answering(latency=lambda chip, case: float(case.ops) / chip.clock + 1e-6)

        assert holds("SCL002", late, self.every(2.0)) is False

    def test_is_violated_by_a_term_alone(self) -> None:
        terms = answering(latency_terms=lambda *_: {"compute": 1.0})

        assert holds("SCL002", terms, self.every(2.0)) is False

    def test_is_violated_by_a_utilisation_of_another_peak(self) -> None:
        used = answering(utilisation=lambda chip, _: 0.1 * chip.clock)

        assert holds("SCL002", used, self.every(2.0)) is False

    @pytest.mark.parametrize(
        "others", [{"clock": 3.0}, {"launch": 1.0}, {"units": 2.0}, {"launch": 0.6}]
    )
    def test_says_nothing_unless_all_are_scaled_alike(self, others: Factors) -> None:
        assert holds("SCL002", Chip(), self.every(2.0, **others)) is None

    def test_says_nothing_where_one_is_left_out(self) -> None:
        assert holds("SCL002", Chip(), on(clock=2.0, bandwidth=2.0)) is None

    def test_needs_no_delay(self) -> None:
        def at_once(chip: Chip, case: Case, scale: Scale) -> Estimate:
            del scale
            return Estimate(latency=case.ops / chip.clock)

        model = Changed(answer=at_once, knobs={"clock": KNOBS["clock"]})

        assert holds("SCL002", model, on(clock=2.0))


class TestSomeRatesScaled:
    """SCL003."""

    @pytest.mark.parametrize("case", [MAC, LARGE])
    @pytest.mark.parametrize("factor", [2.0, 0.25])
    @pytest.mark.parametrize("rates", [["clock"], ["bandwidth"], ["clock", "bandwidth"]])
    def test_holds_for_a_roofline(
        self, case: Case, factor: float, rates: list[str]
    ) -> None:
        assert holds("SCL003", Chip(), on(case, **dict.fromkeys(rates, factor)))

    @pytest.mark.parametrize("factor", [2.0, 0.5])
    def test_is_violated_by_a_rate_that_enters_twice(self, factor: float) -> None:
        twice = answering(latency=lambda chip, case: case.ops / chip.clock**2)

        assert holds("SCL003", twice, on(clock=factor)) is False

    @pytest.mark.parametrize("factor", [2.0, 0.5])
    def test_is_violated_by_a_rate_that_multiplies(self, factor: float) -> None:
        slow = answering(latency=lambda chip, case: case.ops * chip.clock)

        assert holds("SCL003", slow, on(clock=factor)) is False

    @pytest.mark.parametrize(
        "factors", [{"clock": 2.0, "bandwidth": 3.0}, {"clock": 2.0, "launch": 0.5}, {}]
    )
    def test_says_nothing_of_other_figures_or_factors(self, factors: Factors) -> None:
        assert holds("SCL003", Chip(), on(**factors)) is None


class TestChangeOfUnits:
    """SCL005."""

    def units(self, joule: float, second: float, case: Case = MAC) -> DerivedCase:
        return on(
            case,
            {"mac_energy": joule, "static_power": joule / second},
            clock=1 / second,
            bandwidth=1 / second,
            launch=second,
        )

    @pytest.mark.parametrize("case", [MAC, LARGE])
    @pytest.mark.parametrize("joule", [2.0**40, 2.0])
    @pytest.mark.parametrize("second", [2.0**30, 0.5])
    def test_holds_for_sums_of_prices(
        self, case: Case, joule: float, second: float
    ) -> None:
        assert holds("SCL005", Chip(), self.units(joule, second, case))

    def test_leaves_out_what_stays(self) -> None:
        energy = {"mac_energy": 2.0, "static_power": 2.0}
        times = {"clock": 0.5, "bandwidth": 0.5, "launch": 2.0}

        assert holds("SCL005", Chip(), on(MAC, energy))
        assert holds("SCL005", Chip(), on(MAC, {"static_power": 0.5}, **times))

    @pytest.mark.parametrize(
        "changes",
        [
            {"latency": lambda *_: 1.0},
            {"energy": lambda *_: 1.0},
            {"energy": lambda chip, case: chip.estimate(case).latency},  # a watt unsaid
            {"utilisation": lambda chip, _: chip.clock},
            {"energy_terms": lambda *_: {"alu": 1.0}},
            {"latency_terms": lambda *_: {"compute": 1.0}},
        ],
    )
    def test_is_violated_by_a_constant(self, changes: Any) -> None:  # noqa: ANN401 - functions
        assert holds("SCL005", answering(**changes), self.units(2.0, 4.0)) is False

    def test_takes_a_model_with_power_alone(self) -> None:
        power = Coefficient("static_power", 1.0, "W")
        still = answering(
            energy=lambda chip, case: float(chip.estimate(case).latency or 0),
            energy_terms=lambda *_: {},
        )
        still.coefficients = {"static_power": power}

        assert holds("SCL005", still, on(MAC, {"static_power": 2.0})) is False

    @pytest.mark.parametrize(
        "case",
        [
            on(MAC, {"mac_energy": 2.0}),
            on(clock=2.0),
            on(MAC, {"mac_energy": 2.0, "static_power": 2.0}, clock=0.5, launch=2.0),
            on(MAC, {"mac_energy": 2.0, "static_power": 2.0}, units=2.0),
        ],
    )
    def test_says_nothing_of_a_part_of_a_change(self, case: DerivedCase) -> None:
        assert holds("SCL005", Chip(), case) is None

    def test_shows_the_units(self) -> None:
        with pytest.raises(Violated) as caught:
            assert_holds("SCL005", answering(energy=lambda chip, _: chip.launch))

        told = str(caught.value)
        assert (
            "machine   clock, bandwidth x 9.31322575e-10; launch x 1.07374182e+09" in told
        )
        assert "scaled    static_power x 9.31322575e-10" in told

    def test_needs_coefficients(self) -> None:
        with pytest.raises(NotOffered, match="declare coefficients"):
            assert_holds("SCL005", Changed(coefficients={}))


class TestMoreUnitsAtMostProportionallyFaster:
    """SCL006."""

    @pytest.mark.parametrize("case", [MAC, LARGE])
    @pytest.mark.parametrize("times", [1.0, 2.0, 3.0, 64.0])
    def test_holds_with_the_memory_of_before(self, case: Case, times: float) -> None:
        assert holds("SCL006", Chip(), on(case, units=times, lane=1 / times))

    def test_is_violated_by_units_that_count_twice(self) -> None:
        twice = answering(latency=lambda chip, case: case.ops / chip.units**2)

        assert holds("SCL006", twice, on(units=2.0, lane=0.5)) is False

    def test_says_nothing_where_there_is_more_memory(self) -> None:
        assert holds("SCL006", Chip(), on(units=2.0)) is None
        assert holds("SCL006", Chip(), on(units=2.0, lane=0.6)) is None
        assert holds("SCL006", Chip(), on(units=2.0, lane=0.4))

    @pytest.mark.parametrize(
        "factors",
        [
            {"lane": 0.5},
            {"units": 1.5, "lane": 0.5},
            {"units": 2.0, "lane": 0.5, "clock": 2.0},
            {"units": 2.0, "lane": 0.5, "buffer": 0.5},
        ],
    )
    def test_says_nothing_of_anything_else(self, factors: Factors) -> None:
        assert holds("SCL006", Chip(), on(**factors)) is None

    def test_with_the_caches_doubled_twice_the_units_can_gain_more(self) -> None:
        """Why the aggregate capacity must stay."""
        chip = Chip(clock=1e9, units=1.0, buffer=0.0, lane=600.0, launch=0.0)
        case = Case(gemm(m=10, n=10, k=10))  # of 1200 bytes
        kept, doubled = (
            chip.derive({"units": 2.0, "lane": lane}).estimate(case).latency
            for lane in (0.5, 1.0)
        )

        assert chip.estimate(case).latency == kept == 1.5 * doubled

    def test_needs_a_count(self) -> None:
        with pytest.raises(NotOffered, match="declares no knob of kind COUNT"):
            assert_holds("SCL006", without(KnobKind.COUNT))


class TestCapacityUpTrafficNotUp:
    """CON003."""

    @pytest.mark.parametrize("case", [MAC, LARGE])
    @pytest.mark.parametrize("factor", [1.1, 1e6, 0.25])
    @pytest.mark.parametrize("names", [["buffer"], ["lane"], ["buffer", "lane"]])
    def test_holds_for_what_comes_twice_beyond(
        self, case: Case, factor: float, names: list[str]
    ) -> None:
        assert holds("CON003", Chip(), on(case, **dict.fromkeys(names, factor)))

    @pytest.mark.parametrize("factor", [2.0, 0.5])
    @pytest.mark.parametrize("field", ["energy_terms", "latency_terms"])
    def test_is_violated_by_a_term_that_grows(self, factor: float, field: str) -> None:
        grown: Any = {field: lambda chip, _: {"dram": chip.buffer}}

        assert holds("CON003", answering(**grown), on(buffer=factor)) is False

    def test_lets_other_terms_grow(self) -> None:
        grown: Any = {"energy_terms": lambda chip, _: {"buffer": chip.buffer, "dram": 1.0}}

        assert holds("CON003", answering(**grown), on(buffer=2.0))

    def test_judges_what_all_turned_capacities_claim(self) -> None:
        knobs = {
            "buffer": Knob(KnobKind.CAPACITY, terms={"near", "far"}),
            "lane": Knob(KnobKind.CAPACITY, terms={"far"}),
        }

        def answer(chip: Chip, case: Case, scale: Scale) -> Estimate:
            del case, scale
            return Estimate(energy_terms={"near": chip.lane, "far": 1 / chip.buffer})

        model = Changed(answer=answer, knobs=knobs)

        assert holds("CON003", model, on(lane=2.0, buffer=2.0))
        assert holds("CON003", model, on(buffer=2.0))
        model = Changed(answer=answer, knobs={"lane": knobs["buffer"]})
        assert holds("CON003", model, on(lane=2.0)) is False

    @pytest.mark.parametrize(
        "factors",
        [{"clock": 2.0}, {"buffer": 2.0, "lane": 0.5}, {"buffer": 2.0, "clock": 2.0}],
    )
    def test_says_nothing_of_other_figures_or_of_trades(self, factors: Factors) -> None:
        assert holds("CON003", Chip(), on(**factors)) is None

    def test_is_not_offered_without_a_claim(self) -> None:
        silent = {"buffer": Knob(KnobKind.CAPACITY)}

        with pytest.raises(NotOffered, match="CAPACITY with the terms that it saves"):
            assert_holds("CON003", Changed(knobs=silent))


class TestDerivedDominatingMachineNeverSlower:
    """ORD004."""

    @pytest.mark.parametrize("case", [MAC, LARGE])
    @pytest.mark.parametrize(
        "factors",
        [
            {"clock": 2.0},
            {"buffer": 1.5, "launch": 0.5},
            {"units": 2.0, "bandwidth": 2.0, "buffer": 2.0},
            {"units": 2.0, "bandwidth": 4.0, "buffer": 2.0, "lane": 2.0},
        ],
    )
    def test_holds_for_more_of_everything(self, case: Case, factors: Factors) -> None:
        assert holds("ORD004", Chip(), on(case, **factors))

    def test_is_violated_by_units_that_get_in_each_other_s_way(self) -> None:
        crowded = answering(latency=lambda chip, _: chip.units)
        case = on(units=2.0, bandwidth=2.0, buffer=2.0)

        assert holds("ORD004", crowded, case) is False

    @pytest.mark.parametrize(
        "factors",
        [
            {"units": 2.0},  # less bandwidth for each
            {"units": 2.0, "bandwidth": 2.0},
            {"units": 2.0, "bandwidth": 1.5, "buffer": 2.0},
            {"clock": 0.5},
            {"launch": 2.0},
            {"clock": 2.0, "buffer": 0.5},
        ],
    )
    def test_says_nothing_where_anything_is_less(self, factors: Factors) -> None:
        assert holds("ORD004", Chip(), on(**factors)) is None

    def test_takes_a_machine_of_one_unit(self) -> None:
        assert_holds("ORD004", without(KnobKind.COUNT), max_examples=50)

    def test_shrinks_to_the_plainest_machine(self) -> None:
        crowded = answering(latency=lambda chip, _: chip.units)

        with pytest.raises(Violated) as caught:
            assert_holds("ORD004", crowded)

        assert caught.value.case == on(units=2.0, bandwidth=2.0, buffer=2.0)
        assert "machine   units, bandwidth, buffer x 2" in str(caught.value)


class TestTrafficSimilarity:
    """SCL004."""

    ROOMS = {"buffer": 4.0, "lane": 4.0}  # noqa: RUF012 - never changed
    DRAM = {"machine": Machine(name="chip", memories={"dram": Memory(homes={"input"})})}  # noqa: RUF012 - never changed

    def fetching(
        self, traffic: Callable[[Chip, Case], float], smooth: tuple[str, ...] = ("dram",)
    ) -> Changed:
        def answer(chip: Chip, case: Case, scale: Scale) -> Estimate:
            found = Chip.estimate(chip, case, scale)
            return attrs.evolve(found, traffic={"dram": traffic(chip, case)})

        return Changed(answer=answer, smooth=smooth, **self.DRAM)

    @staticmethod
    def room(chip: Chip) -> float:
        return chip.buffer + chip.lane * chip.units

    @pytest.mark.parametrize(
        ("power", "expected"), [(0.0, True), (1.0, True), (1.01, False), (1.5, False)]
    )
    def test_goes_with_the_matrices(self, power: float, *, expected: bool) -> None:
        model = self.fetching(lambda _, case: float(case.bytes) ** power)

        assert holds("SCL004", model, on(Case(gemm(m=3)), **self.ROOMS)) is expected

    def test_goes_with_the_root_of_the_room(self) -> None:
        def missed(power: float) -> Changed:
            return self.fetching(lambda chip, case: case.macs / self.room(chip) ** power)

        assert holds("SCL004", missed(0.5), on(**self.ROOMS))
        assert holds("SCL004", missed(1.0), on(**self.ROOMS))
        assert holds("SCL004", missed(0.4), on(**self.ROOMS)) is False

    def test_allows_whole_lines_and_what_exceeds_the_room(self) -> None:
        lines = self.fetching(lambda _, case: 64 * math.ceil(case.bytes / 64))
        beyond = self.fetching(
            lambda c, case: case.bytes + max(0, case.bytes - self.room(c))
        )

        assert margin("SCL004", lines, on(**self.ROOMS)) > 0.5
        assert margin("SCL004", beyond, on(Case(gemm(m=9)), **self.ROOMS)) == pytest.approx(
            1e-9
        )

    @pytest.mark.parametrize(
        "factors",
        [{"buffer": 4.0}, {"buffer": 4.0, "lane": 9.0}, {"buffer": 3.0, "lane": 3.0}],
    )
    def test_says_nothing_of_other_machines(self, factors: dict[str, float]) -> None:
        model = self.fetching(lambda _, case: float(case.macs))

        assert holds("SCL004", model, on(**factors)) is None

    def test_says_nothing_of_other_operators(self) -> None:
        model = self.fetching(lambda _, case: float(case.ops) ** 9)
        relu = Case(Elementwise(Function.RELU, (4,)))

        assert holds("SCL004", model, on(relu, **self.ROOMS)) is None

    def test_finds_traffic_that_goes_with_the_operations(self) -> None:
        with pytest.raises(Violated):
            assert_holds("SCL004", self.fetching(lambda _, case: float(case.macs)))

    def test_needs_a_smooth_memory(self) -> None:
        model = self.fetching(lambda _, case: float(case.bytes), smooth=("l2",))

        with pytest.raises(NotOffered, match="no memory that it declares as smooth"):
            assert_holds("SCL004", model)
