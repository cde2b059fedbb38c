"""Recipes run again from what a release says of itself, and methods swept over epsilon
on public tables.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.loss import loss_from_fields
from dpcore.errors import ParameterError
from dpcore.synthesis import Adaptive, Gaussian, Recipe, SomeColumns, Tree, load_recipe
from tests.evaluation.people import SCHEMA, people
from workbench.evaluate import methods
from workbench.server.workers import rerun

RECIPES: list[Recipe] = [
    dp.Histogram("age"),
    dp.Marginals(cliques=(("age", "city"), ("married",)), weights=(1, 2)),
    dp.Independent(columns=("age", "city")),
    dp.Joint(columns=("city", "married")),
    SomeColumns(
        columns=("age", "city", "married"), recipe=Tree(ordered=frozenset({"age"}))
    ),
    SomeColumns(
        columns=("age", "city", "married"),
        recipe=Adaptive(weights={("age", "city"): 2.0}, rounds=1),
    ),
    Gaussian(label="married", features=("age", "income"), one_hot=("city",)),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.kind)
def test_a_stored_release_names_its_recipe(recipe: Recipe) -> None:
    """The attacks would be made on something else than what was released."""
    frame = people(300, 1)
    curator = dp.Curator.open(
        frame, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    release = curator.release(curator.run(recipe, dp.PureDP(epsilon=1)).request_id)
    found = load_recipe(release.recipe)
    assert found is not None
    assert found.to_dict() == recipe.to_dict()
    assert loss_from_fields(release.guarantee.loss) == dp.PureDP(epsilon=1)
    make = rerun.recipe_run_of(release, SCHEMA)
    assert make is not None
    assert set(make(people(200, 2)).sample(seed=1).columns) == set(
        release.sample(seed=1).columns
    )
    assert curator.balance().remaining_units == 0


def test_what_cannot_be_run_again_says_so() -> None:
    """A recipe of another kind would be guessed."""
    assert load_recipe({"kind": "something new"}) is None
    assert load_recipe({"kind": "adaptive", "earlier": "digest"}) is None


def labeled(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    label = rng.choice([-1, 1], rows)
    return pd.DataFrame(
        {"a": np.clip(rng.normal(0.4 * label, 0.3), -1, 1).round(3), "label": label}
    )


def test_two_numbers_are_a_label() -> None:
    """The three tables of the book have labels -1 and 1 (P1): a sweep would find
    nothing to learn.
    """
    table = methods.public_table("book", labeled(200))
    assert table.target == "label"
    with pytest.raises(ParameterError, match="two to ten classes"):
        methods.public_table("numbers", labeled(200)[["a"]])


def test_a_sweep_has_every_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """E12, P4 and G7: a method, a k, a scenario or the original would be missing beside
    the others.
    """
    monkeypatch.setattr(methods, "SPLITS_PER_TABLE", 2)
    stages: list[float] = []
    frame = methods.sweep_epsilons(
        [methods.public_table("book", labeled(240))],
        ["gaussian", "mdav-25"],
        (0.5, 5.0),
        lambda stage, share: stages.append(share),
    )
    learned = frame[frame["measure"] == "accuracy"]
    lines = set(
        zip(
            learned["method"],
            learned["epsilon"],
            learned["scenario"].str[0],
            strict=True,
        )
    )
    names = {"Gaussian by class", "MDAV, k = 25 (no epsilon)", "original, no privacy"}
    assert lines == {
        (name, epsilon, scenario)
        for name in names
        for epsilon in (0.5, 5.0)
        for scenario in "12"
    }
    assert set(frame["measure"]) == {"accuracy", "f1", "mse", "r2", "nmi", "pairs"}
    assert not frame.duplicated(["method", "epsilon", "scenario", "measure"]).any()
    level = (
        learned[learned["method"].str.startswith("MDAV")]
        .groupby("scenario")["mean"]
        .nunique()
    )
    assert set(level) == {1}
    assert ((frame["low"] <= frame["mean"]) & (frame["mean"] <= frame["high"])).all()
    assert stages == sorted(stages)
