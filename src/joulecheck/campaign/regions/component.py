"""Which failures belong together: those that one conjunction can describe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from joulecheck.campaign.regions.explain import candidates
from joulecheck.campaign.regions.table import Table
from joulecheck.workload.columns import Bools, Ints

TRIED: Final = 160
"""Failures that are tried one by one; others follow those that they lie between."""


def component(
    table: Table, failures: Ints, passes: Ints, periods: Sequence[tuple[int, int]]
) -> Ints:
    """The failures that can be described together with the first of them.

    One after the other, the nearest first, is let in if what describes all of them
    still keeps out every passing case.

    Args:
        table: the data.
        failures: indices of rows that fail, the seed first.
        passes: indices of rows that do not.
        periods: (term, period) of the residues to try.
    """
    within = passes[_left(table, failures, passes, periods)]
    members = failures[:1]
    rows = np.log2(1.0 + table.rows[failures] - table.rows[failures].min(axis=0))
    away = rows - rows[0]
    order = np.lexsort((np.abs(away).sum(axis=1), (away != 0).sum(axis=1)))
    spread = order[np.unique(np.linspace(0, len(order) - 1, TRIED).astype(np.int64))]
    for index in spread[1:]:
        more = np.append(members, failures[index])
        if not _left(table, more, within, periods).any():
            members = more
    return members


def _left(
    table: Table, failures: Ints, passes: Ints, periods: Sequence[tuple[int, int]]
) -> Bools:
    """Which passing cases nothing keeps out that all of the failures meet."""
    left = np.ones(len(passes), dtype=bool)
    for candidate in candidates(table, failures, passes, periods):
        left &= ~candidate.excluded
    return left
