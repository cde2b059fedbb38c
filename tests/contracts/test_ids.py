"""Two ids that differ in their last place are two people, or refused by name: every
type on every way in.

Each cell of `CELLS` was written down before it was tried: `2` two people, `f` refused,
as two ids may have become one before they came here, `b` refused, as bytes have no
text, `u` refused, as the program hands over another type, `-` the format cannot hold
such ids. A cell may leave `2` with a line in CHANGELOG.md only.
"""

from __future__ import annotations

import datetime as dt
import functools
import io
import json
import os
import pickle
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcore as dp
from dpcore.engines.base import Engine
from dpcore.engines.frame import FrameEngine
from dpcore.engines.spark._tasks import OwnerRankTask
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.errors import DpcoreError
from dpcore.io.read import read_table
from dpcore.schema.values import canonicalize
from tests.contracts.engine_kinds import (
    duckdb_engine,
    parquet_engine,
    postgres_engine,
    postgres_schema,
    postgres_source,
    spark_session,
)
from tests.io.test_workbooks import workbook
from tests.tiers import but_first

KEY = b"k" * 32
SCHEMA = functools.partial(
    dp.Schema, columns=(dp.Categorical("x", categories=("a", "b")),)
)
OCTOBER = dt.datetime(2020, 10, 25, 0, 30, tzinfo=dt.UTC)
"""When the clocks of Berlin show 2:30, as they do an hour later."""
SECOND = dt.timedelta(seconds=1)
LONG = 12_345_678_901_234_567_000


def in_zone(zone: str | None) -> pa.DataType:
    return pa.timestamp("us", zone)


IDS: dict[str, tuple[Any, Any, pa.DataType]] = {
    "int64": (2**62 + 1, 2**62 + 2, pa.int64()),
    "uint64": (2**63 + 1, 2**63 + 2, pa.uint64()),
    "decimal(18, 0)": (Decimal(10**17 + 1), Decimal(10**17 + 2), pa.decimal128(18, 0)),
    "decimal(20, 0)": (Decimal(LONG + 1), Decimal(LONG + 2), pa.decimal128(20, 0)),
    "decimal(38, 0)": (
        Decimal("1" * 36 + "1"),
        Decimal("1" * 36 + "2"),
        pa.decimal128(38, 0),
    ),
    "decimal(60, 0)": (
        Decimal("1" * 59 + "1"),
        Decimal("1" * 59 + "2"),
        pa.decimal256(60, 0),
    ),
    "decimal(20, 2)": (
        Decimal(LONG + 1).scaleb(-2),
        Decimal(LONG + 2).scaleb(-2),
        pa.decimal128(20, 2),
    ),
    "hugeint": (str(2**120 + 1), str(2**120 + 2), None),
    "uhugeint": (str(2**127 + 1), str(2**127 + 2), None),
    "float64": (2.0**53, 2.0**53 + 2, pa.float64()),
    "float64, small": (12.1, 12.2, pa.float64()),
    "float32": (2.0**24, 2.0**24 + 2, pa.float32()),
    "text of a number": ("12.1", "12.10", pa.string()),
    "text, blank before": ("a", " a", pa.string()),
    "text, blank after": ("a", "a ", pa.string()),
    "text, other case": ("a", "A", pa.string()),
    "text, sharp s": ("strasse", "straße", pa.string()),
    "text, other form": ("\u00e9", "e\u0301", pa.string()),
    "uuid": (uuid.UUID(int=8).bytes, uuid.UUID(int=9).bytes, pa.uuid()),
    "date": (dt.date(2020, 1, 1), dt.date(2020, 1, 2), pa.date32()),
    "time of no zone": (
        dt.datetime(2020, 1, 1),
        dt.datetime(2020, 1, 1) + SECOND,
        in_zone(None),
    ),
    "time in UTC": (OCTOBER, OCTOBER + SECOND, in_zone("UTC")),
    "time in Berlin": (OCTOBER, OCTOBER + 3600 * SECOND, in_zone("Europe/Berlin")),
    "time in Kolkata": (OCTOBER, OCTOBER + SECOND, in_zone("Asia/Kolkata")),
    "bool": (True, False, pa.bool_()),
    "bytes": (b"a", b"b", pa.binary()),
}
CODED = (
    "int64",
    "decimal(20, 0)",
    "decimal(20, 2)",
    "float64",
    "text of a number",
    "date",
    "time in Berlin",
)
"""Those that are tried as a dictionary too."""

CELLS = """
                     frame csv parquet excel spss stata engine duckdb duckfile spark postgres
int64                2     2   2       f     f    f     2      2      2        2     2
uint64               2     2   2       f     -    -     2      2      2        2     2
decimal(18, 0)       2     2   2       f     -    -     2      2      2        2     2
decimal(20, 0)       2     2   2       f     -    -     2      2      2        2     2
decimal(38, 0)       2     2   2       f     -    -     2      2      2        2     2
decimal(60, 0)       2     2   2       f     -    -     2      u      -        -     2
decimal(20, 2)       2     2   2       f     -    -     2      2      2        2     2
hugeint              -     -   -       -     -    -     -      -      2        -     -
uhugeint             -     -   -       -     -    -     -      -      u        -     -
float64              f     2   f       f     f    f     f      f      f        f     f
float64, small       f     2   f       f     f    f     f      f      f        f     f
float32              f     2   f       2     2    2     f      f      f        f     f
text of a number     2     2   2       2     2    2     2      2      2        2     2
text, blank before   2     f   2       2     2    2     2      2      2        2     2
text, blank after    2     2   2       2     -    2     2      2      2        2     2
text, other case     2     2   2       2     2    2     2      2      2        2     2
text, sharp s        2     2   2       2     2    2     2      2      2        2     2
text, other form     2     2   2       2     2    2     2      2      2        2     2
uuid                 2     2   2       -     -    -     2      2      2        -     2
date                 2     2   2       2     2    2     2      2      2        2     2
time of no zone      2     2   2       -     2    2     2      2      2        2     2
time in UTC          2     2   2       -     -    -     2      2      2        2     2
time in Berlin       2     2   2       -     -    -     2      2      2        2     2
time in Kolkata      2     2   2       -     -    -     2      2      2        2     2
bool                 2     2   2       2     -    -     2      2      2        2     2
bytes                b     -   b       -     -    -     b      b      b        b     b
"""
LINES = [line for line in CELLS.splitlines() if line]
WAYS = LINES[0].split()
EXPECTED = {
    line[:21].strip(): dict(zip(WAYS, line[21:].split(), strict=True))
    for line in LINES[1:]
}
WORDS = {
    "f": (
        "'person' are numbers with a point or too many digits.*may have become one; "
        "export them as text"
    ),
    "b": (
        "'person' holds (bytes|values that are neither numbers nor dates nor texts).*write it "
        "as text"
        # a Parquet file is read without such a column
        "|the table has no column 'person'"
    ),
    "u": "DuckDB does not hand over the type of column 'person'.*write it as text",
}
Open = Callable[[pa.Table, dp.Schema, Path], Engine]


@dataclass(frozen=True)
class Shown:
    """A value whose text leaves something out."""

    number: int

    def __str__(self) -> str:
        return "somebody"


def people(kind: str, rows: int, *, coded: bool = False) -> pa.Table:
    """Two people of so many rows, the first one in the cell "a", the second in "b"."""
    one, other, dtype = IDS[kind]
    ids = pa.array(
        [one] * rows + [other] * rows, dtype if dtype is not None else pa.string()
    )
    table = pa.table({"person": ids, "x": ["a"] * rows + ["b"] * rows})
    return table.set_column(0, "person", ids.dictionary_encode()) if coded else table


def as_frame(table: pa.Table) -> pd.DataFrame:
    frame = table.to_pandas()
    if (
        pa.types.is_float32(table.schema.field(0).type)
        or table.schema.field(0).type != pa.uuid()
    ):
        return frame
    return frame.assign(
        person=[uuid.UUID(bytes=each.as_py().bytes) for each in table["person"]]
    )


def read(data: bytes, name: str, schema: dp.Schema) -> Engine:
    return FrameEngine(read_table(data, name).frame, schema, key=KEY)


def by_frame(table: pa.Table, schema: dp.Schema, folder: Path) -> Engine:
    return FrameEngine(as_frame(table), schema, key=KEY)


def by_csv(table: pa.Table, schema: dp.Schema, folder: Path) -> Engine:
    return read(as_frame(table).to_csv(index=False).encode(), "a.csv", schema)


def by_parquet(table: pa.Table, schema: dp.Schema, folder: Path) -> Engine:
    out = io.BytesIO()
    pq.write_table(table, out)
    return read(out.getvalue(), "a.parquet", schema)


def by_excel(table: pa.Table, schema: dp.Schema, folder: Path) -> Engine:
    rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
    return read(workbook([table.column_names, *map(list, rows)]), "a.xlsx", schema)


def by_statistics(
    table: pa.Table, schema: dp.Schema, folder: Path, *, ending: str
) -> Engine:
    import pyreadstat

    place = folder / f"a.{ending}"
    write = pyreadstat.write_sav if ending == "sav" else pyreadstat.write_dta
    write(as_frame(table), str(place))
    return read(place.read_bytes(), place.name, schema)


def written(table: pa.Table, folder: Path) -> Path:
    pq.write_table(table, folder / "a.parquet")
    return folder / "a.parquet"


def by_engine(table: pa.Table, schema: dp.Schema, folder: Path) -> Engine:
    return parquet_engine(written(table, folder), schema, key=KEY)


def by_duckdb(table: pa.Table, schema: dp.Schema, folder: Path) -> Engine:
    source = DuckDBSource(kind="parquet", location=str(written(table, folder)))
    return duckdb_engine(source, schema, key=KEY)


def by_duckfile(
    table: pa.Table, schema: dp.Schema, folder: Path, *, kind: str = ""
) -> Engine:
    import duckdb

    place = folder / f"{uuid.uuid4()}.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.register("given", table)
        ids = f"person::{kind}" if kind else "person"
        connection.execute(
            f"CREATE TABLE people AS SELECT {ids} AS person, x FROM given"
        )
    return duckdb_engine(
        DuckDBSource(kind="duckdb", location=str(place), table="people"),
        schema,
        key=KEY,
    )


POSTGRES = {
    pa.int64(): "bigint",
    pa.uint64(): "numeric(20, 0)",
    pa.float64(): "double precision",
    pa.float32(): "real",
    pa.string(): "text",
    pa.uuid(): "uuid",
    pa.date32(): "date",
    pa.bool_(): "boolean",
    pa.binary(): "bytea",
}


def by_postgres(table: pa.Table, schema: dp.Schema, folder: Path) -> Engine:
    place = postgres_schema()
    dtype = table.schema.field("person").type
    if pa.types.is_decimal(dtype):
        kind = f"numeric({dtype.precision}, {dtype.scale})"
    else:
        kind = POSTGRES.get(
            dtype, "timestamptz" if getattr(dtype, "tz", None) else "timestamp"
        )
    name = f"ids{uuid.uuid4().hex}"
    rows = [
        (each, x)
        for each, x in zip(
            as_frame(table)["person"], table["x"].to_pylist(), strict=True
        )
    ]
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {place}.{name} (person {kind}, x text)")
        texts = [
            (each if isinstance(each, bytes) else str(each), x) for each, x in rows
        ]
        connection.cursor().executemany(
            f"INSERT INTO {place}.{name} VALUES (%s::{kind}, %s)", texts
        )
    source = postgres_source(
        query=f"SELECT * FROM {place}.{name} ORDER BY random()", declared_by="tests"
    )
    return postgres_engine(source, schema, key=KEY)


OPEN: dict[str, Open] = {
    "frame": by_frame,
    "csv": by_csv,
    "parquet": by_parquet,
    "excel": by_excel,
    "spss": functools.partial(by_statistics, ending="sav"),
    "stata": functools.partial(by_statistics, ending="dta"),
    "engine": by_engine,
    "duckdb": by_duckdb,
    "duckfile": by_duckfile,
    "postgres": by_postgres,
}
EACH = [(kind, False) for kind in IDS] + [(kind, True) for kind in CODED]


def outcome(
    way: Open, kind: str, rows: int, folder: Path, *, coded: bool = False
) -> str:
    """The letter of a cell, by how exact counts change with each of the two people."""
    whole = people(kind, rows, coded=coded)
    schema = SCHEMA(unit=dp.PrivacyUnit(max_rows=rows, id_column="person"))

    def counts(table: pa.Table) -> np.ndarray:
        return way(table, schema, folder).counts([("x",)])[0].values

    try:
        every = counts(whole)
    except DpcoreError as error:
        return letter_of(error)
    return verdict(
        every, [counts(whole.slice(start, rows)) for start in (0, rows)], rows
    )


def letter_of(error: DpcoreError) -> str:
    """The letter of a refusal; its words where it is none of ours."""
    return next(
        (letter for letter, words in WORDS.items() if re.search(words, str(error))),
        str(error),
    )


def verdict(every: np.ndarray, alone: list[np.ndarray], rows: int) -> str:
    """Whether the counts of both, and of each alone, are those of two people."""
    moved = max(int(np.abs(every - other).sum()) for other in alone)
    return (
        "2" if moved == every.sum() - rows == rows else f"one person moves {moved} rows"
    )


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    "name",
    but_first(len(OPEN) - 2, OPEN),
)  # databases with a table for each type are slow
@pytest.mark.parametrize("rows", but_first(1, [3, 1]))
def test_two_ids_are_two_people_or_refused(
    name: str, rows: int, tmp_path: Path
) -> None:
    """Two people who become one move each other's rows: a charge of epsilon 1 would be
    a loss of 2.
    """
    found = {}
    expected = {}
    for kind, coded in EACH:
        letter = EXPECTED[kind][name]
        if letter == "-" or (coded and name not in ("frame", "parquet", "engine")):
            continue
        way = (
            functools.partial(by_duckfile, kind=kind)
            if IDS[kind][2] is None
            else OPEN[name]
        )
        expected[kind, coded] = letter
        found[kind, coded] = outcome(way, kind, rows, tmp_path, coded=coded)
    assert {
        each: letter for each, letter in found.items() if letter != expected[each]
    } == {}


@pytest.mark.parametrize(
    "ids",
    [
        pd.Series([2.0**53, 2.0**53 + 2, "a"], dtype=object),
        pd.Series(
            [np.longdouble(1), np.longdouble(1) + np.finfo(np.longdouble).eps, "a"],
            dtype=object,
        ),
        pd.Series(
            [2.0**53, 2.0**53 + 2],
            dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.float64())),
        ),
        pd.Series(pd.Categorical([2.0**53, 2.0**53 + 2])),
    ],
    ids=["objects", "long floats", "dictionary", "categories"],
)
def test_floats_are_no_ids_in_a_column_of_any_type(ids: pd.Series) -> None:
    """A word beside them made a column of objects, whose floats were taken: two long
    ones are one person.
    """
    schema = SCHEMA(unit=dp.PrivacyUnit(max_rows=1, id_column="person"))
    with pytest.raises(DpcoreError, match=WORDS["f"]):
        FrameEngine(
            pd.DataFrame({"person": ids, "x": ["a"] * len(ids)}), schema, key=KEY
        )


@pytest.mark.parametrize(
    "ids", [[Shown(1), Shown(2)], [pd.Timedelta(1), pd.Timedelta(2)], [(1,), (2,)]]
)
def test_objects_of_a_frame_are_no_ids(ids: list[object]) -> None:
    """Two objects that show themselves alike became one person."""
    schema = SCHEMA(unit=dp.PrivacyUnit(max_rows=1, id_column="person"))
    with pytest.raises(
        DpcoreError,
        match="'person' holds values that are neither numbers nor dates nor texts",
    ):
        FrameEngine(pd.DataFrame({"person": ids, "x": ["a", "b"]}), schema, key=KEY)


@pytest.mark.parametrize(
    "kind", ["date", "time of no zone", "time in Berlin", "uint64", "decimal(20, 0)"]
)
def test_columns_of_arrow_in_a_frame_are_those_of_pandas(kind: str) -> None:
    """Days and times with a zone in a frame of Arrow's types ended in the words of
    numpy.
    """
    table = people(kind, 1)
    frames = [table.to_pandas(types_mapper=mapper) for mapper in (None, pd.ArrowDtype)]
    texts = [canonicalize(frame["person"]).values for frame in frames]
    assert texts[0] == texts[1]
    assert len({*texts[0]}) == 2


@pytest.mark.parametrize("rows", [1, 3])
def test_two_ids_are_two_people_to_workers_of_spark(rows: int, tmp_path: Path) -> None:
    """Spark hands over whole numbers of 64 bits as decimals of 20 digits: 40 people
    were one.
    """
    kinds = [kind for kind in IDS if EXPECTED[kind]["spark"] != "-"]
    columns = [people(kind, rows)["person"] for kind in kinds]
    whole = pa.table(
        [*columns, people(kinds[0], rows)["x"]],
        names=[*map(str, range(len(kinds))), "x"],
    )
    came = (
        spark_session()
        .read.parquet(str(written(whole, tmp_path)))
        .orderBy("x")
        .toArrow()
    )
    mark = OwnerRankTask(
        names=("person", "x"), declared=("c1",), person="person", key=KEY
    )

    def counts(some: pa.Table) -> np.ndarray:
        marked = pa.Table.from_batches(mark(some.combine_chunks().to_batches()))
        if marked["p"].null_count:
            raise pickle.loads(marked["d"][0].as_py()).to_error()
        kept = marked.to_pandas().sort_values("d").groupby("p").head(rows)["c1"]
        return np.array([(kept == cell).sum() for cell in "ab"])

    found = {}
    for place, kind in enumerate(kinds):
        some = came.select([place, len(kinds)])
        try:
            alone = [counts(some.slice(start, rows)) for start in (0, rows)]
            found[kind] = verdict(counts(some), alone, rows)
        except DpcoreError as error:
            found[kind] = letter_of(error)
    assert found == {kind: EXPECTED[kind]["spark"] for kind in kinds}


def test_an_id_of_several_columns_is_refused_by_name() -> None:
    """Of people who are numbered anew in each hospital, only one column would be read,
    or the library would ask for "the name of a column".
    """
    columns = ("hospital", "patient_no")
    unit: dict[str, Any] = {"max_rows": 2, "id_column": columns}
    with pytest.raises(DpcoreError, match="not by 2: hospital, patient_no"):
        dp.PrivacyUnit(**unit)
    schema = dp.Schema(
        columns=(dp.Integer("x", low=0, high=1),), unit=dp.PrivacyUnit(max_rows=2)
    )
    written = json.loads(schema.to_json())
    written["unit"]["id_column"] = list(columns)
    with pytest.raises(DpcoreError, match="not by 2: hospital, patient_no"):
        dp.Schema.from_json(json.dumps(written))
