"""What the curator asks of whatever holds the rows, and what all engines share in answering it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import NoReturn, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.engines.joint import joint, passes
from dpcore.engines.tuples.holders import Holder, Holding
from dpcore.engines.work import (
    Assigning,
    Checking,
    Counting,
    Groups,
    Handing,
    Making,
    Part,
    Publish,
    Publishing,
    Result,
    Summing,
    Texts,
    Work,
)
from dpcore.errors import DisclosureError, LimitError, ParameterError, RowsError, SchemaError
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.schema import Schema
from dpcore.tables.counts import MOST_AT_ONCE, Counts, check_cells, project
from dpcore.tables.digests import counted
from dpcore.tables.rows import DistinctRows, Microdata
from dpcore.tables.sums import Entry, Integers

MOST_ROWS = 2_000_000
"""Rows that are brought into memory at once, at most."""
MOST_TUPLES = 5_000_000
"""Distinct tuples that are brought into memory at once, at most."""
MOST_JOINT = 2**14
"""Cells of a table that is counted for several others, at most: to sum up a larger one costs more than to
count again, with few rows and with many."""


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

    def held(self) -> AbstractContextManager[None]:
        """One state of the table for all that is read inside, in this thread. It is held before a charge.

        Raises: ReadError where the table is not as it was when it was opened, as far as that can be told.
        """

    @property
    def fingerprint(self) -> str:
        """A digest of the whole table under the ledger's key, whatever the order of its rows and columns."""

    def tuples(self, columns: Sequence[str], *, by: str | None = None) -> DistinctRows:
        """The distinct tuples of any columns over all rows, with their rows and people. Private.

        Args: by: any column that tells whose a row is: then it is also found who holds which tuples.
        Raises: LimitError for too many of them, or of the sets of them that people hold.
        """

    def people(self) -> dict[int, int]:
        """How many people have so many rows, by the number of rows. Private."""

    @property
    def in_memory(self) -> bool:
        """Whether all rows fit into memory, so that `rows` returns them."""

    def rows(self) -> Microdata:
        """The rows, for work outside differential privacy. Raises: RowsError where they do not fit."""

    def counted(self, rows: Microdata) -> Microdata:
        """Return those of some rows that count: of each person as many as declared."""

    def apply(self, publish: Publish, take: Callable[[pd.DataFrame], None]) -> None:
        """Hand over what is published of all rows, some at a time and in any order, each once.

        Args:
            publish: must make of a row what it makes of it whatever the other rows are.
            take: is called by several threads.
        """

    def sample(self, rows: int) -> Microdata:
        """The first so many rows that the engine comes by, for their owner's eyes; it reads few more."""


class Scanner(ABC):
    """An engine that answers each question with one pass over its rows, in batches.

    An engine fills in its `_columns`, all of them.
    With an id column, at most `max_rows` rows of each person are counted: those with the lowest keyed digests
    of their own content, so that neither the order nor the place of rows matters, nor other people's rows.
    """

    def __init__(self, schema: Schema, *, key: bytes) -> None:
        self._schema = schema
        self._key = key
        self._names = schema.domain.names
        self._columns: Sequence[str] = ()
        self._on_rows: Callable[[int], None] = unheeded

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain})"

    def __reduce__(self) -> NoReturn:
        raise DisclosureError("an engine holds private rows and is never stored", remedy="release first")

    @property
    def domain(self) -> Domain:
        """Names and sizes of the declared columns."""
        return self._schema.domain

    def held(self) -> AbstractContextManager[None]:
        """One state of the table for all that is read inside: here it has no other."""
        return nullcontext()

    @abstractmethod
    def _scan(self, work: Work[Result], *, counted: bool = True) -> Result:
        """The result over the rows that are counted, or over all rows; at least one batch is worked on."""

    def counts(
        self,
        cliques: Sequence[Clique],
        *,
        part: Part | None = None,
        groups: Mapping[str, npt.NDArray[np.int64]] | None = None,
    ) -> list[Counts]:
        """Exact counts over each clique, int64, of all rows or of those of one part.

        Raises: LimitError for a clique with too many cells, before anything is allocated.
        """
        groups = groups or {}
        domain = _merged(self.domain, groups)
        check_cells(domain, cliques)
        self._check_part(part)
        # what is counted together, and in how many passes, follows from names and declared cells alone
        several = [_several(clique, domain) for clique in cliques]
        inside: dict[Clique, list[int]] = {}
        for place, table in enumerate(joint(several, domain, MOST_JOINT)):
            inside.setdefault(table, []).append(place)
        found: dict[int, Counts] = {}
        for together in passes(list(inside), domain, MOST_AT_ONCE):
            work = Counting(domain=domain, cliques=together, part=part, groups=groups)
            for table, flat in work.tables(self._scan(work)):
                cells = flat.reshape(domain.shape(table))
                for place in inside[table]:
                    values = project(cells, table, several[place]).reshape(domain.shape(cliques[place]))
                    found[place] = Counts(clique=cliques[place], values=values)
        return [found[place] for place in range(len(cliques))]

    def sums(self, by: Clique, entries: Sequence[Entry], *, part: Part | None = None) -> Integers:
        """Exact sums over the rows of each cell of `by`, int64 (cells, entries), in units of 1 / GRID rows.

        Raises: LimitError for too many cells, before anything is allocated.
        """
        check_cells(self.domain, [by] * len(entries))
        self._check_part(part)
        lines = self.domain.cells(by)
        found = np.empty((lines, len(entries)), dtype=np.int64)
        together = max(1, MOST_AT_ONCE // lines)
        for start in range(0, len(entries), together):
            some = slice(start, start + together)
            found[:, some] = self._scan(Summing(domain=self.domain, by=by, entries=entries[some], part=part))
        return found

    def texts(self, column: str, *, part: Part | None = None) -> dict[str, int]:
        """Exact number of rows of every text of a declared column, missing ones left out. Private."""
        self._check_part(part)
        texts: Counter[str] = self._scan(Texts(column=column, part=part))
        return dict(texts)

    def assigned(
        self, assign: Callable[[pd.DataFrame], npt.NDArray[np.int64]], cells: int, reads: Clique
    ) -> Counts:
        """Exact number of rows that a public rule puts into each of so many cells. Private."""
        places = self._scan(Assigning(assign=assign, number=cells, reads=reads))
        return Counts(clique=(), values=places)

    def tuples(self, columns: Sequence[str], *, by: str | None = None) -> DistinctRows:
        """The distinct tuples of any columns over all rows, with their rows and people. Private."""
        named = [*columns, *([] if by is None else [by])]
        if not columns:
            raise ParameterError("tuples need at least one column", remedy="name the columns")
        for name in named:
            if name not in self._columns:
                raise SchemaError("the table has no column {column}", remedy="check the names", column=name)
        found = self._tuples(columns)
        if by is None:
            return found
        holder = Holder(found, columns)
        self._each(Holding(columns=tuple(columns), by=by), holder.take)
        return replace(found, held=holder.held(self._on_rows))

    @abstractmethod
    def _tuples(self, columns: Sequence[str]) -> DistinctRows:
        """The distinct tuples of columns that are there."""

    def counted(self, rows: Microdata) -> Microdata:
        """Return those of some rows that count: of each person as many as declared."""
        return Microdata(counted(rows.frame, self._key, self._schema.unit))

    def apply(self, publish: Publish, take: Callable[[pd.DataFrame], None]) -> None:
        """Hand over what is published of all rows, some at a time and in any order, each once."""
        self._each(Publishing(publish=publish), take)

    def _each(self, work: Making[Result], take: Callable[[Result], None]) -> None:
        """Hand over the results of all rows, some rows at a time, perhaps from several threads."""
        self._scan(Handing(work=work, take=take), counted=False)

    def _check_part(self, part: Part | None) -> None:
        if part is not None:
            self._schema.part_code(*part)

    def _checked(self, rows: int) -> int:
        if rows == 0:
            raise SchemaError("the table has no rows", remedy="choose a table with at least one row")
        return rows

    def _checking(self) -> Checking:
        return Checking(reads=self._names)


def _merged(domain: Domain, groups: Groups) -> Domain:
    """The columns, some with merged cells."""
    sizes = dict(zip(domain.names, domain.sizes, strict=True))
    sizes |= {name: int(group.max()) + 1 for name, group in groups.items()}
    return Domain(names=domain.names, sizes=tuple(sizes[name] for name in domain.names))


def _several(clique: Clique, domain: Domain) -> Clique:
    """Its columns with more than one cell: the others are an axis of a table, and no work."""
    return tuple(name for name in clique if domain.size(name) > 1)


def unheeded(rows: int) -> None:
    """How many rows of a pass are done; nobody asked."""


def too_many(what: str, most: int) -> LimitError:
    """What an engine refuses to bring into memory: "rows" or "distinct tuples"."""
    return (RowsError if what == "rows" else LimitError)(
        "the table has more than {most:,} {what}, which are not brought into memory",
        remedy="take fewer columns, or a sample that is marked as one",
        most=most,
        what=what,
    )
