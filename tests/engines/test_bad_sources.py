"""Sources that are broken, changed, foreign or too large: refused with a sentence that tells nothing."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcore as dp
from dpcore.engines import streamed as streamed_module
from dpcore.engines.batch import Batch
from dpcore.engines.duck import DuckDBEngine
from dpcore.engines.duck_source import DuckDBSource
from dpcore.engines.frame import FrameEngine
from dpcore.engines.parquet import ParquetEngine
from dpcore.engines.work import Counting, Digesting, Summing
from dpcore.evaluation import Audit
from dpcore.evaluation.proposals import RolesOf
from dpcore.tables.sums import GRID

KEY = b"k" * 32
SCHEMA = dp.Schema(
    columns=(dp.Integer("age", low=0, high=9), dp.Categorical("sex", categories=("F", "M"))),
    unit=dp.PrivacyUnit(max_rows=1),
)
FRAME = pd.DataFrame({"age": np.arange(400) % 10, "sex": ["F", "M"] * 200})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "table"
    place.mkdir()
    pq.write_table(pa.Table.from_pandas(FRAME), place / "a.parquet", row_group_size=100)
    return place


def duckdb(**source: object) -> DuckDBEngine:
    pytest.importorskip("duckdb")
    return DuckDBEngine(DuckDBSource(**source), SCHEMA, key=KEY)  # type: ignore[arg-type]


def opened(kind: str, folder: Path) -> ParquetEngine | DuckDBEngine:
    if kind == "parquet":
        return ParquetEngine(folder, SCHEMA, key=KEY)
    return duckdb(kind="parquet", location=str(folder))


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (FRAME.assign(more=1), "'more'"),
        (FRAME[["age"]], "'sex'"),
        (FRAME.assign(age=FRAME["age"].astype(float)), "the type of 'age'"),
    ],
)
def test_files_of_a_folder_must_agree(folder: Path, other: pd.DataFrame, says: str) -> None:
    """Files that disagree would be counted by halves, or by what somebody else's file says."""
    pq.write_table(pa.Table.from_pandas(other), folder / "b.parquet")
    with pytest.raises(dp.SchemaError, match=says):
        ParquetEngine(folder, SCHEMA, key=KEY)


def test_nested_columns_are_refused(folder: Path) -> None:
    """A struct has no canonical text, so rows with one could not be told apart."""
    nested = pa.Table.from_pandas(FRAME).append_column("s", pa.array([{"a": 1}] * 400))
    pq.write_table(nested, folder / "a.parquet")
    with pytest.raises(dp.SchemaError, match="'s' holds values that are no numbers"):
        ParquetEngine(folder, SCHEMA, key=KEY)
    with pytest.raises(dp.SchemaError, match="'s' holds values that are no numbers"):
        duckdb(kind="parquet", location=str(folder))


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_a_file_that_changes_fails_the_run_and_keeps_the_charge(folder: Path, kind: str) -> None:
    """Counts of half the old table and half the new one have no sensitivity that anybody knows."""
    ledger = dp.MemoryLedger()

    def changed(rows: int) -> None:
        pq.write_table(pa.Table.from_pandas(FRAME[:-1]), folder / "a.parquet")

    engine = opened(kind, folder)
    curator = dp.Curator.open(engine, SCHEMA, budget=dp.PureDP(epsilon="1"), ledger=ledger, identity="visits")
    curator.run(dp.Histogram("age"), dp.PureDP(epsilon="0.25"))
    engine._on_rows = changed
    with pytest.raises(dp.ReadError, match="was changed since it was opened"):
        curator.run(dp.Histogram("sex"), dp.PureDP(epsilon="0.25"))
    assert [line.state for line in curator.lines()][-2:] == ["reserved", "failed"]
    assert curator.balance().left == curator.balance().spent + curator.balance().held
    with pytest.raises(dp.ReadError, match="was changed"):
        curator.run(dp.Histogram("sex"), dp.PureDP(epsilon="0.25"))


def test_a_source_that_is_gone(folder: Path) -> None:
    """A page must say so, whatever the other library would say."""
    engine = ParquetEngine(folder, SCHEMA, key=KEY)
    (folder / "a.parquet").unlink()
    with pytest.raises(dp.ReadError):
        engine.counts([("age",)])
    for make in (
        lambda: ParquetEngine(folder, SCHEMA, key=KEY),
        lambda: duckdb(kind="csv", location="/none"),
    ):
        with pytest.raises(dp.ReadError, match="there is no file"):
            make()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_rights(folder: Path) -> None:
    """The same, where the server's user may not read."""
    (folder / "a.parquet").chmod(0)
    with pytest.raises(dp.ReadError):
        ParquetEngine(folder, SCHEMA, key=KEY)


def test_what_is_no_parquet(folder: Path) -> None:
    """A cut file must not be counted up to the cut, and its bytes must not be in a message."""
    whole = (folder / "a.parquet").read_bytes()
    for data in (b"", b"secret,1\n", whole[:-20], b"PAR1" + b"\0" * 40 + b"PAR1"):
        (folder / "a.parquet").write_bytes(data)
        with pytest.raises(dp.ReadError) as refused:
            ParquetEngine(folder, SCHEMA, key=KEY)
        assert "secret" not in str(refused.value)


def test_a_wrong_password_is_in_no_message() -> None:
    """A connection string holds the password, and libraries like to quote it."""
    pytest.importorskip("duckdb")
    location = "postgresql://reader:hunter2@127.0.0.1:1/people"
    source = DuckDBSource(kind="postgres", location=location, query="SELECT * FROM people")
    assert "hunter2" not in repr(source)
    with pytest.raises(dp.ReadError) as refused:
        DuckDBEngine(source, SCHEMA, key=KEY)
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
        "",
    ],
)
def test_a_query_is_one_select(query: str) -> None:
    """Anything else could write, or change what a later query sees."""
    pytest.importorskip("duckdb")
    with pytest.raises(dp.ParameterError, match="one SELECT"):
        DuckDBSource(kind="csv", location="/none", query=query)


@pytest.mark.parametrize("function", ["read_csv('{}')", "read_text('{}')", "glob('{}')", "'{}'"])
def test_a_query_reads_no_other_file(folder: Path, tmp_path: Path, function: str) -> None:
    """Whoever may write a query could read every file of the server."""
    (tmp_path / "other.csv").write_text("age,sex\n1,F\n")
    query = f"SELECT 1 AS age, 'F' AS sex FROM {function.format(tmp_path / 'other.csv')}"
    with pytest.raises(dp.ReadError):
        duckdb(kind="parquet", location=str(folder), query=query)


def test_a_duckdb_file_is_read_only(tmp_path: Path) -> None:
    """Joins and views of the owner are read as they are, and a file of DuckDB is never written to."""
    library = pytest.importorskip("duckdb")
    place = tmp_path / "people.duckdb"
    with library.connect(str(place)) as connection:
        connection.execute("CREATE TABLE ages AS SELECT range AS id, range % 10 AS age FROM range(400)")
        connection.execute(
            "CREATE VIEW sexes AS SELECT id, CASE id % 2 WHEN 0 THEN 'F' ELSE 'M' END AS sex FROM ages"
        )
    before = place.read_bytes()
    query = "SELECT age, sex FROM ages JOIN sexes USING (id)"
    engine = duckdb(kind="duckdb", location=str(place), query=query)
    assert engine.counts([("sex",)])[0].values.tolist() == [200, 200]
    assert place.read_bytes() == before


def test_the_rows_of_a_person_in_a_duckdb_file(tmp_path: Path) -> None:
    """The table of rows that count lies beside a file that is attached read-only, and must be found."""
    library = pytest.importorskip("duckdb")
    frame = FRAME.assign(person=np.arange(400) * 7919 % 50)
    with library.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    unit = dp.PrivacyUnit(max_rows=2, id_column="person")
    schema = dp.Schema(columns=SCHEMA.columns, unit=unit)
    source = DuckDBSource(
        kind="duckdb", location=str(tmp_path / "people.duckdb"), query="SELECT * FROM people"
    )
    engine, reference = DuckDBEngine(source, schema, key=KEY), FrameEngine(frame, schema, key=KEY)
    pair = [each.counts([("age", "sex")])[0].values for each in (engine, reference)]
    assert (pair[0] == pair[1]).all()
    assert engine.people() == reference.people() == {8: 50}


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_no_rows(folder: Path, kind: str) -> None:
    """Zero rows have no ledger account worth opening, and some functions no answer."""
    pq.write_table(pa.Table.from_pandas(FRAME[:0]), folder / "a.parquet")
    with pytest.raises(dp.SchemaError, match="has no rows"):
        opened(kind, folder)


def test_a_value_without_a_cell_is_found_at_the_start(folder: Path) -> None:
    """Found in a run, it would cost the charge; and the message must not name it."""
    pq.write_table(pa.Table.from_pandas(FRAME.replace({"sex": {"M": "secret"}})), folder / "a.parquet")
    for make in (
        lambda: ParquetEngine(folder, SCHEMA, key=KEY),
        lambda: duckdb(kind="parquet", location=str(folder)),
    ):
        with pytest.raises(dp.SchemaError, match="'sex'") as refused:
            make()
        assert "secret" not in str(refused.value)


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_cancel_in_the_middle(folder: Path, kind: str) -> None:
    """Whoever goes away must not keep two threads of the server busy; the next pass must be whole."""

    class Gone(Exception):
        pass

    def stop(rows: int) -> None:
        raise Gone

    engine = opened(kind, folder)
    going_on, engine._on_rows = engine._on_rows, stop
    with pytest.raises(Gone):
        engine.counts([("age",)])
    engine._on_rows = going_on
    assert engine.counts([()])[0].values == 400


def test_more_rows_than_32_bits_hold() -> None:
    """Two thousand million rows are a large country's visits; a count that wraps there would be negative."""
    batch = Batch(FRAME, SCHEMA)
    counting = Counting(domain=SCHEMA.domain, cliques=[("age",), ()])
    digesting = Digesting(key=KEY)
    summing = Summing(domain=SCHEMA.domain, by=(), entries=[{}])
    counts, digest, sums, rows = counting.of(batch), digesting.of(batch), summing.of(batch), 400
    once = digest
    while rows <= 2**31:
        counts, digest, sums = (
            counting.add(counts, counts),
            digesting.add(digest, digest),
            summing.add(sums, sums),
        )
        rows *= 2
    assert counts[0].tolist() == [rows // 10] * 10
    assert counts[1] == rows
    assert sums[0, 0] == rows * GRID
    assert digest == once * (rows // 400)


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_rows_that_do_not_fit(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that asks for the rows of a cluster would end the server; an audit needs their tuples alone."""
    pq.write_table(pa.Table.from_pandas(FRAME.assign(age=FRAME["age"] ** 3 % 7)), folder / "a.parquet")
    whole = dp.Curator.open(
        pd.read_parquet(folder), SCHEMA, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger()
    )
    monkeypatch.setattr(streamed_module, "MOST_ROWS", 399)
    engine = opened(kind, folder)
    with pytest.raises(dp.LimitError, match="more than 399 rows"):
        engine.rows()
    curator = dp.Curator.open(
        engine, SCHEMA, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger(), identity="visits"
    )
    audit = Audit(quasi_identifiers=("age",), sensitive=("sex",), others=("sex",), population=9000)
    expected, found = whole.evaluate(audit).content, curator.evaluate(audit).content
    for name in ("people", "suppressed", "risk", "sets", "changes", "secrets", "population"):
        if name == "risk":  # sums of shares, in another order
            assert dataclasses.asdict(found.risk) == pytest.approx(dataclasses.asdict(expected.risk))
        else:
            assert getattr(found, name) == getattr(expected, name)
    with pytest.raises(dp.LimitError, match="more than 399 rows"):
        curator.evaluate(RolesOf())
