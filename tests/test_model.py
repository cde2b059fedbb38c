"""Rare rows on demand from every release (SEEDS E10), and releases of two holders as
one (SEEDS E11).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.synthesis import PooledReleases, Recipe
from tests.synthesis.standin import total_variation

UNIT = dp.PrivacyUnit(max_rows=1)
SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=9),
        dp.Categorical("sex", categories=("F", "M")),
        dp.Real("size", low=0, high=1, bin_width=0.05),
    ),
    unit=UNIT,
)
LOUD = dp.PureDP(epsilon=10**6)
RECIPES: dict[str, Recipe] = {
    "joint": dp.Joint(columns=("age", "sex")),
    "chain": dp.Marginals(cliques=(("age", "sex"), ("sex", "size"))),
    "independent": dp.Independent(columns=("age", "sex")),
    "tree": dp.Tree(),
    "adaptive": dp.Adaptive(),
    "gaussian": dp.Gaussian(label="sex", features=("age", "size")),
    "some columns": dp.SomeColumns(columns=("age", "sex"), recipe=dp.Tree()),
}


def table(rows: int = 5_000, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    male = rng.random(rows) < 0.3
    age = np.clip(rng.normal(4 + 2 * male, 1.5, rows), 0, 9).astype(int)
    return pd.DataFrame(
        {"age": age, "sex": np.where(male, "M", "F"), "size": rng.beta(2, 5, rows)}
    )


def released(
    recipe: Recipe, frame: pd.DataFrame | None = None, loss: dp.PureDP = LOUD
) -> dp.Release:
    frame = table() if frame is None else frame
    curator = dp.Curator.open(frame, SCHEMA, budget=loss, ledger=dp.MemoryLedger())
    return curator.run(recipe, loss)


@pytest.mark.parametrize("kind", RECIPES)
def test_conditional_drawing_follows_the_model(kind: str) -> None:
    """E10: rows asked for by their cells must have them, and be like the model's own
    rows of these cells.
    """
    release = released(RECIPES[kind])
    asked = release.given({"sex": 1, "age": [6, 7, 8]})
    rows = asked.sample(20_000, seed=1)
    assert len(rows) == 20_000
    assert set(rows["sex"]) == {"M"}
    assert set(rows["age"]) <= {6, 7, 8}
    whole = release.sample(300_000, seed=2)
    same = whole[(whole["sex"] == "M") & whole["age"].isin([6, 7, 8])]
    counts = [
        each["age"].value_counts().reindex([6, 7, 8], fill_value=0).to_numpy()
        for each in (rows, same)
    ]
    assert total_variation(*counts) < 0.03
    assert asked.model.total == pytest.approx(
        release.model.total * len(same) / len(whole), rel=0.15
    )
    again = dp.Release.from_json(asked.to_json())
    assert again.sample(50, seed=3).equals(asked.sample(50, seed=3))
    assert set(asked.given({"age": 7}).sample(100)["age"]) == {7}


def test_impossible_and_unknown_conditions() -> None:
    """What the model never draws, or has no column for, gets a sentence instead of an
    endless search.
    """
    release = released(
        RECIPES["joint"],
        table()[lambda frame: frame["sex"] == "F"].reset_index(drop=True),
    )
    with pytest.raises(dp.InfeasibleError, match="rows"):
        release.given({"sex": 1}).sample(10)
    with pytest.raises(dp.ParameterError, match="not in the schema"):
        release.given({"size": 3})
    for cells in ({"age": 10}, {"age": -1}, {"age": []}):
        with pytest.raises(dp.ParameterError, match="cells"):
            release.given(cells)
    with pytest.raises(dp.ParameterError, match="not in the schema"):
        release.given({"height": 1})


@pytest.mark.parametrize("kind", ["joint", "tree", "gaussian"])
def test_two_holders_are_pooled_by_their_sizes(kind: str) -> None:
    """E11: a row must come from each as often as its noisy number of rows says; the
    schema stays.
    """
    first = table(3_000)
    second = table(1_000, 2)
    second["age"] = 9 - second["age"]
    releases = [released(RECIPES[kind], each) for each in (first, second)]
    drawn = PooledReleases(releases=releases).sample(40_000, seed=1)
    assert PooledReleases(releases=releases).total == pytest.approx(4_000, abs=5)
    single = [release.sample(40_000, seed=2) for release in releases]
    ages = [
        each["age"].value_counts(normalize=True).reindex(range(10), fill_value=0)
        for each in (drawn, *single)
    ]
    assert np.abs(ages[0] - 0.75 * ages[1] - 0.25 * ages[2]).sum() < 0.04
    assert list(drawn.columns) == list(releases[0].sample(1).columns)
    # in no order
    assert not (drawn.head(4_000)["age"].mean() - drawn["age"].mean()) > 0.3


def test_guarantees_stand_side_by_side() -> None:
    """E11: losses are added only where people are said to be the same, and not for
    nobody knows whom.
    """
    one, two = (
        released(RECIPES["joint"], table(500, seed), dp.PureDP(epsilon=e))
        for seed, e in ((1, 1), (2, "0.5"))
    )
    assert [
        each.loss["epsilon"] for each in PooledReleases(releases=[one, two]).guarantees
    ] == ["1", "1/2"]
    assert PooledReleases(releases=[one, two]).loss is None
    assert PooledReleases(releases=[one, two], people="different").loss == {
        "epsilon": "1"
    }
    assert PooledReleases(releases=[one, two], people="the same").loss == {
        "epsilon": "3/2"
    }


@pytest.mark.parametrize(
    ("people", "loss"), [("the same", "3"), ("different", "17/10")]
)
def test_pooled_releases_add_up_what_their_searches_cost(
    people: Any, loss: str
) -> None:
    """A page would say less than what was charged for cells and rows per person."""
    frame = table(3_000)[["age", "size"]].assign(person=range(3_000))
    suggested = dp.suggest_schema(frame.drop(columns="person"))
    unit = dp.PrivacyUnit(max_rows=1, id_column="person", found="1/20")
    schema = dp.Schema(columns=suggested.columns, unit=unit)
    curator = dp.open_with_cells(
        frame,
        schema,
        ["size"],
        budget=dp.PureDP(epsilon=9),
        ledger=dp.MemoryLedger(),
    )
    search = Fraction(curator.schema.found["size"].amount)
    assert search == Fraction(1, 20)
    releases = [
        curator.run(dp.Independent(columns=("age", "size")), dp.PureDP(epsilon=epsilon))
        for epsilon in ("1.2", "1.6")
    ]
    paid = [
        sum(Fraction(part["epsilon"]) for part in release.losses_paid)
        for release in releases
    ]
    assert paid == [Fraction("1.3"), Fraction("1.7")]
    assert curator.balance().spent == Fraction("2.9") * 10**12
    pooled = PooledReleases(releases=releases, people=people)
    assert pooled.loss == {"epsilon": loss}, "no less than the account was charged"


def narrower(frame: pd.DataFrame) -> dp.Release:
    schema = dp.Schema(
        columns=(dp.Integer("age", low=0, high=8), SCHEMA.columns[1]), unit=UNIT
    )
    curator = dp.Curator.open(frame, schema, budget=LOUD, ledger=dp.MemoryLedger())
    return curator.run(RECIPES["joint"], LOUD)


@pytest.mark.parametrize(
    "other", [narrower, lambda frame: released(dp.Histogram("age"), frame)]
)
def test_different_schemas_are_not_one_table(
    other: Callable[[pd.DataFrame], Any],
) -> None:
    """E11: cells with other bounds, or other columns, cannot be put under each
    other.
    """
    with pytest.raises(dp.SchemaError):
        PooledReleases(releases=[released(RECIPES["joint"]), other(table(50))])


def test_pooling_needs_two_releases() -> None:
    """One release, or one twice, is no pool."""
    release = released(RECIPES["joint"])
    for releases in ([release], [release, release], []):
        with pytest.raises(dp.SchemaError):
            PooledReleases(releases=releases)
    with pytest.raises(dp.ParameterError, match="rows"):
        PooledReleases(releases=[release, released(RECIPES["joint"], table(9))]).sample(
            -1
        )
