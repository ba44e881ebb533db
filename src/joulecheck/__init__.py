"""joulecheck: property-based fuzzing for micro-architecture energy and latency models.

This is the surface that a model's author needs; `joulecheck.testing` is the one for
tests, and the command `joulecheck` the one for campaigns.
"""

from joulecheck.case import (
    Case,
    Cases,
    Derivation,
    DerivedCase,
    EquivalentPair,
    Part,
    PartedCase,
    PeerCase,
    PrecisionPair,
    ScaledCase,
    WorkloadPair,
)
from joulecheck.coefficient import Coefficient, Layer, Provenance, check_scale
from joulecheck.composition import Each, Max, Sum
from joulecheck.errors import InvalidScale, InvalidWorkload, JoulecheckError, Unsupported
from joulecheck.estimate import Estimate
from joulecheck.knob import Knob, KnobKind
from joulecheck.machine import Machine, Memory, Resources
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
    "Derivation",
    "DerivedCase",
    "Each",
    "Elementwise",
    "EquivalentPair",
    "Estimate",
    "Exemption",
    "Function",
    "Gemm",
    "InvalidScale",
    "InvalidWorkload",
    "JoulecheckError",
    "Knob",
    "KnobKind",
    "Layer",
    "Machine",
    "Max",
    "Memory",
    "Model",
    "Node",
    "Part",
    "PartedCase",
    "PeerCase",
    "Planted",
    "Precision",
    "PrecisionPair",
    "Property",
    "Provenance",
    "Resources",
    "ScaledCase",
    "Subgraph",
    "Sum",
    "Totals",
    "Unsupported",
    "Violated",
    "WorkloadPair",
    "check_scale",
]
