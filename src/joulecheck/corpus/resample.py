"""The region of a stored finding, sampled again."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from joulecheck.errors import NotOffered, UnknownName
from joulecheck.model import Subject
from joulecheck.property import Property
from joulecheck.region import Generalised

SAMPLED: Final = 256
"""Fresh cases of each region."""

LAZY_SAMPLED: Final = 32
"""The same for a model without a batch path."""


@attrs.frozen
class Resampled:
    """What fresh cases of a finding's regions show."""

    tried: int
    failing: int
    worst: float
    """The least margin, relative."""

    @property
    def text(self) -> str:
        """How many fail, or hold, of how many."""
        if self.failing:
            holding = self.tried - self.failing
            verb = "holds" if holding == 1 else "hold"
            return f"{holding} of {self.tried} fresh cases of its region {verb} now"
        return f"all of {self.tried} fresh cases of its region hold now"


def resampled(law: Property, subject: Subject, found: Generalised) -> Resampled | None:
    """Ask fresh cases of the regions; None if there are none, or no space for them.

    Raises:
        HarnessError: the law itself fails.
    """
    rng = np.random.default_rng(0)
    size = SAMPLED if subject.vectorised else LAZY_SAMPLED
    margins: list[float] = []
    try:
        space = law.space(subject)
        for region in found.regions:
            rows = region.sample(space, rng, max(1, size // law.thinning))
            margins += law.checked_margin(subject, space.batch(rows)).tolist()
    except (NotOffered, UnknownName):  # the space has changed: the case alone counts
        return None
    known = [margin for margin in margins if margin == margin]  # noqa: PLR0124 - NaN
    if not known:
        return None
    return Resampled(len(known), sum(margin < 0 for margin in known), min(known))
