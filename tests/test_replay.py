"""Stored cases through their properties again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from corpus_examples import DAY, TODAY, accepted, counterexample, finding
from derivable import Changed, Chip, on
from joulecheck.case import Case, PrecisionPair
from joulecheck.corpus import (
    Acceptance,
    CombinedCorpus,
    Directory,
    Finding,
    InMemoryCorpus,
    Outcome,
    Replayed,
    SqlCorpus,
    Status,
    exit_code,
    record,
    replay,
)
from joulecheck.errors import InvalidSetting, NotOffered, UnknownName, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.model import Exemption, Offer, Subject
from joulecheck.property import Property
from joulecheck.region import Feature, Generalised, Interval, Region
from joulecheck.space import CaseSpace
from joulecheck.workload import Gemm, Precision
from joulecheck.workload.columns import Floats
from joulecheck_strategies import WorkloadSpace


class EnergyIsPositive(Property):
    """Energy is above 0, for cases of up to 1000 MACs."""

    id = "TST001"
    name = "energy-is-positive"
    needs = frozenset({Offer.ENERGY})

    def space(self, model: Subject) -> CaseSpace:
        message = f"a replay must not generate cases for {model.name}"
        raise AssertionError(message)

    def margin(self, model: Subject, cases: Any) -> Floats:  # noqa: ANN401
        energy = model.ask(cases).energy
        return np.where(cases.macs <= 1000, energy, np.nan)


class Broken(EnergyIsPositive):
    """A law with a programming error."""

    id = "TST002"

    def margin(self, model: Subject, cases: Any) -> Floats:  # noqa: ANN401
        return model.ask(cases).energy * float(cases.no_such_attribute)


class Toy:
    """Answers with the next of its energies; `script` holds joules and errors.

    The first answer, which every model gives when it is probed, is not of the script.
    """

    name = "npu"
    precisions = (Precision.FP32,)

    def __init__(self, *script: float | Exception) -> None:
        self.answers: Iterator[float | Exception] = itertools.chain(
            [1.0], itertools.cycle(script)
        )

    def estimate(self, case: Case, scale: object = None) -> Estimate:  # noqa: ARG002
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return Estimate(energy=answer)


class Timer(Toy):
    """Answers with a latency alone."""

    def estimate(self, case: Case, scale: object = None) -> Estimate:  # noqa: ARG002
        return Estimate(latency=1.0)


class Vectorised(Toy):
    """Is wrong on its batch path alone."""

    def estimate_batch(self, cases: Any, scales: object) -> Estimate:  # noqa: ANN401, ARG002
        return Estimate(energy=np.full(len(cases), -1.0))


class Exempt(Toy):
    """Says that the law does not apply."""

    exemptions = (Exemption("TST001", "harvests energy"),)


def law_named(name: str) -> Property:
    laws = {"TST001": EnergyIsPositive(), "TST002": Broken()}
    if name not in laws:
        message = f"no property is called {name!r}"
        raise UnknownName(message)
    return laws[name]


def resolving(model: Toy) -> Callable[[str], Subject]:
    subject = Subject.of(model, name="toy:npu")

    def resolve(name: str) -> Subject:
        if name != subject.name:
            message = f"no model is called {name!r}"
            raise UnknownName(message)
        return subject

    return resolve


def replayed(
    known: Finding, *script: float | Exception, today: date = TODAY, repeats: int = 3
) -> Replayed:
    return replayed_on(Toy(*script), known, today=today, repeats=repeats)


def replayed_on(
    model: Toy, known: Finding, today: date = TODAY, repeats: int = 3
) -> Replayed:
    (result,) = replay(
        [known], resolving(model), law_named=law_named, today=today, repeats=repeats
    )
    return result


class TestOutcome:
    def test_still_fails(self) -> None:
        result = replayed(finding(), -0.5)

        assert Outcome.STILL_FAILS is result.outcome
        assert result.margin == -0.5
        assert result.explanation == "not accepted"

    def test_fixed(self) -> None:
        result = replayed(finding(), 0.25)

        assert Outcome.FIXED is result.outcome
        assert result.margin == 0.25
        assert result.explanation == ""

    def test_flaky(self) -> None:
        result = replayed(finding(), -0.5, 0.5, -0.75)

        assert Outcome.FLAKY is result.outcome
        assert result.margin == -0.75
        assert result.explanation == "failed in 2 of 3, held in 1 of 3 runs"

    def test_flaky_if_the_model_crashes_at_times(self) -> None:
        result = replayed(finding(), 0.5, RuntimeError("no licence"), 0.5)

        assert Outcome.FLAKY is result.outcome
        assert result.margin == 0.5
        assert "could not be judged in 1 of 3 runs: " in result.explanation

    def test_one_run_shows_no_flakiness(self) -> None:
        assert Outcome.STILL_FAILS is replayed(finding(), -0.5, 0.5, repeats=1).outcome

    def test_uses_the_scalar_path(self) -> None:
        assert Outcome.FIXED is replayed_on(Vectorised(1.0), finding()).outcome

    def test_needs_a_run(self) -> None:
        with pytest.raises(InvalidSetting, match="repeats must be at least 1, got 0"):
            replayed(finding(), 1.0, repeats=0)

    def test_judges_by_the_present_day_unless_told(self) -> None:
        known = accepted(until=date(2000, 1, 1))
        (result,) = replay([known], resolving(Toy(-1.0)), law_named=law_named)

        assert result.expired

    def test_goes_on_after_what_cannot_run(self) -> None:
        known = [
            Finding.new(counterexample(model="gone:npu"), finding().first_seen),
            Finding.new(counterexample(law="TST002"), finding().first_seen),
            finding(),
        ]
        results = list(replay(known, resolving(Toy(-1.0)), law_named=law_named))

        assert known == [result.finding for result in results]
        assert [result.outcome for result in results] == [
            Outcome.CANNOT_RUN,
            Outcome.CANNOT_RUN,
            Outcome.STILL_FAILS,
        ]


def of(**stored: Any) -> Finding:  # noqa: ANN401
    return Finding.new(counterexample(**stored), finding().first_seen)


class TestCannotRun:
    """What cannot be judged is not fixed, and says why."""

    @pytest.mark.parametrize(
        ("known", "model", "reason"),
        [
            (of(model="gone:npu"), Toy(1.0), "no model is called 'gone:npu'"),
            (of(law="TST009"), Toy(1.0), "no property is called 'TST009'"),
            (of(law="TST002"), Toy(1.0), "TST002 raised AttributeError on this case"),
            (of(), Timer(), "TST001 needs what toy:npu does not offer: ENERGY (return"),
            (of(), Toy(Unsupported("no")), "toy:npu does not support the case any more"),
            (of(), Toy(OSError("no file")), "toy:npu raised OSError: no file"),
            (of(case=Case(Gemm(m=11, n=10, k=10))), Toy(1.0), "TST001 gives no margin now"),
            (
                of(
                    case=PrecisionPair(
                        Case(Gemm(m=1, n=1, k=1), Precision.INT8),
                        Case(Gemm(m=1, n=1, k=1), Precision.FP32),
                    )
                ),
                Toy(1.0),
                "TST001 raised AttributeError on this case",
            ),
        ],
        ids=[
            "no such model",
            "no such property",
            "a broken property",
            "not offered",
            "unsupported",
            "a crash",
            "outside the domain",
            "another kind of case",
        ],
    )
    def test_says_why(self, known: Finding, model: Toy, reason: str) -> None:
        result = replayed_on(model, known)

        assert Outcome.CANNOT_RUN is result.outcome
        assert result.margin is None
        assert reason in result.explanation
        assert exit_code([result]) == 2

    def test_if_the_model_cannot_be_loaded(self) -> None:
        def resolve(name: str) -> Subject:
            message = f"No module named {name!r}"
            raise ImportError(message)

        (result,) = replay([finding()], resolve, law_named=law_named)

        expected = "toy:npu cannot be loaded: ImportError: No module named 'toy:npu'"
        assert expected == result.explanation

    def test_imports_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Only the function that is passed in decides what a model's name means."""
        (tmp_path / "surprise.py").write_text("raise SystemExit('imported')")
        monkeypatch.syspath_prepend(tmp_path)

        result = replayed(of(model="surprise:Npu", law="surprise:Law"), 1.0)

        assert Outcome.CANNOT_RUN is result.outcome


class TestDerived:
    """A case on a machine derived from the model's own."""

    def replayed(self, model: object, **factors: float) -> Replayed:
        found = counterexample(law="SEN007", case=on(**factors))
        stored = attrs.evolve(finding(), counterexample=found)
        (result,) = replay([stored], lambda _: Subject.of(model))
        return result

    def test_is_derived_again(self) -> None:
        assert self.replayed(Chip, clock=2.0).outcome is Outcome.FIXED

    def test_says_that_a_knob_is_gone(self) -> None:
        result = self.replayed(Chip, turbo=2.0)

        assert result.outcome is Outcome.CANNOT_RUN
        assert "chip has no knob 'turbo'" in result.reason

    def test_says_that_there_is_no_such_machine(self) -> None:
        result = self.replayed(Changed(mangle=lambda _: {"units": 1e9}), clock=2.0)

        assert result.outcome is Outcome.CANNOT_RUN
        assert "does not support the derived machine any more" in result.reason

    def test_says_that_knobs_are_gone(self) -> None:
        result = self.replayed(Toy(1.0), clock=2.0)

        assert result.outcome is Outcome.CANNOT_RUN
        assert "KNOBS (declare knobs" in result.reason


class EnergyBelow(Property):
    """Energy is below 2^20 pJ."""

    id = "TST003"
    name = "energy-below"
    needs = frozenset({Offer.ENERGY})

    def space(self, model: Subject) -> CaseSpace:
        return WorkloadSpace(precisions=model.precisions)

    def margin(self, model: Subject, cases: Any) -> Floats:  # noqa: ANN401
        energy = model.ask(cases).energy
        return np.where(cases.macs > 0, 1 - energy / 2**20, np.nan)


class Thinned(EnergyBelow):
    """The same, said to cost eight times as much."""

    id = "TST004"
    thinning = 8


class Outgrown(EnergyBelow):
    """The same, with a space that can be drawn from no more."""

    id = "TST005"

    def space(self, model: Subject) -> CaseSpace:
        message = f"{model.name} has no cases for it"
        raise NotOffered(message)


class Stumbling(EnergyBelow):
    """The same, with a programming error for more than one case."""

    id = "TST006"

    def margin(self, model: Subject, cases: Any) -> Floats:  # noqa: ANN401
        if len(cases) > 1:
            message = "too many"
            raise IndexError(message)
        return super().margin(model, cases)


LARGE = Interval(Feature(("macs",)), low=2.0**20)
"""Where more than 2^20 pJ are spent at 1 pJ a MAC."""


class Meter:
    """Spends some energy a MAC."""

    name = "npu"
    precisions = (Precision.FP32,)

    def __init__(self, energy: Callable[[Any], Any]) -> None:
        self.energy = energy
        self.asked = 0

    def estimate(self, case: Case, scale: object = None) -> Estimate:  # noqa: ARG002
        self.asked += 1
        return Estimate(energy=float(self.energy(np.float64(case.macs))))


class Fast(Meter):
    """The same with a batch path."""

    def estimate_batch(self, cases: Any, scales: object) -> Estimate:  # noqa: ANN401, ARG002
        return Estimate(energy=self.energy(cases.macs))


class TestRegion:
    """A finding that has a region: fresh cases of it are asked as well."""

    def replayed(
        self,
        model: object,
        law: Property | None = None,
        *atoms: Interval,
        rows: int = 1 << 21,
    ) -> Replayed:
        case = Case(Gemm(m=rows, n=1, k=1))
        known = counterexample(law=(law or EnergyBelow()).id, case=case)
        around = Generalised(
            regions=[Region(atoms=atoms or [LARGE])],
            coverage=1.0,
            evaluations=1,
            proven=True,
        )
        known = attrs.evolve(known, region=around)
        (result,) = replay(
            [attrs.evolve(finding(), counterexample=known)],
            lambda _: Subject.of(model, name="toy:npu"),
            law_named=lambda _: law or EnergyBelow(),
            today=TODAY,
        )
        return result

    @pytest.mark.parametrize("kind", [Meter, Fast])
    def test_all_of_it_fails_still(self, kind: type[Meter]) -> None:
        result = self.replayed(kind(lambda macs: macs))

        assert (result.outcome, result.reason) == (Outcome.STILL_FAILS, "")

    @pytest.mark.parametrize("kind", [Meter, Fast])
    def test_all_of_it_is_fixed(self, kind: type[Meter]) -> None:
        result = self.replayed(kind(lambda macs: 0.5 * (macs > 0)))

        assert (result.outcome, result.reason) == (Outcome.FIXED, "")

    @pytest.mark.parametrize(("kind", "tried"), [(Meter, 32), (Fast, 256)])
    def test_a_case_that_holds_in_a_region_that_fails_is_not_fixed(
        self, kind: type[Meter], tried: int
    ) -> None:
        result = self.replayed(kind(lambda macs: np.where(macs == 1 << 21, 0.0, macs)))

        assert result.outcome is Outcome.STILL_FAILS
        assert result.reason.startswith("its case holds, but only ")
        assert result.reason.endswith(f"of {tried} fresh cases of its region hold now")
        assert result.margin is not None
        assert result.margin < 0

    def test_a_case_that_fails_in_a_region_that_is_mended_fails(self) -> None:
        result = self.replayed(Fast(lambda macs: np.where(macs == 1 << 21, 2.0**21, 1.0)))

        assert result.outcome is Outcome.STILL_FAILS
        assert result.reason == "all of 256 fresh cases of its region hold now"
        assert result.margin == -1.0

    def test_a_region_that_is_mended_in_part_is_told(self) -> None:
        result = self.replayed(Fast(lambda macs: np.where(macs > 1 << 30, 1.0, macs)))

        assert result.outcome is Outcome.STILL_FAILS
        assert "of 256 fresh cases of its region hold now" in result.reason
        assert not result.reason.startswith("all of")

    def test_a_law_that_costs_more_asks_less(self) -> None:
        result = self.replayed(
            Fast(lambda macs: np.where(macs == 1 << 21, 2.0**21, 1.0)), Thinned()
        )

        assert result.reason == "all of 32 fresh cases of its region hold now"

    @pytest.mark.parametrize("rows", [1, 1 << 21])
    def test_the_case_alone_counts_where_the_region_says_nothing(self, rows: int) -> None:
        gone = Interval(Feature(("tiles of the old space",)), low=1)
        model = Fast(lambda macs: macs)
        expected = Outcome.FIXED if rows == 1 else Outcome.STILL_FAILS
        for law, atoms in ((EnergyBelow(), [gone]), (Outgrown(), [LARGE])):
            result = self.replayed(model, law, *atoms, rows=rows)
            assert (result.outcome, result.reason) == (expected, "")

    def test_the_case_alone_counts_where_the_law_is_silent_in_the_region(self) -> None:
        none = Interval(Feature(("macs",)), high=0.0)
        result = self.replayed(Fast(lambda macs: macs), None, none)

        assert (result.outcome, result.reason) == (Outcome.STILL_FAILS, "")

    def test_an_error_in_the_region_does_not_end_the_replay(self) -> None:
        result = self.replayed(Fast(lambda macs: macs), Stumbling())

        assert result.outcome is Outcome.STILL_FAILS
        assert result.reason == (
            "its region cannot be asked: TST006 cannot be evaluated on toy:npu: "
            "IndexError('too many')"
        )

    def test_is_not_asked_of_what_is_flaky(self) -> None:
        turns = itertools.cycle([0.0, 2.0**21])
        model = Meter(lambda _: next(turns))

        assert self.replayed(model).outcome is Outcome.FLAKY
        assert model.asked <= 8


class TestJudgement:
    @pytest.mark.parametrize(
        ("known", "script", "today", "code", "flags", "explanation"),
        [
            (finding(), [1.0], TODAY, 0, set(), ""),
            (finding(), [-1.0], TODAY, 1, set(), "not accepted"),
            (accepted(), [1.0], TODAY, 0, set(), ""),
            (accepted(), [-1.0], TODAY, 0, {"accepted"}, "accepted: known"),
            (
                accepted(until=TODAY),
                [-1.0],
                TODAY,
                0,
                {"accepted"},
                "accepted until 2026-03-02: known",
            ),
            (
                accepted(until=TODAY),
                [-1.0],
                TODAY + DAY,
                1,
                {"expired"},
                "accepted until 2026-03-02, which has passed",
            ),
            (accepted(until=TODAY), [1.0], TODAY + DAY, 0, set(), ""),
            (
                finding(status=Status.FIXED, acceptance=Acceptance("before")),
                [-1.0],
                TODAY,
                1,
                {"regressed"},
                "regressed: it was fixed before",
            ),
            (
                finding(status=Status.REGRESSED),
                [-1.0],
                TODAY,
                1,
                {"regressed"},
                "regressed: it was fixed before",
            ),
            (finding(status=Status.REGRESSED), [1.0], TODAY, 0, set(), ""),
            (
                finding(status=Status.FLAKY, acceptance=Acceptance("before")),
                [-1.0],
                TODAY,
                1,
                set(),
                "not accepted",
            ),
            (
                accepted(),
                [-1.0, 1.0, 1.0],
                TODAY,
                1,
                set(),
                "failed in 1 of 3, held in 2 of 3 runs",
            ),
        ],
        ids=[
            "new, holds",
            "new, fails",
            "accepted, holds",
            "accepted, fails",
            "accepted, fails on the last day",
            "expired, fails",
            "expired, holds",
            "fixed, fails",
            "regressed, fails",
            "regressed, holds",
            "flaky, fails",
            "accepted, flaky",
        ],
    )
    def test_by_what_was_decided(  # noqa: PLR0913 - one row of a table
        self,
        known: Finding,
        script: list[float],
        today: date,
        code: int,
        flags: set[str],
        explanation: str,
    ) -> None:
        result = replayed(known, *script, today=today)

        assert code == exit_code([result])
        assert result.fails_gate == (code == 1)
        assert flags == {
            flag for flag in ("accepted", "expired", "regressed") if getattr(result, flag)
        }
        assert explanation == result.explanation

    @pytest.mark.parametrize("script", [[-1.0], [-1.0, 1.0]], ids=["fails", "flaky"])
    def test_respects_the_model_s_exemption(self, script: list[float]) -> None:
        result = replayed_on(Exempt(*script), finding())

        assert result.accepted
        assert exit_code([result]) == 0
        assert "exempt by the model: harvests energy" in result.explanation


class TestExitCode:
    def test_of_nothing_is_0(self) -> None:
        assert exit_code([]) == 0

    def test_a_failure_tells_more_than_what_cannot_run(self) -> None:
        fails, holds = replayed(finding(), -1.0), replayed(finding(), 1.0)
        cannot = replayed(of(model="gone:npu"), 1.0)

        assert exit_code([cannot, fails, holds]) == 1
        assert exit_code([holds, cannot]) == 2
        assert exit_code(iter([holds, holds])) == 0


class TestRecord:
    @pytest.mark.parametrize(
        ("before", "script", "after"),
        [
            (Status.NEW, [-1.0], Status.NEW),
            (Status.NEW, [1.0], Status.FIXED),
            (Status.NEW, [-1.0, 1.0], Status.FLAKY),
            (Status.NEW, [OSError()], Status.NEW),
            (Status.ACCEPTED, [-1.0], Status.ACCEPTED),
            (Status.ACCEPTED, [1.0], Status.FIXED),
            (Status.ACCEPTED, [-1.0, 1.0], Status.FLAKY),
            (Status.FIXED, [-1.0], Status.REGRESSED),
            (Status.FIXED, [1.0], Status.FIXED),
            (Status.FIXED, [OSError()], Status.FIXED),
            (Status.REGRESSED, [-1.0], Status.REGRESSED),
            (Status.REGRESSED, [1.0], Status.FIXED),
            (Status.FLAKY, [-1.0], Status.FLAKY),
            (Status.FLAKY, [1.0], Status.FIXED),
        ],
    )
    def test_keeps_the_status(
        self, before: Status, script: list[float | Exception], after: Status
    ) -> None:
        corpus = InMemoryCorpus()
        known = corpus.add(finding(status=before, acceptance=Acceptance("known")))

        recorded = record(corpus, replayed(known, *script))

        assert after is recorded.status
        assert Acceptance("known") == recorded.acceptance
        assert [recorded] == corpus.all()

    def test_writes_nothing_if_nothing_changed(self, tmp_path: Path) -> None:
        directory = Directory(tmp_path / "counterexamples")
        directory.write(accepted())
        with CombinedCorpus(SqlCorpus(f"sqlite:///{tmp_path}/c.db"), directory) as corpus:
            for result in replay(corpus.all(), resolving(Toy(-1.0)), law_named=law_named):
                record(corpus, result)

        assert [directory.path] == list(tmp_path.iterdir())

    def test_remembers_that_a_committed_finding_was_fixed(self, tmp_path: Path) -> None:
        """Fixed on one day and failing on the next is a regression, accepted or not."""
        directory = Directory(tmp_path / "counterexamples")
        directory.write(accepted())
        with CombinedCorpus(SqlCorpus(f"sqlite:///{tmp_path}/c.db"), directory) as corpus:
            codes = []
            for energy in (-1.0, 1.0, -1.0, -1.0):
                results = list(
                    replay(corpus.all(), resolving(Toy(energy)), law_named=law_named)
                )
                codes.append(exit_code(results))
                for result in results:
                    record(corpus, result)

            assert codes == [0, 0, 1, 1]
            assert [known.status for known in corpus.all()] == [Status.REGRESSED]

            corpus.accept(accepted().id, "given up")
            results = list(replay(corpus.all(), resolving(Toy(-1.0)), law_named=law_named))

            assert exit_code(results) == 0
