"""The cheapest conjunction that all given failures meet and no passing case does.

Each term gives few candidates, the narrowest that all failures meet: from their least
value, up to their largest, and for a period the residues that they have. So what is
left is to choose which of them are needed: a set cover of the passing cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from joulecheck.campaign.regions.table import Placed, Table
from joulecheck.region import Atom, Interval, Kinds, Residues, Values
from joulecheck.workload.columns import Bools, Floats, Ints


@attrs.frozen(eq=False)
class Candidate:
    """An atom that all failures meet, and which passing cases it keeps out."""

    term: int
    """Of the table; that of a trait counts on from the last number."""
    cost: float
    excluded: Bools
    atom: Atom


def candidates(
    table: Table, failures: Ints, passes: Ints, periods: Sequence[tuple[int, int]]
) -> list[Candidate]:
    """The narrowest atoms of all terms that keep out some passing case.

    Args:
        table: the data.
        failures: indices of rows that fail.
        passes: indices of rows that do not.
        periods: (term, period) of the residues to try.
    """
    found = [*_intervals(table, failures, passes)]
    found += _sets(table, failures, passes)
    found += _traits(table, failures, passes)
    found += _residues(table, failures, passes, periods)
    return found


def _intervals(table: Table, failures: Ints, passes: Ints) -> Iterator[Candidate]:
    inside, outside = table.values[:, failures], table.values[:, passes]
    low, high = inside.min(axis=1), inside.max(axis=1)
    with np.errstate(invalid="ignore"):
        below, above = outside < low[:, None], outside > high[:, None]
    for index in np.flatnonzero(below.any(axis=1)):
        atom = Interval(table.terms[index].feature, low=float(low[index]))
        yield Candidate(int(index), table.costs[index], below[index], atom)
    for index in np.flatnonzero(above.any(axis=1)):
        atom = Interval(table.terms[index].feature, high=float(high[index]))
        yield Candidate(int(index), table.costs[index], above[index], atom)


def _sets(table: Table, failures: Ints, passes: Ints) -> Iterator[Candidate]:
    for index in table.few:
        values = np.unique(table.values[index, failures])
        if np.isnan(values).any():
            continue
        outside = table.values[index, passes]
        excluded = ~np.isin(outside, values) & ~np.isnan(outside)
        if excluded.any():
            atom = Values(table.terms[index].feature, values.tolist())
            yield Candidate(index, table.costs[index] + 0.5, excluded, atom)


def _traits(table: Table, failures: Ints, passes: Ints) -> Iterator[Candidate]:
    for index, sort in enumerate(table.sorts):
        kinds = np.unique(table.codes[index, failures])
        excluded = ~np.isin(table.codes[index, passes], kinds)
        if kinds[0] >= 0 and excluded.any():
            names = table.names[index]
            atom = Kinds(sort.name, [names[code] for code in kinds])
            place = len(table.terms) + index
            yield Candidate(place, sort.cost, excluded, atom)


def _residues(
    table: Table, failures: Ints, passes: Ints, periods: Sequence[tuple[int, int]]
) -> Iterator[Candidate]:
    for term, period in periods:
        seen = np.zeros(period + 1, dtype=bool)
        rests = table.rests(term, period)
        seen[rests[failures]] = True
        count = int(seen.sum())
        if seen[period] or count == period:
            continue
        seen[period] = True  # where there is no number, the kind is what tells
        excluded = ~seen[rests[passes]]
        if excluded.any():
            met = np.flatnonzero(seen[:period]).tolist()
            atom = Residues(table.terms[term].feature, period, met)
            cost = table.costs[term] + 0.15
            yield Candidate(term, cost, excluded, atom)


def cover(pool: Sequence[Candidate], count: int) -> list[Candidate] | None:
    """Few cheap candidates that together keep out all passing cases.

    Args:
        pool: candidates.
        count: how many passing cases there are.

    Returns:
        None if all candidates together do not.
    """
    if not count:
        return []
    if not pool:
        return None
    matrix = np.array([candidate.excluded for candidate in pool])
    if not matrix.any(axis=0).all():
        return None
    costs = np.array([candidate.cost for candidate in pool])
    chosen = _pruned(matrix, costs, _greedy(matrix, costs))
    return [pool[index] for index in chosen]


def _greedy(matrix: Bools, costs: Floats) -> list[int]:
    left, chosen = np.ones(matrix.shape[1], dtype=bool), []
    while left.any():
        gains = matrix[:, left].sum(axis=1) / costs
        best = int(gains.argmax())
        chosen.append(best)
        left &= ~matrix[best]
    return chosen


def _pruned(matrix: Bools, costs: Floats, chosen: list[int]) -> list[int]:
    """Without what the others keep out as well, the dearest first."""
    for index in sorted(chosen, key=lambda i: -costs[i]):
        others = [i for i in chosen if i != index]
        if others and matrix[others].any(axis=0).all():
            chosen = others
    return chosen


def placed(table: Table, candidate: Candidate) -> Placed:
    """The atom of a candidate at its place."""
    numbers = len(table.terms)
    if candidate.term < numbers:
        return Placed(table.terms[candidate.term].position, candidate.atom)
    return Placed(table.sorts[candidate.term - numbers].position, candidate.atom)
