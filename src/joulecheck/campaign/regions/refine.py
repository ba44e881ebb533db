"""Saying more of a pattern's operator, where cases that have one do not all fail."""

from __future__ import annotations

from typing import Final

import numpy as np

from joulecheck.campaign.regions.chosen import Chosen, detailed
from joulecheck.campaign.regions.explain import candidates, cover
from joulecheck.campaign.regions.larger import Larger
from joulecheck.campaign.regions.table import Table
from joulecheck.region import Region, SomeOperator
from joulecheck.workload.columns import Bools

Patterns = tuple[SomeOperator, ...]

MOST: Final = 3000
"""Operators that are looked at of those that fit, in failing and in passing cases."""


def refined(larger: Larger, patterns: Patterns) -> Patterns | None:
    """The patterns with one narrower, so that only cases that fail have them.

    An operator that is the only one to fit in a failing case must go on to fit, and
    none may that fits in a passing one. None if no pattern can be so.
    """
    within = Region(patterns).holds(larger.columns)
    best: Patterns | None = None
    least = np.inf
    for index in range(len(patterns)):
        found = _conditions(larger, patterns[index], within)
        gained = [c for c in found or [] if c.tight.position is not None]
        if not found or not gained:
            continue
        cost = sum(chosen.candidate.cost for chosen in found)
        if cost < least:
            more = [chosen.final.atom for chosen in gained]
            narrower = SomeOperator([*patterns[index].atoms, *more])
            best = (*patterns[:index], narrower, *patterns[index + 1 :])
            least = cost
    return best


def _conditions(
    larger: Larger, pattern: SomeOperator, within: Bools
) -> list[Chosen] | None:
    columns, task = larger.columns, larger.task
    fits = np.logical_and.reduce(
        [np.ones(len(columns.owners), dtype=bool)]
        + [atom.holds("operator", columns) for atom in pattern.atoms]
    )
    fits &= within[columns.owners]
    alone = np.bincount(columns.owners[fits], minlength=columns.size)[columns.owners] == 1
    fails = larger.failing[columns.owners]
    failing, passing = np.flatnonzero(fits & fails & alone), np.flatnonzero(fits & ~fails)
    if not len(failing) or not len(passing):
        return None
    some = np.concatenate([task.rng.permutation(of)[:MOST] for of in (failing, passing)])
    table = Table(task.space, larger.rows[:64], 1, task.quanta)
    table.add(larger.rows[columns.owners[some]], fails[some], columns.each(some))
    failures, passes = np.flatnonzero(table.failing), np.flatnonzero(~table.failing)
    found = cover(candidates(table, failures, passes, []), len(passes))
    return None if found is None else detailed(table, found, passes)
