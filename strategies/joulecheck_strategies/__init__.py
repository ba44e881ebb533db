"""How cases are drawn: case spaces, each a Hypothesis strategy and a numpy sampler."""

from joulecheck_strategies.apart import (
    GroupsAloneSpace,
    OperatorsAloneSpace,
    SideBySideSpace,
)
from joulecheck_strategies.batch_splitting import BatchSplitSpace
from joulecheck_strategies.derivations import DerivationSpace, nearby_machines
from joulecheck_strategies.for_model import (
    ORDERED_PAIRS,
    batch_splits,
    coefficients,
    derivations,
    dimension_splits,
    energy_coefficients,
    foreign_precisions,
    groups_alone,
    growths,
    huge_workloads,
    invalid_questions,
    operators_alone,
    peer_cases,
    perturbations,
    precision_pairs,
    regular_peer_cases,
    reorderings,
    repetitions,
    respellings,
    sequences,
    side_by_side,
    single_operators,
    totals_growths,
    transpositions,
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
from joulecheck_strategies.reordering import ReorderedSpace
from joulecheck_strategies.repetition import RepetitionSpace
from joulecheck_strategies.respelling import (
    BatchAsRows,
    DepthwiseAsGroups,
    PointwiseAsGemm,
    RespelledSpace,
    Spelling,
    TransposedGemm,
    TransposedImage,
)
from joulecheck_strategies.sequences import SequenceSpace
from joulecheck_strategies.splitting import SplitSpace, Way
from joulecheck_strategies.totals import TotalsGrowthSpace, TotalsSpace
from joulecheck_strategies.workload_space import WorkloadSpace

__all__ = [
    "ORDERED_PAIRS",
    "BatchAsRows",
    "BatchSplitSpace",
    "DepthwiseAsGroups",
    "DerivationSpace",
    "GroupsAloneSpace",
    "GrowthSpace",
    "ListedSpace",
    "OperatorsAloneSpace",
    "PeerSpace",
    "PerturbationSpace",
    "PointwiseAsGemm",
    "PrecisionPairSpace",
    "Range",
    "RegularSpace",
    "ReorderedSpace",
    "RepetitionSpace",
    "RespelledSpace",
    "SequenceSpace",
    "SideBySideSpace",
    "Sizes",
    "Spelling",
    "SplitSpace",
    "TotalsGrowthSpace",
    "TotalsSpace",
    "TransposedGemm",
    "TransposedImage",
    "UniformScaleSpace",
    "Way",
    "WorkloadSpace",
    "batch_splits",
    "coefficients",
    "derivations",
    "dimension_splits",
    "energy_coefficients",
    "foreign_precisions",
    "groups_alone",
    "growths",
    "huge_workloads",
    "invalid_questions",
    "nearby_machines",
    "operators_alone",
    "peer_cases",
    "perturbations",
    "precision_pairs",
    "regular_peer_cases",
    "reorderings",
    "repetitions",
    "respellings",
    "sequences",
    "side_by_side",
    "single_operators",
    "totals_growths",
    "transpositions",
    "uniform_scales",
    "work_without_macs",
    "workloads",
]
