"""From cases of as few operators as the seed to all: any case that contains a pattern.

What was learnt at a place becomes a pattern, an operator anywhere. What can be said of
an operator or of the whole case, such as MACs, is told apart by larger cases around
the failures. Conditions on whole cases are then learnt anew among those that have the
patterns, and patterns are widened as far as all that is added fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.regions.evidence import Evidence
from joulecheck.campaign.regions.explain import Candidate, candidates, cover, placed
from joulecheck.campaign.regions.learner import Chosen, Learner
from joulecheck.campaign.regions.table import Placed, Table
from joulecheck.campaign.regions.task import Scope, Task
from joulecheck.region import Atom, Columns, Kinds, Region, SomeOperator
from joulecheck.region.columns import KINDS
from joulecheck.region.sampling import Sampler
from joulecheck.workload.columns import Bools, Ints

EMBEDDED: Final = 768
"""Failures and passing cases that are put into larger ones."""

READINGS: Final = 40
"""Ways to read the conditions, as of operators or of the whole, that are compared."""

ALIKE: Final = 5
"""Conditions on an operator that do the same among few operators."""

PER_COST: Final = 0.02
"""Share of the failures for which a unit of cost is worth paying."""

LEARNT: Final = 3
"""Readings, the best first, that are tried in full."""

WIDENED: Final = 96
"""Cases that a wider region adds and that must all fail."""

RIVALS: Final = 6
"""Readings from which the one that is chosen is told apart."""

RIVALLED: Final = 32
"""Cases that tell it apart and that must all fail."""

DRAWN: Final = 3
"""Crossings after which no more cases are looked for."""

STARTS: Final = 1024

Patterns = tuple[SomeOperator, ...]


class Lifter:
    """Lifts what was learnt of cases of few operators."""

    def __init__(self, task: Task, learner: Learner) -> None:
        """Lift what a learner has learnt."""
        self.task = task
        self.base = learner.evidence
        self.learner = learner

    def lift(self, failures: Ints) -> Region | None:
        """A region of cases of any size, or None if none is found.

        Args:
            failures: (n, width) failing rows of any size.

        Raises:
            Exhausted: too many cases would be asked.
        """
        self._gather(failures)
        readings = self._readings()
        for patterns in readings[:LEARNT]:
            region = self._learnt(patterns)
            if region is not None and self._stands(region, readings):
                return self._widened(region)
        return None

    def _gather(self, failures: Ints) -> None:
        """Larger cases: around those of few operators, drawn, and those that failed."""
        task, table = self.task, self.base.table
        some = [self._some(of) for of in (self.base.failures, self.base.passes)]
        rows = np.concatenate(
            [
                task.space.embedded(task.rng, table.rows[np.concatenate(some)]),
                task.space.sample(task.rng, 2 * EMBEDDED),
            ]
        )
        failing = task.oracle.ask(rows)
        new = ~(failing & task.known(rows))
        parts = [table.rows, rows[new], failures]
        labels = [table.failing, failing[new], np.ones(len(failures), dtype=bool)]
        self.rows = np.concatenate(parts)
        self.failing = np.concatenate(labels)
        self.columns = Columns(task.space, self.rows)
        self.table = Table(task.space, self.rows[:64], 0, task.quanta)
        self.table.add(self.rows, self.failing)

    def _some(self, rows: Ints) -> Ints:
        return self.task.rng.choice(rows, min(EMBEDDED, len(rows)), replace=False)

    # Which conditions are of operators

    def _readings(self) -> list[Patterns]:
        """Patterns that leave something to learn, those that explain most first."""
        found: dict[Patterns, float] = {}
        options = [self._options(chosen) for chosen in self.learner.chosen]
        for atoms in _cheapest(options):
            patterns = as_patterns([atom for atom in atoms if atom is not None])
            if patterns not in found:
                score = self._score(patterns)
                if score is not None:
                    found[patterns] = score
        return sorted(found, key=lambda patterns: found[patterns], reverse=True)

    def _options(self, chosen: Chosen) -> list[Placed | None]:
        """How a condition can be read: of an operator at some place, None of the whole."""
        table, learner = self.base.table, self.learner
        needed = np.isin(learner.passes, chosen.alone)
        able = [c for c in learner.pool if c.excluded[needed].all()]
        by_place: dict[int | None, list[Candidate]] = {}
        for candidate in sorted(able, key=lambda c: c.cost):
            place = placed(table, candidate).position
            by_place.setdefault(place, []).append(candidate)
        whole: list[Placed | None] = [None] if by_place.pop(None, []) else []
        atoms = [
            learner.detailed(candidate, learner.passes[needed]).final
            for candidates_there in by_place.values()
            for candidate in candidates_there[:ALIKE]
        ]
        return [*atoms, *whole]

    def _score(self, patterns: Patterns) -> float | None:
        """The share of failures that have the patterns, less for what else must be said.

        None if nothing that can be said of whole cases explains which of those that
        have the patterns fail.
        """
        within = Region(patterns).holds(self.columns)
        failures = np.flatnonzero(within & self.failing)
        passes = np.flatnonzero(within & ~self.failing)
        if not len(failures):
            return None
        found = cover(candidates(self.table, failures, passes, []), len(passes))
        if found is None:
            return None
        atoms = sum(len(pattern.atoms) for pattern in patterns)
        cost = sum(c.cost for c in found) + atoms
        return len(failures) / int(self.failing.sum()) - PER_COST * cost

    def _learnt(self, patterns: Patterns) -> Region | None:
        """The region of cases that have the patterns, with conditions on the whole."""
        scope = Scope(self.task.space, None, patterns)
        evidence = Evidence(self.task, scope, self.base.seed)
        within = scope.admits(self.rows)
        if not scope.admits(self.base.seed[None, :]).all():
            return None
        evidence.add(self.rows[within], self.failing[within])
        learnt = Learner(evidence).learn()
        if learnt is None:
            return None
        self._note(evidence.table.rows, evidence.table.failing)
        return Region(patterns, [chosen.final.atom for chosen in learnt])

    def _stands(self, region: Region, readings: Sequence[Patterns]) -> bool:
        """Whether all fails that tells a region from what else it may be read as."""
        others = (Region(other, region.atoms) for other in readings[:RIVALS])
        return all(self._asked(region, other, RIVALLED).all() for other in others)

    # Wider patterns

    def _widened(self, region: Region) -> Region:
        """The region with patterns as wide as fails all the same."""
        wider = True
        while wider:
            wider = False
            for other in _wider(region):
                added = self._asked(other, region, WIDENED)
                if len(added) and added.all():
                    region, wider = other, True
                    break
        return region

    def _asked(self, region: Region, other: Region, size: int) -> Bools:
        """Which cases fail that are in one region and not in the other.

        If all that are known do, more are asked.
        """
        within = region.holds(self.columns)
        added = within & ~other.holds(self.columns)
        known = self.failing[added]
        if not known.all():
            return known
        task = self.task

        def inside(rows: Ints) -> Bools:
            columns = Columns(task.space, rows)
            return region.holds(columns) & ~other.holds(columns)

        starts = self.rows[added if added.any() else within & self.failing]
        sampler = Sampler(task.space, inside)
        rows = sampler.draw(task.rng, size, starts[:STARTS], rounds=DRAWN)
        failing = task.oracle.ask(rows)
        self._note(rows, failing)
        return np.concatenate([known, failing])

    def _note(self, rows: Ints, failing: Bools) -> None:
        """Take over what was asked."""
        if len(rows):
            self.rows = np.concatenate([self.rows, rows])
            self.failing = np.concatenate([self.failing, failing])
            self.columns = Columns(self.task.space, self.rows)


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


def _wider(region: Region) -> Iterator[Region]:
    """Regions with one condition in a pattern of its own, then with one fewer."""
    for index, pattern in enumerate(region.operators):
        others = [p for i, p in enumerate(region.operators) if i != index]
        kinds = [a for a in pattern.atoms if _is_kind(a)]
        conditions = _by_feature([a for a in pattern.atoms if not _is_kind(a)])
        for one in conditions if len(conditions) > 1 else []:
            rest = SomeOperator([a for a in pattern.atoms if a not in one])
            yield Region([*others, rest, SomeOperator([*kinds, *one])], region.atoms)
    for index, pattern in enumerate(region.operators):
        others = [p for i, p in enumerate(region.operators) if i != index]
        for atom in sorted(pattern.atoms, key=_is_kind):
            left = [a for a in pattern.atoms if a is not atom]
            rest = [SomeOperator(left)] if left else []
            yield Region([*others, *rest], region.atoms)
            for name in KINDS if isinstance(atom, Kinds) and _is_kind(atom) else ():
                if name not in atom.names:
                    more = attrs.evolve(atom, names=(*atom.names, name))
                    yield Region([*others, SomeOperator([*left, more])], region.atoms)


def _is_kind(atom: Atom) -> bool:
    return isinstance(atom, Kinds) and atom.of == "kind"


def _by_feature(atoms: Sequence[Atom]) -> list[list[Atom]]:
    """The atoms that speak of one feature together, such as both ends of an interval."""
    found: dict[object, list[Atom]] = {}
    for atom in atoms:
        feature = atom.of if isinstance(atom, Kinds) else atom.feature
        found.setdefault(feature, []).append(atom)
    return list(found.values())
