"""Drawn numbers have as many decimals as were declared, within their cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.errors import ParameterError
from dpcore.schema import Column, Real
from dpcore.schema.origin import Origin
from tests.tiers import examples


def draw(column: Real, rows: int = 2_000) -> pd.Series:
    rng = np.random.default_rng(1)
    return column.decode(rng.integers(0, column.values_size, rows), rng)


def test_prices_are_drawn_with_two_decimals() -> None:
    """Money came out with fourteen (SDV #1806)."""
    price = Real("price", low=0, high=100, bin_width=0.37, decimals=2)
    drawn = draw(price)
    assert (drawn.round(2) == drawn).all()
    assert drawn.nunique() > 1_000
    # twin
    plain = draw(Real("price", low=0, high=100, bin_width=0.37))
    assert (plain.round(2) != plain).mean() > 0.9


EIGHTHS = st.integers(-(10**6), 10**6).map(lambda number: number / 8)


@examples(200)
@given(
    low=EIGHTHS,
    width=st.floats(1e-3, 1e3),
    special=st.lists(EIGHTHS, max_size=3),
    decimals=st.integers(0, 12),
)
def test_a_rounded_number_stays_in_its_cell(
    low: float, width: float, special: list[float], decimals: int
) -> None:
    """A row would be drawn into the next cell, beside another noisy count."""
    high = low + 7 * width
    column = Real(
        "x",
        low=low,
        high=high,
        bin_width=width,
        special=tuple(special),
        decimals=decimals,
    )
    codes = np.repeat(np.arange(column.values_size), 5)
    drawn = column.decode(codes, np.random.default_rng(0))
    assert (column.encode(drawn) == codes).all()


def test_decimals_are_proposed_and_marked() -> None:
    """One row's third decimal decides what all drawn rows look like."""
    pay = np.random.default_rng(0).gamma(3, 900, 500).round(2)
    column = dp.suggest_schema(pd.DataFrame({"pay": pay})).column("pay")
    assert isinstance(column, Real)
    assert column.decimals == 2
    assert column.origin("decimals") is Origin.DATA
    measured = np.random.default_rng(0).gamma(3, 900, 500)
    other = dp.suggest_schema(pd.DataFrame({"pay": measured})).column("pay")
    assert isinstance(other, Real)
    assert other.decimals is None
    assert "decimals" in other.from_data, "a mark would tell which of both it is"


def test_decimals_are_written_and_read() -> None:
    """A schema file would lose them."""
    column = Real("x", low=0, high=1, bin_width=0.1, decimals=1)
    assert Column.from_dict(column.to_dict()) == column
    without = Real("x", low=0, high=1, bin_width=0.1)
    assert "decimals" not in without.to_dict()  # requests of before stay the same


@pytest.mark.parametrize("decimals", [-1, 13, 1.5, True])
def test_decimals_that_are_none_are_refused(decimals: float) -> None:
    """They would end in a traceback when rows are drawn."""
    with pytest.raises(ParameterError, match="decimals"):
        Real("x", low=0, high=1, bin_width=0.1, decimals=decimals)  # type: ignore[arg-type]
