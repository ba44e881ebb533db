"""The laws of sensitivity and scaling on tiny models, at the edges of their domains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from joulecheck.case import Case, CoefficientCase, ScaledCase
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.errors import NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.model import UNSCALED, Exemption, Scale
from joulecheck.testing import Violated, applicable, assert_holds, margin_of
from joulecheck.workload import Precision
from tiny import MAC, Answer, Tiny, energy, holds, margin

FACTORS = (0.5, 0.9, 1 - 1e-6, 1 + 1e-6, 1.1, 2.0)


def coefficients(**terms: str | None) -> dict[str, Coefficient]:
    """By name: the terms that each moves, separated by spaces; None claims nothing."""
    return {
        name: Coefficient(name, 1.0, "J/op", moved if moved is None else moved.split())
        for name, moved in terms.items()
    }


def scaled(**scale: float) -> ScaledCase:
    return ScaledCase(MAC, scale)


def priced(case: Case, scale: Scale) -> Estimate:
    """Two terms: one of one coefficient, and one of the sum of two."""
    of = {name: scale.get(name, 1.0) for name in ("mac", "fetch", "decode")}
    terms = {
        "alu": case.ops * of["mac"],
        "pipeline": case.ops * (2 * of["fetch"] + 3 * of["decode"]),
    }
    return Estimate(energy=sum(terms.values()), energy_terms=terms, latency=1.0)


PRICED = coefficients(mac="alu", fetch="pipeline", decode="pipeline")


def one_term(value: object) -> object:
    """A model with the term "alu" as a function of the factor of "mac"."""

    def answer(case: Case, scale: Scale) -> Estimate:
        del case
        alu = value(scale.get("mac", 1.0))
        return Estimate(energy=alu, energy_terms={"alu": alu})

    return answer


class TestOwnTermsInProportion:
    """SEN001."""

    @pytest.mark.parametrize("factor", FACTORS)
    def test_holds_for_one_owner(self, factor: float) -> None:
        case = scaled(mac=factor)

        assert holds("SEN001", priced, case, coefficients=PRICED)

    @pytest.mark.parametrize("fetch", FACTORS)
    @pytest.mark.parametrize("decode", [0.5, 1.0, 1.1])
    def test_holds_for_a_term_of_several_owners(self, fetch: float, decode: float) -> None:
        case = scaled(fetch=fetch, decode=decode)

        assert holds("SEN001", priced, case, coefficients=PRICED)

    def test_never_asks_for_a_negative_coefficient(self) -> None:
        asked: list[float] = []

        def remembering(case: Case, scale: Scale) -> Estimate:
            asked.extend(scale.values())
            return priced(case, scale)

        assert holds("SEN001", remembering, scaled(fetch=10.0), coefficients=PRICED)
        assert min(asked) >= 0

    @pytest.mark.parametrize(
        "response",
        [
            lambda _: 1.0,  # dead
            lambda f: f**2,  # used twice
            lambda f: 1 + 0.99 * (f - 1),  # with a constant beside it
            lambda f: min(f, 1.05),  # picks another mapping
        ],
    )
    def test_is_violated_by_another_response_of_one_owner(self, response: object) -> None:
        declared = coefficients(mac="alu")

        found = holds("SEN001", one_term(response), scaled(mac=1.1), coefficients=declared)

        assert found is False

    def test_is_violated_by_a_term_beyond_its_coefficients(self) -> None:
        def steep(case: Case, scale: Scale) -> Estimate:
            fetch, decode = (scale.get(n, 1.0) for n in ("fetch", "decode"))
            term = case.ops * fetch**3 * decode
            return Estimate(energy=term, energy_terms={"pipeline": term})

        declared = coefficients(fetch="pipeline", decode="pipeline")

        assert holds("SEN001", steep, scaled(fetch=1.1), coefficients=declared) is False

    def test_is_violated_by_a_concave_mapper(self) -> None:
        """An energy-optimal mapping takes the cheaper of two: concave, not affine."""

        def cheaper(case: Case, scale: Scale) -> Estimate:
            dram, sram = (scale.get(n, 1.0) for n in ("dram", "sram"))
            term = case.ops * min(3 * dram + sram, dram + 3.1 * sram)
            return Estimate(energy=term, energy_terms={"memory": term})

        declared = coefficients(dram="memory", sram="memory")

        assert holds("SEN001", cheaper, scaled(dram=1.2), coefficients=declared) is False
        assert holds("SEN001", cheaper, scaled(dram=1.01), coefficients=declared)

    def test_lets_a_mapper_declare_an_exemption(self) -> None:
        model = Tiny(
            priced,
            coefficients=PRICED,
            exemptions=[Exemption("SEN001", "maps for least energy")],
        )

        with pytest.raises(NotOffered, match="maps for least energy"):
            assert_holds("SEN001", model)

    def test_says_nothing_of_coefficients_that_claim_no_term(self) -> None:
        declared = coefficients(mac=None)

        found = holds(
            "SEN001", one_term(lambda _: 1.0), scaled(mac=1.1), coefficients=declared
        )

        assert found is None

    def test_holds_for_a_term_of_nothing(self) -> None:
        declared = coefficients(mac="alu")

        found = holds(
            "SEN001", one_term(lambda _: 0.0), scaled(mac=2.0), coefficients=declared
        )

        assert found

    def test_counts_a_term_that_appears_under_perturbation_only(self) -> None:
        def appears(case: Case, scale: Scale) -> Estimate:
            del case
            terms = {"alu": 1.0, "late": 1.0} if scale else {"alu": 1.0}
            return Estimate(energy=1.0, energy_terms=terms)

        declared = coefficients(mac="late")

        assert holds("SEN001", appears, scaled(mac=1.1), coefficients=declared) is False

    def test_says_nothing_where_the_case_is_refused(self) -> None:
        def refused(case: Case, scale: Scale) -> Estimate:
            if scale:
                raise Unsupported
            return Estimate(energy=1.0, energy_terms={"alu": float(case.ops)})

        declared = coefficients(mac="alu")

        assert holds("SEN001", refused, scaled(mac=1.1), coefficients=declared) is None

    def test_holds_over_random_cases(self) -> None:
        assert_holds("SEN001", Tiny(priced, coefficients=PRICED), max_examples=200)


class TestTotalMovesWithItsTerms:
    """SEN010."""

    DECLARED = coefficients(mac="alu", branch="control")

    def holds(self, counted: float, **scale: float) -> bool | None:
        """Of a model with a tiny term that the total counts so many times."""

        def answer(case: Case, scale: Scale) -> Estimate:
            alu = case.ops * scale.get("mac", 1.0)
            control = 1e-6 * scale.get("branch", 1.0)
            terms = {"alu": alu, "control": control}
            return Estimate(energy=alu + counted * control, energy_terms=terms)

        return holds("SEN010", answer, scaled(**scale), coefficients=self.DECLARED)

    @pytest.mark.parametrize("counted", [0.0, 2.0, -1.0])
    def test_sees_what_is_too_small_for_the_sum(self, counted: float) -> None:
        assert self.holds(counted, branch=1.1) is False
        assert self.holds(counted, mac=1.1) is True

    @pytest.mark.parametrize("factor", [0.0, 0.5, 1.1, 10.0])
    def test_holds_for_a_sum(self, factor: float) -> None:
        assert self.holds(1.0, branch=factor, mac=factor)

    def test_says_nothing_of_a_change_that_drowns(self) -> None:
        assert self.holds(0.0, branch=1 + 1e-6) is None
        assert self.holds(0.0) is None

    def test_says_nothing_of_a_change_that_drowns_in_what_cancels(self) -> None:
        def answer(case: Case, scale: Scale) -> Estimate:
            alu, control = case.ops * scale.get("mac", 1.0), 1e8
            terms = {"alu": alu, "control": control}
            return Estimate(energy=(alu + control) - control, energy_terms=terms)

        declared = self.DECLARED

        assert holds("SEN010", answer, scaled(mac=1 + 1e-6), coefficients=declared) is None
        assert holds("SEN010", answer, scaled(mac=2.0), coefficients=declared)

    def test_leaves_out_what_the_total_excludes(self) -> None:
        def answer(case: Case, scale: Scale) -> Estimate:
            terms = {"alu": case.ops * 1.0, "control": scale.get("branch", 1.0)}
            return Estimate(
                energy=terms["alu"], energy_terms=terms, scope=frozenset({"alu"})
            )

        found = holds("SEN010", answer, scaled(branch=2.0), coefficients=self.DECLARED)

        assert found is None


class TestNoOtherTerm:
    """SEN002."""

    def test_holds_where_only_its_own_term_moves(self) -> None:
        assert holds("SEN002", priced, scaled(mac=2.0), coefficients=PRICED)

    def test_is_violated_by_a_leak(self) -> None:
        def leaking(case: Case, scale: Scale) -> Estimate:
            found = priced(case, scale)
            terms = dict(found.energy_terms)
            terms["pipeline"] = float(terms["pipeline"]) * scale.get("mac", 1.0)
            return Estimate(latency=1.0, energy_terms=terms)

        assert holds("SEN002", leaking, scaled(mac=1.1), coefficients=PRICED) is False
        assert holds("SEN002", leaking, scaled(fetch=1.1), coefficients=PRICED)
        assert holds("SEN002", leaking, scaled(mac=1.1, fetch=1.1), coefficients=PRICED)

    def test_is_violated_by_a_latency_that_moves(self) -> None:
        def throttled(case: Case, scale: Scale) -> Estimate:
            slower = scale.get("mac", 1.0)
            terms = priced(case, scale).energy_terms
            return Estimate(latency=slower, energy_terms=terms)

        assert holds("SEN002", throttled, scaled(mac=1.1), coefficients=PRICED) is False

    def test_is_violated_by_a_term_that_vanishes(self) -> None:
        def vanishing(case: Case, scale: Scale) -> Estimate:
            del case
            terms = {"alu": 1.0} if scale else {"alu": 1.0, "other": 1.0}
            return Estimate(energy_terms=terms)

        declared = coefficients(mac="alu")

        assert holds("SEN002", vanishing, scaled(mac=1.1), coefficients=declared) is False

    def test_is_violated_by_a_term_that_appears(self) -> None:
        def appearing(case: Case, scale: Scale) -> Estimate:
            del case
            terms = {"alu": 1.0, "other": 1.0} if scale else {"alu": 1.0}
            return Estimate(energy_terms=terms)

        declared = coefficients(mac="alu")

        assert holds("SEN002", appearing, scaled(mac=1.1), coefficients=declared) is False

    def test_lets_a_coefficient_without_terms_move_anything(self) -> None:
        declared = coefficients(mac=None)

        found = holds(
            "SEN002", one_term(lambda f: f), scaled(mac=1.1), coefficients=declared
        )

        assert found is None

    def test_holds_over_random_cases(self) -> None:
        assert_holds("SEN002", Tiny(priced, coefficients=PRICED), max_examples=200)


class TestEnergyScalesWithCoefficients:
    """SCL001."""

    @pytest.mark.parametrize("factor", FACTORS)
    def test_holds_for_sums_of_prices(self, factor: float) -> None:
        case = ScaledCase(MAC, dict.fromkeys(PRICED, factor))

        assert holds("SCL001", priced, case, coefficients=PRICED)

    def test_holds_for_a_concave_mapper(self) -> None:
        def cheaper(case: Case, scale: Mapping[str, float]) -> Estimate:
            dram, sram = (scale.get(n, 1.0) for n in ("dram", "sram"))
            return Estimate(energy=case.ops * min(3 * dram, dram + 3.1 * sram))

        model = Tiny(cheaper, coefficients=coefficients(dram="memory", sram="memory"))

        assert_holds("SCL001", model, max_examples=200)

    @pytest.mark.parametrize(
        "response",
        [
            lambda _: 1.0,
            lambda f: f + 1e-6,  # a constant in joule
            lambda f: f * f,  # a product of two prices
        ],
    )
    def test_is_violated_by_anything_else(self, response: object) -> None:
        declared = coefficients(mac="alu")

        found = holds("SCL001", one_term(response), scaled(mac=1.1), coefficients=declared)

        assert found is False

    def test_scales_powers_and_leaves_rates_alone(self) -> None:
        declared = {
            "mac": Coefficient("mac", 1.0, "J/op"),
            "static": Coefficient("static", 1.0, "W"),
            "bandwidth": Coefficient("bandwidth", 1.0, "B/s"),
        }
        asked: list[frozenset[str]] = []

        def answer(case: Case, scale: Scale) -> Estimate:
            asked.append(frozenset(scale))
            prices = scale.get("mac", 1.0) + scale.get("static", 1.0)
            return Estimate(energy=case.ops * prices)

        assert_holds("SCL001", Tiny(answer, coefficients=declared), max_examples=20)

        assert set(asked) == {frozenset(), frozenset({"mac", "static"})}

    def test_is_violated_first_by_the_plainest_factor(self) -> None:
        model = Tiny(one_term(lambda f: f + 1e-6), coefficients=coefficients(mac="alu"))

        with pytest.raises(Violated) as caught:
            assert_holds("SCL001", model)

        assert caught.value.case == scaled(mac=1.1)

    def test_is_not_offered_without_prices(self) -> None:
        rates = {"bandwidth": Coefficient("bandwidth", 1.0, "B/s")}

        assert "SCL001" not in applicable(Tiny(energy, coefficients=rates))
        with pytest.raises(NotOffered, match="no coefficient whose unit is in J or W"):
            assert_holds("SCL001", Tiny(energy, coefficients=rates))

    def test_shows_the_difference(self) -> None:
        declared = coefficients(mac="alu")

        found = margin(
            "SCL001", one_term(lambda _: 1.0), scaled(mac=2.0), coefficients=declared
        )

        assert found == pytest.approx(-0.5)


def quiet(scale: Scale) -> dict[str, float]:
    """The factors of three coefficients."""
    return {name: scale.get(name, 1.0) for name in ("mac", "fetch", "decode")}


def total(value: Callable[[Mapping[str, float]], float]) -> Answer:
    """A model whose total alone is a function of the factors."""

    def answer(case: Case, scale: Scale) -> Estimate:
        return Estimate(energy=case.ops * value(quiet(scale)))

    return answer


UNCLAIMED = coefficients(mac=None, fetch=None, decode=None)
"""Coefficients that claim no term, of which SEN001 and SEN002 say nothing."""


class TestAffineResponse:
    """SEN003."""

    @pytest.mark.parametrize("factor", FACTORS)
    def test_holds_for_a_price_among_others(self, factor: float) -> None:
        answer = total(lambda f: 3 * f["mac"] + f["fetch"] * f["decode"])

        assert holds("SEN003", answer, scaled(mac=factor), coefficients=UNCLAIMED)
        assert holds("SEN003", answer, scaled(fetch=factor), coefficients=UNCLAIMED)

    @pytest.mark.parametrize(
        "response",
        [
            lambda f: f["mac"] ** 2,
            lambda f: 1 / f["mac"],
            lambda f: min(f["mac"], 1.5),
            lambda f: round(f["mac"]),
            lambda f: min(3 * f["mac"], f["mac"] + 2.1),  # picks another mapping
        ],
        ids=["squared", "inverted", "clipped", "rounded", "concave"],
    )
    def test_is_violated_by_a_bent_response(self, response: Any) -> None:  # noqa: ANN401 - any function
        found = holds("SEN003", total(response), scaled(mac=2.0), coefficients=UNCLAIMED)

        assert found is False

    def test_looks_at_every_term(self) -> None:
        def bent(case: Case, scale: Scale) -> Estimate:
            alu = case.ops * scale.get("mac", 1.0) ** 2
            return Estimate(energy=1e9, energy_terms={"alu": alu})

        assert holds("SEN003", bent, scaled(mac=2.0), coefficients=UNCLAIMED) is False

    def test_looks_at_every_prediction_through_a_layer(self) -> None:
        def bent(case: Case, scale: Scale) -> Estimate:
            alu = case.ops * scale.get("mac", 1.0) ** 2
            return Estimate(energy=1e9, through={Layer.ALU: alu})

        assert holds("SEN003", bent, scaled(mac=2.0), coefficients=UNCLAIMED) is False

    def test_asks_about_one_coefficient_at_a_time(self) -> None:
        asked: list[int] = []

        def answer(case: Case, scale: Scale) -> Estimate:
            asked.append(len(scale))
            return priced(case, scale)

        assert_holds("SEN003", Tiny(answer, coefficients=PRICED), max_examples=50)

        assert set(asked) == {0, 1}


class TestElasticitiesSumToOne:
    """SEN004."""

    def test_holds_for_sums_of_prices(self) -> None:
        assert holds("SEN004", priced, coefficients=PRICED)

    @pytest.mark.parametrize(
        "bill",
        [
            lambda f: f["mac"] + f["fetch"] + 1e-6,
            lambda f: f["mac"] + f["fetch"] * f["decode"],
            lambda f: f["mac"] ** 2,
            lambda _: 1.0,
        ],
        ids=["hidden constant", "product", "squared", "all dead"],
    )
    def test_is_violated_by_an_account_that_does_not_close(self, bill: Any) -> None:  # noqa: ANN401 - any function
        assert holds("SEN004", total(bill), coefficients=UNCLAIMED) is False

    def test_is_violated_within_a_term_of_a_total_that_closes(self) -> None:
        def swapped(case: Case, scale: Scale) -> Estimate:
            mac, fetch = (case.ops * scale.get(n, 1.0) for n in ("mac", "fetch"))
            terms = {"alu": mac + fetch - case.ops, "pipeline": float(case.ops)}
            return Estimate(energy=mac + fetch, energy_terms=terms)

        assert holds("SEN004", swapped, coefficients=UNCLAIMED) is False

    def test_leaves_rates_out_of_the_account(self) -> None:
        declared = {**coefficients(mac=None), "rate": Coefficient("rate", 1.0, "B/s")}

        assert holds("SEN004", total(lambda f: f["mac"]), coefficients=declared)

    def test_is_not_offered_without_prices(self) -> None:
        rates = {"bandwidth": Coefficient("bandwidth", 1.0, "B/s")}

        assert "SEN004" not in applicable(Tiny(energy, coefficients=rates))

    def test_holds_over_random_cases(self) -> None:
        assert_holds("SEN004", Tiny(priced, coefficients=PRICED), max_examples=50)


def tried(name: str, witnesses: int = 64) -> CoefficientCase:
    return CoefficientCase(name, witnesses)


class TestNoDeadCoefficient:
    """SEN005."""

    def test_holds_where_some_case_responds(self) -> None:
        def rare(case: Case, scale: Scale) -> Estimate:
            wide = case.precision is Precision.INT8 and case.macs > 1000
            return Estimate(energy=case.ops * (scale.get("mac", 1.0) if wide else 1.0))

        assert holds("SEN005", rare, tried("mac"), coefficients=coefficients(mac=None))

    def test_is_violated_where_none_does(self) -> None:
        assert holds("SEN005", priced, tried("mac"), coefficients=PRICED)
        declared = {**PRICED, **coefficients(dead="alu")}

        assert holds("SEN005", priced, tried("dead"), coefficients=declared) is False

    def test_names_the_effort(self) -> None:
        asked: list[Case] = []

        def answer(case: Case, scale: Scale) -> Estimate:
            asked.append(case)
            del scale
            return Estimate(energy=1.0)

        declared = coefficients(dead=None)

        assert holds("SEN005", answer, tried("dead", 7), coefficients=declared) is False
        assert len({id(case) for case in asked[-21:]}) == 7

    @pytest.mark.parametrize("field", ["latency", "energy_terms", "latency_terms"])
    def test_a_response_of_any_quantity_counts(self, field: str) -> None:
        def answer(case: Case, scale: Scale) -> Estimate:
            value = case.bytes / scale.get("bandwidth", 1.0)
            return Estimate(**{field: value if field == "latency" else {"dram": value}})

        declared = {"bandwidth": Coefficient("bandwidth", 1.0, "B/s")}

        assert holds("SEN005", answer, tried("bandwidth"), coefficients=declared)

    def test_a_rate_may_respond_one_way_only(self) -> None:
        def answer(case: Case, scale: Scale) -> Estimate:
            slow = case.ops / min(scale.get("bandwidth", 1.0), 1.0)
            return Estimate(latency=slow)

        declared = {"bandwidth": Coefficient("bandwidth", 1.0, "B/s")}

        assert holds("SEN005", answer, tried("bandwidth"), coefficients=declared)

    def test_raising_under_a_factor_is_no_response(self) -> None:
        def raises(case: Case, scale: Scale) -> Estimate:
            if scale:
                raise ZeroDivisionError
            return energy(case)

        found = holds("SEN005", raises, tried("mac"), coefficients=PRICED)

        assert found is None

    def test_leaves_out_what_is_0(self) -> None:
        declared = {**PRICED, "free": Coefficient("free", 0.0, "J/B")}

        assert_holds("SEN005", Tiny(priced, coefficients=declared))

    def test_finds_the_dead_one_among_others(self) -> None:
        declared = {**PRICED, **coefficients(dead=None)}

        with pytest.raises(Violated) as caught:
            assert_holds("SEN005", Tiny(priced, coefficients=declared))

        assert isinstance(caught.value.case, CoefficientCase)
        assert caught.value.case.coefficient == "dead"

    def test_is_not_offered_where_all_are_0(self) -> None:
        free = {"free": Coefficient("free", 0.0, "J/B")}

        with pytest.raises(NotOffered, match="no coefficient other than 0"):
            assert_holds("SEN005", Tiny(priced, coefficients=free))


class TestPairsAdditive:
    """SEN006."""

    @pytest.mark.parametrize("factor", FACTORS)
    def test_holds_for_sums_of_prices(self, factor: float) -> None:
        case = scaled(mac=factor, fetch=1.1)

        assert holds("SEN006", priced, case, coefficients=PRICED)

    def test_is_violated_by_a_product(self) -> None:
        answer = total(lambda f: f["mac"] + f["fetch"] * f["decode"])
        case = scaled(fetch=1.1, decode=0.9)

        assert holds("SEN006", answer, case, coefficients=UNCLAIMED) is False
        assert holds("SEN006", answer, scaled(mac=2.0, fetch=1.1), coefficients=UNCLAIMED)

    def test_is_violated_by_a_product_that_keeps_the_degree(self) -> None:
        answer = total(lambda f: f["mac"] * f["fetch"] / f["decode"])

        found = holds("SEN006", answer, scaled(mac=1.1, fetch=1.1), coefficients=UNCLAIMED)

        assert found is False

    def test_perturbs_two_at_a_time(self) -> None:
        asked: set[int] = set()

        def answer(case: Case, scale: Scale) -> Estimate:
            asked.add(len(scale))
            return priced(case, scale)

        assert_holds("SEN006", Tiny(answer, coefficients=PRICED), max_examples=50)

        assert asked == {0, 1, 2}

    def test_is_not_offered_with_one_coefficient(self) -> None:
        declared = coefficients(mac="alu")

        with pytest.raises(NotOffered, match="declares only mac in J or W"):
            assert_holds("SEN006", Tiny(one_term(lambda f: f), coefficients=declared))


class TestCheaperNeverDearer:
    """SEN008."""

    @pytest.mark.parametrize("factor", FACTORS)
    def test_holds_for_sums_of_prices(self, factor: float) -> None:
        assert holds("SEN008", priced, scaled(mac=factor), coefficients=PRICED)

    @pytest.mark.parametrize("factor", FACTORS)
    def test_holds_for_the_cheapest_of_mappings(self, factor: float) -> None:
        answer = total(lambda f: min(3 * f["mac"], f["mac"] + 2.1 * f["fetch"]))

        assert holds("SEN008", answer, scaled(mac=factor), coefficients=UNCLAIMED)

    @pytest.mark.parametrize("factor", [0.5, 0.9, 1.1, 2.0])
    def test_is_violated_by_a_saving_that_costs(self, factor: float) -> None:
        answer = total(lambda f: 1 / f["mac"])

        found = holds("SEN008", answer, scaled(mac=factor), coefficients=UNCLAIMED)

        assert found is False

    def test_is_violated_by_a_mapping_that_weighs_energy_against_time(self) -> None:
        """Least energy-delay product: the fast mapping wins when its price falls."""

        def least_product(case: Case, scale: Scale) -> Estimate:
            dram = scale.get("mac", 1.0)
            options = [(10.0, 10.0), (9.5 * dram + 5.5, 7.0)]
            joule, seconds = min(options, key=lambda option: option[0] * option[1])
            del case
            return Estimate(energy=joule, latency=seconds)

        found = holds("SEN008", least_product, scaled(mac=0.9), coefficients=UNCLAIMED)

        assert found is False


class TestPerturbationLeavesNoTrace:
    """SEN009."""

    class Stateful:
        """A model that sets its price for a call, and resets it in its own way."""

        name = "stateful"
        precisions = (Precision.FP32,)
        coefficients = coefficients(mac="alu")

        def __init__(self, *, resets: bool = True, on_error: bool = True) -> None:
            self.price = 1.0
            self.resets = resets
            self.on_error = on_error

        def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
            if scale:
                self.price = scale.get("mac", 1.0)
            if not scale.keys() <= {"mac"} or case.precision is not Precision.FP32:
                if self.on_error:
                    self.price = 1.0
                raise Unsupported
            found = Estimate(energy=self.price * case.ops)
            if self.resets:
                self.price = 1.0
            return found

    @pytest.mark.parametrize(
        ("resets", "on_error", "expected"),
        [(True, True, True), (True, False, False), (False, True, False)],
    )
    def test_asks_after_a_call_and_after_one_that_fails(
        self, *, resets: bool, on_error: bool, expected: bool
    ) -> None:
        model = self.Stateful(resets=resets, on_error=on_error)

        for _ in range(3):  # whatever was left behind by the time before
            margin = margin_of("SEN009", model, scaled(mac=1.1))
            assert (margin >= 0) is expected

    def test_holds_for_a_function(self) -> None:
        assert_holds("SEN009", Tiny(priced, coefficients=PRICED), max_examples=50)

    def test_a_perturbation_that_is_not_refused_is_one_like_others(self) -> None:
        assert holds("SEN009", priced, scaled(mac=1.1), coefficients=PRICED)
