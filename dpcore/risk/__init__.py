"""What somebody learns from rows as they are: who is unique, what names people, what groups give away."""

from dpcore.risk.column_sets import ColumnSet, column_sets
from dpcore.risk.disclosure import AttributeRisk, attribute_risk
from dpcore.risk.identifiers import Finding, find_identifiers
from dpcore.risk.linkage import Linkage, link
from dpcore.risk.reidentification import ReidentificationRisk, reidentification_risk
from dpcore.risk.roles import SuggestedRole, suggest_roles
from dpcore.risk.uniqueness import pitman_uniqueness, zayatz_uniqueness

__all__ = [
    "AttributeRisk",
    "ColumnSet",
    "Finding",
    "Linkage",
    "ReidentificationRisk",
    "SuggestedRole",
    "attribute_risk",
    "column_sets",
    "find_identifiers",
    "link",
    "pitman_uniqueness",
    "reidentification_risk",
    "suggest_roles",
    "zayatz_uniqueness",
]
