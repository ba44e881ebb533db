"""Widening the patterns of a region as far as all fails that is added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from joulecheck.campaign.regions.larger import Larger
from joulecheck.campaign.regions.oracle import Exhausted
from joulecheck.region import (
    Atom,
    Feature,
    How,
    Interval,
    Kinds,
    Region,
    SomeOperator,
)
from joulecheck.region.columns import KINDS

WIDENED: Final = 96
"""Cases that a wider region adds and that must all fail."""


def widened(larger: Larger, region: Region, others: Iterable[Region]) -> Region:
    """The region, or a wider one with other patterns: as wide as there is work left for.

    Args:
        larger: what was asked of cases of any size, and is.
        region: all that is known of it fails.
        others: what else the region may be read as.
    """
    try:
        for other in others:
            within = larger.between(region, other, WIDENED)
            if within.all() and _is_better(larger, other, region):
                region = other
        wider: Region | None = region
        while wider is not None:
            region = wider
            ways = (other for other in _wider(region) if _is_better(larger, other, region))
            wider = next(ways, None)
    except Exhausted:
        pass  # what was found stands
    return region


def _is_better(larger: Larger, other: Region, region: Region) -> bool:
    """Whether all fails that another region adds; something must be, or it says less."""
    added = larger.between(other, region, WIDENED)
    return bool(added.all()) and (len(added) > 0 or _size(other) < _size(region))


def _size(region: Region) -> int:
    """How many conditions there are."""
    return len(region.atoms) + sum(len(pattern.atoms) for pattern in region.operators)


def _wider(region: Region) -> Iterator[Region]:
    """Regions that say something of the whole instead, of one more operator, or less."""
    for way in (_of_the_whole, _apart, _saying_less):
        for index, pattern in enumerate(region.operators):
            yield from way(region, index, pattern.atoms)


def _of_the_whole(region: Region, index: int, atoms: Sequence[Atom]) -> Iterator[Region]:
    for atom in atoms:
        for total in _totals(atom):
            other = _with_pattern(region, index, _without(atoms, [atom]))
            yield attrs.evolve(other, atoms=[*region.atoms, total])


def _apart(region: Region, index: int, atoms: Sequence[Atom]) -> Iterator[Region]:
    """With one condition in a pattern of its own."""
    kinds = [atom for atom in atoms if _is_kind(atom)]
    conditions = _by_feature(_without(atoms, kinds))
    for one in conditions if len(conditions) > 1 else []:
        for kind in [kinds] if kinds else _EACH_KIND:
            yield _with_pattern(region, index, _without(atoms, one), [*kind, *one])


def _saying_less(region: Region, index: int, atoms: Sequence[Atom]) -> Iterator[Region]:
    for atom in sorted(atoms, key=_is_kind):
        left = _without(atoms, [atom])
        yield _with_pattern(region, index, left)
        if isinstance(atom, Kinds) and _is_kind(atom):
            for name in KINDS:
                more = attrs.evolve(atom, names=(*atom.names, name))
                yield _with_pattern(region, index, [*left, more])


def _without(atoms: Sequence[Atom], some: Sequence[Atom]) -> list[Atom]:
    return [atom for atom in atoms if atom not in some]


def _totals(atom: Atom) -> Iterator[Interval]:
    """That a whole case has at least as much as an operator has."""
    if not isinstance(atom, Interval) or atom.low is None:
        return
    feature = atom.feature
    name = feature.of[0].removeprefix("operator ")
    if feature.how is How.VALUE and name != feature.of[0]:
        if name == "macs":  # of which each is two operations
            yield Interval(Feature(("ops",)), 2 * atom.low)
        yield Interval(Feature((name,)), atom.low)


def _with_pattern(region: Region, index: int, *patterns: Sequence[Atom]) -> Region:
    """The region with other patterns in place of one."""
    others = [p for place, p in enumerate(region.operators) if place != index]
    new = [SomeOperator(atoms) for atoms in patterns if atoms]
    return attrs.evolve(region, operators=[*others, *new])


_EACH_KIND: Final[tuple[tuple[Atom, ...], ...]] = (
    (),
    *((Kinds("kind", (name,)),) for name in KINDS),
)
"""What may be said of the kind of an operator: nothing, or that it is one."""


def _is_kind(atom: Atom) -> bool:
    return isinstance(atom, Kinds) and atom.of == "kind"


def _by_feature(atoms: Sequence[Atom]) -> list[list[Atom]]:
    """The atoms that speak of one feature together, such as both ends of an interval."""
    found: dict[object, list[Atom]] = {}
    for atom in atoms:
        feature = atom.of if isinstance(atom, Kinds) else atom.feature
        found.setdefault(feature, []).append(atom)
    return list(found.values())
