"""Conditions for the release of a class by a local method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpcore.anonymization._groups import Rows
from dpcore.anonymization.models import PrivacyModel, mark_violations
from dpcore.errors import every_row_suppressed_error, k_too_large_error
from dpcore.tables.classes import BoolArray, IntArray
from dpcore.text import Text


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseGate:
    """Conditions for the release of a class: k people and further models.

    Attributes:
        models: on sensitive columns.
        rows: the table's rows, or one for each distinct tuple of them.
    """

    k: int
    models: Sequence[PrivacyModel]
    rows: Rows

    @classmethod
    def from_rows(
        cls,
        rows: Rows,
        k: int,
        models: Sequence[PrivacyModel] = (),
        *,
        counted_unit: str = "rows",
    ) -> ReleaseGate:
        """Build the conditions, and check that the whole table meets them.

        Args:
            counted_unit: the unit counted in classes, in a word.

        Raises: InfeasibleError when even the whole table as one class may not be
            released.
        """
        whole = rows.group_as_one_class(np.ones(rows.row_count, dtype=bool))
        if k > whole.people[0]:
            raise k_too_large_error(k, Text(counted_unit))
        if mark_violations(models, whole).any():
            raise every_row_suppressed_error()
        return cls(k=k, models=models, rows=rows)

    def for_tuples(self, first: IntArray, weights: IntArray) -> ReleaseGate:
        """Return the conditions for distinct tuples.

        Args:
            first: index of a row of each tuple.
            weights: rows of each tuple.
        """
        return replace(self, rows=self.rows.merge_rows(first, weights))

    def admits(self, tuples: IntArray, classes: IntArray) -> BoolArray:
        """Return whether each class of these tuples may be released, shape
        (classes,).
        """
        weights = self.rows.weights
        fine: BoolArray = (
            np.bincount(classes, None if weights is None else weights[tuples]) >= self.k
        )
        if not fine.any() or (self.rows.person is None and not self.models):
            return fine
        number = np.cumsum(fine) - 1
        inside = np.flatnonzero(fine[classes])
        groups = self.rows.select(tuples[inside]).group_by_class(
            number[classes[inside]]
        )
        fine[fine] = (groups.people >= self.k) & ~mark_violations(self.models, groups)
        return fine
