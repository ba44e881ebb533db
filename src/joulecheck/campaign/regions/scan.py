"""Asking along the axes of failing cases: windows, ladders, exact ends and periods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.regions.oracle import Oracle
from joulecheck.space import CaseSpace
from joulecheck.workload.columns import Bools, Ints

LONGEST: Final = 128
"""Period that is looked for, beside those that the machine suggests."""

KEPT: Final = 6
"""Changes along an axis of which both sides are kept."""


@attrs.frozen
class Axis:
    """A failing row and a gene of it to change."""

    row: Ints
    column: int

    @property
    def value(self) -> int:
        """Of the gene in the row."""
        return int(self.row[self.column])


@attrs.frozen(eq=False)
class Scan:
    """What was asked along an axis: values in ascending order."""

    axis: Axis
    values: Ints
    failing: Bools

    def rows(self, which: Ints) -> Ints:
        """The rows at these values, not yet canonical."""
        rows = np.repeat(self.axis.row[None, :], len(which), axis=0)
        rows[:, self.axis.column] = self.values[which]
        return rows

    @property
    def changes(self) -> Ints:
        """Indices before each change between failing and passing."""
        return np.flatnonzero(self.failing[1:] != self.failing[:-1])


class Scanner:
    """Scans axes, all of them in one call."""

    def __init__(self, space: CaseSpace, oracle: Oracle, quanta: Sequence[int]) -> None:
        """Scan rows of a space."""
        self.space = space
        self.oracle = oracle
        self.quanta = sorted({q for q in quanta if q > 1})

    def axes(self, rows: Ints) -> list[Axis]:
        """The genes that each row's case reads."""
        return [
            Axis(row, column)
            for row in rows
            for column in self.space.read_columns(row.tolist())
        ]

    def scan(self, axes: Sequence[Axis], values: Sequence[Ints]) -> list[Scan]:
        """Ask each axis at its values."""
        if not axes:
            return []
        sizes = [len(each) for each in values]
        rows = np.repeat(np.array([axis.row for axis in axes]), sizes, axis=0)
        columns = np.repeat([axis.column for axis in axes], sizes)
        rows[np.arange(len(rows)), columns] = np.concatenate(values)
        failing = self.oracle.ask(self.space.canonical(np.asfortranarray(rows)))
        parts = np.split(failing, np.cumsum(sizes)[:-1])
        return [
            Scan(axis, each, part)
            for axis, each, part in zip(axes, values, parts, strict=True)
        ]

    def window(self, axis: Axis, reach: int) -> Ints:
        """All values near that of the row."""
        gene = self.space.genes[axis.column]
        low, high = max(gene.low, axis.value - reach), min(gene.high, axis.value + reach)
        return np.arange(low, high + 1)

    def ladder(self, axis: Axis, period: int, between: int) -> Ints:
        """Values over the whole range, in steps of a period from that of the row.

        Args:
            axis: the row and the gene.
            period: with which failing and passing values alternate.
            between: values between two powers of two; 0 also leaves out those that are
                a power of two, or some quanta, away from that of the row.
        """
        gene = self.space.genes[axis.column]
        rungs = {0, *(1 << shift for shift in range(gene.high.bit_length() + 1))}
        if between > 1:
            rungs |= {rung + rung * i // between for i in range(between) for rung in rungs}
        found = {v - (v - axis.value) % period for v in (*rungs, gene.high)}
        if between:
            steps = {sign * -(-rung // period) for rung in rungs for sign in (1, -1)}
            found |= {axis.value + period * step for step in steps}
            if period == 1:
                found |= {axis.value + s * q for q in self.quanta for s in (-2, -1, 1, 2)}
        return np.array(sorted(v for v in found if gene.low <= v <= gene.high))

    def ends(self, scans: Sequence[Scan], periods: Mapping[int, int]) -> list[Scan]:
        """Bisect the changes of each scan until both sides are a period apart."""
        axes, sides = [], []
        for scan in scans:
            for index in scan.changes[:KEPT]:
                axes.append(scan.axis)
                pair = scan.values[index : index + 2]
                sides.append(pair if scan.failing[index] else pair[::-1])
        if not axes:
            return []
        steps = np.array([periods.get(axis.column, 1) for axis in axes])
        fails, holds = np.array(sides).T
        while True:
            between = (holds - fails) // steps
            apart = np.flatnonzero(np.abs(between) > 1)
            if not len(apart):
                break
            half = np.trunc(between[apart] / 2).astype(np.int64)
            middle = fails[apart] + half * steps[apart]
            asked = self.scan([axes[i] for i in apart], list(middle[:, None]))
            failing = np.array([scan.failing[0] for scan in asked])
            fails[apart[failing]] = middle[failing]
            holds[apart[~failing]] = middle[~failing]
        return [
            Scan(
                axis,
                np.sort([one, other]),
                np.array([True, False])[:: 1 if one < other else -1],
            )
            for axis, one, other in zip(axes, fails, holds, strict=True)
        ]


def periods_of(scan: Scan, quanta: Sequence[int]) -> tuple[int, ...]:
    """The smallest period with which failing and passing values alternate, or two.

    A period is seen at least twice, or once if it is one of `quanta`. Empty if the
    values do not alternate: all of those between the first and the last failing value
    fail, or no two periods explain which do.
    """
    failing = np.flatnonzero(scan.failing)
    if not len(failing):
        return ()
    values = scan.values[failing[0] : failing[-1] + 1]
    labels = scan.failing[failing[0] : failing[-1] + 1]
    if labels.all():
        return ()
    span = int(values[-1] - values[0])
    small = range(2, min(LONGEST, span // 2) + 1)
    periods = sorted({*small, *(q for q in quanta if 1 < q <= span)})
    if not periods:
        return ()
    excluded = np.array([_excluded(values, labels, period) for period in periods])
    alone = np.flatnonzero(excluded.all(axis=1))
    if len(alone):
        return (periods[alone[0]],)
    if labels.sum() < MANY:
        return ()
    return _pair(np.array(periods), excluded)


MANY: Final = 24
"""Failing values from which two periods on one axis are told apart from chance."""


def _excluded(values: Ints, labels: Bools, period: int) -> Bools:
    """Which passing values have a residue that no failing one has."""
    rests = values % period
    seen = np.zeros(period, dtype=bool)
    seen[rests[labels]] = True
    return ~seen[rests[~labels]]


def _pair(periods: Ints, excluded: Bools) -> tuple[int, ...]:
    """The two periods of the smallest sum that together exclude all passing values."""
    best: tuple[int, ...] = ()
    least = np.inf
    for one in range(len(periods)):
        left = ~excluded[one]
        able = np.flatnonzero(excluded[:, left].all(axis=1))
        if len(able) and periods[one] + periods[able[0]] < least:
            best = int(periods[able[0]]), int(periods[one])
            least = sum(best)
    return best
