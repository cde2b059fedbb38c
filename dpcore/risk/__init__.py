"""Risks of rows as they are, from uniqueness, identifiers, and what groups give away."""

from dpcore.risk.column_sets import ColumnSet, column_sets
from dpcore.risk.disclosure import AttributeRisk, attribute_risk
from dpcore.risk.identifiers import Finding, find_identifiers
from dpcore.risk.linkage import Linkage, link
from dpcore.risk.reidentification import ReidentificationRisk, reidentification_risk
from dpcore.risk.roles import SuggestedRole, suggest_roles
from dpcore.risk.special_uniques import SpecialUniques, dis_scores, special_uniques
from dpcore.risk.survey import (
    household_risk,
    households_of,
    individual_risk,
    population_frequency,
    sampling_weights,
)
from dpcore.risk.uniqueness import pitman_uniqueness, zayatz_uniqueness

__all__ = [
    "AttributeRisk",
    "ColumnSet",
    "Finding",
    "Linkage",
    "ReidentificationRisk",
    "SpecialUniques",
    "SuggestedRole",
    "attribute_risk",
    "column_sets",
    "dis_scores",
    "find_identifiers",
    "household_risk",
    "households_of",
    "individual_risk",
    "link",
    "pitman_uniqueness",
    "population_frequency",
    "reidentification_risk",
    "sampling_weights",
    "special_uniques",
    "suggest_roles",
    "zayatz_uniqueness",
]
