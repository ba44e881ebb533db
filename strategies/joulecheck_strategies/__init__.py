"""How cases are drawn: case spaces, each a Hypothesis strategy and a numpy sampler."""

from joulecheck_strategies.apart import (
    GroupsAloneSpace,
    OperatorsAloneSpace,
    SideBySideSpace,
)
from joulecheck_strategies.batch_splitting import BatchSplitSpace
from joulecheck_strategies.for_model import (
    batch_splits,
    dimension_splits,
    groups_alone,
    growths,
    operators_alone,
    perturbations,
    precision_pairs,
    reorderings,
    repetitions,
    respellings,
    side_by_side,
    transpositions,
    uniform_scales,
    workloads,
)
from joulecheck_strategies.growth import GrowthSpace
from joulecheck_strategies.perturbations import PerturbationSpace, UniformScaleSpace
from joulecheck_strategies.precision_pairs import PrecisionPairSpace
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
from joulecheck_strategies.splitting import SplitSpace, Way
from joulecheck_strategies.totals import TotalsSpace
from joulecheck_strategies.workload_space import WorkloadSpace

__all__ = [
    "BatchAsRows",
    "BatchSplitSpace",
    "DepthwiseAsGroups",
    "GroupsAloneSpace",
    "GrowthSpace",
    "OperatorsAloneSpace",
    "PerturbationSpace",
    "PointwiseAsGemm",
    "PrecisionPairSpace",
    "ReorderedSpace",
    "RepetitionSpace",
    "RespelledSpace",
    "SideBySideSpace",
    "Spelling",
    "SplitSpace",
    "TotalsSpace",
    "TransposedGemm",
    "TransposedImage",
    "UniformScaleSpace",
    "Way",
    "WorkloadSpace",
    "batch_splits",
    "dimension_splits",
    "groups_alone",
    "growths",
    "operators_alone",
    "perturbations",
    "precision_pairs",
    "reorderings",
    "repetitions",
    "respellings",
    "side_by_side",
    "transpositions",
    "uniform_scales",
    "workloads",
]
