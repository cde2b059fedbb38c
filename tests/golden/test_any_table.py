"""What the documents claim, on an invented table of Adult's shape, and on Adult where
it is there.

No figure of Adult is here: each is computed from the table at hand. So a reader without
the reference data sees the rows of SEEDS checked too.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from tests.golden.conftest import EDUCATION, MARITAL, OCCUPATION, adult_schema
from tests.golden.releases import draws, exact_counts, opened
from tests.golden.test_more_columns import cramers_v
from tests.statistical import laws

UNIT_LAPLACE = laws.discrete_laplace_pmf(1.0)
ROWS = 32_561


def invented() -> pd.DataFrame:
    """People whose marital status, occupation and education follow their age; some
    occupations unknown.
    """
    rng = np.random.default_rng(20_210_417)
    age = np.clip(rng.gamma(3, 9, ROWS).astype(int) + 14, 17, 90)
    marital = np.where(
        age < 18 + rng.gamma(2, 5, ROWS),
        4,
        rng.choice(7, ROWS, p=[0.2, 0.02, 0.5, 0.03, 0.1, 0.1, 0.05]),
    )
    job = (
        rng.integers(0, 14, ROWS) * (age < 60) + rng.integers(0, 5, ROWS) * (age >= 60)
    ).astype(int)
    job = np.where((age < 20) & (job == 3) & (rng.random(ROWS) < 0.95), 7, job)
    school = np.clip(rng.poisson(8, ROWS) - (age < 19) * 4, 0, 15)
    occupation = np.where(rng.random(ROWS) < 0.05, "?", np.array(OCCUPATION)[job])
    return pd.DataFrame(
        {
            "age": age,
            "marital-status": np.array(MARITAL)[marital],
            "occupation": occupation,
            "education": np.array(EDUCATION)[school],
            "sex": rng.choice(["Female", "Male"], ROWS, p=[0.33, 0.67]),
        },
    )


@pytest.fixture(scope="module", params=["invented", "adult"])
def people(request: pytest.FixtureRequest) -> pd.DataFrame:
    return (
        invented() if request.param == "invented" else request.getfixturevalue("adult")
    )


@pytest.mark.parametrize("second", ["occupation", "marital-status"])
def test_e1_rows_of_a_pair_keep_its_link(people: pd.DataFrame, second: str) -> None:
    """SEEDS E1: drawing from a two-way release would lose the link of its columns, as
    shuffling does.
    """
    columns = ("age", second)
    known = people.loc[people[second] != "?", list(columns)]
    drawn = (
        draws(
            opened(people, adult_schema(*columns, low=17, high=90)),
            dp.Joint(columns=columns),
            1,
        )[0]
        .sample(seed=1)
        .dropna()
    )
    true = cramers_v(known, least=1.0)
    assert abs(cramers_v(drawn, least=1.0) - true) < 0.03
    shuffled = drawn.assign(
        **{second: drawn[second].sample(frac=1, random_state=1).to_numpy()}
    )
    assert true - cramers_v(shuffled, least=1.0) > 0.03


def test_e1_few_young_managers_stay_few(people: pd.DataFrame) -> None:
    """SEEDS E1: a pair that hardly anybody has would be invented by the dozen, as
    without the link.
    """
    columns = ("age", "occupation")

    def managers(table: pd.DataFrame) -> int:
        return int(
            ((table["age"] < 20) & (table["occupation"] == "Exec-managerial")).sum()
        )

    drawn = draws(
        opened(people, adult_schema(*columns, low=17, high=90)),
        dp.Joint(columns=columns),
        1,
    )[0].sample(seed=1)
    # three cells at one in a million each
    assert abs(managers(drawn) - managers(people)) <= 14 * 3
    unlinked = (drawn["age"] < 20).sum() * (
        drawn["occupation"] == "Exec-managerial"
    ).mean()
    assert unlinked - managers(people) > 14 * 3


@pytest.mark.parametrize(
    "columns",
    [
        ("education",),
        ("education", "sex"),
        ("education", "sex", "marital-status"),
        ("education", "sex", "marital-status", "occupation"),
    ],
)
@pytest.mark.proof
def test_noise_is_the_same_law_for_every_number_of_columns(
    people: pd.DataFrame,
    columns: tuple[str, ...],
) -> None:
    """SEEDS C7 to C9, A21, B21: too much or too little noise in tables of several
    columns would pass.
    """
    schema = adult_schema(*columns)
    counts = exact_counts(people, schema, *columns)
    releases = draws(
        opened(people, schema), dp.Joint(columns=columns), max(20, 6_000 // counts.size)
    )
    noise = np.array(
        [each.marginals[columns].values - counts for each in releases]
    ).reshape(
        len(releases),
        -1,
    )
    assert laws.chi_square_p(noise.ravel(), UNIT_LAPLACE) > laws.FALSE_ALARM
    assert laws.uncorrelated(noise)
    rng = np.random.default_rng(1)
    for scale in (0.8, 1.25):
        wrong = laws.fast_laplace(noise.shape, scale, rng)
        assert laws.chi_square_p(wrong.ravel(), UNIT_LAPLACE) < laws.FALSE_ALARM


def test_a18_a_row_count_of_its_own_sizes_the_table(people: pd.DataFrame) -> None:
    """SEEDS A17, A18: a table as long as a noisy count says, and its range is off by
    well under a percent.
    """
    curator = opened(people, adult_schema("age"))
    errors = []
    for count, histogram in zip(
        draws(curator, dp.Marginals(cliques=[()]), 20),
        draws(curator, dp.Histogram("age"), 20),
        strict=True,
    ):
        rows = max(0, round(float(count.marginals[()].values)))
        assert abs(rows - len(people)) <= 20
        table = histogram.sample(rows)
        true = int(people["age"].between(20, 64).sum())
        errors.append(abs(dp.range_query(table, "age", 20, 65) - true) / true)
    assert np.mean(errors) < 0.00148
    assert max(errors) < 0.00416


def test_a19_independent_columns_lose_their_link(people: pd.DataFrame) -> None:
    """SEEDS A19: one-way marginals would be said to keep what they cannot."""
    columns = ("age", "marital-status")
    drawn = draws(
        opened(people, adult_schema(*columns)),
        dp.Independent(columns=columns),
        1,
        epsilon=2,
    )[0]
    assert cramers_v(people[list(columns)]) > 0.2
    assert cramers_v(drawn.sample(seed=1), least=1.0) < 0.06


def test_b24_marital_counts_from_pairs(people: pd.DataFrame) -> None:
    """SEEDS B24: the mean of many drawn tables would be further off than noise and
    empty cells say.
    """
    columns = ("age", "marital-status")
    true = people["marital-status"].value_counts().reindex(MARITAL).fillna(0).to_numpy()
    found = [
        release.sample()["marital-status"]
        .value_counts()
        .reindex(MARITAL)
        .fillna(0)
        .to_numpy()
        for release in draws(
            opened(people, adult_schema(*columns)), dp.Joint(columns=columns), 20
        )
    ]
    off = np.abs(np.array(found) - true).max(axis=0)
    assert (off <= 6 * np.sqrt(100 * laws.moments(UNIT_LAPLACE)[1]) + 20).all()
