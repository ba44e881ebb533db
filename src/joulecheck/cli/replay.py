"""`joulecheck replay`."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from joulecheck.cli.options import (
    corpus_options,
    inject_option,
    named_option,
    open_corpus,
    report_options,
)
from joulecheck.cli.output import recorded, write_text
from joulecheck.cli.stored import own_models_option, resolver
from joulecheck.corpus import Finding, Replayed, exit_code, record
from joulecheck.corpus import replay as replay_findings
from joulecheck.corpus.store import Corpus
from joulecheck.reports.findings import finding_title
from joulecheck.reports.json_report import dumps


@click.command()
@click.argument("findings", nargs=-1, metavar="[FINDING]...")
@own_models_option
@named_option(
    "--only",
    metavar="PATTERN",
    default="*",
    help="Only findings of models whose name matches, such as 'reference:*'.",
)
@inject_option
@corpus_options
@report_options
@click.pass_context
def replay(  # noqa: PLR0913 - one argument an option
    context: click.Context,
    *,
    findings: tuple[str, ...],
    models: tuple[str, ...],
    only: str,
    inject: str | None,
    corpus: str,
    counterexamples: str,
    output_format: str,
    output_file: Path | None,
) -> None:
    """Run stored counterexamples through their properties; nothing is generated.

    FINDING is an id such as F-3f2a91c0, or the start of one; without it, all are run.
    Each ends as FIXED, STILL FAILS, FLAKY or CANNOT RUN.

    Exit 0 if all are fixed or accepted, 1 for a failure that is regressed, flaky, not
    accepted or whose acceptance has expired, 2 if one cannot run.
    """
    with open_corpus(corpus, counterexamples) as store:
        chosen = [f for f in _chosen(store, findings) if _matches(f, only)]
        resolve = resolver(models, inject)
        replayed = []
        for one in replay_findings(chosen, resolve):
            if inject is None and one.finding.counterexample.fault is None:
                record(store, one)
            replayed.append(one)
    if output_format == "json":
        write_text(dumps([_described(one) for one in replayed]), output_file)
    else:
        with recorded(output_file) as out:
            _show(out, replayed)
    context.exit(exit_code(replayed))


def _chosen(store: Corpus, names: Sequence[str]) -> list[Finding]:
    return [store.get(name) for name in names] if names else store.all()


def _matches(finding: Finding, pattern: str) -> bool:
    return fnmatch.fnmatchcase(finding.counterexample.model, pattern)


def _show(out: Console, replayed: Sequence[Replayed]) -> None:
    for one in replayed:
        style = "red" if one.fails_gate else "green"
        out.print(Text(finding_title(one.finding, one.outcome.value), style=style))
        if one.explanation:
            out.print(Text(f"  {one.explanation}"))
    failing = sum(one.fails_gate for one in replayed)
    out.print(f"{len(replayed)} replayed, {failing} fail the gate", highlight=False)


def _described(one: Replayed) -> dict[str, Any]:
    return {
        "id": one.finding.id,
        "model": one.finding.counterexample.model,
        "property": one.finding.counterexample.property,
        "outcome": one.outcome.value,
        "margin": one.margin,
        "accepted": one.accepted,
        "fails_gate": one.fails_gate,
        "explanation": one.explanation,
    }
