"""Measurements: what a machine took for a piece of work, read from files.

A file is CSV with a heading, or JSON Lines, by its suffix. A row says which machine ran
which operator and what that took:

    machine      the name of a model, such as "reference:H100-SXM5-80GB", or "H100..."
    op           "gemm", "conv2d" or "elementwise", with the dimensions of that operator
                 (m, n, k, batch; n, c, h, w, k, r, s, ...; function, shape as 64x1024)
    precision    such as FP16
    latency_s    second, the median of the repeats; this or energy_J, or both
    energy_J     joule, of the same
    repeats, latency_min_s, latency_max_s, energy_min_J, energy_max_J    their statistics
    use          "fit" for what a model was fitted to, else "check"
    conditions   in words: clocks, threads, versions
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import attrs
from attrs.validators import and_, ge, gt, lt, optional

from joulecheck.case import Case
from joulecheck.counterexample import converter
from joulecheck.errors import InvalidMeasurement, JoulecheckError, did_you_mean
from joulecheck.files import parsed
from joulecheck.structured import explained
from joulecheck.workload import Conv2d, Elementwise, Gemm, Precision

Use: TypeAlias = Literal["fit", "check"]

OPERATORS: Final[Mapping[str, type[Gemm | Conv2d | Elementwise]]] = {
    "gemm": Gemm,
    "conv2d": Conv2d,
    "elementwise": Elementwise,
}


class Spread(NamedTuple):
    """The least and the greatest of the repeats."""

    least: float
    greatest: float


def _positive() -> Any:  # noqa: ANN401 - as attrs.field
    return attrs.field(default=None, validator=optional(and_(gt(0.0), lt(math.inf))))


@attrs.frozen(kw_only=True)
class Measurement:
    """What a machine took for one operator.

    Raises:
        ValueError: it has neither latency nor energy, one that is not above 0 and finite,
            or a median that is not between the least and the greatest of its repeats.
    """

    machine: str
    """The name of the model that describes it."""
    case: Case
    latency: float | None = _positive()
    """Second: the median of the repeats."""
    energy: float | None = _positive()
    """Joule: the median of the repeats."""
    repeats: int = attrs.field(default=1, validator=ge(1))
    latency_min: float | None = _positive()
    latency_max: float | None = _positive()
    energy_min: float | None = _positive()
    energy_max: float | None = _positive()
    use: Use = "check"
    """Whether the model was fitted to it, so that it confirms nothing."""
    conditions: str = ""

    def __attrs_post_init__(self) -> None:
        """Refuse what measures nothing."""
        if self.latency is None and self.energy is None:
            msg = "it must have latency_s or energy_J: it has neither"
            raise ValueError(msg)
        for quantity in ("latency", "energy"):
            ends = (getattr(self, f"{quantity}_{end}") for end in ("min", "max"))
            least, greatest = ends
            known = [v for v in (least, getattr(self, quantity), greatest) if v is not None]
            if known != sorted(known):
                msg = (
                    f"the least {quantity}, its median and the greatest must come in this "
                    f"order, got {', '.join(f'{value:g}' for value in known)}"
                )
                raise ValueError(msg)

    def spread(self, quantity: str) -> Spread | None:
        """The range of the repeats of "latency" or "energy", if it was recorded."""
        least = getattr(self, f"{quantity}_min")
        greatest = getattr(self, f"{quantity}_max")
        return None if least is None or greatest is None else Spread(least, greatest)


COLUMNS: Final = {
    "machine": "machine",
    "latency_s": "latency",
    "latency_min_s": "latency_min",
    "latency_max_s": "latency_max",
    "energy_J": "energy",
    "energy_min_J": "energy_min",
    "energy_max_J": "energy_max",
    "repeats": "repeats",
    "use": "use",
    "conditions": "conditions",
}
"""A file's columns beside those of the operator, and the fields that they fill."""

WORDS: Final = frozenset(
    {"machine", "op", "precision", "function", "shape", "use", "conditions"}
)
"""The columns that are no number, whatever they look like."""


def read(file: Path) -> list[Measurement]:
    """The measurements of a CSV or JSON Lines file, in order.

    Raises:
        InvalidMeasurement: it cannot be read, or a row breaks a rule; the message names
            the line.
    """
    readers = {".csv": _csv_rows, ".jsonl": _json_rows}
    if file.suffix not in readers:
        msg = f"{file} must end in .csv or .jsonl, to say how it is to be read"
        raise InvalidMeasurement(msg)
    try:
        text = file.read_text(encoding="utf-8-sig")  # as spreadsheets write it
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{file} cannot be read: {error}"
        raise InvalidMeasurement(msg) from error
    found = [_measurement(file, *row) for row in readers[file.suffix](file, text)]
    if not found:
        msg = f"{file} has no measurement: it wants a row each"
        raise InvalidMeasurement(msg)
    return found


def _csv_rows(_: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), restkey="", restval="")
    for row in reader:
        given = {
            name: value if name in WORDS else _number(value)
            for name, value in row.items()
            if value
        }
        yield reader.line_num, given


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except (TypeError, ValueError):
            continue
    return text


def _json_rows(file: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = parsed(line)
        except ValueError as error:
            msg = f"{file}, line {number}: no JSON: {error}"
            raise InvalidMeasurement(msg) from error
        if not isinstance(row, dict):
            msg = f"{file}, line {number}: it must be a JSON object, got {row!r}"
            raise InvalidMeasurement(msg)
        yield number, row


def _measurement(file: Path, line: int, row: Mapping[str, Any]) -> Measurement:
    try:
        return _from_row(row)
    except (JoulecheckError, ValueError) as error:
        msg = f"{file}, line {line}: {error}"
        raise InvalidMeasurement(msg) from error


def _from_row(row: Mapping[str, Any]) -> Measurement:
    for needed in ("machine", "op", "precision"):
        if not row.get(needed):
            msg = f"it must say {needed!r}"
            raise ValueError(msg)
    op = str(row["op"])
    if op not in OPERATORS:
        msg = f"no operator is called {op!r}: {did_you_mean(op, OPERATORS)}"
        raise ValueError(msg)
    kind = OPERATORS[op]
    dimensions = {field.name for field in attrs.fields(kind)}
    unknown = row.keys() - dimensions - COLUMNS.keys() - {"op", "precision"}
    if "" in unknown:
        msg = f"it has more values than there are columns: {row['']!r}"
        raise ValueError(msg)
    if unknown:
        name = min(map(str, unknown))
        known = did_you_mean(name, {*dimensions, *COLUMNS})
        msg = f"no column is called {name!r} beside a {op}: {known}"
        raise ValueError(msg)
    given = {name: row[name] for name in dimensions if name in row}
    if isinstance(given.get("shape"), str | int):
        given["shape"] = [_number(size) for size in str(given["shape"]).split("x")]
    data = {column: row[column] for column in COLUMNS if row.get(column) is not None}
    fields = {COLUMNS[column]: value for column, value in data.items()}
    try:
        work = converter().structure(given, kind)
        precision = converter().structure(row["precision"], Precision)
        return Measurement(case=Case(work, precision), **_checked(fields))
    except Exception as error:
        raise ValueError(explained(error)) from error


def _checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a measurement, each of its type."""
    kinds: dict[str, Any] = {"machine": str, "conditions": str, "use": Use, "repeats": int}
    return {
        name: converter().structure(value, kinds.get(name, float))
        for name, value in fields.items()
    }


def lines(measurements: Iterable[Measurement]) -> str:
    """The measurements as JSON Lines."""
    return "".join(json.dumps(_row(one)) + "\n" for one in measurements)


def _row(one: Measurement) -> dict[str, Any]:
    work = one.case.workload
    op = next(name for name, kind in OPERATORS.items() if isinstance(work, kind))
    dimensions = converter().unstructure(work)
    if "shape" in dimensions:
        dimensions["shape"] = "x".join(map(str, dimensions["shape"]))
    rest = {column: getattr(one, name) for column, name in COLUMNS.items()}
    told = {column: value for column, value in rest.items() if value not in {None, ""}}
    machine = told.pop("machine")
    precision = one.case.precision.name
    return {"machine": machine, "op": op, **dimensions, "precision": precision, **told}
