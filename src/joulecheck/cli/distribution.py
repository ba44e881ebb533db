"""`joulecheck distribution`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs
import click
from rich.console import Console
from rich.table import Table

from joulecheck.cli.options import chosen_models, report_options, seed_option
from joulecheck.cli.output import recorded, write_text
from joulecheck.property import property_named
from joulecheck.quantities import many
from joulecheck.reports.distribution import Distribution, distribution
from joulecheck.reports.json_report import dumps


@click.command(name="distribution")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option(
    "--property",
    "law",
    default="ROB001",
    show_default=True,
    metavar="ID",
    help="Whose cases are drawn; ROB001 asks any workload.",
)
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="How many cases are drawn.",
)
@seed_option("the draws")
@report_options
def distribution_command(  # noqa: PLR0913 - one argument an option
    models: tuple[str, ...],
    law: str,
    cases: int,
    seed: int,
    output_format: str,
    output_file: Path | None,
) -> None:
    """Measure what the sampler reaches on MODEL.

    Prints how often each operator, decade of each dimension, precision, bottleneck and
    side of the roofline was drawn, and the share of valid cases.

    \b
      joulecheck distribution reference:Google-TPU-v4
      joulecheck distribution mymodel:Npu --property MON002 --cases 100000
    """  # noqa: D301 - click reads the escape
    asked = property_named(law)
    found = [
        distribution(model, asked, seed=seed, cases=cases)
        for model in chosen_models(models)
    ]
    if output_format == "json":
        write_text(dumps([attrs.asdict(one) for one in found]), output_file)
        return
    with recorded(output_file) as console:
        for one in found:
            _show(console, one)


def _show(console: Console, found: Distribution) -> None:
    console.print(
        f"{found.model} {found.property}: {many(found.cases, 'case')} of seed "
        f"{found.seed}, "
        f"{found.valid:.2%} valid, {found.in_domain:.2%} in the property's domain",
        highlight=False,
    )
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name in ("nodes", "operators", "edges", "precisions", "roofline", "bottlenecks"):
        table.add_row(name, _line(getattr(found, name)) or "-")
    for name, shares in found.decades.items():
        table.add_row(name, _line({f"{decade}+": s for decade, s in shares.items()}))
    console.print(table)


def _line(shares: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {share:.1%}" for name, share in shares.items())
