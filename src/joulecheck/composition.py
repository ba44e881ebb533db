"""How a latency is composed of its terms: what overlaps, and what waits for what.

A composition is the name of a term, or one of `Sum`, `Max` and `Each` over others:

    Sum("launch", Each(Max("compute", "dram")))

says that a launch comes first, and that each operator of a graph then takes the longer
of its two terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import attrs
import numpy as np

from joulecheck.errors import InvalidModel
from joulecheck.workload.columns import Floats


def _check_part(owner: object, _: attrs.Attribute[Any], part: Any) -> None:  # noqa: ANN401 - what a user gave
    if not isinstance(part, str | Sum | Max | Each):
        msg = (
            f"{type(owner).__name__} takes names of terms, Sum, Max and Each, got "
            f'{part!r}: write it as in Sum("launch", Max("compute", "dram"))'
        )
        raise InvalidModel(msg)


def _check_parts(owner: object, attribute: attrs.Attribute[Any], parts: Any) -> None:  # noqa: ANN401 - what a user gave
    if not parts:
        msg = f"{type(owner).__name__} takes at least one part, got none"
        raise InvalidModel(msg)
    for part in parts:
        _check_part(owner, attribute, part)


@attrs.frozen(init=False)
class _Several:
    parts: tuple[Composition, ...] = attrs.field(validator=_check_parts)

    def __init__(self, *parts: Composition) -> None:
        """Compose these parts.

        Raises:
            InvalidModel: there is no part, or one is no composition.
        """
        self.__attrs_init__(parts)


@attrs.frozen(init=False)
class Sum(_Several):
    """One part after the other."""


@attrs.frozen(init=False)
class Max(_Several):
    """All parts at once, until the longest ends."""


@attrs.frozen
class Each:
    """The part for each operator of a graph, one operator after the other.

    Raises:
        InvalidModel: the part is no composition.
    """

    part: Composition = attrs.field(validator=_check_part)


Composition = str | Sum | Max | Each


def composed(composition: Composition, terms: Mapping[str, Floats], size: int) -> Floats:
    """What the terms of each of `size` cases make together; a term that is not there is 0.

    A term of a graph is summed over the operators. `Each` of such sums is a lower
    bound, and exact for one operator: the longest of sums is at most the sum of the
    longest.
    """
    none = np.zeros(size)
    match composition:
        case Sum(parts):
            return _joined(np.add, parts, terms, size)
        case Max(parts):
            return _joined(np.maximum, parts, terms, size)
        case Each(part):
            return composed(part, terms, size)
        case name:
            return terms.get(name, none)


def _joined(
    join: Callable[[Any, Any], Any],
    parts: tuple[Composition, ...],
    terms: Mapping[str, Floats],
    size: int,
) -> Floats:
    values = (composed(part, terms, size) for part in parts)
    joined: Floats = reduce(join, values)
    return joined


def goes_by_operator(composition: Composition) -> bool:
    """Whether an `Each` is in it, so that it is exact for single operators only."""
    match composition:
        case Each():
            return True
        case Sum(parts) | Max(parts):
            return any(map(goes_by_operator, parts))
        case _:
            return False
