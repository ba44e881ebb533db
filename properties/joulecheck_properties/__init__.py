"""What must hold: the catalogue of properties, one a file, a family a folder."""

from typing import Final

from joulecheck.property import Property
from joulecheck_properties.bounds.alu_energy_within_op_energies import (
    AluEnergyWithinOpEnergies,
)
from joulecheck_properties.bounds.energy_above_least_op_energy import (
    EnergyAboveLeastOpEnergy,
)
from joulecheck_properties.bounds.energy_above_traffic import EnergyAboveTraffic
from joulecheck_properties.bounds.io_lower_bound import IoLowerBound
from joulecheck_properties.bounds.latency_above_compute import LatencyAboveCompute
from joulecheck_properties.bounds.latency_above_traffic import LatencyAboveTraffic
from joulecheck_properties.bounds.launch_as_declared import LaunchAsDeclared
from joulecheck_properties.bounds.memory_energy_within_traffic_prices import (
    MemoryEnergyWithinTrafficPrices,
)
from joulecheck_properties.bounds.memory_time_above_traffic import (
    MemoryTimeAboveTraffic,
)
from joulecheck_properties.bounds.near_traffic_above_far import NearTrafficAboveFar
from joulecheck_properties.bounds.plausible_ranges import PlausibleRanges
from joulecheck_properties.bounds.power_above_static import PowerAboveStatic
from joulecheck_properties.bounds.power_below_tdp import PowerBelowTdp
from joulecheck_properties.bounds.roofline_at_every_level import RooflineAtEveryLevel
from joulecheck_properties.bounds.static_energy_within_static_power import (
    StaticEnergyWithinStaticPower,
)
from joulecheck_properties.bounds.utilisation_is_a_share import UtilisationIsAShare
from joulecheck_properties.bounds.what_fits_crosses_once import WhatFitsCrossesOnce
from joulecheck_properties.bounds.zero_work import ZeroWork
from joulecheck_properties.composition.fused_at_most_unfused import FusedAtMostUnfused
from joulecheck_properties.composition.independent_operators_add import (
    IndependentOperatorsAdd,
)
from joulecheck_properties.composition.latency_composition_as_declared import (
    LatencyCompositionAsDeclared,
)
from joulecheck_properties.composition.latency_prefixes_agree import LatencyPrefixesAgree
from joulecheck_properties.composition.latency_within_terms import LatencyWithinTerms
from joulecheck_properties.composition.layers_sum_to_total import LayersSumToTotal
from joulecheck_properties.composition.prefixes_agree import PrefixesAgree
from joulecheck_properties.composition.subtotals import Subtotals
from joulecheck_properties.composition.terms_are_prices_times_events import (
    TermsArePricesTimesEvents,
)
from joulecheck_properties.composition.utilisation_is_achieved_over_peak import (
    UtilisationIsAchievedOverPeak,
)
from joulecheck_properties.continuity.capacity_up_traffic_not_up import (
    CapacityUpTrafficNotUp,
)
from joulecheck_properties.continuity.growth_within_quanta import GrowthWithinQuanta
from joulecheck_properties.continuity.no_jump_beyond_quanta import NoJumpBeyondQuanta
from joulecheck_properties.continuity.subadditive import Subadditive
from joulecheck_properties.determinism.batch_equals_scalar import BatchEqualsScalar
from joulecheck_properties.determinism.copies_agree import CopiesAgree
from joulecheck_properties.determinism.order_irrelevant import OrderIrrelevant
from joulecheck_properties.determinism.processes_agree import ProcessesAgree
from joulecheck_properties.determinism.same_question_same_answer import (
    SameQuestionSameAnswer,
)
from joulecheck_properties.determinism.threads_agree import ThreadsAgree
from joulecheck_properties.measurement.predictions_meet_measurements import (
    PredictionsMeetMeasurements,
)
from joulecheck_properties.monotonicity.energy_grows_with_repetition import (
    EnergyGrowsWithRepetition,
)
from joulecheck_properties.monotonicity.energy_grows_with_work import EnergyGrowsWithWork
from joulecheck_properties.monotonicity.latency_grows_with_work import (
    LatencyGrowsWithWork,
)
from joulecheck_properties.monotonicity.layers_never_lower_energy import (
    LayersNeverLowerEnergy,
)
from joulecheck_properties.monotonicity.layers_never_lower_latency import (
    LayersNeverLowerLatency,
)
from joulecheck_properties.monotonicity.more_bytes_same_ops import MoreBytesSameOps
from joulecheck_properties.monotonicity.more_ops_same_bytes import MoreOpsSameBytes
from joulecheck_properties.monotonicity.nothing_negative import NothingNegative
from joulecheck_properties.order.derived_dominating_machine_never_slower import (
    DerivedDominatingMachineNeverSlower,
)
from joulecheck_properties.order.later_generation_never_slower import (
    LaterGenerationNeverSlower,
)
from joulecheck_properties.order.resource_inclusion_never_slower import (
    ResourceInclusionNeverSlower,
)
from joulecheck_properties.order.strictly_faster_where_bound import (
    StrictlyFasterWhereBound,
)
from joulecheck_properties.precision.alu_energy_strict import AluEnergyStrict
from joulecheck_properties.precision.int8_below_fp32 import Int8BelowFp32
from joulecheck_properties.precision.latency_follows_peaks import LatencyFollowsPeaks
from joulecheck_properties.precision.narrower_costs_no_more import NarrowerCostsNoMore
from joulecheck_properties.precision.traffic_follows_width import TrafficFollowsWidth
from joulecheck_properties.precision.unsupported_precision_raises import (
    UnsupportedPrecisionRaises,
)
from joulecheck_properties.ranking.classes_rank_at_one_point import ClassesRankAtOnePoint
from joulecheck_properties.ranking.classes_rank_in_one_technology import (
    ClassesRankInOneTechnology,
)
from joulecheck_properties.ranking.known_disagreements_persist import (
    KnownDisagreementsPersist,
)
from joulecheck_properties.ranking.larger_machine_is_faster import LargerMachineIsFaster
from joulecheck_properties.robustness.huge_and_tiny_dimensions import HugeAndTinyDimensions
from joulecheck_properties.robustness.invalid_input_raises_typed_error import (
    InvalidInputRaisesTypedError,
)
from joulecheck_properties.robustness.no_side_effects import NoSideEffects
from joulecheck_properties.robustness.valid_input_gets_numbers import (
    ValidInputGetsNumbers,
)
from joulecheck_properties.scaling.all_rates_scaled import AllRatesScaled
from joulecheck_properties.scaling.change_of_units import ChangeOfUnits
from joulecheck_properties.scaling.energy_scales_with_coefficients import (
    EnergyScalesWithCoefficients,
)
from joulecheck_properties.scaling.more_units_at_most_proportionally_faster import (
    MoreUnitsAtMostProportionallyFaster,
)
from joulecheck_properties.scaling.some_rates_scaled import SomeRatesScaled
from joulecheck_properties.scaling.traffic_similarity import TrafficSimilarity
from joulecheck_properties.sensitivity.affine_response import AffineResponse
from joulecheck_properties.sensitivity.better_rate_never_slows import BetterRateNeverSlows
from joulecheck_properties.sensitivity.cheaper_never_dearer import CheaperNeverDearer
from joulecheck_properties.sensitivity.elasticities_sum_to_one import ElasticitiesSumToOne
from joulecheck_properties.sensitivity.no_dead_coefficient import NoDeadCoefficient
from joulecheck_properties.sensitivity.no_other_term import NoOtherTerm
from joulecheck_properties.sensitivity.own_terms_in_proportion import OwnTermsInProportion
from joulecheck_properties.sensitivity.pairs_additive import PairsAdditive
from joulecheck_properties.sensitivity.perturbation_leaves_no_trace import (
    PerturbationLeavesNoTrace,
)
from joulecheck_properties.sensitivity.total_moves_with_its_terms import (
    TotalMovesWithItsTerms,
)
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
    RooflineAtEveryLevel(),  # BND005
    EnergyAboveLeastOpEnergy(),  # BND006
    IoLowerBound(),  # BND007
    NearTrafficAboveFar(),  # BND008
    PowerBelowTdp(),  # BND009
    PowerAboveStatic(),  # BND010
    PlausibleRanges(),  # BND011
    ZeroWork(),  # BND012
    AluEnergyWithinOpEnergies(),  # BND013
    MemoryEnergyWithinTrafficPrices(),  # BND014
    StaticEnergyWithinStaticPower(),  # BND015
    MemoryTimeAboveTraffic(),  # BND016
    LaunchAsDeclared(),  # BND017
    WhatFitsCrossesOnce(),  # BND018
    LayersSumToTotal(),  # CMP001
    PrefixesAgree(),  # CMP002
    LatencyWithinTerms(),  # CMP003
    FusedAtMostUnfused(),  # CMP004
    IndependentOperatorsAdd(),  # CMP005
    LatencyCompositionAsDeclared(),  # CMP006
    Subtotals(),  # CMP007
    LatencyPrefixesAgree(),  # CMP008
    UtilisationIsAchievedOverPeak(),  # CMP009
    TermsArePricesTimesEvents(),  # CMP010
    Subadditive(),  # CON001
    GrowthWithinQuanta(),  # CON002
    CapacityUpTrafficNotUp(),  # CON003
    NoJumpBeyondQuanta(),  # CON004
    SameQuestionSameAnswer(),  # DET001
    BatchEqualsScalar(),  # DET002
    OrderIrrelevant(),  # DET003
    ThreadsAgree(),  # DET004
    ProcessesAgree(),  # DET005
    CopiesAgree(),  # DET006
    NothingNegative(),  # MON001
    EnergyGrowsWithWork(),  # MON002
    LatencyGrowsWithWork(),  # MON003
    EnergyGrowsWithRepetition(),  # MON004
    LayersNeverLowerEnergy(),  # MON005
    LayersNeverLowerLatency(),  # MON006
    MoreOpsSameBytes(),  # MON007
    MoreBytesSameOps(),  # MON008
    ResourceInclusionNeverSlower(),  # ORD001
    StrictlyFasterWhereBound(),  # ORD002
    LaterGenerationNeverSlower(),  # ORD003
    DerivedDominatingMachineNeverSlower(),  # ORD004
    NarrowerCostsNoMore(),  # PRC001
    Int8BelowFp32(),  # PRC002
    AluEnergyStrict(),  # PRC003
    TrafficFollowsWidth(),  # PRC004
    LatencyFollowsPeaks(),  # PRC005
    UnsupportedPrecisionRaises(),  # PRC006
    ClassesRankInOneTechnology(),  # RNK001
    ClassesRankAtOnePoint(),  # RNK002
    LargerMachineIsFaster(),  # RNK003
    KnownDisagreementsPersist(),  # RNK004
    ValidInputGetsNumbers(),  # ROB001
    HugeAndTinyDimensions(),  # ROB002
    InvalidInputRaisesTypedError(),  # ROB003
    NoSideEffects(),  # ROB004
    EnergyScalesWithCoefficients(),  # SCL001
    AllRatesScaled(),  # SCL002
    SomeRatesScaled(),  # SCL003
    TrafficSimilarity(),  # SCL004
    ChangeOfUnits(),  # SCL005
    MoreUnitsAtMostProportionallyFaster(),  # SCL006
    OwnTermsInProportion(),  # SEN001
    NoOtherTerm(),  # SEN002
    AffineResponse(),  # SEN003
    ElasticitiesSumToOne(),  # SEN004
    NoDeadCoefficient(),  # SEN005
    PairsAdditive(),  # SEN006
    BetterRateNeverSlows(),  # SEN007
    CheaperNeverDearer(),  # SEN008
    PerturbationLeavesNoTrace(),  # SEN009
    TotalMovesWithItsTerms(),  # SEN010
    PointwiseConvolutionIsGemm(),  # SYM001
    OneGroupIsPlain(),  # SYM002
    GroupsEqualChannelsIsDepthwise(),  # SYM003
    SharedWeightBatchIsLargerM(),  # SYM004
    BatchSplitWithinBounds(),  # SYM005
    TranspositionWhereDeclared(),  # SYM006
    ReorderingIndependentNodes(),  # SYM007
)
"""Every built-in property. The entry point `joulecheck.properties` offers it."""

RECORDED: Final[tuple[Property, ...]] = (PredictionsMeetMeasurements(),)  # MEA001
"""Properties of cases that are recorded and never drawn."""
