"""Replay: every stored case through its property again, with nothing generated.

A case that cannot be judged any more is never called fixed: a model that refuses the
case, crashes on it or lacks what the property needs, and a property that says nothing
of the case now, all give CANNOT RUN, with the reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from enum import Enum
from typing import Final, NamedTuple

import attrs

from joulecheck.case import AnyCase, Question
from joulecheck.corpus.finding import Finding, Status, utc_now
from joulecheck.corpus.resample import resampled
from joulecheck.corpus.store import Corpus
from joulecheck.counterexample import Counterexample
from joulecheck.errors import InvalidSetting, JoulecheckError, NotOffered
from joulecheck.model import Subject
from joulecheck.property import Property, property_named

Resolve = Callable[[str], Subject]
"""Finds a model by the name that a counterexample gives; raises a JoulecheckError."""


class Outcome(Enum):
    """What a replay shows."""

    FIXED = "FIXED"
    """The case held in every run."""
    STILL_FAILS = "STILL FAILS"
    """It violated the property in every run."""
    FLAKY = "FLAKY"
    """Not every run ended the same way."""
    CANNOT_RUN = "CANNOT RUN"
    """No run could judge the case."""


@attrs.frozen(kw_only=True)
class Replayed:
    """A finding as it was before the replay, and what the replay showed."""

    finding: Finding
    outcome: Outcome
    margin: float | None = None
    """The lowest of all runs, relative; None if no run gave any."""
    reason: str = ""
    """Why the outcome is what it is."""
    today: date
    """The day by which acceptances are judged, in UTC."""
    exemption: str | None = None
    """The model's own reason why the property does not apply to it."""

    @property
    def accepted(self) -> bool:
        """Whether it fails and may: accepted on this day, or exempt by the model.

        An acceptance covers a steady failure alone; an exemption, flakiness too.
        """
        match self.outcome:
            case Outcome.STILL_FAILS:
                excused = self.finding.accepts_now(self.today)
                return excused or self.exemption is not None
            case Outcome.FLAKY:
                return self.exemption is not None
            case _:
                return False

    @property
    def expired(self) -> bool:
        """Whether it fails, and was accepted until a day that has passed."""
        fails = self.outcome is Outcome.STILL_FAILS
        return fails and self.finding.is_expired(self.today)

    @property
    def regressed(self) -> bool:
        """Whether it fails, and was fixed before."""
        fails = self.outcome is Outcome.STILL_FAILS
        return fails and self.finding.status in {Status.FIXED, Status.REGRESSED}

    @property
    def fails_gate(self) -> bool:
        """Whether it fails, in some run at least, and nothing excuses it."""
        failing = self.outcome in {Outcome.STILL_FAILS, Outcome.FLAKY}
        return failing and not self.accepted

    @property
    def explanation(self) -> str:
        """The reason, with what was decided about the finding if it fails."""
        return "; ".join(filter(None, [self.reason, self._standing]))

    @property
    def _standing(self) -> str:
        failing = self.outcome in {Outcome.STILL_FAILS, Outcome.FLAKY}
        if failing and self.exemption is not None:
            return f"exempt by the model: {self.exemption}"
        return self._judgement if self.outcome is Outcome.STILL_FAILS else ""

    @property
    def _judgement(self) -> str:
        if self.regressed:
            return "regressed: it was fixed before"
        acceptance = self.finding.acceptance
        if acceptance is None or self.finding.status is not Status.ACCEPTED:
            return "not accepted"
        if self.expired:
            return f"accepted until {acceptance.until}, which has passed"
        until = f" until {acceptance.until}" if acceptance.until else ""
        return f"accepted{until}: {acceptance.reason}"


def replay(
    findings: Iterable[Finding],
    resolve: Resolve,
    *,
    law_named: Callable[[str], Property] = property_named,
    repeats: int = 3,
    today: date | None = None,
) -> Iterator[Replayed]:
    """Run the case of each finding through its property, on the scalar path.

    Args:
        findings: in the order of their replay.
        resolve: finds a model by its name, or raises a JoulecheckError.
        law_named: finds a property by its id, or raises a JoulecheckError.
        repeats: how often each case runs, to tell the flaky ones.
        today: the day by which acceptances are judged; the present one in UTC if None.

    Raises:
        InvalidSetting: `repeats` is below 1.
    """
    if repeats < 1:
        msg = f"repeats must be at least 1, got {repeats}"
        raise InvalidSetting(msg)
    day = today or utc_now().date()
    return (_replayed(finding, resolve, law_named, repeats, day) for finding in findings)


def exit_code(replayed: Iterable[Replayed]) -> int:
    """What a replay ends with.

    1 if a failure is regressed, expired, flaky or not accepted, whatever else there
    is; else 2 if a case could not run; else 0.
    """
    seen = list(replayed)
    if any(each.fails_gate for each in seen):
        return 1
    return 2 if any(each.outcome is Outcome.CANNOT_RUN for each in seen) else 0


def record(corpus: Corpus, replayed: Replayed) -> Finding:
    """Keep what a replay showed as the finding's status; unchanged, nothing is written.

    Raises:
        CorpusError: the corpus cannot be written.
    """
    finding = replayed.finding
    if _status_after(finding.status, replayed.outcome) is finding.status:
        return finding

    def judged(known: Finding | None) -> Finding:
        present = known or finding
        return present.marked(_status_after(present.status, replayed.outcome))

    return corpus.change(finding.id, judged)


def _status_after(status: Status, outcome: Outcome) -> Status:
    match outcome:
        case Outcome.FIXED:
            return Status.FIXED
        case Outcome.FLAKY:
            return Status.FLAKY
        case Outcome.STILL_FAILS if status is Status.FIXED:
            return Status.REGRESSED
        case _:
            return status


class _Run(NamedTuple):
    """One evaluation: a margin, or NaN and the reason why there is none."""

    margin: float
    problem: str = ""

    @property
    def outcome(self) -> Outcome:
        if math.isnan(self.margin):
            return Outcome.CANNOT_RUN
        return Outcome.STILL_FAILS if self.margin < 0 else Outcome.FIXED


def _replayed(
    finding: Finding,
    resolve: Resolve,
    law_named: Callable[[str], Property],
    repeats: int,
    today: date,
) -> Replayed:
    found = finding.counterexample
    try:
        subject = resolve(found.model)
        law = law_named(found.property)
        _check_offers(law, subject)
    except Exception as error:  # noqa: BLE001 - one bad model must not end the replay
        reason = _preparing(found.model, error)
        return Replayed(
            finding=finding, outcome=Outcome.CANNOT_RUN, reason=reason, today=today
        )
    runs = [_run(law, subject, found.case) for _ in range(repeats)]
    runs = _in_region(law, subject, found, runs)
    exemption = subject.exemptions.get(law.id)
    return Replayed(
        finding=finding,
        outcome=_outcome(runs),
        margin=min((r.margin for r in runs if not math.isnan(r.margin)), default=None),
        reason=_reason(runs),
        today=today,
        exemption=None if exemption is None else exemption.reason,
    )


def _preparing(model: str, error: Exception) -> str:
    loading = "" if isinstance(error, JoulecheckError) else f"{model} cannot be loaded: "
    return f"{loading}{_told(error)}"


def _told(error: Exception) -> str:
    if isinstance(error, JoulecheckError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _check_offers(law: Property, subject: Subject) -> None:
    missing = law.missing(subject)
    if missing:
        ways = "; ".join(f"{offer.name} ({offer.value})" for offer in missing)
        msg = f"{law.id} needs what {subject.name} does not offer: {ways}"
        raise NotOffered(msg)


def _run(law: Property, subject: Subject, case: AnyCase) -> _Run:
    try:
        margin = law.margin_of(subject, case)
    except JoulecheckError as error:
        return _Run(math.nan, str(error))
    except Exception as error:  # noqa: BLE001 - one bad record must not end the replay
        problem = f"{law.id} raised {type(error).__name__} on this case: {error}"
        return _Run(math.nan, problem)
    return _Run(margin, _silence(law, subject, case) if math.isnan(margin) else "")


def _in_region(
    law: Property, subject: Subject, found: Counterexample, runs: list[_Run]
) -> list[_Run]:
    """The runs, with what fresh cases of the finding's region add to what they show."""
    steady = {run.outcome for run in runs}
    if found.region is None or steady not in ({Outcome.FIXED}, {Outcome.STILL_FAILS}):
        return runs
    try:
        again = resampled(law, subject, found.region)
    except Exception as error:  # noqa: BLE001 - one bad region must not end the replay
        return [_Run(runs[0].margin, f"its region cannot be asked: {_told(error)}")]
    if again is None:
        return runs
    if steady == {Outcome.STILL_FAILS}:
        some_hold = again.failing < again.tried
        return [_Run(runs[0].margin, again.text)] if some_hold else runs
    if not again.failing:
        return runs
    return [_Run(again.worst, f"its case holds, but only {again.text}")]


def _silence(law: Property, subject: Subject, case: AnyCase) -> str:
    """Why the law gave no margin, by asking the model once more."""
    for question in case.questions:
        problem = _refusal(subject, question)
        if problem:
            return problem
    return (
        f"{law.id} gives no margin now: the case is outside its domain, or the model "
        f"does not answer what it needs"
    )


def _refusal(subject: Subject, question: Question) -> str:
    asked = question.peer or subject.name
    answers = subject.answer(question)
    if answers.unsupported[0]:
        derived = "derived machine" if question.factors else question.role
        what = "case" if question.peer else derived
        return f"{asked} does not support the {what} any more"
    error = answers.errors.get(0)
    return f"{asked} raised {error}" if error else ""


_WORDS: Final = {
    Outcome.FIXED: "held",
    Outcome.STILL_FAILS: "failed",
    Outcome.CANNOT_RUN: "could not be judged",
}


def _outcome(runs: list[_Run]) -> Outcome:
    outcomes = {run.outcome for run in runs}
    return Outcome.FLAKY if len(outcomes) > 1 else outcomes.pop()


def _reason(runs: list[_Run]) -> str:
    problem = next((run.problem for run in runs if run.problem), "")
    counts = Counter(run.outcome for run in runs)
    if len(counts) == 1:
        return problem
    mixed = ", ".join(f"{_WORDS[o]} in {n} of {len(runs)}" for o, n in counts.items())
    return f"{mixed} runs{f': {problem}' if problem else ''}"
