"""Evaluations of releases and tables against the original, as internal reports and
figures with noise.
"""

from dpcore.evaluation.attacks.base import AttackResult as AttackResult
from dpcore.evaluation.attacks.canaries import CanaryReport as CanaryReport
from dpcore.evaluation.attacks.canaries import canary_audit as canary_audit
from dpcore.evaluation.attacks.disclosure import Attacks as Attacks
from dpcore.evaluation.attacks.disclosure import Disclosure as Disclosure
from dpcore.evaluation.attacks.disclosure import HeldOut as HeldOut
from dpcore.evaluation.attacks.disclosure import disclosure as disclosure
from dpcore.evaluation.base import Evaluation as Evaluation
from dpcore.evaluation.base import PrivateEvaluation as PrivateEvaluation
from dpcore.evaluation.base import RowsEvaluation as RowsEvaluation
from dpcore.evaluation.table.audit import Audit as Audit
from dpcore.evaluation.table.audit import AuditReport as AuditReport
from dpcore.evaluation.table.cells_of_numbers import CellsOfNumbers as CellsOfNumbers
from dpcore.evaluation.table.criteria import EvidenceOf as EvidenceOf
from dpcore.evaluation.table.one_person import Known as Known
from dpcore.evaluation.table.one_person import OnePerson as OnePerson
from dpcore.evaluation.table.one_person import PersonReport as PersonReport
from dpcore.evaluation.table.outliers import ThinRows as ThinRows
from dpcore.evaluation.table.outliers import ThinRowsOf as ThinRowsOf
from dpcore.evaluation.table.proposals import FrontierOf as FrontierOf
from dpcore.evaluation.table.proposals import HierarchiesOf as HierarchiesOf
from dpcore.evaluation.table.proposals import NeighborsOf as NeighborsOf
from dpcore.evaluation.table.proposals import RolesOf as RolesOf
from dpcore.evaluation.table.proposals import SizeOf as SizeOf
from dpcore.evaluation.table.proposals import default_plan as default_plan
from dpcore.evaluation.table.residual_risk import ResidualRisk as ResidualRisk
from dpcore.evaluation.table.residual_risk import (
    ResidualRiskReport as ResidualRiskReport,
)
from dpcore.evaluation.table.row_risk import RowRisk as RowRisk
from dpcore.evaluation.table.row_risk import RowRiskReport as RowRiskReport
from dpcore.evaluation.table.rows_of_people import RowsOfPeople as RowsOfPeople
from dpcore.evaluation.table.trial import Trial as Trial
from dpcore.evaluation.table.trial import TrialReport as TrialReport
from dpcore.evaluation.utility.counts import CellCounts as CellCounts
from dpcore.evaluation.utility.counts import CountsOf as CountsOf
from dpcore.evaluation.utility.counts import DistancesOf as DistancesOf
from dpcore.evaluation.utility.learning import Efficacy as Efficacy
from dpcore.evaluation.utility.marginal_error import MarginalError as MarginalError
from dpcore.evaluation.utility.marginal_error import marginal_error as marginal_error
from dpcore.evaluation.utility.private import PrivateAccuracy as PrivateAccuracy
from dpcore.evaluation.utility.private import (
    PrivateMarginalError as PrivateMarginalError,
)
from dpcore.evaluation.utility.propensity import Propensity as Propensity
from dpcore.evaluation.utility.range_errors import RangeErrors as RangeErrors
from dpcore.evaluation.utility.range_errors import RangeErrorsOf as RangeErrorsOf
from dpcore.evaluation.utility.range_queries import percent_error as percent_error
from dpcore.evaluation.utility.range_queries import range_query as range_query
from dpcore.evaluation.utility.similarity import Similarity as Similarity
from dpcore.evaluation.utility.similarity import SimilarityReport as SimilarityReport
