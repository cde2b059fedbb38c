"""Audits of tables that do not fit: every figure is that of the rows; what is too large
is refused first.
"""

from __future__ import annotations

import tracemalloc
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines import base
from dpcore.engines.base import Engine
from dpcore.engines.frame import FrameEngine
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.engines.streaming import _many_texts as many_texts
from dpcore.engines.streaming import engine as streaming
from dpcore.engines.streaming.parquet import ParquetReader
from dpcore.engines.streaming.spool import Spool
from dpcore.errors import LimitError, ManyValuesError, ReadError, RowsError, SchemaError
from dpcore.evaluation.table.audit import AuditQuestion
from dpcore.schema.schema import Schema
from dpcore.tables import classes
from tests.contracts.engine_kinds import duckdb_engine, parquet_engine

KEY = b"k" * 32
ROWS = 600
ASKED = AuditQuestion(
    quasi_identifiers=("town", "day"),
    sensitive=("job",),
    others=("price", "age", "children", "since"),
    roles=(),
)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(7)
    days = np.datetime64("1990-01-01") + random.integers(0, 40, ROWS)
    table = pd.DataFrame(
        {
            "who": [f"P{each}" for each in random.integers(0, 350, ROWS)],
            "town": random.choice(
                ["a", "b", "c", " d", "*", None], ROWS, p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]
            ),
            "age": pd.Series(random.integers(20, 60, ROWS))
            .astype("Int64")
            .mask(random.random(ROWS) < 0.1),
            "day": pd.Series(days.astype(str)).mask(random.random(ROWS) < 0.1),
            "job": random.choice(["clerk", "cook", "nurse"], ROWS),
            "price": random.normal(0, 1, ROWS),
            "children": random.integers(0, 3, ROWS),
            "since": (
                np.datetime64("1990-01-01") + random.integers(0, 90, ROWS) * 37
            ).astype(str),
        },
    )
    table.loc[random.random(ROWS) < 0.1, ["town", "day"]] = "*"
    return table


def schema_of(person: str | None) -> Schema:
    return Schema(
        columns=(
            dp.Integer("age", low=0, high=99, missing=True),
            dp.Real("price", low=-5, high=5, bin_width=1),
            dp.Integer("children", low=0, high=9),
            dp.Date("since", low="1990-01-01", high="1999-12-31", step="year"),
        ),
        unit=dp.PrivacyUnit(max_rows=2 if person else 1, id_column=person),
    )


def engine_on(kind: str, folder: Path, frame: pd.DataFrame, schema: Schema) -> Engine:
    """The table in a file of this kind, in several pieces."""
    file = folder / f"people.{kind}"
    if kind == "csv":
        frame.to_csv(file, index=False)
        return duckdb_engine(
            DuckDBSource(kind="csv", location=str(file)), schema, key=KEY
        )
    frame.to_parquet(file, row_group_size=100)
    return parquet_engine(file, schema, key=KEY)


def figures(content: Any, name: str = "") -> dict[str, Any]:
    """All figures of a report by where they stand in it."""
    if is_dataclass(content):
        content = vars(content)
    if isinstance(content, dict):
        content = list(content.items())
    if not isinstance(content, list | tuple):
        return {
            name: round(float(content), 9) if isinstance(content, float) else content
        }
    parts = [figures(each, f"{name}.{place}") for place, each in enumerate(content)]
    return {place: each for part in parts for place, each in part.items()}


@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_every_figure_is_that_of_the_rows(
    kind: str,
    person: str | None,
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A large table would look safer, or worse, than it is."""
    schema = schema_of(person)
    here = FrameEngine(frame, schema, key=KEY)
    there = engine_on(kind, tmp_path, frame, schema)
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 10)
    expected, report = (
        ASKED.compute(ASKED.read(table, schema), schema) for table in (here, there)
    )
    assert figures(report) == figures(expected)
    assert expected.risk.uniques > 0.1
    assert expected.suppressed > 0.05
    other = frame.assign(job=frame["job"].where(frame.index > 0, "spy"))
    planted = ASKED.compute(
        ASKED.read(FrameEngine(other, schema, key=KEY), schema), schema
    )
    assert figures(report) != figures(planted)


def test_figures_of_groups_are_those_of_pandas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codes that are sorted by digits, in keys of more than 16 bits and of more than
    62, would mix groups.
    """
    random = np.random.default_rng(11)
    wide = {
        f"c{each}": random.integers(0, 2**31, 300)[random.integers(0, 300, 4_000)]
        for each in range(9)
    }
    whole = pd.DataFrame(
        {
            **wide,
            "x": random.integers(0, 300, 4_000),
            "secret": random.integers(0, 9, 4_000),
        },
    )
    for columns in (["x"], ["c0", "c1"], ["c0", "x", "c2"], list(wide)):
        frame = whole[[*columns, "secret"]].copy()
        if len(columns) > 3:  # rows in groups
            frame = frame.iloc[random.integers(0, 1_500, 4_000)].reset_index(drop=True)
        number = dp.Integer("secret", low=0, high=9)
        schema = Schema(columns=(number,), unit=dp.PrivacyUnit(max_rows=1))
        audit = AuditQuestion(
            quasi_identifiers=tuple(columns), sensitive=("secret",), roles=()
        )
        monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 10)
        coded = audit.read(engine_on("parquet", tmp_path, frame, schema), schema)
        report = audit.compute(coded, schema)
        groups = frame.groupby(columns)["secret"]
        sizes = groups.size()
        values = groups.nunique()
        assert report.risk.uniques == (sizes == 1).sum() / 4_000
        assert (report.risk.classes, report.risk.k) == (len(sizes), sizes.min())
        assert report.secrets["secret"].distinct_l == values.min()
        assert (
            report.secrets["secret"].homogeneous_people
            == sizes[values == 1].sum() / 4_000
        )
        for each in report.column_sets:
            assert (
                each.uniques
                == (frame.groupby(list(each.columns)).size() == 1).sum() / 4_000
            )


def test_no_room_for_the_copy_of_an_audit(
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A full disk would be an error without words, or an audit of the rows that it
    took.
    """
    engine = engine_on("parquet", tmp_path, frame, schema_of(None))

    def full(self: Spool, data: object, start: int) -> None:
        if start:
            raise OSError(28, "No space left on device", str(tmp_path))

    monkeypatch.setattr(Spool, "_write", full)
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 10)
    with pytest.raises(ReadError, match="the disk is not full") as error:
        ASKED.read(engine, schema_of(None))
    assert str(tmp_path) not in str(error.value)


def test_distinct_tuples_have_the_figures_of_the_rows(frame: pd.DataFrame) -> None:
    """An audit on Spark, which gives tuples, would tell another risk."""
    schema = schema_of(None)
    names = [*ASKED.quasi_identifiers, *ASKED.sensitive, *ASKED.others]
    expected, report = (
        ASKED.compute(getattr(FrameEngine(frame, schema, key=KEY), way)(*given), schema)
        for way, given in (("rows", ()), ("coded_rows", (names,)))
    )
    assert figures(report) == figures(expected)


def test_what_is_too_large_is_refused(
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody would wait for a pass over a large file that ends with a refusal, or the
    server would end.
    """
    engine = engine_on("parquet", tmp_path, frame, schema_of(None))
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 10)
    monkeypatch.setattr(streaming, "MAX_DISTINCT_TEXTS", 20)
    with pytest.raises(SchemaError, match="no column"):
        engine.coded_rows(["nothing"])
    engine.coded_rows(["town"])
    assert engine.coded_rows(["who"]).omitted_columns == (
        "who",
    )  # an answer; see below
    with pytest.raises(LimitError):
        engine_on("parquet", tmp_path, frame, schema_of("who")).coded_rows(["town"])
    monkeypatch.setattr(streaming, "MAX_CODED_ROWS", ROWS - 1)
    monkeypatch.setattr(ParquetReader, "batches", None)  # nothing is read any more
    with pytest.raises(RowsError):
        engine.coded_rows(["town"])


@pytest.mark.parametrize(
    ("texts", "classes"),
    [
        (["1", "1.0", "1e0", "2"], 2),
        (["1", "1.0", "x", "01"], 3),
        (["9007199254740993", "9007199254740992", "", "1"], 4),
    ],
)
def test_texts_of_numbers_are_numbers(
    texts: list[str],
    classes: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two ways to write one number would be two groups, or two long numbers one."""
    frame = pd.DataFrame({"x": texts, "y": "same"})
    column = dp.Integer("x", low=0, high=9, missing=True, missing_tokens=("x", "01"))
    schema = Schema(columns=(column,), unit=dp.PrivacyUnit(max_rows=1))
    coded = engine_on("csv", tmp_path, frame, schema).coded_rows(["x"])
    assert len(set(coded.frame["x"])) == classes


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
@pytest.mark.parametrize("person", [None, "who"])
def test_too_many_different_texts_are_an_answer(
    kind: str,
    person: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """29 million rows with one free column were read for minutes into gigabytes, and
    then refused.
    """
    table = pd.DataFrame(
        {
            "who": [f"P{each}" for each in range(ROWS)],
            "note": [f"note {each}" for each in range(ROWS)],
            "town": ["a", "b"] * (ROWS // 2),
            "job": ["clerk", "cook", "nurse"] * (ROWS // 3),
        },
    )
    table.to_parquet(tmp_path / "t.parquet", row_group_size=50)
    schema = Schema(
        columns=(dp.Categorical("town", categories=("a", "b")),),
        unit=dp.PrivacyUnit(max_rows=1, id_column=person),
    )
    path = tmp_path / "t.parquet"
    source = DuckDBSource(kind="parquet", location=str(path))
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 1)
    monkeypatch.setattr(many_texts, "_PENDING_HASHES", 10)
    monkeypatch.setattr(many_texts, "MAX_DISTINCT_TEXTS", 100)
    engine = (
        parquet_engine(path, schema, key=KEY)
        if kind == "parquet"
        else duckdb_engine(source, schema, key=KEY)
    )
    taken: list[int] = []
    take = Spool.store
    monkeypatch.setattr(
        Spool,
        "store",
        lambda self, batch: taken.append(batch.num_rows) or take(self, batch),
    )

    def audited(**asked: Any) -> Any:
        audit = AuditQuestion(roles=(), **asked)
        return audit.compute(audit.read(engine, schema), schema)

    without = audited(quasi_identifiers=("town",), others=("job",))
    rows, taken[:] = sum(taken), []
    for asked in (
        {"quasi_identifiers": ("town",), "others": ("job", "note")},
        {"quasi_identifiers": ("note", "town"), "others": ("job",)},
        {"quasi_identifiers": ("town",), "sensitive": ("note",), "others": ("job",)},
    ):
        report = audited(**asked)
        assert report.verdict.answer == "no"
        assert report.verdict.naming_columns == ("note",)
        assert report.risk == without.risk
        assert dict(report.uniques_after_change) == dict(without.uniques_after_change)
        assert report.secrets == {}
        # where batches are small, it ends soon after the hundredth text
        if kind == "parquet":
            assert rows <= sum(taken) < rows + 400
        taken.clear()
    with pytest.raises(
        ManyValuesError, match=r"'note' has more than .* it identifies people"
    ):
        audited(quasi_identifiers=("note",))
    monkeypatch.setattr(
        many_texts, "MAX_DISTINCT_TEXTS", ROWS
    )  # twin: so many are allowed
    assert (
        audited(
            quasi_identifiers=("town",), others=("job", "note")
        ).verdict.naming_columns
        == ()
    )


def test_texts_of_numbers_take_a_byte_of_each_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An audit of 29 million rows took 1.5 GB: each number that arrives as a text was
    a number of 8 bytes, twice, before it was a code of one.
    """
    rows = 300_000
    random = np.random.default_rng(0)
    names = ["age", "children", "town"]
    table = pd.DataFrame({name: random.integers(0, 90, rows) for name in names})
    schema = Schema(
        columns=tuple(dp.Integer(name, low=0, high=99) for name in names),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    engine = engine_on("csv", tmp_path, table, schema)
    monkeypatch.setattr(classes, "MAX_ROWS_IN_ONE_PASS", 1)
    monkeypatch.setattr(classes, "_ROWS_PER_BATCH", 10_000)
    tracemalloc.start()
    coded = engine.coded_rows(names)
    _now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # a byte of each column, a number of 8 bytes of each row, and its key
    assert most < 18 * rows
    assert {name: str(column.dtype) for name, column in coded.frame.items()} == (
        dict.fromkeys(names, "uint8")
    )
    decoded = {name: coded.values[name].to_numpy()[coded.frame[name]] for name in names}
    assert sorted(zip(*decoded.values(), strict=True)) == sorted(
        table.itertuples(index=False, name=None)
    )
