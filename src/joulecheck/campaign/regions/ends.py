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

ASKED: Final = 128
"""Cases in a gap that are asked at a time."""


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
    """The roundest number from `inside` towards `outside`, which is excluded."""
    if inside.is_integer() and outside.is_integer():
        steps = {2.0**power for power in range(60)} | {10.0**power for power in range(18)}
        for step in sorted(steps, reverse=True):
            low = np.floor(inside / step) * step
            high = np.ceil(inside / step) * step
            found = low if outside < inside else high
            if outside < found <= inside or inside <= found < outside:
                return float(found)
        return inside
    for digits in range(1, 17):
        for found in (float(f"{inside:.{digits}g}"), float(f"{(inside + outside) / 2:.{digits}g}")):
            if outside < found <= inside or inside <= found < outside:
                return found
    return inside


def close(evidence: Evidence, gap: Gap, others: Sequence[Placed]) -> bool:
    """Ask cases in a gap that meet all other conditions; whether there were any.

    Args:
        evidence: takes in what is asked.
        gap: an end.
        others: the other conditions.

    Raises:
        Exhausted: too many cases would be asked.
    """
    rows = _reaching(evidence, gap)
    if not len(rows):
        return False
    columns = Columns(evidence.space, rows)
    values = values_of(gap.term, columns)
    fits = np.flatnonzero(gap.holds(values) & all_hold(others, columns))
    order = fits[np.unique(values[fits], return_index=True)[1]]
    some = order[np.unique(np.linspace(0, len(order) - 1, ASKED).astype(np.int64))] if len(order) else order
    if not len(some):
        return False
    evidence.ask(rows[some])
    return True


def _reaching(evidence: Evidence, gap: Gap) -> Ints:
    """Canonical rows near the gap: each gene of some rows moved until it is met."""
    starts = _starts(evidence, gap)
    lanes = [
        (row, column, end)
        for row in starts
        for column in evidence.space.read_columns(row.tolist())
        for end in (evidence.space.genes[column].low, evidence.space.genes[column].high)
    ]
    rows = np.array([lane[0] for lane in lanes])
    columns, ends = np.array([lane[1:] for lane in lanes]).T
    middle = (gap.inside + gap.outside) / 2
    targets = [gap.inside, middle]
    found = [_crossing(evidence, gap, target, rows, columns, ends) for target in targets]
    moved = np.concatenate(found)
    return evidence.space.canonical(np.asfortranarray(moved))


def _starts(evidence: Evidence, gap: Gap) -> Ints:
    table, failures = evidence.table, evidence.failures
    values = values_of(gap.term, Columns(evidence.space, table.rows[failures]))
    distance = np.abs(values - gap.inside)
    near = failures[np.argsort(distance, kind="stable")[:NEAR]]
    some = failures[evidence.rng.integers(0, len(failures), VARIED)]
    varied = table.rows[some]
    lows = np.array([gene.low for gene in evidence.space.genes])
    lowered = evidence.rng.random(varied.shape) < 1 / 2
    varied = np.where(lowered, lows, varied)
    rows = np.concatenate([table.rows[near], table.rows[some], varied])
    rows = evidence.space.canonical(np.asfortranarray(rows))
    return rows[evidence.space.nodes(rows) == evidence.nodes]


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
    moved = evidence.space.canonical(moved)
    found = values_of(gap.term, Columns(evidence.space, moved))
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
    genes = evidence.space.genes
    lows = np.array([genes[column].low for column in columns.tolist()], dtype=np.int64)
    highs = np.array([genes[column].high for column in columns.tolist()], dtype=np.int64)
    parts = []
    for value in values:
        moved = rows.copy()
        moved[each, columns] = np.clip(value, lows, highs)
        parts.append(moved)
    return np.concatenate(parts)
