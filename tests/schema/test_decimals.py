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
from dpcore.schema.schema import uncovered_facts
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


@pytest.mark.parametrize(
    ("marks", "known_from"), [(("kind", "decimals"), ""), ((), "a law")]
)
def test_found_cells_keep_decimals_that_were_told(
    marks: tuple[str, ...], known_from: str
) -> None:
    """Prices in cells that were found privately were drawn with fourteen digits; or one
    row's digits, which were read from the table, would stay beside these cells.
    """
    pay = np.random.default_rng(0).gamma(3, 900, 3_000).round(2)
    price = Real(
        "pay",
        low=0,
        high=10_000,
        bin_width=100,
        decimals=2,
        from_data=marks,
        known_from=known_from,
    )
    schema = dp.Schema(columns=(price,), unit=dp.PrivacyUnit(max_rows=1))
    curator = dp.open_with_cells(
        pd.DataFrame({"pay": pay}),
        schema,
        ["pay"],
        budget=dp.PureDP(epsilon=3),
        ledger=dp.MemoryLedger(),
    )
    found = curator.schema.column("pay")
    assert isinstance(found, Real)
    assert found.found is not None
    assert (found.decimals, found.known_from) == (None if marks else 2, known_from)
    assert found.origin("decimals") is Origin.TOLD
    assert found.origin("cuts") is Origin.FOUND
    release = curator.run(dp.Histogram("pay"), dp.PureDP(epsilon=1))
    drawn = release.sample(500, seed=0)["pay"].dropna()
    assert ((drawn.round(2) == drawn).mean() > 0.99) == (not marks)
    # the sentence about the search tells of the kind
    assert release.guarantee.from_data.get("pay", ()) == (("kind",) if marks else ())
    assert uncovered_facts(release.guarantee.from_data, release.guarantee.found) == {}


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
