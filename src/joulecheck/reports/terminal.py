"""A campaign for people: progress on a terminal, plain lines in a pipe."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from joulecheck.campaign.events import (
    CampaignFinished,
    CampaignStarted,
    CauseShared,
    EpochFinished,
    Event,
    ModelFailed,
    PairEnded,
    PairSkipped,
    StaleExemption,
    Unconfirmed,
)
from joulecheck.corpus import Finding
from joulecheck.counterexample import Counterexample
from joulecheck.quantities import many
from joulecheck.reports.claims import claims, table_of_pairs
from joulecheck.reports.explanation import culprits, named
from joulecheck.reports.findings import (
    accept_command,
    counterexample_lines,
    finding_title,
)
from joulecheck.reports.wording import Line, case_lines

LABEL_WIDTH = 10

PLAIN_PROGRESS_SECONDS = 15.0
"""Between two lines of progress in a pipe."""


def show_lines(console: Console, lines: Sequence[Line]) -> None:
    """Labels on the left, texts on the right, wrapped between words."""
    indent = " " * (LABEL_WIDTH + 2)
    for label, text in lines:
        wrapped = textwrap.wrap(text, console.width - len(indent)) or [""]
        first = Text("  ").append(f"{label:{LABEL_WIDTH}}", style="bold")
        console.print(first.append(wrapped[0]), soft_wrap=True)
        for line in wrapped[1:]:
            console.print(Text(indent + line), soft_wrap=True)


def show_finding(console: Console, finding: Finding, status: str) -> None:
    """The page of one finding."""
    console.print()
    console.print(Text(finding_title(finding, status), style="bold red"))
    lines = counterexample_lines(finding.counterexample)
    if finding.acceptance is not None:
        until = finding.acceptance.until
        ending = f" (until {until})" if until else ""
        lines.append(("accepted", finding.acceptance.reason + ending))
    else:
        lines.append(("accept", accept_command(finding.counterexample)))
    show_lines(console, lines)


class CampaignReport:
    """Listens to a campaign and writes to a console what a reader wants to know."""

    def __init__(self, console: Console, progress: Console, *, pairs: bool = False) -> None:
        """Write results to `console` and progress to `progress`; `pairs` adds a table."""
        self._pairs = pairs
        self._console = console
        self._progress_console = progress
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._budget: float | None = None
        self._started = 0.0
        self._last_line = 0.0
        self._skipped: list[PairSkipped] = []
        self._found: dict[str, Counterexample] = {}
        self._ended: dict[str, list[str]] = {}

    def __call__(self, event: Event) -> None:
        """Take one event."""
        match event:
            case CampaignStarted():
                self._start(event)
            case PairSkipped():
                self._skipped.append(event)
            case EpochFinished():
                self._advance(event)
            case CauseShared():
                self._found[event.counterexample.id] = event.counterexample
            case PairEnded():
                self._ended.setdefault(event.reason, []).append(event.finding)
            case StaleExemption():
                self._note(
                    f"STALE exemption of {event.pair.model} from {event.pair.property}: "
                    f"none of {event.tally.in_domain:,} cases fails; take it back"
                )
            case Unconfirmed():
                lines = case_lines(event.case)
                self._note(f"{event.pair.property} on {event.pair.model}: a case fails in "
                           f"a batch and holds alone; see DET002")  # fmt: skip
                show_lines(self._console, lines)
            case ModelFailed():
                where = f"{event.pair.property} on {event.pair.model}"
                self._note(f"{where} stopped: {event.reason}")
            case CampaignFinished():
                self._finish(event)
            case _:
                pass

    def close(self) -> None:
        """Remove the progress bar, also after an interruption."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def found(self, finding: Finding, status: str, seconds: float) -> None:
        """Show a finding as soon as it is minimal."""
        self._found[finding.id] = finding.counterexample
        show_finding(self._console, finding, status)
        if seconds:
            lines = [("found", f"made minimal and explained in {seconds:.2f} s")]
            show_lines(self._console, lines)

    def _start(self, event: CampaignStarted) -> None:
        self._started = self._last_line = time.monotonic()
        self._budget = event.budget
        extent = (
            f"{many(event.cases, 'case')} a pair"
            if event.cases is not None
            else f"{event.budget:g} s"
        )
        going_on = f", from epoch {event.first_epoch}" if event.first_epoch else ""
        self._console.print(
            f"seed {event.seed}: {many(len(event.models), 'model')} x "
            f"{many(len(event.properties), 'property', 'properties')} = "
            f"{many(len(event.pairs), 'pair')}, {extent}{going_on}",
            highlight=False,
        )
        if self._progress_console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[checks]}"),
                TimeElapsedColumn(),
                console=self._progress_console,
                transient=True,
            )
            self._task = self._bar.add_task("fuzzing", total=None, checks="")
            self._bar.start()

    def _advance(self, event: EpochFinished) -> None:
        elapsed = time.monotonic() - self._started
        share = self._share(event, elapsed)
        where = f"{event.pair.model} {event.pair.property}"
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task,
                description=where,
                completed=share,
                total=1.0,
                checks=many(event.done, "check"),
            )
        elif time.monotonic() - self._last_line >= PLAIN_PROGRESS_SECONDS:
            self._last_line = time.monotonic()
            line = f"{share:.0%} {elapsed:.0f} s {many(event.done, 'check')}, now {where}"
            self._progress_console.print(line, highlight=False)

    def _share(self, event: EpochFinished, elapsed: float) -> float:
        if event.planned:
            return min(1.0, event.done / event.planned)
        return min(1.0, elapsed / self._budget) if self._budget else 0.0

    def _note(self, text: str) -> None:
        self._console.print(Text(text, style="yellow"))

    def _finish(self, event: CampaignFinished) -> None:
        self.close()
        self._console.print()
        self._show_causes(event)
        self._show_skipped()
        for pair in event.vacuous:
            self._note(f"{pair.property} on {pair.model} met no case in its domain")
        rate = event.checks / event.seconds if event.seconds else 0.0
        self._console.print(
            f"{many(event.checks, 'check')} in {event.seconds:.1f} s "
            f"({rate:,.0f} checks/s)",
            highlight=False,
        )
        if self._pairs:
            self._console.print(table_of_pairs(event.tallies))
        for line in claims(event):
            self._console.print(line, highlight=False, soft_wrap=True)

    def _show_causes(self, event: CampaignFinished) -> None:
        """What the findings have in common, and what was not searched because of them."""
        found = self._found.values()
        for one in found:
            if one.also:
                models = f"{len(one.also) + 1} models: {one.model}, {named(one.also)}"
                self._note(f"{one.id} {one.property} fails on {models}")
        for sentence in culprits(found):
            self._note(sentence)
        masked = sum(tally.masked for _, tally in event.tallies)
        if masked:
            share = masked / (masked + event.checks)
            lie = f"case ({share:.2%}) lies", f"cases ({share:.2%}) lie"
            self._dim(
                f"{many(masked, *lie)} in regions of known failures: counted, not asked"
            )
        for reason, hiding in self._ended.items():
            some = many(len(hiding), "pair was", "pairs were")
            by = ", ".join(dict.fromkeys(filter(None, hiding)))
            self._dim(f"{some} searched no further: {reason}{f' ({by})' if by else ''}")

    def _show_skipped(self) -> None:
        """Exemptions one by one with their reasons, the rest a line a model."""
        not_offered: dict[str, list[str]] = {}
        for skipped in self._skipped:
            if skipped.exempt:
                where = f"EXEMPT {skipped.pair.property} on {skipped.pair.model}"
                self._dim(f"{where}: {skipped.reason}")
            else:
                laws = not_offered.setdefault(skipped.pair.model, [])
                laws.append(skipped.pair.property)
        for model, laws in not_offered.items():
            self._dim(
                f"NOT OFFERED by {model}: {', '.join(laws)}; `joulecheck adapter check "
                f"{model}` says what is missing"
            )

    def _dim(self, text: str) -> None:
        self._console.print(Text(text, style="dim"))
