"""Sources described by fields: adding a person changes the rows by exactly hers,
whatever is described.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dpcore as dp
from dpcore.engines.connect import engine_of, look
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.schema.source import COMPARISONS, Condition, Join, Source
from tests.contracts.engine_kinds import duckdb_engine, postgres_schema, postgres_source
from tests.needs import need_driver
from tests.tiers import examples

KEY = b"k" * 32
PEOPLE = ["A", "a", "b", "é", "e\u0301", " b", "7"]
VISITS = (
    "CREATE TABLE visits (person VARCHAR COLLATE nocase, x VARCHAR, y INTEGER, zip "
    "VARCHAR)"
)
ABOUT = "CREATE TABLE people (person VARCHAR COLLATE nocase, sex VARCHAR)"
ZIPS = "CREATE TABLE zips (code VARCHAR COLLATE nocase, region VARCHAR)"
REGIONS = [("10", "north"), ("a", "south"), ("A", "west")]

BOTH = ([("A", "1", 1, "10"), ("a", "1", 2, "10")], {"A": "F", "a": "M"})

cells = st.sampled_from(["1", "A", "ten", "'", None])
visits = st.tuples(
    st.sampled_from(PEOPLE),
    cells,
    st.none() | st.integers(0, 3),
    st.sampled_from(["10", "a", "B", None]),
)
tables = st.tuples(
    st.lists(visits, max_size=6),
    st.dictionaries(st.sampled_from(PEOPLE), st.sampled_from(["F", "M", None])),
)
values = st.sampled_from(
    ["1", "2.5", "F", "north", 1, 2.5, True, pd.Timestamp("2020-01-01").date()]
)
conditions = st.builds(
    Condition,
    column=st.sampled_from(["person", "x", "y", "sex", "region"]),
    comparison=st.sampled_from(COMPARISONS),
    value=values,
)
SEX = Join(table="people", on="person", columns=("sex",))
REGION = Join(table="zips", on="zip", key="code", columns=("region",), public=True)


def described(**fields: Any) -> DuckDBSource:
    return DuckDBSource(kind="duckdb", location="", table="visits", **fields)


sources = st.builds(
    described,
    columns=st.lists(
        st.sampled_from(["person", "x", "zip"]), unique=True, min_size=1
    ).map(tuple),
    joins=st.just((SEX, REGION)),
    where=st.lists(conditions, max_size=2).map(tuple),
)


def rows_of(source: DuckDBSource, attached: Any, data: Any) -> Counter[tuple[Any, ...]]:
    """What a source gives of these visits and people, each row with how often it is
    there.
    """
    for table, rows in (("visits", data[0]), ("people", list(data[1].items()))):
        attached.execute(f"DELETE FROM {table}")
        if rows:
            attached.executemany(
                f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows
            )
    source._prepare(attached)
    return Counter(attached.sql(f"SELECT * FROM {source.from_clause}").fetchall())


@pytest.fixture(scope="module")
def attached() -> Iterator[Any]:
    """The tables of a data base, empty, where a source looks for them."""
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS attached")
        connection.execute(f"USE attached; {VISITS}; {ABOUT}; {ZIPS}")
        connection.executemany("INSERT INTO zips VALUES (?, ?)", REGIONS)
        yield connection


def changed_by_others(
    ask: Callable[[Any], Counter[tuple[Any, ...]]], data: Any
) -> bool:
    """Whether the rows with a person are not those without her and those of her
    alone.
    """
    for person in PEOPLE[:2]:
        hers, others = (
            (
                [row for row in data[0] if (row[0] == person) == same],
                {
                    name: sex
                    for name, sex in data[1].items()
                    if (name == person) == same
                },
            )
            for same in (True, False)
        )
        parts = ask(hers) + ask(others)
        if ask(data) != parts or parts.total() > len(data[0]):
            return True
    return False


@examples(30)
@given(source=sources, data=tables)
@example(source=described(columns=("person", "x"), joins=(SEX, REGION)), data=BOTH)
@example(source=described(columns=("x",)), data=BOTH)
@example(
    source=described(columns=("x",), joins=(SEX,)),
    data=([("b", "A", 1, "10")], {"A": "F"}),
)
def test_a_person_changes_her_own_rows_alone(
    source: DuckDBSource, data: Any, attached: Any
) -> None:
    """A description that moves somebody else's row makes epsilon a number without a
    meaning.
    """
    assert not changed_by_others(functools.partial(rows_of, source, attached), data)


IMPOSTORS = (
    "CREATE VIEW counted AS SELECT *, count(*) OVER () AS n FROM visits",
    "CREATE MATERIALIZED VIEW kept AS SELECT * FROM visits",
    (
        "CREATE FUNCTION others(visits) RETURNS bigint LANGUAGE sql AS 'SELECT "
        "count(*) "
        "FROM visits'"
    ),
    "CREATE TABLE secured (x text)",
    "ALTER TABLE secured ENABLE ROW LEVEL SECURITY",
)


@pytest.fixture(scope="module")
def clinic() -> Iterator[tuple[str, Any]]:
    """Schema and connection of the same tables in PostgreSQL, and of what looks like
    one and is none.
    """
    need_driver()
    name = f"{postgres_schema()}_clinic"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        connection.execute(f"SET search_path = {name}")
        fold = "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        connection.execute(f"CREATE COLLATION nocase {fold}")
        for each in (VISITS, ABOUT, ZIPS):
            connection.execute(each)
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO zips VALUES (%s, %s)", REGIONS)
        for each in IMPOSTORS:
            connection.execute(each)
        connection.execute(
            f"CREATE FOREIGN DATA WRAPPER {name}; CREATE SERVER {name} FOREIGN DATA "
            f"WRAPPER {name};"
            "CREATE TABLE split (person VARCHAR, x VARCHAR) PARTITION BY LIST (x);"
            "CREATE TABLE split_x PARTITION OF split FOR VALUES IN ('x') PARTITION "
            "BY LIST (x);"
            "CREATE FOREIGN TABLE split_elsewhere PARTITION OF split_x DEFAULT "
            f"SERVER {name}",
        )
        yield name, connection
        connection.execute(
            f"DROP SCHEMA {name} CASCADE; DROP FOREIGN DATA WRAPPER {name} CASCADE"
        )


def rows_in_postgres(
    source: Source, clinic: tuple[str, Any], data: Any
) -> Counter[tuple[Any, ...]]:
    """The same through PostgreSQL."""
    _, connection = clinic
    with connection.transaction(), connection.cursor() as cursor:
        for table, rows in (("visits", data[0]), ("people", list(data[1].items()))):
            cursor.execute(f"DELETE FROM {table}")
            cursor.executemany(
                (
                    f"INSERT INTO {table} VALUES "
                    f"({', '.join(['%s'] * (4 - 2 * (table == 'people')))})"
                ),
                rows,
            )
    frame = look(source, 100).frame
    return Counter(
        frame.astype(object)
        .where(frame.notna(), None)
        .itertuples(index=False, name=None)
    )


def in_clinic(place: str, **fields: Any) -> Source:
    joins = tuple(
        dataclasses.replace(each, table=f"{place}.{each.table}")
        for each in fields.pop("joins", ())
    )
    return postgres_source(
        table=f"{place}.{fields.pop('table', 'visits')}", joins=joins, **fields
    )


@settings(max_examples=8, deadline=None)
@given(
    where=st.lists(st.sampled_from(["person", "x", "sex", "region"]), max_size=2),
    value=st.sampled_from(["1", "F", "a", "north"]),
    comparison=st.sampled_from(COMPARISONS),
    number=st.sampled_from([1, 1.5]),
    data=tables,
)
@example(where=[], value="1", comparison="=", number=0, data=BOTH)
@pytest.mark.proof
def test_a_person_changes_her_own_rows_alone_in_postgres(
    where: list[str],
    value: str,
    comparison: str,
    number: float,
    data: Any,
    clinic: tuple[str, Any],
) -> None:
    """The same, where another data base compares; with a collation to which "A" and "a"
    are equal.
    """
    conditions = [
        Condition(column=column, comparison=comparison, value=value) for column in where
    ]
    conditions.append(Condition(column="y", comparison=">=", value=number))
    columns = ("person", "x", "y")
    source = in_clinic(
        clinic[0], columns=columns, joins=(SEX, REGION), where=tuple(conditions)
    )
    assert not changed_by_others(
        functools.partial(rows_in_postgres, source, clinic), data
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"table": "counted"},
        {"table": "kept"},
        {"table": "secured"},
        {"table": "split"},
        {"table": "missing"},
        {"table": "visits", "columns": ("x", "ctid")},
        {"table": "visits", "columns": ("x", "xmin")},
        {"table": "visits", "columns": ("x", "others")},
        {
            "table": "visits",
            "where": (Condition(column="others", comparison="<", value=1),),
        },
    ],
)
def test_a_view_of_postgres_is_no_base_table(
    clinic: tuple[str, Any], fields: dict[str, Any]
) -> None:
    """A function is written like a column there, and counts all rows; a policy may look
    at them, too.
    """
    with pytest.raises(dp.SchemaError, match="not a base table"):
        look(in_clinic(clinic[0], **fields), 5)


def test_an_operator_of_the_data_base_compares_nothing(clinic: tuple[str, Any]) -> None:
    """One that fits a column better than a usual one may look at all rows, as a view
    may.
    """
    name, connection = clinic
    others = f"SELECT count(*) > 1 FROM {name}.visits"
    connection.execute("DELETE FROM visits")  # those of the tests before
    connection.execute(
        "INSERT INTO visits VALUES ('A', 'x', 1, '10'), ('b', 'x', 2, '10')"
    )
    connection.execute(
        "CREATE FUNCTION more(integer, numeric) RETURNS boolean LANGUAGE sql AS "
        f"'{others}'"
    )
    connection.execute(
        "CREATE OPERATOR public.= (LEFTARG = integer, RIGHTARG = numeric, FUNCTION = "
        "more)"
    )
    try:
        where = (Condition(column="y", comparison="=", value=2),)
        frame = look(in_clinic(name, columns=("person", "y"), where=where), 5).frame
        assert frame["person"].tolist() == ["b"]
    finally:
        connection.execute(
            (
                "DROP OPERATOR public.= (integer, numeric); DROP FUNCTION more; DELETE "
                "FROM visits"
            ),
        )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT *, count(*) OVER () FROM visits",
        "SELECT * FROM visits ORDER BY y LIMIT 1",
        "SELECT x, count(*) FROM visits GROUP BY x",
        "SELECT DISTINCT x FROM visits",
        "SELECT x, sex FROM visits JOIN people USING (person)",
        "SELECT x FROM visits UNION SELECT '1'",
        "SELECT x, unnest([1, 2]) FROM visits",
    ],
)
def test_what_never_enters_by_fields_is_noticed(query: str, attached: Any) -> None:
    """The check above would pass for any description: each of these moves a row of
    another person.
    """
    source = DuckDBSource(kind="duckdb", location="", query=query, declared_by="Ada")
    assert changed_by_others(functools.partial(rows_of, source, attached), BOTH)


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A file of DuckDB with tables, views and macros over them."""
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(f"{VISITS}; {ABOUT}; {ZIPS}")
        connection.executemany(
            "INSERT INTO visits VALUES (?, ?, ?, ?)",
            [(*"Ax", 1, "10"), (*"bx", 2, "a")],
        )
        connection.executemany("INSERT INTO zips VALUES (?, ?)", REGIONS)
        connection.execute(
            "CREATE VIEW counted AS SELECT *, count(*) OVER () AS n FROM visits;"
            "CREATE MACRO all_of() AS TABLE SELECT *, count(*) OVER () AS n FROM "
            "visits;"
            "CREATE TABLE fails (x VARCHAR, y VARCHAR AS (CASE x WHEN 'x' THEN "
            "error('found') ELSE x END))",
        )
        connection.execute("INSERT INTO fails VALUES ('1')")
    return str(tmp_path / "clinic.duckdb")


SCHEMA = dp.Schema(
    columns=(dp.Categorical("x", categories=("x",), other=True, missing=True),),
    unit=dp.PrivacyUnit(max_rows=1),
)


@pytest.mark.parametrize(
    "fields",
    [
        {"table": "counted"},
        {"table": "all_of"},
        {"table": "all_of()"},
        {"table": "missing"},
        {"table": "fails"},
        {"table": "visits", "columns": ("x", "rowid")},
        {
            "table": "visits",
            "where": (Condition(column="rowid", comparison="<", value=1),),
        },
        {"table": "visits", "columns": ("x", "count(*) OVER ()")},
        {
            "table": "visits",
            "columns": ("x",),
            "joins": (dataclasses.replace(REGION, table="counted"),),
        },
        {"table": "duckdb_tables", "columns": ("x",)},
        {"table": "information_schema.tables"},
    ],
)
def test_a_view_is_no_base_table(place: str, fields: dict[str, Any]) -> None:
    """A window in a view, a place in the file, or an error on one row would show one
    person for sure.
    """
    source = Source(name="clinic", kind="duckdb", location=place, **fields)
    for ask in (lambda: engine_of(source, SCHEMA, key=KEY), lambda: look(source, 5)):
        with pytest.raises(dp.SchemaError, match="not a base table"):
            ask()


def test_a_macro_of_the_file_takes_no_functions_place(place: str) -> None:
    """A macro with the name of a function that the program calls may look at all rows,
    as a view may.
    """
    with duckdb.connect(place) as connection:
        connection.execute(
            "CREATE MACRO getvariable(name) AS (SELECT count(*) FROM visits)"
        )
    where = (Condition(column="y", comparison="=", value=1),)
    source = Source(
        name="clinic",
        kind="duckdb",
        location=place,
        table="visits",
        columns=("x", "y"),
        where=where,
    )
    assert look(source, 5).frame["y"].tolist() == [1]


def test_a_view_on_somebodys_word(place: str) -> None:
    """Who has a harmless view could not use it; that it is harmless is her word."""
    source = Source(
        name="clinic", kind="duckdb", location=place, table="counted", declared_by="Ada"
    )
    assert engine_of(source, SCHEMA, key=KEY).counts([()])[0].values == 2


def test_an_engine_says_whose_word_its_source_is(place: str) -> None:
    """A script that makes the engine itself got guarantees without the name, and any
    join that it liked.
    """
    fields: dict[str, Any] = {"kind": "duckdb", "location": place}
    source = DuckDBSource(query="SELECT * FROM visits", declared_by="Ada", **fields)
    ledger = dp.MemoryLedger()
    engine = duckdb_engine(source, SCHEMA, key=ledger.key)
    curator = dp.Curator.open(
        engine, SCHEMA, budget=dp.PureDP(epsilon="1"), ledger=ledger
    )
    assert (
        curator.run(dp.Histogram("x"), dp.PureDP(epsilon="1")).guarantee.declared_by
        == "Ada"
    )
    with pytest.raises(dp.SchemaError, match="does not name the person"):
        duckdb_engine(
            DuckDBSource(table="visits", columns=("x",), joins=(SEX,), **fields),
            SCHEMA,
            key=ledger.key,
        )


def test_a_key_that_is_there_twice(place: str) -> None:
    """One row would give two: more than max_rows of a person."""
    with duckdb.connect(place) as connection:
        connection.execute("INSERT INTO zips VALUES ('10', 'elsewhere')")
    source = Source(
        name="clinic",
        kind="duckdb",
        location=place,
        table="visits",
        columns=("x", "zip"),
        joins=(REGION,),
    )
    with pytest.raises(dp.SchemaError, match="there twice"):
        engine_of(source, SCHEMA, key=KEY)


def test_private_tables_are_joined_by_the_person(place: str) -> None:
    """Joined by another column, a row of one person would hold what was said of
    somebody else.
    """
    columns = ("person", "x")
    source = Source(
        name="clinic",
        kind="duckdb",
        location=place,
        table="visits",
        columns=columns,
        joins=(SEX,),
    )
    with pytest.raises(dp.SchemaError, match="does not name the person"):
        engine_of(source, SCHEMA, key=KEY)
    named = dataclasses.replace(
        SCHEMA, unit=dp.PrivacyUnit(max_rows=1, id_column="person")
    )
    assert engine_of(source, named, key=KEY).counts([()])[0].values == 2


def test_a_name_from_a_public_table_joins_nobody(place: str) -> None:
    """The column "person" of the first table would be compared, and that of the public
    table protected.
    """
    joins = (dataclasses.replace(REGION, columns=("person",)), SEX)
    source = Source(
        name="clinic",
        kind="duckdb",
        location=place,
        table="visits",
        columns=("x",),
        joins=joins,
    )
    named = dataclasses.replace(
        SCHEMA, unit=dp.PrivacyUnit(max_rows=1, id_column="person")
    )
    with duckdb.connect(place) as connection:
        connection.execute("ALTER TABLE zips RENAME region TO person")
    with pytest.raises(dp.SchemaError, match="does not name the person"):
        engine_of(source, named, key=KEY)


def test_a_condition_does_not_fail_on_a_row(tmp_path: Path) -> None:
    """A text among numbers would end the run of everybody; as a text, 10 comes before
    9.
    """
    (tmp_path / "a.csv").write_text('x;y\nx;10\n"x";9\nx;ten\nx;\n"a;b";11\n')
    source = Source(name="a", kind="csv", location=str(tmp_path / "a.csv"))

    def count(value: Any) -> int:
        where = (Condition(column="y", comparison=">=", value=value),)
        engine = engine_of(dataclasses.replace(source, where=where), SCHEMA, key=KEY)
        return int(engine.counts([()])[0].values)

    assert [count(9), count(10), count("9"), count("1")] == [3, 2, 2, 4]


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "duckdb"},
        {"kind": "csv", "table": "visits"},
        {"kind": "duckdb", "query": "SELECT 1"},
        {
            "kind": "duckdb",
            "query": "SELECT 1",
            "table": "visits",
            "declared_by": "Ada",
        },
        {"kind": "spark", "query": "SELECT 1", "declared_by": "Ada"},
        {"kind": "duckdb", "table": "visits", "joins": (SEX,)},
        {"kind": "duckdb", "table": "visits", "columns": ("sex",), "joins": (SEX,)},
        {"kind": "parquet", "columns": ("x",), "joins": (SEX,)},
        {"kind": "duckdb", "table": "visits", "columns": ("x", "X")},
        {"kind": "parquet", "delimiter": ";"},
        {"kind": "csv", "delimiter": '"'},
    ],
)
def test_what_no_source_is(fields: dict[str, Any]) -> None:
    """A slip in the list would read other rows, or free SQL without anybody's word."""
    with pytest.raises(dp.ParameterError):
        Source(name="clinic", location="/none", **fields)


@pytest.mark.parametrize(
    ("comparison", "value"),
    [("LIKE", "a"), ("=", None), ("=", 2**53 + 1), ("=", [1]), ("=", float("nan"))],
)
def test_what_no_condition_is(comparison: str, value: Any) -> None:
    """A number that a comparison would round takes in other people's rows without a
    word.
    """
    with pytest.raises(dp.ParameterError, match="a condition"):
        Condition(column="x", comparison=comparison, value=value)


@pytest.mark.parametrize("where", ["first", "last"])
def test_no_row_of_csv_decides_how_the_others_are_read(
    tmp_path: Path, where: str
) -> None:
    """One person with two apostrophes decided whether the table opens: all rows were
    asked how to read it.
    """
    rows = ["a,F", "b,M"]
    rows.insert(0 if where == "first" else 2, "','")
    (tmp_path / "a.csv").write_text("\n".join(["note,sex", *rows, ""]))
    frame = look(
        Source(name="a", kind="csv", location=str(tmp_path / "a.csv")), 5
    ).frame
    assert frame.columns.tolist() == ["note", "sex"]
    assert sorted(frame["sex"]) == ["'", "F", "M"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_dialect_of_csv(tmp_path: Path, delimiter: str, end: str) -> None:
    """RFC 4180 and no other: comments, empty first lines and other quotes are
    values.
    """
    lines = ["\ufeffnote;sex", "#x;'", '"a"";\nb";F', "--;NULL"]
    text = (
        end.join([*lines, ""]).replace(";", delimiter).replace(f'""{delimiter}', '"";')
    )
    (tmp_path / "a.csv").write_bytes(text.encode())
    told = delimiter if delimiter == "^" else ""
    source = Source(
        name="a", kind="csv", location=str(tmp_path / "a.csv"), delimiter=told
    )
    frame = look(source, 5).frame
    assert frame["note"].tolist() == ["#x", 'a";\nb', "--"]
    assert frame["sex"].tolist() == ["'", "F", "NULL"]


@pytest.mark.parametrize("header", ["", "a,a", "a,A", '"a'])
def test_a_header_that_names_no_columns(tmp_path: Path, header: str) -> None:
    """Columns would be named by the first person's values, or two would be taken for
    one.
    """
    (tmp_path / "a.csv").write_text(f"{header}\n1,2\n")
    with pytest.raises(dp.ReadError, match="must name every column"):
        look(Source(name="a", kind="csv", location=str(tmp_path / "a.csv")), 5)
