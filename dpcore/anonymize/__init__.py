"""Syntactic anonymization by k-anonymity and its kin, outside differential privacy.

A `Plan` says which columns are generalized by which `Hierarchy`, what every group must meet (the models)
and how much may be suppressed; `apply` carries it out. `hierarchies` say how values become coarser,
`fulldomain` searches one level per column optimally, `partition` groups row by row; `quality` measures all of
them on one scale.
"""

from dpcore.anonymize.apply import apply
from dpcore.anonymize.closeness import TCloseness
from dpcore.anonymize.fulldomain.metrics import (
    AverageClassSize,
    Discernibility,
    InformationLoss,
    NonUniformEntropy,
)
from dpcore.anonymize.hierarchies.builders import cut, dates, flat, intervals, mask, merge_rare, order
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.anonymize.hierarchies.suggest import suggest as suggest_hierarchy
from dpcore.anonymize.methods import CellSuppression, FullDomain, LocalRecoding, Microaggregation, Mondrian
from dpcore.anonymize.models import DeltaPresence, DistinctL, EntropyL, KAnonymity, KMap, RecursiveCL
from dpcore.anonymize.plan import Plan
from dpcore.anonymize.quality import Quality, quality

__all__ = [
    "AverageClassSize",
    "CellSuppression",
    "DeltaPresence",
    "Discernibility",
    "DistinctL",
    "EntropyL",
    "FullDomain",
    "Hierarchy",
    "InformationLoss",
    "KAnonymity",
    "KMap",
    "LocalRecoding",
    "Microaggregation",
    "Mondrian",
    "NonUniformEntropy",
    "Plan",
    "Quality",
    "RecursiveCL",
    "TCloseness",
    "apply",
    "cut",
    "dates",
    "flat",
    "intervals",
    "mask",
    "merge_rare",
    "order",
    "quality",
    "suggest_hierarchy",
]
