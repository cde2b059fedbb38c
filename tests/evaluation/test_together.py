"""One or two columns counted exactly, beside another table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.evaluation import TogetherOf
from dpcore.tables.rows import PublicTable

SCHEMA = dp.Schema(
    columns=(
        dp.Categorical("sex", categories=("F", "M"), missing=True),
        dp.Integer("age", low=0, high=99, bin_width=50),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
ROWS = pd.DataFrame({"sex": ["F", "F", "M", "M"], "age": [3, 4, 70, 140]})


@pytest.fixture
def curator() -> dp.Curator:
    return dp.Curator.open(ROWS, SCHEMA, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger())


def test_counts_are_exact_and_noted(curator: dp.Curator) -> None:
    """SEEDS A2: the original would be seen as shares only, or values above the bounds would vanish."""
    found = curator.evaluate(TogetherOf(columns=("age",))).content
    assert found.original.tolist() == [2, 2]
    assert found.other is None
    assert found.labels == (("0 to 49", "50 to 99"),)
    last = curator.lines()[-1]
    assert (last.state, last.content["about"]) == ("outside", ["age"])
    assert curator.balance().spent == 0


def test_a_lost_link_is_seen(curator: dp.Curator) -> None:
    """SEEDS A19: Cramér's V of a table whose columns were drawn one by one falls to 0."""
    apart = PublicTable(pd.DataFrame({"sex": ["F", "M", "F", "M"], "age": [3, 3, 70, 70]}))
    found = curator.evaluate(TogetherOf(columns=("sex", "age"), other=apart)).content
    assert found.original.tolist() == [[2, 0], [0, 2], [0, 0]]
    assert found.association == (pytest.approx(1.0), pytest.approx(0.0))
    assert found.unrelated.tolist() == [[1, 1], [1, 1], [0, 0]]
    assert np.array_equal(found.other, [[1, 1], [1, 1], [0, 0]])
