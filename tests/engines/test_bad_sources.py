"""Sources that are broken, changed, foreign or too large: refused with a sentence that
tells nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcore as dp
from dpcore.anonymization import KAnonymity, Plan
from dpcore.anonymization import streamed as streamed_plan
from dpcore.anonymization.hierarchies.suggest import suggest_together
from dpcore.anonymization.levels import searched_columns
from dpcore.anonymization.methods import Mondrian
from dpcore.anonymization.models import DistinctL
from dpcore.anonymization.streamed import ExpectedClasses, RowRecoder
from dpcore.engines import base
from dpcore.engines import work as work_module
from dpcore.engines._batch import Batch
from dpcore.engines.frame import FrameEngine
from dpcore.engines.remembered import CountCache
from dpcore.engines.sql.duckdb import DuckDBReader
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.engines.streaming.engine import ArrowEngine, read_sample
from dpcore.engines.streaming.spool import Spool
from dpcore.engines.tuples.slices import Slices
from dpcore.engines.work import CountJob, DigestJob, SumJob
from dpcore.evaluation import (
    AuditQuestion,
    CountsQuestion,
    DistancesQuestion,
    RangeErrorsQuestion,
    SimilarityQuestion,
)
from dpcore.evaluation.table.proposals import RolesQuestion
from dpcore.io.folder import write_shuffled
from dpcore.schema.domain import Clique
from dpcore.schema.source import Source
from dpcore.tables.counts import Counts
from dpcore.tables.rows import PublicTable
from dpcore.tables.sums import UNITS_PER_ROW
from tests.contracts.engine_kinds import duckdb_engine, parquet_engine, postgres_engine
from tests.needs import need_driver

KEY = b"k" * 32
NOBODY = 65534
SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=9),
        dp.Categorical("sex", categories=("F", "M")),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
FRAME = pd.DataFrame({"age": np.arange(400) % 10, "sex": ["F", "M"] * 200})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "table"
    place.mkdir()
    pq.write_table(pa.Table.from_pandas(FRAME), place / "a.parquet", row_group_size=100)
    return place


def duckdb(**source: object) -> ArrowEngine:
    return duckdb_engine(DuckDBSource(**source), SCHEMA, key=KEY)  # type: ignore[arg-type]


def opened(kind: str, folder: Path) -> ArrowEngine:
    if kind == "parquet":
        return parquet_engine(folder, SCHEMA, key=KEY)
    return duckdb(kind="parquet", location=str(folder))


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (FRAME.assign(more=1), "'more'"),
        (FRAME[["age"]], "'sex'"),
        (
            FRAME.assign(age=FRAME["age"].astype(float)),
            "disagree about the column 'age'",
        ),
    ],
)
def test_files_of_a_folder_must_agree(
    folder: Path, other: pd.DataFrame, says: str
) -> None:
    """Files that disagree would be counted by halves, or by what somebody else's file
    says.
    """
    pq.write_table(pa.Table.from_pandas(other), folder / "b.parquet")
    with pytest.raises(dp.SchemaError, match=says):
        parquet_engine(folder, SCHEMA, key=KEY)


def test_nested_columns_are_refused(folder: Path) -> None:
    """A struct has no canonical text, so rows with one could not be told apart."""
    nested = pa.Table.from_pandas(FRAME).append_column("s", pa.array([{"a": 1}] * 400))
    pq.write_table(nested, folder / "a.parquet")
    with pytest.raises(
        dp.SchemaError, match="'s' holds values that are neither numbers"
    ):
        parquet_engine(folder, SCHEMA, key=KEY)
    with pytest.raises(
        dp.SchemaError, match="'s' holds values that are neither numbers"
    ):
        duckdb(kind="parquet", location=str(folder))


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_a_file_that_changes_fails_the_run_and_keeps_the_charge(
    folder: Path, kind: str
) -> None:
    """Counts of half the old table and half the new one have no sensitivity that
    anybody knows.
    """
    ledger = dp.MemoryLedger()

    def changed(rows: int) -> None:
        pq.write_table(pa.Table.from_pandas(FRAME[:-1]), folder / "a.parquet")

    engine = opened(kind, folder)
    curator = dp.Curator.open(
        engine, SCHEMA, budget=dp.PureDP(epsilon="1"), ledger=ledger, identity="visits"
    )
    curator.run(dp.Histogram("age"), dp.PureDP(epsilon="0.25"))
    engine._on_rows = changed
    with pytest.raises(dp.ReadError, match="has changed since it was opened"):
        curator.run(dp.Histogram("sex"), dp.PureDP(epsilon="0.25"))
    assert [line.state for line in curator.lines()][-2:] == ["reserved", "failed"]
    assert (
        curator.balance().remaining_units
        == curator.balance().spent + curator.balance().reserved
    )
    before = curator.lines()
    with pytest.raises(dp.ReadError, match="has changed"):
        curator.run(dp.Histogram("sex"), dp.PureDP(epsilon="0.25"))
    assert curator.lines() == before  # now it is seen before the charge


def test_a_source_that_is_gone(folder: Path) -> None:
    """A page must say so, whatever the other library would say."""
    engine = parquet_engine(folder, SCHEMA, key=KEY)
    (folder / "a.parquet").unlink()
    with pytest.raises(dp.ReadError):
        engine.counts([("age",)])
    for make in (
        lambda: parquet_engine(folder, SCHEMA, key=KEY),
        lambda: duckdb(kind="csv", location="/none"),
    ):
        with pytest.raises(dp.ReadError, match="there is no file"):
            make()


def test_a_file_without_rights(folder: Path) -> None:
    """The same, where the server's user may not read."""
    (folder / "a.parquet").chmod(0)
    user = os.geteuid()
    if user == 0:  # root may read everything
        os.seteuid(NOBODY)
    try:
        with pytest.raises(dp.ReadError):
            parquet_engine(folder, SCHEMA, key=KEY)
    finally:
        os.seteuid(user)


def test_what_is_no_parquet(folder: Path) -> None:
    """A cut file must not be counted up to the cut, and its bytes must not be in a
    message.
    """
    whole = (folder / "a.parquet").read_bytes()
    for data in (b"", b"secret,1\n", whole[:-20], b"PAR1" + b"\0" * 40 + b"PAR1"):
        (folder / "a.parquet").write_bytes(data)
        with pytest.raises(dp.ReadError) as refused:
            parquet_engine(folder, SCHEMA, key=KEY)
        assert "secret" not in str(refused.value)


def test_a_wrong_password_is_in_no_message() -> None:
    """A connection string holds the password, and libraries like to quote it."""
    need_driver()
    location = "postgresql://reader:hunter2@127.0.0.1:1/people"
    source = Source(name="people", kind="postgres", location=location, table="people")
    assert "hunter2" not in repr(source)
    with pytest.raises(dp.ReadError) as refused:
        postgres_engine(source, SCHEMA, key=KEY)
    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM source; DROP TABLE source",
        "SELECT * FROM source;",
        "CREATE TABLE x AS SELECT 1",
        "COPY (SELECT 1) TO '/tmp/x.csv'",
        "ATTACH '/tmp/x.db'",
        "SET memory_limit = '100GB'",
        "not a query",
    ],
)
def test_a_query_is_one_select(query: str) -> None:
    """Anything else could write, or change what a later query sees."""
    with pytest.raises(dp.ParameterError, match="one SELECT"):
        DuckDBSource(kind="csv", location="/none", query=query, declared_by="Ada")


@pytest.mark.parametrize(
    "function", ["read_csv('{}')", "read_text('{}')", "glob('{}')", "'{}'"]
)
def test_a_query_reads_no_other_file(
    folder: Path, tmp_path: Path, function: str
) -> None:
    """Whoever may write a query could read every file of the server."""
    (tmp_path / "other.csv").write_text("age,sex\n1,F\n")
    query = (
        f"SELECT 1 AS age, 'F' AS sex FROM {function.format(tmp_path / 'other.csv')}"
    )
    with pytest.raises(dp.ReadError):
        duckdb(kind="parquet", location=str(folder), query=query, declared_by="Ada")


def test_a_duckdb_file_is_read_only(tmp_path: Path) -> None:
    """Joins and views of the owner are read as they are, and a file of DuckDB is never
    written to.
    """
    import duckdb as library

    place = tmp_path / "people.duckdb"
    with library.connect(str(place)) as connection:
        connection.execute(
            "CREATE TABLE ages AS SELECT range AS id, range % 10 AS age FROM range(400)"
        )
        connection.execute(
            (
                "CREATE VIEW sexes AS SELECT id, CASE id % 2 WHEN 0 THEN 'F' ELSE 'M' "
                "END AS sex FROM ages"
            ),
        )
    before = place.read_bytes()
    query = "SELECT age, sex FROM ages JOIN sexes USING (id)"
    engine = duckdb(kind="duckdb", location=str(place), query=query, declared_by="Ada")
    assert engine.counts([("sex",)])[0].values.tolist() == [200, 200]
    assert place.read_bytes() == before


def test_the_rows_of_a_person_in_a_duckdb_file(tmp_path: Path) -> None:
    """The table of rows that count lies beside a file that is attached read-only, and
    must be found.
    """
    import duckdb as library

    frame = FRAME.assign(person=np.arange(400) * 7919 % 50)
    with library.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    unit = dp.PrivacyUnit(max_rows=2, id_column="person")
    schema = dp.Schema(columns=SCHEMA.columns, unit=unit)
    source = DuckDBSource(
        kind="duckdb", location=str(tmp_path / "people.duckdb"), table="people"
    )
    engine = duckdb_engine(source, schema, key=KEY)
    reference = FrameEngine(frame, schema, key=KEY)
    pair = [each.counts([("age", "sex")])[0].values for each in (engine, reference)]
    assert (pair[0] == pair[1]).all()
    assert engine.people() == reference.people() == {8: 50}


def test_a_duckdb_file_is_nobody_elses_while_it_is_open(tmp_path: Path) -> None:
    """A row that is written between two passes of a run would be in the second one
    alone.
    """
    import duckdb as library

    place = tmp_path / "people.duckdb"
    with library.connect(str(place)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS age, 'F' AS sex")
    engine = duckdb(kind="duckdb", location=str(place), table="people")
    write = (
        f"import duckdb; duckdb.connect({str(place)!r}).execute('INSERT INTO people "
        "VALUES (2, 3)')"
    )
    other = subprocess.run(
        [sys.executable, "-c", write], capture_output=True, text=True, check=False
    )
    assert "lock" in other.stderr
    with engine.hold_state():
        assert len(engine.rows().frame) == engine.counts([()])[0].values == 1


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_no_rows(folder: Path, kind: str) -> None:
    """Zero rows have no ledger account worth opening, and some functions no answer."""
    pq.write_table(pa.Table.from_pandas(FRAME[:0]), folder / "a.parquet")
    with pytest.raises(dp.SchemaError, match="has no rows"):
        opened(kind, folder)


def test_a_value_without_a_cell_is_found_at_the_start(folder: Path) -> None:
    """Found in a run, it would cost the charge; and the message must not name it."""
    pq.write_table(
        pa.Table.from_pandas(FRAME.replace({"sex": {"M": "secret"}})),
        folder / "a.parquet",
    )
    for make in (
        lambda: parquet_engine(folder, SCHEMA, key=KEY),
        lambda: duckdb(kind="parquet", location=str(folder)),
    ):
        with pytest.raises(dp.SchemaError, match="'sex'") as refused:
            make()
        assert "secret" not in str(refused.value)


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_cancel_in_the_middle(folder: Path, kind: str) -> None:
    """Whoever goes away must not keep two threads of the server busy; the next pass
    must be whole.
    """

    class Gone(Exception):
        pass

    def stop(rows: int) -> None:
        raise Gone

    engine = opened(kind, folder)
    going_on = engine._on_rows
    engine._on_rows = stop
    with pytest.raises(Gone):
        engine.counts([("age",)])
    engine._on_rows = going_on
    assert engine.counts([()])[0].values == 400


def test_more_rows_than_32_bits_hold() -> None:
    """Two thousand million rows are a large country's visits; a count that wraps there
    would be negative.
    """
    batch = Batch(FRAME, SCHEMA)
    counting = CountJob(domain=SCHEMA.domain, cliques=[("age",), ()])
    digesting = DigestJob(key=KEY)
    summing = SumJob(domain=SCHEMA.domain, by=(), entries=[{}])
    counts = counting.compute(batch)
    digest = digesting.compute(batch)
    sums = summing.compute(batch)
    rows = 400
    once = digest
    while rows <= 2**31:
        counts = counting.add(counts, counts)
        digest = digesting.add(digest, digest)
        sums = summing.add(sums, sums)
        rows *= 2
    assert counts.tolist() == [*[rows // 10] * 10, rows]
    assert sums[0, 0] == rows * UNITS_PER_ROW
    assert digest == once * (rows // 400)


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_rows_that_do_not_fit(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that asks for the rows of a cluster would end the server; an audit needs
    their tuples alone.
    """
    pq.write_table(
        pa.Table.from_pandas(FRAME.assign(age=FRAME["age"] ** 3 % 7)),
        folder / "a.parquet",
    )
    whole = dp.Curator.open(
        pd.read_parquet(folder),
        SCHEMA,
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
    )
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 399)
    engine = opened(kind, folder)
    with pytest.raises(dp.LimitError, match="more than 399 rows"):
        engine.rows()
    curator = dp.Curator.open(
        engine,
        SCHEMA,
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
        identity="visits",
    )
    audit = AuditQuestion(
        quasi_identifiers=("age",), sensitive=("sex",), others=("sex",), population=9000
    )
    expected = whole.evaluate(audit).content
    found = curator.evaluate(audit).content
    for name in (
        "people",
        "suppressed",
        "risk",
        "column_sets",
        "uniques_after_change",
        "secrets",
        "estimates",
    ):
        if name in ("risk", "estimates"):  # sums of shares, in another order
            pair = [
                dataclasses.asdict(getattr(each, name)) for each in (found, expected)
            ]
            assert pair[0] == pytest.approx(pair[1], nan_ok=True)
        else:
            assert getattr(found, name) == getattr(expected, name)
    asked = CountsQuestion(cliques=(("age",), ("sex",)), table=PublicTable(FRAME))
    # from counts
    expected_counts = whole.evaluate(asked).content
    shares = curator.evaluate(asked).content
    for one, other in zip(expected_counts, shares, strict=True):
        assert (one.original == other.original).all()
    ranges = RangeErrorsQuestion(
        source=PublicTable(FRAME), column="age", given_ranges=((0, 3),)
    )
    assert curator.evaluate(ranges).content == whole.evaluate(ranges).content
    distances = DistancesQuestion(
        cliques=(("age",), ("sex",), ("age", "sex")), table=PublicTable(FRAME)
    )
    report = curator.evaluate(distances).content
    assert [report["age",], report["sex",]] == [each.distance for each in shares]
    assert report["age", "sex"] >= max(report["age",], report["sex",])
    with pytest.raises(dp.RowsError, match="more than 399 rows"):
        curator.evaluate(SimilarityQuestion(table=PublicTable(FRAME)))
    assert curator.evaluate(
        SimilarityQuestion(table=PublicTable(FRAME)), first_rows=100
    ).content.columns
    assert {each.column for each in curator.evaluate(RolesQuestion()).content} == {
        "age",
        "sex",
    }


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_of_a_folder_must_agree_in_duckdb(tmp_path: Path, kind: str) -> None:
    """DuckDB leaves out columns that the first file lacks, and casts the others to its
    types.
    """
    for number, other in enumerate(
        (FRAME.assign(more=1), FRAME[["age"]], FRAME.assign(age=0.5))
    ):
        place = tmp_path / str(number)
        place.mkdir()
        for name, frame in (("a", FRAME), ("b", other)):
            write = frame.to_parquet if kind == "parquet" else frame.to_csv
            write(place / f"{name}.{kind}", index=False)
        if kind == "csv" and number == 2:  # texts are texts
            continue
        with pytest.raises(
            dp.SchemaError, match="the files of the folder disagree about"
        ):
            duckdb(kind=kind, location=str(place))


def test_files_that_may_not_be_read_for_anybody(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read everything, so that the test above is left out there; the place is
    in no message.
    """

    def refused(*words: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(pq, "ParquetFile", refused)
    with pytest.raises(dp.ReadError, match=r"\(PermissionError\)") as error:
        parquet_engine(folder, SCHEMA, key=KEY)
    assert str(folder) not in str(error.value)


def test_a_slow_source_can_be_left(tmp_path: Path) -> None:
    """A query that takes hours would keep a page, and the server's memory, until
    somebody restarts it.
    """
    place = tmp_path / "a.csv"
    place.write_text("age,sex\n1,F\n")
    told: list[int] = []

    class Gone(Exception):
        pass

    def leave(rows: int) -> None:
        told.append(rows)
        raise Gone

    slow = "SELECT sum(range)::INT % 10 AS age, 'F' AS sex FROM range(1000000000000)"
    source = DuckDBSource(
        kind="csv", location=str(place), query=slow, declared_by="Ada"
    )
    for ask in (
        lambda: duckdb_engine(source, SCHEMA, key=KEY, on_rows=leave),
        lambda: read_sample(DuckDBReader(source), 5, leave),
    ):
        with pytest.raises(Gone):
            ask()
    assert told == [0, 0]


def test_no_room_for_the_cells(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk would keep a table from being opened that needs none; or half of the
    cells would count.
    """
    expected = (
        parquet_engine(folder, SCHEMA, key=KEY).counts([("age", "sex")])[0].values
    )

    def full(self: Spool, data: object, start: int) -> None:
        if start:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Spool, "_write", full)
    engine = parquet_engine(folder, SCHEMA, key=KEY)
    assert (engine.counts([("age", "sex")])[0].values == expected).all()
    monkeypatch.undo()
    monkeypatch.setattr(work_module, "MAX_SPOOL_BYTES", 799)
    assert (
        parquet_engine(folder, SCHEMA, key=KEY).counts([("age", "sex")])[0].values
        == expected
    ).all()


def test_what_a_run_has_counted_is_not_counted_again() -> None:
    """A recipe that asks round by round reads a large table each time; or is told of
    other cells.
    """
    asked: list[int] = []
    engine = FrameEngine(FRAME, SCHEMA, key=KEY)

    def counts(cliques: Sequence[Clique], *, groups: Any = None) -> list[Counts]:
        asked.append(len(cliques))
        return engine.counts(cliques, groups=groups)

    remembered = CountCache(counts)
    halves = {"age": np.arange(10) // 2}
    for groups in (
        {},
        halves,
        {"age": np.arange(10) // 5},
        {"age": np.arange(10)[::-1].copy()},
    ):
        for cliques in ([("age",), ("sex",)], [("sex", "age"), ("age",)], [("sex",)]):
            pairs = zip(
                remembered(cliques, groups=groups),
                engine.counts(cliques, groups=groups),
                strict=True,
            )
            assert all(
                a.clique == b.clique and (a.values == b.values).all() for a, b in pairs
            )
    assert asked == [2, 1] + [1, 1] * 3


def mixed(place: Path, frames: Sequence[pd.DataFrame]) -> int:
    return write_shuffled(
        lambda put: [put(each) for each in frames],
        place,
        rows=sum(map(len, frames)),
        spread=lambda work, number: [work(each) for each in range(number)],
    )


def test_a_written_table_does_not_follow_the_source(tmp_path: Path) -> None:
    """Whoever knows where somebody was in the source would find them at the same place
    again.
    """
    frame = pd.DataFrame({"place": np.arange(4000)})
    assert mixed(tmp_path / "out", [frame[:1500], frame[1500:]]) == 4000
    places = pd.read_parquet(tmp_path / "out")["place"].to_numpy()
    assert sorted(places) == list(range(4000))
    assert abs(np.corrcoef(places, np.arange(4000))[0, 1]) < 5 / np.sqrt(4000)


def test_a_disk_that_is_full_leaves_no_half_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a table under its final name would be taken for the table; a hidden half
    fills the disk.
    """

    def full(*words: object, **named: object) -> None:
        raise OSError(28, "No space left on device")

    for broken in (
        "pyarrow.ipc.RecordBatchFileWriter.write_batch",
        "pyarrow.parquet.write_table",
    ):
        with monkeypatch.context() as patched:
            patched.setattr(broken, full)
            with pytest.raises(dp.ParameterError, match="could not be written"):
                mixed(tmp_path / "out", [FRAME])
        assert not list(tmp_path.iterdir())


def test_an_anonymized_table_that_does_not_fit(
    folder: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """A plan on a large source would end the server, or publish other rows than the
    same plan in memory.
    """
    plan = Plan(
        roles={"age": "quasi-identifier", "sex": "sensitive"},
        hierarchies=suggest_together(FRAME, ["age"]),
        models=(KAnonymity(k=41),),
    )
    tables = []
    for most in (400, 399):
        monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", most)
        ledger = dp.MemoryLedger()
        curator = dp.Curator.open(
            opened("parquet", folder),
            SCHEMA,
            budget=dp.PureDP(epsilon="1"),
            ledger=ledger,
            identity="visits",
        )
        assert curator.anonymize_to(tmp_path / str(most), plan) == 400
        tables.append(pq.read_table(tmp_path / str(most)))
        assert [line.state for line in curator.lines()][-1] == "outside"
    counts = [table.to_pandas().value_counts().to_dict() for table in tables]
    assert counts[0] == counts[1]
    assert tables[0].schema.metadata == tables[1].schema.metadata
    with pytest.raises(dp.RowsError, match="needs all rows"):
        curator.anonymize_to(
            tmp_path / "other", dataclasses.replace(plan, method=Mondrian())
        )
    with pytest.raises(dp.InfeasibleError, match="larger than the number of rows"):
        curator.anonymize_to(
            tmp_path / "other", dataclasses.replace(plan, models=(KAnonymity(k=401),))
        )

    def gone(rows: int) -> None:
        if rows:
            raise dp.ReadError("the source is gone", remedy="look for it")

    engine = curator._engine
    assert isinstance(engine, ArrowEngine)
    engine._on_rows = gone
    with pytest.raises(dp.ReadError, match="is gone"):
        curator.anonymize_to(tmp_path / "other", plan)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["399", "400", "table"]


def test_a_source_that_gives_other_rows_the_second_time(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table named k = 25 would have groups of 21: the first look decides, the second
    one writes.
    """
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 99)
    query = "SELECT * FROM source WHERE random() < 0.5"
    curator = dp.Curator.open(
        duckdb(kind="parquet", location=str(folder), query=query, declared_by="Ada"),
        SCHEMA,
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
        identity="visits",
    )
    plan = Plan(
        roles={"age": "quasi-identifier", "sex": "insensitive"},
        hierarchies=suggest_together(FRAME, ["age"]),
        models=(KAnonymity(k=5),),
        node={"age": 0},
        limit=1.0,
    )
    with pytest.raises(dp.ReadError, match="has changed since it was opened"):
        curator.anonymize_to(tmp_path / "out", plan)
    assert [each.name for each in tmp_path.iterdir()] == ["table"]


@pytest.mark.parametrize(
    ("age", "sex"),
    [
        ([0] * 5 + [1] * 5 + [2], "FMFMF" * 2 + "F"),  # as it was
        ([0] * 6 + [1] * 4 + [2], "FMFMF" * 2 + "F"),  # as many rows, another class
        ([0] * 5 + [1] * 5 + [3], "FMFMF" * 2 + "F"),  # a class that was not there
        # the same classes, another secret
        ([0] * 5 + [1] * 5 + [2], "FMFMM" + "FMFMF" + "F"),
        ([0] * 5 + [1] * 5, "FMFMF" * 2),  # one less
        ([0] * 5 + [1] * 5 + [2] * 2, "FMFMF" * 2 + "FF"),  # one more
    ],
)
@pytest.mark.parametrize("suppressed", ["kept", "blanked", "dropped"])
def test_each_class_and_secret_is_counted_while_it_is_written(
    age: list[int],
    sex: str,
    suppressed: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The right number of rows in the wrong classes breaks k; the right classes of
    other secrets break l.
    """
    first = pd.DataFrame({"age": [0] * 5 + [1] * 5 + [2], "sex": [*"FMFMF" * 2, "F"]})
    second = pd.DataFrame({"age": age, "sex": [*sex]})
    plan = Plan(
        roles={"age": "quasi-identifier", "sex": "sensitive"},
        hierarchies=suggest_together(pd.concat([first, second, FRAME]), ["age"]),
        models=(KAnonymity(k=5), DistinctL(column="sex", l=2)),
        node={"age": 0},
        limit=1.0,
        suppressed=suppressed,
    )
    monkeypatch.setattr(streamed_plan, "_TUPLES_PER_BATCH", 2)
    distinct = FrameEngine(first, SCHEMA, key=KEY).tuples(searched_columns(plan))
    recoding = RowRecoder.from_tuples(distinct, plan)
    tally = ExpectedClasses(recoding, distinct)
    writing = tally.make_writer(len)
    parts = [writing(second[start : start + 4]) for start in range(0, len(second), 4)]
    published = functools.reduce(operator.add, parts)

    shown = [
        sorted(map(str, recoding(each)[["age", "sex"]].itertuples(index=False)))
        for each in (first, second)
    ]
    if shown[0] == shown[1]:
        tally.check(published)
        assert sum(published.locations) == recoding.row_count
    else:
        with pytest.raises(dp.ReadError, match="has changed"):
            tally.check(published)


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_rows_of_a_source_that_was_changed(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source that grew would be anonymized, or audited, without its last rows and
    without a word.
    """
    engine = opened(kind, folder)
    assert len(engine.rows().frame) == 400
    pq.write_table(
        pa.Table.from_pandas(pd.concat([FRAME, FRAME])), folder / "a.parquet"
    )
    for ask in (engine.rows, lambda: engine.sample(5)):
        with pytest.raises(dp.ReadError, match="has changed since it was opened"):
            ask()
    if kind == "duckdb":
        # as of a data base
        monkeypatch.setattr(DuckDBReader, "_check_unchanged", lambda self: None)
        with pytest.raises(dp.ReadError, match="has changed since it was opened"):
            engine.rows()


def test_no_room_for_the_ranks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk while the rows of people are sorted would let other rows count, or
    more of them.
    """
    schema = dp.Schema(
        columns=SCHEMA.columns[:1], unit=dp.PrivacyUnit(max_rows=1, id_column="sex")
    )
    taken: list[int] = []

    def full(self: Slices, records: np.ndarray) -> None:
        taken.append(len(records))
        if len(taken) > 1:
            raise OSError(28, "No space left on device", "/tmp/secret")

    with monkeypatch.context() as patched:
        patched.setattr(Slices, "store", full)
        with pytest.raises(dp.ReadError, match="the disk is not full") as error:
            parquet_engine(folder, schema, key=KEY)
    assert "secret" not in str(error.value)
    assert parquet_engine(folder, schema, key=KEY).counts([()])[0].values == 2


def test_a_file_that_was_cut_is_refused_before_the_charge(folder: Path) -> None:
    """A copy that stopped half-way would be counted up to there, or cost a charge for
    nothing.
    """
    engine = parquet_engine(folder, SCHEMA, key=KEY)
    curator = dp.Curator.open(
        engine,
        SCHEMA,
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
        identity="visits",
    )
    os.truncate(folder / "a.parquet", (folder / "a.parquet").stat().st_size - 100)
    before = curator.lines()
    with pytest.raises(dp.ReadError, match="has changed"):
        curator.run(dp.Histogram("age"), dp.PureDP(epsilon="0.25"))
    assert curator.lines() == before
