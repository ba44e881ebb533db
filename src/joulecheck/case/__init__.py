"""Cases: the questions of a property, one at a time or as a batch of arrays.

A plain `Case` is what a model is asked: a workload at a precision. The other kinds
put two questions side by side, one under perturbed coefficients, one on a machine
derived from the model's own, or one to two models.
"""

from joulecheck.case.batches import (
    AnyBatch,
    Batch,
    Cases,
    DerivedCases,
    EquivalentPairs,
    PartedCases,
    PeerCases,
    PeerGroup,
    PrecisionPairs,
    ScaledCases,
    Singles,
    WorkloadPairs,
    batch_of,
)
from joulecheck.case.kinds import (
    AnyCase,
    Case,
    CaseSequence,
    CoefficientCase,
    Derivation,
    DerivedCase,
    EquivalentPair,
    InvalidCase,
    MeasuredCase,
    Part,
    PartedCase,
    PeerCase,
    PrecisionPair,
    Question,
    ScaledCase,
    WorkloadPair,
    Wrong,
)

__all__ = [
    "AnyBatch",
    "AnyCase",
    "Batch",
    "Case",
    "CaseSequence",
    "Cases",
    "CoefficientCase",
    "Derivation",
    "DerivedCase",
    "DerivedCases",
    "EquivalentPair",
    "EquivalentPairs",
    "InvalidCase",
    "MeasuredCase",
    "Part",
    "PartedCase",
    "PartedCases",
    "PeerCase",
    "PeerCases",
    "PeerGroup",
    "PrecisionPair",
    "PrecisionPairs",
    "Question",
    "ScaledCase",
    "ScaledCases",
    "Singles",
    "WorkloadPair",
    "WorkloadPairs",
    "Wrong",
    "batch_of",
]
