"""The terms in which a region may be described, each with what it costs to say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import attrs

from joulecheck.region import Columns, Feature, How
from joulecheck.region.atoms import Level
from joulecheck.region.columns import (
    EXTREMES,
    FACTOR,
    GENE,
    LARGEST,
    LEAST,
    PERTURBED,
    TOLD,
    is_answer,
)
from joulecheck.space import Trait


@attrs.frozen
class Term:
    """A number of a whole case, or of the operator at one place of it."""

    position: int | None
    """None is the whole case."""
    feature: Feature
    cost: float

    @property
    def is_size(self) -> bool:
        """Whether it is a dimension, a loop bound or a gene as it stands."""
        name = self.feature.of[0]
        plain = self.feature.how is How.VALUE
        return plain and (name in SIZES or name.startswith(GENE))


@attrs.frozen
class Sort:
    """A trait of a whole case, or of the operator at one place of it."""

    position: int | None
    name: str
    cost: float


MOST_SIZES: Final = 4
LARGEST_TILE: Final = 4096

MOST_GENES: Final = 8
"""Genes of no node up to which every two of them are compared."""

Priced = tuple[Feature, float]
"""A feature and its cost."""

_OF_ROLE: Final = 0.5
_LOOPS: Final = ("loop m", "loop n", "loop k")
_COSTS: Final = {
    **dict.fromkeys(_LOOPS, 1.2),
    "instances": 1.3,
    "nodes": 1.1,
    "macs": 1.3,
    "ops": 1.4,
    "bytes": 1.3,
    "operator macs": 1.35,
    "operator ops": 1.45,
    "footprint": 1.35,
    "bits": 1.5,
    LARGEST: 1.0,
    LEAST: 1.0,
    "weight from inside": 1.1,
    "output read inside": 1.2,
}
_PAIRED: Final = (
    ("batch", "m", "n", "k"),
    ("batch", "c", "h", "w", "filters", "r", "s", "p", "q", "groups"),
    _LOOPS,
)
SIZES: Final = frozenset(name for group in _PAIRED for name in group)
_TRIPLES: Final = (
    ("batch", "m", "n"),
    ("batch", "m", "k"),
    ("batch", "k", "n"),
    ("m", "n", "k"),
    ("c", "h", "w"),
    ("c", "r", "s"),
    ("filters", "p", "q"),
)
_TOTALS: Final = frozenset({"energy", "latency", "power"})
_OF_TOTALS: Final = ("latency over ", "times over ")
_OF_BYTES: Final = " a compulsory byte"
"""Figures that some law bounds: to speak of them may say that law again."""
_GROWING: Final = (*_LOOPS, "operator macs", "macs", "ops", "bytes")
_PLAIN: Final = frozenset(
    {
        *_PAIRED[0],
        *_PAIRED[1],
        "stride",
        "padding",
        "dilation",
        "operands",
        "kind",
        "function",
        "precision",
        "grown",
    }
)


def terms_of(
    columns: Columns, positions: int, quanta: Sequence[int]
) -> tuple[list[Term], list[Sort]]:
    """All terms for cases of up to `positions` operators.

    Args:
        columns: those of some rows of the space.
        positions: how many operators have a place of their own.
        quanta: the sizes of tiles.
    """
    sizes = [size for size in sorted({*quanta}) if 1 < size <= LARGEST_TILE]
    roles = [role for role in columns.questions if role]
    terms: list[Term] = []
    sorts: list[Sort] = []
    for position in (None, *range(positions)):
        level: Level = "case" if position is None else "operator"
        names = columns.case_names if position is None else columns.operator_names
        traits = [n for n in names if isinstance(columns.column(level, n), Trait)]
        sorts += [Sort(position, name, _cost(name, roles)) for name in traits]
        numbers = [name for name in names if name not in traits]
        found = list(_values(numbers, roles))
        found += _of_cases(numbers) if position is None else _of_operators(numbers, sizes)
        terms += [Term(position, feature, cost) for feature, cost in found]
    return terms, sorts


def _values(names: Sequence[str], roles: Sequence[str]) -> Iterator[Priced]:
    """Each number, and how much more of it a question has than the first."""
    for name in names:
        yield Feature((name,)), _cost(name, roles)
        for role in roles:
            short = name.removeprefix(role)
            if name.startswith(role) and short in _GROWING:
                yield Feature((name, short), How.DIFFERENCE), 1.9
                yield Feature((name, short), How.RATIO), 2.1


def _of_cases(names: Sequence[str]) -> Iterator[Priced]:
    if {"ops", "bytes"} <= set(names):
        yield Feature(("ops", "bytes"), How.RATIO), 1.6
    genes = [name for name in names if name.startswith(GENE)]
    if len(genes) <= MOST_GENES:
        yield from _pairs(genes)


def _of_operators(names: Sequence[str], sizes: Sequence[int]) -> Iterator[Priced]:
    known = set(names)
    if not known:
        return
    yield Feature(("operator ops", "footprint"), How.RATIO), 1.6
    for group in _PAIRED:
        yield from _pairs([name for name in group if name in known])
    for triple in _TRIPLES:
        if known.issuperset(triple):
            yield Feature(triple, How.PRODUCT), 1.9
    for size in sizes[-MOST_SIZES:]:
        for pair in combinations(_LOOPS, 2):
            yield Feature(pair, How.TILES, (size, size)), 2.1
        yield Feature(_LOOPS, How.TILES, (size,) * 3), 2.2


def _pairs(names: Sequence[str]) -> Iterator[Priced]:
    for pair in combinations(names, 2):
        extra = 0.1 * sum(name in _LOOPS for name in pair)
        yield Feature(pair, How.DIFFERENCE), 1.6 + extra
        yield Feature(pair, How.PRODUCT), 1.7 + extra
        yield Feature(pair, How.RATIO), 2.0 + extra


def _cost(name: str, roles: Sequence[str]) -> float:
    for role in roles:
        if name.startswith(role):
            return _OF_ROLE + _cost(name.removeprefix(role), ())
    if name.startswith((GENE, FACTOR)):
        return 1.15
    return _COSTS.get(name, 1.0 if name in _PLAIN or name.startswith(PERTURBED) else 1.4)


def outline_terms(columns: Columns) -> list[list[Feature]]:
    """What an outline may speak of, by tier: the workload, answers, totals of answers."""
    roles = [role for role in columns.questions if role]
    plain = [Feature((name,)) for name in columns.case_names if _is_number(columns, name)]
    if columns.questions:
        plain.append(Feature(("ops", "bytes"), How.RATIO))
        plain += [
            Feature((f"{which}{name}",))
            for which in EXTREMES
            for name in columns.operator_names
            if not isinstance(columns.column("operator", name), Trait)
        ]
    answers: list[Feature] = []
    totals: list[Feature] = []
    for name in columns.figures:
        role = next((role for role in roles if name.startswith(role)), "")
        short = name.removeprefix(role)
        if not is_answer(name):
            plain.append(Feature((name,)))
            continue
        tier = totals if _is_of_totals(short.removeprefix(TOLD)) else answers
        tier.append(Feature((name,)))
        if role:
            tier.append(Feature((name, short), How.RATIO))
    return [plain, answers, totals]


def _is_of_totals(figure: str) -> bool:
    known = figure in _TOTALS or figure.startswith(_OF_TOTALS)
    return known or figure.endswith(_OF_BYTES)


def _is_number(columns: Columns, name: str) -> bool:
    return not isinstance(columns.column("case", name), Trait)
