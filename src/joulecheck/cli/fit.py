"""`joulecheck fit`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from joulecheck.cli.options import (
    DEFAULT_MODELS,
    chosen_models,
    inject_option,
    named_option,
    record_option,
    refuse_faulty_ledger,
    report_options,
    seed_option,
)
from joulecheck.cli.output import recorded, write_text
from joulecheck.cli.progress import progressing
from joulecheck.model import Subject
from joulecheck.reports.fit import document, show_fit
from joulecheck.reports.json_report import dumps
from joulecheck.resolve import references
from joulecheck.validation.fit_record import apply_to_model
from joulecheck.validation.fitters import Fit, fit
from joulecheck.validation.ledger import Ledger

EXIT_FAULTS: Final = 1


@click.command("fit")
@click.argument("models", nargs=-1, metavar="[MODEL]...", default=DEFAULT_MODELS)
@named_option(
    "--cases",
    type=click.IntRange(min=1),
    default=None,
    help="How many random workloads. [default: 1024, or 96 without a batch path]",
)
@seed_option("the workloads")
@record_option("which coefficients were recovered, and flag those that are wrong")
@inject_option
@report_options
@click.pass_context
def fit_command(  # noqa: PLR0913 - one an option
    context: click.Context,
    models: Sequence[str],
    cases: int | None,
    seed: int,
    ledger: Path | None,
    inject: str | None,
    output_format: str,
    output_file: Path | None,
) -> None:
    """Recover the energy coefficients of MODEL from its outputs, beside the declared ones.

    A model is asked for random workloads, as it is and with each coefficient scaled.
    Where its response is in proportion to a count that workload or outputs tell, such as
    MACs, bytes of a memory or seconds, least squares give the coefficient. Where not,
    what is known is told: a product, or a combination. Finds coefficients that are dead,
    mis-scaled, not linear or leaking, and energy that no coefficient accounts for.

    \b
      joulecheck fit reference:Hailo-8                   a row for each coefficient
      joulecheck fit                                     47 machines, a line for each
      joulecheck fit reference:Hailo-8 --inject dead-coefficient

    Exit 0 if outputs and declarations agree, 1 if not, 2 for an error.
    """  # noqa: D301 - click reads the escape
    refuse_faulty_ledger(ledger, inject)
    subjects = [ref.load() for ref in references(chosen_models(models), inject)]
    fitted = (fit(subject, seed=seed, cases=cases) for subject in subjects)
    found = list(progressing(fitted, len(subjects), "models"))
    if ledger is not None:
        _record(found, subjects, ledger)
    if output_format == "json":
        write_text(dumps(document(found)), output_file)
    else:
        with recorded(output_file) as out:
            for one in found:
                show_fit(out, one, table=len(found) == 1)
    context.exit(0 if all(one.is_sound for one in found) else EXIT_FAULTS)


def _record(found: Sequence[Fit], subjects: Sequence[Subject], file: Path) -> None:
    ledger = Ledger.load_or_new(file)
    for one, subject in zip(found, subjects, strict=True):
        apply_to_model(one, subject, ledger)
    ledger.save(file)
