"""`joulecheck adapter check`."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from joulecheck.campaign.campaign import Plan, plan
from joulecheck.cli.options import format_option
from joulecheck.cli.output import console, write_text
from joulecheck.model import Offer, Subject
from joulecheck.property import installed
from joulecheck.quantities import many
from joulecheck.reports.json_report import dumps
from joulecheck.resolve import models_named


@click.group()
def adapter() -> None:
    """Help with models of your own."""


@adapter.command()
@click.argument("model", metavar="MODEL")
@format_option
def check(model: str, output_format: str) -> None:
    """Say what a model offers, which properties apply to it, and what is missing.

    MODEL is MODULE:CLASS, such as mymodel:Npu for class Npu in mymodel.py here, or
    FAMILY:NAME. The class needs a `name` and `estimate(case, scale)`; all else is
    optional and makes more properties apply.
    """
    subjects = models_named(model)
    described = [_described(subject) for subject in subjects]
    if output_format == "json":
        write_text(dumps(described), None)
        return
    out = console()
    for one in described:
        _show(out, one)


def _described(model: Subject) -> dict[str, Any]:
    planned = plan([model], list(installed().values()))
    return {
        "model": model.name,
        "offers": sorted(offer.name for offer in model.offers),
        "missing": {
            offer.name: offer.value for offer in Offer if offer not in model.offers
        },
        "precisions": [precision.name for precision in model.precisions],
        "operators": sorted(model.operators),
        "energy_coefficients": list(model.energy_coefficients),
        "knobs": list(model.knobs),
        "applicable": [pair.property for pair in planned.pairs],
        "not_applicable": _reasons(planned),
    }


def _reasons(planned: Plan) -> dict[str, str]:
    return {
        s.pair.property: f"{'exempt: ' if s.exempt else ''}{s.reason}"
        for s in planned.skipped
    }


def _show(out: Console, one: dict[str, Any]) -> None:
    out.print(Text(one["model"], style="bold"))
    table = Table.grid(padding=(0, 1))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    rows = {
        "answers": one["offers"],
        "precisions": one["precisions"],
        "operators": one["operators"],
        "energy coefficients": one["energy_coefficients"] or ["none declared"],
        "knobs": one["knobs"] or ["none declared"],
        "applicable": one["applicable"],
    }
    for label, values in rows.items():
        table.add_row(label, " ".join(values))
    for law, reason in one["not_applicable"].items():
        table.add_row(f"not {law}", Text(reason))
    for offer, how in one["missing"].items():
        table.add_row(f"to offer {offer}", Text(how))
    out.print(table)
    total = len(one["applicable"]) + len(one["not_applicable"])
    out.print(
        f"{len(one['applicable'])} of {many(total, 'property', 'properties')} apply",
        highlight=False,
    )
