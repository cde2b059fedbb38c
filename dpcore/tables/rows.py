"""Types of rows: private microdata, their distinct tuples, and tables that may leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import DisclosureError


@dataclass(frozen=True, eq=False, repr=False)
class Microdata:
    """Rows about people: private. Prints column names only, and refuses to be pickled."""

    frame: pd.DataFrame

    def __repr__(self) -> str:
        return f"Microdata(columns={list(self.frame.columns)}, private)"

    def __reduce__(self) -> NoReturn:
        raise DisclosureError("microdata are private and are not stored or sent", remedy="release first")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DistinctRows(Microdata):
    """The distinct tuples of some columns: private, as rows are.

    Attributes:
        frame: each tuple once.
        rows: (tuples,) rows of each.
        people: (tuples,) people of each; the rows where no column names people.
    """

    rows: npt.NDArray[np.int64]
    people: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PublicTable:
    """Rows that may be shown and exported: drawn from a release, or anonymized by a plan."""

    frame: pd.DataFrame
