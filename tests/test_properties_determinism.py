"""The laws of determinism and robustness on tiny models."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from joulecheck.case import Case, Cases, ScaledCase
from joulecheck.coefficient import Coefficient, Layer
from joulecheck.errors import NotOffered, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.model import Scale
from joulecheck.property import property_named
from joulecheck.testing import Violated, assert_holds, margin_of, subject_of
from joulecheck.workload import Precision, Totals
from tiny import MAC, Answer, Tiny, TinyInBatches, energy, gemm, holds

OTHER = Case(gemm(m=2))


class TestSameQuestionSameAnswer:
    """DET001."""

    def test_holds_for_a_function(self) -> None:
        assert holds("DET001", energy)

    def test_is_violated_by_a_counter(self) -> None:
        counter = itertools.count(1)

        assert holds("DET001", lambda _: Estimate(energy=float(next(counter)))) is False

    @pytest.mark.parametrize("field", ["energy_terms", "latency_terms", "through"])
    def test_looks_at_every_term(self, field: str) -> None:
        counter = itertools.count(1)
        name = Layer.ALU if field == "through" else "term"

        assert (
            holds("DET001", lambda _: Estimate(**{field: {name: float(next(counter))}}))
            is False
        )

    def test_is_violated_by_a_term_of_the_second_answer_alone(self) -> None:
        answers = iter([{}, {}, {"late": 1.0}])

        found = holds("DET001", lambda _: Estimate(energy=1.0, energy_terms=next(answers)))

        assert found is False

    def test_is_violated_by_an_answer_that_stays_away(self) -> None:
        answers = iter([1.0, 1.0, None])

        assert holds("DET001", lambda _: Estimate(energy=next(answers))) is False

    def test_is_violated_by_raising_the_second_time(self) -> None:
        left = iter([1.0, 1.0])

        def tires(_: Case) -> Estimate:
            for value in left:
                return Estimate(energy=value)
            raise ZeroDivisionError

        assert holds("DET001", tires) is False

    def test_says_nothing_where_every_answer_is_refused(self) -> None:
        def refuses(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return energy(case)

        assert holds("DET001", refuses, OTHER) is None

    def test_is_violated_by_a_perturbation_that_stays(self) -> None:
        price = {"mac": 1.0}

        def keeps(case: Case, scale: Scale) -> Estimate:
            price["mac"] *= scale.get("mac", 1.0)
            return Estimate(energy=price["mac"] * case.ops)

        found = holds(
            "DET001",
            keeps,
            ScaledCase(MAC, {"mac": 1.1}),
            coefficients={"mac": Coefficient("mac", 1.0, "J/op")},
        )

        assert found is False

    def test_needs_no_coefficients(self) -> None:
        assert_holds("DET001", Tiny(energy), max_examples=20)

    def test_is_asked_of_totals(self) -> None:
        counter = itertools.count(1)
        model = Tiny(lambda _: Estimate(energy=float(next(counter))), operators={"totals"})

        with pytest.raises(Violated) as caught:
            assert_holds("DET001", model)

        assert caught.value.case == Case(Totals(1, 1))


def together(answer: Answer) -> Answer:
    """The batch path that answers row by row, and rightly."""

    def answers(cases: Cases) -> Estimate:
        return Estimate(energy=np.array([answer(case).energy for case in cases]))

    return answers


class TestBatchEqualsScalar:
    """DET002."""

    def check(self, batch: Answer, case: Case = MAC, alone: Answer = energy) -> bool | None:
        found = margin_of("DET002", TinyInBatches(alone, batch), case)
        return None if math.isnan(found) else found >= 0

    def test_holds_where_both_paths_agree(self) -> None:
        assert self.check(together(energy))

    def test_allows_rounding(self) -> None:
        def off(by: float) -> bool | None:
            return self.check(lambda cases: Estimate(energy=2e-12 * (1 + by) * cases.macs))

        assert off(1e-10)
        assert off(1e-8) is False

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda _: Estimate(energy=np.array([np.nan])),
            lambda _: Estimate(),
            lambda cases: Estimate(energy=np.ones((len(cases), 2))),
            lambda cases: Estimate(energy=np.ones(len(cases) + 1)),
            lambda cases: Estimate(energy=["a lot" for _ in cases]),
            lambda _: 1 / 0,
            lambda _: None,
        ],
        ids=["nan", "nothing", "matrix", "too-long", "text", "raises", "no-estimate"],
    )
    def test_is_violated_by_a_batch_without_its_numbers(self, wrong: Answer) -> None:
        assert self.check(wrong) is False

    def test_is_violated_by_rows_that_leak_into_each_other(self) -> None:
        def leaks(cases: Cases) -> Estimate:
            return Estimate(energy=1e-12 * np.cumsum(cases.ops))

        subject = subject_of(TinyInBatches(energy, leaks))
        law = property_named("DET002")

        assert law.checked_margin(subject, Cases.of([MAC, MAC])).tolist() == [
            pytest.approx(1e-9),
            pytest.approx(-0.5),
        ]

    def test_leaves_what_both_paths_raise_to_robustness(self) -> None:
        def raises(case: Case) -> Estimate:
            if case != MAC:
                raise ZeroDivisionError
            return energy(case)

        assert self.check(together(raises), OTHER, raises) is None

    def test_says_nothing_of_what_the_scalar_path_refuses(self) -> None:
        def refuses(case: Case) -> Estimate:
            if case != MAC:
                raise Unsupported
            return energy(case)

        assert self.check(together(refuses), OTHER, refuses) is None
        assert self.check(lambda cases: Estimate(energy=cases.ops), OTHER, refuses) is None

    def test_lets_a_batch_be_refused_as_a_whole(self) -> None:
        def refuses(_: Cases) -> Estimate:
            raise Unsupported

        assert self.check(refuses)

    def test_is_not_offered_without_a_batch_path(self) -> None:
        with pytest.raises(NotOffered, match="define estimate_batch"):
            assert_holds("DET002", Tiny(energy))


def later(answer: object) -> Answer:
    """Answers the plainest case soundly, and others so; errors are raised."""

    def answers(case: Case) -> Estimate:
        if case == MAC:
            return Estimate(energy=1.0, latency=1.0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return answers


class Odd(BaseException):
    """No Exception, as few things are."""


class TestValidInputGetsNumbers:
    """ROB001."""

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            (Estimate(energy=1.0, latency=1.0), True),
            (Estimate(energy=0.0, latency=0.0), True),
            (Estimate(energy=1, latency=np.float32(1)), True),
            (Estimate(energy=-1.0, latency=1.0), True),
            (Estimate(energy=math.nan, latency=1.0), False),
            (Estimate(energy=math.inf, latency=1.0), False),
            (Estimate(energy=1.0, latency=-math.inf), False),
            (Estimate(energy=1.0), False),
            (Estimate(energy=1.0, latency=1.0, utilisation=math.nan), True),
            (Estimate(energy=1.0, latency=1.0, energy_terms={"alu": math.nan}), False),
            (Estimate(energy=1.0, latency=1.0, latency_terms={"dram": math.inf}), False),
            (Estimate(energy=1.0, latency=1.0, through={Layer.ALU: math.inf}), False),
            (Estimate(energy="1 J", latency=1.0), False),
            (Estimate(energy=1j, latency=1.0), False),
            (Estimate(energy=1.0, latency=1.0, energy_terms=[1.0]), False),
            (None, False),
            (3.5, False),
            (ZeroDivisionError(), False),
            (RecursionError(), False),
            (SystemExit(1), False),
            (GeneratorExit(), False),
            (Odd(), False),
            (Unsupported(), None),
        ],
        ids=repr,
    )
    def test_judges_an_answer(self, answer: object, *, expected: bool | None) -> None:
        assert holds("ROB001", later(answer), OTHER) is expected

    def test_lets_the_user_interrupt(self) -> None:
        with pytest.raises(KeyboardInterrupt):
            holds("ROB001", later(KeyboardInterrupt()), OTHER)

    def test_asks_only_for_what_the_model_offers(self) -> None:
        assert holds("ROB001", lambda _: Estimate(latency=1.0))
        assert holds("ROB001", lambda _: Estimate(utilisation=1.0))

    def test_shrinks_an_error_to_its_case(self) -> None:
        def narrow(case: Case) -> Estimate:
            if case.precision is Precision.INT8 and case.macs > 99:
                raise IndexError
            return energy(case)

        with pytest.raises(Violated) as caught:
            assert_holds("ROB001", Tiny(narrow))

        assert isinstance(caught.value.case, Case)
        assert caught.value.case.macs == 100
        assert caught.value.case.precision is Precision.INT8
        assert "IndexError" in str(caught.value)
