"""From cases of as few operators as the seed to all: any case that contains a pattern.

What was learnt at a place becomes a pattern, an operator anywhere. What can be said of
an operator or of the whole case, such as MACs, is told apart by larger cases around
the failures. Conditions on whole cases are then learnt anew among those that have the
patterns, and patterns are widened as far as all that is added fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from typing import Final

import numpy as np

from joulecheck.campaign.regions.chosen import Chosen, chosen_as
from joulecheck.campaign.regions.evidence import Evidence
from joulecheck.campaign.regions.explain import Candidate, candidates, cover, placed
from joulecheck.campaign.regions.larger import Larger
from joulecheck.campaign.regions.learner import Learner
from joulecheck.campaign.regions.refine import Patterns, refined
from joulecheck.campaign.regions.table import Placed, Table
from joulecheck.campaign.regions.task import Scope
from joulecheck.campaign.regions.widen import widened
from joulecheck.region import Region, SomeOperator

READINGS: Final = 40
"""Ways to read the conditions, as of operators or of the whole, that are compared."""

ALIKE: Final = 5
"""Conditions on an operator that do the same among few operators."""

PER_COST: Final = 0.02
"""Share of the failures for which a unit of cost is worth paying."""

UNEXPLAINED: Final = 0.3
"""Likewise what it costs if more must be said of an operator."""

LEARNT: Final = 4
"""Readings, each the best by then, that are tried in full."""

_NO_FAILURE: Final = -9.0

REFINED: Final = 3
"""Times that more is said of the operators of a reading."""

RIVALS: Final = 4
"""Readings from which the one that is chosen is told apart."""

RIVALLED: Final = 32
"""Cases that tell it apart and that must all fail."""


class Lifter:
    """Lifts what was learnt of cases of few operators."""

    def __init__(self, learner: Learner, larger: Larger) -> None:
        """Lift what a learner has learnt, by what is known of larger cases."""
        self.task = larger.task
        self.learner = learner
        self.larger = larger
        self.seed = learner.evidence.seed

    def lift(self) -> Region | None:
        """A region of cases of any size, or None if none is found.

        Raises:
            Exhausted: too many cases would be asked.
        """
        left = self._readings()
        for _ in range(LEARNT):
            left = self._best_first(left)
            if not left:
                return None
            region = self._learnt(left[0])
            rivals = left[1 : 1 + RIVALS]
            if region is not None and self._stands(region, rivals):
                others = [Region(patterns, region.atoms) for patterns in rivals]
                return widened(self.larger, region, others)
            left = left[1:]
        return None

    # Which conditions are of operators

    def _readings(self) -> list[Patterns]:
        """Patterns that leave something to learn of whole cases, or nothing."""
        options = [self._options(chosen) for chosen in self.learner.chosen]
        choices = _cheapest(options)
        return list(
            dict.fromkeys(as_patterns([a for a in c if a is not None]) for c in choices)
        )

    def _options(self, chosen: Chosen) -> list[Placed | None]:
        """How a condition can be read: of an operator at some place, None of the whole."""
        table, learner = self.learner.evidence.table, self.learner
        needed = np.isin(learner.passes, chosen.alone)
        able = [c for c in learner.pool if c.excluded[needed].all()]
        by_place: dict[int | None, list[Candidate]] = {}
        for candidate in sorted(able, key=lambda c: c.cost):
            place = placed(table, candidate).position
            by_place.setdefault(place, []).append(candidate)
        whole: list[Placed | None] = [None] if by_place.pop(None, []) else []
        atoms: list[Placed | None] = []
        for alike in by_place.values():
            for candidate in alike[:ALIKE]:
                detail = chosen_as(table, candidate, learner.passes[needed])
                atoms.append(detail.final)
        return [*atoms, *whole]

    def _best_first(self, readings: Sequence[Patterns]) -> list[Patterns]:
        """The readings that explain some failures, those first that do most."""
        table = Table(self.task.space, self.larger.rows[:64], 0, self.task.quanta)
        table.add(self.larger.rows, self.larger.failing, self.larger.columns)
        scores = {patterns: self._score(table, patterns) for patterns in readings}
        found = [patterns for patterns, score in scores.items() if score > _NO_FAILURE]
        return sorted(found, key=lambda patterns: -scores[patterns])

    def _score(self, table: Table, patterns: Patterns) -> float:
        """The share of failures that have the patterns, less for what else must be said."""
        within = Region(patterns).holds(self.larger.columns)
        failures = np.flatnonzero(within & table.failing)
        passes = np.flatnonzero(within & ~table.failing)
        if not len(failures):
            return _NO_FAILURE
        found = cover(candidates(table, failures, passes, []), len(passes))
        atoms = sum(len(pattern.atoms) for pattern in patterns)
        share = len(failures) / int(table.failing.sum())
        if found is None:
            impure = len(passes) / (len(failures) + len(passes))
            return share - PER_COST * atoms - UNEXPLAINED - impure
        return share - PER_COST * (sum(c.cost for c in found) + atoms)

    def _learnt(self, patterns: Patterns) -> Region | None:
        """The region of cases that have the patterns, with conditions on the whole."""
        for _ in range(REFINED):
            if not Region(patterns).contains(self.task.space, self.seed[None, :]).all():
                return None
            region = self._of_whole(patterns, parts=False)
            if region is not None:
                return region
            narrower = refined(self.larger, patterns)
            if narrower is None:
                break
            patterns = narrower
        return self._of_whole(patterns, parts=True)

    def _of_whole(self, patterns: Patterns, *, parts: bool) -> Region | None:
        scope = Scope(self.task.space, None, patterns)
        evidence = Evidence(self.task, scope, self.seed)
        within = scope.admits(self.larger.rows)
        evidence.add(self.larger.rows[within], self.larger.failing[within])
        known = len(evidence.table.rows)
        learnt = Learner(evidence, parts=parts).learn()
        self.larger.note(evidence.table.rows[known:], evidence.table.failing[known:])
        if learnt is None:
            return None
        return Region(patterns, [chosen.final.atom for chosen in learnt])

    def _stands(self, region: Region, rivals: Sequence[Patterns]) -> bool:
        """Whether all fails that tells a region from what else it may be read as."""
        others = (Region(patterns, region.atoms) for patterns in rivals)
        return all(self.larger.between(region, o, RIVALLED).all() for o in others)


def _cheapest(options: Sequence[Sequence[Placed | None]]) -> list[Sequence[Placed | None]]:
    """Some choices of one of each, those first that take early ones."""
    every = product(*(enumerate(some) for some in options))
    ranked = sorted(islice(every, 50 * READINGS), key=lambda c: sum(i for i, _ in c))
    return [[atom for _, atom in choice] for choice in ranked[:READINGS]]


def as_patterns(atoms: Sequence[Placed]) -> Patterns:
    """The patterns of atoms of operators: one for each place."""
    places = sorted({atom.position for atom in atoms if atom.position is not None})
    return tuple(
        SomeOperator([atom.atom for atom in atoms if atom.position == place])
        for place in places
    )
