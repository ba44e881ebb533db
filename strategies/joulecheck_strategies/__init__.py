"""How cases are drawn: case spaces, each a Hypothesis strategy and a numpy sampler."""

from joulecheck_strategies.for_model import (
    ORDERED_PAIRS,
    foreign_precisions,
    growths,
    perturbations,
    precision_pairs,
    repetitions,
    single_operators,
    totals_growths,
    uniform_scales,
    work_without_macs,
    workloads,
)
from joulecheck_strategies.growth import GrowthSpace
from joulecheck_strategies.perturbations import PerturbationSpace, UniformScaleSpace
from joulecheck_strategies.precision_pairs import PrecisionPairSpace
from joulecheck_strategies.repetition import RepetitionSpace
from joulecheck_strategies.totals import TotalsGrowthSpace, TotalsSpace
from joulecheck_strategies.workload_space import WorkloadSpace

__all__ = [
    "ORDERED_PAIRS",
    "GrowthSpace",
    "PerturbationSpace",
    "PrecisionPairSpace",
    "RepetitionSpace",
    "TotalsGrowthSpace",
    "TotalsSpace",
    "UniformScaleSpace",
    "WorkloadSpace",
    "foreign_precisions",
    "growths",
    "perturbations",
    "precision_pairs",
    "repetitions",
    "single_operators",
    "totals_growths",
    "uniform_scales",
    "work_without_macs",
    "workloads",
]
