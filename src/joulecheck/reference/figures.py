"""The figures of a machine file by name, such as `memories.l1.capacity`, and back.

Coefficients have names of their own, and what only tells of a machine, its sources, its
predecessors and its other operating points, is no figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import attrs
import cattrs
from cattrs.errors import BaseValidationError

from joulecheck.errors import InvalidMachine
from joulecheck.reference.machine_file import Link, MachineFile
from joulecheck.structured import by_name, explained, strict_converter
from joulecheck.workload import Precision

Figure = bool | int | float | str | list[Any]
"""A figure, or a list of plain ones."""

TOLD_ONLY: Final = frozenset(
    {
        "format",
        "name",
        "sources",
        "source",
        "coefficients",
        "operating_points",
        "successor_of",
    }
)
"""Fields that decide no number of a model, or have names of their own."""

SOURCED: Final = ("engines", "tiles")
"""Lists whose parts have a source each."""


def flattened(data: object, prefix: str = "") -> dict[str, Figure]:
    """Every leaf of nested data by its path, sorted; sets become sorted lists."""
    match data:
        case None:
            return {}
        case Mapping():
            parts = [(str(getattr(key, "name", key)), part) for key, part in data.items()]
        case set() | frozenset():
            return {prefix: _plain(data)}
        case list() | tuple() if any(isinstance(part, Mapping) for part in data):
            parts = [(str(place), part) for place, part in enumerate(data)]
        case list() | tuple():
            return {prefix: [_plain(part) for part in data]}
        case _:
            return {prefix: _plain(data)}
    found: dict[str, Figure] = {}
    for name, part in parts:
        if name not in TOLD_ONLY:
            found |= flattened(part, f"{prefix}.{name}" if prefix else name)
    return dict(sorted(found.items()))


def _plain(value: object) -> Any:  # noqa: ANN401 - as JSON has it
    match value:
        case set() | frozenset():
            return sorted(map(_plain, value))
        case list() | tuple():
            return [_plain(part) for part in value]
        case bool() | int() | float() | str():
            return value
        case _:
            return str(value)


def figures_of(data: MachineFile) -> dict[str, Figure]:
    """The figures of a machine file by name, sorted."""
    return flattened(_converter().unstructure(data))


def with_figures(data: MachineFile, figures: Mapping[str, Figure]) -> MachineFile:
    """The same machine with these figures and no others; its coefficients stay.

    Raises:
        InvalidMachine: they make no machine.
    """
    nested = _nested(figures)
    for name in SOURCED:
        nested[name] = [{**part, "source": ""} for part in nested.get(name, [])]
    told = {"format": data.format, "name": data.name, "sources": {}, "coefficients": {}}
    link = nested.pop("link", None)
    try:
        made = _converter().structure({**nested, **told}, MachineFile)
        joined = None if link is None else _link(link)
    except (BaseValidationError, KeyError, TypeError, ValueError) as error:
        msg = f"machine {data.name}: these figures make no machine: {explained(error)}"
        raise InvalidMachine(msg) from error
    return attrs.evolve(made, coefficients=data.coefficients, link=joined)


def _link(data: Mapping[str, Any]) -> Link:
    energy = {**data["energy"], "source": ""}
    return _converter().structure({**data, "energy": energy, "sources": {}}, Link)


@cache
def _converter() -> cattrs.Converter:
    made = strict_converter()
    by_name(made, Precision)
    return made


def _nested(figures: Mapping[str, Figure]) -> dict[str, Any]:
    """Figures by their paths as nested data; parts that are numbered become lists."""
    root: dict[str, Any] = {}
    for path, value in figures.items():
        *folders, leaf = path.split(".")
        at = root
        for folder in folders:
            at = at.setdefault(folder, {})
        at[leaf] = value
    return {name: _listed(part) for name, part in root.items()}


def _listed(part: Any) -> Any:  # noqa: ANN401 - nested data
    if not isinstance(part, dict):
        return part
    inner = {name: _listed(one) for name, one in part.items()}
    if inner and all(name.isdigit() for name in inner):
        return [inner[name] for name in sorted(inner, key=int)]
    return inner
