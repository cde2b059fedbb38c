"""The cell of a row depends on that row alone: otherwise one person could move all the
others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.schema import Column
from dpcore.schema.origin import (
    AGES_RULE,
    CENSORED_RULE,
    MISSING_WORDS_RULE,
    ONLY_NUMBERS_RULE,
    SPELLINGS_RULE,
)
from dpcore.schema.values import as_text
from tests.tiers import examples

COLUMNS = (
    dp.Categorical(
        "x",
        categories=("1", "2", "a", "2020-01-02"),
        other=True,
        missing=True,
        missing_tokens=("?", "-1"),
    ),
    dp.Categorical("x", categories=(1, 2, 3), other=True, missing=True),
    dp.Integer("x", low=0, high=5, missing=True, missing_tokens=("-1",)),
    dp.Real("x", low=0, high=5, bin_width=0.5, missing=True),
    dp.Date("x", low="2020-01-01", high="2020-12-31", step="day", missing=True),
    dp.Boolean("x", missing=True, true_label="1", false_label="2"),
    dp.Categorical(
        "x",
        categories=("1", "a"),
        other=True,
        missing=True,
        synonyms=(("2", "1"), ("now", "a")),
    ),
    dp.Real(
        "x",
        low=0,
        high=5,
        bin_width=0.5,
        missing=True,
        unreadable_is_missing=True,
        synonyms=(("a", "0.25"),),
    ),
    dp.Categorical(
        "x",
        categories=("A", "1"),
        missing=True,
        other=True,
        rules=(MISSING_WORDS_RULE, SPELLINGS_RULE),
    ),
    dp.Categorical(
        "x",
        categories=("1", "2"),
        missing=True,
        other=True,
        rules=(MISSING_WORDS_RULE, ONLY_NUMBERS_RULE),
    ),
    dp.Integer(
        "age",
        low=0,
        high=119,
        missing=True,
        unreadable_is_missing=True,
        rules=(MISSING_WORDS_RULE, CENSORED_RULE, AGES_RULE),
    ),
    dp.Date(
        "x",
        low="2020-01-01",
        high="2020-12-31",
        missing=True,
        rules=(MISSING_WORDS_RULE,),
    ),
    *(
        dp.Time("x", written=written, missing=True, unreadable_is_missing=True)
        for written in ("clock", "hhmm")
    ),
    dp.Time("time", of="x", missing=True),
    *(
        dp.Difference(
            "x",
            start="begin",
            unit=unit,
            high=500,
            missing=True,
            unreadable_is_missing=True,
        )
        for unit in ("minute", "day", "whole", "hundredth")
    ),
)
numbers = st.sampled_from(
    [0.0, 1.0, 2.0, 2.5, -1.0, 1e300, float("inf"), float("nan"), 3e15]
)
texts = st.sampled_from(
    [
        "1",
        "1.0",
        "01",
        "2",
        " 2 ",
        "2.50",
        "a",
        "?",
        "",
        "1e3",
        "true",
        "False",
        None,
        "-1",
        "nan",
        "1500-01-01",
        "2020-01-02",
        "2020-13-01",
        "2020-01-02T03:04:05",
        "2020-01-02 03:04+09:00",
        "2020-01-02T03:04:05.123456789Z",
        "20200102T030405Z",
        "2020-01-02 03:04:05 Z",
        "2020-01-02 03:04+1",
        "20200102T0304-05",
        "now",
        "today",
        "<3",
        "≥ 4,5",
        "unBekannt",
    ],
)
days = st.datetimes(pd.Timestamp("1700-01-01"), pd.Timestamp("2200-01-01")) | st.none()


def table(
    elements: st.SearchStrategy[object], dtype: str
) -> st.SearchStrategy[pd.Series]:
    return st.lists(elements, min_size=2, max_size=8).map(
        lambda values: pd.Series(values, dtype=dtype)
    )


tables = st.one_of(
    table(numbers, "float64"),
    table(texts, "str"),
    table(texts, "object"),
    table(st.integers(-5, 5) | st.none(), "Int64"),
    table(st.booleans() | st.none(), "boolean"),
    table(days, "datetime64[us]"),
)


KNOWN: dict[tuple[str, ...], Any] = {}


def alone(asked: Callable[[pd.Series], Any], name: str, values: pd.Series) -> list[Any]:
    """What a function says of each of the values by itself, asked once for each kind of
    column and value.
    """
    found = []
    for i in range(len(values)):
        key = (name, str(values.dtype), repr(values.iloc[i]))
        if key not in KNOWN:
            KNOWN[key] = asked(values.iloc[[i]].reset_index(drop=True))
        found.append(KNOWN[key])
    return found


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.kind)
@examples(150)
@given(values=tables)
def test_codes_are_given_row_by_row(column: Column, values: pd.Series) -> None:
    """Sensitivity is proved for counts of rows; it holds only if each row has its own
    cell.
    """

    def asked(values: pd.Series) -> Any:
        begin = "2020-01-01" if getattr(column, "unit", "") in ("minute", "day") else 1
        frame = pd.DataFrame({"x": values, "begin": begin, column.name: values})
        return column._encode(column.read(column.values_of(frame)))

    together, outside = asked(values)
    single = alone(asked, repr(column), values)
    assert together.tolist() == [int(codes[0]) for codes, _ in single]
    for kind in ("clipped", "other", "missing", "refused"):
        assert getattr(outside, kind) == sum(getattr(each, kind) for _, each in single)


@examples(150)
@given(values=tables)
def test_texts_are_given_row_by_row(values: pd.Series) -> None:
    """Texts that are named by a threshold must not change with another person's
    value.
    """
    for together, single in zip(
        as_text(values), alone(as_text, "text", values), strict=True
    ):
        assert together == single.iloc[0] or (
            pd.isna(together) and pd.isna(single.iloc[0])
        )


def test_every_kind_is_here() -> None:
    """A kind of column that this suite does not know could give a row a cell by other
    people's rows.
    """
    assert {column.kind for column in COLUMNS} == set(Column.kinds())
