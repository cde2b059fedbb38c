"""The two views of linked tables: a person changes the own rows of each alone."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines import linked as linking
from dpcore.engines.frame import FrameEngine
from dpcore.engines.linked import LinkCounts, link_rows, read_linked_table
from dpcore.schema.source import Source
from tests.contracts.engine_kinds import postgres_source, write_to_postgres
from tests.linked_tables import Tables, linked_schema, neighbors, random_schema
from tests.tiers import but_first

KEY = b"k" * 32


def coded_views(
    tables: Tables, linked: dp.LinkedSchema
) -> tuple[Counter[tuple[int, ...]], Counter[tuple[int, ...]]]:
    """The rows of each view as cells, without keys."""
    frames = [
        read_linked_table(table, schema, key=KEY)
        for table, schema in zip(tables, (linked.people, linked.events), strict=True)
    ]
    rows = link_rows(frames[0], frames[1], linked, KEY)
    people, events, _ = rows.views(linked, KEY)
    counted = []
    for view, schema in ((people, linked.people_view), (events, linked.events_view)):
        codes = schema.encode(view)
        counted.append(
            Counter(
                zip(
                    *(codes[name].tolist() for name in schema.domain.names), strict=True
                )
            )
        )
    return counted[0], counted[1]


def read_again(tables: Tables) -> Tables:
    """The tables after they were written as text and read."""
    read = [
        dp.read_table(table.to_csv(index=False).encode(), "table.csv").frame
        for table in tables
    ]
    return read[0], read[1]


def differing_rows(seed: int, *, in_text: bool = False) -> tuple[int, int, int]:
    """How many rows of each view one person changes, and m."""
    rng = np.random.default_rng(seed)
    linked = random_schema(rng, int(rng.choice([1, 2, 5, 50])))
    without, with_her = neighbors(rng, linked, padded=not in_text)
    if in_text:
        without, with_her = read_again(without), read_again(with_her)
    before = coded_views(without, linked)
    after = coded_views(with_her, linked)
    assert not before[0] - after[0]  # rows of others stay
    assert not before[1] - after[1]
    return (
        (after[0] - before[0]).total(),
        (after[1] - before[1]).total(),
        linked.events.unit.max_rows,
    )


@pytest.mark.parametrize("first", but_first(3, range(0, 400, 20)))
def test_a_person_changes_the_own_rows_of_each_view(first: int) -> None:
    """Noise for one row of people and m of events would be too small."""
    found = [differing_rows(seed) for seed in range(first, first + 20)]
    assert all(people <= 1 and events <= most for people, events, most in found)
    assert any(events == most > 1 for _, events, most in found)
    assert any(people == 1 for people, _, _ in found)


def test_the_private_search_for_m_sees_one_person_more() -> None:
    """A search among people would be one among their events."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        linked = random_schema(rng, 2)
        counted = []
        for tables in neighbors(rng, linked):
            rows = link_rows(*tables, linked, KEY)
            plain = dataclasses.replace(
                linked.events, unit=dp.PrivacyUnit(max_rows=1, id_column="person")
            )
            people = FrameEngine(rows.events, plain, key=KEY).people()
            counted.append(Counter(people))
        assert not counted[0] - counted[1]
        assert (counted[1] - counted[0]).total() <= 1


@pytest.mark.parametrize("first", but_first(1, range(0, 200, 20)))
def test_a_person_changes_no_other_rows_of_text_files(first: int) -> None:
    """Her key or value could turn the numbers of a column of others into texts."""
    found = [
        differing_rows(seed, in_text=True)
        for seed in range(1_000 + first, 1_020 + first)
    ]
    assert all(people <= 1 and events <= most for people, events, most in found)


def test_a_number_by_the_place_in_the_table_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The comparison above would find nothing, whatever is wrong."""

    def number(
        events: pd.DataFrame, parents: object, linked: object, key: object
    ) -> object:
        return np.minimum(np.arange(len(events)) + 1, 2)

    monkeypatch.setattr(linking, "_number_events", number)
    with pytest.raises(AssertionError):
        list(map(differing_rows, range(40)))


def counts_of(linked: dp.LinkedSchema, tables: Tables) -> tuple[Tables, LinkCounts]:
    people, events, counts = link_rows(*tables, linked, KEY).views(linked, KEY)
    return (people, events), counts


PEOPLE = pd.DataFrame(
    {
        "id": ["1", "2", "2", "007", None],
        "age": [1, 2, 3, 4, 5],
        "sex": ["F", "M", "F", "M", "F"],
    }
)
EVENTS = pd.DataFrame(
    {
        "person": ["1", "1", "1", "2", "7", "9", "9", None],
        "town": [*"abcdeabc"],
        "pay": [3, 1, 2, 4, 5, 6, 7, 8],
    }
)


def test_every_row_that_does_not_fit_is_counted() -> None:
    """An owner would decide by rules without knowing what they meet."""
    linked = linked_schema(2)
    (people, events), counts = counts_of(linked, (PEOPLE, EVENTS))
    assert dataclasses.asdict(counts) == {
        "people_rows": 5,
        "event_rows": 8,
        "people": 3,
        "people_with_events": 2,
        "orphan_events": 3,
        "orphan_keys": 2,
        "people_without_key": 1,
        "events_without_key": 1,
        "repeated_people": 1,
        "events_of_left_out": 0,
        "respelled_keys": 0,
        "events_over_cap": 1,
        "counted_events": 3,
    }
    assert sorted(people["id"]) == ["007", "1", "2"]
    assert people.set_index("id")["number of events"].to_dict() == {
        "1": 2,
        "2": 1,
        "007": 0,
    }
    assert events["age"].eq(events["person"].map(people.set_index("id")["age"])).all()
    assert not counts.drops_most_events


def test_rules_decide_rows_that_do_not_fit() -> None:
    """A rule would be stated, and not be kept."""
    linked = linked_schema(
        50,
        with_missing=True,
        orphans="own person",
        without_key="own person",
        repeated_people="leave out",
        keys="as numbers",
    )
    (people, events), counts = counts_of(linked, (PEOPLE, EVENTS))
    # 1, 7 (written 007) and a row without a key; then 9 and an event without a key
    assert len(people) == 5
    assert people["age"].notna().sum() == 3
    assert sorted(people["number of events"]) == [0, 1, 1, 2, 3]
    assert len(events) == 7
    assert counts.respelled_keys == 1
    assert counts.events_of_left_out == 1
    assert counts.orphan_events == 2


def test_no_text_is_the_key_of_a_row_without_a_key() -> None:
    """Somebody could choose a key that stands for the row of another person."""
    linked = linked_schema(9, with_missing=True, without_key="own person")
    strange = pd.DataFrame(
        {"person": ["\x00e1", None], "town": ["a", "b"], "pay": [1, 2]}
    )
    people = PEOPLE.assign(id=["\x00e1", "2", "3", "4", "5"])
    (of_people, _), counts = counts_of(linked, (people, strange))
    assert (counts.people, counts.orphan_events) == (6, 0)
    assert sorted(of_people["number of events"]) == [0, 0, 0, 0, 1, 1]


def test_events_are_numbered_in_their_order() -> None:
    """The place of an event would be that of its row in the file."""
    linked = linked_schema(3, order_by="pay")
    (_, events), _ = counts_of(linked, (PEOPLE, EVENTS))
    of_first = events[events["person"] == "1"].sort_values("pay")
    assert of_first["event number"].tolist() == [1, 2, 3]


def test_no_common_key_is_refused() -> None:
    """An empty view would be counted, and a release be all noise."""
    strangers = EVENTS.assign(person="stranger")
    with pytest.raises(dp.SchemaError, match="no event belongs to a person"):
        link_rows(PEOPLE, strangers, linked_schema(), KEY)


SPELLINGS: dict[str, Callable[[int], str]] = {
    "whole": str,
    "with a point": lambda key: f"{key}.0",
    "half with a point": lambda key: f"{key}.0" if key % 2 else str(key),
    "with zeros before": lambda key: f"{key:04d}",
    "some with zeros before": lambda key: f"0{key}" if key % 3 == 0 else str(key),
    "with an exponent": lambda key: f"{key}e3",
    "between blanks": lambda key: f" {key} ",
    "with a sign": lambda key: f"+{key}",
    "long": lambda key: str(10**17 + key),
    "words": lambda key: f"k{key}",
}


def float_or_none(text: str) -> float | None:
    """The number that a text writes without zeros before it."""
    return float(text) if not text.startswith(("0", "k")) else None


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("hers", ["x", "7777.5", "0777", "9" * 20, "2020-02-02"])
def test_the_key_of_a_person_does_not_change_how_others_are_read(
    spelling: str, hers: str
) -> None:
    """One word among numbers makes the whole column of a file a text, and "1.0" would
    no longer be 1: all events would lose their person.
    """
    write = SPELLINGS[spelling]
    people = [f"{write(key)},{key % 20},{'FM'[key % 2]}" for key in range(1, 31)]
    # the other file writes each number plainly, as other programs do
    plain = str if float_or_none(write(7)) == 7 else write
    events = [f"{plain(key)},a,{key % 10}" for key in range(1, 26)]
    told: list[Any] = []

    def read(*texts: str) -> list[pd.DataFrame]:
        files = [text.encode() for text in texts]
        if not told:
            proposed = [dp.read_table(file, "t.csv").options for file in files]
            told.extend(
                dataclasses.replace(one, seen=(), is_known=True) for one in proposed
            )
        return [
            dp.read_table(file, "t.csv", options=options).frame
            for file, options in zip(files, told, strict=True)
        ]

    linked = linked_schema(3, with_missing=True)
    views = []
    for mine in ([], [hers]):
        frames = read(
            "\n".join(["id,age,sex", *people, *(f"{key},5,F" for key in mine)]),
            "\n".join(["person,town,pay", *events, *(f"{key},b,3" for key in mine)]),
        )
        views.append(coded_views((frames[0], frames[1]), linked))
    for without, with_her, most in zip(*views, (1, 3), strict=True):
        assert not without - with_her
        assert (with_her - without).total() <= most


def test_keys_as_floats() -> None:
    """Whole numbers beside a missing one are floats in pandas; others are no keys."""
    people = PEOPLE.assign(id=[1.0, 2.0, 2.0, 7.0, None])
    _, counts = counts_of(linked_schema(), (people, EVENTS))
    assert (counts.people, counts.orphan_keys) == (3, 1)
    with pytest.raises(dp.SchemaError, match="numbers with a point"):
        link_rows(people.assign(id=people["id"] / 2), EVENTS, linked_schema(), KEY)


def test_a_new_person_does_not_change_the_types_of_others() -> None:
    """A whole number of all others would be read as a float, because of one orphan."""
    linked = linked_schema(2, with_missing=True, orphans="own person")
    with_orphans, _ = counts_of(linked, (PEOPLE, EVENTS))
    without, _ = counts_of(linked, (PEOPLE, EVENTS.iloc[:4]))
    for one, other in zip(with_orphans, without, strict=True):
        assert one.drop(columns="pay", errors="ignore").dtypes.equals(
            other.drop(columns="pay", errors="ignore").dtypes
        )


def in_files(folder: Path, kind: str, tables: Tables) -> list[Source]:
    sources = []
    for name, table in zip(("people", "events"), tables, strict=True):
        if kind == "postgres":
            source = postgres_source(table=write_to_postgres(table))
            sources.append(dataclasses.replace(source, name=name))
            continue
        file = folder / f"{name}.{kind}"
        if kind == "parquet":
            table.to_parquet(file)
        elif kind == "csv":
            table.to_csv(file, index=False)
        else:
            file = folder / "both.duckdb"
            with duckdb.connect(str(file)) as connection:
                connection.register("rows", table)
                connection.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
        named = {"table": name} if kind == "duckdb" else {}
        sources.append(Source(name=name, kind=kind, location=str(file), **named))
    return sources


@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb", "postgres"])
def test_engines_hand_over_the_same_rows(kind: str, tmp_path: Path) -> None:
    """Keys would mean something else in a database."""
    rng = np.random.default_rng(5)
    linked = random_schema(rng, 3)
    tables, _ = neighbors(rng, linked)
    sources = in_files(tmp_path, kind, tables)
    read = [
        read_linked_table(source, schema, key=KEY)
        for source, schema in zip(sources, (linked.people, linked.events), strict=True)
    ]
    assert coded_views((read[0], read[1]), linked) == coded_views(tables, linked)


def test_the_keys_of_a_source_are_all_of_them(tmp_path: Path) -> None:
    """What does not fit would be counted in the first rows alone."""
    tables = (PEOPLE, EVENTS)
    for kind in ("parquet", "duckdb"):
        sources = in_files(tmp_path, kind, tables)
        for source, table, key in zip(sources, tables, ("id", "person"), strict=True):
            read = dp.LinkedCurator.look_at_keys(source, key)
            assert list(read.columns) == [key]
            assert Counter(read[key].dropna()) == Counter(table[key].dropna())
            assert len(read) == len(table)
            # of a query, all columns are read
            asked = dataclasses.replace(
                source,
                table="",
                query=f"SELECT * FROM {source.table or 'source'}",
                declared_by="tests",
            )
            assert dp.LinkedCurator.look_at_keys(asked, key).equals(read)


def test_spark_is_refused_with_a_reason() -> None:
    """A table of any size would be brought into memory."""
    source = Source(name="people", kind="spark", location="people")
    with pytest.raises(dp.UsageError, match="a table of Spark does not fit"):
        read_linked_table(source, linked_schema().people, key=KEY)
