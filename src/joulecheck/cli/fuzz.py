"""`joulecheck fuzz`."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import attrs
import click
from rich.console import Console

from joulecheck.campaign.campaign import Campaign, Extent
from joulecheck.campaign.events import (
    CampaignFinished,
    CauseShared,
    CounterexampleFound,
    Event,
    RoundFinished,
)
from joulecheck.campaign.state import CampaignState
from joulecheck.campaign.workers import Executor, Inline, Pool
from joulecheck.cli.options import (
    DEFAULT_MODELS,
    Duration,
    chosen_models,
    corpus_options,
    ignore_option,
    inject_option,
    named_option,
    open_corpus,
    record_option,
    refuse_faulty_ledger,
    report_options,
    select_option,
    workers_option,
)
from joulecheck.cli.output import console, recorded, write_text
from joulecheck.corpus import Corpus, Finding, Status, utc_now
from joulecheck.counterexample import Counterexample
from joulecheck.model import Subject
from joulecheck.property import selected
from joulecheck.quantities import many
from joulecheck.reports.json_report import CampaignDocument
from joulecheck.reports.terminal import CampaignReport
from joulecheck.resolve import ModelRef, references
from joulecheck.validation.ledger import Ledger
from joulecheck.validation.record import CampaignRecord

DEFAULT_BUDGET: Final = 30.0
"""Seconds, when neither cases nor a budget are given."""

EXIT_FOUND: Final = 1
EXIT_VACUOUS: Final = 2


@click.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...", default=DEFAULT_MODELS)
@select_option
@ignore_option
@named_option(
    "--budget",
    type=Duration(),
    help="How long to search in all, such as 60s, 5m or 8h. [default: 30s]",
)
@named_option(
    "--cases",
    type=click.IntRange(min=1),
    help="How many cases to ask of each model and property; reproducible, where a "
    "budget is not.",
)
@named_option(
    "--seed",
    type=click.IntRange(min=0),
    help="Of all random numbers. [default: a random one, which is printed]",
)
@inject_option
@workers_option
@named_option(
    "--name",
    help="Name the campaign: run again, a search of the same name goes on where it "
    "stopped. Goes with --budget.",
)
@record_option("which figures the laws confirm, and which a finding is blamed on")
@corpus_options
@report_options
@click.option(
    "--show-pairs",
    is_flag=True,
    help="List for each model and property how many cases were asked, the share in the "
    "property's domain, the least margin and what share of the cases can fail.",
)
@click.option(
    "--explain/--no-explain",
    default=True,
    show_default=True,
    help="Look for the region in which each failure lies, and for others behind it: at "
    "most 8 a model and property. Without it, the first failure ends both.",
)
@click.option("--exit-zero", is_flag=True, help="Exit 0 also when something new is found.")
@click.pass_context
def fuzz(context: click.Context, /, *, exit_zero: bool, **given: Any) -> None:  # noqa: ANN401 - click checked and named them
    """Search for cases in which MODEL violates a property, and make them minimal.

    MODEL is FAMILY:PATTERN, such as 'reference:*TPU*', or MODULE:CLASS for a class of
    your own, such as mymodel:Npu for class Npu in mymodel.py here. Without it, the
    models of your pyproject.toml, or else the reference models.

    \b
      joulecheck fuzz --cases 20000 --seed 1
      joulecheck fuzz mymodel:Npu --select MON --select CMP --budget 5m
      joulecheck fuzz reference:Google-TPU-v1 --inject wrapped-rows

    Exit 0 if nothing new was found (accepted findings count as known), 1 for a new
    finding, 2 for a usage, configuration or harness error.
    """  # noqa: D301 - click reads the escape
    asked = Asked(**given)
    if asked.cases is not None and asked.budget is not None:
        msg = "--cases and --budget exclude each other: choose one"
        raise click.UsageError(msg)
    if asked.name and asked.cases is not None:
        msg = "--name goes with --budget: a search of --cases ends by itself"
        raise click.UsageError(msg)
    refuse_faulty_ledger(asked.ledger, asked.inject)
    outcome = _run(asked)
    new = 0 if exit_zero else outcome.new
    if new:
        context.exit(EXIT_FOUND)
    if outcome.vacuous:
        context.exit(EXIT_VACUOUS)


@attrs.frozen(kw_only=True)
class Asked:
    """What the command line asks for."""

    models: Sequence[str]
    select: Sequence[str]
    ignore: Sequence[str]
    budget: float | None
    cases: int | None
    seed: int | None
    inject: str | None
    workers: int
    name: str | None
    ledger: Path | None
    corpus: str
    counterexamples: str
    output_format: str
    output_file: Path | None
    show_pairs: bool
    explain: bool


@attrs.define
class Outcome:
    """What decides the exit code."""

    new: int = 0
    vacuous: int = 0


def _run(asked: Asked) -> Outcome:
    laws = selected(asked.select, asked.ignore)
    refs = {r.name: r for r in references(chosen_models(asked.models), asked.inject)}
    subjects = [ref.load() for ref in refs.values()]
    with ExitStack() as stack:
        corpus = stack.enter_context(open_corpus(asked.corpus, asked.counterexamples))
        state = _state(asked)
        ledger = Ledger.load_or_new(asked.ledger) if asked.ledger else Ledger()
        record = CampaignRecord(ledger, subjects, laws)
        campaign = Campaign(
            subjects,
            laws,
            seed=state.seed,
            extent=_extent(asked, state),
            executor=_executor(asked, refs, subjects, stack),
            accepted=_accepted(corpus, asked.inject),
            explain=asked.explain,
        )
        as_json = asked.output_format == "json"
        text = stack.enter_context(recorded(None if as_json else asked.output_file))
        if as_json and asked.output_file is None:
            text = console(stderr=True)
        listener = _Listener(asked, corpus, state, text)
        stack.callback(listener.close)
        try:
            for event in campaign.run():
                listener(event)
                record(event)
        except KeyboardInterrupt:
            record.write()
            told = console(stderr=True)
            told.print("findings so far are stored")
            _save(ledger, asked.ledger, record, told)
            raise
        _save(ledger, asked.ledger, record, text)
    return listener.outcome


def _save(ledger: Ledger, file: Path | None, record: CampaignRecord, text: Console) -> None:
    """Keep what the campaign says of the figures, if that was asked for."""
    if file is not None:
        ledger.save(file)
        text.print(f"{file}: {record.recorded}", highlight=False)


def _accepted(corpus: Corpus, fault: str | None) -> list[Counterexample]:
    """The counterexamples that may go on failing today, of models with the same fault."""
    today = corpus.clock().date()
    return [
        finding.counterexample
        for finding in corpus.all()
        if finding.accepts_now(today) and finding.counterexample.fault == fault
    ]


def _state(asked: Asked) -> CampaignState:
    if asked.name:
        known = CampaignState.load(asked.name)
        if known is not None and asked.seed in {None, known.seed}:
            return known
    seed = secrets.randbelow(1 << 32) if asked.seed is None else asked.seed
    return CampaignState(name=asked.name, seed=seed, epoch=0)


def _extent(asked: Asked, state: CampaignState) -> Extent:
    if asked.cases is not None:
        return Extent(cases=asked.cases)
    budget = DEFAULT_BUDGET if asked.budget is None else asked.budget
    return Extent(budget=budget, first_epoch=state.epoch)


def _executor(
    asked: Asked,
    refs: Mapping[str, ModelRef],
    subjects: Sequence[Subject],
    stack: ExitStack,
) -> Executor:
    if asked.workers == 0:
        return Inline({subject.name: subject for subject in subjects})
    return stack.enter_context(Pool(refs, asked.workers))


class _Listener:
    """Saves what is found, writes the reports and counts what decides the exit."""

    def __init__(
        self, asked: Asked, corpus: Corpus, state: CampaignState, text: Console
    ) -> None:
        self.outcome = Outcome()
        self._told: set[str] = set()
        self._asked = asked
        self._corpus = corpus
        self._state = state
        progress = console(stderr=True)
        self._report = CampaignReport(text, progress, pairs=asked.show_pairs)
        self._document = CampaignDocument()
        self._text = text

    def __call__(self, event: Event) -> None:
        self._report(event)
        self._document(event)
        match event:
            case CounterexampleFound():
                self._save(event)
            case CauseShared():
                self._share(event)
            case RoundFinished():
                attrs.evolve(self._state, epoch=event.epoch).save()
            case CampaignFinished():
                self.outcome.vacuous = len(event.vacuous)
                self._finish()
            case _:
                pass

    def _save(self, event: CounterexampleFound) -> None:
        found = attrs.evolve(event.counterexample, fault=self._asked.inject)
        finding = self._corpus.save(found)
        known = finding.accepts_now(utc_now().date())
        self.outcome.new += not known
        self._tell(
            finding, "KNOWN" if known else self._status(finding.status), event.seconds
        )

    def _share(self, event: CauseShared) -> None:
        found = attrs.evolve(event.counterexample, fault=self._asked.inject)
        finding = self._corpus.save(found)
        if event.accepted and finding.id not in self._told:
            self._tell(finding, "KNOWN", 0.0)
        self._document.changed(finding)

    def _tell(self, finding: Finding, status: str, seconds: float) -> None:
        self._told.add(finding.id)
        self._report.found(finding, status, seconds)
        self._document.found(finding, status)

    def _status(self, status: Status) -> str:
        return "REGRESSED" if status is Status.REGRESSED else "NEW"

    def _finish(self) -> None:
        new = self.outcome.new
        self._text.print(many(new, "new finding"), highlight=False)
        if self._asked.output_format == "json":
            write_text(self._document.text(), self._asked.output_file)

    def close(self) -> None:
        self._report.close()
