"""SEEDS A1 to A18: the histogram of ages, its range queries, and rows drawn from it.

A4, A8 and A12 need no reference table. Noise is discrete, so its spread is a little
below that of the seeds' continuous Laplace noise (variance 1.841 against 2 at epsilon
1); laws are compared exactly, and the seeds' 95 % ranges must hold as well.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.evaluation import percent_error
from dpcore.mechanisms._noise import add_discrete_laplace
from tests.golden.conftest import adult_schema
from tests.golden.releases import (
    clipped,
    draws,
    exact_counts,
    made,
    noiseless,
    opened,
    projected,
    total_variation,
)
from tests.statistical import laws

AGE = ("age",)
SCHEMA = adult_schema("age")
COUNT = dp.Marginals(cliques=[()])
REPEATS = 400
RANGES = [
    (21, 33, 9_878),
    (30, 31, 861),
    (30, 71, 22_310),
    (20, 65, 29_568),
    (20, 30, 8_054),
    (44, 55, 6_577),
]
UNIT_LAPLACE = laws.discrete_laplace_pmf(1.0)


@pytest.fixture(scope="module")
def true(adult: pd.DataFrame) -> np.ndarray:
    return exact_counts(adult, SCHEMA, "age")


@pytest.fixture(scope="module")
def releases(adult: pd.DataFrame) -> list[dp.Release]:
    return draws(opened(adult, SCHEMA), dp.Histogram("age"), REPEATS)


@pytest.fixture(scope="module")
def noise(releases: list[dp.Release], true: np.ndarray) -> np.ndarray:
    return np.array([release.marginals[AGE].values - true for release in releases])


def answers(releases: list[dp.Release], low: int, high: int) -> np.ndarray:
    return np.array([dp.range_query(release, "age", low, high) for release in releases])


@pytest.mark.parametrize(("low", "high", "rows"), RANGES)
def test_range_query_counts_half_open(
    adult: pd.DataFrame, low: int, high: int, rows: int
) -> None:
    """SEEDS A1, B15: a wrong end of the interval, or a filter on another table, changes
    these counts.
    """
    assert dp.range_query(adult, "age", low, high) == rows


def test_range_query_reads_one_table(adult: pd.DataFrame) -> None:
    """SEEDS A1: a range query on a second table must not look at the first (finding
    1).
    """
    half = adult.sample(frac=0.5, random_state=1).reset_index(drop=True)
    expected = sum(21 <= age < 33 for age in half["age"])
    assert dp.range_query(half, "age", 21, 33) == expected
    # twin
    as_in_the_seed = ((half["age"] >= 21) & (adult["age"].iloc[: len(half)] < 33)).sum()
    assert abs(as_in_the_seed - expected) > 500


def test_one_cell_per_age(adult: pd.DataFrame, true: np.ndarray) -> None:
    """SEEDS A2: the histogram must cover the public ages, the empty ones too."""
    assert true.shape == (100,)
    assert true.sum() == 32_561
    assert np.flatnonzero(true == 0).tolist() == [*range(17), 89, *range(91, 100)]


def test_no_age_vanishes() -> None:
    """SEEDS A2: an age beyond the bounds must be counted in the last cell, and
    reported.
    """
    frame = pd.DataFrame({"age": [5, 99, 100, 140]})
    assert exact_counts(frame, SCHEMA, "age")[[5, 99]].tolist() == [1, 3]
    assert SCHEMA.column("age").check(frame["age"]).clipped == 2


def test_every_range_of_the_histogram(adult: pd.DataFrame, true: np.ndarray) -> None:
    """SEEDS A3, A11: all 5,050 ranges of the exact histogram equal those of the rows:
    error 0.0.
    """
    release = noiseless(adult, SCHEMA, "age")
    before = np.concatenate([[0], np.cumsum(np.bincount(adult["age"], minlength=100))])
    for low in range(100):
        for high in range(low + 1, 101):
            answer = dp.range_query(release, "age", low, high)
            assert percent_error(before[high] - before[low], answer) in (0.0, None)
            assert answer == before[high] - before[low]


@pytest.mark.parametrize(
    ("low", "high"),
    [(-1, 10), (10, 101), (30, 20), (0.5, 3), (math.nan, 3), (0, math.inf)],
)
def test_range_bounds_are_checked(low: float, high: float) -> None:
    """SEEDS A3: a negative or wild bound must be refused; it must not wrap round."""
    release = made(SCHEMA, AGE, np.ones(100), variance=1.0)
    with pytest.raises(dp.ParameterError):
        dp.range_query(release, "age", low, high)


def test_laplace_draws_follow_the_law() -> None:
    """SEEDS A4: 10,000 draws of scale sensitivity / epsilon = 2 must follow the exact
    law.
    """
    noise = add_discrete_laplace(np.zeros(10_000, dtype=np.int64), noise_scale=2.0)
    assert laws.chi_square_p(noise, laws.discrete_laplace_pmf(2.0)) > laws.FALSE_ALARM
    assert math.sqrt(laws.moments(laws.discrete_laplace_pmf(2.0))[1]) == pytest.approx(
        2 * math.sqrt(2),
        rel=0.02,
    )


@pytest.mark.parametrize("epsilon", [0, -1, "nan", "inf"])
def test_epsilon_is_checked(epsilon: object) -> None:
    """SEEDS A4: noise without a positive epsilon must be refused."""
    with pytest.raises(dp.ParameterError):
        dp.PureDP(epsilon=epsilon)


def test_noise_is_drawn_for_every_cell(
    adult: pd.DataFrame, noise: np.ndarray, true: np.ndarray
) -> None:
    """SEEDS A5, B21: one draw shared by all cells (finding 2) would release differences
    exactly.
    """
    assert laws.uncorrelated(noise)
    assert laws.chi_square_p(noise[:, :50].ravel(), UNIT_LAPLACE) > laws.FALSE_ALARM
    rng = np.random.default_rng(1)
    # twin
    with laws.broken_noise(
        lambda counts, scale: counts + laws.fast_laplace((1,), scale, rng)
    ):
        shared = draws(opened(adult, SCHEMA), dp.Histogram("age"), 50)
    assert not laws.uncorrelated(
        np.array([release.marginals[AGE].values - true for release in shared])
    )


def test_empty_cells_get_noise(
    adult: pd.DataFrame, noise: np.ndarray, true: np.ndarray
) -> None:
    """SEEDS A5, B21: noise on non-empty cells only (finding 3) would reveal which ages
    nobody has.
    """
    empty = true == 0
    assert laws.chi_square_p(noise[:, empty].ravel(), UNIT_LAPLACE) > laws.FALSE_ALARM
    rng = np.random.default_rng(1)
    with laws.broken_noise(
        lambda counts, scale: (
            counts + (counts > 0) * laws.fast_laplace(counts.shape, scale, rng)
        ),
    ):
        bare = draws(opened(adult, SCHEMA), dp.Histogram("age"), 50)  # twin
    planted = np.array([release.marginals[AGE].values - true for release in bare])
    assert laws.chi_square_p(planted[:, empty].ravel(), UNIT_LAPLACE) < laws.FALSE_ALARM


def test_a_histogram_costs_epsilon_once(adult: pd.DataFrame) -> None:
    """SEEDS A5: 100 cells at epsilon 1 cost epsilon 1 in the ledger, not 100."""
    curator = opened(adult, SCHEMA, epsilon=3)
    curator.run(dp.Histogram("age"), dp.PureDP(epsilon=1))
    assert curator.balance().spent == 10**12


@pytest.mark.parametrize(
    ("low", "high", "seeds_low", "seeds_high", "quoted"),
    [
        pytest.param(21, 33, 9_868.3, 9_887.8, (9_873.76, 9_879.63), id="A6"),
        pytest.param(44, 55, 6_577 - 9.4, 6_577 + 9.4, (6_583.15, 6_574.25), id="B17"),
    ],
)
def test_noisy_range(
    releases: list[dp.Release],
    true: np.ndarray,
    low: int,
    high: int,
    seeds_low: float,
    seeds_high: float,
    quoted: tuple[float, ...],
) -> None:
    """SEEDS A6, B17: answers from the noisy histogram must follow the law of a sum of
    draws, one per cell.
    """
    rows = true[low:high].sum()
    law = laws.sum_pmf(UNIT_LAPLACE, high - low)
    errors = answers(releases, low, high) - rows
    assert laws.chi_square_p(errors, law) > laws.FALSE_ALARM
    chance = laws.probability(law, seeds_low - rows, seeds_high - rows)
    assert 0.95 <= chance <= 0.97
    assert laws.share_fits(
        int(((errors >= seeds_low - rows) & (errors <= seeds_high - rows)).sum()),
        REPEATS,
        chance,
    )
    assert all(seeds_low <= value <= seeds_high for value in quoted)


def test_range_queries_are_free(adult: pd.DataFrame) -> None:
    """SEEDS A7, C10: 1,000 queries on a release must leave the ledger as it was."""
    curator = opened(adult, SCHEMA, epsilon=3)
    release = curator.run(dp.Histogram("age"), dp.PureDP(epsilon=1))
    before = curator.lines()
    for i in range(1_000):
        dp.range_query(release, "age", i % 50, 50 + i % 50)
    release.sample(1_000)
    assert curator.lines() == before


def test_percent_error() -> None:
    """SEEDS A8: the true value divides, and a true value of 0 has no percentage."""
    assert percent_error(100, 90) == 10
    assert percent_error(100, 110) == 10
    assert percent_error(0, 5) is None


def test_small_range_is_as_good_asked_directly(releases: list[dp.Release]) -> None:
    """SEEDS A9: for one cell, the histogram's answer and a direct question have the
    same law.
    """
    direct = add_discrete_laplace(np.full(REPEATS, 861), noise_scale=1.0)
    small = answers(releases, 30, 31)
    assert laws.same_law_p(small, direct) > laws.FALSE_ALARM
    mean, _ = laws.moments(UNIT_LAPLACE)
    for answered in (small, direct):
        errors = np.abs(answered - 861)
        assert laws.chi_square_p(answered - 861, UNIT_LAPLACE) > laws.FALSE_ALARM
        assert laws.share_fits(
            int((errors / 861 * 100 <= 0.42).sum()),
            REPEATS,
            laws.probability(UNIT_LAPLACE, -3, 3),
        )
    # the seeds' continuous noise: 0.116
    assert mean / 861 * 100 == pytest.approx(0.099, abs=0.001)


def test_large_range_is_worse_than_asked_directly(releases: list[dp.Release]) -> None:
    """SEEDS A10: 41 cells add up 41 draws, so the error is sqrt(41) = 6.4 times that of
    one draw.
    """
    law = laws.sum_pmf(UNIT_LAPLACE, 41)
    errors = answers(releases, 30, 71) - 22_310
    assert laws.chi_square_p(errors, law) > laws.FALSE_ALARM
    ratio = math.sqrt(laws.moments(law)[1] / laws.moments(UNIT_LAPLACE)[1])
    assert ratio == pytest.approx(math.sqrt(41), rel=1e-6)
    percents = np.abs(errors) / 22_310 * 100
    assert laws.at_least(int((percents <= 0.093).sum()), REPEATS, 0.97)
    assert laws.moments(law)[0] / 22_310 * 100 == pytest.approx(0.032, abs=0.002)
    assert laws.moments(UNIT_LAPLACE)[0] / 22_310 * 100 == pytest.approx(
        0.0045, abs=0.001
    )


def test_distribution_from_noisy_counts(
    releases: list[dp.Release], true: np.ndarray
) -> None:
    """SEEDS A12, B18: probabilities are at least 0 and add up to 1; a table of zeros is
    no crash.
    """
    for release in releases[:20]:
        probabilities = projected(release.marginals[AGE].values)
        assert (probabilities >= 0).all()
        assert probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert made(SCHEMA, AGE, np.zeros(100), variance=2.0).sample().empty
    assert len(made(SCHEMA, AGE, np.zeros(100), variance=2.0).sample(50)) == 50
    values = [release.marginals[AGE].values for release in releases]
    empty = true == 0
    by_clipping = np.array([np.clip(each, 0, None)[empty].sum() for each in values])
    # clipping keeps the positive half of 27 draws: 11.5
    mean = laws.moments(UNIT_LAPLACE)[0] / 2 * 27
    assert laws.mean_fits(
        by_clipping, mean, 27 * (laws.moments(UNIT_LAPLACE)[1] / 2 - (mean / 27) ** 2)
    )
    ours = np.array([projected(each)[empty].sum() * 32_561 for each in values])
    assert ours.mean() < by_clipping.mean()


def test_rows_follow_the_probabilities(releases: list[dp.Release]) -> None:
    """SEEDS A13, B18: 10,000 rows must fit the probabilities; 0 rows are a table, -1
    rows are refused.
    """
    values = releases[0].marginals[AGE].values
    rows = releases[0].sample(10_000, seed=1)["age"]
    assert rows.between(0, 99).all()
    expected = projected(values) * 10_000
    assert laws.chi_square_of_counts(np.bincount(rows, minlength=100), expected) > 0.001
    assert list(releases[0].sample(0).columns) == ["age"]
    assert len(releases[0].sample(10)) == 10
    for wrong in (-1, 1.5, True, 10**9):
        with pytest.raises(dp.ParameterError):
            releases[0].sample(wrong)


def test_ages_that_nobody_has(releases: list[dp.Release], true: np.ndarray) -> None:
    """SEEDS A14: noise on the 27 empty ages brings some rows there, never more than
    plain clipping does.
    """
    rows = np.array(
        [(true[release.sample(32_561)["age"]] == 0).sum() for release in releases]
    )
    # of clipping: 95 % in 4 .. 27, mean 13.6
    assert laws.at_least(int((rows <= 27).sum()), REPEATS, 0.975)
    assert 8 < rows.mean() < 13.6


def test_statistics_of_10_000_rows(releases: list[dp.Release]) -> None:
    """SEEDS A15, A16: the mean age is close; a count from 10,000 rows is 69 % off, for
    want of rows.
    """
    tables = [release.sample(10_000)["age"] for release in releases]
    means = np.array([table.mean() for table in tables])
    assert laws.at_least(int(((means > 38.31) & (means < 38.84)).sum()), REPEATS, 0.95)
    counts = np.array([table.between(20, 64).sum() for table in tables])
    assert laws.at_least(
        int(((counts >= 9_021) & (counts <= 9_135)).sum()), REPEATS, 0.95
    )
    errors = np.array([percent_error(29_568, count) for count in counts])
    assert laws.at_least(int(((errors > 69.1) & (errors < 69.5)).sum()), REPEATS, 0.95)


def test_noisy_row_count(adult: pd.DataFrame) -> None:
    """SEEDS A17: the number of rows is private: it costs its own epsilon, and is within
    7 in 99.9 %.
    """
    curator = opened(adult, SCHEMA)
    totals = np.array(
        [release.marginals[()].total for release in draws(curator, COUNT, REPEATS)]
    )
    assert laws.chi_square_p(totals - 32_561, UNIT_LAPLACE) > laws.FALSE_ALARM
    assert laws.at_least(int((np.abs(totals - 32_561) <= 7).sum()), REPEATS, 0.999)
    curator = opened(adult, SCHEMA, epsilon=2)
    curator.run(dp.Histogram("age"), dp.PureDP(epsilon=1))
    curator.run(COUNT, dp.PureDP(epsilon=1))
    assert curator.balance().spent == 2 * 10**12
    assert curator.balance().remaining_units == 0
    # never a negative number
    assert len(made(SCHEMA, AGE, np.full(100, -0.3), variance=2.0).sample()) == 0
    # rounded, not cut
    assert len(made(SCHEMA, AGE, np.full(100, 0.017), variance=2.0).sample()) == 2


def test_range_query_on_as_many_rows(releases: list[dp.Release]) -> None:
    """SEEDS A18: with the noisy number of rows the error falls from 69 % to a fraction
    of a percent.
    """
    counts = np.array(
        [release.sample()["age"].between(20, 64).sum() for release in releases]
    )
    assert laws.at_least(
        int(((counts >= 29_450) & (counts <= 29_660)).sum()), REPEATS, 0.95
    )
    errors = np.abs(counts - 29_568) / 295.68
    assert errors.mean() < 0.148
    assert laws.at_least(int((errors <= 0.416).sum()), REPEATS, 0.975)


def test_synthetic_histogram(releases: list[dp.Release], true: np.ndarray) -> None:
    """SEEDS B19: rows drawn from the release stay within the seeds' distance of the
    real histogram.
    """
    distances = np.array(
        [
            total_variation(np.bincount(release.sample()["age"], minlength=100), true)
            for release in releases
        ],
    )
    assert laws.at_least(int((distances <= 0.020).sum()), REPEATS, 0.975)
    assert clipped(releases[0].marginals[AGE].values).sum() == pytest.approx(1)
