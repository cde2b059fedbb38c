"""Kinds of data sources, and the engine that reads each kind."""

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from dpcore.accounting.ledger import source_dataset
from dpcore.accounting.own import derive_key
from dpcore.engines.base import Engine, ignore_progress
from dpcore.engines.frame import FrameEngine
from dpcore.engines.spark.engine import SparkEngine, spark_errors
from dpcore.engines.sql.duckdb import DuckDBReader
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.engines.sql.postgres import PostgresReader
from dpcore.engines.sql.statement import (
    SPARK,
    build_query,
    check_described,
    check_joins,
)
from dpcore.engines.streaming.engine import ArrowEngine, read_sample
from dpcore.engines.streaming.files import open_without_links
from dpcore.engines.streaming.parquet import ParquetReader
from dpcore.engines.streaming.reader import Reader
from dpcore.errors import ReadError, missing_column_error, not_installed_error
from dpcore.progress import Compute, compute_here
from dpcore.schema.schema import Schema
from dpcore.schema.source import Source, SourceKind
from dpcore.schema.table import normalize_table
from dpcore.tables.rows import Microdata

_STORED_FORMATS = (
    "parquet",
    "orc",
    "csv",
    "json",
    "avro",
    "text",
    "delta",
    "iceberg",
    "hive",
)
"""Formats of tables stored by Spark itself; other tables may be queries elsewhere."""


class Connection(SourceKind, ABC):
    """Base class of source kinds that can open the rows of a source."""

    @classmethod
    @abstractmethod
    def open(
        cls,
        source: Source,
        schema: Schema,
        *,
        key: bytes,
        on_rows: Callable[[int], None] = ignore_progress,
    ) -> Engine:
        """Return an engine for a source, with a schema and a key of its own."""

    @classmethod
    @abstractmethod
    def look(
        cls, source: Source, rows: int, on_rows: Callable[[int], None] = ignore_progress
    ) -> Microdata:
        """Return the first `rows` rows of a source, or fewer."""


class _StreamedConnection(Connection):
    """Base class of source kinds that are read as Arrow batches."""

    @classmethod
    def reader(cls, source: Source) -> Reader:
        """Return the reader of a source; by default it reads through DuckDB."""
        return DuckDBReader(DuckDBSource(**vars(source)))

    @classmethod
    def open(
        cls,
        source: Source,
        schema: Schema,
        *,
        key: bytes,
        on_rows: Callable[[int], None] = ignore_progress,
    ) -> Engine:
        return ArrowEngine(cls._reader(source), schema, key=key, on_rows=on_rows)

    @classmethod
    def look(
        cls, source: Source, rows: int, on_rows: Callable[[int], None] = ignore_progress
    ) -> Microdata:
        return read_sample(cls._reader(source), rows, on_rows)

    @classmethod
    def _reader(cls, source: Source) -> Reader:
        file = None if source.linked else open_without_links(Path(source.location))
        if file is not None:
            cls._check_complete(Path(source.location))
            source = replace(source, location=f"/proc/self/fd/{file.fileno()}")
        reader = cls.reader(source)
        reader.threads = source.threads
        reader.file = file
        return reader

    @classmethod
    def _check_complete(cls, file: Path) -> None:
        """Refuse a file that does not hold its whole table."""


class Parquet(_StreamedConnection):
    """A Parquet file, or a folder of Parquet files."""

    kind = "parquet"
    title = "Parquet"

    @classmethod
    def reader(cls, source: Source) -> Reader:
        if source.query or source.has_selection:
            return super().reader(source)
        return ParquetReader(Path(source.location))


class CSV(_StreamedConnection):
    """A CSV file, or a folder of CSV files."""

    kind = "csv"
    title = "CSV"
    has_delimiter = True


class DuckDB(_StreamedConnection):
    """A DuckDB database file."""

    kind = "duckdb"
    title = "DuckDB"
    has_tables = has_joins = True

    @classmethod
    def _check_complete(cls, file: Path) -> None:
        # DuckDB opens the file by its descriptor and would not find the write-ahead log
        # beside it
        if file.with_name(f"{file.name}.wal").exists():
            raise ReadError(
                "the DuckDB file has changes that are not written into it yet",
                remedy="run CHECKPOINT in DuckDB, close it there, and open it again",
            )


class PostgreSQL(_StreamedConnection):
    """A PostgreSQL database."""

    kind = "postgres"
    title = "PostgreSQL"
    has_tables = has_joins = True

    @classmethod
    def reader(cls, source: Source) -> Reader:
        return PostgresReader(source)


class Spark(Connection):
    """A Spark table, or a folder of Parquet files that Spark reads."""

    kind = "spark"
    title = "Spark"
    has_joins = True
    has_queries = False

    @classmethod
    def base_table(cls, source: Source) -> str:
        return "" if "/" in source.location else source.location

    @classmethod
    def open(
        cls,
        source: Source,
        schema: Schema,
        *,
        key: bytes,
        on_rows: Callable[[int], None] = ignore_progress,
    ) -> Engine:
        check_joins(source, schema)
        return SparkEngine(_spark_table(source), schema, key=key, on_rows=on_rows)

    @classmethod
    def look(
        cls, source: Source, rows: int, on_rows: Callable[[int], None] = ignore_progress
    ) -> Microdata:
        return SparkEngine.look(_spark_table(source), rows)


def engine_of(
    table: pd.DataFrame | Engine | Source,
    schema: Schema,
    *,
    key: bytes,
    on_rows: Callable[[int], None] = ignore_progress,
    compute: Compute = compute_here,
) -> Engine:
    """Return the engine that answers questions about a table under a schema.

    Args:
        compute: takes the fingerprint of a frame, perhaps in another process.

    Raises: as the engines do.
    """
    if isinstance(table, pd.DataFrame):
        frame = normalize_table(table)
        return FrameEngine(frame, schema, key=key, compute=compute)
    if not isinstance(table, Source):
        return table
    # Other machines receive only this derived key
    key = derive_key(key, f"rows of {source_dataset(table.name)}")
    return Connection.of_kind(table.kind).open(table, schema, key=key, on_rows=on_rows)


def look(
    source: Source, rows: int, on_rows: Callable[[int], None] = ignore_progress
) -> Microdata:
    """Return the first `rows` rows of a source, or fewer, for the table's owner.

    They are no random sample.

    Args:
        source: description of the table.
        rows: at most.
        on_rows: called now and then during a query; an exception that it raises ends
            it.

    Raises: ReadError when the source cannot be read.
    """
    return Connection.of_kind(source.kind).look(source, rows, on_rows)


def _spark_table(source: Source) -> object:
    """Return a source as a DataFrame of this process's Spark session.

    The session takes its settings from its own files.

    Raises: as `check_described`.
    """
    try:
        import pyspark.sql  # noqa: F401
    except ImportError:
        raise not_installed_error("PySpark", "requirements-spark.txt") from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with spark_errors():
        session = _spark_session()

        def ask(query: str, names: Sequence[str]) -> list[tuple[object, ...]]:
            if query:
                return [tuple(row) for row in session.sql(query).collect()]
            table = SPARK.quote_table(".".join(names))
            # Refresh the table, since its files may have been replaced
            session.catalog.refreshTable(table)
            about = {
                row[0]: row[1]
                for row in session.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()
            }
            is_base = (
                about.get("Type") in ("MANAGED", "EXTERNAL")
                and about.get("Provider") in _STORED_FORMATS
            )
            return (
                [(name, False) for name in session.table(table).columns]
                if is_base
                else []
            )

        if not source.base_table and not source.has_selection:
            return session.read.parquet(source.location)
        check_described(source, SPARK, ask)
        folder = (
            "" if source.base_table else f"parquet.{SPARK.quote_name(source.location)}"
        )
        stored = (
            session.read.parquet(source.location).columns
            if folder
            else source.columns_by_table[0][1]
        )
        for missing in {*source.columns_by_table[0][1]} - {*stored}:
            raise missing_column_error(missing)
        query, bound = build_query(source, SPARK, folder)
        return session.sql(query, args=list(bound))


def _spark_session() -> Any:
    """Return this process's Spark session; restart it if its JVM has ended."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    begin = SparkSession.builder.appName("dpcore").getOrCreate
    try:
        return begin()
    except (Py4JError, OSError):
        SparkContext._active_spark_context = SparkContext._gateway = (
            SparkContext._jvm
        ) = None
        SparkSession._instantiatedSession = None
        return begin()
