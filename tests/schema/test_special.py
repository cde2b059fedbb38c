"""Single values that many share have a cell of their own, and rows inside a cell follow
its neighbors.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.schema._slope import estimate_slopes, place_in_cells


def decoded(column: dp.Integer | dp.Real, codes: object, seed: int = 0) -> np.ndarray:
    return column.decode(
        np.asarray(codes, dtype=np.int64), np.random.default_rng(seed)
    ).to_numpy()


def test_a_special_value_is_a_cell_and_comes_back_exactly() -> None:
    """A 0 that most people have would be drawn as some number of 0 to 999."""
    column = dp.Integer("gain", low=0, high=4999, bin_width=1000, special=(0, 99_999))
    assert column.labels == (
        "0",
        "1 to 999",
        "1000 to 1999",
        "2000 to 2999",
        "3000 to 3999",
        "4000 to 4999",
        "99999",
    )
    values = pd.Series([0, 1, 999, 4999, 99_999, 60_000, -5])
    assert column.encode(values).tolist() == [0, 1, 1, 5, 6, 5, 0]
    assert column.check(values).clipped == 2
    assert set(decoded(column, [0] * 500)) == {0}
    assert set(decoded(column, [6] * 500)) == {99_999}
    assert decoded(column, [5] * 500).max() <= 4999
    assert decoded(column, [1] * 500).min() >= 1


def test_codes_on_both_sides_of_the_bounds_leave_gaps_without_cells() -> None:
    """A code such as -9 would open a cell of values that nobody can have, and noise
    would fill it.
    """
    column = dp.Integer("age", low=0, high=2, special=(-9, 999))
    assert column.labels == ("-9", "0", "1", "2", "999")
    assert column.encode(pd.Series([-9, -5, 0, 2, 500, 999, 1000])).tolist() == [
        0,
        1,
        1,
        3,
        3,
        4,
        3,
    ]
    assert decoded(column, [0, 1, 2, 3, 4]).tolist() == [-9, 0, 1, 2, 999]


def test_a_special_real_number() -> None:
    """0.0 and the numbers right above it would share a cell."""
    column = dp.Real("rain", low=0, high=2, bin_width=1, special=(0.0,))
    assert column.labels == ("0", "above 0 to 1", "1 to 2")
    assert column.encode(pd.Series([0.0, -0.0, 5e-324, 1.0, 2.0, 3.0])).tolist() == [
        0,
        0,
        1,
        2,
        2,
        2,
    ]
    assert set(decoded(column, [0] * 100)) == {0.0}
    assert column.bounds[:3] == [0, "above 0", 1]
    assert column.cell_of("above 0") == column.cell_of(5e-324) == 1
    assert column.cell_of(0) == 0


def test_a_schema_keeps_its_special_values() -> None:
    """A saved schema would count zeros and the rest together again."""
    column = dp.Integer("gain", low=0, high=9, bin_width=5, special=(7, 0))
    schema = dp.Schema(columns=(column,), unit=dp.PrivacyUnit(max_rows=1))
    assert dp.Schema.from_json(schema.to_json()) == schema
    assert json.loads(schema.to_json())["columns"][0]["special"] == [0, 7]


@pytest.mark.parametrize("special", [float("nan"), "0", True])
def test_a_special_value_is_a_number(special: object) -> None:
    """A text would open a cell that no value can reach."""
    for kind in (dp.Integer, dp.Real):
        with pytest.raises(dp.ParameterError, match="special value"):
            kind("x", low=0, high=9, bin_width=1, special=(special,))  # type: ignore[arg-type]


@given(
    st.lists(st.integers(-50, 150), max_size=4),
    st.integers(1, 40),
    st.lists(st.integers(-60, 160), min_size=1, max_size=30),
)
def test_every_number_comes_back_into_its_own_cell(
    special: list[int],
    width: int,
    numbers: list[int],
) -> None:
    """A drawn value would be counted in another cell than the one it was drawn for."""
    for column in (
        dp.Integer("n", low=0, high=100, bin_width=width, special=tuple(special)),
        dp.Real("n", low=0, high=100, bin_width=width, special=tuple(special)),
    ):
        codes = column.encode(pd.Series(numbers, dtype="float64"))
        again = column.encode(pd.Series(decoded(column, codes)))
        assert again.tolist() == codes.tolist()
        assert len(column.labels) == len(set(column.labels)) == column.size
        for number, code in zip(numbers, codes.tolist(), strict=True):
            assert column.single_value_cells[code] == (
                number in special or min(max(number, 0), 100) in special
            )


def test_range_queries_and_releases_count_special_cells() -> None:
    """A range that begins at 0 would leave out the people at 0."""
    frame = pd.DataFrame({"gain": [0] * 900 + [500] * 60 + [99_999] * 40})
    column = dp.Integer("gain", low=0, high=1999, bin_width=1000, special=(0, 99_999))
    schema = dp.Schema(columns=(column,), unit=dp.PrivacyUnit(max_rows=1))
    loss = dp.PureDP(epsilon=5_000)
    curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
    release = curator.run(dp.Histogram(column="gain"), loss)
    assert release.marginals[("gain",)].values.tolist() == [900, 60, 0, 40]
    assert dp.range_query(release, "gain", 0, 1) == 900
    assert dp.range_query(release, "gain", 1, 99_999) == 60
    assert dp.range_query(release, "gain", 0, 100_000) == 1_000
    drawn = release.sample()["gain"]
    assert (drawn == 0).sum() == 900
    assert (drawn == 99_999).sum() == 40


def test_rows_in_a_cell_follow_the_slope_of_its_neighbors() -> None:
    """Incomes would be drawn evenly over a cell whose rows crowd at its low end: a mean
    too high.
    """
    rng = np.random.default_rng(1)
    values = np.minimum(rng.exponential(1.0, 50_000), 9.99)
    column = dp.Real("x", low=0, high=10, bin_width=1)
    codes = column.encode(pd.Series(values))
    drawn = decoded(column, codes)
    even = rng.uniform(column.edges[codes], column.ends[codes])
    assert abs(drawn.mean() - values.mean()) < 0.6 * abs(even.mean() - values.mean())
    first = codes == 0
    assert (
        abs(drawn[first].mean() - values[first].mean())
        < 0.05
        < even[first].mean() - values[first].mean()
    )


def test_a_slope_is_a_density() -> None:
    """Places would leave their cell, or a peak and a lone value lean to one side."""
    starts = np.arange(5.0)
    ends = np.arange(1.0, 6.0)
    nobody_alone = np.zeros(5, dtype=bool)
    assert (
        estimate_slopes(
            np.array([1, 2, 9, 2, 1]), starts, ends, has_single_value=nobody_alone
        )[2]
        == 0
    )
    assert (
        estimate_slopes(
            np.array([0, 0, 7, 0, 0]), starts, ends, has_single_value=nobody_alone
        )
        == 0
    ).all()
    beside = estimate_slopes(
        np.array([900, 10, 10, 10, 10]),
        starts,
        ends,
        has_single_value=np.arange(5) == 0,
    )
    assert beside.tolist() == [0, 0, 0, 0, 0]
    chances = np.linspace(0, 1, 100_001)[:-1]
    for slope in (-2.0, -1.0, 0.0, 0.5, 2.0):
        places = place_in_cells(chances, np.full(len(chances), slope))
        assert places.min() >= 0
        assert places.max() < 1
        assert (np.diff(places) >= 0).all()
        # the mean of 1 + s (x - 1/2)
        assert places.mean() == pytest.approx(0.5 + slope / 12, abs=1e-4)


def test_spikes_are_suggested_and_marked() -> None:
    """A zero of nine people in ten would not be offered a cell, or not be marked as
    read from the data.
    """
    rng = np.random.default_rng(2)
    rows = 2_000
    frame = pd.DataFrame(
        {
            "gain": np.where(np.arange(rows) % 10, 0, rng.integers(100, 40_000, rows)),
            "score": np.where(
                np.arange(rows) % 50, rng.integers(0, 10_000, rows), 99_999
            ),
            "share": np.where(np.arange(rows) % 3, rng.random(rows), 0.5),
            "plain": rng.integers(0, 100_000, rows),
        },
    )
    columns = {column.name: column for column in dp.suggest_schema(frame).columns}
    assert columns["gain"].special == (0,)
    assert columns["score"].special == (99_999,)
    assert columns["score"].high < 11_000
    assert columns["share"].special == (0.5,)
    assert columns["plain"].special == ()
    assert all(
        "special" in columns[name].from_data for name in ("gain", "score", "share")
    )
    assert "special" in columns["plain"].from_data, "that it has none is told too"
    for name, column in columns.items():
        assert column.check(frame[name]).clipped == 0


def test_adult_keeps_its_zeros_and_its_mean(shared) -> None:
    """0.1 % of synthetic people would have no capital gain, instead of 91.7 %."""
    frame = pd.read_csv(shared / "data" / "adult.csv")[
        ["capital-gain", "sex", "income"]
    ]
    schema = dp.suggest_schema(frame)
    loss = dp.PureDP(epsilon=1)
    curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
    drawn = curator.run(dp.Joint(columns=tuple(frame)), loss).sample()["capital-gain"]
    true = frame["capital-gain"]
    assert abs((drawn == 0).mean() - (true == 0).mean()) < 0.01
    assert abs(drawn.mean() / true.mean() - 1) < 0.15
    assert drawn.median() == 0
