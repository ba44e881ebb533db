"""Features: numbers derived from named columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Final

import attrs
import numpy as np

from joulecheck.workload.columns import Floats


class How(Enum):
    """How a feature follows from its columns."""

    VALUE = "value"
    DIFFERENCE = "difference"
    """The first without the second."""
    PRODUCT = "product"
    TILES = "tiles"
    """The product of how many tiles of some size each takes."""
    RATIO = "ratio"
    """The first over the second."""


_COLUMNS: Final = {How.VALUE: 1, How.DIFFERENCE: 2, How.RATIO: 2}


def _as_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


def _as_ints(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(numbers)


@attrs.frozen
class Feature:
    """A number of a case, or of an operator, by the columns that it depends on."""

    of: tuple[str, ...] = attrs.field(converter=_as_names)
    how: How = How.VALUE
    tiles: tuple[int, ...] = attrs.field(default=(), converter=_as_ints)
    """The size of a tile along each column, if it counts them."""

    def __attrs_post_init__(self) -> None:
        """Refuse what cannot be computed.

        Raises:
            ValueError: too few or too many columns or sizes of tiles.
        """
        expected = _COLUMNS.get(self.how, len(self.of))
        if not self.of or len(self.of) != expected:
            msg = f"a {self.how.value} takes {expected or 1} columns, got {list(self.of)}"
            raise ValueError(msg)
        sizes = len(self.of) if self.how is How.TILES else 0
        if len(self.tiles) != sizes or any(size < 1 for size in self.tiles):
            msg = f"a {self.how.value} of {sizes} tile sizes >= 1, got {list(self.tiles)}"
            raise ValueError(msg)

    def values(self, column: Callable[[str], Floats]) -> Floats:
        """The feature of all entries of the columns; NaN where one of them is."""
        columns = [column(name) for name in self.of]
        match self.how:
            case How.VALUE:
                return columns[0]
            case How.DIFFERENCE:
                return columns[0] - columns[1]
            case How.RATIO:
                return _ratio(columns[0], columns[1])
            case How.TILES:
                columns = [
                    np.ceil(values / size)
                    for values, size in zip(columns, self.tiles, strict=True)
                ]
        product = columns[0]
        for values in columns[1:]:
            product = product * values
        return product


def _ratio(above: Floats, below: Floats) -> Floats:
    found = np.full(len(above), np.nan)
    np.divide(above, below, out=found, where=below != 0)
    return found
