"""Predicates made at random: which cases a planted fault would hit.

An atom compares named columns: a residue, a threshold, a product, a relation or a
residue of two. Over the genes of a small domain a predicate is a few atoms; over
subgraphs it asks for an operator of some kind at which its atoms hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.workload.columns import OPERATORS, Bools, OperatorColumns

Columns = Callable[[str], np.ndarray[Any, Any]]
"""Gives a column by name, one entry a case or an operator."""

OPERATOR_SIZES: Final = {"m": 2048, "n": 512, "k": 512}
"""Loop bounds of an operator, and how large a threshold may be."""
CASE_SIZES: Final = {"ops": 1 << 24, "bytes": 1 << 20}


@attrs.frozen
class Predicate:
    """Where a condition on named columns holds, and how to say it."""

    text: str
    holds: Callable[[Columns], Bools]


def conjunction(parts: Sequence[Predicate]) -> Predicate:
    """All of them."""
    return Predicate(
        " and ".join(part.text for part in parts),
        lambda column: np.logical_and.reduce([part.holds(column) for part in parts]),
    )


def atom(random: np.random.Generator, sizes: Mapping[str, int]) -> Predicate:
    """One comparison of columns whose values go up to `sizes`."""
    makers = (_residue, _threshold, _product, _relation, _residue_of_two)
    maker = makers[random.integers(len(makers))]
    a, b = random.choice(list(sizes), 2, replace=False)
    return maker(random, str(a), str(b), sizes)


def some_atoms(
    random: np.random.Generator, sizes: Mapping[str, int], most: int
) -> Predicate:
    """One to `most` atoms."""
    count = int(random.integers(1, most + 1))
    return conjunction([atom(random, sizes) for _ in range(count)])


def _residue(
    random: np.random.Generator, a: str, _: str, sizes: Mapping[str, int]
) -> Predicate:
    period = int(random.integers(2, min(sizes[a], 128) + 1))
    rest = int(random.integers(period))
    return Predicate(f"{a} % {period} == {rest}", lambda of: of(a) % period == rest)


def _threshold(
    random: np.random.Generator, a: str, _: str, sizes: Mapping[str, int]
) -> Predicate:
    least = _up_to(random, sizes[a])
    return Predicate(f"{a} >= {least}", lambda of: of(a) >= least)


def _product(
    random: np.random.Generator, a: str, b: str, sizes: Mapping[str, int]
) -> Predicate:
    least = _up_to(random, sizes[a] * sizes[b])
    return Predicate(f"{a} * {b} >= {least}", lambda of: of(a) * of(b) >= least)


def _relation(
    random: np.random.Generator, a: str, b: str, _: Mapping[str, int]
) -> Predicate:
    more = int(random.integers(4))
    return Predicate(f"{a} > {b} + {more}", lambda of: of(a) > of(b) + more)


def _residue_of_two(
    random: np.random.Generator, a: str, b: str, _: Mapping[str, int]
) -> Predicate:
    period = int(random.integers(3, 9))
    rest = int(random.integers(period))
    if random.random() < 1 / 2:
        text = f"({a} * {b}) % {period} == {rest}"
        return Predicate(text, lambda of: of(a) * of(b) % period == rest)
    text = f"({a} + {b}) % {period} == {rest}"
    return Predicate(text, lambda of: (of(a) + of(b)) % period == rest)


def _up_to(random: np.random.Generator, most: int) -> int:
    """Log-uniform from 2."""
    return round(float(np.exp(random.uniform(np.log(2), np.log(most)))))


@attrs.frozen
class Pattern:
    """A predicate over graphs: operators that must be there, and sizes of the whole."""

    text: str
    holds: Callable[[Cases], Bools]


def pattern(random: np.random.Generator) -> Pattern:
    """One or two operators with atoms, at times with a condition on edges or the whole."""
    parts = [_operator(random) for _ in range(int(random.integers(1, 3)))]
    parts += [_edges(random), _whole(random)][: int(random.integers(3))]
    return Pattern(
        "; ".join(part.text for part in parts),
        lambda cases: np.logical_and.reduce([part.holds(cases) for part in parts]),
    )


def _operator(random: np.random.Generator) -> Pattern:
    """Some operator of a kind at which one or two atoms hold."""
    kind = int(random.integers(len(OPERATORS)))
    of = some_atoms(random, OPERATOR_SIZES, 2)

    def holds(cases: Cases) -> Bools:
        rows = cases.operators
        return _some(rows, (rows.kind == kind) & of.holds(lambda name: getattr(rows, name)))

    return Pattern(f"some {OPERATORS[kind].__name__} with {of.text}", holds)


def _edges(random: np.random.Generator) -> Pattern:
    """Some operator that reads, or is read by, another one."""
    inside = ("weight_is_internal", "output_is_internal", "internal_inputs")
    name = inside[int(random.integers(len(inside)))]
    return Pattern(
        f"some {name}",
        lambda cases: _some(cases.operators, getattr(cases.operators, name) > 0),
    )


def _whole(random: np.random.Generator) -> Pattern:
    """An atom on the sums over all operators."""
    of = some_atoms(random, CASE_SIZES, 1)
    return Pattern(of.text, lambda cases: of.holds(lambda name: getattr(cases, name)))


def _some(rows: OperatorColumns, which: Bools) -> Bools:
    return rows.per_case(which.astype(np.float64)) > 0
