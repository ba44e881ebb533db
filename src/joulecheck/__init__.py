"""joulecheck: property-based fuzzing for micro-architecture energy and latency models.

This is the surface that a model's author needs; `joulecheck.testing` is the one for
tests, and the command `joulecheck` the one for campaigns.
"""

from joulecheck.case import (
    Case,
    Cases,
    EquivalentPair,
    Part,
    PartedCase,
    PrecisionPair,
    ScaledCase,
    WorkloadPair,
)
from joulecheck.coefficient import Coefficient, Layer, Provenance
from joulecheck.errors import InvalidWorkload, JoulecheckError, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.machine import Machine, Memory
from joulecheck.model import Exemption, Model
from joulecheck.property import Planted, Property, Violated
from joulecheck.space import Bounds
from joulecheck.workload import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    Node,
    Precision,
    Subgraph,
    Totals,
)

__all__ = [
    "Bounds",
    "Case",
    "Cases",
    "Coefficient",
    "Conv2d",
    "Elementwise",
    "EquivalentPair",
    "Estimate",
    "Exemption",
    "Function",
    "Gemm",
    "InvalidWorkload",
    "JoulecheckError",
    "Layer",
    "Machine",
    "Memory",
    "Model",
    "Node",
    "Part",
    "PartedCase",
    "Planted",
    "Precision",
    "PrecisionPair",
    "Property",
    "Provenance",
    "ScaledCase",
    "Subgraph",
    "Totals",
    "Unsupported",
    "Violated",
    "WorkloadPair",
]
