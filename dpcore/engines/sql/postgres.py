"""Reader of a PostgreSQL table, view or query, through ADBC."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from dpcore.engines.sql._query import QueryReading, quote
from dpcore.engines.sql.statement import POSTGRES, SQL, build_query, check_described
from dpcore.engines.streaming.reader import Reader, reading_errors
from dpcore.engines.streaming.waiting import run_cancellable
from dpcore.errors import ParameterError, not_installed_error, source_changed_error
from dpcore.schema.source import Source
from dpcore.tables.arrow import check_types, column_types

_BEGIN_STATEMENT = SQL["sent"]["begin_postgres"]


class PostgresReader(Reader):
    """Reader of a PostgreSQL query, with one read-only transaction per state.

    A transaction lasts an hour at most. A row that was added or deleted since the first
    state is noticed, a changed value is not.
    """

    source: Source

    def __init__(self, source: Source) -> None:
        """Check the query, without opening a connection."""
        if ";" in source.query:
            raise ParameterError(
                "the query of a source must be one SELECT without a semicolon",
                remedy="correct the list of sources",
            )
        self.source = source
        self._written: dict[str, str] = {}
        self._rows: int | None = None
        self.arrow_types = {}

    @contextlib.contextmanager
    def hold_state(self, poll: Callable[[], object]) -> Iterator[QueryReading]:
        """Open a read-only transaction, and check that the number of rows is unchanged.

        Raises: ReadError for what cannot be read, or another number of rows than the
            first one; SchemaError for arrays, views and the like.
        """
        try:
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise not_installed_error("psycopg", "requirements-postgres.txt") from None

        query, values = (
            build_query(self.source, POSTGRES)
            if self.source.table
            else (self.source.query, ())
        )
        with contextlib.ExitStack() as stack:
            with reading_errors(dbapi.Error):
                connection = stack.enter_context(
                    _connect(dbapi, self.source.location, poll)
                )
                settings = {
                    f"source.value_{number}": str(value)
                    for number, value in enumerate(values, 1)
                }
                # Search pg_catalog only; otherwise an operator of the database could
                # replace a standard one
                if not self.source.declared_by:
                    settings["search_path"] = "pg_catalog"
                for setting in settings.items():
                    _read_rows(connection, "SELECT set_config($1, $2, true)", setting)
                check_described(
                    self.source, POSTGRES, functools.partial(_read_rows, connection)
                )

            @contextlib.contextmanager
            def ask(query: str) -> Iterator[Any]:
                with connection.cursor() as cursor:
                    yield cursor.execute(query).fetch_record_batch()

            reading = QueryReading(
                from_clause=f"({query}) AS asked",
                run_query=ask,
                interrupt=connection.adbc_cancel,
                errors=dbapi.Error,
                check_unchanged=lambda: None,
                column_expressions=self._written,
            )
            if not self.arrow_types:
                self._find_columns(reading, poll)
            rows = reading.rows(poll)
            if self._rows not in (None, rows):
                raise source_changed_error()
            self._rows = rows
            yield reading

    def _find_columns(self, reading: QueryReading, poll: Callable[[], object]) -> None:
        """Find the columns of the query, and the SQL expression that reads each."""
        given = reading.schema(poll)
        check_types((name, pa.null()) for name in given.names)  # no name twice
        for field in given:
            kind = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
            written = SQL["written_postgres"].get(kind)
            if written:
                self._written[field.name] = written.format(quote(field.name))
        self.arrow_types = column_types(reading.schema(poll, given.names))


@contextlib.contextmanager
def _connect(dbapi: Any, location: str, poll: Callable[[], object]) -> Iterator[Any]:
    """Open a connection in a read-only transaction."""
    connection = run_cancellable(
        lambda: dbapi.connect(location, autocommit=True),
        poll=poll,
        interrupt=lambda: None,
    )
    try:
        with connection.cursor() as cursor:
            cursor.executescript(_BEGIN_STATEMENT)
        yield connection
    finally:
        with contextlib.suppress(dbapi.Error):  # it may be lost
            connection.close()


def _read_rows(
    connection: Any, query: str, values: Sequence[str]
) -> list[tuple[object, ...]]:
    """Return all rows of a query, with texts bound to its parameters."""
    with connection.cursor() as cursor:
        rows: list[tuple[object, ...]] = cursor.execute(
            query, list(values) or None
        ).fetchall()
        return rows
