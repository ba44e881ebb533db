"""What must hold: the catalogue of properties, one a file, a family a folder."""

from typing import Final

from joulecheck.property import Property
from joulecheck_properties.bounds.energy_above_traffic import EnergyAboveTraffic
from joulecheck_properties.bounds.latency_above_compute import LatencyAboveCompute
from joulecheck_properties.bounds.latency_above_traffic import LatencyAboveTraffic
from joulecheck_properties.bounds.utilisation_is_a_share import UtilisationIsAShare
from joulecheck_properties.composition.fused_at_most_unfused import FusedAtMostUnfused
from joulecheck_properties.composition.independent_operators_add import (
    IndependentOperatorsAdd,
)
from joulecheck_properties.composition.latency_within_terms import LatencyWithinTerms
from joulecheck_properties.composition.layers_sum_to_total import LayersSumToTotal
from joulecheck_properties.composition.prefixes_agree import PrefixesAgree
from joulecheck_properties.continuity.growth_within_quanta import GrowthWithinQuanta
from joulecheck_properties.continuity.no_jump_beyond_quanta import NoJumpBeyondQuanta
from joulecheck_properties.continuity.subadditive import Subadditive
from joulecheck_properties.determinism.batch_equals_scalar import BatchEqualsScalar
from joulecheck_properties.determinism.same_question_same_answer import (
    SameQuestionSameAnswer,
)
from joulecheck_properties.monotonicity.energy_grows_with_repetition import (
    EnergyGrowsWithRepetition,
)
from joulecheck_properties.monotonicity.energy_grows_with_work import EnergyGrowsWithWork
from joulecheck_properties.monotonicity.latency_grows_with_work import (
    LatencyGrowsWithWork,
)
from joulecheck_properties.monotonicity.nothing_negative import NothingNegative
from joulecheck_properties.precision.int8_below_fp32 import Int8BelowFp32
from joulecheck_properties.precision.narrower_costs_no_more import NarrowerCostsNoMore
from joulecheck_properties.robustness.valid_input_gets_numbers import (
    ValidInputGetsNumbers,
)
from joulecheck_properties.scaling.energy_scales_with_coefficients import (
    EnergyScalesWithCoefficients,
)
from joulecheck_properties.sensitivity.no_other_term import NoOtherTerm
from joulecheck_properties.sensitivity.own_terms_in_proportion import OwnTermsInProportion
from joulecheck_properties.symmetry.batch_split_within_bounds import BatchSplitWithinBounds
from joulecheck_properties.symmetry.groups_equal_channels_is_depthwise import (
    GroupsEqualChannelsIsDepthwise,
)
from joulecheck_properties.symmetry.one_group_is_plain import OneGroupIsPlain
from joulecheck_properties.symmetry.pointwise_convolution_is_gemm import (
    PointwiseConvolutionIsGemm,
)
from joulecheck_properties.symmetry.reordering_independent_nodes import (
    ReorderingIndependentNodes,
)
from joulecheck_properties.symmetry.shared_weight_batch_is_larger_m import (
    SharedWeightBatchIsLargerM,
)
from joulecheck_properties.symmetry.transposition_where_declared import (
    TranspositionWhereDeclared,
)

CATALOGUE: Final[tuple[Property, ...]] = (
    LatencyAboveCompute(),  # BND001
    LatencyAboveTraffic(),  # BND002
    UtilisationIsAShare(),  # BND003
    EnergyAboveTraffic(),  # BND004
    LayersSumToTotal(),  # CMP001
    PrefixesAgree(),  # CMP002
    LatencyWithinTerms(),  # CMP003
    FusedAtMostUnfused(),  # CMP004
    IndependentOperatorsAdd(),  # CMP005
    Subadditive(),  # CON001
    GrowthWithinQuanta(),  # CON002
    NoJumpBeyondQuanta(),  # CON004
    SameQuestionSameAnswer(),  # DET001
    BatchEqualsScalar(),  # DET002
    NothingNegative(),  # MON001
    EnergyGrowsWithWork(),  # MON002
    LatencyGrowsWithWork(),  # MON003
    EnergyGrowsWithRepetition(),  # MON004
    NarrowerCostsNoMore(),  # PRC001
    Int8BelowFp32(),  # PRC002
    ValidInputGetsNumbers(),  # ROB001
    EnergyScalesWithCoefficients(),  # SCL001
    OwnTermsInProportion(),  # SEN001
    NoOtherTerm(),  # SEN002
    PointwiseConvolutionIsGemm(),  # SYM001
    OneGroupIsPlain(),  # SYM002
    GroupsEqualChannelsIsDepthwise(),  # SYM003
    SharedWeightBatchIsLargerM(),  # SYM004
    BatchSplitWithinBounds(),  # SYM005
    TranspositionWhereDeclared(),  # SYM006
    ReorderingIndependentNodes(),  # SYM007
)
"""Every built-in property. The entry point `joulecheck.properties` offers it."""
