"""The guided example: what is beside each table is what can be counted in it."""

from __future__ import annotations

import pandas as pd
import pytest

from workbench.ui.examples import (
    EXAMPLES,
    TABLES,
    infer_disease,
    keep_outlier,
    reach_diversity,
    recode_pairs,
    suppress_outlier,
)

PRINTED = {
    "6.1": "33617,24 / 33620,35 / 33620,35 / 33617,24 / 33620,35",
    "6.2": "33617,24 / 23620,41 / 23622,43 / 33617,29",
    "6.3": "33617,20-29 / 236**,40-49 / 236**,40-49 / 33617,20-29",
    "6.4": "33617,24 / 23620,41 / 23622,43 / 33617,29 / 19352,12",
    "6.5": "33617,20-29,cancer / 33617,20-29,infectious disease / 33620,40-49,heart "
    "disease / "
    "33620,40-49,heart disease",
    "6.6": "33***,20-29,cancer / 33***,20-29,infectious disease / 33***,40-49,heart "
    "disease / "
    "33***,40-49,heart disease",
}
"""The printed tables of SEEDS after B13, 6.3 in the order of the rows it is made
from.
"""

COUNTS = {
    "6.1": ["By zip, age: k = 2."],
    "6.2": ["By zip, age: k = 1."],
    "6.3": ["By zip, age: k = 2."],
    "6.4": ["By zip, age: k = 1."],
    "6.5": ["By zip, age: k = 2, l = 1, entropy l = 1."],
    "6.6": [
        "By zip: k = 4, l = 3, entropy l = 2.83.",
        "By zip, age: k = 2, l = 1, entropy l = 1.",
    ],
    "6.6b": ["By zip, age: k = 4, l = 3, entropy l = 2.83."],
}
"""SEEDS B5 to B7 and B9 to B11."""


def test_the_tables_stand_in_the_order_of_the_book() -> None:
    """Somebody who reads along would look for a table."""
    assert [step.number for step in EXAMPLES] == list(TABLES) == list(COUNTS)


@pytest.mark.parametrize("step", EXAMPLES, ids=lambda step: step.number)
def test_counts_are_those_of_the_table(step) -> None:
    """The example would teach a wrong k or l."""
    assert step.count_k_and_l() == COUNTS[step.number]


def test_the_mistakes_of_the_book_are_said() -> None:
    """A reader would believe that 6.6 is diverse, and that 33620 becomes 236**."""
    said = {step.number: step.description for step in EXAMPLES}
    assert "33620 would become 336**" in said["6.2"]
    assert "calls this table diverse" in said["6.6"]


@pytest.mark.parametrize("table", PRINTED)
def test_rows_are_those_of_the_book(table: str) -> None:
    """SEEDS B5 to B10: invented rows would stand under the number of a printed
    table.
    """
    rows = TABLES[table].astype(str).itertuples(index=False)
    assert " / ".join(",".join(row) for row in rows) == PRINTED[table]


def test_the_six_operations() -> None:
    """SEEDS B6, B7, B9 to B11: what is said to come out of a table would not come out
    of it.
    """
    pd.testing.assert_frame_equal(recode_pairs(TABLES["6.2"]), TABLES["6.3"])
    pd.testing.assert_frame_equal(suppress_outlier(TABLES["6.4"]), TABLES["6.3"])
    assert keep_outlier(TABLES["6.4"]).to_dict("list") == {
        "zip": ["*"] * 5,
        "age": ["10-49"] * 5,
    }
    assert infer_disease(TABLES["6.5"], zip="33620").to_dict("list") == {
        "disease": ["heart disease"],
        "chance": [1.0],
    }
    assert infer_disease(TABLES["6.6"], age="40-49").to_dict("list") == {
        "disease": ["heart disease"],
        "chance": [1.0],
    }
    assert infer_disease(TABLES["6.6"], zip="33***")["chance"].max() == 0.5
    pd.testing.assert_frame_equal(reach_diversity(TABLES["6.6"]), TABLES["6.6b"])


@pytest.mark.parametrize("step", EXAMPLES, ids=lambda step: step.number)
def test_every_operation_runs(step) -> None:
    """The page would stop at a table."""
    for operation in step.operations:
        assert len(operation[1](step.frame()))
