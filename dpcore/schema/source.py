"""Connected sources: named places of tables that do not fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dpcore.errors import ParameterError

Kind = Literal["parquet", "csv", "duckdb", "postgres", "spark"]
KINDS: tuple[Kind, ...] = ("parquet", "csv", "duckdb", "postgres", "spark")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A table that stays where it is.

    Attributes:
        name: its identity, one for all its days: what was spent on it is filed under it.
        kind: where it is.
        location: a file or folder; for PostgreSQL a connection string, which may hold a password; for Spark
            the name of a table, or a folder of Parquet.
        query: one SELECT for DuckDB, to join or choose; files are the table `source` in it. Empty for a
            whole file.
    """

    name: str
    kind: Kind
    location: str = field(repr=False)
    query: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(
                "the kind of source {name!r} must be one of {kinds}",
                remedy="correct it in the list of sources",
                name=self.name,
                kinds=", ".join(KINDS),
            )
        if self.kind in ("duckdb", "postgres") and not self.query:
            raise ParameterError(
                "source {name!r} needs a query",
                remedy="write one SELECT, such as SELECT * FROM visits",
                name=self.name,
            )
