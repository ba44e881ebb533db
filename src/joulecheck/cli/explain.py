"""`joulecheck explain`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import attrs
import click
import numpy as np
from rich.padding import Padding
from rich.text import Text

from joulecheck.campaign.follow_up import FollowUp, versions
from joulecheck.cli.options import corpus_options, format_option, inject_option, open_corpus
from joulecheck.cli.output import console, write_text
from joulecheck.cli.stored import own_models_option, resolver
from joulecheck.corpus import Finding, finding_file
from joulecheck.corpus.store import Corpus
from joulecheck.counterexample import numbers_of
from joulecheck.property import HEADINGS, STAYS, property_named
from joulecheck.reports.json_report import dumps
from joulecheck.reports.terminal import show_finding


@click.command()
@click.argument("name", metavar="PROPERTY|FINDING")
@click.option(
    "--keep", is_flag=True, help="Keep the explanation of a finding in the database."
)
@own_models_option
@inject_option
@corpus_options
@format_option
def explain(  # noqa: PLR0913 - one argument an option
    *,
    name: str,
    keep: bool,
    models: Sequence[str],
    inject: str | None,
    corpus: str,
    counterexamples: str,
    output_format: str,
) -> None:
    """Explain a property, or a finding as the model answers today.

    Of a property, such as CMP001, it gives the statement, why it must hold, and over
    which domain: see `joulecheck properties`. Of a finding, such as F-3f2a91c0, it looks
    again for the region around its case, for the number that is to blame, and for the
    nearest case that holds; or it says that the case no longer fails.
    """
    if not name.startswith("F-"):
        _explain_property(name.upper(), output_format)
        return
    with open_corpus(corpus, counterexamples) as store:
        finding = store.get(name)
        _explain_finding(finding, models, inject, output_format, store if keep else None)


def _explain_property(name: str, output_format: str) -> None:
    law = property_named(name)
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


def _explain_finding(
    finding: Finding,
    models: Sequence[str],
    fault: str | None,
    output_format: str,
    store: Corpus | None,
) -> None:
    stored = finding.counterexample
    model = resolver(models, fault)(stored.model)
    law = property_named(stored.property)
    margin = law.margin_of(model, stored.case)
    if not margin < 0:
        _say_that_it_holds(finding, margin, output_format)
        return
    genes = law.space(model).genes_of(stored.case)
    today = attrs.evolve(
        stored,
        genes=genes,
        margin=margin,
        numbers=numbers_of(model, stored.case),
        versions=versions(),
    )
    up = FollowUp(law, model, np.random.default_rng(stored.seed or 0))
    explained = up.explained(today, np.array([genes], dtype=np.int64))
    finding = attrs.evolve(finding, counterexample=explained)
    if store is not None:
        store.change(
            finding.id,
            lambda known: attrs.evolve(known or finding, counterexample=explained),
        )
    if output_format == "json":
        write_text(dumps({**_as_data(finding), "margin_today": margin}), None)
    else:
        show_finding(console(), finding, finding.status.value.upper())


def _say_that_it_holds(finding: Finding, margin: float, output_format: str) -> None:
    known = not math.isnan(margin)
    if output_format == "json":
        data = {**_as_data(finding), "margin_today": margin if known else None}
        write_text(dumps(data), None)
    elif known:
        click.echo(f"{finding.id} no longer fails: its margin is {margin:+.4g} now")
    else:
        click.echo(f"{finding.id} cannot be judged now: replay it to see why")


def _as_data(finding: Finding) -> dict[str, object]:
    data: dict[str, object] = json.loads(finding_file.to_json(finding))
    return {**data, "id": finding.id}
