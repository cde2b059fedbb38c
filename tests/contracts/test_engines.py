"""What every engine promises, once for all of them: exact counts, the rows that count,
which table it is.

A new engine is put into `ENGINES`; `test_every_engine_is_here` fails until it is.
"""

from __future__ import annotations

import functools
import importlib
import io
import itertools
import os
import pkgutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcore as dp
import dpcore.engines
from dpcore.anonymization import KAnonymity, Plan, apply
from dpcore.anonymization.choices import SuppressedTreatment
from dpcore.anonymization.hierarchies.suggest import suggest_together
from dpcore.anonymization.levels import read_distinct
from dpcore.anonymization.models import DistinctL
from dpcore.anonymization.streamed import ExpectedClasses, RowRecoder
from dpcore.engines._cells import cells_of
from dpcore.engines.base import Engine
from dpcore.engines.connect import Connection
from dpcore.engines.frame import FrameEngine
from dpcore.engines.linked import ViewEngine
from dpcore.engines.spark.engine import SparkEngine
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.engines.streaming import _kept_rows as kept_rows
from dpcore.errors import SchemaError
from dpcore.io.read import read_table
from dpcore.schema.role import Role
from dpcore.schema.values import list_texts
from dpcore.tables.digests import fingerprint, lowest_ranked_rows
from dpcore.tables.people import person_codes
from dpcore.tables.rows import CodedRows, DistinctRows, Microdata
from dpcore.tables.sums import to_levels
from tests.contracts.engine_kinds import (
    ENGINES,
    duckdb_engine,
    parquet_engine,
    spark_session,
)
from tests.tiers import but_first

Make = Callable[..., Engine]
KEY = b"k" * 32
COLUMNS = (
    dp.Integer("age", low=0, high=9),
    dp.Categorical("sex", categories=("F", "M")),
    dp.Categorical(
        "job",
        categories=("a", "b", "c"),
        other=True,
        missing=True,
        missing_tokens=("?",),
    ),
)


@pytest.fixture(params=ENGINES)
def each(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Makes an engine of a frame, a schema and a key."""
    return functools.partial(ENGINES[request.param][1], tmp_path)


@pytest.fixture(params=[kind for kind in ENGINES if kind != "spark"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """The same without Spark, which takes seconds for each of the many small tables
    here.
    """
    return functools.partial(ENGINES[request.param][1], tmp_path)


def test_every_engine_is_here() -> None:
    """An engine that this suite does not know could count what it likes."""
    found = set()
    for info in pkgutil.walk_packages(dpcore.engines.__path__, "dpcore.engines."):
        module = importlib.import_module(info.name)
        for name, member in vars(module).items():
            if (
                name.endswith("Engine")
                and member is not Engine
                and member.__module__ == module.__name__
            ):
                found.add(member)
    # a view of two linked tables counts as the engine that it is made of, and hands out
    # the rows of both
    own = {name for name, member in vars(ViewEngine).items() if callable(member)}
    assert own == {"__init__", "linked_rows"}
    assert ViewEngine.__bases__ == (FrameEngine,)
    assert found - {ViewEngine} == {kind for kind, _ in ENGINES.values()}
    assert set(Connection.kinds()) - {"csv"} <= set(ENGINES)  # which DuckDB reads


def table(rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "person": [f"p{i}" for i in rng.integers(0, 80, rows)],
            "age": rng.integers(0, 10, rows),
            "sex": rng.choice(["F", "M"], rows),
            "job": rng.choice(["a", "b", "c", "d", "?", None], rows),
        },
    )


def engine(
    make: Make,
    frame: pd.DataFrame,
    *,
    max_rows: int = 1,
    id_column: str | None = None,
    key: bytes = KEY,
) -> Engine:
    unit = dp.PrivacyUnit(max_rows=max_rows, id_column=id_column)
    return make(frame, dp.Schema(columns=COLUMNS, unit=unit), key=key)


def test_counts_against_counting_by_hand(make: Make) -> None:
    """Every clique, in every order of its columns, must be counted as a person would
    count it.
    """
    frame = table()
    cell = {
        "age": lambda age: age,
        "sex": ["F", "M"].index,
        "job": lambda job: (
            4
            if job in ("?", None) or pd.isna(job)
            else "abc".find(job)
            if job in "abc"
            else 3
        ),
    }
    names = list(cell)
    cliques = [clique for n in range(4) for clique in itertools.permutations(names, n)]
    for clique, counts in zip(
        cliques, engine(make, frame).counts(cliques), strict=True
    ):
        by_hand = Counter(
            tuple(cell[name](row[name]) for name in clique)
            for _, row in frame.iterrows()
        )
        assert counts.clique == clique
        assert counts.values.dtype == np.int64
        assert counts.values.shape == tuple(
            {"age": 10, "sex": 2, "job": 5}[name] for name in clique
        )
        assert {
            tuple(map(int, i)): counts.values[i]
            for i in np.ndindex(counts.values.shape)
            if counts.values[i]
        } == by_hand


def test_counts_of_a_part(make: Make) -> None:
    """A part must hold its own rows, all of them, and no others; the parts add up to
    the whole.
    """
    frame = table()
    whole = engine(make, table())
    for clique in ((), ("age",), ("age", "sex")):
        female, male = (
            whole.counts([clique], part=("sex", sex))[0].values for sex in "FM"
        )
        assert (female + male == whole.counts([clique])[0].values).all()
    assert (
        whole.counts([()], part=("sex", "F"))[0].values == (frame["sex"] == "F").sum()
    )
    missing = whole.counts([("job",)], part=("job", "(missing)"))[0].values
    assert missing[:4].sum() == 0
    assert missing[4] > 0
    with pytest.raises(dp.ParameterError, match="not a declared cell"):
        whole.counts([()], part=("sex", "X"))


HOSTILE = (
    'a"b',
    "rows; --",
    " person",
    "c0",
    "Größe\n\u202e",
    "n",
    "'; DROP TABLE source",
)
ALL_KINDS = dp.Schema(
    columns=(
        dp.Integer(
            HOSTILE[0], low=0, high=40, bin_width=7, missing=True, special=(99,)
        ),
        dp.Real(
            HOSTILE[1],
            low=-1.0,
            high=1.0,
            cuts=(0.0, 0.25),
            missing=True,
            special=(0.0,),
        ),
        dp.Categorical(
            HOSTILE[2],
            categories=("x", "7", "ß"),
            other=True,
            missing=True,
            missing_tokens=("?",),
        ),
        dp.Date(HOSTILE[3], low="2020-01-01", high="2021-12-31", missing=True),
        dp.Boolean(HOSTILE[4], missing=True),
        dp.Categorical(HOSTILE[5], categories=(1, 2, 3), other=True),
    ),
    unit=dp.PrivacyUnit(max_rows=2, id_column=HOSTILE[6]),
)


def hostile_table(rows: int) -> pd.DataFrame:
    """Every kind of column with missing, clipped and undeclared cells, under names that
    try to break out.
    """
    rng = np.random.default_rng(rows)
    days = pd.to_datetime("2019-12-01") + pd.to_timedelta(
        rng.integers(0, 900, rows), unit="D"
    )
    columns = (
        pd.Series(rng.integers(-3, 100, rows))
        .astype("Int64")
        .mask(rng.random(rows) < 0.1),
        pd.Series(rng.choice([0.0, -0.0, 0.1, np.nan, 5.0, np.inf], rows)),
        pd.Series(
            rng.choice(["x", "7", "ß", "é", "?", "", None, " x"], rows), dtype="str"
        ),
        pd.Series(days).astype("datetime64[ms]").mask(rng.random(rows) < 0.1),
        pd.Series(rng.choice([True, False], rows))
        .astype("boolean")
        .mask(rng.random(rows) < 0.1),
        pd.Series(rng.integers(0, 6, rows), dtype="int8"),
        pd.Series(
            np.where(
                rng.random(rows) < 0.4,
                "one with many rows",
                rng.integers(0, 60, rows).astype(str),
            ),
        ),
    )
    return pd.DataFrame(dict(zip(HOSTILE, columns, strict=True)))


def bag(found: DistinctRows) -> Counter[tuple[object, ...]]:
    """Tuples as texts, with their rows and people."""
    columns = [list_texts(found.frame[name]) for name in found.frame.columns]
    cells = zip(*columns, found.rows.tolist(), found.people.tolist(), strict=True)
    return Counter(cells)


def by_person(found: Microdata) -> Counter[object]:
    """How many people have which rows, by coded rows; nothing where all rows were
    given.
    """
    if not isinstance(found, CodedRows):
        return Counter()
    labels = [
        np.array(list_texts(found.values[name]), object)[found.frame[name]]
        for name in found.frame
    ]
    people = range(len(found.frame)) if found.person is None else found.person
    rows: dict[int, list[object]] = {}
    for whose, row in zip(people, zip(*labels, strict=True), strict=True):
        rows.setdefault(int(whose), []).append(row)
    return Counter(tuple(sorted(each)) for each in rows.values())


@pytest.mark.parametrize("rows", but_first(1, [700, 1]))
def test_the_same_answers_as_in_memory(each: Make, rows: int) -> None:
    """An engine that counts, keeps or tells apart other rows than the others breaks
    promise or budget.
    """

    column = HOSTILE[2]

    # a public rule, which Spark sends to its workers
    def third(frame: pd.DataFrame) -> np.ndarray:
        return (
            frame[column]
            .astype("str")
            .str.len()
            .fillna(2)
            .clip(upper=2)
            .to_numpy(np.int64)
        )

    frame = hostile_table(rows)
    reference = FrameEngine(frame, ALL_KINDS, key=KEY)
    other = each(frame, ALL_KINDS, key=KEY)
    names = ALL_KINDS.domain.names
    cliques = [
        (),
        *itertools.combinations(names, 1),
        *itertools.combinations(names, 2),
        names[:3],
    ]
    groups = {names[0]: np.arange(ALL_KINDS.domain.size(names[0])) // 2}
    for options in ({}, {"part": (names[4], "True")}, {"groups": groups}):
        pairs = zip(
            reference.counts(cliques, **options),
            other.counts(cliques, **options),
            strict=True,
        )
        assert all(
            (a.values == b.values).all() and a.values.shape == b.values.shape
            for a, b in pairs
        )
    entry = {names[0]: to_levels(np.linspace(-1, 1, ALL_KINDS.domain.size(names[0])))}
    for part in (None, (names[4], "True")):
        for by in ((), names[3:4]):
            sums = [
                held.sums(by, [{}, entry], part=part) for held in (reference, other)
            ]
            assert (sums[0] == sums[1]).all()
        assert reference.texts(names[2], part=part) == other.texts(names[2], part=part)
    assert (
        reference.count_by_rule(third, 3, names[2:3]).values
        == other.count_by_rule(third, 3, names[2:3]).values
    ).all()
    for columns in (names[2:5], HOSTILE[6:], HOSTILE[:2]):
        assert bag(reference.tuples(columns)) == bag(other.tuples(columns))
    assert holdings(other.tuples(names[4:6], by=HOSTILE[6])) == by_hand(
        frame, names[4:6], HOSTILE[6]
    )
    for columns in (names[:3], HOSTILE[3:]):
        coded = CodedRows.from_frames(
            columns, lambda _: frame, person_codes(frame, HOSTILE[6])
        )
        assert by_person(other.coded_rows(columns)) in (Counter(), by_person(coded))
    assert reference.people() == other.people()
    assert reference.fingerprint == other.fingerprint == fingerprint(frame, KEY)
    assert fingerprint(other.rows().frame, KEY) == reference.fingerprint
    assert len(other.sample(5).frame) == min(rows, 5)
    assert sorted(other.map_numbers(lambda number: number * number, 4)) == [0, 1, 4, 9]
    for plan in plans(frame) if rows > 1 else ():
        expected = apply(frame, plan)
        distinct = read_distinct(other.tuples, plan)
        recoding = RowRecoder.from_tuples(distinct, plan)
        tally = ExpectedClasses(recoding, distinct)
        published = other.apply(tally.make_writer(lambda rows: rows))
        tally.check(published)
        found = pd.concat(published.locations)
        assert list(found.columns) == list(expected.columns)
        assert rows_of(found) == rows_of(expected)
        assert recoding.row_count == len(expected)


def plans(frame: pd.DataFrame) -> list[Plan]:
    """Plans that treat suppressed rows in each way; some count people, one households;
    their ids go.
    """
    known = [HOSTILE[2], HOSTILE[4], HOSTILE[5]]
    secret = HOSTILE[0]
    roles: dict[str, Role] = dict.fromkeys(frame.columns, "insensitive")
    roles |= dict.fromkeys(known, "quasi-identifier") | {
        secret: "sensitive",
        HOSTILE[6]: "identifier",
    }
    hierarchies = suggest_together(frame, known)
    models = (KAnonymity(k=9), DistinctL(column=secret, l=3))
    ways: tuple[SuppressedTreatment, ...] = ("checked", "dropped", "blanked", "kept")
    found = [
        Plan(
            roles=roles,
            hierarchies=hierarchies,
            models=models,
            limit=limit,
            suppressed=suppressed,
        )
        for suppressed, limit in zip(ways, (0.05, 0.3, 0.3, 1.0), strict=True)
    ]
    whose = [plan.with_person_column(HOSTILE[6]) for plan in (found[0], found[2])]
    return [*found, *whose, replace(found[2], household=HOSTILE[3])]


def by_hand(
    frame: pd.DataFrame, columns: Sequence[str], person: str
) -> Counter[object]:
    """How many people hold each set of tuples."""
    cells = [*zip(*(list_texts(frame[name]) for name in columns), strict=True)]
    held: dict[str, set[object]] = {}
    for who, cell in zip(list_texts(frame[person]), cells, strict=True):
        held.setdefault(who, set()).add(cell)
    return Counter(frozenset(each) for each in held.values())


def holdings(found: DistinctRows) -> Counter[object]:
    """The same as an engine tells it; a group that is there twice is seen."""
    assert found.owners is not None
    cells = [
        *zip(*(list_texts(found.frame[name]) for name in found.frame), strict=True)
    ]
    sets: list[set[object]] = [set() for _ in found.owners.people]
    for group, place in zip(found.owners.group, found.owners.tuple_index, strict=True):
        sets[group].add(cells[place])
    assert len({*map(frozenset, sets)}) == len(sets)
    return Counter(
        dict(zip(map(frozenset, sets), found.owners.people.tolist(), strict=True))
    )


def rows_of(frame: pd.DataFrame) -> Counter[tuple[str, ...]]:
    """Rows as texts, whatever their order."""
    return Counter(
        zip(*(list_texts(frame[name]) for name in frame.columns), strict=True)
    )


@pytest.mark.parametrize("kind", ["int8", "int16", "int64", "uint8", "uint64"])
def test_cells_of_whole_numbers_at_the_ends_of_their_type(kind: str) -> None:
    """Looked up in a narrow table, numbers near the ends would wrap around into other
    people's cells.
    """
    ends = np.iinfo(kind)
    numbers = [
        ends.min,
        ends.min + 1,
        -1 if ends.min else 1,
        0,
        1,
        100,
        ends.max - 1,
        ends.max,
    ]
    column = dp.Integer("x", low=-200, high=200, bin_width=3)
    for some in (numbers, numbers[-2:], numbers[:2], numbers[3:6]):
        values = pd.Series(some, dtype=kind)
        assert cells_of(column, values).tolist() == column.encode(values).tolist()


def test_a_choice_by_place_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A comparison that an engine passes which keeps the first rows of the file would
    compare nothing.
    """
    frame = hostile_table(700)

    def by_place(
        person: np.ndarray, digests: np.ndarray, number: int
    ) -> tuple[np.ndarray, dict[int, int]]:
        places = np.arange(len(digests), dtype=np.uint64)
        return lowest_ranked_rows(person, np.column_stack([places, places]), number)

    monkeypatch.setattr(kept_rows, "lowest_ranked_rows", by_place)
    twin = ENGINES["parquet"][1](tmp_path, frame, ALL_KINDS, key=KEY)
    cliques = [ALL_KINDS.domain.names[:3]]
    reference = FrameEngine(frame, ALL_KINDS, key=KEY).counts(cliques)[0].values
    assert (twin.counts(cliques)[0].values != reference).any()


def occurring(counts: np.ndarray) -> Counter[tuple[int, ...]]:
    """The cells that are not empty."""
    return Counter(
        {cell: int(counts[cell]) for cell in np.ndindex(counts.shape) if counts[cell]}
    )


def kept(
    make: Make, frame: pd.DataFrame, max_rows: int, key: bytes = KEY
) -> Counter[tuple[int, ...]]:
    """The rows that are counted, as a bag of (age, sex, job) cells."""
    counts = (
        engine(make, frame, max_rows=max_rows, id_column="person", key=key)
        .counts([("age", "sex", "job")])[0]
        .values
    )
    return Counter({i: int(counts[i]) for i in np.ndindex(counts.shape) if counts[i]})


@pytest.mark.parametrize("max_rows", [1, 2, 5])
def test_at_most_so_many_rows_of_each_person(make: Make, max_rows: int) -> None:
    """More rows of a person than the unit says would break the promise; fewer would
    waste data.
    """
    frame = table()
    sizes = frame.groupby("person").size().sort_values()
    whole = kept(make, frame, max_rows)
    assert whole.total() == sizes.clip(upper=max_rows).sum()
    for person in [*sizes.index[:2], *sizes.index[-2:]]:
        removed = whole - Counter()
        removed.subtract(kept(make, frame[frame["person"] != person], max_rows))
        # nobody else's rows change: adding a person is at most m rows
        assert min(removed.values()) >= 0
        assert removed.total() == min(sizes[person], max_rows)


@pytest.mark.parametrize("id_column", [None, "person"])
def test_rows_that_count_are_those_that_are_counted(
    make: Make, id_column: str | None
) -> None:
    """A release would be compared with other rows than those that it counted."""
    one = engine(make, table(), max_rows=2, id_column=id_column)
    rows = one.limit_rows(one.rows()).frame
    for column in COLUMNS:
        (counts,) = one.counts([(column.name,)])
        assert np.bincount(
            column.encode(rows[column.name]), minlength=column.size
        ).tolist() == (counts.values.tolist())


def test_kept_rows_do_not_follow_the_file(make: Make) -> None:
    """The choice of rows must not depend on their order, which could carry a secret."""
    frame = table()
    for seed in range(5):
        assert kept(make, frame.sample(frac=1, random_state=seed), 2) == kept(
            make, frame, 2
        )
    assert kept(make, frame[["job", "sex", "age", "person"]], 2) == kept(make, frame, 2)
    assert kept(make, frame, 2, key=b"another") != kept(make, frame, 2)


def test_kept_rows_of_numbers_are_keyed(make: Make) -> None:
    """A table of numbers alone must be chosen from by the key too, and each column must
    count.
    """
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "person": rng.integers(0, 20, 200),
            "age": rng.integers(0, 10, 200),
            "x": rng.random(200),
        },
    )
    schema = dp.Schema(
        columns=COLUMNS[:1], unit=dp.PrivacyUnit(max_rows=1, id_column="person")
    )
    chosen = [
        make(frame, schema, key=bytes([i]) * 32).counts([("age",)])[0].values
        for i in range(8)
    ]
    assert len({tuple(counts) for counts in chosen}) > 4
    swapped = frame.rename(columns={"age": "x", "x": "age"})
    assert fingerprint(frame, KEY) != fingerprint(swapped, KEY)


@pytest.mark.parametrize("odd", ["x", "1.5", "1e300", "2020-01-01"])
def test_one_person_does_not_change_which_rows_of_others_are_kept(
    make: Make, odd: str
) -> None:
    """One odd cell changes the type of its column; would the choice follow it, all
    counts would move.
    """
    rng = np.random.default_rng(6)
    own = [
        (str(i // 20), int(rng.integers(0, 10)), str(rng.integers(0, 10**6)))
        for i in range(400)
    ]
    csv = "person,age,y\n" + "".join(f"{person},{age},{y}\n" for person, age, y in own)
    schema = dp.Schema(
        columns=COLUMNS[:1], unit=dp.PrivacyUnit(max_rows=1, id_column="person")
    )

    def ages(text: str) -> np.ndarray:
        read = read_table(text.encode(), "a.csv").frame
        return make(read, schema, key=KEY).counts([("age",)])[0].values

    changed = ages(csv + f"new,3,{odd}\n") - ages(csv)
    assert changed.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_an_id_is_a_text_as_it_was_written(make: Make) -> None:
    """Ids compared as numbers make one person of two, and one of them would let rows of
    the other in.
    """

    def people(*ids: object) -> int:
        frame = pd.DataFrame({"person": pd.Series(ids, dtype=object), "age": 1})
        schema = dp.Schema(
            columns=COLUMNS[:1], unit=dp.PrivacyUnit(max_rows=1, id_column="person")
        )
        return int(make(frame, schema, key=KEY).counts([()])[0].values)

    pairs = [
        ("12.1", "12.10"),
        ("1e5", "100000"),
        ("12e45678", "34e56789"),
        ("7e-400", "0"),
        ("01", "1"),
    ]
    long = ("9007199254740993.0", "9007199254740992.0")
    for one, other in (*pairs, long, ("7", " 7"), (True, 1)):
        assert people(one, other) == 2
    assert people(7, "7", np.int8(7)) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("12.1", "12.10"), ("12e45678", "34e56789"), ("-0", "0")]
)
@pytest.mark.parametrize("third", ["7", "ab12"])
def test_ids_of_a_file_are_its_texts(
    make: Make, one: str, other: str, third: str
) -> None:
    """Where reading takes two ids for one number, the two are one person ever after."""
    csv = f"person,age\n{one},1\n{other},2\n{third},3\n"
    frame = read_table(csv.encode(), "a.csv").frame
    schema = dp.Schema(
        columns=COLUMNS[:1], unit=dp.PrivacyUnit(max_rows=1, id_column="person")
    )
    assert make(frame, schema, key=KEY).counts([()])[0].values == 3


@pytest.mark.parametrize(
    ("first", "common"),
    [
        (True, 1),
        (1.0, True),
        ("1", 1),
        (
            pd.Timestamp("2020-01-01 00:00", tz="UTC"),
            pd.Timestamp("2020-01-01 01:00", tz="Europe/Berlin"),
        ),
    ],
)
@pytest.mark.parametrize("at_start", [True, False])
def test_a_newcomer_moves_nobody(
    make: Make, first: object, common: object, at_start: bool
) -> None:
    """A value that pandas finds equal to another one must not change the digests of
    other people's rows.
    """
    rows = [
        (f"p{n}", value, age)
        for n in range(200)
        for value, age in ((common, 1), ("other", 2))
    ]
    new = [("newcomer", first, 3)]
    schema = dp.Schema(
        columns=COLUMNS[:1], unit=dp.PrivacyUnit(max_rows=1, id_column="person")
    )

    def ages(people: list[tuple[str, object, int]]) -> np.ndarray:
        columns = [pd.Series(each, dtype=object) for each in zip(*people, strict=True)]
        frame = pd.DataFrame(dict(zip(("person", "flag", "age"), columns, strict=True)))
        return make(frame, schema, key=KEY).counts([("age",)])[0].values

    change = ages(new + rows if at_start else rows + new) - ages(rows)
    assert change.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_nothing_zero_and_empty_are_different(make: Make) -> None:
    """Two tables with one fingerprint would share a budget, and one would be given the
    other's releases.
    """
    values = [0, None, "", "0", False, "False ", 0.5, "0.5", "00"]
    frames = [
        pd.DataFrame({"x": pd.Series([value, "x"], dtype=object)}) for value in values
    ]
    assert len({fingerprint(frame, KEY) for frame in frames}) == len(values)
    schema = dp.Schema(
        columns=(dp.Integer("x", low=0, high=1, missing=True),),
        unit=dp.PrivacyUnit(max_rows=1, id_column="id"),
    )
    frame = pd.DataFrame({"id": ["u", "u"], "x": [0.0, np.nan]})
    kept = [
        make(each, schema, key=KEY).counts([("x",)])[0].values.tolist()
        for each in (frame, frame[::-1])
    ]
    assert kept[0] == kept[1]


def test_csv_and_parquet_of_a_table_are_one_data_set(make: Make) -> None:
    """The same table saved in another format would get a second budget."""
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 3],
            "long": [2**53 + 1, 2**53 + 2, 2**60],
            "some": pd.array([1, None, 3], dtype="Int64"),
            "real": [0.1, 1e300, -0.0],
            "text": ["a", "01", None],
            "flag": [True, False, True],
            "day": np.array(
                ["2020-01-01", "2020-02-01", "2020-03-01"], dtype="datetime64[s]"
            ),
            "time": np.array(
                ["2020-01-01T08:00", "2020-02-01T12:30", "NaT"], dtype="datetime64[ms]"
            ),
            "kind": pd.Categorical([1, 2, 1]),
        },
    )
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    same = fingerprint(frame, KEY)
    assert fingerprint(read_table(buffer.getvalue(), "a.parquet").frame, KEY) == same
    assert (
        fingerprint(read_table(frame.to_csv(index=False).encode(), "a.csv").frame, KEY)
        == same
    )
    assert fingerprint(frame.assign(long=[2**53, 2**53 + 2, 2**60]), KEY) != same
    assert fingerprint(frame.assign(text=["a", "1", None]), KEY) != same


def test_missing_people_are_refused(make: Make) -> None:
    """A row that belongs to nobody cannot be bounded."""
    frame = table()
    frame.loc[3, "person"] = None
    with pytest.raises(dp.SchemaError, match="'person'"):
        engine(make, frame, id_column="person")


def test_fingerprint(make: Make) -> None:
    """The same table in another order is the same data set; any changed, added or
    doubled row is not.
    """
    frame = table()
    same = fingerprint(frame, KEY)
    assert (
        fingerprint(
            frame.sample(frac=1, random_state=1)[["job", "age", "person", "sex"]], KEY
        )
        == same
    )
    assert fingerprint(frame.astype({"age": "int8"}), KEY) == same
    assert fingerprint(frame, b"another key") != same
    changed = frame.copy()
    changed.loc[0, "age"] = (changed.loc[0, "age"] + 1) % 10
    others = [
        changed,
        frame.iloc[1:],
        pd.concat([frame, frame.iloc[:1]]),
        frame.rename(columns={"age": "Age"}),
    ]
    assert len({fingerprint(other, KEY) for other in others} | {same}) == 5


def test_swapped_cells_change_the_fingerprint(make: Make) -> None:
    """Two tables with the same columns of numbers, paired in another way, are two data
    sets.
    """
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})
    assert fingerprint(frame, KEY) != fingerprint(
        pd.DataFrame({"a": [4, 2, 3], "b": [1, 5, 6]}), KEY
    )
    assert fingerprint(frame, KEY) != fingerprint(
        pd.DataFrame({"a": [1, 2, 3], "b": [5, 4, 6]}), KEY
    )


def test_an_engine_prints_its_domain_alone(make: Make) -> None:
    """A log line with an engine in it must not hold rows."""
    assert "p1" not in repr(engine(make, table()))
    assert "age" in repr(engine(make, table()))


@pytest.mark.parametrize("kind", ["parquet", "duckdb", "spark"])
def test_not_a_number_is_missing_as_null_is(kind: str, tmp_path: Path) -> None:
    """Of two people alike, one with NaN and one with NULL, an audit would say that both
    are unique.
    """
    x = pa.array([float("nan"), None, 0.0, -0.0, 1.5, float("inf")])
    whole = pa.table(
        {"x": x, "y": x.cast(pa.float32()), "person": list("aabbcc"), "age": [1] * 6}
    )
    pq.write_table(whole, tmp_path / "a.parquet")
    schema = dp.Schema(
        columns=COLUMNS[:1], unit=dp.PrivacyUnit(max_rows=1, id_column="person")
    )
    if kind == "spark":
        held: Engine = SparkEngine(
            spark_session().read.parquet(str(tmp_path)), schema, key=KEY
        )
    elif kind == "duckdb":
        source = DuckDBSource(kind="parquet", location=str(tmp_path))
        held = duckdb_engine(source, schema, key=KEY)
    else:
        held = parquet_engine(tmp_path, schema, key=KEY)
    for name in ("x", "y"):
        expected = [("(missing)", 2, 1), ("0", 2, 1), ("1.5", 1, 1), ("inf", 1, 1)]
        assert bag(held.tuples([name], by="person")) == Counter(expected)


def test_times_with_a_zone_do_not_follow_the_server(tmp_path: Path) -> None:
    """The same source would have other days, and another fingerprint, on a server in
    another city.
    """
    stamps = pa.array([0, 3_600_000_000, None], pa.timestamp("us", "Europe/Berlin"))
    pq.write_table(pa.table({"x": stamps, "age": [1, 2, 3]}), tmp_path / "a.parquet")
    program = (
        "import sys\nimport dpcore as dp\nfrom dpcore.engines.sql.duckdb_source "
        "import DuckDBSource\n"
        "from tests.contracts.engine_kinds import duckdb_engine\n"
        "schema = dp.Schema(columns=(dp.Integer('age', low=0, high=9),), "
        "unit=dp.PrivacyUnit(max_rows=1))\n"
        "source = DuckDBSource(kind='parquet', location=sys.argv[1])\n"
        "print(duckdb_engine(source, schema, key=b'k').fingerprint)\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            env=os.environ | {"TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for zone in ("America/New_York", "Asia/Tokyo")
    }
    assert len(found) == 1


@pytest.mark.proof
def test_engines_that_forget_a_zone_give_the_times_of_utc(tmp_path: Path) -> None:
    """Spark shows times in the zone of its session: two sessions would see two tables,
    and other days.
    """
    stamps = pa.array([0, 3_600_000_000, None], pa.timestamp("us", "UTC"))
    plain = stamps.cast(pa.timestamp("us"))
    pq.write_table(
        pa.table({"x": stamps, "y": plain, "age": [1, 2, 3]}), tmp_path / "a.parquet"
    )
    schema = dp.Schema(columns=COLUMNS[:1], unit=dp.PrivacyUnit(max_rows=1))
    expected = parquet_engine(tmp_path, schema, key=KEY)
    session = spark_session()
    zone = session.conf.get("spark.sql.session.timeZone")
    source = DuckDBSource(kind="parquet", location=str(tmp_path))
    held: list[Engine] = [duckdb_engine(source, schema, key=KEY)]
    try:
        session.conf.set("spark.sql.session.timeZone", "America/New_York")
        held.append(SparkEngine(session.read.parquet(str(tmp_path)), schema, key=KEY))
        for other in held:
            assert other.fingerprint == expected.fingerprint
            assert bag(other.tuples(["x", "y"])) == bag(expected.tuples(["x", "y"]))
    finally:
        session.conf.set("spark.sql.session.timeZone", zone)


@pytest.mark.parametrize(
    "values",
    [pa.array([0.1], pa.float32()).cast(pa.float16()), pa.array([1], pa.duration("s"))],
)
def test_types_that_duckdb_reads_as_others(values: pa.Array, tmp_path: Path) -> None:
    """0.1 in 16 bits would be 0.0999755859375, and a minute a bare 60: another table,
    though one file.
    """
    pq.write_table(pa.table({"x": values, "age": [1]}), tmp_path / "a.parquet")
    schema = dp.Schema(columns=COLUMNS[:1], unit=dp.PrivacyUnit(max_rows=1))
    with pytest.raises(SchemaError, match="'x'"):
        duckdb_engine(
            DuckDBSource(kind="parquet", location=str(tmp_path)), schema, key=KEY
        )
