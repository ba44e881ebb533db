"""Units as SI floats: write `3.1 * pJ` at the edge, compute in joule and second inside.

A quantity is a plain float in joule, second, byte, op or watt, or a product of them.
A unit is the float by which a figure in that unit is multiplied.
"""

from __future__ import annotations

from math import isfinite
from typing import Final

J: Final = 1.0
mJ: Final = 1e-3
uJ: Final = 1e-6
nJ: Final = 1e-9
pJ: Final = 1e-12
fJ: Final = 1e-15

s: Final = 1.0
ms: Final = 1e-3
us: Final = 1e-6
ns: Final = 1e-9

Hz: Final = 1.0
MHz: Final = 1e6
GHz: Final = 1e9

W: Final = 1.0

KiB: Final = 1024
MiB: Final = 1024**2
GiB: Final = 1024**3

GB_per_s: Final = 1e9
TB_per_s: Final = 1e12

TOP_per_s: Final = 1e12

OPS_PER_MAC: Final = 2
"""One multiply-accumulate is two operations, everywhere in joulecheck."""

BITS_PER_BYTE: Final = 8

_PREFIXES: Final = (
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "u"),
    (1e-9, "n"),
    (1e-12, "p"),
    (1e-15, "f"),
)


def many(count: int, one: str, more: str = "") -> str:
    """A count with its noun: "1 finding", "1,200 findings".

    Args:
        count: how many.
        one: the noun of one.
        more: that of any other number; `one` with an s if it is left out.
    """
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


def engineering(value: float, unit: str) -> str:
    """`value` with four digits and the prefix that keeps it between 1 and 1000."""
    if value == 0 or not isfinite(value):
        return f"{value:g} {unit}"
    for factor, prefix in _PREFIXES:
        if abs(value) >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"
