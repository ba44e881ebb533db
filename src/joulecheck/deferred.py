"""Numbers by name that are worked out when one of them is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar

Value = TypeVar("Value")


class Deferred(Mapping[str, Value]):
    """A mapping that costs nothing until it is read, for what few laws look at."""

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
