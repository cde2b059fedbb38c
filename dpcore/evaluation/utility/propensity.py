"""Classifier test of released rows against original rows. Internal."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.errors import too_few_rows_error
from dpcore.evaluation._records import EVALUATION_SEED, Floats
from dpcore.evaluation.base import RowsEvaluation
from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility._cells import CodedTables
from dpcore.evaluation.utility.measures import MeasureScore
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.schema import Schema
from dpcore.tables.rows import Microdata, PublicTable

CROSS_VALIDATION_FOLDS = 3
MAX_CLASSIFIED_ROWS = 4_000
"""Most rows of each table for the classifier."""


def measure_propensity(
    original: pd.DataFrame,
    release: pd.DataFrame,
    schema: Schema,
    on_progress: OnProgress = ignore_stage_progress,
) -> MeasureScore:
    """Measure how poorly boosted trees separate released from original rows.

    By cross-validation: 1 is not at all, as for another sample of the same people; 0 is
    always. The area under the curve is turned into 2 (1 - area). They see cells, not
    where in its cell a value is. Source: Lopez-Paz, Oquab (2017).

    Raises: ParameterError for tables too small for a threefold cross-validation.
    """
    names = tuple(
        name for name in schema.domain.names if name in original and name in release
    )
    rng = np.random.default_rng(EVALUATION_SEED)
    cells = CodedTables.encode(original, release, schema, names)
    rows = min(MAX_CLASSIFIED_ROWS, len(original) // 2, len(release))
    if rows < CROSS_VALIDATION_FOLDS:
        raise too_few_rows_error()
    order = rng.permutation(len(original))
    own = cells.feature_matrix("original")[order[:rows]]
    others = (
        cells.feature_matrix("release")[rng.permutation(len(release))[:rows]],
        cells.feature_matrix("original")[order[rows : 2 * rows]],
        cells.feature_matrix("shuffled")[order[:rows]],
    )
    values = []
    for number, other in enumerate(others):
        on_progress("telling the tables apart", number / 3)
        values.append(_score_indistinguishability(own, other))
    return MeasureScore(
        measure=measures.PROPENSITY,
        value=values[0],
        floor=values[1],
        independent=values[2],
    )


@dataclass(frozen=True, kw_only=True)
class PropensityQuestion(RowsEvaluation[MeasureScore]):
    """Evaluation that calls `measure_propensity`."""

    kind = "propensity"
    counted_rows_only = True

    table: PublicTable

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> MeasureScore:
        """Return the propensity score."""
        return measure_propensity(original.frame, self.table.frame, schema, on_progress)


def _score_indistinguishability(own: Floats, other: Floats) -> float:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    features = np.concatenate([own, other])
    labels = np.repeat([0, 1], [len(own), len(other)])
    learner = HistGradientBoostingClassifier(max_iter=40, random_state=EVALUATION_SEED)
    folds = StratifiedKFold(
        CROSS_VALIDATION_FOLDS, shuffle=True, random_state=EVALUATION_SEED
    )
    chances = cross_val_predict(
        learner, features, labels, cv=folds, method="predict_proba"
    )[:, 1]
    return 2 * (1 - max(0.5, float(roc_auc_score(labels, chances))))
