"""Evaluations of releases and of tables against the original: internal reports, and figures with noise."""

from dpcore.evaluation.attacks import Attacks, CanaryReport, Disclosure, HeldOut, canary_audit, disclosure
from dpcore.evaluation.base import Evaluation, PrivateEvaluation, RowsEvaluation
from dpcore.evaluation.table.audit import Audit, AuditReport
from dpcore.evaluation.table.one_person import Known, OnePerson, PersonReport, SecretValue
from dpcore.evaluation.table.outliers import ThinRows, ThinRowsOf
from dpcore.evaluation.table.proposals import (
    FrontierOf,
    HierarchiesOf,
    RolesOf,
    SizeOf,
    default_plan,
)
from dpcore.evaluation.table.residual_risk import ResidualRisk, ResidualRiskReport
from dpcore.evaluation.table.row_risk import HouseholdRisk, RowRisk, RowRiskReport, SampledRisk
from dpcore.evaluation.table.trial import Side, Trial, TrialReport
from dpcore.evaluation.utility.counts import CellCounts, CountsOf, DistancesOf
from dpcore.evaluation.utility.learning import Efficacy
from dpcore.evaluation.utility.marginal_error import MarginalError, WayError, marginal_error
from dpcore.evaluation.utility.private import PrivateAccuracy, PrivateMarginalError
from dpcore.evaluation.utility.propensity import Propensity
from dpcore.evaluation.utility.range_errors import (
    ErrorQuantiles,
    NamedError,
    RangeErrors,
    RangeErrorsOf,
    WidthError,
)
from dpcore.evaluation.utility.range_queries import percent_error, range_query
from dpcore.evaluation.utility.similarity import Similarity, SimilarityReport

__all__ = [
    "Attacks",
    "Audit",
    "AuditReport",
    "CanaryReport",
    "CellCounts",
    "CountsOf",
    "Disclosure",
    "DistancesOf",
    "Efficacy",
    "ErrorQuantiles",
    "Evaluation",
    "FrontierOf",
    "HeldOut",
    "HierarchiesOf",
    "HouseholdRisk",
    "Known",
    "MarginalError",
    "NamedError",
    "OnePerson",
    "PersonReport",
    "PrivateAccuracy",
    "PrivateEvaluation",
    "PrivateMarginalError",
    "Propensity",
    "RangeErrors",
    "RangeErrorsOf",
    "ResidualRisk",
    "ResidualRiskReport",
    "RolesOf",
    "RowRisk",
    "RowRiskReport",
    "RowsEvaluation",
    "SampledRisk",
    "SecretValue",
    "Side",
    "Similarity",
    "SimilarityReport",
    "SizeOf",
    "ThinRows",
    "ThinRowsOf",
    "Trial",
    "TrialReport",
    "WayError",
    "WidthError",
    "canary_audit",
    "default_plan",
    "disclosure",
    "marginal_error",
    "percent_error",
    "range_query",
]
