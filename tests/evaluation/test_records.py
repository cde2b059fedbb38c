"""Rows as numbers: values of files made elsewhere, and distances by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.errors import ParameterError, SchemaError
from dpcore.evaluation._records import gower_distances, read_numbers, read_records
from dpcore.evaluation.utility._features import feature_matrix
from tests.evaluation.people import SCHEMA, people


def test_written_intervals_count_as_their_middle() -> None:
    """A generalized file could not be attacked: all of its numbers would be missing."""
    column = dp.Integer("age", low=0, high=99, missing_tokens=("?",))
    values = pd.Series(
        ["20-29", "[20, 30)", "20 to 29", "25", "25.0", "-5--1", "*", "?", "<20", None]
    )
    expected = [24.5, 25, 24.5, 25, 25, -3, np.nan, np.nan, np.nan, np.nan]
    np.testing.assert_array_equal(read_numbers(column, values), expected)


def test_dates() -> None:
    """Dates as texts and as dates are the same days; of a time with a zone it is the
    day in UTC.
    """
    column = dp.Date("born", low="1900-01-01", high="2030-01-01")
    texts = pd.Series(["1970-01-03", None, "nothing"])
    np.testing.assert_array_equal(read_numbers(column, texts), [2, np.nan, np.nan])
    stamps = pd.to_datetime(pd.Series(["1970-01-03", None])).dt.tz_localize(
        "Asia/Tokyo"
    )
    np.testing.assert_array_equal(read_numbers(column, stamps), [1, np.nan])


def test_one_code_for_one_text() -> None:
    """A value of the release would not be recognized in the original."""
    schema = dp.Schema(
        columns=(
            dp.Boolean("b", true_label="yes", false_label="no"),
            dp.Categorical("z", categories=(1, 2)),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    first, second = read_records(
        [
            pd.DataFrame({"b": [True, False], "z": [1.0, 2.0]}),
            pd.DataFrame({"b": ["NO", "yes"], "z": ["2", "1"]}),
        ],
        schema,
    )
    for own, other in zip(first.values, second.values, strict=True):
        assert own.tolist() == other[::-1].tolist()


def test_distances_by_hand() -> None:
    """Every attack would look for the wrong neighbors."""
    frame = people(30, 1)
    frame.loc[3, "age"] = None
    first, second = read_records([frame, frame.iloc[::-1]], SCHEMA)
    found = gower_distances(first, second)
    for i, own in enumerate(frame.itertuples()):
        for j, other in enumerate(frame.iloc[::-1].itertuples()):
            by_hand = 0.0
            for name, width in (
                ("age", 100),
                ("income", 100),
                ("children", 10),
                ("weight", 150),
            ):
                a = getattr(own, name)
                b = getattr(other, name)
                if np.isnan(a) or np.isnan(b):
                    by_hand += not (np.isnan(a) and np.isnan(b))
                else:
                    by_hand += abs(a - b) / width
            for name in ("city", "married"):
                a = getattr(own, name)
                b = getattr(other, name)
                by_hand += (None if pd.isna(a) else a) != (None if pd.isna(b) else b)
            assert found[i, j] == pytest.approx(by_hand, abs=1e-5)


def test_nothing_in_common() -> None:
    """Files of other headers, or without rows, get a sentence."""
    for other, said in (
        (pd.DataFrame({"x": [1]}), "in common"),
        (people(0, 1), "no rows"),
    ):
        with pytest.raises((ParameterError, SchemaError), match=said):
            read_records([people(3, 1), other], SCHEMA)


ONE_BY_ONE = [
    0,
    7.5,
    0.1,
    1e23,
    2**53 + 1,
    2**64 - 1,
    -1e308,
    5e-324,
    np.float32(0.1),
    np.float32(16777217.3),
    np.float16(0.1),
    np.int8(-3),
    np.uint64(2**63),
    np.float64(0.1),
    True,
    "5.0",
    " 5 ",
    "1e5",
    "[1, 4)",
    "inf",
    None,
]


@pytest.mark.parametrize("low", [0.1, -1e6])
def test_a_value_is_read_alone_as_among_others(low: float) -> None:
    """One person's text would change what a paid question counts of everybody's 32-bit
    floats.
    """
    column = dp.Real("x", low=low, high=low + 1e-7, bin_width=1e-8, missing=True)
    schema = dp.Schema(columns=(column,), unit=dp.PrivacyUnit(max_rows=1))

    def features(values: pd.Series) -> list[list[float]]:
        return feature_matrix(pd.DataFrame({"x": values}), schema, ("x",)).tolist()

    together = features(pd.Series(ONE_BY_ONE, dtype=object))
    alone = [features(pd.Series([value]))[0] for value in ONE_BY_ONE]
    assert alone == together
    for kind in ("float16", "float32", "float64"):
        numbers = pd.Series(np.linspace(0, 1, 50).astype(kind))
        assert (
            features(numbers)
            == features(pd.Series([*numbers.to_numpy(), "a text"], dtype=object))[:-1]
        )
