"""What the curator asks of whatever holds the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.schema.domain import Clique, Domain
from dpcore.tables.counts import Counts
from dpcore.tables.rows import Microdata
from dpcore.tables.sums import Entry, Integers

Part = tuple[str, str]


class Engine(Protocol):
    """Holds private rows. Prints its domain, never its rows, and refuses to be pickled."""

    @property
    def domain(self) -> Domain:
        """Names and sizes of the declared columns."""

    def counts(
        self,
        cliques: Sequence[Clique],
        *,
        part: Part | None = None,
        groups: Mapping[str, npt.NDArray[np.int64]] | None = None,
    ) -> list[Counts]:
        """Exact counts over each clique, of all rows or of those of one (column, category).

        `groups` maps the cells of a column to fewer, merged cells before counting.
        """

    def sums(self, by: Clique, entries: Sequence[Entry], *, part: Part | None = None) -> Integers:
        """Exact sums over the rows of each cell of `by`: int64 (cells, entries), in units of 1 / GRID rows.

        A row counts for the product of an entry's levels at its cells, at most GRID in size.
        """

    def texts(self, column: str, *, part: Part | None = None) -> dict[str, int]:
        """Exact number of rows of every text of a declared column, missing ones left out. Private."""

    def assigned(
        self, assign: Callable[[pd.DataFrame], npt.NDArray[np.int64]], cells: int, reads: Clique
    ) -> Counts:
        """Exact number of rows that a public rule puts into each of so many cells. Private.

        It is given the columns that it `reads` alone, and must put a row where it belongs whatever the
        other rows are.
        """

    @property
    def fingerprint(self) -> str:
        """A digest of the whole table under the ledger's key, whatever the order of its rows and columns."""

    def rows(self) -> Microdata:
        """The rows, for work outside differential privacy."""
