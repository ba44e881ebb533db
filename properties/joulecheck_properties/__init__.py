"""What must hold: the catalogue of properties, one a file, a family a folder."""

from typing import Final

from joulecheck.property import Property
from joulecheck_properties.bounds.energy_above_least_op_energy import (
    EnergyAboveLeastOpEnergy,
)
from joulecheck_properties.bounds.energy_above_traffic import EnergyAboveTraffic
from joulecheck_properties.bounds.io_lower_bound import IoLowerBound
from joulecheck_properties.bounds.latency_above_compute import LatencyAboveCompute
from joulecheck_properties.bounds.latency_above_traffic import LatencyAboveTraffic
from joulecheck_properties.bounds.near_traffic_above_far import NearTrafficAboveFar
from joulecheck_properties.bounds.plausible_ranges import PlausibleRanges
from joulecheck_properties.bounds.power_above_static import PowerAboveStatic
from joulecheck_properties.bounds.power_below_tdp import PowerBelowTdp
from joulecheck_properties.bounds.roofline_at_every_level import RooflineAtEveryLevel
from joulecheck_properties.bounds.utilisation_is_a_share import UtilisationIsAShare
from joulecheck_properties.bounds.zero_work import ZeroWork
from joulecheck_properties.composition.latency_composition_as_declared import (
    LatencyCompositionAsDeclared,
)
from joulecheck_properties.composition.latency_prefixes_agree import LatencyPrefixesAgree
from joulecheck_properties.composition.latency_within_terms import LatencyWithinTerms
from joulecheck_properties.composition.layers_sum_to_total import LayersSumToTotal
from joulecheck_properties.composition.prefixes_agree import PrefixesAgree
from joulecheck_properties.composition.subtotals import Subtotals
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
from joulecheck_properties.monotonicity.layers_never_lower_energy import (
    LayersNeverLowerEnergy,
)
from joulecheck_properties.monotonicity.layers_never_lower_latency import (
    LayersNeverLowerLatency,
)
from joulecheck_properties.monotonicity.more_bytes_same_ops import MoreBytesSameOps
from joulecheck_properties.monotonicity.more_ops_same_bytes import MoreOpsSameBytes
from joulecheck_properties.monotonicity.nothing_negative import NothingNegative
from joulecheck_properties.precision.alu_energy_strict import AluEnergyStrict
from joulecheck_properties.precision.int8_below_fp32 import Int8BelowFp32
from joulecheck_properties.precision.latency_follows_peaks import LatencyFollowsPeaks
from joulecheck_properties.precision.narrower_costs_no_more import NarrowerCostsNoMore
from joulecheck_properties.precision.traffic_follows_width import TrafficFollowsWidth
from joulecheck_properties.precision.unsupported_precision_raises import (
    UnsupportedPrecisionRaises,
)
from joulecheck_properties.robustness.valid_input_gets_numbers import (
    ValidInputGetsNumbers,
)
from joulecheck_properties.scaling.energy_scales_with_coefficients import (
    EnergyScalesWithCoefficients,
)
from joulecheck_properties.sensitivity.no_other_term import NoOtherTerm
from joulecheck_properties.sensitivity.own_terms_in_proportion import OwnTermsInProportion

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
    LayersSumToTotal(),  # CMP001
    PrefixesAgree(),  # CMP002
    LatencyWithinTerms(),  # CMP003
    LatencyCompositionAsDeclared(),  # CMP006
    Subtotals(),  # CMP007
    LatencyPrefixesAgree(),  # CMP008
    SameQuestionSameAnswer(),  # DET001
    BatchEqualsScalar(),  # DET002
    NothingNegative(),  # MON001
    EnergyGrowsWithWork(),  # MON002
    LatencyGrowsWithWork(),  # MON003
    EnergyGrowsWithRepetition(),  # MON004
    LayersNeverLowerEnergy(),  # MON005
    LayersNeverLowerLatency(),  # MON006
    MoreOpsSameBytes(),  # MON007
    MoreBytesSameOps(),  # MON008
    NarrowerCostsNoMore(),  # PRC001
    Int8BelowFp32(),  # PRC002
    AluEnergyStrict(),  # PRC003
    TrafficFollowsWidth(),  # PRC004
    LatencyFollowsPeaks(),  # PRC005
    UnsupportedPrecisionRaises(),  # PRC006
    ValidInputGetsNumbers(),  # ROB001
    EnergyScalesWithCoefficients(),  # SCL001
    OwnTermsInProportion(),  # SEN001
    NoOtherTerm(),  # SEN002
)
"""Every built-in property. The entry point `joulecheck.properties` offers it."""
