"""`joulecheck faults`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from joulecheck.cli.options import report_options
from joulecheck.cli.output import recorded, write_text
from joulecheck.faults import FAULTS, KINDS
from joulecheck.property import installed
from joulecheck.reports.json_report import dumps


@click.command("faults")
@report_options
def faults_command(output_format: str, output_file: Path | None) -> None:
    """List the faults that can be injected in the reference models.

    A named fault is one example, which some property must catch and shrink to a stated
    case. Of a kind there are as many variants as are asked for: KIND#N draws which
    layer, coefficient, threshold or factor is hit from N and the model's name.

    \b
      joulecheck fuzz reference:Hailo-8 --inject wrong-layer#3
      joulecheck score                     every kind against every property
    """  # noqa: D301 - click reads the escape
    listed = list(_described())
    if output_format == "json":
        write_text(dumps(listed), output_file)
        return
    with recorded(output_file) as console:
        table = Table(box=None, pad_edge=False)
        for heading in ("fault", "what the model does wrong", "seen as, or caught by"):
            table.add_column(heading, overflow="fold")
        for one in listed:
            seen = one["history"] or " ".join(one["properties"])
            table.add_row(one["name"], one["summary"], seen)
        console.print(table)


def _described() -> Iterator[dict[str, Any]]:
    """Named faults and the properties that must catch each, then the kinds."""
    for fault in FAULTS.values():
        laws = [law.id for law in installed().values() if law.planted.fault == fault.name]
        yield {
            "name": fault.name,
            "sort": "named",
            "summary": fault.summary,
            "history": "",
            "properties": laws,
        }
    for kind in KINDS.values():
        yield {
            "name": f"{kind.name}#N",
            "sort": "kind",
            "summary": kind.summary,
            "history": kind.history,
            "properties": [],
        }
