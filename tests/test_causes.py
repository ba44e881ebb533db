"""Causes: what lies behind a finding is found as well, and one cause is told once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

import attrs
import numpy as np
import pytest

from joulecheck.campaign.campaign import MOST_FINDINGS, Campaign, Extent
from joulecheck.campaign.events import (
    CampaignFinished,
    CauseShared,
    CounterexampleFound,
    Event,
    PairEnded,
)
from joulecheck.campaign.workers import Inline
from joulecheck.case import Cases
from joulecheck.coefficient import Coefficient
from joulecheck.counterexample import Counterexample, from_json, to_json
from joulecheck.estimate import Estimate
from joulecheck.model import UNSCALED, Scales, Subject
from joulecheck.property import property_named
from joulecheck.reports.json_report import CampaignDocument
from joulecheck.resolve import ModelRef
from joulecheck.workload import Precision
from joulecheck.workload.columns import PRECISIONS, Bools, Floats
from tiny import TinyInBatches, at

CASES = 4000

Holds = Callable[[Cases], Bools]


def negative_where(*patterns: Holds) -> Subject:
    """A model whose energy is negative where any of some patterns holds."""

    def answers(cases: Cases) -> Estimate:
        wrong = np.any([pattern(cases) for pattern in patterns], axis=0)
        return Estimate(energy=np.where(wrong, -1.0, 1.0))

    return Subject.of(TinyInBatches(lambda case: _one(answers, case), answers))


def _one(answers: Callable[[Cases], Estimate], case: object) -> Estimate:
    found = answers(Cases.of([case])).energy  # type: ignore[list-item]
    return Estimate(energy=float(np.asarray(found)[0]))


def large(cases: Cases) -> Bools:
    found: Bools = cases.macs >= 1 << 16
    return found


def narrow(cases: Cases) -> Bools:
    found: Bools = cases.precision == PRECISIONS.index(Precision.INT8)
    return found


def events(
    models: Sequence[Subject],
    law: str = "MON001",
    *,
    cases: int = CASES,
    accepted: Iterable[Counterexample] = (),
    explain: bool = True,
) -> list[Event]:
    """All events of a campaign in this process."""
    return list(
        Campaign(
            models,
            [property_named(law)],
            seed=1,
            extent=Extent(cases=cases),
            executor=Inline({model.name: model for model in models}),
            accepted=tuple(accepted),
            explain=explain,
        ).run()
    )


def found_in(told: Iterable[Event]) -> list[Counterexample]:
    return [one.counterexample for one in told if isinstance(one, CounterexampleFound)]


def masked_in(told: Sequence[Event]) -> int:
    finished = told[-1]
    assert isinstance(finished, CampaignFinished)
    return sum(tally.masked for _, tally in finished.tallies)


class TestBehind:
    """A pair goes on behind its first finding."""

    def test_counts_the_rest_of_a_region(self) -> None:
        told = events([negative_where(large)])

        (found,) = found_in(told)
        assert found.region is not None
        assert found.region.around is not None
        assert found.region.around.sentence == "every case with MACs >= 2^16"
        assert 0 < masked_in(told) < CASES
        assert not [one for one in told if isinstance(one, PairEnded)]

    def test_finds_the_fault_behind_the_first(self) -> None:
        told = events([negative_where(large, narrow)])

        cases = [one.case for one in found_in(told)]
        assert at(Precision.INT8) in cases
        assert [case for case in cases if large(Cases.of([case]))[0]]  # type: ignore[list-item]

    def test_masks_what_was_asked_before_it_was_known(self) -> None:
        told = events([negative_where(large)])

        finished = told[-1]
        assert isinstance(finished, CampaignFinished)
        assert finished.checks + masked_in(told) == CASES

    def test_ends_with_the_first_if_nothing_is_explained(self) -> None:
        told = events([negative_where(large, narrow)], explain=False)

        (found,) = found_in(told)
        assert found.region is None
        (ended,) = [one for one in told if isinstance(one, PairEnded)]
        assert "hides is unknown" in ended.reason

    def test_tells_machines_where_it_ended_and_why(self) -> None:
        document = CampaignDocument()
        for event in events([negative_where(large, narrow)], explain=False):
            document(event)

        (ended,) = json.loads(document.text())["ended"]
        assert ended["property"] == "MON001"
        assert "hides is unknown" in ended["reason"]

    def test_ends_after_a_number_of_findings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("joulecheck.campaign.campaign.MOST_FINDINGS", 1)

        told = events([negative_where(large, narrow)])

        assert len(found_in(told)) == 1
        (ended,) = [one for one in told if isinstance(one, PairEnded)]
        assert ended.reason == "1 finding, more are not looked for"
        assert MOST_FINDINGS == 8


def tells(found: Sequence[Counterexample], model: str, fault: str, other: str) -> bool:
    """Whether some finding's case fails for one fault and holds with the other."""

    def fails(name: str, one: Counterexample) -> bool:
        law = property_named(one.property)
        return law.margin_of(ModelRef(model, name).load(), one.case) < 0

    return any(fails(fault, one) and not fails(other, one) for one in found)


class TestBeside:
    """What a finding without a region would hide is told beside it."""

    MODEL = "reference:Google-TPU-v4"

    def found(self, fault: str, law: str, model: str = MODEL) -> list[Counterexample]:
        return found_in(events([ModelRef(model, fault).load()], law, cases=8192))

    @pytest.mark.parametrize(
        ("law", "model", "one", "other"),
        [
            ("SEN010", MODEL, "dropped-term", "uncounted-control"),
            (
                "BND010",
                "reference:Intel-i7-12700K",
                "batch-amortised#0",
                "signed-overflow#3",
            ),
        ],
    )
    def test_finds_both_of_two_faults(
        self, law: str, model: str, one: str, other: str
    ) -> None:
        found = self.found(f"{one}+{other}", law, model)

        assert tells(found, model, one, other)
        assert tells(found, model, other, one)

    @pytest.mark.parametrize(
        ("fault", "term"), [("dropped-term", "static"), ("uncounted-control", "control")]
    )
    def test_tells_one_term_that_is_missing_once(self, fault: str, term: str) -> None:
        found = self.found(fault, "SEN010")

        repairs = [one.blame.repairs for one in found if one.blame]
        assert [best.target for best, *_ in filter(None, repairs)] == [term]

    def test_is_the_same_when_it_is_told_again(self) -> None:
        one, again = (
            self.found("dropped-term+uncounted-control", "SEN010") for _ in range(2)
        )

        assert one == again


class TestAccepted:
    """Known findings are counted, not reported, and searched behind."""

    def test_is_not_found_again(self) -> None:
        model = negative_where(large)
        (known,) = found_in(events([model]))

        told = events([model], accepted=[known])

        assert found_in(told) == []
        (shared,) = [one for one in told if isinstance(one, CauseShared)]
        assert shared.accepted
        assert shared.counterexample == known
        assert masked_in(told) > 0

    def test_hides_no_other(self) -> None:
        (known,) = found_in(events([negative_where(large)]))

        told = events([negative_where(large, narrow)], accepted=[known])

        (found,) = found_in(told)
        assert found.case == at(Precision.INT8)

    def test_masks_nothing_once_its_case_holds(self) -> None:
        (known,) = found_in(events([negative_where(large)]))

        told = events([negative_where(narrow)], accepted=[known])

        assert len(found_in(told)) == 1
        assert not [one for one in told if isinstance(one, CauseShared)]


class Meter:
    """A model whose wires cost what they should, or what its fault makes of it."""

    name = "meter"

    def __init__(self, number: int, wrong: str) -> None:
        self.name = f"meter-{number}"
        self.price = 1e-12 * (1 + number / 7)
        self.wrong = wrong
        self.coefficients = {
            name: Coefficient(
                name=name, value=self.price, unit="J/op", terms=[name], source="made up"
            )
            for name in ("alu", "wire")
        }

    def estimate_batch(self, cases: Cases, scales: Scales = UNSCALED) -> Estimate:
        terms: dict[str, Floats] = {
            name: scales.get(name, 1.0) * self.price * cases.ops * (1 + len(name))
            for name in ("alu", "wire")
        }
        counted = {name: v for name, v in terms.items() if name != self.wrong}
        return Estimate(energy=sum(counted.values()), energy_terms=terms)

    def estimate(self, case: object, scale: Scales = UNSCALED) -> Estimate:
        scales = {name: np.array([factor]) for name, factor in scale.items()}
        found = self.estimate_batch(Cases.of([case]), scales)  # type: ignore[list-item]
        terms = {name: float(v[0]) for name, v in found.energy_terms.items()}
        return Estimate(energy=float(np.asarray(found.energy)[0]), energy_terms=terms)


class TestMachines:
    """One cause in many machines is one finding."""

    def test_forty_machines_with_one_wrong_coefficient_give_one_finding(self) -> None:
        models = [Subject.of(Meter(number, "wire")) for number in range(40)]

        told = events(models, "CMP001", cases=500)

        (found,) = found_in(told)
        assert found.blame is not None
        assert found.blame.repairs[0].target == "wire"
        shared = [one for one in told if isinstance(one, CauseShared)]
        assert [one.pair.model for one in shared] == [model.name for model in models[1:]]
        assert shared[-1].counterexample.also == tuple(m.name for m in models[1:])

    def test_another_fault_in_the_same_class_is_another_finding(self) -> None:
        models = [Subject.of(Meter(n, wrong)) for n, wrong in enumerate(["wire", "alu"])]

        told = events(models, "CMP001", cases=500)

        targets = [one.blame.repairs[0].target for one in found_in(told) if one.blame]
        assert targets == ["wire", "alu"]
        assert not [one for one in told if isinstance(one, CauseShared)]

    def test_survives_json(self) -> None:
        (found,) = found_in(events([Subject.of(Meter(1, "wire"))], "CMP001", cases=500))
        shared = attrs.evolve(found, also=["meter-2", "meter-3"])

        assert from_json(to_json(shared)) == shared
        assert '"also"' not in to_json(found)
