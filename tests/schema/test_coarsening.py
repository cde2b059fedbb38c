"""Coarser cells that a column offers."""

from __future__ import annotations

import dataclasses
import datetime

import pandas as pd

from dpcore.schema import Categorical, Date, Integer, Real, suggest_schema
from dpcore.schema.coarsening import MIN_VISIBLE_CELLS, list_coarser_columns
from dpcore.schema.origin import AGES_RULE
from workbench.language.columns import round_bounds

AGE = Integer("age", low=0, high=119, rules=(AGES_RULE,))
COST = Real(
    "cost",
    low=0.0,
    high=1000.0,
    bin_width=10.0,
    special=(0.0, 250.0, 99999.0),
    from_data=("kind", "low", "high", "bin_width", "special"),
)
ADMITTED = Date(
    "admitted",
    low="2020-01-01",
    high="2026-12-31",
    step="month",
    from_data=("low", "high", "step"),
)


def test_the_finest_comes_first_and_none_has_fewer_than_six_cells() -> None:
    """A column of years would become one of two cells, which shows no shape."""
    for column in (AGE, COST, ADMITTED):
        first, *coarser = list_coarser_columns(column)
        assert first == column
        sizes = [each.values_size for each in coarser]
        assert sizes == sorted(sizes, reverse=True)
        assert coarser
        assert min(sizes) >= MIN_VISIBLE_CELLS
    assert [each.step for each in list_coarser_columns(ADMITTED)] == [
        "month",
        "quarter",
        "year",
    ]


def test_a_step_is_marked_where_a_fact_of_its_column_was_looked_up() -> None:
    """It follows bounds of the rows: one person turned quarters into years. Where all
    is told, a mark would warn for nothing.
    """
    for each in list_coarser_columns(COST)[1:]:
        assert {"low", "high", "kind", "bin_width", "special"} <= set(each.from_data)
    assert all(each.from_data == () for each in list_coarser_columns(AGE))
    for each in list_coarser_columns(ADMITTED)[1:]:
        assert each.from_data == ("low", "high", "step")
    typed = dataclasses.replace(ADMITTED, from_data=("kind",))
    assert all("step" in each.from_data for each in list_coarser_columns(typed)[1:])
    typed = dataclasses.replace(ADMITTED, from_data=("missing_tokens",))
    assert all("step" not in each.from_data for each in list_coarser_columns(typed))


def test_zero_and_codes_keep_their_cells() -> None:
    """A zero that stands for nothing, or a code such as 99999, would be drawn as one
    of the numbers beside it.
    """
    assert all(
        each.special == (0.0, 99999.0) for each in list_coarser_columns(COST)[1:]
    )
    stay = Integer("stay", low=1, high=69, from_data=("low", "high", "bin_width"))
    assert all(each.low > 0 for each in list_coarser_columns(stay)), (
        "a zero would be drawn"
    )


def test_lists_have_no_coarser_cells() -> None:
    """Nobody knows which labels belong together."""
    sex = Categorical("sex", categories=("F", "M"))
    assert list_coarser_columns(sex) == [sex]


def test_birth_dates_do_not_lie_in_the_future() -> None:
    """Drawn patients were born in 2029."""
    this_year = datetime.date.today().year
    later = str(this_year + 3)
    dates = [f"{1940 + place % 80}-03-01" for place in range(200)] + [f"{later}-01-01"]
    frame = pd.DataFrame({"date_of_birth": dates, "admitted": dates})
    schema = suggest_schema(frame)
    born, admitted = schema.columns
    assert isinstance(born, Date)
    assert isinstance(admitted, Date)
    assert born.high == f"{this_year}-12-31"
    assert admitted.high == f"{later}-12-31"
    rounded = round_bounds(born)
    assert isinstance(rounded, Date)
    assert rounded.high == f"{this_year}-12-31"
    assert rounded.low == "1940-01-01"
