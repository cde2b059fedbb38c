"""The engine for each kind of table and connected source."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from dpcore.accounting.ledger import source_dataset
from dpcore.accounting.own import derived_key
from dpcore.engines.base import Engine, unheeded
from dpcore.engines.frame import FrameEngine
from dpcore.engines.spark.engine import SparkEngine
from dpcore.engines.sql.duckdb import DuckDBReader
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.engines.sql.postgres import PostgresReader
from dpcore.engines.sql.statement import SPARK, check_described, check_joins, statement
from dpcore.engines.streaming.engine import ArrowEngine, sample_of
from dpcore.engines.streaming.parquet import ParquetReader
from dpcore.engines.streaming.reader import Reader
from dpcore.errors import ParameterError, ReadError, SchemaError
from dpcore.schema.schema import Schema
from dpcore.schema.source import Source
from dpcore.tables.rows import Microdata

_STORED = ("parquet", "orc", "csv", "json", "avro", "text", "delta", "iceberg", "hive")
"""How Spark keeps the rows of a table itself; a table of another data base may be a query there."""


def engine_of(
    table: pd.DataFrame | Engine | Source,
    schema: Schema,
    *,
    key: bytes,
    on_rows: Callable[[int], None] = unheeded,
) -> Engine:
    """The engine that holds a table behind this schema. Raises: as the engines do."""
    if isinstance(table, pd.DataFrame):
        return FrameEngine(table, schema, key=key)
    if not isinstance(table, Source):
        return table
    check_joins(table, schema)
    key = derived_key(key, f"rows of {source_dataset(table.name)}")  # all that other machines get
    if table.kind == "spark":
        return SparkEngine(_spark_table(table), schema, key=key, on_rows=on_rows)
    return ArrowEngine(_reader(table), schema, key=key, on_rows=on_rows)


def look(source: Source, rows: int, on_rows: Callable[[int], None] = unheeded) -> Microdata:
    """The first rows that are come by, at most so many, for their owner's eyes: a part, and no random one.

    Args: on_rows: told now and then that a query is at work; what it raises ends it.
    Raises: ReadError when the source cannot be read.
    """
    if source.kind == "spark":
        return SparkEngine.look(_spark_table(source), rows)
    return sample_of(_reader(source), rows, on_rows)


def _reader(source: Source) -> Reader:
    if source.kind == "parquet" and not (source.query or source.described):
        return ParquetReader(Path(source.location))
    if source.kind == "postgres":
        return PostgresReader(source)
    fields = {each.name: getattr(source, each.name) for each in dataclasses.fields(source)}
    return DuckDBReader(DuckDBSource(**fields))


def _spark_table(source: Source) -> object:
    """A DataFrame of the Spark of this process; settings come from Spark's own files and variables.

    Raises: as `check_described`.
    """
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise ParameterError(
            "PySpark is not installed", remedy="pip install -r requirements-spark.txt"
        ) from None
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        session = SparkSession.builder.appName("dpcore").getOrCreate()

        def ask(query: str, names: Sequence[str]) -> list[tuple[object, ...]]:
            if query:
                return [tuple(row) for row in session.sql(query).collect()]
            table = SPARK.table(".".join(names))
            session.catalog.refreshTable(table)  # its files may have been written anew
            about = {row[0]: row[1] for row in session.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()}
            is_base = about.get("Type") in ("MANAGED", "EXTERNAL") and about.get("Provider") in _STORED
            return [(name, False) for name in session.table(table).columns] if is_base else []

        if not source.base and not source.described:
            return session.read.parquet(source.location)
        check_described(source, SPARK, ask)
        folder = "" if source.base else f"parquet.{SPARK.name(source.location)}"
        if folder and not {*source.used[0][1]} <= {*session.read.parquet(source.location).columns}:
            raise SchemaError(
                "source {name!r}: its files have no such columns",
                remedy="name columns that they store",
                name=source.name,
            )
        query, bound = statement(source, SPARK, folder)
        return session.sql(query, args=list(bound))
    except (PySparkException, OSError) as error:
        raise ReadError(
            "Spark could not open the source ({kind})",
            remedy="see that Java is installed, the cluster answers and the table is there",
            kind=type(error).__name__,
        ) from None
