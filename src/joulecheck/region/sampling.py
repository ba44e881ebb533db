"""Cases inside a region: draws of the space's sampler that lie inside, and crossings.

Where the sampler seldom hits a region, members are crossed with fresh draws, gene by
gene or, for graphs, by putting a member into a larger graph; genes with conditions of
their own are moved to where these hold. What is inside joins the members. The cases so
found lean towards those that they started from, but reach all parts of a region that
are connected by such moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor
from typing import Final

import attrs
import numpy as np

from joulecheck.region.atoms import Atom, Interval, Residues
from joulecheck.region.columns import GENE
from joulecheck.region.features import How
from joulecheck.space import CaseSpace, Gene
from joulecheck.workload.columns import Bools, Floats, Ints

Inside = Callable[[Ints], Bools]
"""(n, width) canonical rows -> (n,) which are inside."""

Score = Callable[[Ints], Floats]
"""(n, width) canonical rows -> (n,) how much of the conditions holds, 1 inside."""

DRAWS: Final = 2048
"""Rows that are drawn, or crossed, at a time."""

ROUNDS: Final = 24
"""Crossings after which a sample stays smaller than asked for."""

RATES: Final = (13, 26, 64, 128, 192, 230)
"""Of 256: how much of a fresh draw a crossing takes; each row has its own."""

STEPPED: Final = 4
"""Of the rows that are crossed, one in so many only takes a step."""

MINIMAL: Final = 0.25
"""How much less a gene at its minimum is likely to be stepped."""

CLIMBS: Final = 60
"""Generations after which no case is found inside."""


@attrs.frozen
class Move:
    """A gene with a condition of its own, and the values at which that holds."""

    column: int
    low: int
    high: int
    period: int
    residues: tuple[int, ...]

    def moved(self, rng: np.random.Generator, values: Ints) -> Ints:
        """The values, or others of the same size where they are outside."""
        span = np.log(self.high - self.low + 1.0)
        drawn = self.low - 1 + np.exp(rng.uniform(0, span, len(values))).astype(np.int64)
        inside = (values >= self.low) & (values <= self.high)
        values = np.where(inside, values, np.minimum(drawn, self.high))
        rests = np.array(self.residues, dtype=np.int64)
        rest = rests[rng.integers(0, len(rests), len(values))]
        kept = np.isin(values % self.period, rests)
        values = np.where(kept, values, values + (rest - values) % self.period)
        over = (values > self.high) & (values - self.period >= self.low)
        return np.where(over, values - self.period, values)


def moves_of(genes: Sequence[Gene], atoms: Iterable[Atom]) -> list[Move]:
    """How genes can be moved to where the atoms that speak of one of them hold."""
    found = []
    by_name: dict[str, list[Interval | Residues]] = {}
    for atom in atoms:
        if isinstance(atom, Interval | Residues) and atom.feature.how is How.VALUE:
            name = atom.feature.of[0].removeprefix("loop ")
            by_name.setdefault(name, []).append(atom)
    for column, gene in enumerate(genes):
        node = gene.name.partition(".")
        name = node[2] if node[0].isdigit() else GENE + gene.name
        if name in by_name and gene.low < gene.high:
            found.append(_move(column, gene, by_name[name]))
    return found


def _move(column: int, gene: Gene, atoms: Sequence[Interval | Residues]) -> Move:
    low, high, period = gene.low, gene.high, 1
    residues: tuple[int, ...] = (0,)
    for atom in atoms:
        if isinstance(atom, Interval):
            low = low if atom.low is None else max(low, ceil(atom.low))
            high = high if atom.high is None else min(high, floor(atom.high))
        elif atom.residues:
            period, residues = atom.period, atom.residues
    if low > high:
        low, high = gene.low, gene.high
    return Move(column, low, high, period, residues)


@attrs.frozen(eq=False)
class Sampler:
    """Draws rows of a space that are inside of something."""

    space: CaseSpace
    inside: Inside
    moves: Sequence[Move] = ()
    score: Score | None = None
    """To find a first member where neither the sampler nor a start gives one."""

    def draw(
        self,
        rng: np.random.Generator,
        size: int,
        starts: Ints,
        *,
        at_a_time: int = DRAWS,
        rounds: int = ROUNDS,
    ) -> Ints:
        """Up to `size` different rows inside; fewer if no more are found.

        Args:
            rng: the random numbers.
            size: how many rows.
            starts: (any, width) rows inside from which to cross.
            at_a_time: rows that are drawn first, and then crossed at a time.
            rounds: crossings after which no more are looked for.
        """
        fresh = self.space.sample(rng, at_a_time)
        found = DistinctRows(fresh[self.inside(fresh)])
        members = np.concatenate([starts, found.rows])
        if not len(members) and self.score is not None:
            members = self._climbed(rng, fresh, self.score)
            found.add(members)
        for _ in range(rounds):
            if len(found) >= size or not len(members):
                break
            new = self._children(rng, members, fresh)
            new = new[self.inside(new)]
            found.add(new)
            members = np.concatenate([members, new])[-4 * DRAWS :]
        return found.rows[:size]

    def _children(self, rng: np.random.Generator, members: Ints, fresh: Ints) -> Ints:
        size = len(fresh)
        parents = members[rng.integers(0, len(members), size)]
        around = self.space.embedded(rng, parents[: size // 3])
        left = parents[len(around) :]
        few = len(left) // STEPPED
        stepped = self._stepped(rng, left[:few])
        return np.concatenate([around, stepped, self.crossed(rng, left[few:], fresh)])

    def _stepped(self, rng: np.random.Generator, rows: Ints) -> Ints:
        """The rows with one gene, if it can be one above its minimum, a step away.

        What a region wrongly holds often lies just outside of where cases fail.
        """
        lows, highs = np.array([(gene.low, gene.high) for gene in self.space.genes]).T
        chances = rng.random(rows.shape, dtype=np.float32)
        chances[rows == lows] *= MINIMAL
        each, column = np.arange(len(rows)), chances.argmax(axis=1)
        values = rows[each, column] + rng.choice((-1, 1), len(rows))
        moved = np.array(rows, order="F")
        moved[each, column] = np.clip(values, lows[column], highs[column])
        return self.space.canonical(moved)

    def crossed(self, rng: np.random.Generator, parents: Ints, fresh: Ints) -> Ints:
        """The rows with some of their genes from others, that were drawn, or moved."""
        size, width = parents.shape
        others = np.take(fresh.T, rng.integers(0, len(fresh), size), axis=1).T
        rates = np.array(RATES, dtype=np.uint8)[rng.integers(0, len(RATES), size)]
        taken = rng.integers(0, 256, (width, size), dtype=np.uint8) < rates
        rows = np.asfortranarray(parents)
        rows = rows + taken.T * (others - rows)
        self._move(rng, rows)
        return self.space.canonical(rows)

    def _climbed(self, rng: np.random.Generator, rows: Ints, score: Score) -> Ints:
        """Rows inside, by crossing those that meet most of the conditions."""
        for _ in range(CLIMBS):
            scores = score(rows)
            if scores.max() == 1:
                best: Ints = rows[scores == 1]
                return best
            top = rows[np.argsort(-scores, kind="stable")[: DRAWS // 8]]
            parents = top[rng.integers(0, len(top), DRAWS)]
            fresh = self.space.sample(rng, DRAWS)
            rows = np.concatenate([top, self.crossed(rng, parents, fresh)])
        return rows[:0]

    def _move(self, rng: np.random.Generator, rows: Ints) -> None:
        for move in self.moves:
            chosen = np.flatnonzero(rng.random(len(rows)) < _MOVED)
            rows[chosen, move.column] = move.moved(rng, rows[chosen, move.column])


_MOVED: Final = 0.8
"""Of the rows, those of which a gene is moved to where its condition holds."""


class DistinctRows:
    """Different rows, in the order in which they came."""

    def __init__(self, rows: Ints) -> None:
        self.rows = rows[:0]
        self._keys: set[int] = set()
        self.add(rows)

    def __len__(self) -> int:
        """How many."""
        return len(self.rows)

    def add(self, rows: Ints) -> None:
        """Append those that are new."""
        keys = keys_of(rows).tolist()
        new = []
        for index, key in enumerate(keys):
            if key not in self._keys:
                self._keys.add(key)
                new.append(index)
        self.rows = np.concatenate([self.rows, rows[new]])


def keys_of(rows: Ints) -> Ints:
    """(n,) a number for each row; different rows almost never share one."""
    weights = np.random.default_rng(len(rows.T)).integers(1, 1 << 62, rows.shape[1])
    keys: Ints = (rows * (2 * weights + 1)).sum(axis=1)
    return keys
