"""Whether outputs moved since a snapshot, by which change, or by none that was declared.

An output that moved is asked for again with each changed figure set back to what the
snapshot holds: coefficients and the data of the machine, one at a time and all at once.
What is back in its place with all of them set back is explained, and each figure explains
the share that it alone takes back. What is not has moved by something else, such as a
formula, even if the changes happen to cancel.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case
from joulecheck.errors import JoulecheckError
from joulecheck.model import Subject
from joulecheck.validation.figures import (
    Figure,
    figures_of_model,
    is_rebuilt,
    knob_of,
    rebuilt,
)
from joulecheck.validation.snapshot import Outputs, Snapshot
from joulecheck.validation.workload_set import cases_named
from joulecheck.workload import Workload
from joulecheck.workload.columns import Bools, Floats

TOLERANCE: Final = 0.01
"""Relative: an output that moves by no more has not moved."""

MENTIONED: Final = 0.005
"""Share of a move below which a change is not said to explain it."""


@attrs.frozen
class Change:
    """A coefficient or a figure of the machine that is not what it was."""

    name: str
    before: Figure | None
    """None where there was none."""
    after: Figure | None
    unit: str | None = None
    """Of a coefficient; None for a figure of the machine."""

    @property
    def of_coefficient(self) -> bool:
        """Whether it is a coefficient that changed."""
        return self.unit is not None


@attrs.frozen(kw_only=True)
class Move:
    """An output that moved."""

    row: str
    column: str
    before: float
    after: float
    """NaN where the model gives no number any more."""
    back: float
    """With every change set back that can be."""
    shares: Mapping[str, float]
    """By change: the share of the move that it alone takes back, the largest first."""
    explained: bool
    """Whether all changes together take it back."""

    @property
    def relative(self) -> float:
        """How far it moved, over what it was."""
        return _relative(self.after, self.before)

    @property
    def left(self) -> float:
        """How far it is off with everything set back, over what it was."""
        return _relative(self.back, self.before)


def _relative(after: float, before: float) -> float:
    if before:
        return after / before - 1
    return 0.0 if after == before else float(np.copysign(np.inf, after))


@attrs.frozen(kw_only=True)
class Comparison:
    """A model beside its snapshot."""

    model: str
    changes: tuple[Change, ...]
    moves: tuple[Move, ...]
    """In the order of rows and columns."""
    compared: int
    """Outputs in all."""
    new_columns: tuple[str, ...]
    """Outputs that the snapshot does not have."""
    new_precisions: tuple[str, ...]
    """Precisions of which the snapshot has no row."""
    left_alone: tuple[str, ...] = ()
    """Changes that cannot be set back, so that they may stand for any move."""

    @property
    def unexplained(self) -> tuple[Move, ...]:
        """The moves that no change accounts for."""
        return tuple(move for move in self.moves if not move.explained)


def compare(
    snapshot: Snapshot,
    model: Subject,
    workloads: Mapping[str, Workload],
    *,
    tolerance: float = TOLERANCE,
) -> Comparison:
    """Hold a model against its snapshot.

    Args:
        snapshot: of the same model, at some other time.
        model: as it is now.
        workloads: those of the snapshot, by name.
        tolerance: relative; what moves by no more has not moved.

    Raises:
        InvalidSnapshot: a row is of none of the workloads, or of no precision.
    """
    asked = cases_named(snapshot.rows, workloads)
    changes = tuple(_changes(snapshot, model))
    setting = _Setting(snapshot, model, asked, changes)
    now = Outputs.of(model, asked.values())
    before, after = snapshot.table(), now.arranged(snapshot.columns)
    back = setting.all_back()
    moved = _moved(before, after, tolerance)
    stays = _moved(before, back, tolerance)
    if setting.left_alone:
        stays &= False
    shares = dict(setting.shares(before, after, moved)) if moved.any() else {}
    rows, known = tuple(asked), {case.precision for case in asked.values()}
    moves = [
        Move(
            row=rows[row],
            column=snapshot.columns[column],
            before=float(before[row, column]),
            after=float(after[row, column]),
            back=float(back[row, column]),
            shares=_largest_first({n: s[row, column] for n, s in shares.items()}),
            explained=not stays[row, column],
        )
        for row, column in np.argwhere(moved | stays).tolist()
    ]
    return Comparison(
        model=model.name,
        changes=changes,
        moves=tuple(moves),
        compared=int((~np.isnan(before)).sum()),
        new_columns=tuple(name for name in now.columns if name not in snapshot.columns),
        new_precisions=tuple(p.name for p in model.precisions if p not in known),
        left_alone=setting.left_alone,
    )


def _largest_first(shares: Mapping[str, float]) -> dict[str, float]:
    kept = {n: float(s) for n, s in shares.items() if abs(s) >= MENTIONED}
    return dict(sorted(kept.items(), key=lambda one: (-abs(one[1]), one[0])))


def _moved(before: Floats, after: Floats, tolerance: float) -> Bools:
    """Which outputs that there were are elsewhere now, or nowhere."""
    near = np.abs(after - before) <= tolerance * np.abs(before)
    found: Bools = ~np.isnan(before) & ~near
    return found


def _changes(snapshot: Snapshot, model: Subject) -> Iterator[Change]:
    old, new = snapshot.coefficients, model.coefficients
    for name in sorted(old.keys() | new.keys()):
        before = old[name].value if name in old else None
        after = float(new[name].value) if name in new else None
        if before != after:
            unit = new[name].unit if name in new else old[name].unit
            yield Change(name, before, after, unit)
    figures = figures_of_model(model)
    for name in sorted(snapshot.figures.keys() | figures.keys()):
        known, found = snapshot.figures.get(name), figures.get(name)
        if known != found:
            yield Change(name, known, found)


class _Setting:
    """A model whose changes can be set back, together or each by itself.

    A reference model is built anew. Of others coefficients are scaled, and figures that
    have a knob are turned back, which sets back those that follow from them.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        model: Subject,
        cases: Mapping[str, Case],
        changes: tuple[Change, ...],
    ) -> None:
        self._snapshot = snapshot
        self._model = model
        self._cases = cases
        self._changes = changes
        self._figures = figures_of_model(model)
        self._rebuilds = is_rebuilt(model)
        self._turned = {} if self._rebuilds else self._turns()

    @property
    def left_alone(self) -> tuple[str, ...]:
        """The changes that cannot be set back."""
        return tuple(c.name for c in self._changes if not self._can_set_back(c))

    def _turns(self) -> dict[str, float]:
        """By changed figure: the factor of its knob that turns it back, if it has one."""
        found = {}
        for change in self._changes:
            knob = self._model.knobs.get(knob_of(change.name))
            before, after = change.before, change.after
            if knob is None or change.of_coefficient or not after:
                continue
            if isinstance(before, int | float) and isinstance(after, int | float):
                factor = before / after
                if knob.allows(factor):
                    found[change.name] = factor
        return found

    @cached_property
    def _after_turning(self) -> dict[str, Figure]:
        """The figures of the machine with all knobs turned back."""
        return figures_of_model(self._with_turned(self._turned))

    def _with_turned(self, names: Iterable[str]) -> Subject:
        return self._model.derived({knob_of(n): self._turned[n] for n in names})

    def _can_set_back(self, change: Change) -> bool:
        if self._rebuilds:
            return True
        if not change.of_coefficient:
            return _same(change.before, self._after_turning.get(change.name))
        return change.before is None or (change.after is not None and change.after != 0)

    def all_back(self) -> Floats:
        """(rows, columns) the outputs with every change set back that can be."""
        try:
            return self._back(*self._changes)
        except JoulecheckError:
            shape = (len(self._cases), len(self._snapshot.columns))
            return np.full(shape, np.nan)

    def shares(
        self, before: Floats, after: Floats, moved: Bools
    ) -> Iterator[tuple[str, Floats]]:
        """By change: the share of each move that it alone takes back, 0 where none."""
        for change in self._changes:
            if not self._can_set_back(change):
                continue
            try:
                alone = self._back(change)
            except JoulecheckError:  # not without the others: no machine is like that
                continue
            with np.errstate(all="ignore"):
                share = (after - alone) / (after - before)
            yield change.name, np.where(moved & np.isfinite(share), share, 0.0)

    def _back(self, *changes: Change) -> Floats:
        some = [change for change in changes if self._can_set_back(change)]
        names = [change.name for change in some if change.of_coefficient]
        known = self._snapshot.coefficients
        old = {name: known[name] for name in names if name in known}
        scale = {name: 0.0 for name in names if name not in known}
        model, figures = self._model, [c for c in some if not c.of_coefficient]
        if not self._rebuilds:
            now = model.coefficients
            scale |= {name: one.value / now[name].value for name, one in old.items()}
            model = self._with_turned(c.name for c in figures if c.name in self._turned)
        elif old or figures:
            model = rebuilt(model, self._old(figures), old)
        outputs = Outputs.of(model, self._cases.values(), scale)
        return outputs.arranged(self._snapshot.columns)

    def _old(self, changes: list[Change]) -> dict[str, Figure]:
        figures = dict(self._figures)
        for change in changes:
            if change.before is None:
                del figures[change.name]
            else:
                figures[change.name] = change.before
        return figures


def _same(one: Figure | None, other: Figure | None) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other)
    return one == other
