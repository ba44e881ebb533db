"""`joulecheck explain`."""

from __future__ import annotations

import click
from rich.padding import Padding
from rich.text import Text

from joulecheck.cli.options import format_option
from joulecheck.cli.output import console, write_text
from joulecheck.property import HEADINGS, STAYS, property_named
from joulecheck.reports.json_report import dumps


@click.command()
@click.argument("property_id", metavar="ID")
@format_option
def explain(property_id: str, output_format: str) -> None:
    """Explain a property: its statement, why it must hold, and over which domain.

    ID is a property's id, such as CMP001: see `joulecheck properties`.
    """
    law = property_named(property_id.upper())
    if output_format == "json":
        data = {"id": law.id, "name": law.name, "documentation": dict(law.documentation)}
        write_text(dumps(data), None)
        return
    out = console()
    out.print(Text(f"{law.id} {law.name}", style="bold"))
    out.print(Text(law.documentation["Title"]))
    for heading in (*HEADINGS, STAYS):
        if heading in law.documentation:
            out.print()
            out.print(Text(heading, style="bold"))
            out.print(Padding(Text(law.documentation[heading]), (0, 0, 0, 2)))
