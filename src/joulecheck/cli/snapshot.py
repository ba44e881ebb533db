"""`joulecheck snapshot`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs
import click
from rich.text import Text

from joulecheck.cli.options import (
    DEFAULT_MODELS,
    Finite,
    chosen_models,
    inject_option,
    named_option,
    report_options,
    seed_option,
)
from joulecheck.cli.output import recorded, write_text
from joulecheck.errors import InvalidModel, InvalidSnapshot, UnknownName
from joulecheck.model import Subject
from joulecheck.quantities import many
from joulecheck.reports.json_report import dumps
from joulecheck.reports.snapshot import document, show_comparison
from joulecheck.resolve import references, stored_model
from joulecheck.validation.regression import TOLERANCE, Comparison, compare
from joulecheck.validation.snapshot import DIGITS, Snapshot, snapshot_of
from joulecheck.validation.snapshot_folder import SnapshotFolder
from joulecheck.validation.workload_set import cases_of, reference_set
from joulecheck.workload import Workload

EXIT_UNEXPLAINED: Final = 1

FINEST: Final = 10.0 ** (1 - DIGITS)
"""Relative: a smaller move than this may be the rounding of the snapshot."""

folder_option = named_option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="snapshots",
    show_default=True,
    help="Where the snapshots are kept, a file a model; made to be committed.",
)
tolerance_option = named_option(
    "--tolerance",
    of="snapshot",
    type=Finite(min=FINEST),
    default=TOLERANCE,
    show_default=True,
    help="Relative: an output that moves by no more has not moved. Snapshots have six "
    "digits, so that less than 0.00001 tells nothing.",
)


@click.group()
def snapshot() -> None:
    """Record what models answer, and hold later versions of them against it.

    A snapshot holds the outputs of a model for the standard workloads, layers of real
    networks and random graphs, beside its coefficients and the data of its machine. If a
    coefficient changes, outputs may move, and are told with their cause. If an output
    moves and no coefficient and no figure of the machine accounts for it, a formula was
    changed: that is what `check` fails on.

    \b
      joulecheck snapshot record                         47 machines, in ./snapshots
      joulecheck snapshot check                          exit 1 if a formula changed
      joulecheck snapshot check --inject hidden-constant a fault that must be found
      joulecheck snapshot explain reference:Hailo-8      every number that moved, and why
    """  # noqa: D301 - click reads the escape


@snapshot.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...", default=DEFAULT_MODELS)
@folder_option
@named_option(
    "--random",
    type=click.IntRange(min=0),
    default=16,
    show_default=True,
    help="How many random workloads, beside the standard ones and those of networks.",
)
@seed_option("the random workloads")
def record(models: Sequence[str], folder: Path, random: int, seed: int) -> None:
    """Write snapshots of MODEL, by default of all reference machines.

    The five standard workloads are asked at every precision; the others take turns, each
    at one. Commit the folder: a change of it in review shows which answers moved.
    """
    workloads = reference_set(seed, random)
    found = [_taken(model, workloads) for model in chosen_models(models)]
    size = SnapshotFolder(folder).write(found, workloads)
    rows = sum(len(one.rows) for one in found)
    click.echo(
        f"{folder}: {len(found)} written, of {many(rows, 'workload')} at a precision in "
        f"all, {size / 1e6:.2g} MB"
    )


def _taken(model: Subject, workloads: Mapping[str, Workload]) -> Snapshot:
    cases = cases_of(model, workloads)
    found = snapshot_of(model, cases)
    if not found.rows:
        msg = f"{model.name} answers none of {len(cases)} workloads with a finite number"
        raise InvalidModel(msg)
    unanswered = len(cases) - len(found.rows)
    if unanswered:
        told = f"{model.name}: {unanswered} of {len(cases)} without an answer, left out"
        click.echo(told, err=True)
    return found


@snapshot.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@folder_option
@tolerance_option
@inject_option
@report_options
@click.pass_context
def check(context: click.Context, /, models: Sequence[str], **given: object) -> None:
    """Hold models against their snapshots: all that there are, or those of MODEL.

    Fails on any output that moved by more than the tolerance and does not go back when
    the coefficients and machine data that changed are set back. What those explain is
    told, with each one's share. Models of your own must be named.

    Exit 0 if all moves are explained, 1 if not, 2 for an error.
    """
    context.exit(_run(_Asked(models, **given), every_row=False))  # type: ignore[arg-type]  # click checked and named them


@snapshot.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@folder_option
@tolerance_option
@inject_option
@report_options
def explain(models: Sequence[str], **given: object) -> None:
    """Show every number that moved since the snapshot, and what explains it.

    The same as `check`, a line a number, and exit 0 whatever moved.
    """
    _run(_Asked(models, **given), every_row=True)  # type: ignore[arg-type]  # click checked and named them


@attrs.frozen
class _Asked:
    models: Sequence[str]
    folder: Path = attrs.field(kw_only=True)
    tolerance: float = attrs.field(kw_only=True)
    inject: str | None = attrs.field(kw_only=True)
    output_format: str = attrs.field(kw_only=True)
    output_file: Path | None = attrs.field(kw_only=True)


def _run(asked: _Asked, *, every_row: bool) -> int:
    folder = SnapshotFolder(asked.folder)
    workloads, stored = folder.workloads(), folder.read()
    pairs, remarks = _paired(asked.models, stored)
    subjects = [subject for _, subject in pairs]
    if asked.inject:
        subjects = [ref.load() for ref in references(subjects, asked.inject)]
    found = [
        compare(held, subject, workloads, tolerance=asked.tolerance)
        for (held, _), subject in zip(pairs, subjects, strict=True)
    ]
    remarks += _workload_remarks(workloads)
    if asked.output_format == "json":
        write_text(dumps(document(found, remarks=remarks)), asked.output_file)
    else:
        _show(found, remarks, asked.output_file, every_row=every_row)
    return EXIT_UNEXPLAINED if any(one.unexplained for one in found) else 0


def _show(
    found: Sequence[Comparison],
    remarks: Sequence[str],
    file: Path | None,
    *,
    every_row: bool,
) -> None:
    with recorded(file) as out:
        told = [one for one in found if one.changes or one.moves or every_row]
        for one in told:
            show_comparison(out, one, every_row=every_row)
        still = sum(one.compared for one in found if one not in told)
        if len(told) < len(found):
            count = len(found) - len(told)
            out.print(Text(f"as they were: {count} of the models, {many(still, 'output')}"))
        for remark in remarks:
            out.print(Text(remark))


def _paired(
    patterns: Sequence[str], stored: Sequence[Snapshot]
) -> tuple[list[tuple[Snapshot, Subject]], list[str]]:
    """The snapshots that are asked for, with their models, and what is missing.

    Raises:
        InvalidSnapshot: there is none of a model that is here and named.
    """
    named = {model.name: model for model in chosen_models(patterns)}
    remarks: list[str] = []
    pairs: list[tuple[Snapshot, Subject]] = []
    for held in stored:
        if patterns and held.model not in named:
            continue
        try:
            pairs.append((held, stored_model(held.model, named.values())))
        except UnknownName as error:
            remarks.append(f"no such model any more, or not named: {error}")
    new = named.keys() - {held.model for held in stored}
    if new:
        remarks.append(f"without a snapshot: {', '.join(sorted(new))}; record them")
    if not pairs:
        msg = f"there is nothing to hold against a snapshot: {'; '.join(remarks)}"
        raise InvalidSnapshot(msg)
    return pairs, remarks


def _workload_remarks(stored: dict[str, Workload]) -> list[str]:
    """Whether the named workloads are others than those that were recorded."""
    named = reference_set(0, 0)
    new = [name for name, workload in named.items() if stored.get(name) != workload]
    old = [name for name in stored if name not in named and not name.startswith("random")]
    return [
        f"{what}: {', '.join(names)}"
        for what, names in (
            ("new or changed workloads, not in the snapshots", new),
            ("workloads of the snapshots that are named no more", old),
        )
        if names
    ]
