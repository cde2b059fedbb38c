"""Base class of engines, which hold private rows and answer questions on them."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.engines._joint import choose_joint_tables, group_passes
from dpcore.engines.tuples.distinct import TupleJob, too_many_error
from dpcore.engines.tuples.holders import Holders, OwnerJob
from dpcore.engines.work import (
    CountJob,
    DigestJob,
    ForEachBatchJob,
    Groups,
    Job,
    Output,
    Part,
    PublishJob,
    Result,
    RuleCountJob,
    SumJob,
    TextCountJob,
    Work,
)
from dpcore.errors import (
    DisclosureError,
    UsageError,
    missing_column_error,
    no_rows_error,
    source_changed_error,
)
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.schema import Schema
from dpcore.tables.counts import MAX_CELLS_PER_PASS, Counts, check_cells, project
from dpcore.tables.digests import combine_fingerprint, select_counted_rows
from dpcore.tables.rows import (
    CodedRows,
    DistinctRows,
    LinkedMicrodata,
    Microdata,
    PublishedSums,
)
from dpcore.tables.sums import Entry, Integers

MAX_ROWS_IN_MEMORY = 2_000_000
"""Rows that an engine brings into memory, at most."""
MAX_JOINT_CELLS = 2**14
"""Cells of a table counted in place of several others, at most.

Summing up a larger one costs more than counting again, for few rows and for many.
"""


class Engine(ABC):
    """Holder of private rows that answers questions in passes over batches.

    It prints its domain, never its rows, and refuses to be pickled. A subclass sets
    `_columns`, the names of all columns, and `_people`, the number of people by their
    number of rows. With an id column, at most `max_rows` rows of each person are
    counted: those with the lowest keyed digests of their own content, so that neither
    the order nor the place of rows matters, nor other people's rows.
    """

    reading_from_data = False
    """Whether how the rows' file is written was read from that file."""

    def __init__(self, schema: Schema, *, key: bytes) -> None:
        self._schema = schema
        self._key = key
        self._names = schema.domain.names
        self._columns: Sequence[str] = ()
        self._people: dict[int, int] = {}
        self._print: str | None = None
        self._on_rows: Callable[[int], None] = ignore_progress

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain})"

    def __reduce__(self) -> NoReturn:
        raise DisclosureError(
            "an engine holds private rows and is never stored", remedy="release first"
        )

    @property
    def domain(self) -> Domain:
        """Names of the declared columns, with the number of cells of each."""
        return self._schema.domain

    def hold_state(self) -> AbstractContextManager[object]:
        """Return a context in which this thread reads one state of the table.

        It is held before a charge.

        Raises: ReadError if the table is not as it was when it was opened, as far as
            that can be told.
        """
        return nullcontext()

    @property
    def fingerprint(self) -> str:
        """Keyed digest of the whole table, independent of row and column order."""
        if self._print is None:
            total = self._scan(DigestJob(key=self._key), counted=False)
            self._print = combine_fingerprint(self._columns, total, self._key)
        return self._print

    def people(self) -> dict[int, int]:
        """Return how many people have each number of rows. Private."""
        return self._people

    @property
    def in_memory(self) -> bool:
        """Whether all rows fit into memory, so that `rows` returns them."""
        return self._count_all_rows() <= MAX_ROWS_IN_MEMORY

    def rows(self) -> Microdata:
        """Return all rows, for work outside differential privacy.

        Raises: RowsError if they do not fit; ReadError if their number has changed.
        """
        if not self.in_memory:
            raise too_many_error("rows", MAX_ROWS_IN_MEMORY)
        length = self._count_all_rows()
        rows = self.sample(length + 1)
        if len(rows.frame) != length:
            raise source_changed_error()
        return rows

    @abstractmethod
    def sample(self, rows: int) -> Microdata:
        """Return the first `rows` rows of the source, or fewer, for the table's owner.

        Few more are read.
        """

    def _count_all_rows(self) -> int:
        return sum(rows * people for rows, people in self._people.items())

    @abstractmethod
    def _scan(self, work: Work[Result], *, counted: bool = True) -> Result:
        """Run a job on the counted rows, or on all rows, and return its result."""

    def counts(
        self,
        cliques: Sequence[Clique],
        *,
        part: Part | None = None,
        groups: Mapping[str, npt.NDArray[np.int64]] | None = None,
    ) -> list[Counts]:
        """Return one table of exact int64 counts for each clique.

        Args:
            cliques: columns of each table of counts.
            part: (column, category) to count only its rows.
            groups: by column, the merged cell of each cell, int64; merged before
                counting.

        Raises: LimitError for a clique with too many cells, before anything is
            allocated.
        """
        groups = groups or {}
        domain = _merged_domain(self.domain, groups)
        check_cells(domain, cliques)
        self._check_part(part)
        # The choice of joint tables and of passes depends only on names and declared
        # cells, never on rows
        divided = [_multi_cell_columns(clique, domain) for clique in cliques]
        inside: dict[Clique, list[int]] = {}
        for place, table in enumerate(
            choose_joint_tables(divided, domain, MAX_JOINT_CELLS)
        ):
            inside.setdefault(table, []).append(place)
        by_place: dict[int, Counts] = {}
        for together in group_passes(list(inside), domain, MAX_CELLS_PER_PASS):
            work = CountJob(domain=domain, cliques=together, part=part, groups=groups)
            for table, flat in work.split_tables(self._scan(work)):
                cells = flat.reshape(domain.shape(table))
                for place in inside[table]:
                    values = project(cells, table, divided[place]).reshape(
                        domain.shape(cliques[place])
                    )
                    by_place[place] = Counts(clique=cliques[place], values=values)
        return [by_place[place] for place in range(len(cliques))]

    def sums(
        self, by: Clique, entries: Sequence[Entry], *, part: Part | None = None
    ) -> Integers:
        """Return the exact int64 sum of each entry over the rows of each cell of `by`.

        They have shape (cells, entries) and units of 1 / GRID rows. A row adds the
        product of an entry's levels at its cells, at most GRID in size.

        Raises: LimitError for too many cells, before anything is allocated.
        """
        check_cells(self.domain, [by] * len(entries))
        self._check_part(part)
        lines = self.domain.cells(by)
        sums = np.empty((lines, len(entries)), dtype=np.int64)
        together = max(1, MAX_CELLS_PER_PASS // lines)
        for start in range(0, len(entries), together):
            batch = slice(start, start + together)
            sums[:, batch] = self._scan(
                SumJob(domain=self.domain, by=by, entries=entries[batch], part=part)
            )
        return sums

    def texts(self, column: str, *, part: Part | None = None) -> dict[str, int]:
        """Return the exact number of rows with each text of a column. Private.

        Missing ones are left out.
        """
        self._check_part(part)
        texts: Counter[str] = self._scan(TextCountJob(column=column, part=part))
        return dict(texts)

    def count_by_rule(
        self,
        assign: Callable[[pd.DataFrame], npt.NDArray[np.int64]],
        cells: int,
        reads: Clique,
    ) -> Counts:
        """Return the exact number of rows that a public rule puts into each cell.

        Private.

        Args:
            assign: gets the columns in `reads`, and returns the cell of each row,
                int64; the cell of a row must not depend on other rows.
            cells: their number.
            reads: names of the columns that the rule needs.
        """
        sources = self._schema.source_columns(reads)
        places = self._scan(RuleCountJob(assign=assign, number=cells, reads=sources))
        return Counts(clique=(), values=places)

    def tuples(self, columns: Sequence[str], *, by: str | None = None) -> DistinctRows:
        """Return the distinct tuples of columns, with row and people counts. Private.

        Args:
            columns: names of columns of the table, declared or not.
            by: a column that names the owner of a row; then the owners of each tuple
                are found, too.

        Raises: LimitError for too many tuples, or too many different sets of tuples
            that people hold.
        """
        self._check_columns([*columns, *([] if by is None else [by])])
        distinct = self._read_tuples(columns)
        if by is None:
            return distinct
        holders = Holders(distinct, columns)
        self._for_each_batch(
            OwnerJob(columns=tuple(columns), owner_column=by), holders.store
        )
        return replace(distinct, owners=holders.find_owners(self._on_rows))

    def _sources(self, reads: Sequence[str] | None) -> Sequence[str]:
        """Return the table columns that a job reads; None stands for all columns."""
        return self._columns if reads is None else self._schema.source_columns(reads)

    def _check_columns(self, names: Sequence[str]) -> None:
        if not names:
            raise UsageError(
                "tuples need at least one column", remedy="name the columns"
            )
        for name in names:
            if name not in self._columns:
                raise missing_column_error(name)

    def _read_tuples(self, columns: Sequence[str]) -> DistinctRows:
        work = TupleJob(
            columns=tuple(columns), id_column=self._schema.unit.id_column, key=self._key
        )
        return self._scan(work, counted=False).to_distinct_rows(
            has_ids=work.id_column is not None
        )

    def coded_rows(self, columns: Sequence[str]) -> Microdata:
        """Return columns of all rows as codes, with the owner of each row. Private.

        It may return their distinct tuples.

        Raises: LimitError, RowsError if they do not fit.
        """
        if self._schema.unit.id_column is not None:
            return self.rows()
        distinct = self.tuples(columns)
        return replace(
            CodedRows.from_frames(columns, lambda _: distinct.frame, None),
            counts=distinct.rows,
        )

    def linked_rows(self) -> LinkedMicrodata:
        """Return all rows of both tables, if this is a view of two linked tables.

        Raises: UsageError for one table.
        """
        raise UsageError(
            "this is one table, and no pair of people and their events",
            remedy="open two linked tables",
        )

    def limit_rows(self, rows: Microdata) -> Microdata:
        """Return the rows that count: at most `max_rows` of each person."""
        return Microdata(select_counted_rows(rows.frame, self._key, self._schema.unit))

    def apply(self, publish: Callable[[pd.DataFrame], PublishedSums]) -> PublishedSums:
        """Pass all rows to a function that publishes them; add up its results.

        Args:
            publish: gets a batch of rows; what it makes of a row must not depend on
                other rows. It is called by several threads or processes, and again if
                one of them ended.
        """
        return self._scan(PublishJob(publish=publish), counted=False)

    def map_numbers(self, work: Callable[[int], Output], number: int) -> list[Output]:
        """Call a function with 0 .. number - 1, and return the results in any order.

        Args:
            work: is called where this engine works, and again with a number if a
                process ended; one result of each is returned.
        """
        return [work(argument) for argument in range(number)]

    def _for_each_batch(
        self, work: Job[Result], on_result: Callable[[Result], None]
    ) -> None:
        """Run a job on each batch, and pass every result to a function.

        It may be called from several threads.
        """
        self._scan(ForEachBatchJob(work=work, on_result=on_result), counted=False)

    def _check_part(self, part: Part | None) -> None:
        if part is not None:
            self._schema.part_code(*part)

    def _require_rows(self, rows: int) -> int:
        if rows == 0:
            raise no_rows_error()
        return rows


def _merged_domain(domain: Domain, groups: Groups) -> Domain:
    """Return the domain after the cells of the columns in `groups` are merged."""
    sizes = dict(zip(domain.names, domain.sizes, strict=True))
    sizes |= {name: int(group.max()) + 1 for name, group in groups.items()}
    return Domain(names=domain.names, sizes=tuple(sizes[name] for name in domain.names))


def _multi_cell_columns(clique: Clique, domain: Domain) -> Clique:
    """Return the columns of a clique that have more than one cell.

    The others are an axis of a table, and no work.
    """
    return tuple(name for name in clique if domain.size(name) > 1)


def ignore_progress(rows: int) -> None:
    """Do nothing; the default callback for the number of rows read so far."""
