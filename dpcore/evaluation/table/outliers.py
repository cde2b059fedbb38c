"""Search for rows in sparse regions, as a preview for the owner of a table.

This is never a step of a release. Whether a row is thin depends on the others, so
dropping thin rows before a release would leak. The private way to keep one extreme row
from ruling a model is to clip values to public bounds.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import UsageError, too_few_rows_error
from dpcore.evaluation.base import RowsEvaluation
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.schema import Schema
from dpcore.tables.rows import Microdata

NEIGHBOR_RANK = 5  # the neighbor whose distance says how thin a region is


@dataclass(frozen=True, kw_only=True, eq=False)
class OutlierRowsReport:
    """Rows that are far from their nearest neighbors.

    Attributes:
        is_thin: one per row, in the table's order.
        distances: of each row to its fifth nearest, with each column's public range
            scaled to 1.
    """

    is_thin: npt.NDArray[np.bool_]
    distances: npt.NDArray[np.float64]

    @property
    def share(self) -> float:
        """Share of rows in sparse regions."""
        return float(self.is_thin.mean())


def find_thin_rows(
    frame: pd.DataFrame, schema: Schema, columns: tuple[str, ...]
) -> OutlierRowsReport:
    """Find the rows whose fifth-nearest neighbor is far away. Internal.

    Distant is more than three times the median distance.

    Raises: ParameterError for columns without numbers, or a table of fewer than seven
        rows.
    """
    if len(frame) < NEIGHBOR_RANK + 2 or not columns:
        raise too_few_rows_error()
    scaled = []
    for name in columns:
        column = schema.column(name)
        if not column.is_interval:
            raise UsageError(
                f"column {name!r} holds no numbers", remedy="choose columns of numbers"
            )
        scaled.append(
            (column.encode(column.values_of(frame)) + 0.5) / column.values_size
        )
    from scipy.spatial import cKDTree

    points = np.stack(scaled, axis=1)
    distances = cKDTree(points).query(points, k=NEIGHBOR_RANK + 1)[0][:, -1]
    limit = 3 * max(float(np.median(distances)), 1e-9)
    return OutlierRowsReport(is_thin=distances > limit, distances=distances)


@dataclass(frozen=True, kw_only=True)
class OutlierRowsQuestion(RowsEvaluation[OutlierRowsReport]):
    """Evaluation of rows in sparse regions."""

    kind = "thin rows"

    columns: tuple[str, ...]

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return self.columns

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> OutlierRowsReport:
        return find_thin_rows(original.frame, schema, self.columns)
