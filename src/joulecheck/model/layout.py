"""Estimates laid out as the answers of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from joulecheck.estimate import Answers, Deferred, Estimate
from joulecheck.workload.columns import Floats


def _column(values: Iterable[ArrayLike | None]) -> Floats:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def stacked(
    estimates: Sequence[Estimate],
    unsupported: np.ndarray[Any, np.dtype[np.bool_]],
    errors: dict[int, str],
) -> Answers:
    """The answers of a batch from one estimate a case."""
    silent = unsupported.copy()
    silent[list(errors)] = True

    def terms(field: str, absent: float) -> dict[Any, Floats]:
        names = dict.fromkeys(n for e in estimates for n in getattr(e, field))
        columns = {
            n: _column(getattr(e, field).get(n, absent) for e in estimates) for n in names
        }
        return {name: np.where(silent, np.nan, column) for name, column in columns.items()}

    scopes = [e.scope for e in estimates if e.scope is not None]
    return Answers(
        energy=_column(e.energy for e in estimates),
        latency=_column(e.latency for e in estimates),
        utilisation=_column(e.utilisation for e in estimates),
        energy_terms=terms("energy_terms", 0.0),
        latency_terms=terms("latency_terms", 0.0),
        through=terms("through", np.nan),
        latency_through=terms("latency_through", np.nan),
        subtotals=terms("subtotals", np.nan),
        traffic=terms("traffic", np.nan),
        events=Deferred(lambda: terms("events", np.nan)),
        scope=frozenset().union(*scopes) if scopes else None,
        unsupported=unsupported,
        errors=errors,
    )


def laid_out(estimate: Estimate, size: int) -> Answers:
    """The answers of a batch from one estimate of arrays, or of numbers for all cases."""

    def column(value: ArrayLike | None) -> Floats:
        filled = np.asarray(np.nan if value is None else value, dtype=np.float64)
        return filled if filled.shape == (size,) else np.broadcast_to(filled, (size,))

    def terms(values: Mapping[Any, ArrayLike]) -> dict[Any, Floats]:
        return {name: column(value) for name, value in values.items()}

    return Answers(
        energy=column(estimate.energy),
        latency=column(estimate.latency),
        utilisation=column(estimate.utilisation),
        energy_terms=terms(estimate.energy_terms),
        latency_terms=terms(estimate.latency_terms),
        through=terms(estimate.through),
        latency_through=terms(estimate.latency_through),
        subtotals=terms(estimate.subtotals),
        traffic=terms(estimate.traffic),
        events=Deferred(lambda: terms(estimate.events)),
        scope=estimate.scope,
        unsupported=np.zeros(size, dtype=bool),
        errors={},
    )
