"""`joulecheck compose`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from joulecheck.cli.options import (
    DEFAULT_MODELS,
    Finite,
    chosen_models,
    inject_option,
    named_option,
    report_options,
)
from joulecheck.cli.output import recorded, write_text
from joulecheck.quantities import many
from joulecheck.reports.json_report import dumps
from joulecheck.resolve import references
from joulecheck.validation.gate import import_checks, run_gate, with_clusters
from joulecheck.validation.layer_checks import (
    REGISTERED,
    TOLERANCE,
    CheckResult,
    Status,
    load_installed,
)

EXIT_FAILED: Final = 1

FORMAT: Final = 1
"""The number of the JSON document's format."""

MARKS: Final = {Status.PASSED: "green", Status.FAILED: "red", Status.SKIPPED: "yellow"}


@click.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@named_option(
    "--checks",
    multiple=True,
    metavar="MODULE",
    help="Import MODULE, from here or the environment, which registers checks of your "
    "own. Repeatable.",
)
@named_option(
    "--tolerance",
    of="compose",
    type=Finite(min=0),
    default=TOLERANCE,
    show_default=True,
    help="Of the checks of MODEL: the relative error that passes.",
)
@inject_option
@report_options
@click.option("--show-checks", is_flag=True, help="List every check, not failures alone.")
@click.pass_context
def compose(context: click.Context, /, **given: Any) -> None:  # noqa: ANN401 - click checked and named them
    """Check that layers add up to what a model predicts: the composition gate.

    For each layer up to which MODEL predicts energy or latency by itself, and for the
    whole, the increments of the layers up to it are summed and held against the
    prediction, on a few workloads at each precision. Without MODEL: every reference
    machine, and two chips of each that can be joined.

    \b
      joulecheck compose
      joulecheck compose mymodel:Npu --show-checks
      joulecheck compose --checks mychecks            registers your own, see below
      joulecheck compose reference:Hailo-8 --inject misplaced-layer

    \b
    A module of your own registers checks when it is imported:
      from joulecheck.validation import Comparison, LayerCheck, register_layer_check
      register_layer_check(LayerCheck(
          machine="my board", name="DRAM energy", from_layers=["ALU", "L1_CACHE", "DRAM"],
          predicts="DRAM", tolerance=0.15, runner=lambda: Comparison(error=0.02)))

    Exit 0 if every check passed or was skipped with a reason, 1 if one failed, 2 for an
    error, which no check at all is too.
    """  # noqa: D301 - click reads the escape
    asked = Asked(**given)
    results = _results(asked)
    if asked.output_format == "json":
        write_text(dumps(document(results, asked.inject)), asked.output_file)
    else:
        with recorded(asked.output_file) as console:
            show(console, results, every=asked.show_checks)
    if _count(results, Status.FAILED):
        context.exit(EXIT_FAILED)


@attrs.frozen(kw_only=True)
class Asked:
    """What the command line asks for."""

    models: Sequence[str]
    checks: Sequence[str]
    tolerance: float
    inject: str | None
    output_format: str
    output_file: Path | None
    show_checks: bool


def _results(asked: Asked) -> list[CheckResult]:
    load_installed()
    for module in asked.checks:
        import_checks(module)
    named = chosen_models(asked.models or DEFAULT_MODELS)
    if not asked.models:
        named = with_clusters(named)
    subjects = [ref.load() for ref in references(named, asked.inject)]
    return run_gate(subjects, asked.tolerance, REGISTERED.checks)


def document(results: Sequence[CheckResult], fault: str | None) -> dict[str, Any]:
    """The results as JSON has them."""
    return {
        "format": FORMAT,
        "fault": fault,
        "counts": {status.value: _count(results, status) for status in Status},
        "checks": [_described(result) for result in results],
    }


def _described(result: CheckResult) -> dict[str, Any]:
    check = result.check
    return {
        "machine": check.machine,
        "name": check.name,
        "group": check.group,
        "from_layers": [tag.name for tag in check.from_layers],
        "predicts": check.predicts.name,
        "tolerance": check.tolerance,
        "status": result.status.value,
        "error": result.error,
        "details": result.details,
    }


def _count(results: Sequence[CheckResult], status: Status) -> int:
    return sum(result.status is status for result in results)


def show(console: Console, results: Sequence[CheckResult], *, every: bool) -> None:
    """Print the results: what failed or was skipped, and a line for each group."""
    for result in results:
        if every or result.status is Status.FAILED:
            _show_one(console, result)
    skipped = [result for result in results if result.status is Status.SKIPPED]
    if not every:
        for reason in dict.fromkeys(result.details for result in skipped):
            of = [result for result in skipped if result.details == reason]
            _show_skipped(console, of, reason)
    table = Table(box=None, pad_edge=False)
    table.add_column("class")
    headings = ("models", "checks", "passed", "failed", "skipped", "greatest error")
    for heading in headings:
        table.add_column(heading, justify="right")
    for group in dict.fromkeys(result.check.group for result in results):
        table.add_row(*_row([r for r in results if r.check.group == group], group))
    console.print(table)
    counts = ", ".join(f"{_count(results, status):,} {status.value}" for status in Status)
    console.print(f"{many(len(results), 'check')}: {counts}", highlight=False)


def _show_one(console: Console, result: CheckResult) -> None:
    check = result.check
    head = Text(result.status.value, style=MARKS[result.status])
    head.append(f"  {check.machine}  {check.name}", style="default")
    console.print(head)
    if result.error is not None:
        console.print(
            f"  error {result.error:.3g}, tolerance {check.tolerance:g}; from "
            f"{' + '.join(tag.name for tag in check.from_layers)}",
            highlight=False,
        )
    if result.details:
        console.print(Text(f"  {result.details}"))


def _show_skipped(console: Console, results: Sequence[CheckResult], reason: str) -> None:
    first, *more = results
    others = f" and {len(more)} more" if more else ""
    head = Text(Status.SKIPPED.value, style=MARKS[Status.SKIPPED])
    told = f"  {first.check.machine}  {first.check.name}{others}: {reason}"
    console.print(head.append(told, style="default"))


def _row(results: Sequence[CheckResult], group: str) -> tuple[str, ...]:
    errors = [result.error for result in results if result.error is not None]
    return (
        group,
        str(len({result.check.machine for result in results})),
        str(len(results)),
        *(str(_count(results, status)) for status in Status),
        f"{max(errors):.2g}" if errors else "-",
    )
