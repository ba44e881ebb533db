"""`joulecheck overlay`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click
from rich.text import Text

from joulecheck.cli.options import (
    Finite,
    chosen_models,
    corpus_options,
    named_option,
    open_corpus,
    record_option,
    report_options,
)
from joulecheck.cli.output import recorded, write_text
from joulecheck.corpus.finding import Finding, utc_now
from joulecheck.corpus.store import Corpus
from joulecheck.errors import NotOffered
from joulecheck.model import Subject, family_names
from joulecheck.reports import overlay as report
from joulecheck.reports.findings import finding_title
from joulecheck.reports.json_report import dumps
from joulecheck.resolve import stored_model
from joulecheck.validation import measurement
from joulecheck.validation.calibration import note
from joulecheck.validation.ledger import Ledger
from joulecheck.validation.overlay import (
    Disagreement,
    Overlay,
    Verdict,
    counterexample,
    overlay,
)

EXIT_FOUND = 1

DEFAULT_FAMILY = "reference"
"""Of a machine that a file names without its family."""


@click.command("overlay")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path)
)
@named_option(
    "--models",
    "models",
    multiple=True,
    metavar="MODEL",
    help="A model of your own that the files name: MODULE:CLASS. Repeatable.",
)
@named_option(
    "--tolerance",
    of="overlay",
    type=Finite(min=0, min_open=True),
    default=0.2,
    show_default=True,
    help="How far a prediction may be off: 0.2 allows a factor 1.2 both ways.",
)
@record_option("which figures are confirmed, and which are contradicted")
@corpus_options
@report_options
@click.option("--exit-zero", is_flag=True, help="Exit 0 also when something disagrees.")
@click.pass_context
def overlay_command(  # noqa: PLR0913 - one argument an option
    context: click.Context,
    *,
    files: tuple[Path, ...],
    models: tuple[str, ...],
    tolerance: float,
    ledger: Path | None,
    corpus: str,
    counterexamples: str,
    output_format: str,
    output_file: Path | None,
    exit_zero: bool,
) -> None:
    """Lay predictions over measurements, and say which figures they confirm.

    A FILE is CSV with a heading, or JSON Lines, by its suffix: a row a measurement.

    \b
      machine,op,m,n,k,precision,latency_s,energy_J,repeats,latency_min_s,latency_max_s
      H100-SXM5-80GB,gemm,4096,4096,4096,FP16,2.4e-4,,9,2.3e-4,2.9e-4

    op is gemm (m n k batch), conv2d (n c h w k r s stride padding dilation groups) or
    elementwise (function shape, as 64x1024). machine is a model, such as host:laptop;
    without a family it is one of reference. Columns may also say use (fit or check) and
    conditions. `joulecheck measure` writes such a file for the machine at hand.

    A figure of a machine is confirmed by measurements that hang on it and agree, if
    none disagrees. Each way in which a machine disagrees is stored as a finding of
    MEA001, with its worst measurement; `joulecheck replay` holds the model to it.

    Exit 0 if all agree or are accepted, 1 if something new disagrees, 2 for an error.
    """  # noqa: D301 - click reads the escape
    rows = [one for file in files for one in measurement.read(file)]
    model_named = _resolver(models)
    found = overlay(rows, model_named, tolerance)
    with open_corpus(corpus, counterexamples) as store:
        filed = _filed(found, model_named, store)
    if ledger is not None:
        _note(found, model_named, filed, ledger)
    findings = list(filed.values())
    unknown = sum(not finding.accepts_now(utc_now().date()) for finding in findings)
    if output_format == "json":
        told = report.document(found) | {"findings": [finding.id for finding in findings]}
        write_text(dumps(told), output_file)
    else:
        with recorded(output_file) as console:
            report.show(console, found)
            for finding in findings:
                console.print(Text(finding_title(finding, finding.status.name)))
    if all(one.verdict is Verdict.NOT_PREDICTED for one in found.comparisons):
        msg = f"none of {len(found.comparisons)} measured numbers is predicted"
        raise NotOffered(msg)
    if unknown and not exit_zero:
        context.exit(EXIT_FOUND)


def _resolver(models: Sequence[str]) -> Callable[[str], Subject]:
    own = chosen_models(models) if models else []

    def model_named(name: str) -> Subject:
        known = {*family_names(), *(m.name.partition(":")[0] for m in own)}
        full = name if name.partition(":")[0] in known else f"{DEFAULT_FAMILY}:{name}"
        return stored_model(full, own)

    return model_named


def _filed(
    found: Overlay, model_named: Callable[[str], Subject], store: Corpus
) -> dict[Disagreement, Finding]:
    return {
        one: store.save(counterexample(one, model_named(one.machine), found.tolerance))
        for one in found.disagreements
    }


def _note(
    found: Overlay,
    model_named: Callable[[str], Subject],
    filed: Mapping[Disagreement, Finding],
    file: Path,
) -> None:
    ledger = Ledger.load_or_new(file)
    ids = {one: finding.id for one, finding in filed.items()}
    for machine in dict.fromkeys(c.measurement.machine for c in found.comparisons):
        note(ledger, found, model_named(machine), ids)
    ledger.save(file)
