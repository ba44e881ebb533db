"""Widening the patterns of a region as far as all fails that is added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.regions.chosen import Chosen
from joulecheck.campaign.regions.larger import Larger
from joulecheck.region import Atom, Interval, Kinds, Region, SomeOperator
from joulecheck.region.columns import KINDS

WIDENED: Final = 96
"""Cases that a wider region adds and that must all fail."""

HALVINGS: Final = 24
"""Times that the gap at an end is halved."""


def widened(larger: Larger, region: Region, others: Iterable[Region]) -> Region:
    """The region, or a wider one with other patterns.

    Args:
        larger: what was asked of cases of any size, and is.
        region: all that is known of it fails.
        others: what else the region may be read as.

    Raises:
        Exhausted: too many cases would be asked.
    """
    for other in others:
        if _adds_failures(larger, other, region) and larger.between(
            region, other, WIDENED
        ).all():
            region = other
    wider = True
    while wider:
        wider = False
        for other in _wider(region):
            if _adds_failures(larger, other, region):
                region, wider = other, True
                break
    return region


def _adds_failures(larger: Larger, wider: Region, region: Region) -> bool:
    added = larger.between(wider, region, WIDENED)
    return bool(len(added)) and bool(added.all())


def _wider(region: Region) -> Iterator[Region]:
    """Regions with one condition in a pattern of its own, then with one fewer."""
    for index, pattern in enumerate(region.operators):
        others = [p for i, p in enumerate(region.operators) if i != index]
        kinds = [a for a in pattern.atoms if _is_kind(a)]
        conditions = _by_feature([a for a in pattern.atoms if not _is_kind(a)])
        for one in conditions if len(conditions) > 1 else []:
            rest = SomeOperator([a for a in pattern.atoms if a not in one])
            for kind in [kinds] if kinds else _EACH_KIND:
                yield Region([*others, rest, SomeOperator([*kind, *one])], region.atoms)
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


_EACH_KIND: Final = [[], *([Kinds("kind", (name,))] for name in KINDS)]


def _is_kind(atom: Atom) -> bool:
    return isinstance(atom, Kinds) and atom.of == "kind"


def _by_feature(atoms: Sequence[Atom]) -> list[list[Atom]]:
    """The atoms that speak of one feature together, such as both ends of an interval."""
    found: dict[object, list[Atom]] = {}
    for atom in atoms:
        feature = atom.of if isinstance(atom, Kinds) else atom.feature
        found.setdefault(feature, []).append(atom)
    return list(found.values())


def closed(larger: Larger, region: Region, chosen: Mapping[Atom, Chosen]) -> Region:
    """The region with the open ends of its patterns moved to where failures end.

    Args:
        larger: what was asked of cases of any size, and is.
        region: all that is known of it fails.
        chosen: how far the evidence leaves atoms open.

    Raises:
        Exhausted: too many cases would be asked.
    """
    for index, pattern in enumerate(region.operators):
        for atom in pattern.atoms:
            gap = chosen[atom].gap if atom in chosen else None
            if gap is not None and gap.is_open and isinstance(atom, Interval):
                region = _moved(larger, region, index, atom, gap.outside)
    return region


def _moved(
    larger: Larger, region: Region, index: int, atom: Interval, outside: float
) -> Region:
    """The region with the end of one atom as near to `outside` as all fails."""
    name = "high" if atom.low is None else "low"
    inside = float(getattr(atom, name))
    for _ in range(HALVINGS):
        if abs(inside - outside) <= 1:
            break
        end = (inside + outside) / 2
        whole = inside.is_integer() and outside.is_integer()
        end = float(np.trunc(end)) if whole else end
        wider = _with_end(region, index, atom, name, end)
        added = larger.between(wider, region, WIDENED)
        if not added.all():
            outside = end
            continue
        inside = end
        if len(added):
            pattern = wider.operators[index]
            place = region.operators[index].atoms.index(atom)
            region, atom = wider, pattern.atoms[place]  # type: ignore[assignment]
    return region


def _with_end(
    region: Region, index: int, atom: Interval, name: str, end: float
) -> Region:
    pattern = region.operators[index]
    moved = attrs.evolve(atom, **{name: end})
    atoms = [moved if a == atom else a for a in pattern.atoms]
    operators = [*region.operators]
    operators[index] = SomeOperator(atoms)
    return attrs.evolve(region, operators=operators)
