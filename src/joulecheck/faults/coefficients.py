"""Faults in how a model reads its coefficients, and in the questions that it takes."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from joulecheck.case import Cases
from joulecheck.estimate import Estimate
from joulecheck.faults.planted import Arrays, Fault, far_coefficient
from joulecheck.model import Scales
from joulecheck.reference.layered import LayeredModel

SATURATED: Final = 1.2
"""The factor beyond which saturating coefficients do not follow."""

TABLE_ROWS: Final = (1 << 17) - 1
"""The largest M in the short table."""


def _saturating(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    followed = {name: np.minimum(f, SATURATED) for name, f in scales.items()}
    return model.estimate_batch(cases, followed)


def _inverted(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    return model.estimate_batch(cases, {name: 1 / f for name, f in scales.items()})


def _coupled(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = Arrays.of(model.estimate_batch(cases, scales))
    factors = scales.get(far_coefficient(model), 1.0)
    return attrs.evolve(found, energy=found.energy * factors)


def _unchecked(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    known = {name: f for name, f in scales.items() if name in model.coefficients}
    return model.estimate_batch(cases, known)


def _short_table(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = Arrays.of(model.estimate_batch(cases, scales))
    beyond = cases.operators.m > TABLE_ROWS
    hit = cases.operators.per_case(beyond.astype(np.float64)) > 0
    return attrs.evolve(found, energy=np.where(hit, np.nan, found.energy))


COEFFICIENT_FAULTS: Final = (
    Fault(
        "saturating-coefficient",
        "coefficients follow a factor up to 1.2 only",
        _saturating,
    ),
    Fault(
        "inverted-coefficient",
        "a factor divides its coefficient where it should multiply",
        _inverted,
    ),
    Fault(
        "coupled-coefficient",
        "a factor of the first energy coefficient of DRAM multiplies the total",
        _coupled,
    ),
    Fault("unchecked-scale", "a scale may name what is no coefficient", _unchecked),
    Fault("short-table", "the table of energies ends at M = 131,071", _short_table),
)
