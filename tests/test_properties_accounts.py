"""The laws that close accounts, of prices and of what is kept, on tiny models."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from joulecheck.case import Case
from joulecheck.coefficient import Coefficient
from joulecheck.errors import NotOffered
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine, Memory
from joulecheck.model import Scale, Subject
from joulecheck.reference import load_model
from joulecheck.scoring.mutants import REPRESENTATIVES, Mutant
from joulecheck.testing import assert_holds
from joulecheck.workload import Conv2d, Gemm, Node, Precision, Subgraph, Totals
from tiny import MAC, Tiny, at, gemm, holds

OPERANDS = frozenset({"input", "weight", "output"})


def price(name: str, value: float, *terms: str, unit: str = "J/op") -> Coefficient:
    return Coefficient(name, value, unit, terms)


PRICES = {
    "issue": price("issue", 2.0, "control"),
    "branch": price("branch", 5.0, "control"),
    "idle": price("idle", 7.0, "static", unit="W"),
}
EVENTS = {"issue": 3.0, "branch": 1.0, "idle": 2.0}


class TestTermsArePricesTimesEvents:
    """CMP010."""

    @staticmethod
    def holds(
        terms: Mapping[str, float],
        events: Mapping[str, float] = EVENTS,
        prices: Mapping[str, Coefficient] = PRICES,
    ) -> bool | None:
        """Of a model that charges these terms, and the factors of its prices."""

        def answer(case: Case, scale: Scale) -> Estimate:
            del case
            charged = dict(terms)
            for name, count in events.items():
                if name in prices and prices[name].terms:
                    more = (scale.get(name, 1.0) - 1) * prices[name].value * count
                    charged[min(prices[name].terms)] += more
            return Estimate(energy_terms=charged, events=events)

        return holds("CMP010", answer, coefficients=prices)

    @pytest.mark.parametrize(
        ("control", "expected"), [(11.0, True), (5.5, False), (11.1, False), (-11.0, False)]
    )
    def test_a_term_is_the_sum_of_its_prices_times_their_events(
        self, control: float, *, expected: bool
    ) -> None:
        assert self.holds({"control": control, "static": 14.0}) is expected

    def test_every_term_counts(self) -> None:
        assert self.holds({"control": 11.0, "static": 13.0}) is False

    def test_half_a_price_is_no_price_of_half_the_events(self) -> None:
        half = {name: count / 2 for name, count in EVENTS.items()}

        assert self.holds({"control": 5.5, "static": 7.0}, half) is True
        assert self.holds({"control": 5.5, "static": 7.0}) is False

    def test_terms_that_share_a_price_are_compared_together(self) -> None:
        byte = price("byte", 1.0, "near", "far")
        near = price("near", 3.0, "near")
        prices = {"byte": byte, "near": near}
        events = {"byte": 10.0, "near": 1.0}

        assert self.holds({"near": 4.0, "far": 9.0}, events, prices) is True
        assert self.holds({"near": 4.0, "far": 8.0}, events, prices) is False

    def test_says_nothing_of_a_term_with_a_price_without_events(self) -> None:
        events = {"issue": 3.0, "idle": 2.0}

        assert self.holds({"control": 0.0, "static": 14.0}, events) is True
        assert self.holds({"control": 0.0, "static": 1.0}, events) is False

    def test_says_nothing_of_a_term_that_another_figure_moves(self) -> None:
        prices = {**PRICES, "routing": price("routing", 1.5, "control", unit="")}

        assert self.holds({"control": 0.0, "static": 14.0}, prices=prices) is True

    def test_needs_a_claim_of_every_coefficient(self) -> None:
        prices = {**PRICES, "loose": Coefficient("loose", 1.0, "J/op")}
        model = Tiny(
            lambda _: Estimate(energy_terms={"control": 11.0}, events=EVENTS),
            coefficients=prices,
        )

        with pytest.raises(NotOffered, match=r"no energy term that .* alone may move"):
            assert_holds("CMP010", model)

    def test_says_nothing_where_a_case_has_no_count(self) -> None:
        def answer(case: Case) -> Estimate:
            events = {"issue": 1.0} if case == MAC else {}
            return Estimate(energy_terms={"control": 2.0}, events=events)

        one = {"issue": PRICES["issue"]}

        assert holds("CMP010", answer, Case(gemm(m=2)), coefficients=one) is None

    def test_a_price_that_is_not_read_shows_in_the_scaled_answer(self) -> None:
        def answer(case: Case) -> Estimate:
            del case
            return Estimate(energy_terms={"control": 2.0}, events={"issue": 1.0})

        one = {"issue": PRICES["issue"]}

        assert holds("CMP010", answer, coefficients=one) is False

    def test_events_that_hold_the_price_show_in_the_scaled_answer(self) -> None:
        def answer(case: Case, scale: Scale) -> Estimate:
            del case
            joule = 2.0 * scale.get("issue", 1.0)
            return Estimate(energy_terms={"control": joule}, events={"issue": joule / 2.0})

        one = {"issue": PRICES["issue"]}

        assert holds("CMP010", answer, coefficients=one) is False

    def test_a_mapping_may_depend_on_prices(self) -> None:
        def answer(case: Case, scale: Scale) -> Estimate:
            del case
            factor = scale.get("issue", 1.0)
            count = 1.0 if factor > 1 else 3.0
            return Estimate(
                energy_terms={"control": 2.0 * factor * count}, events={"issue": count}
            )

        one = {"issue": PRICES["issue"]}

        assert holds("CMP010", answer, coefficients=one) is True


class TestEventsOfReferenceModels:
    """What the built-in models count."""

    @pytest.mark.parametrize("name", [*REPRESENTATIVES, "reference:Google-TPU-v4@4xN"])
    def test_are_told_of_every_coefficient(self, name: str) -> None:
        subject = Mutant(name, "").sound()

        assert subject.events == subject.coefficients.keys()

    def test_of_another_precision_are_none(self) -> None:
        case = Case(Gemm(m=2, n=3, k=5), Precision.INT8)

        events = load_model("Intel-i7-12700K").estimate(case).events

        assert events["mac_energy.INT8"] == 30
        assert events["mac_energy.FP32"] == 0

    def test_of_static_power_are_the_seconds_that_all_chips_take(self) -> None:
        found = (
            Mutant("reference:Google-TPU-v4@4xN", "")
            .sound()
            .model.estimate(Case(Gemm(m=64, n=64, k=64), Precision.BF16))
        )

        assert found.events["static_power"] == found.latency
        assert found.events["link_energy"] == 3 * 64 * 64 * 2


CONV = Case(Conv2d(n=1, c=1, h=1, w=3, k=1, r=1, s=2))
"""12 bytes of input, 8 of weights, 8 of results; two windows share an element."""


class TestWhatFitsCrossesOnce:
    """BND018."""

    @staticmethod
    def holds(
        crossing: float,
        case: Case = CONV,
        *,
        kept: float = 1e6,
        homes: frozenset[str] = OPERANDS,
        line: int | None = None,
    ) -> bool | None:
        chip = Machine(name="tiny", memories={"dram": Memory(homes=homes, line=line)})
        return holds(
            "BND018",
            lambda _: Estimate(traffic={"dram": crossing}),
            case,
            machine=chip,
            resident={"dram": kept},
        )

    @pytest.mark.parametrize(
        ("crossing", "expected"), [(28.0, True), (20.0, True), (32.0, False)]
    )
    def test_what_fits_is_moved_once(self, crossing: float, *, expected: bool) -> None:
        assert self.holds(crossing) is expected

    @pytest.mark.parametrize(
        ("kept", "expected"), [(28.0, False), (27.0, None), (0.0, None)]
    )
    def test_says_nothing_of_what_does_not_fit(
        self, kept: float, *, expected: bool | None
    ) -> None:
        assert self.holds(32.0, kept=kept) is expected

    @pytest.mark.parametrize(("kept", "expected"), [(6.0, False), (5.0, None)])
    def test_results_need_room_for_partial_sums(
        self, kept: float, *, expected: bool | None
    ) -> None:
        assert self.holds(9.0, at(Precision.INT8), kept=kept) is expected

    def test_counts_the_operands_of_a_home_alone(self) -> None:
        assert self.holds(8.0, homes=frozenset({"weight"})) is True
        assert self.holds(9.0, homes=frozenset({"weight"})) is False

    @pytest.mark.parametrize(("crossing", "expected"), [(96.0, True), (97.0, False)])
    def test_lines_are_moved_whole(self, crossing: float, *, expected: bool) -> None:
        assert self.holds(crossing, line=32) is expected

    def test_intermediates_take_room_and_do_not_cross(self) -> None:
        pair = Subgraph([Node(gemm(m=4)), Node(gemm(m=4), (0, None))])

        # 16 + 4 bytes in, 16 between, 4 + 16 of the second
        assert self.holds(40.0, Case(pair), kept=36.0) is True
        assert self.holds(41.0, Case(pair), kept=36.0) is False
        assert self.holds(41.0, Case(pair), kept=35.0) is None

    def test_needs_a_home_that_is_declared(self) -> None:
        near = Machine(name="tiny", memories={"l2": Memory()})
        answer = Estimate(traffic={"l2": 1.0})

        with pytest.raises(NotOffered, match="no memory with homes"):
            assert_holds("BND018", Tiny(lambda _: answer, machine=near, resident={"l2": 9}))

    def test_needs_operands(self) -> None:
        chip = Machine(name="tiny", memories={"dram": Memory(homes=OPERANDS)})

        def answer(case: Case) -> Estimate:
            assert isinstance(case.workload, Totals)
            return Estimate(traffic={"dram": 1.0})

        model = Tiny(answer, machine=chip, resident={"dram": 9}, operators=("totals",))

        with pytest.raises(NotOffered, match="do not tell operands"):
            assert_holds("BND018", model)


class TestWhatReferenceModelsKeep:
    """`resident` of the built-in models."""

    def test_follows_a_derived_machine(self) -> None:
        subject = Mutant("reference:H100-SXM5-80GB", "").sound()

        half = subject.derived({"l2.capacity": 0.5})

        assert half.resident["dram"] == subject.resident["dram"] / 2

    def test_is_nothing_of_chips_that_share_work(self) -> None:
        chip = Subject.of(load_model("Google-TPU-v4"))

        assert Mutant("reference:Google-TPU-v4@1xM", "").sound().resident == chip.resident
        assert not Mutant("reference:Google-TPU-v4@4xM", "").sound().resident

    @pytest.mark.parametrize("name", REPRESENTATIVES)
    def test_is_of_every_home(self, name: str) -> None:
        subject = Mutant(name, "").sound()

        homes = {n for n, memory in subject.machine.memories.items() if memory.homes}
        assert subject.resident.keys() == homes
        assert min(subject.resident.values()) > 0
