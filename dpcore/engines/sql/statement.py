"""SQL queries built from sources that are described by fields.

One row gives at most one row, and no row fails.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources import files

from dpcore.errors import SchemaError
from dpcore.schema.schema import Schema
from dpcore.schema.source import ConditionValue, Source


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """SQL syntax of one kind of database.

    Attributes:
        quote: the character around names.
        within: the qualifying names of a table without a schema.
        value: a bound value, by its number from 1.
        text: the exact text of a column, whatever its collation.
        compared: comparisons of a column with a value by its kind; none fails on a row.
        stored: a query for the columns of a base table, by its qualified name, and
            whether each is computed.
    """

    quote: str
    within: Sequence[str]
    value: str
    text: str
    compared: Mapping[str, str]
    stored: str

    def quote_name(self, name: str) -> str:
        """Quote a name."""
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def qualified_name(self, table: str) -> tuple[str, ...]:
        """Return the qualified name of a table as a tuple; its own name is last."""
        parts = table.split(".")
        return (*self.within[: max(0, len(self.within) + 1 - len(parts))], *parts)

    def quote_table(self, table: str) -> str:
        """Quote the qualified name of a table."""
        return ".".join(map(self.quote_name, self.qualified_name(table)))


SQL = tomllib.loads(files(__package__).joinpath("dialects.toml").read_text("utf-8"))
DUCKDB, POSTGRES, SPARK = (
    Dialect(**SQL[name]) for name in ("duckdb", "postgres", "spark")
)


def build_query(
    source: Source, dialect: Dialect, first: str = ""
) -> tuple[str, tuple[ConditionValue, ...]]:
    """Return the query for a described source, and its bound values in order.

    Args:
        first: the first table, if it is a file.
    """
    columns = {column: f"t0.{dialect.quote_name(column)}" for column in source.columns}
    joined = ""
    for place, join in enumerate(source.joins, 1):
        columns |= {
            column: f"t{place}.{dialect.quote_name(column)}" for column in join.columns
        }
        pair = (
            f"t0.{dialect.quote_name(join.on)}",
            f"t{place}.{dialect.quote_name(join.key)}",
        )
        one, other = (dialect.text.format(column=column) for column in pair)
        joined += f" LEFT JOIN {dialect.quote_table(join.table)} AS t{place} ON {one} = {other}"
    conditions = []
    for number, condition in enumerate(source.where, 1):
        column = columns.get(
            condition.column, f"t0.{dialect.quote_name(condition.column)}"
        )
        conditions.append(
            dialect.compared[_kind(condition.value)].format(
                column=column,
                text=dialect.text.format(column=column),
                comparison=condition.comparison,
                value=dialect.value.format(number=number),
            ),
        )
    query = (
        f"SELECT {', '.join(columns.values()) or 't0.*'} FROM "
        f"{first or dialect.quote_table(source.base_table)} AS t0"
    )
    query += joined + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
    return query, tuple(condition.value for condition in source.where)


def check_described(
    source: Source,
    dialect: Dialect,
    ask: Callable[[str, Sequence[str]], Sequence[tuple[object, ...]]],
) -> None:
    """Refuse tables whose rows may depend on other rows, unless declared safe.

    Args:
        ask: returns the rows of a query with the names that are bound to it.

    Raises: SchemaError for a view, a column that is computed or no column, and a
        repeated key.
    """
    for table, wanted in (
        source.columns_by_table if source.base_table and not source.declared_by else ()
    ):
        columns = ask(dialect.stored, dialect.qualified_name(table))
        stored = {column for column, is_computed in columns if not is_computed}
        if not stored or len(stored) < len(columns) or not {*wanted} <= stored:
            raise SchemaError(
                (
                    "source {name!r}: {table!r} is not a base table with these "
                    "columns, or some of the columns are computed"
                ),
                remedy="correct the list of sources",
                name=source.name,
                table=table,
            )
    for join in source.joins:
        key = dialect.quote_name(join.key)
        text = dialect.text.format(column=key)
        twice = f"WHERE {key} IS NOT NULL GROUP BY {text} HAVING count(*) > 1 LIMIT 1"
        if ask(f"SELECT 1 FROM {dialect.quote_table(join.table)} {twice}", ()):
            raise SchemaError(
                (
                    "source {name!r}: the key {column!r} of the table {table!r} is "
                    "there "
                    "twice"
                ),
                remedy="correct the list of sources",
                name=source.name,
                column=join.key,
                table=join.table,
            )


def check_joins(source: Source, schema: Schema) -> None:
    """Refuse a join with people unless it is by the id column of the first table.

    Raises: SchemaError.
    """
    for join in source.joins:
        if not join.public and not join.on == schema.unit.id_column in source.columns:
            raise SchemaError(
                (
                    "the table {table!r} is joined by {column!r}, which does not name "
                    "the person"
                ),
                remedy=(
                    "join the table on the id column and declare that column, or "
                    "declare the table public"
                ),
                table=join.table,
                column=join.on,
            )


def _kind(value: ConditionValue) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "truth"
    return "time" if isinstance(value, date) else "number"
