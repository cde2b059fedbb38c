"""Risks of a table as it is: uniqueness, identifiers, and what groups reveal."""

from dpcore.risk.column_sets import ColumnSet as ColumnSet
from dpcore.risk.column_sets import measure_column_sets as measure_column_sets
from dpcore.risk.disclosure import AttributeRisk as AttributeRisk
from dpcore.risk.disclosure import measure_attribute_risk as measure_attribute_risk
from dpcore.risk.identifiers import Finding as Finding
from dpcore.risk.identifiers import find_identifiers as find_identifiers
from dpcore.risk.linkage import Linkage as Linkage
from dpcore.risk.linkage import attack_by_linkage as attack_by_linkage
from dpcore.risk.reidentification import ReidentificationRisk as ReidentificationRisk
from dpcore.risk.reidentification import estimate_k_map as estimate_k_map
from dpcore.risk.reidentification import (
    measure_reidentification_risk as measure_reidentification_risk,
)
from dpcore.risk.roles import SuggestedRole as SuggestedRole
from dpcore.risk.roles import suggest_roles as suggest_roles
from dpcore.risk.special_uniques import SpecialUniques as SpecialUniques
from dpcore.risk.special_uniques import dis_scores as dis_scores
from dpcore.risk.special_uniques import score_special_uniques as score_special_uniques
from dpcore.risk.survey import estimate_individual_risk as estimate_individual_risk
from dpcore.risk.survey import (
    estimate_population_frequency as estimate_population_frequency,
)
from dpcore.risk.survey import household_codes as household_codes
from dpcore.risk.survey import household_risk as household_risk
from dpcore.risk.survey import sampling_weights as sampling_weights
from dpcore.risk.uniqueness import pitman_uniqueness as pitman_uniqueness
from dpcore.risk.uniqueness import (
    shifted_binomial_uniqueness as shifted_binomial_uniqueness,
)
from dpcore.risk.uniqueness import zayatz_uniqueness as zayatz_uniqueness
