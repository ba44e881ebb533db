"""What a model answers: for one case in floats, for a batch in arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

import attrs
import numpy as np
from numpy.typing import ArrayLike

from joulecheck.coefficient import Layer
from joulecheck.workload.columns import Bools, Floats, Ints

_NOTHING: Mapping[Any, Any] = {}

MAPPINGS: Final = (
    "energy_terms",
    "latency_terms",
    "through",
    "latency_through",
    "subtotals",
    "traffic",
    "events",
)
"""The fields of an estimate that hold numbers by name."""


Value = TypeVar("Value")


class Deferred(Mapping[str, Value]):
    """Numbers by name that cost nothing until one is read, for what few laws look at."""

    def __init__(self, make: Callable[[], Mapping[str, Value]]) -> None:
        """Hold what makes it."""
        self._make = make

    @cached_property
    def _made(self) -> Mapping[str, Value]:
        return self._make()

    def __getitem__(self, name: str) -> Value:
        """One number, or an array of them."""
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._made)

    def __len__(self) -> int:
        """How many names."""
        return len(self._made)


@attrs.frozen(kw_only=True)
class Estimate:
    """A model's answer. Every field is optional; what is absent is not offered.

    The values are floats for one case and arrays, one entry a case, for a batch.
    """

    energy: ArrayLike | None = None
    """Joule, end to end, computed on a path of its own."""
    latency: ArrayLike | None = None
    """Second, end to end."""
    utilisation: ArrayLike | None = None
    """Share of the peak that is achieved, from 0 to 1."""
    energy_terms: Mapping[str, ArrayLike] = _NOTHING
    """Joule by term. A term that a case does not have is 0 or left out."""
    latency_terms: Mapping[str, ArrayLike] = _NOTHING
    """Second by term, each as if it were alone."""
    scope: frozenset[str] | None = None
    """Which energy terms the total includes; None means all."""
    through: Mapping[Layer, ArrayLike] = _NOTHING
    """Joule up to and with each layer: the model's own prediction, computed apart."""
    latency_through: Mapping[Layer, ArrayLike] = _NOTHING
    """Second up to and with each layer, of the same execution as if all layers further
    out took no time: the model's own prediction, computed apart."""
    subtotals: Mapping[str, ArrayLike] = _NOTHING
    """Joule by the name of a declared sub-total, computed apart from its parts."""
    traffic: Mapping[str, ArrayLike] = _NOTHING
    """Bytes that cross the edge of each memory towards the arithmetic or back, each as
    often as it does."""
    events: Mapping[str, ArrayLike] = _NOTHING
    """By the name of a coefficient: how often it is charged, in the unit that it prices
    (J/B: byte, J/op: op, W: second), counted without the price. Of a price that is not
    charged, such as that of another precision, 0."""


@attrs.frozen(kw_only=True, eq=False)
class Answers:
    """Estimates of a batch, laid out for numpy: NaN where a case got no number."""

    energy: Floats
    latency: Floats
    utilisation: Floats
    energy_terms: dict[str, Floats]
    latency_terms: dict[str, Floats]
    through: dict[Layer, Floats]
    latency_through: dict[Layer, Floats]
    subtotals: dict[str, Floats]
    traffic: dict[str, Floats]
    events: Mapping[str, Floats]
    scope: frozenset[str] | None
    unsupported: Bools
    """The model said `Unsupported`."""
    errors: dict[int, str]
    """What the model raised instead of an answer, by row."""
    batch_error: str = ""
    """What the batch path raised, so that the rows were asked one by one."""

    def __len__(self) -> int:
        """How many cases."""
        return len(self.energy)

    @property
    def absent(self) -> Floats:
        """What a term is that no case has: 0, and NaN where there is no answer at all."""
        silent = self.unsupported.copy()
        silent[list(self.errors)] = True
        return np.where(silent, np.nan, 0.0)

    def energy_term(self, name: str) -> Floats:
        """The energy of one term in each case."""
        return self.energy_terms.get(name, self.absent)

    def counted_terms(self) -> dict[str, Floats]:
        """The energy terms that the total claims to include."""
        if self.scope is None:
            return self.energy_terms
        return {name: v for name, v in self.energy_terms.items() if name in self.scope}

    def row(self, index: int) -> Answers:
        """The batch of one case `index`."""

        def pick(values: Mapping[Any, Floats]) -> dict[Any, Floats]:
            return {key: value[index : index + 1] for key, value in values.items()}

        return Answers(
            energy=self.energy[index : index + 1],
            latency=self.latency[index : index + 1],
            utilisation=self.utilisation[index : index + 1],
            **{field: pick(getattr(self, field)) for field in MAPPINGS},
            scope=self.scope,
            unsupported=self.unsupported[index : index + 1],
            errors={0: self.errors[index]} if index in self.errors else {},
            batch_error=self.batch_error,
        )


def gathered(parts: Sequence[tuple[Ints, Answers]], size: int) -> Answers:
    """The answers of `size` cases from parts, each with the rows that it answers.

    Every row is in one part. A term that a part does not have is 0 there, and a
    prediction through a layer, a sub-total, a traffic or a count of events none.
    """

    def column(values: Iterable[Floats]) -> Floats:
        filled = np.full(size, np.nan)
        for (rows, _), value in zip(parts, values, strict=True):
            filled[rows] = value
        return filled

    def number(field: str) -> Floats:
        return column(getattr(part, field) for _, part in parts)

    def terms(field: str, absent: Callable[[Answers], Floats]) -> dict[Any, Floats]:
        names = dict.fromkeys(name for _, part in parts for name in getattr(part, field))
        return {
            name: column(getattr(part, field).get(name, absent(part)) for _, part in parts)
            for name in names
        }

    def nothing(part: Answers) -> Floats:
        return np.full(len(part), np.nan)

    unsupported = np.zeros(size, dtype=bool)
    errors: dict[int, str] = {}
    for rows, part in parts:
        unsupported[rows] = part.unsupported
        errors |= {int(rows[index]): error for index, error in part.errors.items()}
    scopes = [part.scope for _, part in parts if part.scope is not None]
    return Answers(
        energy=number("energy"),
        latency=number("latency"),
        utilisation=number("utilisation"),
        energy_terms=terms("energy_terms", lambda part: part.absent),
        latency_terms=terms("latency_terms", lambda part: part.absent),
        through=terms("through", nothing),
        latency_through=terms("latency_through", nothing),
        subtotals=terms("subtotals", nothing),
        traffic=terms("traffic", nothing),
        events=Deferred(lambda: terms("events", nothing)),
        scope=frozenset().union(*scopes) if scopes else None,
        unsupported=unsupported,
        errors=errors,
        batch_error=next((part.batch_error for _, part in parts if part.batch_error), ""),
    )


def total(terms: Mapping[Any, Floats], size: int) -> Floats:
    """The sum of the terms of each of `size` cases."""
    return sum(terms.values(), start=np.zeros(size))


def including(subtotals: Mapping[str, Sequence[str]], part: str) -> frozenset[str]:
    """The sub-totals that count a term or another sub-total, directly or through others.

    Args:
        subtotals: the parts of each.
        part: what they count.
    """
    found: frozenset[str] = frozenset()
    while True:
        counted = {part, *found}
        more = frozenset(name for name, parts in subtotals.items() if counted & {*parts})
        if more == found:
            return found
        found = more
