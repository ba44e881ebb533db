"""How a bounded integer is drawn in bulk: log-uniform, with weight on the corners."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

import attrs
import numpy as np

from joulecheck.space import Gene
from joulecheck.workload.columns import Ints

TABLE_SIZE: Final = 4096
UNIFORM_SHARE: Final = TABLE_SIZE / (1 << 16)
"""Share drawn uniformly, so that every value of a gene has positive probability."""

SMALL_RANGE: Final = 32
"""Up to this many values a table is flat, with half its weight on the plainest."""

_SHARES: Final = {"plainest": 0.16, "powers": 0.16, "primes": 0.08, "quanta": 0.14}
_CONSTANT_SHARE: Final = 0.12


@lru_cache(maxsize=1024)
def value_table(gene: Gene, constants: tuple[int, ...], quanta: tuple[int, ...]) -> Ints:
    """Equally likely values of `gene`: a discretised mixture, sorted by kind.

    The mixture is log-uniform, with weight on the minimum, powers of two and their
    neighbours, primes, multiples of `quanta` +/- 1 and `constants` +/- 1.

    Args:
        gene: the bounds.
        constants: capacities and unit counts of the machine.
        quanta: its tile sizes, lanes and array sides.
    """
    if gene.high - gene.low < SMALL_RANGE:
        return _small_table(gene)
    parts = [
        _repeated([gene.low], _SHARES["plainest"]),
        _repeated(_around(_powers(gene.high)), _SHARES["powers"]),
        _repeated(_primes(), _SHARES["primes"]),
        _repeated(_around(_multiples(quanta, gene.high)), _SHARES["quanta"]),
        _repeated(_around(constants), _CONSTANT_SHARE),
    ]
    corners = np.concatenate([_within(gene, part) for part in parts])
    smooth = np.geomspace(1, gene.high - gene.low + 1, TABLE_SIZE - len(corners))
    return np.concatenate([corners, np.rint(smooth).astype(np.int64) + gene.low - 1])


@attrs.frozen(eq=False)
class Tables:
    """Several genes and their tables, to draw a block of values in few calls."""

    low: Ints
    high: Ints
    values: Ints
    """(genes, TABLE_SIZE)"""

    @classmethod
    def of(cls, genes: Sequence[Gene], tables: Sequence[Ints]) -> Tables:
        """The genes and their tables; one of another size is stretched."""
        ends = np.array([(gene.low, gene.high) for gene in genes], dtype=np.int64)
        ends = ends.reshape(len(genes), 2)
        values = np.empty((len(tables), TABLE_SIZE), dtype=np.int64)
        for index, table in enumerate(tables):
            values[index] = np.resize(table, TABLE_SIZE)
        return cls(ends[:, 0], ends[:, 1], values)


def draw(rng: np.random.Generator, gene: Gene, table: Ints, size: int) -> Ints:
    """`size` values of `gene`, from its table or, for a small share, uniformly."""
    values: Ints = draw_all(rng, Tables.of([gene], [table]), size)[0]
    return values


def draw_all(rng: np.random.Generator, tables: Tables, size: int) -> Ints:
    """(genes, size) values of several genes, as `draw` gives them for one.

    Each value takes 16 random bits: 12 choose from its table, and where the other 4
    are all 0 it is drawn uniformly instead.
    """
    count = len(tables.values)
    bits = rng.integers(0, 1 << 16, (count, size), dtype=np.uint16)
    first = np.arange(0, count * TABLE_SIZE, TABLE_SIZE)[:, None]
    values: Ints = tables.values.ravel().take((bits & (TABLE_SIZE - 1)) + first)
    uniform = np.flatnonzero(bits < TABLE_SIZE)
    low, high = (ends[uniform // max(size, 1)] for ends in (tables.low, tables.high))
    values.reshape(-1)[uniform] = rng.integers(low, high, endpoint=True)
    return values


def _small_table(gene: Gene) -> Ints:
    values = np.arange(gene.low, gene.high + 1, dtype=np.int64)
    plainest = np.full(len(values), gene.low)
    return np.resize(np.concatenate([values, plainest]), TABLE_SIZE)


def _repeated(values: Sequence[int], share: float) -> Ints:
    """`values` stretched to `share` of a table, each about equally often."""
    if not len(values):
        return np.empty(0, dtype=np.int64)
    return np.resize(np.array(values, dtype=np.int64), int(TABLE_SIZE * share))


def _within(gene: Gene, values: Ints) -> Ints:
    return values[(values >= gene.low) & (values <= gene.high)]


def _around(values: Iterable[int]) -> list[int]:
    return [value + step for value in values for step in (0, -1, 1)]


def _powers(high: int) -> list[int]:
    return [1 << power for power in range(1, high.bit_length() + 1)]


def _multiples(quanta: Iterable[int], high: int) -> list[int]:
    return [q * times for q in quanta for times in (1, 2, 3, 5) if q * times <= high]


def _primes() -> list[int]:
    return [2, 3, 5, 7, 11, 13, 17, 31, 61, 127, 251, 509, 1021, 2039, 4093, 8191, 65521]
