"""Connected sources: tables that are read where they are stored.

A source is described so that each row comes from one person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import ClassVar

from dpcore.errors import ParameterError
from dpcore.registry import Registered

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
ConditionValue = str | bool | int | float | date
_MAX_EXACT_INTEGER = 2**53


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A condition on the rows that are read; a missing value never meets it.

    Attributes:
        comparison: one of =, !=, <, <=, >, >=.
        value: a text is compared with the text of the cell, in the order of its
            letters' codes; a number, a truth value or a time with the cell's value as
            one. A cell without such a value is not read.
    """

    column: str
    comparison: str
    value: ConditionValue

    def __post_init__(self) -> None:
        value = self.value
        is_exact = not isinstance(value, int | float) or (
            math.isfinite(value) and abs(value) <= _MAX_EXACT_INTEGER
        )
        is_zoned = isinstance(value, datetime) and value.tzinfo is not None
        is_known = self.comparison in COMPARISONS and isinstance(
            value, str | int | float | date
        )
        if not (self.column and is_known and is_exact) or is_zoned:
            raise ParameterError(
                (
                    "a condition of a source must name a column, a comparison "
                    "({comparisons}) and a value"
                ),
                remedy="write long numbers as text, and times without a time zone",
                comparisons=" ".join(COMPARISONS),
            )


@dataclass(frozen=True, kw_only=True)
class Join:
    """Columns of another table, joined on equal texts of a key.

    Each row gets the one row there with its key, if there is one.

    Attributes:
        table: the other table.
        columns: names in the other table.
        on: the column of the first table that is compared.
        key: the column of the other table, without two rows of one text; empty if it
            has the name of `on`.
        public: whether the other table is about no person. One that is not is joined on
            the id column alone.
    """

    table: str
    columns: tuple[str, ...]
    on: str
    key: str = ""
    public: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.key or self.on)


class SourceKind(Registered, home="dpcore.engines.connect"):
    """A kind of source, such as a database, and what its sources may specify.

    `dpcore.engines` opens each.

    Attributes:
        title: its name for people.
        has_tables: a source names one of its tables, unless it has a query.
        has_joins: columns of other tables can be joined.
        has_queries: a source may have a query.
        has_delimiter: cells are texts with a character between them.
    """

    title: ClassVar[str]
    has_tables: ClassVar[bool] = False
    has_joins: ClassVar[bool] = False
    has_queries: ClassVar[bool] = True
    has_delimiter: ClassVar[bool] = False

    @classmethod
    def base_table(cls, source: Source) -> str:
        """Return the first table of a database; an empty text for files and queries."""
        return source.table


@dataclass(frozen=True, kw_only=True)
class Source:
    """A connected table, which is read where it is stored.

    One row of it gives at most one row, from values of the same person alone;
    `docs/guarantees.md` proves it.

    Attributes:
        name: its identity for good: what was spent on it is filed under it.
        kind: where it is.
        location: a file or folder; for PostgreSQL a connection string, which may hold a
            password; for Spark the name of a table, or a folder of Parquet.
        table: a base table of a data base, with its schema and a dot before it if that
            is not the usual one.
        columns: what is read; empty for all columns.
        where: conditions that a row must meet, all of them.
        joins: other tables of a data base.
        delimiter: between the cells of CSV; empty for the one that the header shows.
        query: one SELECT of any kind in place of table, columns, where and joins; files
            are `source` in it.
        declared_by: who declared that each row comes from one person, if a query or a
            view is read and nobody can check it. Every guarantee repeats the name.
        threads: how many read it at a time.
        linked: whether a link may lead to the file; otherwise it is held open as it was
            when it was opened.
    """

    name: str
    kind: str
    location: str = field(repr=False)
    table: str = ""
    columns: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    joins: tuple[Join, ...] = ()
    delimiter: str = ""
    query: str = ""
    declared_by: str = ""
    threads: int = 2
    linked: bool = True

    def __post_init__(self) -> None:
        kinds = SourceKind.kinds()
        if self.kind not in kinds:
            raise self._error("its kind must be one of " + ", ".join(kinds))
        kind = kinds[self.kind]
        if kind.has_tables and not (self.table or self.query):
            raise self._error("it needs a table")
        if self.table and not kind.has_tables:
            raise self._error("it has one table, which its location names")
        if self.query and (self.table or self.has_selection):
            raise self._error(
                "a query takes the place of table, columns, conditions and joins"
            )
        if self.query and not self.declared_by:
            raise self._error(
                "who wrote its query must declare that each row comes from one person"
            )
        if self.query and not kind.has_queries:
            raise self._error(f"a query of {kind.title} is read as a view")
        if self.joins and not (kind.has_joins and self.columns):
            raise self._error("joins need a data base and a list of columns")
        if not all(
            (
                *self.output_columns,
                *(name for join in self.joins for name in (join.table, join.on)),
            )
        ):
            raise self._error("a name is empty")
        if len({name.casefold() for name in self.output_columns}) < len(
            self.output_columns
        ):
            raise self._error("it reads two columns of one name")
        if self.delimiter and (
            not kind.has_delimiter
            or len(self.delimiter) > 1
            or self.delimiter in '"\r\n'
        ):
            raise self._error("the delimiter of CSV is one character, and no quote")

    @property
    def has_selection(self) -> bool:
        """Whether the source names columns, conditions or joins."""
        return bool(self.columns or self.where or self.joins)

    @property
    def output_columns(self) -> tuple[str, ...]:
        """Names of the columns that are read, those of joins last."""
        return (*self.columns, *(name for join in self.joins for name in join.columns))

    @property
    def base_table(self) -> str:
        """The first table of a database; empty for files and queries."""
        return SourceKind.of_kind(self.kind).base_table(self)

    @property
    def columns_by_table(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Each table of the source, with the columns that the source names in it."""
        joined = {name for join in self.joins for name in join.columns}
        wanted = [
            condition.column
            for condition in self.where
            if condition.column not in joined
        ]
        first = (*self.columns, *wanted, *(join.on for join in self.joins))
        return (
            (self.base_table, first),
            *((join.table, (join.key, *join.columns)) for join in self.joins),
        )

    def _error(self, problem: str) -> ParameterError:
        return wrong_source_error(self.name, problem)


def wrong_source_error(name: str, problem: str) -> ParameterError:
    """Return the error for a source that contradicts itself or cannot be read."""
    return ParameterError(
        "source {name!r} is not understood: {problem}",
        remedy="correct the list of sources",
        name=name,
        problem=problem,
    )
