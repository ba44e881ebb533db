"""Learning one region: a conjunction that some failures meet and no passing case does.

A conjunction is chosen that explains the evidence; cases inside of it and just outside
are asked, and it is chosen anew, until there is no news.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from joulecheck.campaign.regions.chosen import Chosen, detailed
from joulecheck.campaign.regions.component import component
from joulecheck.campaign.regions.ends import close
from joulecheck.campaign.regions.evidence import Evidence
from joulecheck.campaign.regions.explain import Candidate, candidates, cover
from joulecheck.campaign.regions.table import Placed, all_hold
from joulecheck.region import Columns
from joulecheck.region.sampling import Sampler, moves_of
from joulecheck.workload.columns import Bools, Ints

ROUNDS: Final = 24
"""Conjunctions that are tried for one region."""

PARTS: Final = 14
"""Times that a part of the failures is chosen."""

SETTLED: Final = 4
MOST_CONDITIONS: Final = 7
"""Of a region, from the fourth round on."""

CHOOSING: Final = 5_000
"""Cases that can be looked at in the time that it takes to choose a part."""

CLOSINGS: Final = 4
"""Times that gaps are asked about before something else is."""

DRAWS: Final = 1024

CROSSINGS: Final = 8
"""Crossings of as many cases after which no more are looked for."""


class Learner:
    """Learns the region of a seed among cases of as many operators."""

    def __init__(self, evidence: Evidence, *, parts: bool = True) -> None:
        """Learn from evidence, and add to it.

        Args:
            evidence: what was asked so far.
            parts: whether the conjunction may leave out some of the failures.
        """
        self.evidence = evidence
        self.parts = PARTS if parts else 0
        """How often a part of the failures may still be chosen."""
        self.whole = True
        """Whether one conjunction may describe all failures."""
        self.chosen: list[Chosen] = []
        self.pool: list[Candidate] = []
        """What the conjunction was last chosen from."""
        self.passes = evidence.passes
        """The passing rows of the table that each of the pool may exclude."""

    def learn(self) -> list[Chosen] | None:
        """The conditions of a region around the seed, or None if none is found.

        Raises:
            Exhausted: too many cases would be asked.
        """
        closings = 0
        again: list[Chosen] | None = None
        for number in range(ROUNDS):
            chosen = again or self.conjunction()
            again = None
            if chosen is None or (number >= SETTLED and len(chosen) > MOST_CONDITIONS):
                return None
            self.chosen = chosen
            if closings < CLOSINGS and self._close():
                closings += 1
                continue
            closings = 0
            if self._inside():
                continue
            again = self._outside()
            if again is self.chosen:
                return self.chosen
        return None

    def conjunction(self) -> list[Chosen] | None:
        """The cheapest conjunction that explains the evidence."""
        table, failures = self.evidence.table, self.evidence.failures
        passes, periods = self.evidence.passes, self._periods()
        found, pool = None, self.pool
        if self.whole:
            pool = candidates(table, failures, passes, periods)
            found = cover(pool, len(passes))
            self.whole = found is not None  # more evidence makes it no easier
        oracle = self.evidence.task.oracle
        if found is None and self.parts and oracle.work > CHOOSING:
            self.parts -= 1
            oracle.look(CHOOSING)
            failures = component(table, self.evidence.task.rng, failures, passes, periods)
            pool = candidates(table, failures, passes, periods)
            found = cover(pool, len(passes))
        self.pool, self.passes = pool, passes
        return None if found is None else detailed(table, found, passes)

    def _periods(self) -> list[tuple[int, int]]:
        """The periods that were seen, for all plain whole numbers."""
        terms = self.evidence.table.terms
        sizes = [index for index, term in enumerate(terms) if term.is_size]
        return [(index, q) for index in sizes for q in self.evidence.all_periods]

    def _close(self) -> bool:
        """Ask in the open gaps; whether anything was asked."""
        asked = False
        for each in self.chosen:
            if each.gap is not None and each.gap.is_open:
                others = [other.loose for other in self.chosen if other is not each]
                asked |= close(self.evidence, each.gap, others)
        return asked

    def _inside(self) -> bool:
        """Ask cases inside; whether one passes."""
        evidence = self.evidence
        table = evidence.table
        atoms = [each.loose for each in self.chosen]
        sampler = self._sampler(atoms, None)
        starts = table.rows[evidence.failures]
        task = evidence.task
        rows = sampler.draw(
            task.rng, task.effort.inside, starts, at_a_time=DRAWS, rounds=CROSSINGS
        )
        return not evidence.ask(rows).all()

    def _outside(self) -> list[Chosen] | None:
        """Ask cases that break one condition; the conjunction that then is chosen."""
        evidence, known = self.evidence, len(self.evidence.table.rows)
        task = evidence.task
        for each in self.chosen:
            others = [other.loose for other in self.chosen if other is not each]
            sampler = self._sampler(others, each.loose)
            starts = evidence.table.rows[each.alone]
            rows = sampler.draw(
                task.rng, task.effort.outside, starts, at_a_time=DRAWS, rounds=CROSSINGS
            )
            evidence.ask(rows)
        if not evidence.table.failing[known:].any():
            return self.chosen
        before = {each.loose for each in self.chosen}
        again = self.conjunction()
        same = again is not None and {each.loose for each in again} == before
        return self.chosen if same else again

    def _sampler(self, atoms: Sequence[Placed], broken: Placed | None) -> Sampler:
        space, scope = self.evidence.task.space, self.evidence.scope

        def inside(rows: Ints) -> Bools:
            self.evidence.task.oracle.look(len(rows))
            columns = Columns(space, rows)
            held = scope.admits(rows) & all_hold(atoms, columns)
            return held if broken is None else held & ~broken.holds(columns)

        return Sampler(space, inside, moves_of(space.genes, [p.atom for p in atoms]))
