"""Coefficients: the named numbers of a model, each with its unit and its source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

import attrs
import numpy as np
from numpy.typing import ArrayLike

from joulecheck.errors import InvalidScale, UnknownName, did_you_mean


class Layer(Enum):
    """Where in a machine energy is spent, from the core outwards."""

    ALU = "ALU"
    REGISTER = "REGISTER"
    SCRATCHPAD = "SCRATCHPAD"
    ON_CHIP = "ON_CHIP"
    DRAM = "DRAM"
    CLUSTER = "CLUSTER"
    STATIC = "STATIC"
    COMPOSITE = "COMPOSITE"
    """Tags a check of the whole, never a term."""


class Provenance(Enum):
    """How far a coefficient's value is to be trusted, from least to most."""

    UNKNOWN = "UNKNOWN"
    THEORETICAL = "THEORETICAL"
    INTERPOLATED = "INTERPOLATED"
    CALIBRATED = "CALIBRATED"


def _as_terms(terms: Iterable[str] | None) -> frozenset[str] | None:
    return None if terms is None else frozenset(terms)


@attrs.frozen
class Coefficient:
    """One number that a model multiplies by, in SI units.

    `terms` names the energy terms that the coefficient may move; None claims nothing,
    and the properties on isolation then leave the coefficient out.
    """

    name: str
    value: float
    unit: str
    """Such as "J/B", "J/op" or "W"; energy coefficients are those in J or W."""
    terms: frozenset[str] | None = attrs.field(default=None, converter=_as_terms)
    source: str = ""
    provenance: Provenance = Provenance.UNKNOWN

    @property
    def is_energy(self) -> bool:
        """Whether energy is proportional to all such coefficients together."""
        return self.unit.split("/")[0] in {"J", "W"}


def check_scale(
    declared: Mapping[str, Coefficient], scale: Mapping[str, ArrayLike]
) -> None:
    """Refuse a scale that a model could only answer wrongly; a model may call it first.

    Args:
        declared: the model's coefficients.
        scale: factors by coefficient, each a number or an array.

    Raises:
        UnknownName: the scale names no coefficient.
        InvalidScale: a factor is no finite number of at least 0.
    """
    unknown = scale.keys() - declared.keys()
    if unknown:
        name = min(unknown)
        msg = f"no coefficient is called {name!r}: {did_you_mean(name, declared)}"
        raise UnknownName(msg)
    check_factors(scale)


def check_factors(scale: Mapping[str, ArrayLike]) -> None:
    """Refuse factors that mean nothing.

    Raises:
        InvalidScale: a factor is no finite number of at least 0.
    """
    for name, factor in scale.items():
        if not _are_factors(factor):
            msg = (
                f"the factor of coefficient {name!r} must be a finite number >= 0, got "
                f"{factor!r}: 1 leaves it as it is"
            )
            raise InvalidScale(msg)


def _are_factors(factor: ArrayLike) -> bool:
    try:
        values = np.asarray(factor, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return bool(((values >= 0) & (values < np.inf)).all())  # NaN is neither
