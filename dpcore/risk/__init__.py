"""Risks of a table as it is: uniqueness, identifiers, and what groups reveal."""

from dpcore.risk.column_sets import ColumnSet as ColumnSet
from dpcore.risk.column_sets import column_sets as column_sets
from dpcore.risk.disclosure import AttributeRisk as AttributeRisk
from dpcore.risk.disclosure import attribute_risk as attribute_risk
from dpcore.risk.identifiers import Finding as Finding
from dpcore.risk.identifiers import find_identifiers as find_identifiers
from dpcore.risk.linkage import Linkage as Linkage
from dpcore.risk.linkage import link as link
from dpcore.risk.reidentification import ReidentificationRisk as ReidentificationRisk
from dpcore.risk.reidentification import estimated_k_map as estimated_k_map
from dpcore.risk.reidentification import reidentification_risk as reidentification_risk
from dpcore.risk.roles import SuggestedRole as SuggestedRole
from dpcore.risk.roles import suggest_roles as suggest_roles
from dpcore.risk.special_uniques import SpecialUniques as SpecialUniques
from dpcore.risk.special_uniques import dis_scores as dis_scores
from dpcore.risk.special_uniques import special_uniques as special_uniques
from dpcore.risk.survey import household_risk as household_risk
from dpcore.risk.survey import households_of as households_of
from dpcore.risk.survey import individual_risk as individual_risk
from dpcore.risk.survey import population_frequency as population_frequency
from dpcore.risk.survey import sampling_weights as sampling_weights
from dpcore.risk.uniqueness import pitman_uniqueness as pitman_uniqueness
from dpcore.risk.uniqueness import (
    shifted_binomial_uniqueness as shifted_binomial_uniqueness,
)
from dpcore.risk.uniqueness import zayatz_uniqueness as zayatz_uniqueness
