"""How well the region of a finding matches where the law fails."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.search import checks_in
from joulecheck.model import Subject
from joulecheck.property import Property
from joulecheck.region import Generalised
from joulecheck.workload.columns import Bools, Ints

DENSE: Final = 32_768
"""Cases that are drawn to find out where a law fails; fewer of one that is thinned."""

CLAIMED: Final = 4096
"""Cases that are drawn inside of each region."""

RECALL: Final = 0.99
FALSE: Final = 0.01


@attrs.frozen(kw_only=True)
class Fit:
    """A region against cases that it was not made from."""

    failing: int
    """Of the cases drawn, those for which the law fails."""
    recall: float
    """Share of these inside; of none 1, if there is a region."""
    false: float
    """Of the cases drawn inside, the share for which the law does not fail."""

    @property
    def good(self) -> bool:
        """Whether it leaves out and holds too much of at most 1 in 100."""
        return self.recall >= RECALL and self.false < FALSE


def fit_of(found: Generalised, law: Property, model: Subject, seed: int) -> Fit:
    """Hold the regions that were found, if any, to fresh cases."""
    space, random = law.space(model), np.random.default_rng(seed)

    def fails(rows: Ints) -> Bools:
        return law.checked_margin(model, space.batch(rows)) < 0

    rows = space.sample(random, checks_in(DENSE, law))
    failing = rows[fails(rows)]
    inside = found.contains(space, failing)
    size = checks_in(CLAIMED, law)
    claimed = [
        region.sample(space, random, size, failing[region.contains(space, failing)])
        for region in found.regions
    ]
    members = np.concatenate(claimed) if claimed else failing[:0]
    return Fit(
        failing=len(failing),
        recall=float(inside.mean()) if len(failing) else float(bool(claimed)),
        false=1 - float(fails(members).mean()) if len(members) else 0.0,
    )
