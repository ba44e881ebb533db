"""The audit: each demand is met by sound machines, and each can have gaps."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from command import Run
from joulecheck.campaign.events import EpochFinished, Pair, Tally
from joulecheck.campaign.workers import Inline
from joulecheck.errors import InvalidCheck
from joulecheck.faults import fault_named, inject
from joulecheck.model import Subject, registered
from joulecheck.property import installed
from joulecheck.reference import CLASSES
from joulecheck.resolve import models_named
from joulecheck.validation import audit as audit_module
from joulecheck.validation.audit import CATEGORIES, Audit, Requirement
from joulecheck.validation.layer_checks import CheckResult
from joulecheck.validation.ledger import Ledger

CPU = "Intel-i7-12700K"
ARCHETYPES = models_named("archetype:*")


def ran(machines: Sequence[Subject], *, cases: int = 64) -> Audit:
    models = {model.name: model for model in (*machines, *ARCHETYPES)}
    made = Audit(machines, ARCHETYPES, seed=1, cases=cases, executor=Inline(models))
    events = [event for event in made.run() if isinstance(event, EpochFinished)]
    assert len(events) == made.pairs
    return made


def by_name(made: Audit, ledger: Ledger | None = None) -> dict[str, Requirement]:
    return {one.name: one for one in made.requirements(ledger)}


@pytest.fixture(scope="module")
def sound() -> Audit:
    """A CPU, and two TPUs that all laws of ranking are asked of."""
    names = (CPU, "Google-TPU-v4", "Google-TPU-Edge-Pro")
    return ran([registered("reference", name) for name in names])


class TestSoundMachines:
    def test_all_is_met_that_a_few_can_meet(self, sound: Audit) -> None:
        met = {name: one.is_met for name, one in by_name(sound).items()}

        assert met == {
            "consistency": False,
            "coverage": False,
            "ranking": True,
            "gate": True,
            "nothing-negative": True,
            "provenance": True,
        }

    def test_the_other_classes_and_machines_are_the_gaps(self, sound: Audit) -> None:
        found = by_name(sound)

        assert len(found["coverage"].gaps) == 44
        assert "reference:Hailo-8 was not asked" in found["coverage"].gaps
        assert len(found["consistency"].gaps) == len(CATEGORIES) * (len(CLASSES) - 2)
        assert (
            "no law of layer-decomposition held on any machine of class DOMAIN_FLOW"
            in found["consistency"].gaps
        )

    def test_the_laws_that_held_are_told_by_class_and_category(self, sound: Audit) -> None:
        held = sound.laws_held()

        assert set(held) == set(CLASSES)
        assert "CMP001" in held["STORED_PROGRAM"]["layer-decomposition"]
        assert all(held["STORED_PROGRAM"].values())
        assert not any(held["DATA_FLOW_MACHINE"].values())

    def test_three_types_of_workload_are_ranked(self, sound: Audit) -> None:
        assert by_name(sound)["ranking"].found == "4 laws on conv2d, gemm, subgraph"

    def test_a_law_that_says_nothing_is_a_gap(self) -> None:
        made = ran([registered("reference", CPU)], cases=8)
        pair = Pair(f"reference:{CPU}", "CMP001")
        made._tallies[pair] = Tally(checks=8)

        gaps = by_name(made)["consistency"].gaps

        assert f"CMP001 on reference:{CPU} says nothing of 8 cases" in gaps

    def test_another_ledger_is_judged_if_it_is_given(self, sound: Audit) -> None:
        found = by_name(sound, Ledger())["provenance"]

        assert not found.is_met
        assert f"energy_per_byte of reference:{CPU}: the ledger has no entry" in "\n".join(
            found.gaps
        )


class TestFaultyMachine:
    def test_is_a_gap_of_each_demand_that_it_breaks(self) -> None:
        faulty = inject(registered("reference", CPU), fault_named("dropped-term"))

        found = by_name(ran([faulty], cases=16))

        machine = f"reference:{CPU}"
        for demand, gap in {
            "consistency": f"CMP001 on {machine}: violated, F-",
            "coverage": f"BND010 on {machine}: violated, F-",
            "gate": f"energy of the whole of {machine} FAILED",
            "provenance": f"energy_per_byte of {machine}: ",
        }.items():
            assert any(one.startswith(gap) for one in found[demand].gaps), demand

    def test_a_negative_number_is_a_gap(self, monkeypatch: pytest.MonkeyPatch) -> None:
        faulty = inject(registered("reference", CPU), fault_named("flipped-sign"))
        models = {faulty.name: faulty}
        made = Audit([faulty], [], seed=1, cases=1, executor=Inline(models))
        monkeypatch.setattr(audit_module, "run_gate", lambda _: [])

        gaps = by_name(made)["nothing-negative"].gaps

        assert any(gap.startswith("energy term ") for gap in gaps)
        assert all(f" of reference:{CPU} is -" in gap for gap in gaps)


class TestGate:
    def test_a_gate_that_finds_no_regression_is_a_gap(
        self, sound: Audit, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def blind(_: object) -> list[CheckResult]:
            return []

        monkeypatch.setattr(audit_module, "run_gate", blind)

        assert (
            f"dropped-term in reference:{CPU} is not found" in by_name(sound)["gate"].gaps
        )

    def test_a_gate_that_compares_nothing_finds_nothing(
        self, sound: Audit, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = audit_module.run_gate

        def empty(machines: Sequence[Subject]) -> list[CheckResult]:
            if any(machine.fault for machine in machines):
                msg = "no layer check is registered"
                raise InvalidCheck(msg)
            return real(machines)

        monkeypatch.setattr(audit_module, "run_gate", empty)

        assert len(by_name(sound)["gate"].gaps) == 6


def test_every_family_of_the_catalogue_is_asked_or_about_how_models_answer() -> None:
    asked = {law.family for law in installed().values()} - audit_module.STATEFUL

    assert {*CATEGORIES.values(), audit_module.RANKING} <= asked


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name in [name for name in os.environ if name.startswith("JOULECHECK_")]:
        monkeypatch.delenv(name)
    return Run(tmp_path, monkeypatch, capsys)


FEW = ("--cases", "16", "--workers", "0")


class TestCommand:
    def test_says_what_is_met_and_what_is_missing(self, run: Run) -> None:
        done = run("audit", "reference:Hailo-8", *FEW)

        assert done.returncode == 1
        assert "MET  no energy, latency or utilisation is negative" in done.stdout
        assert "GAP  all 47 machines are covered: 1 machine," in done.stdout
        assert "and 36 more" in done.stdout
        assert "3 of 6 demands met" in done.stdout

    def test_json_has_every_gap(self, run: Run) -> None:
        done = run("audit", "reference:Hailo-8", *FEW, "--output-format", "json")

        found = json.loads(done.stdout)
        assert done.returncode == 1
        assert found["complete"] is False
        assert found["machines"] == ["reference:Hailo-8"]
        gaps = {one["name"]: one["gaps"] for one in found["requirements"]}
        assert len(gaps["coverage"]) == 46
        assert gaps["gate"] == []
        assert (
            "SEN001" in found["categories"]["SPATIAL_PARTITION"]["coefficient-perturbation"]
        )

    def test_the_ledger_of_a_campaign_is_judged(self, run: Run) -> None:
        (run.folder / "l.json").write_text(Ledger().text())
        done = run("audit", "reference:Hailo-8", *FEW, "--ledger", "l.json")

        assert "GAP  every core field of every machine has provenance" in done.stdout
        assert "the ledger has no entry" in done.stdout

    def test_nothing_is_left_behind(self, run: Run) -> None:
        run("audit", "reference:Hailo-8", *FEW)

        assert list(run.folder.iterdir()) == []
