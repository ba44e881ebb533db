"""`joulecheck audit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import attrs
import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from joulecheck.campaign.events import EpochFinished
from joulecheck.campaign.workers import Executor, Inline, Pool
from joulecheck.cli.options import (
    chosen_models,
    named_option,
    report_options,
    seed_option,
    workers_option,
)
from joulecheck.cli.output import recorded, write_text
from joulecheck.cli.progress import progressing
from joulecheck.model import Subject
from joulecheck.reports.json_report import dumps
from joulecheck.resolve import references
from joulecheck.validation.audit import Audit, Requirement
from joulecheck.validation.ledger import Ledger

EXIT_GAPS: Final = 1

FORMAT: Final = 1
"""The number of the JSON document's format."""

SHOWN_GAPS: Final = 10
"""Of each demand in the text; JSON has all."""

REFERENCE: Final = ("reference:*",)
ARCHETYPES: Final = ("archetype:*",)

Data = dict[str, Any]


@click.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@named_option(
    "--cases",
    type=click.IntRange(min=1),
    default=128,
    show_default=True,
    help="How many cases to ask of each machine and law.",
)
@seed_option("all random numbers")
@named_option(
    "--ledger",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Judge the provenance of this ledger, not the one that the audit's own campaign "
    "would write.",
)
@workers_option
@report_options
@click.pass_context
def audit(context: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - click checked and named them
    """Say whether the validation of the reference machines is complete.

    The definition of done as one answer. A short campaign of all laws that state what a
    model must answer, and a look at the rest: every class passes the five categories of
    consistency (layers, monotonicity, precision, coefficients, order between machines),
    none of them by silence; all machines are covered; classes rank as they must; the
    composition gate passes and fails on an injected regression; nothing is negative;
    every core field has provenance after a run.

    With MODEL it looks at those machines alone, and the others are gaps.

    \b
      joulecheck audit
      joulecheck audit --output-format json --output-file audit.json
      joulecheck audit --ledger joulecheck-provenance.json

    Exit 0 if every demand is met, 1 if there is a gap, 2 for an error.
    """  # noqa: D301 - click reads the escape
    asked = Asked(**given)
    ledger = Ledger.load(asked.ledger) if asked.ledger else None
    made = _ran(asked)
    requirements = list(made.requirements(ledger))
    if asked.output_format == "json":
        write_text(dumps(_document(asked, made, requirements)), asked.output_file)
    else:
        with recorded(asked.output_file) as console:
            _show(console, made, requirements)
    if not all(one.is_met for one in requirements):
        context.exit(EXIT_GAPS)


@attrs.frozen(kw_only=True)
class Asked:
    """What the command line asks for."""

    models: Sequence[str]
    cases: int
    seed: int
    ledger: Path | None
    workers: int
    output_format: str
    output_file: Path | None


def _ran(asked: Asked) -> Audit:
    machines = chosen_models(asked.models or REFERENCE)
    archetypes = chosen_models(ARCHETYPES)
    with ExitStack() as stack:
        made = Audit(
            machines,
            archetypes,
            seed=asked.seed,
            cases=asked.cases,
            executor=_executor(asked.workers, [*machines, *archetypes], stack),
        )
        for _ in progressing(_epochs(made), made.pairs, "pairs"):
            pass
    return made


def _executor(workers: int, models: Sequence[Subject], stack: ExitStack) -> Executor:
    if workers == 0:
        return Inline({model.name: model for model in models})
    return stack.enter_context(Pool({r.name: r for r in references(models)}, workers))


def _epochs(made: Audit) -> Iterator[EpochFinished]:
    return (event for event in made.run() if isinstance(event, EpochFinished))


def _document(asked: Asked, made: Audit, requirements: Sequence[Requirement]) -> Data:
    return {
        "format": FORMAT,
        "seed": asked.seed,
        "cases": asked.cases,
        "machines": [model.name for model in made.machines],
        "complete": all(one.is_met for one in requirements),
        "requirements": [
            {**attrs.asdict(one), "gaps": list(one.gaps), "met": one.is_met}
            for one in requirements
        ],
        "categories": made.laws_held(),
    }


def _show(console: Console, made: Audit, requirements: Sequence[Requirement]) -> None:
    held = made.laws_held()
    table = Table(box=None, pad_edge=False)
    table.add_column("laws that held, by class", no_wrap=True)
    for category in next(iter(held.values())):
        table.add_column(category.replace("-", "\n", 1), justify="right")
    for architecture, categories in held.items():
        table.add_row(architecture, *(str(len(laws)) for laws in categories.values()))
    console.print(table)
    console.print()
    for one in requirements:
        mark, style = ("MET", "green") if one.is_met else ("GAP", "red")
        head = Text(mark, style=style)
        head.append(f"  {one.demand}: {one.found}", style="default")
        console.print(head)
        for gap in one.gaps[:SHOWN_GAPS]:
            console.print(Text(f"       {gap}"))
        if len(one.gaps) > SHOWN_GAPS:
            console.print(f"       and {len(one.gaps) - SHOWN_GAPS} more", highlight=False)
    met = sum(one.is_met for one in requirements)
    console.print(f"{met} of {len(requirements)} demands met", highlight=False)
