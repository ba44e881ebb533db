"""The laws of sensitivity and scaling on tiny models, at the edges of their domains."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from joulecheck.case import Case, ScaledCase
from joulecheck.coefficient import Coefficient
from joulecheck.errors import NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.model import Exemption, Scale
from joulecheck.testing import Violated, applicable, assert_holds
from tiny import MAC, Tiny, energy, holds, margin

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

        assert holds("SEN001", cheaper, scaled(dram=0.9), coefficients=declared) is False
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
