"""Parquet is weighed before it is unpacked, and read by its own types alone."""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import io
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.errors import LimitError, ReadError
from dpcore.io import Limits, read_table
from dpcore.schema.values import canonicalize


def written(table: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def test_kinds_are_taken_over() -> None:
    """Numbers, dates or texts of a Parquet file would come in as something no schema
    knows.
    """
    day = dt.date(2020, 1, 31)
    frame = pd.DataFrame(
        {
            "int": [1, 2, 3],
            "holes": pd.array([1, None, 3], dtype="Int64"),
            "real": [0.5, np.nan, 2.0],
            "exact": [decimal.Decimal("1.50"), None, decimal.Decimal("2")],
            "bool": [True, False, True],
            "day": [day, None, day],
            "time": pd.to_datetime(["2020-01-31T23:30+02:00"] * 3),
            "zip": ["01234", None, "?"],
            "group": pd.Categorical(["a", None, "b"]),
            "empty": [None] * 3,
        },
    )
    result = read_table(written(pa.Table.from_pandas(frame)), "table.PARQUET")
    read = result.frame
    assert (result.kind, result.encoding, result.separator, result.notes) == (
        "parquet",
        None,
        None,
        (),
    )
    assert [str(kind) for kind in read.dtypes] == [
        "int64",
        "float64",
        "float64",
        "decimal128(3, 2)[pyarrow]",
        "bool",
        "datetime64[ms]",
        "datetime64[us, UTC]",
        "str",
        "str",
        "str",
    ]
    assert canonicalize(read["exact"]).values == ["n1.5", "n2"]
    assert read["time"][0] == pd.Timestamp("2020-01-31 21:30", tz="UTC")
    assert list(read["zip"].fillna("missing")) == ["01234", "missing", "?"]
    assert list(read["group"].fillna("missing")) == ["a", "missing", "b"]
    assert read["empty"].isna().all()


@pytest.mark.parametrize("kind", ["Int64", "UInt64"])
def test_long_numbers_stay_exact_beside_missing_ones(kind: str) -> None:
    """Two people whose ids differ in the last digit would be one; a source would have
    another fingerprint.
    """
    ids = [2**62 + 1, 2**62 + 2, None]
    frame = pd.DataFrame(
        {"id": pd.array(ids, dtype=kind), "few": pd.array([1, 2, None], dtype=kind)}
    )
    read = read_table(written(pa.Table.from_pandas(frame)), "ids.parquet").frame
    assert canonicalize(read["id"]).values[:2] == [f"n{each}" for each in ids[:2]]
    assert list(read["id"][:2]) == ids[:2]
    assert read["few"].dtype == float


def test_what_pandas_wrote_beside_the_data_is_not_followed() -> None:
    """A column declared as index would vanish, and hostile metadata be interpreted."""
    table = pa.Table.from_pandas(
        pd.DataFrame({"id": [7, 3, 5], "x": [1, 2, 3]}).set_index("id")
    )
    hostile = table.replace_schema_metadata(
        {b"pandas": b'{"index_columns": ["nothing"], "columns": 3}'}
    )
    for stored in (table, hostile):
        frame = read_table(written(stored), "x.parquet").frame
        assert sorted(frame.columns) == ["id", "x"]
        assert list(frame.index) == [0, 1, 2]


def repeated(rows: int, text: str) -> bytes:
    return written(
        pa.table(
            {
                "x": pa.DictionaryArray.from_arrays(
                    pa.array(np.zeros(rows, dtype="int32")), [text]
                )
            }
        ),
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (repeated(1_900_000, "y" * 9_000), "more than 50 MB"),
        (
            written(
                pa.table({f"c{i}": np.zeros(60_000, dtype="int8") for i in range(900)})
            ),
            "more than 50 MB",
        ),
        (
            written(pa.table({"x": np.zeros(2_000_001, dtype="int8")})),
            "more than .* 2,000,000 rows",
        ),
        (
            written(pa.table({f"c{i}": [0] for i in range(1_001)})),
            "more than .* 1,000 columns",
        ),
        (repeated(3, "y" * 10_001), "a cell has more than 10,000 characters"),
    ],
    ids=["repeated text", "cells", "rows", "columns", "cell length"],
)
def test_a_small_file_that_unpacks_to_a_large_table_is_refused(
    data: bytes, words: str
) -> None:
    """A few kilobytes would fill the memory of the machine."""
    assert len(data) < 2**20
    with pytest.raises(LimitError, match=words) as refusal:
        read_table(data, "x.parquet")
    assert refusal.value.remedy


def test_the_unpacked_size_counts_against_the_limit() -> None:
    """A file below the limit would unpack to one above it."""
    data = written(
        pa.table({"x": np.arange(20_000) % 7}), use_dictionary=False, compression="zstd"
    )
    assert len(data) < 100_000
    with pytest.raises(LimitError, match="more than"):
        read_table(data, "x.parquet", limits=Limits(bytes=100_000))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], [2]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([b"a", b"b"]),
    ],
)
def test_nested_and_binary_columns_are_refused_by_name(column: Any) -> None:
    """A list or structure would end in a crash far from its cause."""
    with pytest.raises(
        ReadError,
        match="column 'odd' holds values that are neither numbers nor dates nor texts",
    ):
        read_table(written(pa.table({"odd": column})), "x.parquet")


def test_texts_that_are_not_utf8_are_refused() -> None:
    """A broken text would be read in silence and raise wherever it is first looked
    at.
    """
    offsets = pa.array([0, 2, 4], pa.int32()).buffers()[1]
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, offsets, pa.py_buffer(b"\xff\xfeab")]
    )
    for use_dictionary in (True, False):
        with pytest.raises(ReadError, match="damaged"):
            read_table(
                written(pa.table({"x": broken}), use_dictionary=use_dictionary),
                "x.parquet",
            )


def test_names_follow_the_same_rules_as_in_text() -> None:
    """Two columns of one name, or a control character, would come in through this
    door.
    """
    twins = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(ReadError, match="more than one column 'a'"):
        read_table(written(twins), "x.parquet")
    with pytest.raises(ReadError, match="control character"):
        read_table(written(pa.table({"a\x07": [1]})), "x.parquet")
    assert read_table(written(pa.table({"": [1]})), "x.parquet").notes == (
        "1 header cell was empty; its column is now named column_1",
    )


def test_what_is_no_parquet_is_refused() -> None:
    """Text or half a file would end in a traceback."""
    whole = written(pa.table({"x": [1, 2]}))
    for data in (b"a,b\n1,2\n", whole[:-6], whole[4:]):
        with pytest.raises(ReadError, match="named parquet, but is damaged"):
            read_table(data, "x.parquet")
    with pytest.raises(ReadError, match="no rows"):
        read_table(written(pa.table({"x": pa.array([], pa.int64())})), "x.parquet")


def test_damaged_files_are_refused_or_read_but_never_crash() -> None:
    """A flipped byte would end in a traceback."""
    whole = written(
        pa.table({"x": [1, 2, 3], "y": ["a", "b", "c"]}), compression="none"
    )
    for position in range(4, len(whole) - 4):
        damaged = bytearray(whole)
        damaged[position] ^= 0x15
        with contextlib.suppress(LimitError, ReadError):
            read_table(bytes(damaged), "x.parquet")


def test_one_column_that_cannot_be_read_is_left_out_and_named() -> None:
    """One list in a file of many columns refused the whole file."""
    table = pa.table({"age": [20, 21], "tags": [["a"], ["b"]], "sex": ["F", "M"]})
    out = io.BytesIO()
    pq.write_table(table, out)
    result = read_table(out.getvalue(), "a.parquet")
    assert list(result.frame) == ["age", "sex"]
    assert any("left out" in note and "tags" in note for note in result.notes)


def test_times_of_day_and_durations_are_seconds() -> None:
    """A time of admission refused the whole file."""
    times = [dt.time(0, 1), dt.time(14, 5, 30, 500_000)]
    table = pa.table(
        {
            "at": pa.array(times, pa.time64("us")),
            "at_day": pa.array([60, 3600], pa.time32("s")),
            "stay": pa.array([1500, None], pa.duration("ms")),
        }
    )
    out = io.BytesIO()
    pq.write_table(table, out)
    frame = read_table(out.getvalue(), "a.parquet").frame
    assert frame["at"].tolist() == [60.0, 50730.5]
    assert frame["at_day"].tolist() == [60, 3600]
    assert frame["stay"].iloc[0] == 1.5
    assert frame["stay"].isna().tolist() == [False, True]
