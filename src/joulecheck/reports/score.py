"""A score for people: the kill matrix, what survives, and how soon the rest is found."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from joulecheck.quantities import many
from joulecheck.scoring.accepted import Accepted, reason_for, superfluous
from joulecheck.scoring.baselines import Attempt
from joulecheck.scoring.fit import FALSE, RECALL
from joulecheck.scoring.mutants import NAMED
from joulecheck.scoring.score import Score, share
from joulecheck.scoring.trial import Explanation, Trial

LEGEND: Final = (
    "Rows are laws, columns the kinds above by number: # kills all mutants of the kind, 1 "
    "to 9 so many tenths of them (at least some), . none; blank where none was asked."
)

TENTHS: Final = 10
NAMED_LAWS: Final = 4
"""Laws that are named beside a kind: those that kill most of its mutants."""


def show_score(console: Console, score: Score, accepted: Sequence[Accepted]) -> None:
    """Everything that the trials say."""
    _show_kinds(console, score)
    _show_matrix(console, score)
    _show_laws(console, score)
    _show_survivors(console, score, accepted)
    _show_explanations(console, score)
    _show_summary(console, score)


def _table(*headings: str) -> Table:
    made = Table(box=None, pad_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    return made


def _say(console: Console, text: str = "", style: str = "") -> None:
    console.print(Text(text, style=style))


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _show_kinds(console: Console, score: Score) -> None:
    table = _table("", "kind", "mutants", "killed", "unreached", "first kill", "killed by")
    for number, kind in enumerate(score.kinds, start=1):
        trials = score.of_kind(kind)
        killed = [trial for trial in trials if trial.first]
        seconds = [trial.first.seconds for trial in killed if trial.first]
        laws = Counter(law for trial in killed for law in trial.killers)
        named = sorted(laws, key=lambda law: (-laws[law], law))
        more = f" and {len(named) - NAMED_LAWS} more" if len(named) > NAMED_LAWS else ""
        table.add_row(
            str(number),
            kind,
            str(len(trials)),
            str(len(killed)),
            str(sum(not trial.differs for trial in trials) or ""),
            f"{statistics.median(seconds):.2g} s" if seconds else "-",
            " ".join(named[:NAMED_LAWS]) + more,
        )
    console.print(table)
    _say(console)


def _show_matrix(console: Console, score: Score) -> None:
    _say(console, LEGEND, "dim")
    width = max(map(len, score.laws), default=0)
    numbers = [str(number) for number in range(1, len(score.kinds) + 1)]
    for digit in range(max(map(len, numbers), default=0)):
        line = "".join(f"{n:>{len(numbers[-1])}}"[digit] for n in numbers)
        _say(console, " " * (width + 1) + line)
    for law, row in score.matrix.items():
        cells = "".join(_cell(*row.get(kind, (0, 0))) for kind in score.kinds)
        _say(console, f"{law:{width}} {cells}")
    _say(console)


def _cell(killed: int, asked: int) -> str:
    if not asked:
        return " "
    if not killed:
        return "."
    return "#" if killed == asked else str(max(1, TENTHS * killed // asked))


def _show_laws(console: Console, score: Score) -> None:
    headings = ("law", "asked of", "kills", "kinds", "alone", "with no more needs", "")
    table = _table(*headings)
    for law, row in score.matrix.items():
        alone, needed = score.alone[law], score.needed[law]
        table.add_row(
            law,
            str(sum(asked for _, asked in row.values())),
            str(sum(kills for kills, _ in row.values())),
            str(sum(kills > 0 for kills, _ in row.values())),
            str(len(alone) or "-"),
            str(len(needed) or "-"),
            " ".join(dict.fromkeys(_label(trial) for trial in alone or needed))
            or ("stays" if score.stays[law] else "NOTHING"),
        )
    console.print(table)
    _say(
        console,
        "alone: mutants that no other law kills; with no more needs: that no other law "
        "kills which needs no more of a model. A law that kills NOTHING alone either way "
        "has to say why it stays; `joulecheck explain` tells it of those that do.",
        "dim",
    )
    _say(console)


def _label(trial: Trial) -> str:
    kind = trial.mutant.kind
    return trial.mutant.fault if kind == NAMED else kind


def _show_survivors(console: Console, score: Score, accepted: Sequence[Accepted]) -> None:
    for title, trials in (("SURVIVES", score.survivors), ("UNREACHED", score.unreached)):
        for trial in trials:
            reason = reason_for(trial, accepted)
            style = "red" if reason is None else "dim"
            _say(console, f"{title} {_told(trial)}", style)
            if reason is not None:
                _say(console, f"  accepted: {reason}", style)
    for one in superfluous(accepted, score.trials):
        _say(
            console,
            f"SUPERFLUOUS entry for {one.fault} in {one.model}, {' or '.join(one.what)}: "
            f"nothing that it covers survives; take it back",
            "yellow",
        )


def _told(trial: Trial) -> str:
    return f"{trial.mutant}: {trial.what} ({many(trial.checks, 'case')} asked)"


def _show_explanations(console: Console, score: Score) -> None:
    found = [one for trial in score.trials for one in trial.explanations]
    if not found:
        return
    judged = [one for one in found if one.named is not None]
    first = share(sum(bool(one.named_first) for one in judged), judged)
    named = share(sum(bool(one.named) for one in judged), judged)
    _say(
        console,
        f"minimal counterexamples: {len(found)}; in the median nodes "
        f"{_median(found, 'nodes'):g}, fields off their plainest "
        f"{_median(found, 'off_minimum'):g}, "
        f"{_median(found, 'bits'):.3g} bits, {_median(found, 'seconds'):.2g} s each",
    )
    _say(
        console,
        f"blame names a planted place in {_percent(named)} of {len(judged)}, in the first "
        f"place in {_percent(first)}; {len(found) - len(judged)} of families that blame no "
        f"number",
    )
    _show_regions(console, found)


def _show_regions(console: Console, found: Iterable[Explanation]) -> None:
    fits = [one.fit for one in found if one.fit is not None]
    if not fits:
        return
    good = share(sum(fit.good for fit in fits), fits)
    answers = sum(fit.good and fit.of_answers for fit in fits)
    recalls, shares = ([getattr(f, name) for f in fits] for name in ("recall", "false"))
    _say(
        console,
        f"regions: {_percent(good)} of {len(fits)} hold at least {RECALL:.0%} of the "
        f"failing cases and less than {FALSE:.0%} of others, {answers} of them by what "
        f"the model answers; in the median {statistics.median(recalls):.2%} and "
        f"{statistics.median(shares):.2%}",
    )


def _median(found: Iterable[Explanation], field: str) -> float:
    return float(statistics.median(getattr(one, field) for one in found))


def _show_summary(console: Console, score: Score) -> None:
    machines = {trial.mutant.model for trial in score.trials}
    reached = [trial for trial in score.trials if trial.differs]
    _say(
        console,
        f"{many(len(score.trials), 'mutant')} of {many(len(score.kinds), 'kind')} in "
        f"{many(len(machines), 'machine')}: {len(score.killed)} killed, "
        f"{_percent(share(score.killed, reached))} of those that differ; "
        f"{len(score.survivors)} survive, {len(score.unreached)} unreached",
        "bold",
    )
    for field, unit, words in (("seconds", " s", "time"), ("checks", "", "cases")):
        median, late = score.quantile(field, 0.5), score.quantile(field, 0.95)
        if median is not None and late is not None:
            _say(
                console,
                f"{words} to the first kill: median {median:,.3g}{unit}, 95th percentile "
                f"{late:,.3g}{unit}",
            )


def show_baselines(
    console: Console, score: Score, attempts: Mapping[str, Sequence[Attempt]], budget: float
) -> None:
    """The shares that each way of looking kills within the same time, as a table."""
    _say(console)
    table = Table(title=f"within {budget:g} s a mutant", title_justify="left", box=None)
    for heading in ("suite", "mutants", "killed", "share", "median time to a kill"):
        table.add_column(heading)
    for row in comparison(score, attempts, budget):
        table.add_row(*row)
    console.print(table)


def comparison(
    score: Score, attempts: Mapping[str, Sequence[Attempt]], budget: float
) -> list[tuple[str, ...]]:
    """A row a suite: its name, mutants, killed, share and median time."""
    kills = {
        name: [one.seconds for one in tried if one.killed_by]
        for name, tried in attempts.items()
    }
    kills["joulecheck score"] = [
        trial.first.seconds
        for trial in score.killed
        if trial.first and trial.first.seconds <= budget
    ]
    return [
        (
            name,
            str(len(score.trials)),
            str(len(seconds)),
            _percent(share(seconds, score.trials)),
            f"{statistics.median(seconds):.2g} s" if seconds else "-",
        )
        for name, seconds in kills.items()
    ]
