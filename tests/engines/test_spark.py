"""What happens to Spark in a run: workers die, tasks are repeated, Java is absent;
counts stay exact.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcore as dp
from dpcore.engines.connect import engine_of, look
from dpcore.engines.frame import FrameEngine
from dpcore.engines.spark._tasks import (
    BatchTask,
    CellsJob,
    OwnerRankTask,
    Task,
    merge_blocks,
)
from dpcore.engines.spark.engine import SparkEngine, _pack_library
from dpcore.engines.work import CountJob
from dpcore.schema.source import Condition, Source
from tests.contracts.engine_kinds import spark_session
from tests.needs import need_spark

KEY = b"k" * 32
_COMPRESSED = "spark.sql.inMemoryColumnarStorage.compressed"
SCHEMA = dp.Schema(
    columns=(dp.Integer("age", low=0, high=9),), unit=dp.PrivacyUnit(max_rows=1)
)


def ages(marker: Path, *, always: bool) -> Any:
    """400 rows; the worker of one part of them ends without a word, once the marker is
    there.
    """

    def deadly(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            if marker.exists() and 0 in batch.column(0).to_pylist():
                if not always:
                    marker.unlink()
                os._exit(1)
            yield batch

    rows = spark_session().range(0, 400, 1, 2).mapInArrow(deadly, "id bigint")
    return rows.selectExpr("id % 10 AS age")


def test_what_workers_do_without_spark() -> None:
    """The kernel and the choice of rows on workers would differ from those in
    memory.
    """
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 10, 600),
            "person": rng.integers(0, 90, 600),
            "x": rng.random(600),
        },
    )
    unit = dp.PrivacyUnit(max_rows=2, id_column="person")
    schema = dp.Schema(columns=SCHEMA.columns, unit=unit)
    rows = pa.Table.from_pandas(frame, preserve_index=False)
    mark = OwnerRankTask(
        names=("age", "person", "x"), declared=("c0",), person="person", key=KEY
    )
    marked = pa.Table.from_batches(mark(rows.to_batches(max_chunksize=70))).to_pandas()
    kept = pa.table({"c0": marked.sort_values("d").groupby("p").head(2)["c0"]})
    work = CountJob(domain=schema.domain, cliques=[("age",), ()])
    task = pickle.loads(pickle.dumps(Task(work=work, names=("age",), schema=schema)))
    counts, number = task.from_pairs(added(task, kept.to_batches(max_chunksize=50)))
    reference = FrameEngine(frame, schema, key=KEY).counts(work.cliques)
    assert counts.tolist() == [*reference[0].values.tolist(), number]
    assert number == reference[1].values
    code = BatchTask(work=CellsJob(reads=("age",)), names=("age",), schema=schema)
    kept_cells = list(code(kept.to_batches(max_chunksize=50)))
    cells, again = task.from_pairs(
        added(dataclasses.replace(task, names=None), kept_cells)
    )
    assert again == number
    assert cells.tolist() == counts.tolist()


def added(task: Task, batches: list[pa.RecordBatch]) -> pa.Table:
    """What comes of the answers of two workers, of which another one adds up each
    block.
    """
    half = len(batches) // 2
    return pa.Table.from_batches(
        merge_blocks([*task(batches[:half]), *task(batches[half:])])
    )


def test_a_task_that_is_repeated_counts_once(tmp_path: Path) -> None:
    """A worker that dies in mid-run would double some rows, or lose them."""
    marker = tmp_path / "deadly"
    engine = SparkEngine(ages(marker, always=False), SCHEMA, key=KEY)
    engine._coded.unpersist()  # the cells are lost with the worker that kept them
    marker.touch()
    assert engine.counts([("age",)])[0].values.tolist() == [40] * 10
    assert not marker.exists()


def test_a_source_that_fails_ends_the_run_and_keeps_the_charge(tmp_path: Path) -> None:
    """The charge of a run whose rows were read is spent, and Spark's words may quote a
    value.
    """
    marker = tmp_path / "deadly"
    engine = SparkEngine(ages(marker, always=True), SCHEMA, key=KEY)
    curator = dp.Curator.open(
        engine,
        SCHEMA,
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
        identity="visits",
    )
    engine._coded.unpersist()
    marker.touch()
    with pytest.raises(dp.ReadError, match="could not be read to its end") as failed:
        curator.run(dp.Histogram("age"), dp.PureDP(epsilon="0.25"))
    assert failed.value.__cause__ is None
    assert [line.state for line in curator.lines()][-2:] == ["reserved", "failed"]


def test_work_that_nobody_wants_any_more_ends(tmp_path: Path) -> None:
    """A query of hours on a cluster would go on after the page was closed; the next one
    must be whole.
    """
    finished = tmp_path / "finished"

    def slow(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            time.sleep(600)
            finished.touch()
            yield batch

    class Gone(Exception):
        pass

    def leave(rows: int) -> None:
        raise Gone

    rows = (
        spark_session()
        .range(0, 4, 1, 2)
        .mapInArrow(slow, "id bigint")
        .selectExpr("id AS age")
    )
    with pytest.raises(Gone):
        SparkEngine(rows, SCHEMA, key=KEY, on_rows=leave)
    assert not finished.exists()
    assert (
        SparkEngine(spark_session().sql("SELECT 3 AS age"), SCHEMA, key=KEY)
        .counts([()])[0]
        .values
        == 1
    )


def test_a_table_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    """What Spark keeps for an engine that still lives would be counted for the rows of
    today.
    """
    place = str(tmp_path / "a.parquet")
    found = []
    engines = []
    for rows, age in ((10, 1), (20, 2)):
        pq.write_table(pa.table({"age": [age] * rows}), place)
        engines.append(
            SparkEngine(spark_session().read.parquet(place), SCHEMA, key=KEY)
        )
        found.append(
            (engines[-1].people(), engines[-1].counts([("age",)])[0].values[age])
        )
    assert found == [({1: 10}, 10), ({1: 20}, 20)]


def test_rows_that_do_not_count_are_not_sent_to_other_workers() -> None:
    """All rows of a person with millions would meet in one task; a small table would
    take 200 tasks.
    """
    schema = dp.Schema(
        columns=SCHEMA.columns, unit=dp.PrivacyUnit(max_rows=2, id_column="person")
    )
    rows = (
        spark_session()
        .range(0, 400, 1, 2)
        .selectExpr("id % 10 AS age", "id % 7 AS person")
    )
    engine = SparkEngine(rows, schema, key=KEY)
    plan = engine._counted._jdf.queryExecution().toString()
    before, _, after = plan[plan.index("InMemoryRelation") :].partition(
        "Exchange hashpartitioning"
    )
    assert "Final" in before
    assert "Partial" in after[: after.index("InMemoryTableScan")]
    assert engine._counted.rdd.getNumPartitions() == 1
    assert engine.counts([()])[0].values == 14


def test_settings_of_a_session_are_as_they_were() -> None:
    """A query of whoever lent the session would take more memory, or more disk, after a
    table was opened.
    """
    session = spark_session().newSession()
    before = {"spark.sql.execution.arrow.maxBytesPerBatch": "1000", _COMPRESSED: "true"}
    for name, value in before.items():
        session.conf.set(name, value)
    schema = dp.Schema(
        columns=SCHEMA.columns, unit=dp.PrivacyUnit(max_rows=1, id_column="person")
    )
    engine = SparkEngine(
        session.range(400).selectExpr("id % 10 AS age", "id AS person"), schema, key=KEY
    )
    assert engine.counts([()])[0].values == 400
    assert {name: session.conf.get(name) for name in before} == before
    with pytest.raises(dp.SchemaError):
        SparkEngine(
            session.sql("SELECT int(NULL) AS age, 1 AS person"), schema, key=KEY
        )
    assert {name: session.conf.get(name) for name in before} == before


def test_a_struct_is_refused() -> None:
    """A nested value has no canonical text; a table without rows has no account worth
    opening.
    """
    with pytest.raises(dp.SchemaError, match="has no rows"):
        SparkEngine(spark_session().sql("SELECT 1 AS age WHERE false"), SCHEMA, key=KEY)
    nested = spark_session().sql("SELECT 1 AS age, struct(1 AS a) AS s")
    with pytest.raises(dp.SchemaError, match="'s' holds values"):
        SparkEngine(nested, SCHEMA, key=KEY)


def test_a_value_without_a_cell_comes_back_as_a_sentence() -> None:
    """A worker's traceback is no answer for a page, and might hold the value."""
    schema = dp.Schema(
        columns=(dp.Categorical("sex", categories=("F",)),), unit=SCHEMA.unit
    )
    with pytest.raises(dp.SchemaError, match="'sex'") as refused:
        SparkEngine(spark_session().sql("SELECT 'secret' AS sex"), schema, key=KEY)
    assert "secret" not in str(refused.value)


def test_a_source_of_spark(tmp_path: Path) -> None:
    """A folder of Parquet in the list of sources would not be found."""
    spark_session()
    pd.DataFrame({"age": np.arange(50) % 10}).to_parquet(tmp_path / "a.parquet")
    source = Source(name="Visits", kind="spark", location=str(tmp_path / "a.parquet"))
    assert len(look(source, 20).frame) == 20
    assert engine_of(source, SCHEMA, key=KEY).counts([()])[0].values == 50


def test_workers_hold_no_key_of_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key that seals the ledger would lie on every machine of a cluster, and lines
    be forged there.
    """
    from pyspark.cloudpickle import dumps

    kind = type(spark_session().range(1))
    sent = []
    plain = kind.mapInArrow

    def record(frame: Any, task: Any, *given: Any, **named: Any) -> Any:
        sent.append(dumps(task))
        return plain(frame, task, *given, **named)

    monkeypatch.setattr(kind, "mapInArrow", record)
    pd.DataFrame({"age": np.arange(50) % 10, "who": np.arange(50) // 2}).to_parquet(
        tmp_path / "a.parquet"
    )
    schema = dp.Schema(
        columns=SCHEMA.columns, unit=dp.PrivacyUnit(max_rows=1, id_column="who")
    )
    source = Source(name="Visits", kind="spark", location=str(tmp_path / "a.parquet"))
    ledger = dp.MemoryLedger()
    ledger._seal = ledger.key  # as in a ledger that was begun when one key did both
    curator = dp.Curator.open(
        source, schema, budget=dp.PureDP(epsilon="1"), ledger=ledger
    )
    curator.run(dp.Histogram("age"), dp.PureDP(epsilon="1"))
    engine = curator._engine
    _ = (engine.fingerprint, engine.people(), engine.tuples(["age"]))
    assert sum(engine._key in task for task in sent) >= 2  # type: ignore[attr-defined]
    assert not any(
        ledger.key in task or ledger.key.hex().encode() in task for task in sent
    )


@pytest.mark.parametrize(
    ("kind", "library"), [("spark", "pyspark.sql"), ("csv", "duckdb")]
)
def test_a_library_that_is_not_installed(
    kind: Any, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hosted default is small: a source that needs more must say what."""
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(dp.ParameterError, match="is not installed; pip install -r"):
        look(Source(name="Visits", kind=kind, location="/none"), 20)


def test_java_that_is_not_there() -> None:
    """PySpark without Java ends in a traceback of another program."""
    need_spark()
    program = (
        "from dpcore.engines.connect import look\nfrom dpcore.schema.source import "
        "Source\n"
        "from dpcore.errors import ReadError\n"
        "try:\n    look(Source(name='Visits', kind='spark', location='/none'), 1)\n"
        "except ReadError as error:\n    print(error)\n"
    )
    environment = {
        "PATH": "/nowhere",
        "PYTHONPATH": os.getcwd(),
        "HOME": os.environ.get("HOME", "/"),
    }
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "see that Java is installed" in ended.stdout


@pytest.mark.proof
def test_a_spark_that_died_is_started_anew(tmp_path: Path) -> None:
    """Java without memory ends, and no source of Spark could be opened until the server
    was restarted.
    """
    need_spark()
    pd.DataFrame({"age": np.arange(50) % 10}).to_parquet(tmp_path / "a.parquet")
    program = (
        "import sys\nimport dpcore as dp\nfrom pyspark import SparkContext\n"
        "from dpcore.engines.connect import engine_of\nfrom dpcore.schema.source "
        "import Source\n"
        "schema = dp.Schema(columns=(dp.Integer('age', low=0, high=9),), "
        "unit=dp.PrivacyUnit(max_rows=1))\n"
        "source = Source(name='Visits', kind='spark', location=sys.argv[1])\n"
        "first = engine_of(source, schema, key=b'k' * 32)\n"
        "SparkContext._gateway.proc.kill()\nSparkContext._gateway.proc.wait()\n"
        "try:\n    first.counts([('age',)])\n"
        "except dp.ReadError:\n    print('refused')\n"
        "print(engine_of(source, schema, key=b'k' * "
        "32).counts([('age',)])[0].values.tolist())\n"
    )
    settings = (
        "--master local[1] --conf spark.ui.enabled=false --conf "
        "spark.driver.host=127.0.0.1 pyspark-shell"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.parquet")],
        env=os.environ
        | {"PYSPARK_SUBMIT_ARGS": settings, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout.splitlines()[-2:] == ["refused", str([5] * 10)]


def test_times_of_nanoseconds_are_refused_by_name(tmp_path: Path) -> None:
    """Spark does not know the usual time of pandas, and no worker has run whose log
    would say so.
    """
    spark_session()
    at = pa.array([0, 1], pa.timestamp("ns"))
    pq.write_table(pa.table({"age": [1, 2], "at": at}), tmp_path / "a.parquet")
    with pytest.raises(
        dp.ReadError, match=r"as it is \(PARQUET_TYPE_ILLEGAL\).*not nanoseconds"
    ):
        look(
            Source(name="Visits", kind="spark", location=str(tmp_path / "a.parquet")), 1
        )


def test_a_table_of_spark_described_by_fields(tmp_path: Path) -> None:
    """A view of the session may hold a window over all rows; a text among numbers would
    end the run.
    """
    session = spark_session()
    pd.DataFrame({"age": ["1", "7", "ten", "8"]}).to_parquet(tmp_path / "a.parquet")
    where = (Condition(column="age", comparison=">=", value=7),)
    folder = Source(
        name="Visits", kind="spark", location=str(tmp_path / "a.parquet"), where=where
    )
    assert sorted(look(folder, 20).frame["age"]) == ["7", "8"]
    session.range(0, 50).selectExpr(
        "id % 10 AS age", "count(*) OVER () AS n"
    ).createOrReplaceTempView("seen")
    session.range(0, 50).selectExpr("id % 10 AS age").write.parquet(
        str(tmp_path / "kept")
    )
    session.sql(f"CREATE TABLE kept USING parquet LOCATION '{tmp_path / 'kept'}'")
    # keeps no rows
    session.sql(f"CREATE TABLE elsewhere USING binaryFile LOCATION '{tmp_path}'")
    try:
        kept = Source(name="Visits", kind="spark", location="kept", where=where)
        assert engine_of(kept, SCHEMA, key=KEY).counts([()])[0].values == 15
        for wrong in ({"location": "elsewhere"}, {"columns": ("_metadata",)}):
            with pytest.raises(dp.SchemaError, match="not a base table"):
                engine_of(dataclasses.replace(kept, **wrong), SCHEMA, key=KEY)
    finally:
        session.sql("DROP TABLE kept")
        session.sql("DROP TABLE elsewhere")
    view = Source(name="Visits", kind="spark", location="seen", columns=("age",))
    with pytest.raises(dp.SchemaError, match="not a base table"):
        engine_of(view, SCHEMA, key=KEY)
    declared = dataclasses.replace(view, declared_by="Ada")
    assert engine_of(declared, SCHEMA, key=KEY).counts([()])[0].values == 50


def test_a_collation_makes_no_two_people_one() -> None:
    """Spark grouped ids as their column compares them: an audit took "a" and "A" for
    one person.
    """
    collated = spark_session().sql(
        "SELECT p COLLATE UTF8_LCASE AS p, 'x' AS c FROM VALUES ('a'), ('A') AS t(p)",
    )
    schema = dp.Schema(
        columns=(dp.Categorical("c", categories=("x",)),),
        unit=dp.PrivacyUnit(max_rows=1, id_column="p"),
    )
    engine = SparkEngine(collated, schema, key=b"k" * 32)
    assert (
        engine.tuples(["c"]).people.tolist()
        == engine.counts([("c",)])[0].values.tolist()
        == [2]
    )


def test_the_place_of_a_row_in_its_file_is_no_column(tmp_path: Path) -> None:
    """Every file has a hidden column that follows from the rows of all others, such as
    its size.
    """
    pq.write_table(pa.table({"c": ["x"]}), tmp_path / "a.parquet")
    where = (Condition(column="_metadata", comparison=">=", value="{"),)
    source = Source(
        name="a", kind="spark", location=f"{tmp_path}/", columns=("c",), where=where
    )
    with pytest.raises(dp.SchemaError, match="has no column"):
        look(source, 1)


def test_a_cluster_counts_many_parts_and_survives_a_process(tmp_path: Path) -> None:
    """Workers without this checkout could not load the library; a process that dies
    would double rows, or the charge, and a driver that dies would leave half a table.
    """
    spark_session()  # skips where there is no Spark
    ended = subprocess.run(
        [sys.executable, "-m", "tests.engines.cluster", str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    answer = json.loads(ended.stdout.splitlines()[-1])
    assert answer == {
        "cells": [1000, 100],
        "each": [100, 1000],
        "killed": True,
        "released": [1000],
        "lines": ["opened", "reserved", "committed"],
        "left": 0,
        "written": 100_000,
        "killed in writing": True,
        "as in memory": True,
        "refused": True,
        "there": ["out"],
    }


def test_workers_load_the_library_from_its_archive(tmp_path: Path) -> None:
    """Every opening on a cluster would fail for a list that lies beside the modules."""
    need_spark()
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import "
        "dpcore.engines.spark._tasks as loaded"
    )
    program += "; print(loaded.__file__)"
    archive = f"{_pack_library().name}/dpcore.zip"
    ended = subprocess.run(
        [sys.executable, "-c", program, archive],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert ended.stdout.startswith(archive)
