"""Evaluations that compare releases and tables with the original rows.

Answers are internal reports, or figures with noise.
"""

from dpcore.evaluation.attacks.base import AttackResult as AttackResult
from dpcore.evaluation.attacks.canaries import CanaryReport as CanaryReport
from dpcore.evaluation.attacks.canaries import (
    audit_with_canaries as audit_with_canaries,
)
from dpcore.evaluation.attacks.disclosure import AttacksQuestion as AttacksQuestion
from dpcore.evaluation.attacks.disclosure import AttacksReport as AttacksReport
from dpcore.evaluation.attacks.disclosure import (
    HeldOutAttacksQuestion as HeldOutAttacksQuestion,
)
from dpcore.evaluation.attacks.disclosure import attack_release as attack_release
from dpcore.evaluation.attacks.loss_audit import LossAudit as LossAudit
from dpcore.evaluation.attacks.loss_audit import audit_loss as audit_loss
from dpcore.evaluation.base import Evaluation as Evaluation
from dpcore.evaluation.base import PrivateEvaluation as PrivateEvaluation
from dpcore.evaluation.base import RowsEvaluation as RowsEvaluation
from dpcore.evaluation.table.audit import AuditQuestion as AuditQuestion
from dpcore.evaluation.table.audit import AuditReport as AuditReport
from dpcore.evaluation.table.cells_of_numbers import (
    NumberCellsQuestion as NumberCellsQuestion,
)
from dpcore.evaluation.table.criteria import EvidenceQuestion as EvidenceQuestion
from dpcore.evaluation.table.linked_audit import (
    LinkedAuditQuestion as LinkedAuditQuestion,
)
from dpcore.evaluation.table.linked_one_person import (
    LinkedOnePersonQuestion as LinkedOnePersonQuestion,
)
from dpcore.evaluation.table.linked_proposals import (
    LinkedHierarchiesQuestion as LinkedHierarchiesQuestion,
)
from dpcore.evaluation.table.linked_proposals import (
    LinkedRolesQuestion as LinkedRolesQuestion,
)
from dpcore.evaluation.table.one_person import KnownFact as KnownFact
from dpcore.evaluation.table.one_person import OnePersonQuestion as OnePersonQuestion
from dpcore.evaluation.table.one_person import OnePersonReport as OnePersonReport
from dpcore.evaluation.table.outliers import OutlierRowsQuestion as OutlierRowsQuestion
from dpcore.evaluation.table.outliers import OutlierRowsReport as OutlierRowsReport
from dpcore.evaluation.table.proposals import FrontierQuestion as FrontierQuestion
from dpcore.evaluation.table.proposals import HierarchiesQuestion as HierarchiesQuestion
from dpcore.evaluation.table.proposals import NeighborsQuestion as NeighborsQuestion
from dpcore.evaluation.table.proposals import RolesQuestion as RolesQuestion
from dpcore.evaluation.table.proposals import SearchSizeQuestion as SearchSizeQuestion
from dpcore.evaluation.table.proposals import default_plan as default_plan
from dpcore.evaluation.table.residual_risk import (
    ResidualRiskQuestion as ResidualRiskQuestion,
)
from dpcore.evaluation.table.residual_risk import (
    ResidualRiskReport as ResidualRiskReport,
)
from dpcore.evaluation.table.row_risk import RowRiskQuestion as RowRiskQuestion
from dpcore.evaluation.table.row_risk import RowRiskReport as RowRiskReport
from dpcore.evaluation.table.rows_of_people import (
    RowsPerPersonQuestion as RowsPerPersonQuestion,
)
from dpcore.evaluation.table.trial import TrialQuestion as TrialQuestion
from dpcore.evaluation.table.trial import TrialReport as TrialReport
from dpcore.evaluation.utility.counts import CountsQuestion as CountsQuestion
from dpcore.evaluation.utility.counts import CountsReport as CountsReport
from dpcore.evaluation.utility.counts import DistancesQuestion as DistancesQuestion
from dpcore.evaluation.utility.event_pairs import (
    EventPairsQuestion as EventPairsQuestion,
)
from dpcore.evaluation.utility.event_pairs import EventPairsReport as EventPairsReport
from dpcore.evaluation.utility.learning import LearningQuestion as LearningQuestion
from dpcore.evaluation.utility.marginal_error import (
    MarginalErrorReport as MarginalErrorReport,
)
from dpcore.evaluation.utility.marginal_error import (
    measure_marginal_error as measure_marginal_error,
)
from dpcore.evaluation.utility.private import (
    PrivateAccuracyQuestion as PrivateAccuracyQuestion,
)
from dpcore.evaluation.utility.private import (
    PrivateMarginalErrorQuestion as PrivateMarginalErrorQuestion,
)
from dpcore.evaluation.utility.propensity import (
    PropensityQuestion as PropensityQuestion,
)
from dpcore.evaluation.utility.range_errors import (
    RangeErrorsQuestion as RangeErrorsQuestion,
)
from dpcore.evaluation.utility.range_errors import (
    RangeErrorsReport as RangeErrorsReport,
)
from dpcore.evaluation.utility.range_queries import percent_error as percent_error
from dpcore.evaluation.utility.range_queries import range_query as range_query
from dpcore.evaluation.utility.similarity import (
    SimilarityQuestion as SimilarityQuestion,
)
from dpcore.evaluation.utility.similarity import SimilarityReport as SimilarityReport
