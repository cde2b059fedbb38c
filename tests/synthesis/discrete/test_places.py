"""Places of drawn values inside merged cells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from dpcore.synthesis.discrete._places import correlation_matrix, draw_positions_in_runs

ROWS = 6_000
RUNS = 4


def rows_in_runs(correlation: float) -> dict[str, np.ndarray]:
    """Runs of two normal columns, and of one that is independent of both."""
    rng = np.random.default_rng(1)
    first = rng.normal(size=ROWS)
    second = correlation * first + (1 - correlation**2) ** 0.5 * rng.normal(size=ROWS)
    edges = stats.norm.ppf(np.arange(1, RUNS) / RUNS)
    columns = {"a": first, "b": second, "c": rng.normal(size=ROWS)}
    return {name: np.searchsorted(edges, values) for name, values in columns.items()}


def rank_of_places(codes: dict[str, np.ndarray], told: float) -> float:
    shares = {name: np.full(RUNS, 1.0 / RUNS) for name in codes}
    correlations = dict.fromkeys(itertools.combinations(codes, 2), 0.0) | {
        ("a", "b"): told
    }
    places = draw_positions_in_runs(
        codes, shares, correlations, np.random.default_rng(2)
    )
    return float(
        stats.spearmanr(codes["a"] + places["a"], codes["b"] + places["b"]).statistic
    )


@pytest.mark.parametrize("correlation", [0.95, -0.8])
def test_a_relation_goes_on_inside_runs(correlation: float) -> None:
    """Places at random lose a part of every strong relation."""
    codes = rows_in_runs(correlation)
    normal = 6 / np.pi * np.arcsin(correlation / 2)
    assert rank_of_places(codes, correlation) == pytest.approx(normal, abs=0.03)
    assert abs(rank_of_places(codes, 0.0)) < abs(normal) - 0.03


def test_every_part_of_a_run_keeps_its_rows() -> None:
    """Places that crowd would change the counts of cells that were measured."""
    codes = rows_in_runs(0.9)
    codes["a"] = np.where(np.arange(ROWS) % 10 == 0, RUNS, codes["a"])  # missing
    shares = {name: np.full(RUNS, 1.0 / RUNS) for name in codes}
    told = {("a", "b"): 0.9, ("a", "c"): 0.5, ("b", "c"): -0.4}
    places = draw_positions_in_runs(codes, shares, told, np.random.default_rng(3))
    for name, run in codes.items():
        assert ((places[name] >= 0) & (places[name] < 1)).all()
        for number in range(RUNS):
            inside = np.sort(places[name][run == number])
            even = (np.arange(len(inside)) + 0.5) / len(inside)
            assert np.abs(inside - even).max() <= 1 / len(inside)


def test_runs_without_rows_and_certain_relations_are_survived() -> None:
    codes = {name: np.zeros(50, dtype=np.int64) for name in "ab"}
    shares = {"a": np.array([1.0, 0.0]), "b": np.array([0.0, 1.0])}
    places = draw_positions_in_runs(
        codes, shares, {("a", "b"): 1.0}, np.random.default_rng(4)
    )
    assert all(np.isfinite(place).all() for place in places.values())
    assert draw_positions_in_runs(codes, shares, {}, np.random.default_rng(4)) == {}


def test_contradicting_correlations_become_a_law() -> None:
    """Noise may say that a and b agree, b and c agree, and a and c oppose each other."""
    told = {("a", "b"): 0.9, ("b", "c"): 0.9, ("c", "a"): -0.9}
    matrix = correlation_matrix(["a", "b", "c"], told)
    assert np.linalg.eigvalsh(matrix).min() > 0
    assert np.diagonal(matrix) == pytest.approx(1.0)
    kept = {("a", "b"): 0.3, ("b", "c"): 0.2, ("a", "c"): -0.1}
    matrix = correlation_matrix(["a", "b", "c"], kept)
    assert [matrix[0, 1], matrix[1, 2], matrix[0, 2]] == pytest.approx([0.3, 0.2, -0.1])
