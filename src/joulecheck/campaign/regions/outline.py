"""Where a law fails as a whole, learnt from draws of its space.

Unlike a region, which is worked out around one failure with cases that are asked to
that end, an outline is read off cases as they are drawn. Its conditions may be on what
the model answers: a margin that compares two sums of the model's own numbers has no
plain form in the workload, and often a plain one in shares of energy or of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.regions.conjunction import End, Ends, is_little
from joulecheck.campaign.regions.oracle import Fails
from joulecheck.campaign.regions.vocabulary import outline_terms
from joulecheck.region import Atom, Columns, Feature, Interval, Kinds, Outline, Region
from joulecheck.region.columns import Told
from joulecheck.space import CaseSpace, Trait
from joulecheck.workload.columns import Bools, Floats, Ints

DRAWN: Final = 1 << 13
"""Rows that are drawn at a time."""

LEARNT_FROM: Final = (1 << 14, 1 << 16)
"""Rows at least; and at most, while there are few failures."""

ENOUGH: Final = 400
"""Failures from which their outermost ones tell an end well."""

PASSING: Final = 1 << 14
"""Passing cases that are looked at."""

FEW: Final = 40
"""Failures of which nothing is learnt."""

ACCEPT: Final = 3000
"""Fresh cases inside that are tried, if as many are drawn."""

COVERAGE: Final = 0.95
"""Of fresh failures, the share that an outline must hold."""

FALSE: Final = 0.01
"""Of fresh cases inside, the share of which may pass."""

MOST_KINDS: Final = 24
"""Kinds of case, up to which each may have a conjunction of its own."""

FOR_KINDS: Final = 0.5
"""What each more conjunction adds to what an outline costs to say."""

FOR_TIER: Final = 0.75
"""What it costs to speak of answers, and again of totals of them."""


@attrs.frozen(eq=False)
class _Cases:
    """Drawn cases: which fail, and all that may be said of them."""

    columns: Columns
    failing: Bools

    def values(self, feature: Feature) -> Floats:
        """(n,) a number of each."""
        return feature.values(self.columns.case)


@attrs.frozen
class _Rule:
    """A conjunction that holds for some kinds of case."""

    kinds: tuple[Atom, ...]
    ends: tuple[End, ...]


@attrs.frozen
class _Found:
    cost: float
    rules: tuple[_Rule, ...]

    @property
    def regions(self) -> list[Region]:
        """Its rules as regions."""
        return [
            Region(atoms=[*rule.kinds, *(end.atom for end in rule.ends)]).merged
            for rule in self.rules
        ]


@attrs.frozen(eq=False)
class Draws:
    """Where cases come from, and what is asked of them."""

    space: CaseSpace
    fails: Fails
    """Which canonical rows fail."""
    known: Fails
    """Which rows are known to fail for another cause: they count for nothing."""
    rng: np.random.Generator
    told: Told | None
    """Asks the model, for conditions on its answers."""

    def more(self) -> tuple[Ints, Bools]:
        """(n, width) fresh rows, and which of them fail."""
        rows = self.space.sample(self.rng, DRAWN)
        rows = np.asfortranarray(rows[~self.known(rows)])
        return rows, self.fails(rows)


def outline(draws: Draws, regions: Iterable[Region] = ()) -> Outline | None:
    """Nearly all failures of a law, and hardly anything else; None if not so described.

    The result depends on nothing but the random numbers of the draws.

    Args:
        draws: where cases come from.
        regions: in which cases are known to fail: what holds of few operators may hold
            of graphs of any size.
    """
    cases = _drawn(draws)
    if not FEW <= cases.failing.sum() < len(cases.failing):
        return None
    for region in _of_any_size(regions):
        if _fits(region.holds(cases.columns), cases.failing):
            return _accepted([region], draws)
    found = _cheapest(cases)
    return None if found is None else _accepted(found.regions, draws)


def _of_any_size(regions: Iterable[Region]) -> Iterator[Region]:
    """The regions without what they say of how many operators there are."""
    for region in regions:
        atoms = [atom for atom in region.atoms if not _is_of_size(atom)]
        if len(atoms) < len(region.atoms):
            yield attrs.evolve(region, atoms=atoms, graphs=True, measured=None)


def _is_of_size(atom: Atom) -> bool:
    return isinstance(atom, Interval) and atom.feature.of[0].endswith("nodes")


def _fits(inside: Bools, failing: Bools) -> bool:
    """Whether cases lie inside as an outline must hold them."""
    return _is_outline(inside.sum(), failing.sum(), (inside & failing).sum())


def _is_outline(inside: int, failures: int, both: int) -> bool:
    """Whether of so many cases inside and so many failures enough are both."""
    covers = both >= COVERAGE * failures > 0
    return bool(covers and inside - both <= FALSE * inside)


def _drawn(draws: Draws) -> _Cases:
    parts = [draws.more()]
    for number in range(1, LEARNT_FROM[1] // DRAWN):
        failing = sum(int(fails.sum()) for _, fails in parts)
        if number * DRAWN >= LEARNT_FROM[0] and failing >= ENOUGH:
            break
        parts.append(draws.more())
    rows, fails = (np.concatenate(each) for each in zip(*parts, strict=True))
    return _Cases(Columns(draws.space, np.asfortranarray(rows), draws.told), fails)


def _cheapest(cases: _Cases) -> _Found | None:
    """What is cheapest to say, with as little of the answers as may be."""
    kinds = _kinds_alone(cases)
    if kinds is not None:
        return kinds
    tiers = outline_terms(cases.columns)
    features = [feature for tier in tiers for feature in tier]
    kept = _some(cases.failing)
    table = np.array([cases.values(feature)[kept] for feature in features])
    best: _Found | None = None
    for parting in _partings(cases.columns):
        if best is not None and best.cost <= 1:
            break
        parts = [
            (kinds, Ends(features, table[:, which[kept]], cases.failing[kept & which]))
            for kinds, which in parting
            if cases.failing[which].any()
        ]
        for tier, most in enumerate(np.cumsum([len(some) for some in tiers])):
            found = _found(parts, int(most), FOR_TIER * tier)
            if found is not None and (best is None or found.cost < best.cost):
                best = found
    return best


def _kinds_alone(cases: _Cases) -> _Found | None:
    """Kinds of case of which nearly all fail, where hardly any other does."""
    for parting in _partings(cases.columns):
        parts = [(kinds, cases.failing[which]) for kinds, which in parting]
        parts = [(kinds, fails) for kinds, fails in parts if fails.any()]
        if all(is_little((~fails).sum(), fails.sum()) for _, fails in parts):
            return _Found(0.0, tuple(_joined([_Rule(kinds, ()) for kinds, _ in parts])))
    return None


def _some(failing: Bools) -> Bools:
    """All failures, and as many passing cases as are looked at."""
    return failing | (np.cumsum(~failing) <= PASSING)


def _found(
    parts: Sequence[tuple[tuple[Atom, ...], Ends]], most: int, cost: float
) -> _Found | None:
    """A conjunction for each kind that has failures; None if some kind has none."""
    rules = []
    for kinds, ends in parts:
        chosen = ends.conjunction(most)
        if chosen is None:
            return None
        rules.append(_Rule(kinds, chosen))
    rules = list(_joined(rules))
    ends_in_all = sum(len(rule.ends) for rule in rules)
    return _Found(ends_in_all + FOR_KINDS * (len(rules) - 1) + cost, tuple(rules))


Parting = Sequence[tuple[tuple[Atom, ...], Bools]]
"""Kinds of case that exclude each other: what says so, and (n,) which cases are one."""


def _partings(columns: Columns) -> Iterator[Parting]:
    """Ways to part the cases, first not at all."""
    yield [((), np.ones(columns.size, dtype=bool))]
    for name in columns.case_names:
        trait = columns.column("case", name)
        if isinstance(trait, Trait) and len(trait.names) <= MOST_KINDS:
            yield [
                ((Kinds(name, [kind]),), trait.codes == code)
                for code, kind in enumerate(trait.names)
            ]
    if columns.questions:
        nodes, single = columns.case("nodes"), Feature(("nodes",))
        yield [
            ((Interval(single, high=1),), nodes <= 1),
            ((Interval(single, low=2),), nodes > 1),
        ]


def _joined(rules: Sequence[_Rule]) -> Iterator[_Rule]:
    """The rules, and those of kinds of one trait that say nothing else as one."""
    plain = [rule for rule in rules if not rule.ends]
    names = [atom for rule in plain for atom in rule.kinds if isinstance(atom, Kinds)]
    if len(names) < len(plain) or len(plain) <= 1:
        yield from rules
        return
    yield _Rule((Kinds(names[0].of, [n for atom in names for n in atom.names]),), ())
    yield from (rule for rule in rules if rule.ends)


def _accepted(regions: Sequence[Region], draws: Draws) -> Outline | None:
    """The outline, if fresh cases bear it out."""
    made = Outline(regions=regions, coverage=0.0, false=1.0, tried=0)
    counts = np.zeros(3, dtype=np.int64)  # cases inside, failures, and both
    for number in range(LEARNT_FROM[1] // DRAWN):
        if number * DRAWN >= LEARNT_FROM[0] and counts[0] >= ACCEPT:
            break
        rows, failing = draws.more()
        inside = made.contains(draws.space, rows, draws.told)
        counts += inside.sum(), failing.sum(), (inside & failing).sum()
    tried, failures, held = counts.tolist()
    if not _is_outline(tried, failures, held):
        return None
    return attrs.evolve(made, coverage=held / failures, false=1 - held / tried, tried=tried)
