"""Comparing models: the smallest workload on which a decision is another."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import attrs
import numpy as np
import pytest
from click.testing import CliRunner, Result

from joulecheck.case import Case, Cases
from joulecheck.cli import app
from joulecheck.counterexample import Minimality
from joulecheck.errors import InvalidSetting, NotOffered
from joulecheck.estimate import Estimate
from joulecheck.faults import fault_named, inject
from joulecheck.knob import Knob, KnobKind
from joulecheck.model import UNSCALED, Scale, Subject, registered
from joulecheck.validation.decisions import (
    Decision,
    better_design,
    bottleneck,
    rank_all,
    rank_among,
)
from joulecheck.validation.flips import Flip, common_space, smallest_flip, space_of
from joulecheck.validation.revisions import answers, at_revision, checked_out
from joulecheck.workload import Gemm, Precision
from tiny import Tiny, energy

INTEL = "reference:Intel-i7-12700K"


class Roofline:
    """A second an operation over `rate`, a second a byte over `bandwidth`."""

    name = "roofline"
    operators = frozenset({"gemm"})
    precisions = (Precision.FP32, Precision.INT8)

    def __init__(self, rate: float, bandwidth: float, watt: float = 1.0) -> None:
        self.rate, self.bandwidth, self.watt = rate, bandwidth, watt
        rates = ("rate", "bandwidth")
        self.knobs = {name: Knob(KnobKind.RATE) for name in rates}

    def estimate(self, case: Case, scale: Scale = UNSCALED) -> Estimate:
        del scale
        terms = {"compute": case.ops / self.rate, "dram": case.bytes / self.bandwidth}
        latency = max(terms.values())
        return Estimate(energy=self.watt * latency, latency=latency, latency_terms=terms)

    def derive(self, factors: Mapping[str, float]) -> Roofline:
        return Roofline(
            self.rate * factors.get("rate", 1.0),
            self.bandwidth * factors.get("bandwidth", 1.0),
            self.watt,
        )


def model(rate: float = 1e9, bandwidth: float = 1e9, watt: float = 1.0) -> Subject:
    return Subject.of(Roofline(rate, bandwidth, watt))


def flip(decision: Decision, *sides: Subject, size: int = 64) -> Flip | None:
    space = common_space(sides)
    rows = space.sample(np.random.default_rng(1), size)
    return smallest_flip(decision, space, rows, vectorised=False)


def on_reference(decision: Decision, sides: tuple[Subject, Subject]) -> Flip | None:
    space = common_space(sides)
    return smallest_flip(decision, space, space.sample(np.random.default_rng(1), 512))


def faulty(fault: str, name: str = INTEL) -> tuple[Subject, Subject]:
    sound = registered(*name.split(":"))
    return sound, inject(sound, fault_named(fault))


class TestBottleneck:
    """The longest latency term."""

    def test_is_another_where_a_memory_is_faster(self) -> None:
        sides = model(), model(bandwidth=1e12)

        found = flip(bottleneck(sides), *sides)

        assert found is not None
        assert found.options == ("dram", "compute")
        assert found.case == Case(Gemm(m=1, n=1, k=1), Precision.FP32)
        assert found.numbers == ((12e-9, 2e-9), (pytest.approx(12e-12), 2e-9))

    def test_is_the_same_where_both_are_twice_as_fast(self) -> None:
        sides = model(), model(rate=2e9, bandwidth=2e9)

        assert flip(bottleneck(sides), *sides) is None

    def test_a_flip_that_is_no_clear_one_does_not_count(self) -> None:
        """A product of 1 x 1 x 1 takes 2 ns of each."""
        sides = model(rate=1.009, bandwidth=6.0), model(rate=1.0, bandwidth=6.03)
        space = common_space(sides)
        plainest = np.array([space.genes_of(Case(Gemm(m=1, n=1, k=1), Precision.FP32))])
        tried = {"space": space, "rows": plainest, "vectorised": False}

        assert smallest_flip(bottleneck(sides), **tried) is None
        assert smallest_flip(bottleneck(sides), **tried, clearly=0.001) is not None

    def test_models_without_common_terms_are_told(self) -> None:
        with pytest.raises(NotOffered, match="no two latency terms in common"):
            bottleneck((model(), Subject.of(Tiny(energy))))

    def test_of_a_reference_model_is_minimal(self) -> None:
        sides = faulty("launch-slip#0", "reference:Hailo-8")

        found = on_reference(bottleneck(sides), sides)

        assert found is not None
        assert found.case.workload == Gemm(m=1, n=1, k=1)
        assert found.options[0] == "launch"
        assert found.minimality is Minimality.PROVEN


class TestDesigns:
    """The better of two design points."""

    def test_a_model_improves_what_bounds_it(self) -> None:
        sides = model(), model(bandwidth=1e12)

        found = flip(better_design(sides, {}, "latency"), *sides)

        assert found is not None
        assert found.options == ("bandwidth x 2", "rate x 2")

    def test_points_are_as_the_user_gives_them(self) -> None:
        sides = model(), model(bandwidth=1e12)
        points = {"wide": {"bandwidth": 4.0}, "both": {"rate": 1.5, "bandwidth": 1.5}}

        found = flip(better_design(sides, points, "latency"), *sides)

        assert found is not None
        assert found.options == ("wide", "both")

    def test_models_that_derive_no_machine_are_told(self) -> None:
        with pytest.raises(NotOffered, match="tiny does not take this decision"):
            better_design((model(), Subject.of(Tiny(energy))), {}, "energy")


class TestRanking:
    """The order of machines."""

    def test_a_machine_overtakes_another(self) -> None:
        sides = model(), model(rate=8e9, bandwidth=8e9)
        others = {"slow": model(0.5e9, 0.5e9), "fast": model(4e9, 4e9)}

        found = flip(rank_among(sides, others, "latency"), *sides)

        assert found is not None
        assert found.options == ("fast", "this machine")
        assert found.pairs == 1
        assert found.share == 1.0

    def test_it_does_not_where_the_fault_is_the_same_for_all(self) -> None:
        sides = model(), model(watt=1.005)

        assert flip(rank_among(sides, {"other": model(watt=2.0)}, "energy"), *sides) is None

    def test_two_others_change_places(self) -> None:
        before = {"a": model(1e9, 1e9), "b": model(2e9, 2e9), "c": model(9e9, 9e9)}
        after = before | {"b": model(0.5e9, 0.5e9)}
        decision = rank_all((before, after), "latency")
        space = space_of([*before.values()])
        rows = space.sample(np.random.default_rng(1), 16)

        found = smallest_flip(decision, space, rows, vectorised=False)

        assert found is not None
        assert found.options == ("b", "a")

    def test_wrapped_rows_are_found_at_the_row_that_wraps(self) -> None:
        sides = faulty("wrapped-rows")
        others = {"other": registered("reference", "Jetson-Orin-AGX-CPU")}

        found = on_reference(rank_among(sides, others, "energy"), sides)

        assert found is not None
        assert found.case.workload == Gemm(m=256, n=1, k=1)


class TestSpaces:
    """What two models are compared on."""

    def test_are_the_precisions_that_both_have(self) -> None:
        sides = (
            registered("reference", "Intel-i7-12700K"),
            registered("reference", "Google-TPU-v4"),
        )
        space = common_space(sides)

        rows = space.sample(np.random.default_rng(1), 64)

        found = {space.build(row).precision for row in rows.tolist()}  # type: ignore[union-attr]  # plain cases
        assert found == {Precision.INT8}

    def test_models_with_no_precision_in_common_are_told(self) -> None:
        other = attrs.evolve(model(), precisions=(Precision.FP64,))

        with pytest.raises(NotOffered, match="no precision in common"):
            common_space((model(), other))


MODEL = """
from joulecheck import Estimate, Precision


class Npu:
    name = "npu"
    precisions = (Precision.INT8,)
    operators = frozenset({{"gemm"}})

    def estimate(self, case, scale={{}}):
        terms = {{"compute": case.ops / 1e9, "dram": case.bytes / {bandwidth}}}
        latency = max(terms.values())
        return Estimate(energy=latency, latency=latency, latency_terms=terms)
"""

git_there = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(repository: Path, *arguments: str) -> str:
    who = {
        f"GIT_{role}_{what}": "a@b.c"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(  # noqa: S603 - as the test says
        ["git", "-C", str(repository), *arguments],  # noqa: S607 - the user's git
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **who},
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a model whose memory becomes a thousand times as fast."""
    git(tmp_path, "init", "-q")
    for tag, bandwidth in (("slow", "1e9"), ("fast", "1e12")):
        (tmp_path / "npu_of_two.py").write_text(MODEL.format(bandwidth=bandwidth))
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", tag)
        git(tmp_path, "tag", tag)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@git_there
class TestRevisions:
    """Models as they are at another revision."""

    def test_answer_with_their_own_modules(self, repository: Path) -> None:
        case = Cases.of([Case(Gemm(m=1, n=1, k=1), Precision.INT8)])
        here = Subject.of(Roofline(1.0, 1.0), name="npu_of_two:Npu")

        with checked_out("slow", repository) as other:
            there = at_revision(here, "slow", other)
            found = there.ask(case)
            known = answers(there)

        assert known
        assert found.latency_terms["dram"][0] == pytest.approx(3e-9)
        assert len(git(repository, "worktree", "list").splitlines()) == 1

    def test_a_model_that_is_not_there_does_not_answer(self, repository: Path) -> None:
        with checked_out("slow", repository) as other:
            assert not answers(at_revision(model(), "slow", other))

    def test_an_unknown_revision_is_told(self, repository: Path) -> None:
        with (
            pytest.raises(InvalidSetting, match="invalid reference: nowhere"),
            checked_out("nowhere", repository),
        ):
            pass

    @pytest.mark.usefixtures("repository")
    def test_are_compared_by_the_command(self) -> None:
        done = run("slow", "fast", "--models", "npu_of_two:Npu", "--cases", "16")

        assert done.exit_code == 1, done.output
        flat = " ".join(done.output.split())
        assert "bottleneck of npu_of_two:Npu: A prefers dram, B compute" in flat
        assert "gemm M=1 N=1 K=1 INT8" in flat


def point(design: str) -> tuple[str, ...]:
    """A design beside a sound one."""
    return ("--point", design, "--point", "clock=2", "--cases", "8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["compare", *arguments])


def test_a_decision_without_numbers_is_not_the_same() -> None:
    blind = Subject.of(Tiny(lambda _: Estimate(energy=math.nan)))
    sides = (Subject.of(Tiny(energy)), blind)
    space = common_space(sides)
    rows = space.sample(np.random.default_rng(1), 8)
    decision = rank_among(sides, {"other": sides[0]}, "energy")

    with pytest.raises(NotOffered, match="B has numbers for no two options"):
        smallest_flip(decision, space, rows)


class TestCommand:
    """The command line."""

    def test_a_model_decides_as_itself(self) -> None:
        done = run(INTEL, INTEL, "--cases", "64", "--among", "reference:Google-TPU-v4")

        assert done.exit_code == 0
        assert "the same on all workloads" in done.output

    def test_a_fault_shows_in_each_decision_that_it_turns(self) -> None:
        done = run(
            *("reference:Hailo-8", "reference:Hailo-8", "--inject", "launch-slip#0"),
            *("--cases", "64", "--among", "reference:Google-TPU-v4"),
            *("--output-format", "json"),
        )

        found = json.loads(done.stdout)
        assert done.exit_code == 1
        assert found["b"] == "reference:Hailo-8 with launch-slip#0"
        turned = found["decisions"]["bottleneck"]
        assert turned["a_takes"] == "launch"
        assert turned["case"]["workload"]["op"] == "Gemm"
        assert turned["minimality"] == "proven"

    def test_design_points_are_read(self) -> None:
        hailo = "reference:Hailo-8"
        points = ("--point", "clock=2,units=2", "--point", "launch=0.5")
        fault = ("--inject", "launch-slip#0", "--among", "reference:Google-TPU-v4")

        done = run(hailo, hailo, *points, *fault, "--cases", "64")

        assert done.exit_code == 1
        flat = " ".join(done.output.split())
        assert "by latency: A prefers launch=0.5, B clock=2,units=2" in flat

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ((INTEL, "HEAD"), "must both be models, or both revisions"),
            ((INTEL, "reference:Google-*"), "names 6 models"),
            ((INTEL, INTEL, "--point", "clock=2"), "two --point or more"),
            ((INTEL, INTEL, *(("--point", "clock=2") * 2)), "two --point or more"),
            ((INTEL, INTEL, *point("clock=-1")), "above 0 and from 0 to inf, got -1"),
            ((INTEL, INTEL, *point("clock=nan")), "above 0 and from 0 to inf, got nan"),
            ((INTEL, INTEL, *point("units=1.5")), "must be whole and finite"),
            (("HEAD", "HEAD", "--among", INTEL), "are for models"),
        ],
    )
    def test_what_cannot_be_compared_is_told(
        self, arguments: tuple[str, ...], told: str
    ) -> None:
        done = run(*arguments)

        assert isinstance(done.exception, InvalidSetting)
        assert told in str(done.exception)

    def test_a_knob_is_turned_once(self) -> None:
        done = run(INTEL, INTEL, *point("clock=2,clock=3"))

        assert done.exit_code == 2
        assert "turns one knob twice" in done.output

    @pytest.mark.parametrize("clearly", ["nan", "inf"])
    def test_a_margin_is_a_finite_number(self, clearly: str) -> None:
        done = run(INTEL, INTEL, "--clearly", clearly)

        assert done.exit_code == 2
        assert "is no finite number" in done.output

    def test_models_that_take_no_decision_do_not_pass(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        alone = Subject.of(Tiny(energy))
        monkeypatch.setattr("joulecheck.cli.options.models_named", lambda _: [alone])

        done = run("own:Tiny", "own:Tiny", "--cases", "8")

        assert isinstance(done.exception, NotOffered)
        flat = " ".join(done.output.split())
        assert "no family to be ranked in: name machines by --among" in flat

    def test_a_point_that_is_none_is_told(self) -> None:
        done = run(INTEL, INTEL, "--point", "clock", "--point", "units=2")

        assert done.exit_code == 2
        assert "KNOB=FACTOR" in done.output
