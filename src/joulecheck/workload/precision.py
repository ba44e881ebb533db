"""Number formats: their width in memory and the order in which they cost less."""

from __future__ import annotations

from enum import Enum
from typing import Final

from joulecheck.quantities import BITS_PER_BYTE


class Precision(Enum):
    """A number format. The value is its width in memory, in bits, and its name."""

    FP64 = (64, "FP64")
    FP32 = (32, "FP32")
    TF32 = (32, "TF32")  # computes with 19 bits, is stored in 32
    BF16 = (16, "BF16")
    FP16 = (16, "FP16")
    FP8_E4M3 = (8, "FP8_E4M3")
    FP8_E5M2 = (8, "FP8_E5M2")
    FP4 = (4, "FP4")
    INT64 = (64, "INT64")
    INT32 = (32, "INT32")
    INT16 = (16, "INT16")
    INT8 = (8, "INT8")
    INT4 = (4, "INT4")

    @property
    def bits(self) -> int:
        """Width of one element in memory, in bits."""
        return self.value[0]

    def bytes_for(self, elements: int) -> int:
        """Bytes of a tensor of `elements`; a half byte at the end counts as one."""
        return -(-elements * self.bits // BITS_PER_BYTE)

    def narrower_than(self, other: Precision) -> bool:
        """Whether physics orders this format below `other`.

        The order is partial: floating point against integer, and FP16 against BF16,
        are not ordered.
        """
        return other in _WIDER[self]


_CHAINS: Final = (
    ("FP8_E4M3", "BF16", "TF32", "FP32", "FP64"),
    ("FP8_E4M3", "FP16", "TF32", "FP32", "FP64"),
    ("FP8_E5M2", "BF16", "TF32", "FP32", "FP64"),
    ("FP8_E5M2", "FP16", "TF32", "FP32", "FP64"),
    ("INT4", "INT8", "INT16", "INT32"),
)

_WIDER: Final = {
    precision: frozenset(
        Precision[wider]
        for chain in _CHAINS
        if precision.name in chain
        for wider in chain[chain.index(precision.name) + 1 :]
    )
    for precision in Precision
}

PLAINEST_FIRST: Final = (
    Precision.FP32,
    Precision.INT8,
    *(p for p in Precision if p not in {Precision.FP32, Precision.INT8}),
)
"""The order in which a search prefers one precision to another in a minimal case."""
