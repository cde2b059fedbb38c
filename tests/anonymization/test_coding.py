"""Coarser numbers in columns that leave beside the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymization.apply import apply, carry_out
from dpcore.anonymization.coding import Coding
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.levels import read_distinct
from dpcore.anonymization.models import DistinctL, KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.streamed import RowRecoder
from dpcore.engines.frame import FrameEngine
from dpcore.errors import ParameterError, ReadError, SchemaError
from dpcore.schema.schema import Schema
from dpcore.schema.unit import PrivacyUnit

FLAT = Hierarchy(values=("a", "b"), levels=(("a", "b"), ("*", "*")))
TABLE = pd.DataFrame(
    {
        "q": list("aaabbb"),
        "salary": [900, 1_149, 1_151, 2_000, 90_000, 7],
        "note": list("uvwxyz"),
    },
)
ENGINE = FrameEngine(
    TABLE, Schema(columns=(), unit=PrivacyUnit(max_rows=1)), key=b"k" * 32
)


def plan(*models: Any, **others: Any) -> Plan:
    return Plan(
        roles={"q": "quasi-identifier", "salary": "sensitive", "note": "insensitive"},
        hierarchies={"q": FLAT},
        models=(KAnonymity(k=2), *models),
        **others,
    )


@pytest.mark.parametrize(
    ("coding", "expected"),
    [
        (Coding(base=100), [900, 1_100, 1_200, 2_000, 90_000, 0]),
        (Coding(low=1_000, high=2_000), [1_000, 1_149, 1_151, 2_000, 2_000, 1_000]),
        (Coding(low=950, high=1_990, base=100), [950, 1_100, 1_200, 1_990, 1_990, 950]),
        (Coding(base=0.5), [900, 1_149, 1_151, 2_000, 90_000, 7]),
    ],
)
def test_numbers_are_rounded_and_then_bounded(
    coding: Coding, expected: list[int]
) -> None:
    """Else a salary of nine millions leaves as it is, or as another number than was
    said.
    """
    made = apply(TABLE, plan(coded={"salary": coding}))
    assert made["salary"].tolist() == expected
    assert made["note"].tolist() == TABLE["note"].tolist()
    whole = coding.base is None or coding.base >= 1
    assert made["salary"].dtype == (np.int64 if whole else np.float64)


def test_missing_numbers_stay_missing() -> None:
    """Else a gap becomes the lower bound, and people seem to have a value."""
    column = pd.Series([1.26, np.nan, 9.0])
    coded = Coding(low=1.5, base=0.1)(column)
    assert coded.tolist()[::2] == [1.5, 9.0]
    assert coded.isna().tolist() == [False, True, False]


def test_models_look_at_the_coded_numbers() -> None:
    """Else a table is called diverse whose rounded values are all the same."""
    assert len(apply(TABLE, plan(DistinctL(column="salary", l=3)))) == 6
    coarse = plan(
        DistinctL(column="salary", l=3),
        coded={"salary": Coding(high=1_000, base=1_000)},
        limit=1.0,
    )
    assert apply(TABLE, coarse).empty
    assert (
        carry_out(TABLE, plan(coded={"salary": Coding(high=5)}))
        .rows["salary"]
        .eq(5)
        .all()
    )


def test_a_plan_keeps_codings_and_rows_that_stream_get_them_too() -> None:
    """Else the command line, or a table of any size, gets other numbers by the same
    plan.
    """
    coarse = Plan.from_json(
        plan(coded={"salary": Coding(high=1_000, base=100)}).to_json()
    )
    assert coarse.coded == {"salary": Coding(high=1_000, base=100)}
    # plans from before are written as they were
    assert '"coded"' not in plan().to_json()

    recoding = RowRecoder.from_tuples(read_distinct(ENGINE.tuples, coarse), coarse)
    pd.testing.assert_frame_equal(recoding(TABLE), apply(TABLE, coarse))


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: Coding(low=2, high=1), ParameterError),
        (lambda: Coding(base=0), ParameterError),
        (lambda: plan(coded={"q": Coding(base=1)}), SchemaError),
        (lambda: plan(coded={"nowhere": Coding(base=1)}), SchemaError),
        (lambda: apply(TABLE, plan(coded={"note": Coding(base=1)})), SchemaError),
        (
            lambda: Plan.from_json(
                plan(coded={"salary": Coding(high=5)}).to_json().replace("high", "top")
            ),
            ReadError,
        ),
    ],
)
def test_what_cannot_be_coded_is_refused(
    wrong: Callable[[], object], error: type[Exception]
) -> None:
    """Else a column leaves as it was, while the plan says that it is coarser."""
    with pytest.raises(error):
        wrong()
