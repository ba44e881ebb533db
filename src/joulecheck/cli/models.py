"""`joulecheck models`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from joulecheck.cli.options import DEFAULT_MODELS, chosen_models, report_options
from joulecheck.cli.output import recorded, write_text
from joulecheck.model import Subject
from joulecheck.quantities import many
from joulecheck.reference.classes import class_of
from joulecheck.reports.json_report import dumps

Data = dict[str, Any]


@click.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...", default=DEFAULT_MODELS)
@report_options
def models(models: tuple[str, ...], output_format: str, output_file: Path | None) -> None:
    """List models by class: their energy and tile models, precisions, operating points.

    MODEL is FAMILY:PATTERN, such as 'reference:*TPU*', or MODULE:CLASS for a model of
    your own. Without it, the reference models, or those of your pyproject.toml. A
    machine at one of its operating points is FAMILY:NAME@POINT, in every command.
    """
    listed = _listed(chosen_models(models))
    if output_format == "json":
        write_text(dumps(listed), output_file)
        return
    with recorded(output_file) as console:
        for one in listed["classes"]:
            _show(console, one, listed["models"])
        console.print(_counts(listed), highlight=False)


def _listed(chosen: Sequence[Subject]) -> Data:
    """The models, their classes, and the energy and tile models of all of these."""
    described = [_described(model) for model in chosen]
    classes: dict[tuple[str, ...], Data] = {}
    for model in described:
        one = classes.setdefault(_key(model), _class(model) | {"models": []})
        one["models"].append(model["name"])
    kinds = [kind for one in classes.values() for kind in _kinds(one)]
    return {
        "models": described,
        "classes": list(classes.values()),
        "energy_and_tile_models": list(dict.fromkeys(kinds)),
    }


def _described(model: Subject) -> Data:
    known = class_of(model.model)
    kinds = {
        "energy_model": known.energy_model if known else type(model.model),
        "tile_model": known and known.tile_model,
        "adapter": known and known.adapter,
    }
    return {
        "name": model.name,
        "architecture": model.machine.architecture,
        **{role: kind and kind.__name__ for role, kind in kinds.items()},
        "precisions": [precision.name for precision in model.precisions],
        "operating_points": list(model.machine.operating_points),
        "operators": sorted(model.operators),
        "coefficients": len(model.coefficients),
        "offers": sorted(offer.name.lower() for offer in model.offers),
        "exemptions": {name: e.reason for name, e in sorted(model.exemptions.items())},
    }


def _class(model: Data) -> Data:
    """What a model has in common with the others of its class."""
    shared = ("architecture", "energy_model", "tile_model", "adapter")
    return {name: model[name] for name in shared}


def _key(model: Data) -> tuple[str, ...]:
    return tuple(map(str, _class(model).values()))


def _kinds(one: Data) -> Iterator[str]:
    for role in ("energy_model", "tile_model", "adapter"):
        if one[role]:
            yield one[role]


def _show(console: Console, one: Data, described: Sequence[Data]) -> None:
    title = f"{one['architecture'] or 'no class'}: {', '.join(_kinds(one))}"
    console.print(Text(title, style="bold"))
    table = Table.grid(padding=(0, 2), pad_edge=False)
    for _ in ("model", "precisions", "points"):
        table.add_column(overflow="fold")
    for model in described:
        if model["name"] in one["models"]:
            points = " ".join(f"@{point}" for point in model["operating_points"])
            table.add_row(model["name"], " ".join(model["precisions"]), points)
    console.print(table)
    console.print()


def _counts(listed: Data) -> str:
    models, classes, kinds = (len(listed[part]) for part in listed)
    return (
        f"{many(models, 'model')} in {many(classes, 'class', 'classes')}, with "
        f"{many(kinds, 'energy and tile model')}"
    )
