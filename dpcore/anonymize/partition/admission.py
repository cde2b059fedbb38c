"""Which classes a local method may release: those with k rows, and whatever a further model asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.errors import InfeasibleError, ParameterError
from dpcore.tables.classes import BoolArray, IntArray, leaves_of

Admissible = Callable[[IntArray, IntArray], BoolArray]
"""Class sizes (classes,) and sensitive histograms (classes, values) -> which classes may be released.

The values are all those of the table, in the order of `encoding.leaves_of`. The answer must stay yes when
admissible classes are united, as it does for k-anonymity, l-diversity and t-closeness.
"""

_CELLS_AT_ONCE = 10_000_000


@dataclass(frozen=True, kw_only=True)
class Admission:
    """At least k rows and, if given, a further model on the histogram of the sensitive column's values."""

    k: int
    admissible: Admissible | None = None
    sensitive: str | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ParameterError("k ({k}) must be at least 1", remedy="raise k", k=self.k)
        if (self.admissible is None) != (self.sensitive is None):
            raise ParameterError(
                "a model on sensitive values needs both its rule and its column",
                remedy="give both or neither",
            )

    def gate(self, frame: pd.DataFrame) -> Gate:
        """The conditions together with the table's sensitive values.

        Raises: InfeasibleError when even the whole table as one class may not be released.
        """
        if self.k > len(frame):
            raise InfeasibleError(
                "k ({k}) is above the number of rows", remedy="lower k, or bring more rows", k=self.k
            )
        if self.sensitive is None:
            gate = Gate(admission=self, secret=np.zeros(len(frame), dtype=np.int64), values=1, weights=None)
        else:
            leaves = leaves_of(frame, self.sensitive)
            gate = Gate(admission=self, secret=leaves.codes, values=len(leaves.labels), weights=None)
        everyone = np.arange(len(frame))
        if not gate.satisfied(everyone, np.zeros_like(everyone)).all():
            raise InfeasibleError(
                "even the whole table as one class does not satisfy the model", remedy="weaken the model"
            )
        return gate


@dataclass(frozen=True, kw_only=True, eq=False)
class Gate:
    """What a class needs to be released, for one table.

    Attributes:
        secret: (tuples,) sensitive code; all 0 where no model asks for it. values: number of such codes.
        weights: (tuples,) rows of each tuple, None where each is one row.
    """

    admission: Admission
    secret: IntArray
    values: int
    weights: IntArray | None

    def satisfied(self, tuples: IntArray, classes: IntArray) -> BoolArray:
        """(classes,) whether the classes in which these tuples fall may be released."""
        admission, weights = self.admission, None if self.weights is None else self.weights[tuples]
        sizes = np.bincount(classes, weights).astype(np.int64)
        fine: BoolArray = sizes >= admission.k
        if admission.admissible is None:
            return fine
        large = np.flatnonzero(fine)
        at_once = max(1, _CELLS_AT_ONCE // self.values)
        for begin in range(0, len(large), at_once):
            some = large[begin : begin + at_once]
            place = np.full(len(sizes), -1)
            place[some] = np.arange(len(some))
            inside = np.flatnonzero(place[classes] >= 0)
            cells = place[classes[inside]] * self.values + self.secret[tuples[inside]]
            rows = None if weights is None else weights[inside]
            counts = np.bincount(cells, rows, len(some) * self.values).astype(np.int64)
            fine[some] = admission.admissible(sizes[some], counts.reshape(len(some), self.values))
        return fine
