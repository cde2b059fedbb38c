"""Two types of rows: private microdata, and tables that may leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

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


@dataclass(frozen=True, eq=False)
class PublicTable:
    """Rows that may be shown and exported: drawn from a release, or anonymized by a plan."""

    frame: pd.DataFrame
