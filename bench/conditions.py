"""Conditions made at random, as functions of named numbers: what faults depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import numpy as np

from joulecheck.workload.columns import Bools

Rng = np.random.Generator
Array = np.ndarray[Any, Any]
Number = Callable[[Any], Array]
Numbers = Mapping[str, tuple[Number, int]]
"""By name: a number of whatever is asked, and its largest value."""

QUANTA: Final = (8, 128)
"""Periods that are more likely than others."""


def log_uniform(random: Rng, low: float, high: float) -> int:
    """A whole number."""
    return round(float(np.exp(random.uniform(np.log(low), np.log(high)))))


@attrs.frozen
class Compared:
    """A comparison of named numbers."""

    text: str
    holds: Callable[[Any], Bools]


def interval(random: Rng, of: Numbers) -> Compared:
    """One or both ends."""
    name = str(random.choice(list(of)))
    number, high = of[name]
    ends = sorted(log_uniform(random, 2, high) for _ in range(2))
    match int(random.integers(3)):
        case 0:
            return Compared(f"{name} >= {ends[0]}", lambda a: number(a) >= ends[0])
        case 1:
            return Compared(f"{name} <= {ends[1]}", lambda a: number(a) <= ends[1])
        case _:
            return Compared(
                f"{ends[0]} <= {name} <= {ends[1]}",
                lambda a: (number(a) >= ends[0]) & (number(a) <= ends[1]),
            )


def _period(random: Rng, high: int) -> int:
    chosen = [
        int(random.integers(2, 129)),
        int(random.choice(QUANTA)),
        int(random.integers(2, 9)),
    ]
    return min(high // 2, chosen[int(random.integers(3))])


def residue(random: Rng, of: Numbers) -> Compared:
    """One rest."""
    name = str(random.choice(list(of)))
    number, high = of[name]
    period = _period(random, high)
    rest = int(random.integers(period))
    return Compared(f"{name} % {period} == {rest}", lambda a: number(a) % period == rest)


def residues(random: Rng, of: Numbers) -> Compared:
    """All rests but one, or some."""
    name = str(random.choice(list(of)))
    number, high = of[name]
    period = max(3, _period(random, high))
    if random.random() < 1 / 2:
        rest = int(random.integers(period)) if random.random() < 1 / 2 else 0
        return Compared(
            f"{name} % {period} != {rest}", lambda a: number(a) % period != rest
        )
    some = np.sort(random.choice(period, int(random.integers(2, period)), replace=False))
    text = f"{name} % {period} in {some.tolist()}"
    return Compared(text, lambda a: np.isin(number(a) % period, some))


def relation(random: Rng, of: Numbers) -> Compared:
    """One number against another."""
    one, other = (str(name) for name in random.choice(list(of), 2, replace=False))
    a, b = of[one][0], of[other][0]
    more = int(random.choice([0, 0, 1, 3, 17, -5]))
    if random.random() < 2 / 3:
        return Compared(f"{one} > {other} + {more}", lambda x: a(x) > b(x) + more)
    return Compared(f"{one} <= {other} + {more}", lambda x: a(x) <= b(x) + more)


def product(random: Rng, of: Numbers) -> Compared:
    """Of two numbers."""
    one, other = (str(name) for name in random.choice(list(of), 2, replace=False))
    (a, most), (b, more) = of[one], of[other]
    least = log_uniform(random, 8, most * more / 4)
    if random.random() < 2 / 3:
        return Compared(f"{one} * {other} >= {least}", lambda x: a(x) * b(x) >= least)
    return Compared(f"{one} * {other} <= {least}", lambda x: a(x) * b(x) <= least)


def threshold(random: Rng, of: Mapping[str, Number], low: float, high: float) -> Compared:
    """Of a derived number; at times a power of two or what fits a capacity."""
    name = str(random.choice(list(of)))
    number = of[name]
    end = log_uniform(random, low, high)
    if random.random() < 1 / 2:
        end = 1 << (end.bit_length() - 1)
    if random.random() < 3 / 4:
        return Compared(f"{name} >= {end}", lambda x: number(x) >= end)
    return Compared(f"{name} <= {end}", lambda x: number(x) <= end)


Maker = Callable[[Rng, Numbers], Compared]

MAKERS: Final[Mapping[str, Maker]] = {
    "interval": interval,
    "residue": residue,
    "residues": residues,
    "relation": relation,
    "product": product,
}


# What the finder has no words for


def total(random: Rng, of: Numbers) -> Compared:
    """A least sum."""
    (a, one), (b, other) = _two(random, of)
    least = log_uniform(random, 16, 20_000)
    return Compared(f"{one} + {other} >= {least}", lambda x: a(x) + b(x) >= least)


def most(random: Rng, of: Numbers) -> Compared:
    """A least maximum."""
    (a, one), (b, other) = _two(random, of)
    least = log_uniform(random, 16, 20_000)
    return Compared(
        f"max({one}, {other}) >= {least}", lambda x: np.maximum(a(x), b(x)) >= least
    )


def power(random: Rng, of: Numbers) -> Compared:
    """A power of two."""
    (a, one), _ = _two(random, of)
    return Compared(
        f"{one} is a power of two", lambda x: np.log2(a(x)) == np.floor(np.log2(a(x)))
    )


def digits(random: Rng, of: Numbers) -> Compared:
    """An odd number of binary ones."""
    (a, one), _ = _two(random, of)

    shifts = np.arange(24)[:, None]
    return Compared(
        f"{one} has an odd number of binary ones",
        lambda x: ((a(x).astype(np.int64) >> shifts) & 1).sum(axis=0) % 2 == 1,
    )


def divisor(random: Rng, of: Numbers) -> Compared:
    """A common divisor."""
    (a, one), (b, other) = _two(random, of)
    return Compared(
        f"{one} and {other} have a common divisor",
        lambda x: np.gcd(a(x).astype(np.int64), b(x).astype(np.int64)) > 1,
    )


def squares(random: Rng, of: Numbers) -> Compared:
    """A least sum of squares."""
    (a, one), (b, other) = _two(random, of)
    least = log_uniform(random, 256, 4e8)
    return Compared(
        f"{one}^2 + {other}^2 >= {least}", lambda x: a(x) ** 2.0 + b(x) ** 2.0 >= least
    )


def rest_of_sum(random: Rng, of: Numbers) -> Compared:
    """A rest of a sum."""
    (a, one), (b, other) = _two(random, of)
    period = int(random.integers(3, 12))
    rest = int(random.integers(period))
    return Compared(
        f"({one} + {other}) % {period} == {rest}",
        lambda x: (a(x) + b(x)) % period == rest,
    )


def waves(random: Rng, of: Numbers) -> Compared:
    """A last wave that is not half full, for tiles of 16 x 24."""
    (a, one), (b, other) = _two(random, of)
    units = int(random.choice([3, 6, 10, 14]))

    text = f"less than half of the last wave of {units} units is busy in {one}, {other}"

    def idle(asked: object) -> Bools:
        tiles = np.ceil(a(asked) / 16) * np.ceil(b(asked) / 24)
        mostly: Bools = -tiles % units >= units / 2
        return mostly

    return Compared(text, idle)


def _two(random: Rng, of: Numbers) -> tuple[tuple[Number, str], tuple[Number, str]]:
    one, other = (str(name) for name in random.choice(list(of), 2, replace=False))
    return (of[one][0], one), (of[other][0], other)


UNSAID: Final[Mapping[str, Maker]] = {
    "sum": total,
    "maximum": most,
    "power of two": power,
    "binary ones": digits,
    "divisor": divisor,
    "squares": squares,
    "residue of a sum": rest_of_sum,
    "waves": waves,
}
"""Those that the finder has no words for."""
