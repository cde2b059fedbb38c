"""Rows drawn from tables, and the table nearest to noisy counts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from dpcore.synthesis._sampling import evenly_mixed_orders, sample_cells
from dpcore.tables.nearest import nearest_distribution
from tests.statistical import laws
from tests.tiers import examples


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_rows_follow_their_line() -> None:
    """Each parent's rows must fit its own line of the table, and no other."""
    table = np.array([[5.0, 0.0, 1.0, 4.0], [1.0, 1.0, 1.0, 1.0], [0.0, 7.0, 0.0, 3.0]])
    parents = rng().integers(0, 3, 30_000)
    drawn = sample_cells(parents, table, rng())
    for line, weights in enumerate(table):
        rows = np.bincount(drawn[parents == line], minlength=4)
        expected = weights / weights.sum() * rows.sum()
        # each cell gets its share, up or down by one row
        assert np.abs(rows - expected).max() <= 1 + 1e-6


def test_single_rows_follow_the_law() -> None:
    """Also a table of one row must be drawn with the right chances: 20,000 tables of
    one row.
    """
    weights = np.array([[4.0, 0.0, 1.0, 2.0, 3.0]])
    source = rng()
    drawn = [
        sample_cells(np.zeros(1, dtype=np.int64), weights, source)[0]
        for _ in range(20_000)
    ]
    counts = np.bincount(drawn, minlength=5)
    assert (
        laws.chi_square_of_counts(counts, weights[0] / 10 * 20_000) > laws.FALSE_ALARM
    )
    twin = np.array([4.4, 0.0, 0.6, 2.0, 3.0]) / 10 * 20_000
    assert laws.chi_square_of_counts(counts, twin) < laws.FALSE_ALARM


def test_columns_are_independent_given_their_parent() -> None:
    """Two columns drawn from the same parent must not be linked beyond it."""
    source = rng()
    parents = source.integers(0, 2, 20_000)
    table = np.array([[1.0, 3.0], [2.0, 2.0]])
    first, second = (sample_cells(parents, table, source) for _ in range(2))
    for line in (0, 1):
        here = parents == line
        a = first[here] - first[here].mean()
        b = second[here] - second[here].mean()
        assert abs((a * b).sum()) <= laws.Z * np.sqrt((a**2 * b**2).sum())
    # linked through the parent
    assert abs(((first - first.mean()) * (second - second.mean())).sum()) > 100


def test_order_of_rows_says_nothing() -> None:
    """Rows must not come out sorted by cell, which would link columns by position."""
    drawn = sample_cells(np.zeros(10_000, dtype=np.int64), np.ones((1, 2)), rng())
    changes = int((np.diff(drawn) != 0).sum())
    assert laws.share_fits(changes, 9_999, 0.5)


def rows_off(columns: list[np.ndarray], cells: int) -> float:
    """Rows by which cells of pairs of even chances are off what is expected, root mean
    square.
    """
    tables = [
        np.bincount(a * cells + b, minlength=cells**2)
        for a, b in itertools.combinations(columns, 2)
    ]
    return float(np.sqrt(np.mean((np.array(tables) - len(columns[0]) / cells**2) ** 2)))


def test_orders_of_two_columns_go_together_evenly() -> None:
    """Rows drawn freely carry the noise of a sample into every pair: 10 rows where 100
    are expected.
    """
    rows = 10_000
    cells = 10
    count = 12
    table = np.ones((1, cells))
    source = rng()
    line = np.zeros(10_000, dtype=np.int64)
    orders = itertools.islice(evenly_mixed_orders(rows, source), count)
    even = [sample_cells(line, table, source, order=order) for order in orders]
    free = [sample_cells(line, table, source) for _ in range(count)]
    assert rows_off(even, cells) < 0.5 * rows_off(free, cells)
    triples = [
        np.ravel_multi_index(each, (cells,) * 3)
        for each in itertools.combinations(even, 3)
    ]
    tables = np.array([np.bincount(each, minlength=cells**3) for each in triples])
    # as by chance: no three orders tell each other
    assert np.abs(tables - 10).max() < 40
    told = (even[0] + even[1]) % cells  # the twin: a column that two others tell
    assert (
        np.bincount(np.ravel_multi_index((even[0], even[1], told), (cells,) * 3)).max()
        > 40
    )


def test_every_order_holds_every_row_once_at_chance_places() -> None:
    """A row that tends to come first would get the first cell, also where rows are few
    and columns many.
    """
    for rows in (0, 1, 2, 5, 48):
        for order in itertools.islice(evenly_mixed_orders(rows, rng()), 60):
            assert np.sort(order).tolist() == list(range(rows))
    source = rng()
    chances = np.full(6, 4_000 / 6)
    firsts = np.array(
        [
            [order[0] for order in itertools.islice(evenly_mixed_orders(6, source), 5)]
            for _ in range(4_000)
        ],
    )
    for number in range(5):  # the first three in levels, the others free
        counts = np.bincount(firsts[:, number], minlength=6)
        assert laws.chi_square_of_counts(counts, chances) > laws.FALSE_ALARM
    twin = np.bincount(
        np.minimum(firsts[:, 0], source.integers(0, 12, 4_000)), minlength=6
    )
    assert laws.chi_square_of_counts(twin, chances) < laws.FALSE_ALARM


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1e-9, 0.5, 3.0, 1e9]), min_size=4, max_size=4),
        min_size=1,
        max_size=5,
    ),
    st.integers(0, 200),
    st.integers(0, 2**32),
)
def test_cells_of_no_weight_are_never_drawn(
    lines: list[list[float]], rows: int, seed: int
) -> None:
    """A combination that the table rules out must not appear, as long as the line has
    any weight.
    """
    table = np.array(lines)
    parents = rng(seed).integers(0, len(table), rows)
    drawn = sample_cells(parents, table, rng(seed))
    assert drawn.shape == (rows,)
    assert ((drawn >= 0) & (drawn < 4)).all()
    weighted = table[parents].sum(axis=1) > 0
    assert (table[parents, drawn][weighted] > 0).all()
    if table.sum() > 0:  # a line of zeros falls back to the sum over all lines
        assert (table.sum(axis=0)[drawn[~weighted]] > 0).all()


def test_extreme_draws_stay_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest and largest offsets must not fall outside the first and last cell
    with weight.
    """

    class Extreme:
        def __init__(self, value: float) -> None:
            self.value = value

        def permutation(self, count: int) -> np.ndarray:
            return np.arange(count)

        def random(self, size: tuple[int, ...]) -> np.ndarray:
            return np.full(size, self.value)

    table = np.tile([0.0, 1.0, 2.0, 0.0], (1_000, 1))
    for value in (0.0, np.nextafter(1.0, 0.0)):
        drawn = sample_cells(np.arange(1_000), table, Extreme(value))  # type: ignore[arg-type]
        assert set(drawn.tolist()) <= {1, 2}


values = st.lists(st.floats(min_value=-100, max_value=100), min_size=1, max_size=6).map(
    np.array
)


@examples(60)
@given(values, st.floats(min_value=0.1, max_value=300))
def test_nearest_distribution_against_a_solver(noisy: np.ndarray, total: float) -> None:
    """The projection must be the minimum of the squared distance under the
    constraints.
    """
    ours = nearest_distribution(noisy, total)
    assert (ours >= 0).all()
    assert ours.sum() == pytest.approx(total, rel=1e-12)
    solved = optimize.minimize(
        lambda x: ((x - noisy) ** 2).sum(),
        np.full(len(noisy), total / len(noisy)),
        jac=lambda x: 2 * (x - noisy),
        bounds=[(0, None)] * len(noisy),
        constraints={
            "type": "eq",
            "fun": lambda x: x.sum() - total,
            "jac": lambda x: np.ones(len(noisy)),
        },
        options={"ftol": 1e-12},
    )
    assert ((ours - noisy) ** 2).sum() <= solved.fun * (1 + 1e-6) + 1e-6


@given(values)
def test_nearest_distribution_is_no_worse_than_clipping(noisy: np.ndarray) -> None:
    """In L2, clipping and scaling must never lie nearer to the noisy counts, at the
    same total.
    """
    total = noisy.sum()
    cut = np.clip(noisy, 0, None)
    if total <= 0 or cut.sum() == 0:
        return
    clipped = cut * (total / cut.sum())
    ours = nearest_distribution(noisy, total)
    assert ((ours - noisy) ** 2).sum() <= ((clipped - noisy) ** 2).sum() + 1e-6


def test_projection_brings_counts_nearer_to_the_truth() -> None:
    """Against the true counts the projection must beat the noisy ones, and clipping in
    total variation.
    """
    true = np.concatenate([np.full(20, 100.0), np.zeros(480)])
    source = rng()
    for _ in range(20):
        noisy = true + laws.fast_laplace((500,), 5.0, source)
        ours = nearest_distribution(noisy, true.sum())
        cut = np.clip(noisy, 0, None)
        cut *= true.sum() / cut.sum()
        assert ((ours - true) ** 2).sum() <= ((noisy - true) ** 2).sum()
        assert np.abs(ours - true).sum() < np.abs(cut - true).sum()


def test_nothing_to_distribute() -> None:
    """A total of 0 or less is an empty table, of any shape; it is no crash and no
    division by zero.
    """
    for total in (0.0, -5.0):
        assert (
            nearest_distribution(np.array([[1.0, -2.0]]), total) == np.zeros((1, 2))
        ).all()
    assert nearest_distribution(np.zeros((3, 2)), 6.0).tolist() == [[1.0, 1.0]] * 3
    assert nearest_distribution(np.array([-1e18, -1e18]), 2.0).sum() == pytest.approx(
        2.0
    )
    assert nearest_distribution(np.array([1e18, 3.0]), 1e-6).sum() == pytest.approx(
        1e-6
    )
