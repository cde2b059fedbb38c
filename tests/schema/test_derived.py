"""Times of day, and ends that are counted from their begin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines.base import Engine
from dpcore.errors import DpcoreError
from dpcore.schema._derived import Difference, Time
from dpcore.schema.date import find_finest_step
from dpcore.schema.meaning import pair_starts_and_ends
from tests.contracts.engine_kinds import as_parquet, in_duckdb, in_memory

KEY = b"k" * 32


def rides(rows: int = 3_000, seed: int = 0) -> pd.DataFrame:
    """Rides of a month, with gaps, of which every hundredth ends before it begins."""
    rng = np.random.default_rng(seed)
    begin = pd.Timestamp("2019-03-01") + pd.to_timedelta(
        rng.integers(0, 30 * 86_400, rows), unit="s"
    )
    lasted = rng.gamma(2, 400, rows).astype(int)
    lasted[::100] *= -1
    end = begin + pd.to_timedelta(lasted, unit="s")
    frame = pd.DataFrame(
        {
            "pickup": pd.Series(begin).astype(str),
            "dropoff": pd.Series(end).astype(str),
            "subtotal": np.round(rng.gamma(2, 6, rows), 2),
            "tip": np.round(rng.gamma(1, 2, rows), 2),
            "dep_time": 100 * rng.integers(5, 24, rows) + rng.integers(0, 60, rows),
        }
    )
    frame["total"] = np.round(frame["subtotal"] + frame["tip"], 2)
    frame.loc[::10, "dropoff"] = None
    return frame.drop(columns="tip")


def drawn(frame: pd.DataFrame, schema: dp.Schema) -> pd.DataFrame:
    loss = dp.ApproxDP(epsilon=1, delta="1e-9")
    curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
    return curator.run(dp.Adaptive(), loss).sample(seed=1)


def test_a_table_of_rides_is_understood_by_its_names() -> None:
    schema = dp.suggest_schema(rides())
    assert {column.name: column.kind for column in schema.columns} == {
        "pickup": "date",
        "pickup: time of day": "time",
        "dropoff": "difference",
        "subtotal": "real",
        "dep_time": "time",
        "total": "difference",
    }
    dropoff = schema.column("dropoff")
    assert isinstance(dropoff, Difference)
    assert (dropoff.start, dropoff.unit) == ("pickup", "minute")
    assert dropoff.from_data == ("kind", "start", "unit", "high")
    assert dp.Schema.from_json(schema.to_json()) == schema


def test_what_rows_hold_does_not_decide_what_ends_what() -> None:
    """Ends before their begins, in every row, change bounds and nothing else."""
    frame = rides()
    frame["pickup"], frame["dropoff"] = frame["dropoff"], frame["pickup"]
    kinds = [column.kind for column in dp.suggest_schema(frame).columns]
    assert kinds == [column.kind for column in dp.suggest_schema(rides()).columns]


def test_no_drawn_end_lies_before_its_begin_and_times_come_back() -> None:
    frame = rides()
    table = drawn(frame, dp.suggest_schema(frame))
    assert list(table.columns) == list(frame.columns)
    begin, end = table["pickup"], table["dropoff"]
    assert not (end < begin).any()
    assert end.isna().any()
    hours = begin.dt.hour.value_counts(normalize=True)
    assert len(hours) == 24
    lasted = (end - begin).dt.total_seconds() / 60
    meant = pd.to_datetime(frame["dropoff"]) - pd.to_datetime(frame["pickup"])
    assert lasted.median() == pytest.approx(
        meant.dt.total_seconds().median() / 60, rel=0.25
    )
    assert not (table["total"] < table["subtotal"]).any()
    assert (table["dep_time"] % 100 < 60).all()
    assert table["dep_time"].between(0, 2359).all()


def test_a_declared_difference_that_does_not_hold_has_a_cell_of_exceptions() -> None:
    frame = rides()
    schema = dp.suggest_schema(frame)
    column = schema.column("dropoff")
    codes = column.encode(column.values_of(frame))
    begin, end = pd.to_datetime(frame["pickup"]), pd.to_datetime(frame["dropoff"])
    assert column.labels[0] == "below 0"
    assert ((codes == 0) == (end < begin)).all()
    assert ((codes == column.values_size) == end.isna()).all()


MAKERS = {"memory": in_memory, "parquet": as_parquet, "duckdb": in_duckdb}


@pytest.mark.parametrize("kind", MAKERS)
def test_every_engine_counts_what_the_schema_says(kind: str, tmp_path: Path) -> None:
    frame = rides(500)
    schema = dp.suggest_schema(frame)
    engine: Engine = MAKERS[kind](tmp_path, frame, schema, key=KEY)
    codes = schema.encode(frame)
    for clique in (("dropoff",), ("pickup: time of day",), ("total", "dropoff")):
        (counts,) = engine.counts([clique])
        expected = np.zeros(counts.values.shape, dtype=np.int64)
        np.add.at(expected, tuple(codes[name] for name in clique), 1)
        assert (counts.values == expected).all()
    ends = engine.count_by_rule(
        lambda rows: (rows["dropoff"].isna()).to_numpy().astype(np.int64),
        2,
        ("dropoff",),
    )
    assert ends.values[1] == frame["dropoff"].isna().sum()


def test_cells_of_a_difference_and_a_time_come_back() -> None:
    rng = np.random.default_rng(0)
    for unit in ("minute", "day", "whole", "hundredth"):
        column = Difference("b", start="a", unit=unit, high=700.0, missing=True)
        codes = np.repeat(np.arange(1, column.size), 5)
        again = column.encode(column.decode(codes, rng))
        assert (again == codes).all(), unit
        assert len(column.labels) == column.size
    for written in ("clock", "hhmm"):
        time = Time("t", written=written, step=15, missing=True)
        codes = np.repeat(np.arange(time.size), 5)
        values = time.decode(codes, rng)
        assert (time.encode(time.values_of(pd.DataFrame({"t": values}))) == codes).all()


def test_a_part_alone_is_drawn_as_it_is() -> None:
    frame = rides()
    loss = dp.ApproxDP(epsilon=1, delta="1e-9")
    curator = dp.Curator.open(
        frame, dp.suggest_schema(frame), budget=loss, ledger=dp.MemoryLedger()
    )
    table = curator.run(dp.Histogram(column="dropoff"), loss).sample(50, seed=0)
    assert (table["dropoff"].dropna() >= 0).all()


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [
        ("2019-03-01", "2019-03-31", "day"),
        ("2019-01-01", "2019-12-31", "week"),
        ("2017-01-01", "2019-12-31", "month"),
        ("2009-01-01", "2019-12-31", "quarter"),
        ("1990-01-01", "2019-12-31", "year"),
        ("1900-01-01", "2019-12-31", "decade"),
    ],
)
def test_cells_of_dates_are_the_finest_of_few(low: str, high: str, step: str) -> None:
    assert find_finest_step(low, high) == step
    column = dp.Date("d", low=low, high=high, step=step)
    assert column.size <= 61
    days = pd.Series(pd.date_range(low, high))
    codes = column.encode(days)
    assert (np.diff(codes) >= 0).all()
    assert set(codes) == set(range(column.size))


def test_names_alone_make_pairs() -> None:
    names = ["c_jail_in", "c_jail_out", "StartDate", "EndDate", "income", "outcome"]
    assert pair_starts_and_ends(names, (("in", "out"), ("start", "end"))) == {
        "c_jail_out": "c_jail_in",
        "EndDate": "StartDate",
    }


def test_bad_declarations_are_refused_in_words() -> None:
    for wrong in (
        {"start": "b", "high": 3.0},
        {"start": "", "high": 3.0},
        {"start": "a", "high": 0.0},
        {"start": "a", "high": 3.0, "unit": "mile"},
    ):
        with pytest.raises(DpcoreError):
            Difference("b", **wrong)
    with pytest.raises(DpcoreError):
        Time("t", step=7)
    frame = rides(100).drop(columns="pickup")
    with pytest.raises(DpcoreError, match="pickup"):
        dp.suggest_schema(rides(100)).encode(frame)
