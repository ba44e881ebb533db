"""Stored findings as pytest items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

import pytest

from corpus_examples import MONDAY, counterexample
from joulecheck import resolve
from joulecheck.case import Case
from joulecheck.corpus import (
    Acceptance,
    Finding,
    SqlCorpus,
    Status,
    export_findings,
    utc_now,
)
from joulecheck.workload import Gemm, Precision

pytest_plugins = ["pytester"]

GOOD, BAD = Case(Gemm(m=1, n=1, k=1)), Case(Gemm(m=7, n=1, k=1))

NPU = """
from joulecheck import Estimate, Precision

class Npu:
    name = "npu"
    precisions = (Precision.FP32,)

    def estimate(self, case, scale={}):
        alu = 1e-12 * case.ops * (-1 if case.macs == 7 else 1)
        return Estimate(energy=alu, energy_terms={"alu": alu})

class Exempt(Npu):
    from joulecheck import Exemption
    exemptions = (Exemption("MON001", "harvests energy"),)
"""

Run = Callable[..., pytest.RunResult]


def stored(  # noqa: PLR0913 - a finding has many sides
    case: Case,
    reason: str = "",
    *,
    model: str = "npus:Npu",
    law: str = "MON001",
    days: int = 30,
    status: Status = Status.ACCEPTED,
) -> Finding:
    """A finding, accepted if there is a reason, until some days from now."""
    until = (utc_now() + timedelta(days=days)).date()
    return Finding(
        counterexample=counterexample(model=model, law=law, case=case),
        status=status if reason else Status.NEW,
        acceptance=Acceptance(reason, until) if reason else None,
        first_seen=MONDAY,
        last_seen=MONDAY,
    )


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Replays findings in a folder with a module of models in it."""
    pytester.makeini("[pytest]\n")  # a project of its own, wherever the folder lies
    pytester.makepyfile(npus=NPU)
    monkeypatch.syspath_prepend(pytester.path)

    def replay(*findings: Finding, options: Iterable[str] = ()) -> pytest.RunResult:
        export_findings(findings, pytester.path / "found")
        return pytester.runpytest(
            "-p",
            "joulecheck.pytest_plugin",
            "--joulecheck-counterexamples=found",
            "--joulecheck-model=npus:Npu",
            "-rA",
            *options,
        )

    return replay


class TestItems:
    """One item a finding."""

    def test_are_named_by_finding_model_and_property(self, run: Run) -> None:
        finding = stored(GOOD)

        result = run(finding)

        result.assert_outcomes(passed=1)
        name = f"{finding.id}[[]npus:Npu-MON001[]]"
        result.stdout.fnmatch_lines([f"PASSED joulecheck::{name}"])

    def test_are_chosen_by_keyword(self, run: Run) -> None:
        good, bad = stored(GOOD), stored(BAD)

        run(good, bad, options=["-k", good.id]).assert_outcomes(passed=1, deselected=1)

    def test_come_from_a_database(self, run: Run, pytester: pytest.Pytester) -> None:
        url = f"sqlite:///{pytester.path}/corpus.db"
        with SqlCorpus(url) as corpus:
            corpus.add(stored(BAD))

        result = run(stored(GOOD), options=[f"--joulecheck-corpus={url}"])

        result.assert_outcomes(passed=1, failed=1)

    def test_come_from_a_database_alone(self, pytester: pytest.Pytester) -> None:
        url = f"sqlite:///{pytester.path}/corpus.db"
        with SqlCorpus(url) as corpus:
            corpus.add(stored(GOOD, model="reference:Intel-i7-12700K"))

        result = pytester.runpytest(
            "-p", "joulecheck.pytest_plugin", f"--joulecheck-corpus={url}"
        )

        result.assert_outcomes(passed=1)

    def test_are_none_without_an_option(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile("def test_other(): pass")

        pytester.runpytest("-p", "joulecheck.pytest_plugin").assert_outcomes(passed=1)

    def test_run_beside_other_tests(self, run: Run, pytester: pytest.Pytester) -> None:
        pytester.makepyfile("def test_other(): pass")

        run(stored(GOOD)).assert_outcomes(passed=2)


class TestOutcomes:
    """What a replay means to pytest."""

    def test_fails_with_the_rule_and_the_numbers(self, run: Run) -> None:
        result = run(stored(BAD))

        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                "STILL FAILS: not accepted",
                "  rule      x >= 0 for the energy, *",
                "  minimal   gemm M=7 N=1 K=1 FP32",
                "  answer    energy -14 pJ",
                "            alu -14 pJ = -14 pJ in all",
                "  margin    -1, relative; below 0 violates the rule",
            ]
        )
        result.stdout.no_fnmatch_line("*Traceback*")

    def test_expects_an_accepted_failure(self, run: Run) -> None:
        result = run(stored(BAD, "a modelling choice"))

        result.assert_outcomes(xfailed=1)
        result.stdout.fnmatch_lines(["XFAIL *STILL FAILS: accepted until *: a modelling *"])

    def test_fails_when_the_acceptance_has_expired(self, run: Run) -> None:
        result = run(stored(BAD, "for now", days=-1))

        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["STILL FAILS: accepted until *, which has passed"])

    def test_fails_when_what_was_fixed_fails_again(self, run: Run) -> None:
        result = run(stored(BAD, "once", status=Status.FIXED))

        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["STILL FAILS: regressed: it was fixed before"])

    def test_passes_with_a_note_when_an_accepted_one_is_fixed(self, run: Run) -> None:
        finding = stored(GOOD, "a modelling choice")

        result = run(finding)

        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(
            [f"{finding.id} is fixed, and its acceptance can go: a modelling choice"]
        )

    def test_expects_the_failure_of_an_exempt_model(self, run: Run) -> None:
        finding = stored(BAD, model="npus:Exempt")

        result = run(finding, options=["--joulecheck-model=npus:Exempt"])

        result.assert_outcomes(xfailed=1)
        result.stdout.fnmatch_lines(["XFAIL *exempt by the model: harvests energy"])

    def test_fails_an_accepted_failure_when_asked_to(self, run: Run) -> None:
        run(stored(BAD, "known"), options=["--runxfail"]).assert_outcomes(failed=1)

    def test_fails_what_cannot_run(self, run: Run) -> None:
        result = run(stored(Case(Gemm(m=1, n=1, k=1), Precision.FP4), law="CMP003"))

        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["CANNOT RUN: CMP003 needs what npus:Npu does not *"])

    def test_fails_what_no_model_is_named_for(self, run: Run) -> None:
        result = run(stored(GOOD, model="npus:Other"))

        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            ["CANNOT RUN: no family of models is called 'npus', *-model npus:Other if *"]
        )

    def test_never_imports_a_stored_name(self, run: Run, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(trap="open('sprung', 'w').close()")

        run(stored(GOOD, model="trap:Npu")).assert_outcomes(failed=1)

        assert not Path("sprung").exists()

    def test_skips_a_family_whose_package_is_missing(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def missing(prefix: str, name: str) -> None:
            raise ModuleNotFoundError(prefix, name)

        monkeypatch.setattr(resolve, "registered", missing)

        result = run(stored(GOOD, model="reference:Intel-i7-12700K"))

        result.assert_outcomes(skipped=1)
        result.stdout.fnmatch_lines(["SKIPPED *the models reference: are not installed *"])


class TestUsage:
    """What the options must be."""

    @pytest.mark.parametrize(
        ("option", "told"),
        [
            ("--joulecheck-counterexamples=nowhere", "*must be a folder, got nowhere"),
            ("--joulecheck-corpus=nonsense", "*"),
            ("--joulecheck-model=npus:Nqu", "*npus.py) has no 'Nqu': did you mean Npu*"),
        ],
    )
    def test_is_told_in_a_sentence(self, run: Run, option: str, told: str) -> None:
        result = run(stored(GOOD), options=[option])

        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"ERROR: {told}"])

    def test_is_told_of_a_file_that_is_no_finding(
        self, run: Run, pytester: pytest.Pytester
    ) -> None:
        pytester.mkdir("found")
        (pytester.path / "found" / "F-1.json").write_text("{}")

        result = run()

        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["ERROR: *F-1.json*format must be 1*"])
