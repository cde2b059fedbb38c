"""Sources read by DuckDB, and connections that can read nothing else."""

import contextlib
import csv
import os
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpcore.engines.sql.statement import DUCKDB, SQL, build_query, check_described
from dpcore.engines.streaming.files import check_same_columns, find_files
from dpcore.engines.streaming.reader import reading_errors
from dpcore.errors import ParameterError, ReadError, SchemaError, not_installed_error
from dpcore.schema.source import Source

_CSV_DELIMITERS = (",", ";", "\t", "|")
_MAX_HEADER_CHARACTERS = 1_000_000
"""Characters of a header, at most."""
_ATTACH_STATEMENT = "ATTACH {} AS attached (READ_ONLY, TYPE duckdb)"
_FILE_ENDINGS = {"csv": ".csv", "parquet": ".parquet", "duckdb": ".duckdb"}


@dataclass(frozen=True, kw_only=True)
class DuckDBSource(Source):
    """A source read by DuckDB.

    Cells of CSV are texts, so that none depends on the others of its column.

    Attributes:
        memory: megabytes of DuckDB, at most; beyond them it writes to temporary files.
    """

    name: str = ""
    memory: int = 500

    def __post_init__(self) -> None:
        super().__post_init__()
        duckdb = _import_duckdb()
        try:
            statements = duckdb.connect().extract_statements(self.query or "SELECT 1")
            fits = (
                len(statements) == 1
                and statements[0].type == duckdb.StatementType.SELECT
                and ";" not in self.query
            )
        except duckdb.Error:
            fits = False
        if not fits:
            raise ParameterError(
                "the query of a source must be one SELECT without a semicolon",
                remedy="correct the list of sources",
            )

    @property
    def files(self) -> list[Path]:
        """Paths of the source's files.

        Raises: ReadError when there are none.
        """
        return find_files(Path(self.location), _FILE_ENDINGS[self.kind])

    @property
    def from_clause(self) -> str:
        """Subquery that follows FROM when the rows are read."""
        first = "" if self.table else "memory.main.source"
        return f"({self.query or build_query(self, DUCKDB, first)[0]}) AS asked"

    def connect(self) -> Any:
        """Open a connection that can read this source only.

        It can read no other file, write nothing and change no setting.

        Raises: duckdb.Error, whose words may hold what nobody should see.
        """
        connection = _connect(self.memory, self.threads)
        if self.kind in ("csv", "parquet"):
            paths = [_quote_text(os.fspath(path)) for path in self.files]
            connection.execute(f"SET allowed_paths = [{', '.join(paths)}]")
            how = self._csv_options() if self.kind == "csv" else ""
            self._check_types(connection, paths)
            connection.execute(
                (
                    "CREATE VIEW source AS SELECT * FROM "
                    f"read_{self.kind}([{', '.join(paths)}]{how})"
                ),
            )
        else:
            connection.execute(_ATTACH_STATEMENT.format(_quote_text(self.location)))
        # Use UTC, not the time zone of the server
        connection.execute("SET GLOBAL TimeZone = 'UTC'")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        check_described(
            self,
            DUCKDB,
            lambda query, values: connection.execute(query, values).fetchall(),
        )
        result = self._prepare(connection).sql(
            f"SELECT * FROM {self.from_clause} LIMIT 0"
        )
        for name, kind in zip(result.columns, result.types, strict=True):
            if kind == "UHUGEINT":  # large ones come as negative numbers
                raise _changed_type_error(name, kind)
        return connection

    def _csv_options(self) -> str:
        """Return DuckDB's CSV options, from headers and declarations alone.

        Raises: SchemaError for files with other columns, which would be read by
            position.
        """
        names: list[str] = []
        for path in self.files:
            with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
                line = file.readline(_MAX_HEADER_CHARACTERS)
            delimiter = self.delimiter or max(_CSV_DELIMITERS, key=line.count)
            try:
                header = next(csv.reader([line], delimiter=delimiter, strict=True), [])
            except csv.Error:
                header = []
            header = [name or f"column{place}" for place, name in enumerate(header)]
            names = names or header
            if len({name.casefold() for name in header}) < max(1, len(header)):
                raise ReadError(
                    "the first line of the CSV file must name every column exactly "
                    "once",
                    remedy="correct the list of sources",
                )
            check_same_columns(
                *(
                    {name: f"column {place + 1}" for place, name in enumerate(columns)}
                    for columns in (names, header)
                ),
            )
        columns = ", ".join(f"{_quote_text(name)}: 'VARCHAR'" for name in names)
        return (
            f", auto_detect = false, header = true, columns = {{{columns}}}, delim = "
            f"{_quote_text(delimiter)}, "
            "quote = '\"', escape = '\"', comment = '', skip = 0, strict_mode = true"
        )

    def _check_types(self, connection: Any, paths: list[str]) -> None:
        """Refuse Parquet files or column types that DuckDB would convert silently.

        It would cast later files to the types of the first one.
        """
        import pyarrow.parquet as pq

        first: dict[str, Any] = {}
        for path, text in (
            zip(self.files, paths, strict=True) if self.kind == "parquet" else ()
        ):
            description = connection.execute(
                f"DESCRIBE SELECT * FROM read_parquet({text})"
            ).fetchall()
            columns = {name: kind for name, kind, *_ in description}
            first = first or columns
            check_same_columns(first, columns)
            for column in pq.read_schema(path):
                is_long = (
                    pa.types.is_decimal(column.type) and column.type.precision > 38
                )
                if (
                    is_long
                    or pa.types.is_float16(column.type)
                    or pa.types.is_duration(column.type)
                ):
                    raise _changed_type_error(column.name, column.type)

    def cursor(self, connection: Any) -> Any:
        """Return a new cursor of the connection, prepared for this source."""
        return self._prepare(connection.cursor())

    def _prepare(self, connection: Any) -> Any:
        # Only a query needs the attached database first; otherwise its macros could
        # replace functions
        if self.query and self.kind == "duckdb":
            connection.execute("USE attached")
        for number, condition in enumerate(self.where, 1):
            connection.execute(f"SET VARIABLE value_{number} = $1", [condition.value])
        return connection


def tables_in(file: str) -> tuple[str, ...]:
    """Return the base tables of a DuckDB file, as named in a source.

    Raises: ReadError, ParameterError.
    """
    with (
        reading_errors(_import_duckdb().Error),
        contextlib.closing(_connect(DuckDBSource.memory)) as connection,
    ):
        connection.execute(_ATTACH_STATEMENT.format(_quote_text(file)))
        tables = connection.execute(SQL["sent"]["tables_duckdb"]).fetchall()
    return tuple(
        table if schema == "main" else f"{schema}.{table}" for schema, table in tables
    )


def _import_duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise not_installed_error("DuckDB", "requirements-duckdb.txt") from None
    return duckdb


def _connect(memory: int, threads: int = 1) -> Any:
    """Open a connection that loads nothing from elsewhere."""
    return _import_duckdb().connect(
        config={
            "threads": threads,
            "memory_limit": f"{memory}MB",
            "temp_directory": os.path.join(
                tempfile.gettempdir(), f"duckdb-{uuid.uuid4().hex}"
            ),
            **SQL["settings_duckdb"],
        },
    )


def _changed_type_error(column: str, kind: Any) -> SchemaError:
    return SchemaError(
        (
            "DuckDB does not hand over the type of column {column!r} ({type}) as it "
            "was "
            "written"
        ),
        remedy="leave it out, or write it as text",
        column=column,
        type=kind,
    )


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
