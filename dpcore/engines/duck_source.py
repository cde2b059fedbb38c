"""What DuckDB is to read, and a connection that reads that and nothing else."""

from __future__ import annotations

import os
import tempfile
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dpcore.engines.files import files_at
from dpcore.errors import ParameterError, SchemaError

_ENDINGS = {"csv": ".csv", "parquet": ".parquet", "duckdb": ".duckdb"}


@dataclass(frozen=True, kw_only=True)
class DuckDBSource:
    """A place, and one query to it.

    Attributes:
        kind: CSV files are read as texts, so that a cell never depends on the other cells of its column.
        location: path of a file, for CSV and Parquet also of a folder.
        query: one SELECT; the files of CSV and Parquet are the table `source`.
        memory: megabytes that DuckDB may take; beyond them it writes to temporary files.
    """

    kind: Literal["csv", "parquet", "duckdb"]
    location: str = field(repr=False)
    query: str = "SELECT * FROM source"
    memory: int = 500

    def __post_init__(self) -> None:
        try:
            import duckdb
        except ImportError:
            raise ParameterError(
                "DuckDB is not installed", remedy="pip install -r requirements-duckdb.txt"
            ) from None

        try:
            found = duckdb.connect().extract_statements(self.query)
            fits = len(found) == 1 and found[0].type == duckdb.StatementType.SELECT and ";" not in self.query
        except duckdb.Error:
            fits = False
        if not fits:
            raise ParameterError(
                "the query of a source must be one SELECT without a semicolon",
                remedy="write one, or leave it out",
            )

    @property
    def files(self) -> list[Path]:
        """The files that are read. Raises: ReadError when there are none."""
        return files_at(Path(self.location), _ENDINGS[self.kind])

    @property
    def table(self) -> str:
        """What is after FROM."""
        return f"({self.query}) AS asked"

    def connect(self) -> Any:
        """A connection that reads this alone: no other file, no writing, no other setting.

        Raises: duckdb.Error, whose words may hold what nobody should see.
        """
        import duckdb

        connection = duckdb.connect(
            config={
                "threads": "2",
                "memory_limit": f"{self.memory}MB",
                "temp_directory": os.path.join(tempfile.gettempdir(), f"duckdb-{uuid.uuid4().hex}"),
                "allow_community_extensions": "false",
            }
        )
        if self.kind in ("csv", "parquet"):
            paths = [_text(os.fspath(path)) for path in self.files]
            how = ", all_varchar = true, header = true" if self.kind == "csv" else ""
            connection.execute(f"SET allowed_paths = [{', '.join(paths)}]")
            self._check_agree(connection, paths, how)
            self._check_kinds()
            connection.execute(
                f"CREATE VIEW source AS SELECT * FROM read_{self.kind}([{', '.join(paths)}]{how})"
            )
        else:
            connection.execute(f"ATTACH {_text(self.location)} AS attached (READ_ONLY)")
        connection.execute("SET GLOBAL TimeZone = 'UTC'")  # not that of the server
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return self._using(connection)

    def _check_agree(self, connection: Any, paths: list[str], how: str) -> None:
        """Refuse files that differ in columns or types, which DuckDB would fit to the first one."""
        first = None
        for path in paths if len(paths) > 1 else ():
            found = connection.execute(f"DESCRIBE SELECT * FROM read_{self.kind}({path}{how})").fetchall()
            columns = {name: kind for name, kind, *_ in found}
            first = first or columns
            for name in first.keys() | columns.keys():
                if first.get(name) != columns.get(name):
                    raise SchemaError(
                        "the files of the folder disagree about the column {column!r}",
                        remedy="write all files with the same columns and types",
                        column=name,
                    )

    def _check_kinds(self) -> None:
        """Refuse types of Parquet that DuckDB reads as others: another number of digits, or bare numbers."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        for path in self.files if self.kind == "parquet" else ():
            for column in pq.read_schema(path):
                if pa.types.is_float16(column.type) or pa.types.is_duration(column.type):
                    raise SchemaError(
                        "DuckDB does not read the type of column {column!r} ({type}) as it was written",
                        remedy="write it with 32 bits, a duration as a number, or leave it out",
                        column=column.name,
                        type=column.type,
                    )

    def cursor(self, connection: Any) -> Any:
        """A second reader of the same connection."""
        return self._using(connection.cursor())

    def _using(self, connection: Any) -> Any:
        if self.kind == "duckdb":
            connection.execute("USE attached")
        return connection


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
