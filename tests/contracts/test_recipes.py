"""What every recipe keeps, whatever it learns: one suite, in which each recipe is registered."""

from __future__ import annotations

import inspect
import json
from fractions import Fraction

import pandas as pd
import pytest

import dpcore as dp
from dpcore import synthesis
from dpcore.accounting.events import Event
from dpcore.accounting.ledger import Line
from dpcore.accounting.loss import AnyLoss
from dpcore.synthesis import Categories, Gaussian, Recipe, SomeColumns, Statistics
from dpcore.synthesis.pipeline import Closeness

RECIPES: list[Recipe] = [
    dp.Histogram("age"),
    dp.Marginals(cliques=[("age",), ("age", "sex")]),
    dp.Independent(columns=("age", "sex", "town")),
    dp.Joint(columns=("age", "sex")),
    dp.Tree(),
    dp.Adaptive(rounds=3),
    SomeColumns(columns=("age", "sex"), recipe=dp.Tree()),
    Categories("town", delta="1e-7"),
    Gaussian(label="sex", features=("age",)),
    Statistics(column="age", centers=tuple(range(10))),
]
LOSSES: list[AnyLoss] = [dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=1, delta="1e-6")]
FRAME = pd.DataFrame(
    {
        "age": [i * 7 % 10 for i in range(600)],
        "sex": ["F" if i % 3 else "M" for i in range(600)],
        "town": ["north" if i % 4 else "south" for i in range(600)],
    }
)
SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=9),
        dp.Categorical("sex", categories=("F", "M")),
        dp.Categorical("town", categories=("north", "south")),
    ),
    unit=dp.PrivacyUnit(max_rows=2),
)
each_recipe = pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.kind)
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


def opened(recipe: Recipe, loss: AnyLoss) -> dp.Curator:
    """A data set with a budget for this loss, and a millionth set aside where a recipe needs a threshold."""
    budget: AnyLoss = dp.PureDP(epsilon=3)
    if isinstance(recipe, Categories) or isinstance(loss, dp.ApproxDP):
        budget = dp.ApproxDP(epsilon=20, delta="1e-6", threshold_delta="1e-6")
    return dp.Curator.open(FRAME, SCHEMA, budget=budget, ledger=dp.MemoryLedger())


def runs(curator: dp.Curator) -> list[Line]:
    """The lines of the ledger that are about runs."""
    return [line for line in curator.lines() if line.request_id]


def test_every_recipe_is_registered() -> None:
    """A recipe that nobody put to these tests."""
    public = [getattr(synthesis, name) for name in synthesis.__all__]
    recipes = {each for each in public if inspect.isclass(each) and hasattr(each, "expect")}
    recipes -= {Recipe, Closeness}  # closeness is a step of a pipeline, with tests of its own
    assert recipes == {type(recipe) for recipe in RECIPES}


def test_kinds_are_distinct() -> None:
    """Two recipes of one kind would return each other's stored release."""
    kinds = [recipe.kind for recipe in RECIPES]
    assert len(set(kinds)) == len(kinds)


@each_recipe
@each_loss
def test_it_spends_what_was_asked_and_no_more(recipe: Recipe, loss: AnyLoss) -> None:
    """More was read than the ledger says, or less than people paid for."""
    curator = opened(recipe, loss)
    quote = curator.quote(recipe, loss)
    curator.run(recipe, loss)
    line = runs(curator)[-1]
    assert line.state == "committed"
    assert curator.balance().spent == quote.own_charge
    events = [Event.from_dict(fields) for fields in line.content["events"]]
    pure = isinstance(loss, dp.PureDP)
    cost = sum(((event.epsilon or Fraction(0)) if pure else event.rho for event in events), Fraction(0))
    reserved = loss.amount if isinstance(loss, dp.PureDP) else loss.rho
    assert 0 < cost <= reserved


@each_recipe
@each_loss
def test_the_error_is_as_expected(recipe: Recipe, loss: AnyLoss) -> None:
    """People would decide by an error that the release does not have."""
    curator = opened(recipe, loss)
    expected = {each.clique: each.variance for each in curator.quote(recipe, loss).expected}
    release = curator.run(recipe, loss)
    shared = expected.keys() & release.marginals.keys()
    assert shared == expected.keys() or not release.marginals
    for clique in shared:
        assert release.marginals[clique].variance <= expected[clique] * (1 + 1e-9)


@each_recipe
def test_a_release_outlives_the_run(recipe: Recipe) -> None:
    """What was paid for would be lost with the tab."""
    curator = opened(recipe, LOSSES[0])
    release = curator.run(recipe, LOSSES[0])
    assert curator.release(release.request_id).to_json() == release.to_json()
    assert curator.run(recipe, LOSSES[0]).request_id == release.request_id  # the same again is free
    assert json.loads(release.to_json())["recipe"] == json.loads(json.dumps(recipe.to_dict()))


@each_recipe
def test_an_unknown_column_is_refused_before_any_charge(recipe: Recipe) -> None:
    """People would pay for an error."""
    other = dp.Schema(columns=(dp.Integer("height", low=0, high=9),), unit=dp.PrivacyUnit(max_rows=1))
    frame = pd.DataFrame({"height": [1, 2, 3] * 50})
    curator = dp.Curator.open(frame, other, budget=dp.PureDP(epsilon=3), ledger=dp.MemoryLedger())
    if type(recipe) in (dp.Tree, dp.Adaptive):
        pytest.skip("takes every column that there is")
    with pytest.raises(dp.DpcoreError):
        curator.run(recipe, LOSSES[0])
    assert runs(curator) == []
