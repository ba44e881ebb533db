"""Shrinking with Hypothesis: a screened case is handed over as a choice sequence.

The sequence goes into a fresh in-memory database under the secondary key, where
Hypothesis looks for failures to replay; `find` replays it first and then shrinks it.
`.secondary` and `choices_to_bytes` are conventions, so the range of versions is
pinned and tested. Without `derandomize` shrinking would not be deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import NoSuchExample

from joulecheck.case import AnyCase
from joulecheck.errors import HarnessError
from joulecheck.space import CaseSpace

_PARENT: Final = settings(derandomize=True)
_KEY: Final = b"joulecheck"


def shrink(
    space: CaseSpace,
    row: Sequence[int],
    fails: Callable[[AnyCase], bool],
    *,
    limit: int,
) -> AnyCase:
    """A case as plain as Hypothesis gets from a failing row, or the row's own case.

    Args:
        space: where the row comes from.
        row: canonical genes of a failing case.
        fails: whether a case fails, on the scalar path.
        limit: how many cases may be asked; then the plainest one so far stands.

    Raises:
        HarnessError: Hypothesis did not replay the row's case first.
    """
    injected = space.build(row)
    seen: dict[str, bool] = {}

    def condition(case: AnyCase) -> bool:
        key = repr(case)
        if not seen and case != injected:
            msg = f"Hypothesis replayed {case} instead of {injected}"
            raise HarnessError(msg)
        if key not in seen:
            seen[key] = len(seen) < limit and fails(case)
        return seen[key]

    database = InMemoryExampleDatabase()
    database.save(_KEY + b".secondary", choices_to_bytes(space.choices(row)))
    chosen = settings(
        _PARENT,
        database=database,
        deadline=None,
        phases=[Phase.reuse, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    try:
        return find(space.strategy(), condition, settings=chosen, database_key=_KEY)
    except NoSuchExample:
        return injected
