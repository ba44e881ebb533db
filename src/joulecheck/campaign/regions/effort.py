"""How much a search for a region may ask, by what a case costs."""

from __future__ import annotations

from typing import Final

import attrs


@attrs.frozen(kw_only=True)
class Effort:
    """Numbers of cases for each step of a search."""

    crossings: int
    """Crossings of failing cases with fresh draws, in each of some rounds."""
    anchors: int
    """Failing cases, far from each other, whose axes are scanned."""
    reach: int
    """Of the window around an anchor's value."""
    rungs: int
    """Values of a ladder between two powers of two, beside those near the anchor's."""
    closing: int
    """Cases asked at a time in the gap at an end."""
    inside: int
    """Fresh cases inside, by which a region is searched."""
    outside: int
    """Cases just outside of each condition."""
    accept: int
    """Fresh cases inside, by which a region is accepted."""


FULL: Final = Effort(
    crossings=1024,
    anchors=8,
    reach=272,
    rungs=2,
    closing=128,
    inside=300,
    outside=64,
    accept=3000,
)
"""For models with a batch path."""

SPARING: Final = Effort(
    crossings=48,
    anchors=2,
    reach=6,
    rungs=0,
    closing=8,
    inside=40,
    outside=8,
    accept=300,
)
"""For models that are asked one case at a time."""
