"""How cases are drawn: case spaces, each a Hypothesis strategy and a numpy sampler."""

from joulecheck_strategies.derivations import DerivationSpace, nearby_machines
from joulecheck_strategies.for_model import (
    coefficients,
    derivations,
    energy_coefficients,
    growths,
    huge_workloads,
    invalid_questions,
    perturbations,
    precision_pairs,
    repetitions,
    sequences,
    uniform_scales,
    workloads,
)
from joulecheck_strategies.growth import GrowthSpace
from joulecheck_strategies.listed import ListedSpace
from joulecheck_strategies.perturbations import PerturbationSpace, UniformScaleSpace
from joulecheck_strategies.precision_pairs import PrecisionPairSpace
from joulecheck_strategies.repetition import RepetitionSpace
from joulecheck_strategies.sequences import SequenceSpace
from joulecheck_strategies.totals import TotalsSpace
from joulecheck_strategies.workload_space import WorkloadSpace

__all__ = [
    "DerivationSpace",
    "GrowthSpace",
    "ListedSpace",
    "PerturbationSpace",
    "PrecisionPairSpace",
    "RepetitionSpace",
    "SequenceSpace",
    "TotalsSpace",
    "UniformScaleSpace",
    "WorkloadSpace",
    "coefficients",
    "derivations",
    "energy_coefficients",
    "growths",
    "huge_workloads",
    "invalid_questions",
    "nearby_machines",
    "perturbations",
    "precision_pairs",
    "repetitions",
    "sequences",
    "uniform_scales",
    "workloads",
]
