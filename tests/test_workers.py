"""Supervised workers: whatever a model does, the campaign goes on and names the case."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import pytest

from hostile_models import LARGE
from joulecheck.campaign.search import Searched, Unit
from joulecheck.campaign.workers import Failed, Inline, Pool
from joulecheck.case import Case
from joulecheck.counterexample import Counterexample
from joulecheck.property import property_named
from joulecheck.resolve import ModelRef

HANG_SECONDS = 1.0

DEADLY = ("HardExit", "Segfault", "Hang")
RAISING = ("Exit", "RaiseOdd", "Nan", "WrongType")
BATCHED = ("HangInBoth", "ExitInBoth")
BATCH_ONLY = ("HangInBatch", "ExitInBatch")
EVERYBODY = ("Sound", "Print", "Interrupt", *DEADLY, *RAISING, *BATCHED, *BATCH_ONLY)


def named(model: str) -> str:
    return f"hostile_models:{model}"


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    """Two workers for all tests: each test so follows upon the deaths of others."""
    refs = {named(model): ModelRef(named(model)) for model in EVERYBODY}
    with Pool(refs, 2, hang_seconds=HANG_SECONDS) as made:
        yield made


def units(*models: str, law: str = "ROB001", cases: int = 256) -> list[Unit]:
    return [Unit(named(model), law, 1, 0, cases) for model in models]


def only(outcomes: Iterator[Searched | Failed]) -> Searched | Failed:
    (outcome,) = outcomes
    return outcome


def assert_guilty(found: Counterexample | None) -> None:
    """The case is one that the model dies of."""
    assert found is not None
    assert found.property == "ROB001"
    assert found.margin < 0
    assert isinstance(found.case, Case)
    assert found.case.macs >= LARGE
    law, sound = property_named("ROB001"), ModelRef(named("Sound")).load()
    assert law.space(sound).build(found.genes) == found.case


class TestContained:
    """One hostile model."""

    @pytest.mark.parametrize("model", DEADLY)
    def test_names_the_case_that_kills(self, pool: Pool, model: str) -> None:
        outcome = only(pool.run(units(model), None))

        assert isinstance(outcome, Failed)
        assert_guilty(outcome.counterexample)

    @pytest.mark.parametrize("model", BATCHED)
    def test_names_the_case_that_kills_a_batch(self, pool: Pool, model: str) -> None:
        outcome = only(pool.run(units(model), None))

        assert isinstance(outcome, Failed)
        assert_guilty(outcome.counterexample)

    @pytest.mark.parametrize("model", BATCH_ONLY)
    def test_reports_a_batch_path_that_dies_alone(self, pool: Pool, model: str) -> None:
        outcome = only(pool.run(units(model), None))

        assert isinstance(outcome, Failed)
        assert "in a batch" in outcome.reason
        assert outcome.counterexample is None

    @pytest.mark.parametrize("model", RAISING)
    def test_makes_a_small_finding_of_what_is_raised(self, pool: Pool, model: str) -> None:
        screened = only(pool.run(units(model), None))
        assert isinstance(screened, Searched)
        assert screened.failing

        after = attrs.evolve(screened.unit, follow=screened.failing)
        outcome = only(pool.run([after], None))

        assert isinstance(outcome, Searched)
        assert_guilty(outcome.counterexample)
        assert outcome.counterexample.case.macs < 1.01 * LARGE

    def test_takes_no_interrupt_from_a_model(self, pool: Pool) -> None:
        outcome = only(pool.run(units("Interrupt"), None))

        assert isinstance(outcome, Failed)
        assert outcome.reason == "the model raised KeyboardInterrupt"

    def test_keeps_the_standard_output_clean(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with Pool({named("Print"): ModelRef(named("Print"))}, 1) as pool:
            outcome = only(pool.run(units("Print"), None))

        assert isinstance(outcome, Searched)
        assert outcome.counterexample is None
        out, err = capfd.readouterr()
        assert out == ""
        assert "noise from Python" in err
        assert "noise from below" in err

    def test_says_why(self, pool: Pool) -> None:
        hang, death = pool.run(units("Hang", "HardExit"), None)

        assert isinstance(hang, Failed)
        assert isinstance(death, Failed)
        assert hang.reason == "the model gave no answer for 1 s"
        assert death.reason == "the process that asked the model died (exit 3)"
        assert death.counterexample is not None
        assert death.counterexample.numbers[0].error == death.reason

    def test_names_no_case_of_another_kind(self, pool: Pool) -> None:
        outcome = only(pool.run(units("HardExit", law="MON002"), None))

        assert isinstance(outcome, Failed)
        assert outcome.counterexample is None


class TestTogether:
    """Sound models beside hostile ones."""

    def test_outcomes_come_in_the_order_of_the_units(self, pool: Pool) -> None:
        asked = units("Hang", "Sound", "HardExit", "Sound", "Exit", "Sound")

        outcomes = list(pool.run(asked, None))

        assert [outcome.unit for outcome in outcomes] == asked
        assert [type(outcome) for outcome in outcomes] == [
            Failed,
            Searched,
            Failed,
            Searched,
            Searched,
            Searched,
        ]

    def test_a_sound_model_gets_what_it_gets_inline(self, pool: Pool) -> None:
        asked = units("Sound", cases=64)
        subject = ModelRef(named("Sound")).load()

        apart = only(pool.run(asked, None))
        here = only(Inline({subject.name: subject}).run(asked, None))

        assert isinstance(apart, Searched)
        assert isinstance(here, Searched)
        assert (apart.checks, apart.in_domain) == (here.checks, here.in_domain)
        assert apart.least_margin == here.least_margin
