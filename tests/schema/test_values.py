"""One text per value, which depends on that value alone."""

from __future__ import annotations

import ast
import datetime
import decimal
import random
import uuid
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.schema.values import (
    MISSING,
    as_text,
    canonical_text,
    canonicalize,
    declared_texts,
    list_texts,
)
from dpcore.tables.arrow import to_frame
from dpcore.tables.digests import row_digests
from tests.tiers import but_first, examples

KEY = b"k" * 32
ROOT = Path(__file__).resolve().parents[2]
ODD = [
    True,
    False,
    1,
    0,
    1.0,
    2,
    2.5,
    "1",
    "1.0",
    "True",
    "true",
    "a",
    " a ",
    "",
    None,
    np.nan,
    pd.NA,
    pd.NaT,
    "-0",
    -0.0,
    10**18,
    10**19,
    2**63,
    -(2**63),
    "18446744073709551615",
    "-1",
    -1,
    "9223372036854775808",
    "1e400",
    "0x10",
    "1_000",
    "١",
    "１",
    "inf",
    "-inf",
    "nan",
    "NaN",
    float("inf"),
    decimal.Decimal("1.10"),
    decimal.Decimal("1.1"),
    decimal.Decimal("NaN"),
    datetime.date(2020, 1, 2),
    datetime.datetime(2020, 1, 2),
    pd.Timestamp("2020-01-02"),
    pd.Timestamp("2020-01-02", tz="UTC"),
    pd.Timestamp("2020-01-02 01:00", tz="Europe/Berlin"),
    np.datetime64("2020-01-02"),
    "2020-01-02",
    "2020-01-02T03:04:05.123456789",
    "2020-01-02T03:04:05+0900",
    "20200102",
    "2020-W01-1",
    "0001-01-01",
    "9999-12-31",
    "10000-01-01",
    "-0001-01-01",
    "2020",
    np.int64(1),
    np.float32(0.1),
    0.1,
    np.bool_(True),
    "1,5",
    "+1",
    "1.",
    ".5",
    "5.e3",
    "\x00",
    "a\x00",
    "\ud800",
    "é",
    "e\u0301",
    pd.Timedelta(1, "D"),
    datetime.time(3, 4),
    "1 000",
    "\u00a01",
    "1\t",
    "TRUE",
    "yes",
    "12e45678",
    "34e56789",
    uuid.UUID(int=7),
]
COLUMNS = (
    dp.Categorical(
        "x",
        categories=("1", "2", "a", "True"),
        other=True,
        missing=True,
        missing_tokens=("-1",),
    ),
    dp.Integer("x", low=0, high=5, missing=True, missing_tokens=("-1",)),
    dp.Boolean("x", missing=True, true_label="1", false_label="2"),
)


def digest(values: list[object], dtype: object = object) -> list[tuple[int, ...]]:
    return [
        tuple(row)
        for row in row_digests(pd.DataFrame({"x": pd.Series(values, dtype=dtype)}), KEY)
    ]  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", but_first(1, ["object", "str"]))
def test_texts_digests_and_cells_of_thousands_of_tables(dtype: str) -> None:
    """Were a row's digest, text or cell to follow other rows, one person could move
    everybody's.
    """
    rng = random.Random(20)
    pool = (
        [value for value in ODD if value is None or isinstance(value, str)]
        if dtype == "str"
        else ODD
    )
    if dtype == "str":
        # which no such column holds
        pool = [value for value in pool if value != "\ud800"]
    alone = {id(value): digest([value], dtype)[0] for value in pool}
    text = {
        id(value): as_text(pd.Series([value], dtype=dtype)).tolist()[0]
        for value in pool
    }
    cells = {
        (column.kind, id(value)): int(
            column._encode(pd.Series([value], dtype=dtype))[0][0]
        )
        for column in COLUMNS
        for value in pool
    }
    for _ in range(2_000):
        values = rng.choices(pool, k=rng.randint(2, 14))
        assert digest(values, dtype) == [alone[id(value)] for value in values]
        series = pd.Series(values, dtype=dtype)
        for together, value in zip(as_text(series).tolist(), values, strict=True):
            assert together == text[id(value)] or (
                pd.isna(together) and pd.isna(text[id(value)])
            )
        column = rng.choice(COLUMNS)
        assert column._encode(series)[0].tolist() == [
            cells[column.kind, id(value)] for value in values
        ]


@examples(300)
@given(
    st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=6),
    st.sampled_from(["int64", "float64", "Int64", "object", "category"]),
)
def test_a_number_is_one_value_in_every_type_of_column(
    values: list[int], dtype: str
) -> None:
    """A missing value turns a column of whole numbers into another type: nobody's
    digest may follow.
    """
    assert digest(values, dtype) == digest(values)
    assert as_text(pd.Series(values, dtype=dtype)).tolist() == list(map(str, values))


@examples(300)
@given(st.lists(st.floats() | st.none(), min_size=1, max_size=6))
def test_decimal_numbers_too(values: list[float | None]) -> None:
    """The same for decimal numbers; two that differ must keep two texts."""
    series = pd.Series(values, dtype="float64")
    assert digest(values, "float64") == digest(values)
    found = {float(value) + 0.0 for value in series.dropna()}
    assert len(set(as_text(series).dropna())) == len(found)


def test_decimals_keep_every_digit_and_have_the_text_of_their_number() -> None:
    """Cast to floats, 40 ids are one person, and 19.99 is another price than in CSV."""
    drawn = random.Random(8)
    for precision, scale in (
        (8, 2),
        (18, 2),
        (20, 0),
        (25, 19),
        (38, 0),
        (38, 30),
        (76, 40),
        (15, 15),
    ):
        limit = 10 ** drawn.randint(1, precision)
        whole = [drawn.randrange(-limit, limit) for _ in range(400)] + [
            0,
            1,
            -1,
            10**precision - 1,
        ]
        numbers = [
            decimal.Decimal(each).scaleb(-scale, decimal.Context(prec=90))
            for each in whole
        ]
        kind = (pa.decimal128 if precision <= 38 else pa.decimal256)(precision, scale)
        found = canonicalize(
            to_frame(pa.record_batch({"x": pa.array([*numbers, None], kind)}))["x"]
        )
        texts = [found.values[code] for code in found.codes[:-1]]
        assert found.codes[-1] == -1
        # as fractions: == has no context
        assert [decimal.Decimal(text[1:]) for text in texts] == numbers
        assert texts == [canonical_text(number) for number in numbers]
        assert len(set(texts)) == len(set(numbers))
        few = [
            each
            for each in numbers
            if len(f"{each:f}".strip("-0.")) <= 15 and abs(each) < 2**64
        ]
        assert [canonical_text(number) for number in few] == [
            canonical_text(float(number)) for number in few
        ]
    same = [decimal.Decimal(text) for text in ("7.00", "7", "0.7e1", "70e-1")]
    assert {canonical_text(each) for each in (*same, 7, 7.0)} == {"n7"}
    assert canonical_text(decimal.Decimal("1" * 36 + "2")) == "n" + "1" * 36 + "2"
    with decimal.localcontext(prec=5):
        assert canonical_text(decimal.Decimal("123456789.125")) == "n123456789.125"


def test_a_column_writes_floats_as_each_is_written_alone() -> None:
    """Were a fast way of writing to print one float otherwise, no fingerprint on file
    would match.
    """
    drawn = np.random.default_rng(6)
    floats = np.concatenate(
        [
            drawn.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64),
            drawn.choice([-1, 1], 20_000) * 10 ** drawn.uniform(-5, 20, 20_000),
            np.round(10 ** drawn.uniform(-4, 12, 20_000), 3),
            *(
                np.nextafter(2.0 ** np.arange(-14, 66), toward)
                for toward in (-np.inf, 0.0, np.inf)
            ),
            *(
                np.nextafter(10.0 ** np.arange(-6, 18), toward)
                for toward in (-np.inf, 0.0, np.inf)
            ),
            np.array(
                [
                    0.0,
                    -0.0,
                    np.inf,
                    -np.inf,
                    2.0**63,
                    -(2.0**63),
                    2.0**64,
                    1e10,
                    1e15,
                    1e-4,
                    5e-324,
                ]
            ),
        ],
    )
    for column in (
        floats,
        drawn.integers(-(2**63), 2**63, 5_000),
        np.arange(200, dtype=np.uint8),
    ):
        found = canonicalize(pd.Series(column))
        assert [None if code < 0 else found.values[code] for code in found.codes] == [
            canonical_text(value) for value in column
        ]


def test_one_moment_has_one_text_in_every_type_of_column() -> None:
    """The same time as a date, a timestamp of any resolution, or in a mixed column."""
    for moment, text in (
        ("2020-01-02", "2020-01-02"),
        ("2020-01-02T10:00", "2020-01-02 10:00:00"),
        ("2020-01-02T10:00:00.5", "2020-01-02 10:00:00.500000"),
        ("9999-12-31T23:59:59", "9999-12-31 23:59:59"),
    ):
        for unit in ("s", "ms", "us") if "." not in moment else ("ms", "us"):
            stamp = np.datetime64(moment, unit)
            series = pd.Series(np.array([stamp]))
            assert as_text(series).tolist() == list_texts(series) == [text]
            assert as_text(
                pd.Series([pd.Timestamp(stamp), "x"], dtype=object)
            ).tolist() == [text, "x"]
    nano = pd.Series(pd.to_datetime(["2020-01-02 10:00:00.123456789"]))
    assert as_text(nano).tolist() == ["2020-01-02 10:00:00.123456789"]
    zones = [
        pd.Timestamp("2020-01-02 00:00", tz="UTC"),
        pd.Timestamp("2020-01-02 01:00", tz="Europe/Berlin"),
    ]
    # one instant
    assert {canonical_text(zone) for zone in zones} == {"t2020-01-02 00:00:00+00:00"}
    for zone in zones:
        assert (
            as_text(pd.Series([zone])).tolist()
            == as_text(pd.Series([zone], dtype=object)).tolist()
        )


def test_texts_for_people_are_one_per_number() -> None:
    """1, 1.0 and "1.00" go to one category, whatever the file made of them; codes stay
    codes.
    """
    assert (
        list_texts([1, 1.0, "1.00", " 1 ", "1e0", np.float32(0.5), ".5"])
        == ["1"] * 5 + ["0.5"] * 2
    )
    assert list_texts(["01", "1,5", "12e45678", "34e56789", None]) == [
        "01",
        "1,5",
        "12e45678",
        "34e56789",
        MISSING,
    ]
    assert declared_texts([1, "1.00", " a"]) == ["1", "1", "a"]


def test_values_that_differ_keep_apart() -> None:
    """Equal canonical texts would be one person, one row or one table."""
    values = [
        0,
        None,
        "",
        "0",
        "0.0",
        "a",
        " a",
        "A",
        1.5,
        "1.5",
        datetime.time(3),
        "03:00:00",
        uuid.UUID(int=7),
    ]
    found = canonicalize(pd.Series(values, dtype=object))
    assert len(set(found.codes)) == len(values)
    assert len(set(digest(values))) == len(values)
    with pytest.raises(
        dp.SchemaError, match="column 'x' holds values that are neither numbers"
    ):
        digest(["a", b"a"])


def test_no_other_module_makes_texts_of_columns() -> None:
    """A second way from a value to its text would disagree with the first."""
    known = {
        "dpcore/schema/values.py",
        "dpcore/tables/hashes.py",
        "dpcore/tables/ranks.py",
    }  # the others number texts of the first
    for path in sorted((ROOT / "dpcore").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            hashed = isinstance(node, ast.Attribute) and node.attr in (
                "hash_array",
                "hash_pandas_object",
            )
            assert not hashed or str(path.relative_to(ROOT)) in known, path
