"""The SQL of a source that is described by fields: one row gives at most one row, and no row fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from dpcore.schema.source import Join, Source, Value


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How one kind of data base writes it.

    Attributes:
        quote: the character around names.
        within: what a table without a schema is in.
        value: a bound value, by its number from 1.
        text: the exact text of a column, whatever its collation.
        compared: comparisons of a column with a value by its kind; none fails on a row.
    """

    quote: str
    within: tuple[str, ...]
    value: str
    text: str
    compared: Mapping[str, str]

    def name(self, name: str) -> str:
        """A name in quotes."""
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def table(self, name: str) -> str:
        """A table, with what it is in."""
        parts = name.split(".")
        left_out = self.within[: max(0, len(self.within) + 1 - len(parts))]
        return ".".join(map(self.name, (*left_out, *parts)))


_TEXT = "{text} {comparison} {value}"
DUCKDB = Dialect(
    quote='"',
    within=("attached", "main"),
    value="getvariable('value_{number}')",  # set on the connection: a view takes no parameters
    text="CAST({column} AS VARCHAR) COLLATE C",
    compared={
        "text": _TEXT,
        "truth": "TRY_CAST({column} AS BOOLEAN) {comparison} {value}",
        "number": "TRY_CAST({column} AS DOUBLE) {comparison} {value}",
        "time": "TRY_CAST({column} AS TIMESTAMP) {comparison} {value}",
    },
)
POSTGRES = Dialect(
    quote='"',
    within=("public",),
    value="${number}",
    text='CAST({column} AS text) COLLATE "C"',
    compared={
        "text": _TEXT,
        "truth": "{column} {comparison} CAST({value} AS boolean)",
        "number": "{column} {comparison} CAST({value} AS numeric)",
        "time": "{column} {comparison} CAST({value} AS timestamp)",
    },
)
SPARK = Dialect(
    quote="`",
    within=(),
    value="?",
    text="CAST({column} AS STRING)",
    compared={
        "text": _TEXT,
        "truth": "try_cast({column} AS BOOLEAN) {comparison} {value}",
        "number": "try_cast({column} AS DOUBLE) {comparison} {value}",
        "time": "try_cast({column} AS TIMESTAMP) {comparison} {value}",
    },
)


def statement(source: Source, dialect: Dialect, first: str = "") -> tuple[str, tuple[Value, ...]]:
    """The query of a description, and the values that are bound to it in their order.

    Args: first: what the first table is, where it is a file.
    """
    columns = {column: f"t0.{dialect.name(column)}" for column in source.columns}
    joined = ""
    for place, join in enumerate(source.joins, 1):
        columns |= {column: f"t{place}.{dialect.name(column)}" for column in join.columns}
        pair = (f"t0.{dialect.name(join.on)}", f"t{place}.{dialect.name(join.key)}")
        one, other = (dialect.text.format(column=column) for column in pair)
        joined += f" LEFT JOIN {dialect.table(join.table)} AS t{place} ON {one} = {other}"
    conditions = []
    for number, each in enumerate(source.where, 1):
        column = columns.get(each.column, f"t0.{dialect.name(each.column)}")
        conditions.append(
            dialect.compared[_kind(each.value)].format(
                column=column,
                text=dialect.text.format(column=column),
                comparison=each.comparison,
                value=dialect.value.format(number=number),
            )
        )
    query = (
        f"SELECT {', '.join(columns.values()) or 't0.*'} FROM {first or dialect.table(source.table)} AS t0"
    )
    query += joined + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
    return query, tuple(each.value for each in source.where)


def repeated(join: Join, dialect: Dialect) -> str:
    """A query that gives a row where the key of a joined table is there twice."""
    key = dialect.name(join.key)
    text = dialect.text.format(column=key)
    return (
        f"SELECT 1 FROM {dialect.table(join.table)} WHERE {key} IS NOT NULL "
        f"GROUP BY {text} HAVING count(*) > 1 LIMIT 1"
    )


def _kind(value: Value) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "truth"
    return "time" if isinstance(value, date) else "number"
