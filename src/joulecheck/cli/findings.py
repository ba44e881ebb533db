"""`joulecheck findings`."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from joulecheck.cli.options import (
    corpus_options,
    format_option,
    open_corpus,
    report_options,
)
from joulecheck.cli.output import console, recorded, write_text
from joulecheck.corpus import export_findings, finding_file, import_findings
from joulecheck.quantities import many
from joulecheck.reports.json_report import dumps
from joulecheck.reports.terminal import show_finding


@click.group()
def findings() -> None:
    """Look after what campaigns found: list, show, accept, export and import."""


@findings.command("list")
@corpus_options
@report_options
def list_(
    corpus: str, counterexamples: str, output_format: str, output_file: Path | None
) -> None:
    """List all findings, in the database and in the committed folder."""
    with open_corpus(corpus, counterexamples) as store:
        found = store.all()
    if output_format == "json":
        data = [json.loads(finding_file.to_json(f)) | {"id": f.id} for f in found]
        write_text(dumps(data), output_file)
        return
    with recorded(output_file) as out:
        table = Table(box=None, pad_edge=False)
        for heading in ("id", "status", "property", "model", "last seen", "accepted"):
            table.add_column(heading, overflow="fold")
        for one in found:
            accepted = one.acceptance.reason if one.acceptance else ""
            table.add_row(
                one.id,
                one.status.value,
                one.counterexample.property,
                one.counterexample.model,
                one.last_seen.date().isoformat(),
                Text(accepted),
            )
        out.print(table)
        out.print(many(len(found), "finding"), highlight=False)


@findings.command()
@click.argument("finding")
@corpus_options
@format_option
def show(finding: str, corpus: str, counterexamples: str, output_format: str) -> None:
    """Show one finding: the rule, the minimal case and the numbers by term."""
    with open_corpus(corpus, counterexamples) as store:
        found = store.get(finding)
    if output_format == "json":
        write_text(finding_file.to_json(found), None)
    else:
        show_finding(console(), found, found.status.value.upper())


@findings.command()
@click.argument("finding")
@click.option("--reason", required=True, help="Why it is right to live with it.")
@click.option("--until", metavar="YYYY-MM-DD", help="The last day of the acceptance.")
@corpus_options
def accept(
    finding: str, reason: str, until: str | None, corpus: str, counterexamples: str
) -> None:
    """Accept a finding as known, so that it does not fail the gate.

    `joulecheck findings export` then writes it to the folder that you commit, so that
    it is known on every checkout.
    """
    with open_corpus(corpus, counterexamples) as store:
        accepted = store.accept(finding, reason, until)
    click.echo(f"{accepted.id} accepted{f' until {until}' if until else ''}: {reason}")


@findings.command()
@click.argument("finding", nargs=-1)
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write to. [default: that of --counterexamples]",
)
@corpus_options
def export(
    finding: tuple[str, ...], to: Path | None, corpus: str, counterexamples: str
) -> None:
    """Write findings as JSON files, one each; all of them if none is named."""
    with open_corpus(corpus, counterexamples) as store:
        chosen = [store.get(name) for name in finding] if finding else store.all()
        for file in export_findings(chosen, to or Path(counterexamples)):
            click.echo(str(file))


@findings.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@corpus_options
def import_(paths: tuple[Path, ...], corpus: str, counterexamples: str) -> None:
    """Read findings from JSON files, or folders of them, into the database."""
    with open_corpus(corpus, counterexamples) as store:
        for finding in import_findings(paths, store):
            click.echo(f"{finding.id} {finding.status.value}")
