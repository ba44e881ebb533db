"""`joulecheck provenance`: the ledger of how far each figure can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from joulecheck.cli.options import (
    DEFAULT_MODELS,
    F,
    chosen_models,
    file_option,
    named_option,
    report_options,
)
from joulecheck.cli.output import recorded, write_text
from joulecheck.errors import UnknownName
from joulecheck.model import Subject
from joulecheck.property import installed
from joulecheck.quantities import many
from joulecheck.reports.json_report import dumps
from joulecheck.resolve import models_named
from joulecheck.validation.apply import provenance_of
from joulecheck.validation.audit_ledger import gaps_in
from joulecheck.validation.fields import Field, concerns, field_named, fields_of
from joulecheck.validation.ledger import (
    DEFAULT_LEDGER,
    Consistency,
    Evidence,
    Ledger,
    entry_data,
)

EXIT_GAPS: Final = 1

ledger_option: Callable[[F], F] = named_option(
    "--ledger",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    default=DEFAULT_LEDGER,
    show_default=True,
    help="The ledger, a JSON file with a line a field.",
)


@click.group()
def provenance() -> None:
    """Show how far each figure of each machine can be trusted, and why.

    A ledger keeps, for every coefficient and core field of a model, a level (UNKNOWN,
    THEORETICAL, INTERPOLATED, CALIBRATED), a score, the source and the evidence.

    \b
      joulecheck fuzz --cases 5000 --ledger joulecheck-provenance.json
      joulecheck provenance audit
      joulecheck provenance show reference:H100-SXM5-80GB energy_per_byte

    A campaign with --ledger makes a figure THEORETICAL, confirmed consistent, if every
    law that concerns it held; a figure that a finding is blamed on is flagged.
    """  # noqa: D301 - click reads the escape


@provenance.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...", default=DEFAULT_MODELS)
@ledger_option
@report_options
@click.pass_context
def audit(
    context: click.Context,
    /,
    models: tuple[str, ...],
    ledger: Path,
    output_format: str,
    output_file: Path | None,
) -> None:
    """Fail if a core field of MODEL lacks an entry that something backs.

    Core fields are compute_units, peak_bandwidth, peak_ops_per_sec and energy_scaling by
    precision, energy_per_flop_fp32 and energy_per_byte. An entry of another value than
    the model has, one without evidence and one that is flagged are gaps as well.

    Exit 0 without gaps, 1 with some.
    """
    subjects = chosen_models(models)
    gaps = list(gaps_in(Ledger.load(ledger), subjects))
    counts = (
        f"{many(len(gaps), 'gap')} in the core fields of {many(len(subjects), 'model')}"
    )
    if output_format == "json":
        told = {"models": len(subjects), "gaps": [attrs.asdict(gap) for gap in gaps]}
        write_text(dumps(told), output_file)
    else:
        with recorded(output_file) as console:
            if gaps:
                rows = ((gap.machine, gap.field, gap.reason) for gap in gaps)
                console.print(_table(("machine", "field", "gap"), rows))
            console.print(counts, highlight=False)
    if gaps:
        context.exit(EXIT_GAPS)


@provenance.command()
@click.argument("model", metavar="MODEL")
@click.argument("field", required=False)
@ledger_option
@report_options
def show(
    model: str,
    field: str | None,
    ledger: Path,
    output_format: str,
    output_file: Path | None,
) -> None:
    """List the fields of MODEL with their levels, or explain one FIELD in full."""
    subject = _only(model)
    known = Ledger.load_or_new(ledger)
    fields = fields_of(subject)
    if field is not None:
        fields = {field: field_named(subject, field)}
    if output_format == "json":
        told = [_described(subject, f, known) for f in fields.values()]
        write_text(dumps(told if field is None else told[0]), output_file)
        return
    with recorded(output_file) as console:
        if field is None:
            _list(console, subject, known)
        else:
            _explain(console, _described(subject, fields[field], known))


@provenance.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...", default=DEFAULT_MODELS)
@ledger_option
@file_option
def apply(models: tuple[str, ...], ledger: Path, output_file: Path | None) -> None:
    """Write what can go into the field_provenance of hardware descriptions, as JSON.

    By machine and core field: the value that the evidence is of, level, score, source.
    In Python, joulecheck.validation.apply.apply_to writes it into a description that
    states the same values, and tells of those that it does not.
    """
    known = Ledger.load(ledger)
    told = {m.name: provenance_of(known.entries(m.name)) for m in chosen_models(models)}
    write_text(dumps(told), output_file)


def _only(name: str) -> Subject:
    """The one model of that name.

    Raises:
        UnknownName: there is none, or several match.
    """
    found = models_named(name)
    if len(found) > 1:
        msg = f"{name} names {len(found)} models, {found[0].name} first: name one of them"
        raise UnknownName(msg)
    return found[0]


def _table(headings: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _list(console: Console, subject: Subject, ledger: Ledger) -> None:
    headings = ("field", "value", "level", "score", "evidence")
    rows = (_row(subject, field, ledger) for field in fields_of(subject).values())
    console.print(_table(headings, rows))


def _row(subject: Subject, field: Field, ledger: Ledger) -> tuple[str, ...]:
    entry = ledger.current(subject.name, field)
    flags = [f"{f.property} blames it" for f in entry.blamed]
    flags += [f"{f.property} failed" for f in entry.flags if not f.blamed]
    told = "; ".join([*flags, *map(_in_short, entry.evidence)])
    value = f"{field.value:.6g} {field.unit}".strip()
    return (field.name, value, entry.level.name, f"{entry.score:g}", told or "none")


def _in_short(evidence: Evidence) -> str:
    if isinstance(evidence, Consistency):
        laws = many(len(evidence.properties), "law")
        return f"{laws} held on {many(evidence.cases, 'case')}"
    return f"{many(evidence.cases, 'point')}: {evidence.source}"


def _described(subject: Subject, field: Field, ledger: Ledger) -> dict[str, Any]:
    known = ledger.entry(subject.name, field.name)
    entry = ledger.current(subject.name, field)
    laws = [law.id for law in installed().values() if concerns(law, field)]
    return {
        "machine": subject.name,
        "field": field.name,
        "is_core": field.is_core,
        "of": list(field.of),
        "concerned_by": laws,
        "in_ledger": known is not None,
        "outdated": known is not None and not known.is_of(field.value),
        **entry_data(entry),
    }


def _explain(console: Console, told: dict[str, Any]) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in _lines(told):
        table.add_row(label, Text(text))
    console.print(Text(f"{told['machine']}  {told['field']}", style="bold"))
    console.print(table)


def _lines(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "value", f"{told['value']:.6g} {told['unit']}".strip()
    yield "stands for", ", ".join(told["of"])
    yield "level", f"{told['level']}, score {told['score']:g}"
    yield "declared", f"{told['declared']}: {told['source'] or 'no source is stated'}"
    if told["outdated"]:
        yield "ledger", "its entry is of another value; run the campaign again"
    elif not told["in_ledger"]:
        yield "ledger", "no entry: joulecheck fuzz --ledger FILE writes it"
    for one in told["evidence"]:
        yield "evidence", _evidence(one)
    for flag in told["flags"]:
        yield "flag", _flag(flag)
    yield "concerned by", " ".join(told["concerned_by"])


def _evidence(one: dict[str, Any]) -> str:
    if one["kind"] == Consistency.__name__:
        return (
            f"{many(len(one['properties']), 'law')} held on {many(one['cases'], 'case')} "
            f"of seed {one['seed']}, least margin {one['least_margin']:.3g} of "
            f"{one['closest']}, joulecheck {one['version']}: {' '.join(one['properties'])}"
        )
    error = one["greatest_error"]
    within = "" if error is None else f", greatest error {error:.3g}"
    note = f"; {one['note']}" if one["note"] else ""
    return f"{one['level']} by {many(one['cases'], 'point')}{within}: {one['source']}{note}"


def _flag(flag: dict[str, Any]) -> str:
    what = "is blamed on it" if flag["blamed"] else "concerns it and fails"
    shown = f", joulecheck findings show {flag['finding']}" if flag["finding"] else ""
    reason = f": {flag['reason']}" if flag["reason"] else ""
    return f"{flag['property']} {what}{shown}{reason}"
