"""Conditions that were chosen, and how far the evidence leaves them open."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from joulecheck.campaign.regions.ends import Gap
from joulecheck.campaign.regions.explain import Candidate, placed
from joulecheck.campaign.regions.table import Placed, Table
from joulecheck.region import Interval
from joulecheck.workload.columns import Ints


@attrs.frozen(eq=False)
class Chosen:
    """A condition of the conjunction, and what it alone keeps out."""

    candidate: Candidate
    tight: Placed
    """The narrowest form, which the failures fill."""
    alone: Ints
    """The rows that pass and meet all other conditions."""
    gap: Gap | None
    """The end of an interval."""

    @property
    def loose(self) -> Placed:
        """The widest form that the evidence allows."""
        if self.gap is None:
            return self.tight
        towards = np.inf if self.gap.is_low else -np.inf
        return self._ending(float(np.nextafter(self.gap.outside, towards)))

    @property
    def final(self) -> Placed:
        """The form in which it is said."""
        return self.tight if self.gap is None else self._ending(self.gap.end)

    def _ending(self, end: float) -> Placed:
        atom = self.tight.atom
        if self.gap is None or not isinstance(atom, Interval):
            return self.tight
        return Placed(self.tight.position, atom.ending(end, low=self.gap.is_low))


def chosen_as(table: Table, candidate: Candidate, alone: Ints) -> Chosen:
    """A candidate as a condition that alone keeps out some passing rows."""
    tight = placed(table, candidate)
    gap = None
    if isinstance(tight.atom, Interval):
        term, values = table.terms[candidate.term], table.values[candidate.term, alone]
        if tight.atom.low is not None:
            gap = Gap(term, True, tight.atom.low, float(values.max()))  # noqa: FBT003 - is_low
        elif tight.atom.high is not None:
            gap = Gap(term, False, tight.atom.high, float(values.min()))  # noqa: FBT003 - is_low
    return Chosen(candidate, tight, alone, gap)


def detailed(table: Table, found: Sequence[Candidate], passes: Ints) -> list[Chosen]:
    """The candidates of a cover as conditions."""
    count = np.sum([candidate.excluded for candidate in found], axis=0)
    return [
        chosen_as(table, candidate, passes[candidate.excluded & (count == 1)])
        for candidate in found
    ]
