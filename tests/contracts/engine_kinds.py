"""One table behind every engine: how each kind of them is made from a frame, for the
contract suite.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import sys
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from dpcore.engines.base import Engine
from dpcore.engines.frame import FrameEngine
from dpcore.engines.spark.engine import SparkEngine
from dpcore.engines.sql.duckdb import DuckDBReader
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.engines.sql.postgres import PostgresReader
from dpcore.engines.streaming.engine import ArrowEngine
from dpcore.engines.streaming.parquet import ParquetReader
from dpcore.schema.schema import Schema
from dpcore.schema.source import Source
from dpcore.schema.values import READ_AS_TEXT
from tests.needs import does_not_apply, need_driver, need_postgres, need_spark

Make = Callable[..., Engine]
_NUMBERS = itertools.count()


def parquet_engine(path: Path, schema: Schema, **options: Any) -> ArrowEngine:
    """Parquet behind a schema."""
    return ArrowEngine(ParquetReader(path), schema, **options)


def duckdb_engine(source: DuckDBSource, schema: Schema, **options: Any) -> ArrowEngine:
    """A source that DuckDB reads, behind a schema."""
    return ArrowEngine(DuckDBReader(source), schema, **options)


def postgres_engine(source: Source, schema: Schema, **options: Any) -> ArrowEngine:
    """A source in PostgreSQL, behind a schema."""
    return ArrowEngine(PostgresReader(source), schema, **options)


def in_memory(
    folder: Path, frame: pd.DataFrame, schema: Schema, *, key: bytes
) -> Engine:
    return FrameEngine(frame, schema, key=key)


def as_parquet(
    folder: Path, frame: pd.DataFrame, schema: Schema, *, key: bytes
) -> Engine:
    return parquet_engine(written(folder, frame), schema, key=key)


def in_duckdb(
    folder: Path, frame: pd.DataFrame, schema: Schema, *, key: bytes
) -> Engine:
    """Texts of a file as CSV, other tables as Parquet."""
    if frame.attrs.get(READ_AS_TEXT):
        place = folder / f"{next(_NUMBERS)}.csv"
        frame.to_csv(place, index=False)
        return duckdb_engine(
            DuckDBSource(kind="csv", location=str(place)), schema, key=key
        )
    source = DuckDBSource(kind="parquet", location=str(written(folder, frame)))
    return duckdb_engine(source, schema, key=key)


@functools.cache
def postgres_schema() -> str:
    """A schema of its own in the PostgreSQL of the tests, for this process; gone at its
    end.
    """
    need_postgres()
    name = f"engines_{uuid.uuid4().hex}"
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute(f"CREATE SCHEMA {name}")

    @atexit.register
    def leave() -> None:
        with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
            connection.execute(f"DROP SCHEMA {name} CASCADE")

    return name


@functools.cache
def postgres_writer() -> Any:
    """One connection for all tables of this process."""
    need_driver()
    from adbc_driver_postgresql import dbapi

    connection = dbapi.connect(os.environ["DATABASE_URL"], autocommit=True)
    atexit.register(connection.close)
    return connection


def in_postgres(
    folder: Path, frame: pd.DataFrame, schema: Schema, *, key: bytes
) -> Engine:
    query = f"SELECT * FROM {write_to_postgres(frame)} ORDER BY random()"
    return postgres_engine(
        postgres_source(query=query, declared_by="tests"), schema, key=key
    )


def write_to_postgres(frame: pd.DataFrame) -> str:
    """Write a table into the PostgreSQL of the tests; return its name with schema."""
    rows = arrow_of(frame)
    table = f"t{next(_NUMBERS)}"
    place = postgres_schema()
    with postgres_writer().cursor() as cursor:
        kinds = {
            pa.uint8(): pa.int16(),
            pa.uint64(): pa.decimal128(20, 0),
            pa.null(): pa.string(),
        }
        plain = [uncategorized(column) for column in rows.columns]
        plain = [column.cast(kinds.get(column.type, column.type)) for column in plain]
        cursor.adbc_ingest(
            table, pa.table(plain, rows.column_names), db_schema_name=place
        )
    return f"{place}.{table}"


def postgres_source(**fields: Any) -> Source:
    """A source in the PostgreSQL of the tests."""
    postgres_schema()  # or the test is skipped
    return Source(
        name="people", kind="postgres", location=os.environ["DATABASE_URL"], **fields
    )


def uncategorized(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values themselves."""
    return (
        column.cast(column.type.value_type)
        if pa.types.is_dictionary(column.type)
        else column
    )


@functools.cache
def spark_session(master: str = "local[2,3]") -> Any:
    """One Spark in this process for all tests, with two workers; a task that fails is
    tried again.
    """
    need_spark()
    from pyspark import sql

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        # small tables: to compile a query, and to plan it anew between stages, takes
        # longer than to run it
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
        "spark.driver.memory": "1g",
        "spark.sql.warehouse.dir": os.path.join(
            tempfile.gettempdir(), "warehouse of tests"
        ),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master(master).appName("tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def in_spark(
    folder: Path, frame: pd.DataFrame, schema: Schema, *, key: bytes
) -> Engine:
    place = written(folder, frame)
    files = sorted(map(str, place.rglob("*.parquet")))
    return SparkEngine(spark_session().read.parquet(*files), schema, key=key)


ENGINES = {
    "frame": (FrameEngine, in_memory),
    "parquet": (ArrowEngine, as_parquet),
    "duckdb": (ArrowEngine, in_duckdb),
    "postgres": (ArrowEngine, in_postgres),
    "spark": (SparkEngine, in_spark),
}


def arrow_of(frame: pd.DataFrame) -> pa.Table:
    """The frame, where its columns have types."""
    if frame.attrs.get(READ_AS_TEXT):
        does_not_apply("only a file of texts has no types")
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        does_not_apply("values of several types are in one column of memory alone")


def written(folder: Path, frame: pd.DataFrame) -> Path:
    """The frame as a folder of Parquet files: an empty one, one in row groups of 70
    rows, one in a folder.
    """
    table = arrow_of(frame)
    place = folder / str(next(_NUMBERS))
    (place / "more").mkdir(parents=True)
    half = len(table) // 2
    pq.write_table(table.slice(0, 0), place / "a.parquet")
    pq.write_table(table.slice(0, half), place / "b.parquet", row_group_size=70)
    pq.write_table(table.slice(half), place / "more" / "c.parquet")
    (place / "_SUCCESS").touch()
    return place
