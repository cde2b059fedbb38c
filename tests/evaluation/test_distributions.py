"""Distributions of columns, cell by cell."""

from __future__ import annotations

import pandas as pd
import pytest

import dpcore as dp
from dpcore.evaluation import Distribution, DistributionsOf
from dpcore.tables.rows import PublicTable

SCHEMA = dp.Schema(
    columns=(
        dp.Categorical("sex", categories=("F", "M"), missing=True),
        dp.Integer("age", low=0, high=99, bin_width=50),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
FIRST = pd.DataFrame({"sex": ["F", "F", "M", None], "age": [3, 60, 70, 80]})
SECOND = pd.DataFrame({"sex": ["M"], "age": [10]})


def distributions(other: pd.DataFrame, columns: tuple[str, ...] | None = None) -> tuple[Distribution, ...]:
    curator = dp.Curator.open(FIRST, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger())
    return curator.evaluate(DistributionsOf(other=PublicTable(other), columns=columns)).content


def test_shares_stand_in_the_same_cells() -> None:
    """Both tables must be counted over the schema's cells, or the charts would overlay different things."""
    sex, age = distributions(SECOND)
    assert (sex.column, sex.labels) == ("sex", ("F", "M", "(missing)"))
    assert sex.original.tolist() == [0.5, 0.25, 0.25]
    assert sex.other.tolist() == [0, 1, 0]
    assert sex.distance == 0.75
    assert age.labels == ("0 to 49", "50 to 99")
    assert (age.original.tolist(), age.other.tolist()) == ([0.25, 0.75], [1, 0])


def test_chosen_columns() -> None:
    """Columns that one table lacks are left out, or refused when asked for."""
    assert [each.column for each in distributions(SECOND[["age"]])] == ["age"]
    with pytest.raises(dp.ParameterError, match="no column 'sex'"):
        distributions(SECOND[["age"]], columns=("sex",))
    with pytest.raises(dp.ParameterError, match="no rows"):
        distributions(SECOND.iloc[:0])


def test_through_the_curator() -> None:
    """The evaluation leaves a line that says which columns were compared."""
    curator = dp.Curator.open(FIRST, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger())
    report = curator.evaluate(DistributionsOf(other=PublicTable(SECOND), columns=("age",)))
    assert report.content[0].distance == 0.75
    assert curator.lines()[-1].content == {"evaluation": "distributions", "about": ["age"]}
    assert "0.75" not in repr(report)
