"""Sequences of questions: what a model is asked one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from joulecheck.case import Case, CaseSequence, Singles
from joulecheck.space import Gene
from joulecheck.workload.columns import Ints
from joulecheck_strategies.reading import ReadSpace, Take

MORE_CASES: Final = 0.5
"""Probability that a sampled sequence goes on after its shortest length."""

RELATED: Final = 0.6
"""Share of later questions that differ from the first in one gene alone, or in none:
a memory that mistakes one question for another is asked both."""

SAME_WORKLOAD: Final = 0.5
"""Share of those that differ in the precision, if at all."""


@attrs.frozen(slots=False)
class SequenceSpace(ReadSpace[CaseSequence]):
    """From `shortest` to `longest` cases of one space, in the order of their asking."""

    cases: ReadSpace[Case]
    shortest: int = 1
    longest: int = 3

    @cached_property
    def genes(self) -> tuple[Gene, ...]:
        """For each place whether there is one, and the genes of its case."""
        return tuple(
            gene
            for place in range(self.longest)
            for gene in (
                Gene(f"{place}:more", int(place < self.shortest), 1),
                *(Gene(f"{place}:{g.name}", g.low, g.high) for g in self.cases.genes),
            )
        )

    def read(self, take: Take) -> CaseSequence:
        """Read cases while there are more."""
        found: list[Case] = []
        for place in range(self.longest):
            if not take(f"{place}:more"):
                break
            found.append(self.cases.read(_at(place, take)))
        return CaseSequence(found)

    def encode(self, case: CaseSequence) -> dict[str, int]:
        """The genes of each case."""
        return {
            f"{place}:{name}": value
            for place, one in enumerate(case.cases)
            for name, value in {**self.cases.encode(one), "more": 1}.items()
        }

    @property
    def _width(self) -> int:
        return 1 + len(self.cases.genes)

    def _parts(self, rows: Ints) -> Iterator[tuple[Ints, Ints]]:
        """For each place, (n,) whether there is a case, and the genes of it."""
        for place in range(self.longest):
            start = place * self._width
            yield rows[:, start], rows[:, start + 1 : start + self._width]

    def canonical(self, rows: Ints) -> Ints:
        """Each case in canonical form, and nothing after the last."""
        found = self.empty(len(rows))
        alive = np.ones(len(rows), dtype=bool)
        parts = zip(self._parts(rows), self._parts(found), strict=True)
        for (more, genes), (its_more, its_genes) in parts:
            alive &= more == 1
            its_more[alive] = 1
            its_genes[alive] = self.cases.canonical(np.asfortranarray(genes[alive]))
        return found

    def batch(self, rows: Ints) -> Singles[CaseSequence]:
        """The sequences, each built when it is asked for."""
        return Singles(len(rows), lambda index: self.build(rows[index].tolist()))

    def nodes(self, rows: Ints) -> Ints:
        """Those of all cases."""
        each = [
            np.where(more == 1, self.cases.nodes(np.asfortranarray(genes)), 0)
            for more, genes in self._parts(rows)
        ]
        found: Ints = np.add.reduce(each)
        return found

    def smaller_graphs(self, row: Sequence[int]) -> Ints:
        """The sequences that lack one case, or some operators of one."""
        parts = [
            tuple(genes[0].tolist())
            for more, genes in self._parts(np.array([row]))
            if more[0] == 1
        ]
        found = [[*parts[:place], *parts[place + 1 :]] for place in range(len(parts))]
        for place, part in enumerate(parts):
            found += [
                [*parts[:place], tuple(smaller), *parts[place + 1 :]]
                for smaller in self.cases.smaller_graphs(part).tolist()
            ]
        long_enough = [parts for parts in found if len(parts) >= self.shortest]
        rows = self.empty(len(long_enough))
        for index, parts in enumerate(long_enough):
            genes = [gene for part in parts for gene in (1, *part)]
            rows[index, : len(genes)] = genes
        return rows

    def sample(self, rng: np.random.Generator, size: int) -> Ints:
        """Cases each on its own, or like the first but for one gene."""
        rows = self.empty(size)
        first = self.cases.sample(rng, size)
        for place, (more, genes) in enumerate(self._parts(rows)):
            more[:] = (place < self.shortest) | (rng.random(size) < MORE_CASES)
            genes[:] = first
            if place:
                fresh = self.cases.sample(rng, size)
                _relate(rng, first, fresh)
                genes[:] = fresh
        return self.canonical(rows)


def _relate(rng: np.random.Generator, first: Ints, fresh: Ints) -> None:
    """Make some of the fresh cases like the first but for one gene, in place."""
    width = first.shape[1]
    related = np.flatnonzero(rng.random(len(fresh)) < RELATED)
    chosen = rng.integers(0, width, len(related))
    chosen[rng.random(len(related)) < SAME_WORKLOAD] = width - 1  # the precision
    kept = fresh[related, chosen]
    fresh[related] = first[related]
    fresh[related, chosen] = kept


def _at(place: int, take: Take) -> Take:
    """Takes the genes of the case in one place."""
    return lambda name: take(f"{place}:{name}")
