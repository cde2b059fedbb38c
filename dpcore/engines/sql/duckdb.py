"""A reader of CSV, Parquet or DuckDB files through DuckDB, with joins and views."""

import contextlib
from collections.abc import Callable, Iterator

from dpcore.engines.sql._query import QueryReading
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.engines.streaming.files import read_file_states
from dpcore.engines.streaming.reader import ROWS_PER_BATCH, Reader, reading_errors
from dpcore.errors import source_changed_error
from dpcore.tables.arrow import column_types


class DuckDBReader(Reader):
    """Reader that queries DuckDB in limited memory, with one transaction per state."""

    source: DuckDBSource

    def __init__(self, source: DuckDBSource) -> None:
        """Open the DuckDB connection of a source.

        Raises: ReadError for what cannot be read, SchemaError for views and the like.
        """
        import duckdb

        self.source = source
        self._state = read_file_states(source.files)
        self.as_text = source.kind == "csv"
        with reading_errors(duckdb.Error):
            self._connection = source.connect()
        self.arrow_types = {}

    @contextlib.contextmanager
    def hold_state(self, poll: Callable[[], object]) -> Iterator[QueryReading]:
        """Open a read-only transaction, after checking that no file has changed.

        Raises: ReadError if they changed, SchemaError for nested columns.
        """
        import duckdb

        self._check_unchanged()
        with contextlib.ExitStack() as stack:
            with reading_errors(duckdb.Error):
                cursor = stack.enter_context(
                    contextlib.closing(self.source.cursor(self._connection))
                )
                cursor.execute("BEGIN TRANSACTION READ ONLY")
            reading = QueryReading(
                from_clause=self.source.from_clause,
                run_query=lambda query: cursor.sql(query).to_arrow_reader(
                    ROWS_PER_BATCH
                ),
                interrupt=cursor.interrupt,
                errors=duckdb.Error,
                check_unchanged=self._check_unchanged,
            )
            self.arrow_types = self.arrow_types or column_types(reading.schema(poll))
            yield reading

    def _check_unchanged(self) -> None:
        if self._state != read_file_states(self.source.files):
            raise source_changed_error()
