"""How well the outline of a finding, or its regions, match where the law fails."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from joulecheck.campaign.regions.figures import figures_of
from joulecheck.campaign.search import checks_in
from joulecheck.model import Subject
from joulecheck.property import Property
from joulecheck.region import Generalised, Outline
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
    of_answers: bool = False
    """Whether it speaks of what the model answers, and not of workloads alone."""

    @property
    def good(self) -> bool:
        """Whether it leaves out and holds too much of at most 1 in 100."""
        return self.recall >= RECALL and self.false < FALSE


def _of_outline(
    found: Outline, law: Property, model: Subject, random: np.random.Generator
) -> Fit:
    space, told = law.space(model), figures_of(model)
    rows = space.sample(random, checks_in(DENSE, law))
    fails = law.checked_margin(model, space.batch(rows)) < 0
    inside = found.contains(space, rows, told)
    both = int((inside & fails).sum())
    return Fit(
        failing=int(fails.sum()),
        recall=both / fails.sum() if fails.any() else 1.0,
        false=1 - both / inside.sum() if inside.any() else 0.0,
        of_answers=found.of_answers,
    )


def fit_of(found: Generalised, law: Property, model: Subject, seed: int) -> Fit:
    """Hold the outline, or else the regions that were found, to fresh cases."""
    space, random = law.space(model), np.random.default_rng(seed)
    if found.outline is not None:
        return _of_outline(found.outline, law, model, random)

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
