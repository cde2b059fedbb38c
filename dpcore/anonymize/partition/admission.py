"""Which classes a local method may release: those with k people, and whatever further models ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from dpcore.anonymize.groups import Rows
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.anonymize.models import PrivacyModel, violations
from dpcore.errors import InfeasibleError, ParameterError
from dpcore.tables.classes import BoolArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Admission:
    """At least k people in every class, and further models.

    Attributes:
        models: on sensitive columns.
        secrets: these columns, with a hierarchy where a model needs one.
        person: the column that tells whose row it is; None where every row is a person.
    """

    k: int
    models: tuple[PrivacyModel, ...] = ()
    secrets: Mapping[str, Hierarchy | None] = field(default_factory=dict)
    person: str | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ParameterError("k ({k}) must be at least 1", remedy="raise k", k=self.k)

    def gate(self, frame: pd.DataFrame) -> Gate:
        """The conditions together with whose the table's rows are and what they hold.

        Raises: InfeasibleError when even the whole table as one class may not be released.
        """
        rows = Rows.of(frame, self.secrets, self.person)
        everyone = np.arange(len(frame))
        whole = rows.groups(np.zeros_like(everyone))
        if self.k > whole.people[0]:
            raise InfeasibleError(
                "k ({k}) is above the number of {whom}",
                remedy="lower k, or bring more {whom}",
                k=self.k,
                whom="rows" if self.person is None else "people",
            )
        if violations(self.models, whole).any():
            raise InfeasibleError(
                "even the whole table as one class does not meet the model", remedy="weaken the model"
            )
        return Gate(admission=self, rows=rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class Gate:
    """What a class needs to be released, for one table.

    Attributes:
        rows: the table's rows, or one for each distinct tuple of them.
    """

    admission: Admission
    rows: Rows

    def of_tuples(self, first: IntArray, weights: IntArray) -> Gate:
        """The same for distinct tuples: the place of the first row of each, and the rows of each."""
        return replace(self, rows=self.rows.united(first, weights))

    def satisfied(self, tuples: IntArray, classes: IntArray) -> BoolArray:
        """(classes,) whether the classes in which these tuples fall may be released."""
        admission, weights = self.admission, self.rows.weights
        fine: BoolArray = np.bincount(classes, None if weights is None else weights[tuples]) >= admission.k
        if not fine.any() or (self.rows.person is None and not admission.models):
            return fine
        number = np.cumsum(fine) - 1
        inside = np.flatnonzero(fine[classes])
        groups = self.rows.taken(tuples[inside]).groups(number[classes[inside]])
        fine[fine] = (groups.people >= admission.k) & ~violations(admission.models, groups)
        return fine
