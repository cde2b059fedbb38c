"""Evaluations of releases and tables against the original, as internal reports and figures with noise."""

from dpcore.evaluation.attacks import Attacks, CanaryReport, Disclosure, HeldOut, canary_audit, disclosure
from dpcore.evaluation.base import Evaluation, PrivateEvaluation, RowsEvaluation
from dpcore.evaluation.table.audit import Audit, AuditReport
from dpcore.evaluation.table.criteria import EvidenceOf
from dpcore.evaluation.table.one_person import Known, OnePerson, PersonReport
from dpcore.evaluation.table.outliers import ThinRows, ThinRowsOf
from dpcore.evaluation.table.proposals import FrontierOf, HierarchiesOf, RolesOf, SizeOf, default_plan
from dpcore.evaluation.table.residual_risk import ResidualRisk, ResidualRiskReport
from dpcore.evaluation.table.row_risk import RowRisk, RowRiskReport
from dpcore.evaluation.table.rows_of_people import RowsOfPeople
from dpcore.evaluation.table.trial import Trial, TrialReport
from dpcore.evaluation.utility.counts import CellCounts, CountsOf, DistancesOf
from dpcore.evaluation.utility.learning import Efficacy
from dpcore.evaluation.utility.marginal_error import MarginalError, marginal_error
from dpcore.evaluation.utility.private import PrivateAccuracy, PrivateMarginalError
from dpcore.evaluation.utility.propensity import Propensity
from dpcore.evaluation.utility.range_errors import RangeErrors, RangeErrorsOf
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
    "Evaluation",
    "EvidenceOf",
    "FrontierOf",
    "HeldOut",
    "HierarchiesOf",
    "Known",
    "MarginalError",
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
    "RowsOfPeople",
    "Similarity",
    "SimilarityReport",
    "SizeOf",
    "ThinRows",
    "ThinRowsOf",
    "Trial",
    "TrialReport",
    "canary_audit",
    "default_plan",
    "disclosure",
    "marginal_error",
    "percent_error",
    "range_query",
]
