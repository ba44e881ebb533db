"""Coefficients: the named numbers of a model, each with its unit and its source."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

import attrs


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
