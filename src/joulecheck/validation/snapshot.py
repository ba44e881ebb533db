"""Snapshots: what a model answers to a set of cases, and the figures that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from joulecheck.case import Case, Cases
from joulecheck.estimate import Answers
from joulecheck.model import UNSCALED, Subject
from joulecheck.validation.figures import Declared, Figure, figures_of_model
from joulecheck.workload.columns import Floats

TOTALS = ("energy", "latency", "utilisation")
PARTS = ("energy_terms", "latency_terms", "through", "latency_through")
"""The fields of an answer whose numbers have names; a column is called FIELD.NAME."""

DIGITS = 6
"""Significant ones that a snapshot keeps of an output."""


def _as_row(values: Iterable[float | None]) -> tuple[float | None, ...]:
    return tuple(values)


def _as_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


@attrs.frozen(kw_only=True)
class Snapshot:
    """The outputs of one model, with its coefficients and the data of its machine."""

    model: str
    coefficients: Mapping[str, Declared]
    figures: Mapping[str, Figure]
    """The data of the machine, by name."""
    columns: tuple[str, ...] = attrs.field(converter=_as_names)
    """What each number of a row is."""
    rows: Mapping[str, tuple[float | None, ...]]
    """By workload and precision; None where the model gives no finite number."""

    def table(self) -> Floats:
        """(rows, columns) the outputs, NaN where there is none."""
        values = [[np.nan if v is None else v for v in row] for row in self.rows.values()]
        return np.array(values, dtype=np.float64).reshape(len(values), len(self.columns))


@attrs.frozen(eq=False)
class Outputs:
    """The outputs of one model for some cases, as numbers."""

    columns: tuple[str, ...]
    table: Floats
    """(cases, columns)"""

    @classmethod
    def of(
        cls, model: Subject, cases: Iterable[Case], scale: Mapping[str, float] = UNSCALED
    ) -> Outputs:
        """Ask a model, with each named coefficient times its factor."""
        asked = Cases.of(list(cases))
        scales = {name: np.full(len(asked), factor) for name, factor in scale.items()}
        named = dict(_columns(model.in_batches.ask(asked, scales)))
        order = tuple(sorted(named, key=_rank))
        table = np.array([named[name] for name in order]).reshape(len(order), len(asked)).T
        return cls(order, np.where(np.isfinite(table), table, np.nan))

    def arranged(self, columns: tuple[str, ...]) -> Floats:
        """(cases, columns) the same in another order, NaN for what is not there."""
        known = {name: place for place, name in enumerate(self.columns)}
        found = np.full((len(self.table), len(columns)), np.nan)
        for place, name in enumerate(columns):
            if name in known:
                found[:, place] = self.table[:, known[name]]
        return found


def _columns(answers: Answers) -> Iterable[tuple[str, NDArray[Any]]]:
    for field in TOTALS:
        values = getattr(answers, field)
        if np.isfinite(values).any():
            yield field, values
    for field in PARTS:
        for key, values in getattr(answers, field).items():
            yield f"{field}.{getattr(key, 'name', key)}", values


def _rank(column: str) -> tuple[int, str]:
    field, _, name = column.partition(".")
    return (*TOTALS, *PARTS).index(field), name


def snapshot_of(model: Subject, cases: Mapping[str, Case]) -> Snapshot:
    """What a model answers now; cases that it refuses are left out."""
    outputs = Outputs.of(model, cases.values())
    rows = {
        name: tuple(_kept(value) for value in values)
        for name, values in zip(cases, outputs.table.tolist(), strict=True)
        if not np.isnan(values).all()
    }
    return Snapshot(
        model=model.name,
        coefficients={
            name: Declared(float(c.value), c.unit)
            for name, c in sorted(model.coefficients.items())
        },
        figures=figures_of_model(model),
        columns=outputs.columns,
        rows=dict(sorted(rows.items())),
    )


def _kept(value: float) -> float | None:
    return None if np.isnan(value) else float(f"{value:.{DIGITS}g}")
