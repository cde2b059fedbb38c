"""How good a release or a table is, measured against the original: internal reports."""

from dpcore.evaluation.audit import Audit, AuditReport
from dpcore.evaluation.counted import Distance, Distances, DistancesOf
from dpcore.evaluation.distributions import Distribution, DistributionsOf
from dpcore.evaluation.learning import Efficacy
from dpcore.evaluation.marginal_error import MarginalError, MarginalErrorOf, WayError, marginal_error
from dpcore.evaluation.one_person import Known, OnePerson, PersonReport, Secret
from dpcore.evaluation.outcome import Outcome, OutcomeReport
from dpcore.evaluation.outliers import ThinRows, ThinRowsOf
from dpcore.evaluation.propensity import Propensity
from dpcore.evaluation.proposals import (
    FrontierOf,
    HierarchiesOf,
    RolesOf,
    SizeOf,
    default_plan,
)
from dpcore.evaluation.question import Evaluation
from dpcore.evaluation.range_errors import (
    ErrorQuantiles,
    NamedError,
    RangeErrors,
    RangeErrorsOf,
    WidthError,
)
from dpcore.evaluation.range_queries import percent_error, range_query
from dpcore.evaluation.row_risk import HouseholdRisk, RowRisk, RowRiskReport, SampledRisk
from dpcore.evaluation.similarity import Similarity, SimilarityReport
from dpcore.evaluation.together import Together, TogetherOf
from dpcore.evaluation.trial import Side, Trial, TrialReport

__all__ = [
    "Audit",
    "AuditReport",
    "Distance",
    "Distances",
    "DistancesOf",
    "Distribution",
    "DistributionsOf",
    "Efficacy",
    "ErrorQuantiles",
    "Evaluation",
    "FrontierOf",
    "HierarchiesOf",
    "HouseholdRisk",
    "Known",
    "MarginalError",
    "MarginalErrorOf",
    "NamedError",
    "OnePerson",
    "Outcome",
    "OutcomeReport",
    "PersonReport",
    "Propensity",
    "RangeErrors",
    "RangeErrorsOf",
    "RolesOf",
    "RowRisk",
    "RowRiskReport",
    "SampledRisk",
    "Secret",
    "Side",
    "Similarity",
    "SimilarityReport",
    "SizeOf",
    "ThinRows",
    "ThinRowsOf",
    "Together",
    "TogetherOf",
    "Trial",
    "TrialReport",
    "WayError",
    "WidthError",
    "default_plan",
    "marginal_error",
    "percent_error",
    "range_query",
]
