"""Which failures belong together: those that one conjunction around the seed can have.

Where failures have several causes, no conjunction describes them all. Then conditions
that the seed meets are added one by one, each time that which parts failures from
passing cases best, until no passing case is left; the failures that are left with the
seed belong together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from joulecheck.campaign.regions.table import Rests, Table
from joulecheck.workload.columns import Bools, Floats, Ints

LOOKED_AT: Final = 600
"""Failures, and passing cases, from which a condition is chosen."""

CONDITIONS: Final = 10

CHEAP: Final = 1.5
"""Cost up to which terms are preferred."""

GOOD: Final = 0.2
"""Bits that a condition of cheap terms must give for each failure that it keeps."""


class _Best(NamedTuple):
    gain: float
    kept: Bools
    """Of all rows of the table."""


def component(
    table: Table,
    rng: np.random.Generator,
    failures: Ints,
    passes: Ints,
    periods: Sequence[tuple[int, int]],
) -> Ints:
    """The failures that can be described together with the first of them.

    Args:
        table: the data.
        rng: chooses among the rows, if they are many.
        failures: indices of rows that fail, the seed first.
        passes: indices of rows that do not.
        periods: (term, period) of the residues to try.
    """
    seed = int(failures[0])
    for _ in range(CONDITIONS):
        if not len(passes):
            break
        some = np.concatenate([[seed], *(_some(rng, of) for of in (failures, passes))])
        best = _best(table, seed, some, periods)
        if best is None:
            break
        failures, passes = failures[best.kept[failures]], passes[best.kept[passes]]
    return failures


def _some(rng: np.random.Generator, rows: Ints) -> Ints:
    if len(rows) <= LOOKED_AT:
        return rows
    return rng.choice(rows, LOOKED_AT, replace=False)


def _best(
    table: Table, seed: int, some: Ints, periods: Sequence[tuple[int, int]]
) -> _Best | None:
    """The condition on some rows that parts failures from passing cases best."""
    cheap = np.flatnonzero(table.costs <= CHEAP)
    few = [*_of_kinds(table, seed, some), *_of_rests(table, seed, some, periods)]
    few += _of_values(table, seed, some, cheap)
    best = max(few, key=lambda found: found.gain, default=None)
    if best is None or best.gain < GOOD * table.failing[some].sum():
        dear = np.flatnonzero(table.costs > CHEAP)
        more = [*few, *_of_values(table, seed, some, dear)]
        best = max(more, key=lambda found: found.gain, default=None)
    return best if best is not None and best.gain > 0 else None


def _gain(failing: Floats, passing: Floats, at_first: tuple[int, int]) -> Floats:
    """Bits by which a condition raises the share of failures, times those it keeps."""
    before = np.log2((at_first[0] + 1) / (sum(at_first) + 2))
    gain: Floats = failing * (np.log2((failing + 1) / (failing + passing + 2)) - before)
    return np.where(passing < at_first[1], gain, 0.0)


def _of_values(table: Table, seed: int, some: Ints, terms: Ints) -> Iterator[_Best]:
    """For either side the best end of an interval of some term."""
    if not len(terms):
        return
    labels = table.failing[some]
    counts = int(labels.sum()), int((~labels).sum())
    for sign in (1.0, -1.0):
        values = sign * table.values[np.ix_(terms, some)]
        values[np.isnan(values)] = -np.inf
        order = np.argsort(-values, axis=1, kind="stable")
        ordered = np.take_along_axis(values, order, axis=1)
        failing = np.cumsum(labels[order], axis=1)
        passing = np.cumsum(~labels[order], axis=1)
        gains = _gain(failing.astype(float), passing.astype(float), counts)
        at_seed = sign * table.values[terms, seed]
        ends = np.ones(ordered.shape, dtype=bool)  # the last of equal values
        ends[:, :-1] = ordered[:, :-1] > ordered[:, 1:]
        with np.errstate(invalid="ignore"):
            ends &= (ordered <= at_seed[:, None]) & (ordered > -np.inf)
        gains[~ends] = -1.0
        gains /= table.costs[terms][:, None]
        term, place = np.unravel_index(gains.argmax(), gains.shape)
        with np.errstate(invalid="ignore"):
            kept = sign * table.values[terms[term]] >= ordered[term, place]
        yield _Best(float(gains[term, place]), kept)


def _of_rests(
    table: Table, seed: int, some: Ints, periods: Sequence[tuple[int, int]]
) -> Iterator[_Best]:
    for term, period in periods:
        rests = table.rests(term, period)
        if rests[seed] < period:
            best = _of_codes(table, rests, seed, some, period)
            yield _Best(best.gain / (table.costs[term] + 0.15), best.kept)


def _of_kinds(table: Table, seed: int, some: Ints) -> Iterator[_Best]:
    for index, sort in enumerate(table.sorts):
        codes = table.codes[index]
        if codes[seed] >= 0:
            count = len(table.names[index])
            numbered = np.where(codes < 0, count, codes)
            best = _of_codes(table, numbered, seed, some, count)
            yield _Best(best.gain / sort.cost, best.kept)


def _of_codes(
    table: Table, codes: Ints | Rests, seed: int, some: Ints, count: int
) -> _Best:
    """The best set of codes that has the seed's; `count` stands for none."""
    labels = table.failing[some]
    failing = np.bincount(codes[some][labels], minlength=count + 1)[:count].astype(float)
    passing = np.bincount(codes[some][~labels], minlength=count + 1)[:count].astype(float)
    purity = (failing + 0.5) / (failing + passing + 1)
    purity[codes[seed]] = np.inf
    order = np.argsort(-purity, kind="stable")
    at_first = int(labels.sum()), int((~labels).sum())
    gains = _gain(np.cumsum(failing[order]), np.cumsum(passing[order]), at_first)
    best = int(gains.argmax())
    among = np.zeros(count + 1, dtype=bool)
    among[order[: best + 1]] = True
    return _Best(float(gains[best]), among[codes])
