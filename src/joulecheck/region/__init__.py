"""Regions: conditions on named features of cases, as plain data."""

from joulecheck.region.atoms import Atom, Interval, Kinds, Residues, Values
from joulecheck.region.columns import Columns
from joulecheck.region.features import Feature, How
from joulecheck.region.region import Generalised, Measured, Outline, Region, SomeOperator

__all__ = [
    "Atom",
    "Columns",
    "Feature",
    "Generalised",
    "How",
    "Interval",
    "Kinds",
    "Measured",
    "Outline",
    "Region",
    "Residues",
    "SomeOperator",
    "Values",
]
