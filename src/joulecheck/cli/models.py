"""`joulecheck models`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.table import Table

from joulecheck.cli.options import DEFAULT_MODELS, chosen_models, file_option, format_option
from joulecheck.cli.output import recorded, write_text
from joulecheck.model import Subject
from joulecheck.reports.json_report import dumps


@click.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...", default=DEFAULT_MODELS)
@format_option
@file_option
def models(models: tuple[str, ...], output_format: str, output_file: Path | None) -> None:
    """List models: their machine's class, energy model, precisions, operating points.

    MODEL is FAMILY:PATTERN, such as 'reference:*TPU*', or MODULE:CLASS for a model of
    your own. Without it, the reference models, or those of your pyproject.toml. A
    machine at one of its operating points is FAMILY:NAME@POINT, in every command.
    """
    described = [_described(model) for model in chosen_models(models)]
    if output_format == "json":
        write_text(dumps(described), output_file)
        return
    with recorded(output_file) as console:
        table = Table(box=None, pad_edge=False)
        for heading in ("model", "class", "energy model", "precisions", "points"):
            table.add_column(heading, overflow="fold")
        for row in described:
            table.add_row(
                row["name"],
                row["architecture"] or "-",
                row["energy_model"],
                " ".join(row["precisions"]),
                " ".join(row["operating_points"]),
            )
        console.print(table)


def _described(model: Subject) -> dict[str, Any]:
    return {
        "name": model.name,
        "architecture": model.machine.architecture,
        "energy_model": type(model.model).__name__,
        "precisions": [precision.name for precision in model.precisions],
        "operating_points": list(model.machine.operating_points),
        "operators": sorted(model.operators),
        "coefficients": len(model.coefficients),
        "offers": sorted(offer.name.lower() for offer in model.offers),
        "exemptions": {name: e.reason for name, e in sorted(model.exemptions.items())},
    }
