"""`joulecheck properties`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.table import Table

from joulecheck.cli.options import ignore_option, report_options, select_option
from joulecheck.cli.output import recorded, write_text
from joulecheck.property import FAMILIES, Property, selected
from joulecheck.reports.json_report import dumps


@click.command()
@select_option
@ignore_option
@report_options
def properties(
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    output_format: str,
    output_file: Path | None,
) -> None:
    """List the properties: what must hold. `joulecheck explain ID` says it in full."""
    laws = selected(select, ignore)
    if output_format == "json":
        write_text(dumps([_described(law) for law in laws]), output_file)
        return
    with recorded(output_file) as console:
        table = Table(box=None, pad_edge=False)
        for heading in ("id", "family", "what must hold", "needs"):
            table.add_column(heading, overflow="fold")
        for law in laws:
            needs = " ".join(sorted(offer.name.lower() for offer in law.needs))
            title = law.documentation["Title"]
            family = FAMILIES.get(law.family, law.family)
            table.add_row(law.id, family, title, needs or "-")
        console.print(table)


def _described(law: Property) -> dict[str, Any]:
    return {
        "id": law.id,
        "name": law.name,
        "family": FAMILIES.get(law.family, law.family),
        "needs": sorted(offer.name.lower() for offer in law.needs),
        "documentation": dict(law.documentation),
    }
