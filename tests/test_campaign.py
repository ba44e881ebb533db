"""Campaigns: the same findings however they run, and nothing that is left unsaid."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np
import pytest

from joulecheck.campaign.campaign import SCALAR_EPOCH, Campaign, Extent, Plan, plan
from joulecheck.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    CounterexampleFound,
    EpochFinished,
    Event,
    ModelFailed,
    Pair,
    PairSkipped,
    RoundFinished,
    StaleExemption,
    Tally,
    Unconfirmed,
)
from joulecheck.campaign.search import (
    Searched,
    Unit,
    batches,
    generator,
    search_and_minimise,
)
from joulecheck.campaign.workers import Executor, Failed, Inline, Pool
from joulecheck.case import Case, Cases
from joulecheck.errors import Unsupported
from joulecheck.estimate import Estimate
from joulecheck.model import Exemption, Subject
from joulecheck.property import installed, property_named, selected
from joulecheck.resolve import ModelRef
from joulecheck_strategies.for_model import workloads
from tiny import MAC, Answer, Tiny, TinyInBatches, energy

CPU, TPU = "reference:Intel-i7-12700K", "reference:Google-TPU-v1"
ARM = "reference:Ampere-AmpereOne-128"
CASES = 1000
REFS = {
    CPU: ModelRef(CPU, "dropped-term"),
    ARM: ModelRef(ARM, "dropped-term"),
    TPU: ModelRef(TPU, "misplaced-layer"),
    "hostile_models:Sound": ModelRef("hostile_models:Sound"),
    "hostile_models:Nan": ModelRef("hostile_models:Nan"),
}

LAWS = (
    "BND001", "CMP001", "CMP002", "DET001", "MON001", "ORD004", "PRC001", "ROB001",
    "SEN001",
)  # fmt: skip
"""One or two of most kinds of case."""

E = TypeVar("E")


def campaign(
    models: Sequence[Subject],
    laws: Sequence[str] = (),
    *,
    seed: int = 1,
    extent: Extent | None = None,
    executor: Executor | None = None,
    **settings: Any,  # noqa: ANN401 - those of a Campaign
) -> list[Event]:
    """All events of a campaign over models, in this process unless told otherwise."""
    return list(
        Campaign(
            models,
            [property_named(law) for law in laws] or list(installed().values()),
            seed=seed,
            extent=extent or Extent(cases=256),
            executor=executor or Inline({model.name: model for model in models}),
            **settings,
        ).run()
    )


def tiny(answer: Answer = energy, **declared: object) -> Subject:
    return Subject.of(Tiny(answer, **declared))


def of(kind: type[E], events: Sequence[Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def one(kind: type[E], events: Sequence[Event]) -> E:
    (found,) = of(kind, events)
    return found


def without_times(event: Event) -> Event:
    """An event as another run must give it."""
    match event:
        case EpochFinished():
            searched = attrs.evolve(event.searched, seconds=0.0)
            return attrs.evolve(event, searched=searched)
        case CounterexampleFound() | CampaignFinished():
            return attrs.evolve(event, seconds=0.0)
        case _:
            return event


def told(executor: Executor | None = None, seed: int = 1) -> list[str]:
    """What a campaign over four models, two of them faulty, tells."""
    models = [ref.load() for ref in REFS.values()]
    extent = Extent(cases=CASES)
    found = campaign(models, LAWS, seed=seed, extent=extent, executor=executor)
    return [repr(without_times(event)) for event in found]


@pytest.fixture(scope="module")
def inline() -> list[str]:
    return told()


class TestReproducible:
    """With a number of cases, everything follows from the seed."""

    @pytest.mark.parametrize("workers", [1, 2])
    def test_for_any_number_of_workers(self, inline: list[str], workers: int) -> None:
        with Pool(REFS, workers) as pool:
            assert told(pool) == inline

    def test_when_run_again(self, inline: list[str]) -> None:
        assert told() == inline

    def test_but_not_for_another_seed(self, inline: list[str]) -> None:
        assert told(seed=2) != inline

    def test_in_continuous_integration(self, inline: list[str]) -> None:
        script = "import test_campaign; print(chr(10).join(test_campaign.told()))"

        done = subprocess.run(  # noqa: S603 - this interpreter and this module
            [sys.executable, "-c", script],
            env={**os.environ, "CI": "1", "PYTHONPATH": str(Path(__file__).parent)},
            capture_output=True,
            text=True,
            check=True,
        )

        assert done.stdout.splitlines() == inline

    def test_and_finds_what_is_planted(self, inline: list[str]) -> None:
        models = [ref.load() for ref in REFS.values()]
        events = campaign(models, LAWS, extent=Extent(cases=CASES))

        found = [event.counterexample for event in of(CounterexampleFound, events)]
        assert {(one.model, one.property) for one in found} == {
            (CPU, "CMP001"),
            (TPU, "CMP002"),
            ("hostile_models:Nan", "ROB001"),
        }
        assert len(inline) > len(found)


class TestGenerator:
    """Random numbers by unit."""

    UNIT = Unit(CPU, "MON001", 1, 0, 100)

    def test_is_the_same_for_the_same_unit(self) -> None:
        draws = [generator(self.UNIT).integers(1 << 60, size=4).tolist() for _ in "ab"]

        assert draws[0] == draws[1]

    @pytest.mark.parametrize(
        "change",
        [{"seed": 2}, {"epoch": 1}, {"property": "MON002"}, {"model": TPU}],
        ids=str,
    )
    def test_differs_for_another(self, change: dict[str, Any]) -> None:
        other = attrs.evolve(self.UNIT, **change)

        assert generator(self.UNIT).integers(1 << 60) != generator(other).integers(1 << 60)

    def test_does_not_depend_on_the_number_of_cases(self) -> None:
        longer = attrs.evolve(self.UNIT, cases=200)

        assert generator(self.UNIT).integers(1 << 60) == generator(longer).integers(1 << 60)

    def test_draws_the_same_rows_for_either_path_of_a_model(self) -> None:
        model, law = ModelRef(CPU).load(), property_named("MON001")
        unit = attrs.evolve(self.UNIT, cases=10_000)

        pairs = zip(
            batches(unit, model, law), batches(unit, model.one_by_one, law), strict=True
        )

        assert all(
            one == other and np.array_equal(rows, others)
            for (one, rows), (other, others) in pairs
        )


class TestPlan:
    """Which properties are asked of which models."""

    def test_pairs_every_model_with_what_applies(self) -> None:
        laws = selected(["MON"], ["MON007", "MON008"])  # those are for totals
        found = plan([ModelRef(CPU).load(), ModelRef(TPU).load()], laws)

        assert found.pairs == tuple(Pair(m, law.id) for m in (CPU, TPU) for law in laws)
        assert found.skipped == ()

    def test_says_what_is_not_offered(self) -> None:
        found = plan([tiny()], [property_named("CMP003")])

        assert found == Plan(
            (),
            (
                PairSkipped(
                    Pair("tiny", "CMP003"),
                    exempt=False,
                    reason="to offer it, return Estimate(latency=...) and return "
                    "Estimate(latency_terms={...})",
                ),
            ),
        )

    def test_says_that_the_space_has_no_case(self) -> None:
        found = plan([tiny(precisions=[MAC.precision])], [property_named("PRC002")])

        (skipped,) = found.skipped
        assert not skipped.exempt
        assert "FP32" in skipped.reason

    def test_says_why_a_model_is_exempt(self) -> None:
        exemption = Exemption("MON002", "perfect factors only")

        found = plan([tiny(exemptions=[exemption])], [property_named("MON002")])

        (skipped,) = found.skipped
        assert skipped == PairSkipped(
            Pair("tiny", "MON002"), exempt=True, reason="perfect factors only"
        )


class TestEvents:
    """What is told, and when."""

    def test_starts_with_the_pairs_and_ends_with_the_tallies(self) -> None:
        events = campaign([tiny()], ["MON001", "CMP001"])

        started, finished = events[0], events[-1]
        assert isinstance(started, CampaignStarted)
        assert isinstance(finished, CampaignFinished)
        assert started.pairs == (Pair("tiny", "MON001"),)
        assert started.properties == ("MON001", "CMP001")
        assert [skipped.pair.property for skipped in of(PairSkipped, events)] == ["CMP001"]
        ((pair, tally),) = finished.tallies
        assert pair == Pair("tiny", "MON001")
        assert (tally.checks, tally.in_domain) == (256, 256)
        assert tally.least_margin > 0

    def test_goes_round_by_round(self) -> None:
        extent = Extent(cases=SCALAR_EPOCH + 10)

        events = campaign([tiny()], ["MON001", "ROB001"], extent=extent)

        told = [
            (e.pair.property, e.searched.checks)
            if isinstance(e, EpochFinished)
            else e.epoch
            for e in events
            if isinstance(e, EpochFinished | RoundFinished)
        ]
        assert told == [
            ("MON001", SCALAR_EPOCH),
            ("ROB001", SCALAR_EPOCH),
            1,
            ("MON001", 10),
            ("ROB001", 10),
            2,
        ]

    def test_counts_what_is_done(self) -> None:
        full = SCALAR_EPOCH
        extent = Extent(cases=full + 10)

        events = of(EpochFinished, campaign([tiny()], ["MON001", "ROB001"], extent=extent))

        done = [full, 2 * full, 2 * full + 10, 2 * full + 20]
        assert [event.done for event in events] == done
        assert {event.planned for event in events} == {2 * full + 20}

    def test_ends_a_pair_with_a_finding_that_is_not_explained(self) -> None:
        model = tiny(lambda case: Estimate(energy=-1.0 if case.macs > 9 else 1.0))
        extent = Extent(cases=10 * SCALAR_EPOCH)

        events = campaign([model], ["MON001"], extent=extent, explain=False)

        found = one(CounterexampleFound, events).counterexample
        assert (found.model, found.property, found.seed) == ("tiny", "MON001", 1)
        assert found.margin < 0
        assert found.numbers[0].energy == -1.0
        assert one(EpochFinished, events).tally.least_margin < 0
        assert one(RoundFinished, events).epoch == 1

    def test_reports_pairs_that_met_no_case(self) -> None:
        left = iter([1.0])

        def refuses(_: Case) -> Estimate:
            for joule in left:
                return Estimate(energy=joule)
            raise Unsupported

        finished = one(CampaignFinished, campaign([tiny(refuses)], ["MON001", "ROB001"]))

        assert finished.vacuous == (Pair("tiny", "MON001"), Pair("tiny", "ROB001"))
        assert all(np.isnan(tally.least_margin) for _, tally in finished.tallies)

    def test_reports_what_fails_in_a_batch_alone(self) -> None:
        model = Subject.of(
            TinyInBatches(energy, lambda cases: Estimate(energy=-1e-12 * cases.ops))
        )

        events = campaign([model], ["MON001"], extent=Extent(cases=100))

        assert not of(CounterexampleFound, events)
        assert one(Unconfirmed, events).pair == Pair("tiny", "MON001")
        assert isinstance(one(Unconfirmed, events).case, Case)

    def test_reports_models_that_fail(self) -> None:
        class Failing:
            def run(
                self, units: Sequence[Unit], deadline: float | None
            ) -> Iterator[Searched | Failed]:
                del deadline
                for unit in units:
                    yield Failed(unit=unit, reason="it died")

        events = campaign([tiny()], ["MON001"], executor=Failing())

        assert one(ModelFailed, events) == ModelFailed(Pair("tiny", "MON001"), "it died")
        assert not of(EpochFinished, events)
        assert one(RoundFinished, events).epoch == 1

    def test_asks_nothing_where_nothing_applies(self) -> None:
        events = campaign([tiny()], ["CMP001"])

        assert [type(event) for event in events] == [
            CampaignStarted,
            PairSkipped,
            CampaignFinished,
        ]


class TestExemptions:
    """A model's word that a law does not apply is checked, not believed for ever."""

    def exempt(self, answer: Answer = energy) -> list[Event]:
        exemption = Exemption("MON001", "harvests energy")
        return campaign([tiny(answer, exemptions=[exemption])], ["MON001"])

    def test_is_stale_where_nothing_fails(self) -> None:
        events = self.exempt()

        (stale,) = of(StaleExemption, events)
        assert stale.pair == Pair("tiny", "MON001")
        assert stale.tally.in_domain == 256
        assert not of(EpochFinished, events)

    def test_is_silent_where_something_fails(self) -> None:
        events = self.exempt(lambda case: Estimate(energy=-float(case.ops)))

        assert not of(StaleExemption, events)
        assert not of(CounterexampleFound, events)
        assert one(CampaignFinished, events).tallies == ()

    def test_is_silent_where_nothing_is_in_the_domain(self) -> None:
        first = iter([1.0])

        def refuses(_: Case) -> Estimate:
            for joule in first:
                return Estimate(energy=joule)
            raise Unsupported

        assert not of(StaleExemption, self.exempt(refuses))


class TestClaims:
    """What independent draws without a failure support."""

    def test_follows_the_rule_of_three(self) -> None:
        tally = Tally(checks=20_000, in_domain=10_000, least_margin=0.5)

        assert tally.failing_share() == pytest.approx(3e-4, rel=0.01)
        assert tally.failing_share(pairs=1880) == pytest.approx(10.5e-4, rel=0.01)

    @pytest.mark.parametrize(
        "tally",
        [Tally(), Tally(checks=100), Tally(checks=10, in_domain=10, least_margin=-1.0)],
        ids=["nothing asked", "nothing in the domain", "a failure"],
    )
    def test_claims_nothing_otherwise(self, tally: Tally) -> None:
        assert tally.failing_share() is None

    def test_claims_no_more_than_everything(self) -> None:
        tally = Tally(checks=1, in_domain=1, least_margin=0.0)

        assert tally.failing_share() == 1.0


class TestThinning:
    """Laws that cost a scalar call a case."""

    def test_checks_fewer_cases(self) -> None:
        law = property_named("DET002")

        events = campaign([ModelRef(TPU).load()], ["DET002"], extent=Extent(cases=1600))

        assert one(CampaignFinished, events).checks == 1600 // law.thinning

    def test_plans_for_fewer_cases(self) -> None:
        events = campaign(
            [ModelRef(TPU).load()], ["DET002", "MON001"], extent=Extent(cases=1600)
        )

        last = of(EpochFinished, events)[-1]
        assert last.done == last.planned == 1700


class TestExtent:
    """How much is searched."""

    def test_gives_a_pair_its_cases_epoch_by_epoch(self) -> None:
        extent = Extent(cases=300)

        assert [extent.cases_of(tiny(), epoch) for epoch in range(4)] == [128, 128, 44, 0]

    def test_gives_larger_epochs_to_vectorised_models(self) -> None:
        assert Extent(cases=600).cases_of(ModelRef(CPU).load(), 0) == 600

    def test_goes_on_for_as_long_as_the_budget(self) -> None:
        started = time.monotonic()

        events = campaign([tiny()], ["MON001"], extent=Extent(budget=0.5))

        assert 0.5 <= time.monotonic() - started < 5
        assert one(CampaignFinished, events).checks > 0
        assert {event.planned for event in of(EpochFinished, events)} == {None}

    def test_stops_within_a_unit_when_the_time_is_up(self) -> None:
        def slow(case: Case) -> Estimate:
            time.sleep(0.004)
            return energy(case)

        started = time.monotonic()

        events = campaign([tiny(slow)], ["MON001"], extent=Extent(budget=0.2))

        assert time.monotonic() - started < 0.5
        assert 0 < one(CampaignFinished, events).checks < SCALAR_EPOCH

    def test_goes_on_where_a_named_campaign_stopped(self) -> None:
        first = campaign([tiny()], ["MON001"], extent=Extent(budget=0.3))
        epoch = of(RoundFinished, first)[-1].epoch

        then = campaign([tiny()], ["MON001"], extent=Extent(budget=0.3, first_epoch=epoch))

        epochs = [event.searched.unit.epoch for event in of(EpochFinished, first)]
        others = [event.searched.unit.epoch for event in of(EpochFinished, then)]
        assert epochs == list(range(epoch))
        assert others[0] == epoch
        assert one(CampaignStarted, then).first_epoch == epoch


class TestTally:
    """What was asked of a pair so far."""

    def searched(self, margin: float) -> Searched:
        unit = Unit("tiny", "MON001", 1, 0, 10)
        in_domain = 0 if np.isnan(margin) else 5
        return Searched(
            unit=unit, checks=10, in_domain=in_domain, least_margin=margin, seconds=0.1
        )

    def test_keeps_the_least_margin(self) -> None:
        tally = Tally().plus(self.searched(0.5)).plus(self.searched(0.2))

        assert tally == Tally(checks=20, in_domain=10, least_margin=0.2)

    def test_knows_no_margin_without_a_domain(self) -> None:
        tally = Tally().plus(self.searched(float("nan")))

        assert (tally.checks, tally.in_domain) == (10, 0)
        assert np.isnan(tally.least_margin)


class TestSearch:
    """One unit."""

    def test_confirms_on_the_scalar_path(self) -> None:
        """A batch path that is wrong in places makes no finding of its own."""

        def together(cases: Cases) -> Estimate:
            wrong = np.where(cases.macs > 100, -1.0, 1.0)
            return Estimate(energy=1e-12 * cases.ops * wrong)

        model = Subject.of(TinyInBatches(energy, together))
        unit = Unit("tiny", "MON001", 1, 0, 1000)

        found = search_and_minimise(unit, model, property_named("MON001"))

        assert found.counterexample is None
        assert isinstance(found.unconfirmed, Case)
        assert found.unconfirmed.macs > 100

    def test_keeps_the_screened_case_beside_the_minimal_one(self) -> None:
        model = tiny(lambda case: Estimate(energy=-1.0 if case.macs > 99 else 1.0))
        unit = Unit("tiny", "MON001", 1, 0, 1000)

        found = search_and_minimise(unit, model, property_named("MON001"))

        assert found.counterexample is not None
        screened = workloads(model).build(found.failing[0])
        assert isinstance(screened, Case)
        assert isinstance(found.counterexample.case, Case)
        assert screened.macs >= found.counterexample.case.macs == 100

    def test_announces_each_batch_and_what_follows(self) -> None:
        told: list[int] = []
        unit = Unit("tiny", "MON001", 1, 0, 150)

        search_and_minimise(unit, tiny(), property_named("MON001"), on_batch=told.append)

        assert told == [0, -1, 1, -1, 2, -1]
