"""Faults in the accounts: prices that do not fit their events, and bytes in excess."""

from __future__ import annotations

from typing import Final

from joulecheck.case import Cases
from joulecheck.coefficient import Layer
from joulecheck.estimate import Estimate
from joulecheck.faults.mutation import windows_in_full, with_operators
from joulecheck.faults.planted import Fault, dearer, sound
from joulecheck.model import Scales
from joulecheck.reference.layered import LayeredModel

FEMTO: Final = 1e-3
"""Of a picojoule."""


def _femtojoules(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    found = sound(model, cases, scales)
    name, term = next(
        (name, term)
        for name, coefficient in model.coefficients.items()
        for term in sorted(coefficient.terms or ())
        if model.layers[term] is Layer.REGISTER and coefficient.unit != "J/B"
    )
    price = model.coefficients[name].value * scales.get(name, 1.0)
    return dearer(model, found, term, (FEMTO - 1) * price * found.events[name])


def _windows_in_full(model: LayeredModel, cases: Cases, scales: Scales) -> Estimate:
    return sound(model, with_operators(cases, windows_in_full), scales)


ACCOUNT_FAULTS: Final = (
    Fault(
        "femtojoules",
        "the first price of control is read as femtojoule instead of picojoule",
        _femtojoules,
    ),
    Fault(
        "windows-in-full",
        "each window of a convolution is moved in full",
        _windows_in_full,
    ),
)
"""Faults that show when terms are held against counts, or traffic against capacity."""
