"""Exact ends: asking cases between the last failing and the first passing value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.regions.evidence import Evidence
from joulecheck.campaign.regions.table import Placed, all_hold, values_of
from joulecheck.campaign.regions.vocabulary import Term
from joulecheck.region import Columns, How
from joulecheck.workload.columns import Bools, Floats, Ints

NEAR: Final = 20
"""Failures next to an end from which its surroundings are reached."""

VARIED: Final = 12
"""Of them, how many also with some of their genes at the minimum."""

LANES: Final = 360
"""Genes of such cases that are moved, at most."""

SHIFT: Final = 6
"""By how much genes of cases near a gap are changed at random."""

CLOSING: Final = 2_500
"""Cases that can be looked at in the time that it takes to reach a gap."""


@attrs.frozen
class Gap:
    """An end of an interval, between values that are inside and outside of it."""

    term: Term
    is_low: bool
    inside: float
    """The outermost value at which a case fails."""
    outside: float
    """The nearest value at which a case passes that meets all other conditions."""

    def holds(self, values: Floats) -> Bools:
        """Which values lie strictly between."""
        low, high = sorted((self.inside, self.outside))
        with np.errstate(invalid="ignore"):
            between: Bools = (values > low) & (values < high)
        return between

    @property
    def is_open(self) -> bool:
        """Whether some value may lie between."""
        width = abs(self.inside - self.outside)
        if self.term.feature.how is How.RATIO:
            return width > _RESOLVED * abs(self.inside)
        whole = float(self.inside).is_integer() and float(self.outside).is_integer()
        return width > 1 if whole else False

    @property
    def end(self) -> float:
        """Where to say that the interval ends: a plain number in the gap, if derived."""
        if self.term.feature.how is How.VALUE and not _is_total(self.term):
            return self.inside
        return plainest(self.inside, self.outside)


_RESOLVED: Final = 1e-4


def _is_total(term: Term) -> bool:
    """Whether a term takes steps so large that its ends are seldom met exactly."""
    name = term.feature.of[0]
    return any(word in name for word in ("bytes", "macs", "ops", "footprint", "elements"))


def plainest(inside: float, outside: float) -> float:
    """A number from `inside` towards `outside`, which is excluded: a round one, if any.

    A number is round if a step of its size hardly ever falls into such a gap by chance.
    """
    width = abs(inside - outside)
    for step in sorted(_STEPS, reverse=True):
        if step < ROUND * width:
            break
        ways = np.floor if outside < inside else np.ceil
        found = float(ways(inside / step) * step)
        if outside < found <= inside or inside <= found < outside:
            return found
    return inside


ROUND: Final = 32
"""Times the width of a gap that a round number's step is at least."""

_STEPS: Final = {2.0**n for n in range(-20, 61)} | {10.0**n for n in range(-6, 19)}


def close(evidence: Evidence, gap: Gap, others: Sequence[Placed]) -> bool:
    """Ask cases in a gap that meet all other conditions; whether there were any.

    Args:
        evidence: takes in what is asked.
        gap: an end.
        others: the other conditions.

    Raises:
        Exhausted: too many cases would be asked.
    """
    evidence.task.oracle.look(CLOSING)
    rows = _reaching(evidence, gap)
    if not len(rows):
        return False
    columns = Columns(evidence.task.space, rows)
    values = values_of(gap.term, columns)
    held = gap.holds(values) & all_hold(others, columns) & evidence.scope.admits(rows)
    fits = np.flatnonzero(held)
    order = fits[np.unique(values[fits], return_index=True)[1]]
    spread = np.linspace(0, len(order) - 1, evidence.task.effort.closing).astype(np.int64)
    if len(order):
        evidence.ask(rows[order[np.unique(spread)]])
    return len(order) > 0


def _reaching(evidence: Evidence, gap: Gap) -> Ints:
    """Canonical rows near the gap: each gene of some rows moved until it is met."""
    starts = _starts(evidence, gap)
    lanes = [
        (row, column, end)
        for row in starts
        for column in evidence.task.space.read_columns(row.tolist())
        for end in (
            evidence.task.space.genes[column].low,
            evidence.task.space.genes[column].high,
        )
    ]
    if not lanes:
        return starts[:0]
    chosen = evidence.task.rng.permutation(len(lanes))[:LANES]
    rows = np.array([lanes[index][0] for index in chosen])
    columns, ends = np.array([lanes[index][1:] for index in chosen]).T
    middle = (gap.inside + gap.outside) / 2
    targets = [gap.inside, middle]
    found = [_crossing(evidence, gap, target, rows, columns, ends) for target in targets]
    moved = np.concatenate(found)
    return evidence.task.space.canonical(np.asfortranarray(moved))


def _starts(evidence: Evidence, gap: Gap) -> Ints:
    table, failures = evidence.table, evidence.failures
    values = values_of(gap.term, Columns(evidence.task.space, table.rows[failures]))
    distance = np.abs(values - gap.inside)
    near = failures[np.argsort(distance, kind="stable")[:NEAR]]
    some = failures[evidence.task.rng.integers(0, len(failures), VARIED)]
    genes = evidence.task.space.genes
    lows, highs = np.array([(gene.low, gene.high) for gene in genes]).T
    rng = evidence.task.rng
    varied = table.rows[some]
    varied = np.where(rng.random(varied.shape) < 1 / 2, lows, varied)
    shifted = table.rows[near]
    shifts = rng.integers(-SHIFT, SHIFT, shifted.shape, endpoint=True)
    changed = (shifted > lows) & (rng.random(shifted.shape) < 1 / 4)
    shifted = np.clip(shifted + shifts * changed, lows, highs)
    rows = np.concatenate([table.rows[near], table.rows[some], varied, shifted])
    rows = evidence.task.space.canonical(np.asfortranarray(rows))
    return rows[evidence.scope.alike(rows) & evidence.scope.admits(rows)]


def _crossing(  # noqa: PLR0913 - lanes are arrays
    evidence: Evidence, gap: Gap, target: float, rows: Ints, columns: Ints, ends: Ints
) -> Ints:
    """The rows with their genes moved to either side of where the term meets a target."""
    each = np.arange(len(rows))
    values = rows[each, columns]
    here, there = (
        _inside(evidence, gap, target, rows, columns, at) for at in (values, ends)
    )
    lanes = np.flatnonzero(here != there)
    rows, columns = rows[lanes], columns[lanes]
    inner = np.where(here[lanes], values[lanes], ends[lanes])
    outer = np.where(here[lanes], ends[lanes], values[lanes])
    while len(lanes) and (np.abs(inner - outer) > 1).any():
        middle = (inner + outer) // 2
        held = _inside(evidence, gap, target, rows, columns, middle)
        inner, outer = np.where(held, middle, inner), np.where(held, outer, middle)
    return _around(evidence, rows, columns, (inner, outer))


def _inside(  # noqa: PLR0913 - lanes are arrays
    evidence: Evidence, gap: Gap, target: float, rows: Ints, columns: Ints, values: Ints
) -> Bools:
    moved = np.array(rows, order="F")
    moved[np.arange(len(rows)), columns] = values
    moved = evidence.task.space.canonical(moved)
    found = values_of(gap.term, Columns(evidence.task.space, moved))
    with np.errstate(invalid="ignore"):
        held: Bools = found >= target if gap.is_low else found <= target
    return held


def _around(
    evidence: Evidence, rows: Ints, columns: Ints, sides: tuple[Ints, Ints]
) -> Ints:
    """The rows with genes at some values around two neighbours, and in their period."""
    inner, outer = sides
    each = np.arange(len(rows))
    start = rows[each, columns]
    steps = np.array([evidence.periods.get(column, 1) for column in columns.tolist()])
    rest = (start - inner) % np.maximum(steps, 1)
    values = [inner, outer, 2 * inner - outer, 2 * outer - inner]
    values += [inner + rest, inner + rest - steps]
    genes = evidence.task.space.genes
    lows = np.array([genes[column].low for column in columns.tolist()], dtype=np.int64)
    highs = np.array([genes[column].high for column in columns.tolist()], dtype=np.int64)
    parts = []
    for value in values:
        moved = rows.copy()
        moved[each, columns] = np.clip(value, lows, highs)
        parts.append(moved)
    return np.concatenate(parts)
