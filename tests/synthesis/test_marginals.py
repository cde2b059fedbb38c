"""Recipes whose cliques are known in advance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.synthesis import Recipe

COLUMNS = tuple(
    dp.Integer(name, low=0, high=high) for name, high in (("a", 4), ("b", 2), ("c", 6))
)
SCHEMA = dp.Schema(columns=COLUMNS, unit=dp.PrivacyUnit(max_rows=1))
BIG = dp.PureDP(epsilon=9_000)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    a = rng.integers(0, 5, 3_000)
    b = (a + rng.integers(0, 2, 3_000)) % 3
    return pd.DataFrame({"a": a, "b": b, "c": (2 * b + rng.integers(0, 3, 3_000)) % 7})


def run(recipe: Recipe, loss: dp.PureDP = BIG) -> dp.Release:
    curator = dp.Curator.open(
        table(), SCHEMA, budget=dp.PureDP(epsilon=10_000), ledger=dp.MemoryLedger()
    )
    return curator.run(recipe, loss)


@pytest.mark.parametrize(
    ("recipe", "cliques"),
    [
        (dp.Histogram("a"), [("a",)]),
        (dp.Marginals(cliques=[("b", "a"), (), ("c",)]), [("b", "a"), (), ("c",)]),
        (dp.Independent(columns=["c", "a"]), [("c",), ("a",)]),
        (dp.Joint(columns=["c", "a", "b"]), [("c", "a", "b")]),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_what_is_published(recipe: Recipe, cliques: list[tuple[str, ...]]) -> None:
    """Each recipe must publish its own cliques, with the counts of the table behind the
    noise.
    """
    release = run(recipe)
    assert list(release.marginals) == cliques
    for clique, marginal in release.marginals.items():
        exact = np.zeros(marginal.values.shape)
        np.add.at(
            exact,
            tuple(table()[name].to_numpy() for name in clique),
            1 if clique else 3_000,
        )
        np.testing.assert_allclose(marginal.values, exact, atol=1e-6)
    again = dp.Release.from_json(release.to_json())
    assert again.to_json() == release.to_json()


def test_weights_share_the_loss() -> None:
    """A clique with three times the weight must get three quarters of the loss,
    exactly.
    """
    curator = dp.Curator.open(
        table(), SCHEMA, budget=dp.PureDP(epsilon=10), ledger=dp.MemoryLedger()
    )
    curator.run(
        dp.Marginals(cliques=[("a",), ("b",)], weights=(3, "1")), dp.PureDP(epsilon=2)
    )
    events = curator.lines()[-1].content["events"]
    scales = [Fraction(float.fromhex(event["noise_scale"])) for event in events]
    assert [round(float(1 / scale), 9) for scale in scales] == [1.5, 0.5]
    assert sum(1 / scale for scale in scales) <= 2


def test_independent_splits_evenly() -> None:
    """The cost of k columns is the stated loss, so each column gets a k-th of it."""
    release = run(dp.Independent(columns=("a", "b", "c")), dp.PureDP(epsilon=3))
    one = run(dp.Histogram("a"), dp.PureDP(epsilon=1))
    assert release.marginals[("a",)].variance < one.marginals[("a",)].variance
    assert release.marginals[("a",)].total == pytest.approx(
        release.marginals[("c",)].total
    )


def test_independent_loses_relations_and_joint_keeps_them() -> None:
    """The two recipes differ in what they keep: that is what a person chooses
    between.
    """
    assert run(dp.Joint(columns=("a", "b"))).sample(3_000, seed=1).corr().iloc[
        0, 1
    ] == pytest.approx(
        table()[["a", "b"]].corr().iloc[0, 1],
        abs=0.01,
    )
    assert (
        abs(
            run(dp.Independent(columns=("a", "b")))
            .sample(3_000, seed=1)
            .corr()
            .iloc[0, 1]
        )
        < 0.08
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: dp.Marginals(cliques=[]),
        lambda: dp.Marginals(cliques="ab"),
        lambda: dp.Marginals(cliques=["a", "b"]),
        lambda: dp.Marginals(cliques=[("a", "b"), ("b", "a")]),
        lambda: dp.Marginals(cliques=[("a",)], weights=(1, 2)),
        lambda: dp.Marginals(cliques=[("a",)], weights=(0,)),
        lambda: dp.Marginals(cliques=[("a",)], weights=(float("nan"),)),
        lambda: dp.Independent(columns=[]),
        lambda: dp.Independent(columns="a"),
        lambda: dp.Independent(columns=["a", "a"]),
        lambda: dp.Joint(columns=()),
        lambda: dp.Joint(columns=("b", "b")),
    ],
)
def test_recipes_check_themselves(wrong: object) -> None:
    """A recipe that makes no sense must be refused when it is made, in words."""
    with pytest.raises(dp.ParameterError):
        wrong()


@pytest.mark.parametrize(
    "recipe",
    [
        dp.Histogram("x"),
        dp.Marginals(cliques=[("a", "x")]),
        dp.Marginals(cliques=[("a", "a")]),
    ],
    ids=repr,
)
def test_recipes_check_the_domain(recipe: Recipe) -> None:
    """Unknown and doubled columns are refused before anything is charged."""
    with pytest.raises(dp.ParameterError):
        recipe.check(SCHEMA.domain)


def test_recipes_are_plain_data() -> None:
    """The ledger keeps what was asked: it must be readable without this program."""
    assert dp.Histogram("a").to_dict() == {"kind": "histogram", "column": "a"}
    weighted = dp.Marginals(cliques=[("a",), ("a", "b")], weights=("0.5", 2))
    assert weighted.to_dict() == {
        "kind": "marginals",
        "cliques": [["a"], ["a", "b"]],
        "weights": ["1/2", "2"],
    }


def test_columns_that_are_measured_are_sampled() -> None:
    """A table drawn from some columns holds these, in the schema's order, with the
    schema's kinds.
    """
    sampled = run(dp.Marginals(cliques=[("c", "a")])).sample(10)
    assert list(sampled.columns) == ["a", "c"]
    assert (sampled.dtypes == "int64").all()
