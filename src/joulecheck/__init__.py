"""joulecheck: property-based fuzzing for micro-architecture energy and latency models.

This is the surface that a model's author needs; `joulecheck.testing` is the one for
tests, and the command `joulecheck` the one for campaigns.
"""

from joulecheck.case import (
    Case,
    Cases,
    PrecisionPair,
    ScaledCase,
    WorkloadPair,
)
from joulecheck.coefficient import Coefficient, Layer, Provenance
from joulecheck.composition import Each, Max, Sum
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
    "Each",
    "Elementwise",
    "Estimate",
    "Exemption",
    "Function",
    "Gemm",
    "InvalidWorkload",
    "JoulecheckError",
    "Layer",
    "Machine",
    "Max",
    "Memory",
    "Model",
    "Node",
    "Planted",
    "Precision",
    "PrecisionPair",
    "Property",
    "Provenance",
    "ScaledCase",
    "Subgraph",
    "Sum",
    "Totals",
    "Unsupported",
    "Violated",
    "WorkloadPair",
]
