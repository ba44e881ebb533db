"""Scoring: seeded faults, the laws that kill them, and what they are held against."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from click.testing import CliRunner, Result

from joulecheck.case import Case, Cases
from joulecheck.cli import app
from joulecheck.errors import InvalidSetting, NotOffered, UnknownName
from joulecheck.faults import KINDS
from joulecheck.model import Subject
from joulecheck.property import property_named
from joulecheck.reference import load_model
from joulecheck.region import Generalised
from joulecheck.scoring import example_suite
from joulecheck.scoring.accepted import (
    Accepted,
    accepted_survivors,
    reason_for,
    superfluous,
)
from joulecheck.scoring.baselines import SUITES, Attempt, Attempting, attempt
from joulecheck.scoring.fit import fit_of
from joulecheck.scoring.mutants import (
    NAMED,
    REPRESENTATIVES,
    Mutant,
    kinds_named,
    mutants_of,
    named_mutants,
    spread,
)
from joulecheck.scoring.score import Score, share
from joulecheck.scoring.trial import Kill, Task, Trial, stages_up_to, try_mutant
from joulecheck.scoring.twin import Twin
from tiny import MAC, Tiny, energy

HAILO = "reference:Hailo-8"
TWICE = Mutant(HAILO, "layer-twice#0")
SLIP = Mutant(HAILO, "launch-slip#0")

each_representative = pytest.mark.parametrize("name", REPRESENTATIVES)


def sound(name: str = HAILO) -> Subject:
    return Mutant(name, "").sound()


def tried(
    mutant: Mutant,
    laws: Iterable[str] = ("CMP001", "MON001"),
    *,
    explained: int = 0,
) -> Trial:
    asked = Task(
        mutant=mutant, laws=laws, seed=1, stages=(64, 128, 256), explained=explained
    )
    return try_mutant(asked)


def smallest(subject: Subject) -> Case:
    return Case(MAC.workload, subject.precisions[0])


def trial(fault: str, *killers: str, differs: bool = True) -> Trial:
    """What a trial might have said."""
    return Trial(
        mutant=Mutant(HAILO, fault),
        what="launch x 1000",
        places={"launch"},
        asked=("CMP001", "MON001"),
        kills=[Kill(law, 0, 100 * n, float(n)) for n, law in enumerate(killers, start=1)],
        checks=1000,
        seconds=9.0,
        differs=differs,
    )


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["score", *arguments, "--workers", "0"])


class TestMutants:
    """Which mutants are made."""

    def test_come_kind_by_kind(self) -> None:
        kinds = kinds_named(["layer-t", "launch-s"])

        found = mutants_of([sound(), sound("reference:Google-TPU-v4")], kinds, 1)

        assert list(map(str, found)) == [
            "layer-twice#0 in reference:Hailo-8",
            "layer-twice#0 in reference:Google-TPU-v4",
            "launch-slip#0 in reference:Hailo-8",
            "launch-slip#0 in reference:Google-TPU-v4",
        ]

    def test_are_of_all_kinds_without_a_prefix(self) -> None:
        assert kinds_named([]) == list(KINDS.values())

    def test_differ_among_the_variants_of_a_kind(self) -> None:
        found = mutants_of([sound()], kinds_named(["unit-slip"]), 3)

        assert len({mutant.drawn.what for mutant in found}) == 3

    def test_may_be_the_planted_bugs_of_the_laws(self) -> None:
        found = named_mutants()

        assert {mutant.kind for mutant in found} == {NAMED}
        assert Mutant("reference:Intel-i7-12700K", "dropped-term") in found

    def test_may_be_a_few_of_all_kinds(self) -> None:
        found = mutants_of([sound()], KINDS.values(), 2)

        few = spread(found, 10)

        assert len(few) == 10
        assert len({mutant.kind for mutant in few}) == 10
        assert spread(found, None) == spread(found, 1000) == found

    def test_an_unknown_kind_is_told(self) -> None:
        with pytest.raises(UnknownName, match="did you mean layer-dropped"):
            kinds_named(["layer-dropd"])

    def test_are_made_of_reference_models_only(self) -> None:
        with pytest.raises(NotOffered, match="tiny is no reference model"):
            mutants_of([Subject.of(Tiny(energy))], KINDS.values(), 1)

    def test_remember_nothing_of_the_last_time(self) -> None:
        mutant = Mutant(HAILO, "order-dependent#0")
        batch = Cases.of([smallest(sound())])

        first, again = (mutant.plant().ask(batch).energy for _ in range(2))

        assert np.array_equal(first, again)

    def test_of_chance_are_the_same_chance_again(self) -> None:
        mutant = Mutant(HAILO, "random#0")
        batch = Cases.of([smallest(sound())])

        first, again = (mutant.plant().ask(batch).energy for _ in range(2))

        assert np.array_equal(first, again)


class TestTwin:
    """Whether a mutant ever answers differently."""

    def asked(self, fault: str) -> bool:
        twin, subject = Twin.beside(Mutant(HAILO, fault).plant(), sound())
        subject.ask(Cases.of([smallest(subject)]))
        return twin.differs

    def test_sees_a_difference(self) -> None:
        assert self.asked("layer-twice#0")

    def test_sees_none_where_there_is_none(self) -> None:
        assert not self.asked("groups-missing#0")

    def test_sees_one_of_the_scalar_path(self) -> None:
        twin, subject = Twin.beside(Mutant(HAILO, "layer-twice#0").plant(), sound())

        subject.one_by_one.ask(Cases.of([smallest(subject)]))

        assert twin.differs


class TestTrial:
    """One mutant against some laws."""

    def test_names_the_laws_that_kill(self) -> None:
        found = tried(TWICE)

        assert found.killers == {"CMP001"}
        assert found.first is not None
        assert 0 < found.first.checks <= found.checks
        assert found.differs

    def test_stops_before_the_third_stage_once_killed(self) -> None:
        found = tried(TWICE)

        assert found.checks == 64 + 64 + 128  # CMP001, and MON001 twice

    def test_goes_on_while_nothing_kills(self) -> None:
        found = tried(SLIP)

        assert not found.kills
        assert found.checks == 2 * (64 + 128 + 256)

    def test_a_survivor_is_known_to_differ(self) -> None:
        assert tried(SLIP).differs
        assert not tried(Mutant(HAILO, "dead-coefficient#0")).differs

    def test_asks_the_laws_that_apply(self) -> None:
        assert tried(SLIP, ["CMP001", "PRC002"]).asked == ("CMP001",)

    def test_is_the_same_again(self) -> None:
        first, again = (tried(Mutant(HAILO, "random#0"), ["DET001"]) for _ in range(2))

        assert [(k.property, k.checks) for k in first.kills] == [
            (k.property, k.checks) for k in again.kills
        ]

    def test_explains_the_first_kills(self) -> None:
        (found,) = tried(Mutant(HAILO, "sign-flipped#0"), explained=1).explanations

        assert found.counterexample.property == "MON001"
        assert (found.nodes, found.named) == (1, True)

    def test_expects_no_blame_of_a_family_that_blames_no_number(self) -> None:
        (found,) = tried(Mutant(HAILO, "random#0"), ["DET001"], explained=1).explanations

        assert found.named is None

    def test_holds_a_region_to_what_fails(self) -> None:
        (found,) = tried(TWICE, explained=1).explanations

        assert found.fit is not None
        assert found.fit.failing > 0
        assert found.fit.good == (found.fit.recall >= 0.99 and found.fit.false < 0.01)

    def test_without_a_region_nothing_is_recalled(self) -> None:
        law, faulty = property_named("CMP001"), TWICE.plant()
        none = Generalised(regions=(), coverage=0.0, evaluations=0, proven=False)

        fit = fit_of(none, law, faulty, seed=1)

        assert (fit.recall, fit.false) == (0.0, 0.0)
        assert not fit.good

    @pytest.mark.parametrize(
        ("cases", "stages"),
        [
            (100, (100,)),
            (256, (256,)),
            (5000, (256, 4096, 5000)),
            (65_536, (256, 4096, 65_536)),
            (100_000, (256, 4096, 65_536, 100_000)),
        ],
    )
    def test_comes_in_stages(self, cases: int, stages: tuple[int, ...]) -> None:
        assert stages_up_to(cases) == stages


class TestScore:
    """What many trials come to."""

    score = Score(
        [
            trial("one#0", "CMP001", "MON001"),
            trial("one#1", "CMP001"),
            trial("two#0"),
            trial("two#1", differs=False),
        ]
    )

    def test_sorts_mutants(self) -> None:
        faults = [
            [t.mutant.fault for t in some]
            for some in (self.score.killed, self.score.survivors, self.score.unreached)
        ]

        assert faults == [["one#0", "one#1"], ["two#0"], ["two#1"]]

    def test_counts_by_law_and_kind(self) -> None:
        assert self.score.matrix == {
            "CMP001": {"one": (2, 2), "two": (0, 2)},
            "MON001": {"one": (1, 2), "two": (0, 2)},
        }

    def test_knows_which_law_is_alone(self) -> None:
        alone = {law: len(trials) for law, trials in self.score.alone.items()}

        assert alone == {"CMP001": 1, "MON001": 0}

    def test_knows_which_law_a_model_with_few_offers_needs(self) -> None:
        """CMP001 needs terms, MON001 nothing."""
        needed = {law: len(trials) for law, trials in self.score.needed.items()}

        assert needed == {"CMP001": 1, "MON001": 1}

    def test_knows_when_the_first_kill_came(self) -> None:
        assert self.score.quantile("checks", 0.5) == 100
        assert Score([]).quantile("checks", 0.5) is None

    def test_shares_of_nothing_are_none(self) -> None:
        assert share([1], [1, 2]) == 0.5
        assert share([], []) is None


class TestAccepted:
    """Survivors with a reason."""

    ENTRY = Accepted(fault="two#*", reason="no law can know", what=["clock *", "launch *"])

    def test_cover_by_fault_model_and_what_is_changed(self) -> None:
        assert self.ENTRY.covers(trial("two#0"))
        assert not self.ENTRY.covers(trial("one#0"))
        assert not attrs.evolve(self.ENTRY, model="reference:H*0").covers(trial("two#0"))
        assert not attrs.evolve(self.ENTRY, what=["clock *"]).covers(trial("two#0"))

    def test_give_the_reason(self) -> None:
        assert reason_for(trial("two#0"), [self.ENTRY]) == "no law can know"
        assert reason_for(trial("one#0"), [self.ENTRY]) is None

    def test_are_superfluous_once_all_that_they_cover_is_killed(self) -> None:
        survivor, killed = trial("two#0"), trial("two#1", "CMP001")

        assert superfluous([self.ENTRY], [killed]) == [self.ENTRY]
        assert superfluous([self.ENTRY], [killed, survivor]) == []
        assert superfluous([self.ENTRY], [trial("one#0")]) == []

    def test_of_the_package_are_about_kinds_that_exist(self) -> None:
        for one in accepted_survivors():
            assert one.fault.partition("#")[0] in KINDS
            assert len(one.reason.split()) > 5

    def test_may_be_none(self, tmp_path: Path) -> None:
        file = tmp_path / "survivors.toml"
        file.write_text("# nothing survives\n")

        assert accepted_survivors(file) == ()
        assert superfluous((), [trial("two#0")]) == []
        assert reason_for(trial("two#0"), ()) is None

    @pytest.mark.parametrize(
        ("text", "rule"),
        [
            ("[[survivor]]\nfault = 'two#*'\nreason = ''\n", "reason"),
            ("[[survivor]]\nfault = 'two#*'\nreasons = 'a'\n", "reasons"),
            ("survivor = 3\n", "survivors.toml"),
            ("[[survivor\n", "survivors.toml"),
        ],
    )
    def test_a_bad_file_is_told(self, tmp_path: Path, text: str, rule: str) -> None:
        file = tmp_path / "survivors.toml"
        file.write_text(text)

        with pytest.raises(InvalidSetting, match=rule):
            accepted_survivors(file)


class TestBaselines:
    """What the catalogue is held against."""

    @each_representative
    def test_the_example_suite_passes_on_a_sound_machine(self, name: str) -> None:
        assert not list(example_suite.failures(load_model(name.partition(":")[2])))

    @pytest.mark.parametrize(
        ("model", "fault", "category"),
        [
            (HAILO, "layer-twice#0", "composition"),
            (HAILO, "sign-flipped#0", "architecture"),
            (HAILO, "squared-coefficient#0", ""),
            ("reference:Intel-i7-12700K", "int16-wrap#0", "sensitivity"),
            ("reference:Hailo-10H", "slower-generation#0", "order"),
        ],
    )
    def test_the_example_suite_sees_some_faults(
        self, model: str, fault: str, category: str
    ) -> None:
        faulty: Any = Mutant(model, fault).plant().model

        found = {failure.partition(":")[0] for failure in example_suite.failures(faulty)}

        assert found >= ({category} if category else set())

    @pytest.mark.parametrize("suite", SUITES)
    def test_each_suite_kills_a_plain_mutant(self, suite: str) -> None:
        found = self.attempt(suite, Mutant(HAILO, "sign-flipped#0"), 60.0)

        assert found.killed_by is not None

    def test_a_budget_ends_an_attempt(self) -> None:
        assert self.attempt("catalogue, @given 1,000", SLIP, 0.0).killed_by is None

    def attempt(self, suite: str, mutant: Mutant, budget: float) -> Attempt:
        asked = Attempting(
            suite=suite, mutant=mutant, laws=["MON001"], seed=1, budget=budget
        )
        return attempt(asked)


class TestCommand:
    """`joulecheck score`."""

    FEW = (HAILO, "--kinds", "layer-t", "--kinds", "launch-s", "--variants", "1",
           "--select", "CMP", "--cases", "256")  # fmt: skip

    def test_tells_of_an_unexplained_survivor(self) -> None:
        done = run(*self.FEW)

        assert done.exit_code == 1
        assert "SURVIVES launch-slip#0 in reference:Hailo-8" in done.stdout
        assert "2 mutants of 2 kinds in 1 machine: 1 killed" in done.stdout

    def test_passes_with_a_reason_for_each_survivor(self, tmp_path: Path) -> None:
        file = tmp_path / "accepted.toml"
        entry = "[[survivor]]\nfault = '{}#*'\nreason = 'no law can know'\n"
        file.write_text(entry.format("launch-slip") + entry.format("layer-twice"))

        done = run(*self.FEW, "--accepted", str(file))

        assert done.exit_code == 0
        assert "accepted: no law can know" in done.stdout
        assert "SUPERFLUOUS entry for layer-twice#*" in done.stdout

    def test_says_it_all_in_json(self) -> None:
        done = run(*self.FEW, "--output-format", "json")

        found = json.loads(done.stdout)
        assert found["summary"]["mutants"] == 2
        assert found["matrix"]["CMP001"]["layer-twice"] == {"asked": 1, "killed": 1}
        assert found["alone"]["CMP001"] == ["layer-twice#0 in reference:Hailo-8"]
        assert found["mutants"][0]["kills"][0]["property"] == "CMP001"

    def test_explains_on_request(self) -> None:
        few = (HAILO, "--kinds", "sign-f", "--variants", "1", "--cases", "64")

        done = run(*few, "--select", "MON001", "--explain", "1")

        assert "minimal counterexamples: 1; in the median nodes 1," in done.stdout
        assert "blame names a planted place in 100.0% of 1" in done.stdout

    def test_compares_with_baselines(self) -> None:
        done = run(HAILO, "--kinds", "sign-f", "--variants", "1", "--cases", "64",
                   "--select", "MON001", "--baselines")  # fmt: skip

        rows = [line for line in done.stdout.splitlines() if "100.0%" in line]
        assert len(rows) == len(SUITES) + 2

    def test_finds_the_same_with_any_number_of_workers(self) -> None:
        arguments = ["score", *self.FEW, "--output-format", "json"]
        alone, beside = (
            json.loads(CliRunner().invoke(app, [*arguments, "--workers", n]).stdout)
            for n in ("0", "2")
        )

        assert without_seconds(alone) == without_seconds(beside)

    def test_refuses_what_is_no_kind(self) -> None:
        with pytest.raises(UnknownName, match="no kind of fault starts with"):
            CliRunner().invoke(app, ["score", "--kinds", "nope"], catch_exceptions=False)


def without_seconds(data: object) -> object:
    if isinstance(data, dict):
        return {
            key: without_seconds(value)
            for key, value in data.items()
            if not key.startswith("seconds")
        }
    return list(map(without_seconds, data)) if isinstance(data, list) else data


class TestFaultNames:
    """`joulecheck faults`, and names with a variant."""

    def test_lists_named_faults_and_kinds(self) -> None:
        done = CliRunner().invoke(app, ["faults", "--output-format", "json"])

        found = {one["name"]: one for one in json.loads(done.stdout)}
        assert "CMP001" in found["dropped-term"]["properties"]
        assert found["layer-twice#N"]["history"]

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("layer-twice#x", "write layer-twice#N"),
            ("layer-twic#1", "did you mean layer-twice"),
        ],
    )
    def test_an_unknown_one_is_told(self, name: str, said: str) -> None:
        done = CliRunner().invoke(app, ["fuzz", HAILO, "--inject", name])

        assert done.exit_code == 2
        assert said in done.stderr
