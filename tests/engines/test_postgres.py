"""A live data base of PostgreSQL: what its values become, one state a run, and words
that tell nothing.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pandas as pd
import psycopg
import pytest

import dpcore as dp
from dpcore.engines.connect import look
from dpcore.engines.frame import FrameEngine
from dpcore.engines.sql import postgres
from dpcore.engines.streaming.engine import ArrowEngine
from dpcore.schema.source import Source
from dpcore.schema.values import list_texts
from tests.contracts.engine_kinds import (
    postgres_engine,
    postgres_schema,
    postgres_source,
)
from tests.needs import need_driver

KEY = b"k" * 32
SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=9),
        dp.Categorical("job", categories=("a", "b"), other=True),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
QUARTER = dp.PureDP(epsilon="0.25")


@pytest.fixture(autouse=True)
def driver() -> None:
    """The tests here read tables in PostgreSQL."""
    need_driver()


@pytest.fixture
def place() -> Iterator[str]:
    """A table of 400 people, to which others write."""
    name = f"{postgres_schema()}.people"
    rows = (
        "SELECT i % 10 AS age, chr(97 + i % 3) AS job FROM generate_series(0, 399) AS i"
    )
    do(f"CREATE TABLE {name} AS {rows}")
    yield name
    do(f"DROP TABLE {name}")


def do(statement: str) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute(statement)


def source(query: str) -> Source:
    return postgres_source(query=query, declared_by="tests")


def curator_of(place: str) -> tuple[dp.Curator, ArrowEngine]:
    engine = postgres_engine(source(f"SELECT * FROM {place}"), SCHEMA, key=KEY)
    return dp.Curator.open(
        engine,
        SCHEMA,
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
        identity="people",
    ), engine


def states(curator: dp.Curator) -> list[str]:
    return [line.state for line in curator.lines()]


def seen(values: str) -> pd.DataFrame:
    """What a source with these rows shows."""
    named = source(f"SELECT * FROM (VALUES {values}) AS rows")
    return look(named, 10).frame


NASTY = {
    "numeric": ("12.10::numeric", "12.1"),
    "numeric(20,0)": ("12345678901234567001::numeric(20,0)", "12345678901234567001"),
    "numeric(8,2)": ("19.99::numeric(8,2)", "19.99"),
    "many digits": (f"{'7' * 60}.5::numeric", f"{'7' * 60}.5"),
    "whole": ("7.00::numeric", "7"),
    "uuid": (
        "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    ),
    "date": ("'2024-02-29'::date", "2024-02-29"),
    "bool": ("true", "True"),
    "bigint": ("9007199254740993::bigint", "9007199254740993"),
    "money": ("1.50::numeric::money", "1.5"),
    "oid": ("4294967295::oid", "4294967295"),
    "missing date": ("'infinity'::date", "(missing)"),
    "missing time": ("'-infinity'::timestamptz", "(missing)"),
    "missing number": ("'NaN'::numeric", "(missing)"),
    "missing real": ("'NaN'::float8", "(missing)"),
}


@pytest.mark.parametrize("name", NASTY)
def test_a_value_has_one_text(name: str) -> None:
    """19.99 would be another price, one of two digits of an id be lost, or a year of
    5874897 be counted.
    """
    written, text = NASTY[name]
    assert list_texts(seen(f"({written})")["column1"]) == [text]


def test_the_cell_of_a_number_is_exact() -> None:
    """0.1 of 19 digits fell below a cut at 0.1, and 19.99 was no declared category."""
    schema = dp.Schema(
        columns=(
            dp.Real("x", low=0.0, high=1.0, cuts=(0.1,)),
            dp.Categorical("price", categories=("19.99",), other=True),
            dp.Integer("id", low=0, high=9),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    query = (
        "SELECT 0.1::numeric(20, 19) AS x, 19.990::numeric AS price, 7::numeric(20, "
        "0) AS id"
    )
    counts = postgres_engine(source(query), schema, key=KEY).counts(
        [("x",), ("price",), ("id",)]
    )
    assert [int(each.values.argmax()) for each in counts] == [1, 0, 7]


def test_times_with_a_zone_are_instants() -> None:
    """The hour that an October has twice would be one time, and two people one."""
    shown = seen(
        "('2020-10-25 02:30+02'::timestamptz), ('2020-10-25 02:30+01'::timestamptz)"
    )["column1"]
    assert len({*list_texts(shown)}) == 2


@pytest.mark.parametrize(
    "kind",
    [
        "'a'::bytea",
        "array[1]",
        "interval '1 day'",
        "time '10:00'",
        "'1.2.3.4'::inet",
        "B'1'",
        "'<a/>'::xml",
        "'{}'::json",
        "int4range(1, 2)",
    ],
)
def test_what_has_no_text_is_refused_by_name(kind: str) -> None:
    """A value in some form of the driver would be a category that nobody declared."""
    with pytest.raises(dp.SchemaError, match="'column1'"):
        seen(f"({kind})")


def test_ids_of_many_digits_are_people(place: str) -> None:
    """40 people were one: a float holds 16 digits of their ids."""
    frame = pd.DataFrame(
        {"id": [Decimal(12345678901234567000 + i) for i in range(40)], "age": 1}
    )
    schema = dp.Schema(
        columns=SCHEMA.columns[:1], unit=dp.PrivacyUnit(max_rows=1, id_column="id")
    )
    for kind in ("numeric", "numeric(20, 0)", "text"):
        query = (
            f"SELECT (12345678901234567000 + i)::{kind} AS id, 1 AS age FROM "
            "generate_series(0, 39) AS i"
        )
        engine = postgres_engine(source(query), schema, key=KEY)
        assert (
            engine.people() == FrameEngine(frame, schema, key=KEY).people() == {1: 40}
        )
        assert engine.counts([()])[0].values == 40


@pytest.mark.parametrize("level", ["REPEATABLE READ", "READ COMMITTED"])
def test_a_run_reads_one_state(
    place: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts of half the old table and half the new one have no sensitivity that
    anybody knows.

    The usual level of PostgreSQL is the planted fault: this test would see it.
    """
    monkeypatch.setattr(
        postgres,
        "_BEGIN_STATEMENT",
        postgres._BEGIN_STATEMENT.replace("REPEATABLE READ", level),
    )
    _, engine = curator_of(place)

    def insert(rows: int) -> None:
        do(f"INSERT INTO {place} SELECT * FROM {place} LIMIT 1")

    with engine.hold_state():
        engine._on_rows = insert
        found = [sum(engine.texts("job").values()) for _ in range(2)]
    assert (found == [400, 400]) == (level == "REPEATABLE READ")


def test_a_changed_number_of_rows_is_seen_before_the_charge(place: str) -> None:
    """One INSERT between opening and a run cost the charge of every run until the table
    was opened anew.
    """
    curator, _ = curator_of(place)
    curator.run(dp.Histogram("age"), QUARTER)
    do(f"INSERT INTO {place} VALUES (1, 'a')")
    with pytest.raises(
        dp.ReadError, match=r"has changed since it was opened; open it again"
    ):
        curator.run(dp.Histogram("job"), QUARTER)
    assert states(curator) == ["opened", "reserved", "committed"]
    again, _ = curator_of(place)
    again.run(dp.Histogram("job"), QUARTER)


def test_a_connection_that_is_lost_in_a_run(place: str) -> None:
    """The charge stays, the words tell nothing, and the next run connects again."""
    engine = postgres_engine(source(f"SELECT * FROM {place}"), SCHEMA, key=KEY)
    budget = dp.ApproxDP(epsilon="4", delta="1e-6", threshold_delta="5e-7")
    curator = dp.Curator.open(
        engine, SCHEMA, budget=budget, ledger=dp.MemoryLedger(), identity="people"
    )
    recipe = dp.Categories(column="job", delta="1e-7")

    def cut(rows: int) -> None:
        do(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE pid != pg_backend_pid() AND query LIKE '%{place}%'",
        )

    going_on = engine._on_rows
    engine._on_rows = cut
    with pytest.raises(dp.ReadError, match="could not be read") as lost:
        curator.run(recipe, QUARTER)
    assert place not in str(lost.value)
    assert lost.value.__cause__ is None
    assert states(curator) == ["opened", "reserved", "failed"]
    engine._on_rows = going_on
    curator.run(recipe, QUARTER)
    assert states(curator)[-1] == "committed"


def test_a_transaction_only_reads_and_ends() -> None:
    """A query could write, see other people's changes in mid-run, or hold up the data
    base for ever.
    """
    settings = (
        "transaction_isolation",
        "transaction_read_only",
        "TimeZone",
        "statement_timeout",
        "idle_in_transaction_session_timeout",
    )
    shown = seen(
        "(" + ", ".join(f"current_setting('{name}')" for name in settings) + ")"
    )
    assert shown.iloc[0].tolist() == ["repeatable read", "on", "UTC", "1h", "1h"]
    for query in (
        "SELECT nextval('s')",
        "SELECT 1; DROP TABLE people",
        "WITH x AS (DELETE FROM a RETURNING *) SELECT * FROM x",
    ):
        with pytest.raises((dp.ReadError, dp.ParameterError)):
            postgres_engine(source(query), SCHEMA, key=KEY)


@pytest.mark.parametrize(
    "values", ["('hunter2'::int)", "(1), (1 / 0)", "((SELECT 1 FROM hunter2))"]
)
def test_words_of_the_driver_are_repeated_nowhere(values: str) -> None:
    """PostgreSQL quotes the value that it could not take, and ADBC the whole query."""
    with pytest.raises(dp.ReadError) as refused:
        seen(values)
    assert "hunter2" not in str(refused.value)
    assert "SELECT" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


def test_a_query_that_takes_long_can_be_left() -> None:
    """A view of hours would keep a page, and the data base, until somebody restarts
    it.
    """

    class Gone(Exception):
        pass

    def leave(rows: int) -> None:
        raise Gone

    slow = source("SELECT 1 AS age FROM pg_sleep(600)")
    with pytest.raises(Gone):
        look(slow, 5, leave)
    left = (
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE "
        "'%pg_sleep(600)%'"
    )
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        assert connection.execute(f"{left} AND pid != pg_backend_pid()").fetchone() == (
            0,
        )


def test_a_column_that_is_there_twice(place: str) -> None:
    """One of the two would be counted, and nobody knows which."""
    with pytest.raises(dp.SchemaError, match="more than one column 'age'"):
        postgres_engine(source(f"SELECT age, age FROM {place}"), SCHEMA, key=KEY)
    with pytest.raises(dp.SchemaError, match="has no rows"):
        postgres_engine(source(f"SELECT * FROM {place} WHERE false"), SCHEMA, key=KEY)


@pytest.mark.proof
@pytest.mark.parametrize("person", [None, "who"])
def test_two_million_rows_are_counted_as_the_server_counts_them(
    person: str | None,
) -> None:
    """A batch would be lost or counted twice, which small tables do not show."""
    name = f"{postgres_schema()}.visits"
    do(
        f"CREATE TABLE {name} AS SELECT i / 2 AS who, (i % 7919 * 7 / 13) % 10 AS age, "
        "chr(97 + i / 3 % 3) AS job FROM generate_series(0, 1999999) AS i"
    )
    try:
        schema = dataclasses.replace(
            SCHEMA, unit=dp.PrivacyUnit(max_rows=2, id_column=person)
        )
        described = postgres_source(table=name, columns=("who", "age", "job"))
        rows = postgres_engine(described, schema, key=KEY)
        (table,) = rows.counts([("age", "job")])
        with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
            counted = connection.execute(
                f"SELECT age, CASE job WHEN 'a' THEN 0 WHEN 'b' THEN 1 ELSE 2 END, "
                f"count(*) FROM {name} GROUP BY 1, 2"
            ).fetchall()
        expected = np.zeros((10, 3), dtype=np.int64)
        for age, job, number in counted:
            expected[age, job] = number
        assert expected.sum() == 2_000_000
        assert table.values.tolist() == expected.tolist()
        if person is not None:
            assert rows.people() == {2: 1_000_000}
    finally:
        do(f"DROP TABLE {name}")
