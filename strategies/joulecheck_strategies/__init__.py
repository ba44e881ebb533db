"""How cases are drawn: case spaces, each a Hypothesis strategy and a numpy sampler."""

from joulecheck_strategies.derivations import DerivationSpace, nearby_machines
from joulecheck_strategies.for_model import (
    ORDERED_PAIRS,
    coefficients,
    derivations,
    energy_coefficients,
    foreign_precisions,
    growths,
    huge_workloads,
    invalid_questions,
    peer_cases,
    perturbations,
    precision_pairs,
    regular_peer_cases,
    repetitions,
    sequences,
    single_operators,
    totals_growths,
    uniform_scales,
    work_without_macs,
    workloads,
)
from joulecheck_strategies.growth import GrowthSpace
from joulecheck_strategies.listed import ListedSpace
from joulecheck_strategies.peers import PeerSpace
from joulecheck_strategies.perturbations import PerturbationSpace, UniformScaleSpace
from joulecheck_strategies.precision_pairs import PrecisionPairSpace
from joulecheck_strategies.regular import Range, RegularSpace, Sizes
from joulecheck_strategies.repetition import RepetitionSpace
from joulecheck_strategies.sequences import SequenceSpace
from joulecheck_strategies.totals import TotalsGrowthSpace, TotalsSpace
from joulecheck_strategies.workload_space import WorkloadSpace

__all__ = [
    "ORDERED_PAIRS",
    "DerivationSpace",
    "GrowthSpace",
    "ListedSpace",
    "PeerSpace",
    "PerturbationSpace",
    "PrecisionPairSpace",
    "Range",
    "RegularSpace",
    "RepetitionSpace",
    "SequenceSpace",
    "Sizes",
    "TotalsGrowthSpace",
    "TotalsSpace",
    "UniformScaleSpace",
    "WorkloadSpace",
    "coefficients",
    "derivations",
    "energy_coefficients",
    "foreign_precisions",
    "growths",
    "huge_workloads",
    "invalid_questions",
    "nearby_machines",
    "peer_cases",
    "perturbations",
    "precision_pairs",
    "regular_peer_cases",
    "repetitions",
    "sequences",
    "single_operators",
    "totals_growths",
    "uniform_scales",
    "work_without_macs",
    "workloads",
]
