"""Which classes a local method may release: those with k rows, and whatever a further model asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.anonymize.encoding import BoolArray, IntArray, leaves_of
from dpcore.errors import InfeasibleError, ParameterError

Admissible = Callable[[IntArray, IntArray], BoolArray]
"""Class sizes (classes,) and sensitive histograms (classes, sensitive values) -> which classes may be
released.

The sensitive values are in the order of `encoding.leaves_of`. The answer must stay yes when admissible
classes are united, as it does for k-anonymity, l-diversity and t-closeness.
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
            raise ParameterError(f"k ({self.k}) must be at least 1", remedy="raise k", k=self.k)
        if (self.admissible is None) != (self.sensitive is None):
            raise ParameterError(
                "a model on sensitive values needs both its rule and its column",
                remedy="give both or neither",
            )

    def secret(self, frame: pd.DataFrame) -> IntArray:
        """(rows,) the sensitive code of each row; all 0 where no model asks for it."""
        if self.sensitive is None:
            return np.zeros(len(frame), dtype=np.int64)
        return leaves_of(frame, self.sensitive).codes

    def check(self, secret: IntArray) -> None:
        """Raises: InfeasibleError when even the whole table as one class may not be released."""
        if self.k > len(secret):
            raise InfeasibleError(
                f"k ({self.k}) is above the number of rows", remedy="lower k, or bring more rows", k=self.k
            )
        if not self.satisfied(np.zeros(len(secret), dtype=np.int64), secret).all():
            raise InfeasibleError(
                "even the whole table as one class does not satisfy the model", remedy="weaken the model"
            )

    def satisfied(self, classes: IntArray, secret: IntArray, weights: IntArray | None = None) -> BoolArray:
        """(classes,) whether each class may be released.

        Args: classes, secret, weights: (tuples,) class, sensitive code and number of rows (1) of each tuple.
        """
        sizes = np.bincount(classes, weights).astype(np.int64)
        fine: BoolArray = sizes >= self.k
        if self.admissible is None:
            return fine
        values = int(secret.max()) + 1
        large = np.flatnonzero(fine)
        at_once = max(1, _CELLS_AT_ONCE // values)
        for begin in range(0, len(large), at_once):
            some = large[begin : begin + at_once]
            place = np.full(len(sizes), -1)
            place[some] = np.arange(len(some))
            inside = np.flatnonzero(place[classes] >= 0)
            cells = place[classes[inside]] * values + secret[inside]
            counts = np.bincount(
                cells, None if weights is None else weights[inside], minlength=len(some) * values
            )
            fine[some] = self.admissible(sizes[some], counts.astype(np.int64).reshape(len(some), values))
        return fine
