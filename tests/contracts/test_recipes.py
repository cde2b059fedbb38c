"""What every recipe promises, once for all of them.

A new recipe is put into `RECIPES`, with inputs that public facts alone can refuse into
`HOPELESS`; `test_every_recipe_is_here` fails until it is.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
import dpcore.synthesis
from dpcore.accounting.events import Event
from dpcore.accounting.loss import AnyLoss
from dpcore.mechanisms.rehearsal import Rehearsal
from dpcore.progress import ignore_stage_progress
from dpcore.synthesis import Categories, Tree, describe_recipe, load_model, load_recipe
from dpcore.synthesis.base import Recipe
from dpcore.synthesis.closeness import Closeness
from dpcore.synthesis.discrete.constraints import Constraints, FunctionalDependency
from dpcore.synthesis.gaussian.recipe import Gaussian
from dpcore.synthesis.statistics import Statistics
from dpcore.text import Text
from tests.needs import does_not_apply

SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=19),
        dp.Categorical("sex", categories=("F", "M")),
        dp.Categorical("town", categories=tuple("abcde"), other=True, missing=True),
        dp.Integer("pay", low=0, high=9),
    ),
    unit=dp.PrivacyUnit(max_rows=2),
)
DOMAIN = SCHEMA.domain
DELTA = "1e-7"
RECIPES: dict[str, Recipe] = {
    "Histogram": dp.Histogram("age"),
    "Marginals": dp.Marginals(
        cliques=[("age",), ("age", "sex"), ()], weights=(1, 2, 3)
    ),
    "Independent": dp.Independent(columns=("age", "sex")),
    "Joint": dp.Joint(columns=("age", "sex")),
    "Tree": Tree(ordered=frozenset({"age"})),
    "Adaptive": dp.Adaptive(),
    "SomeColumns": dp.SomeColumns(columns=("age", "sex"), recipe=Tree()),
    "Categories": Categories("town", delta=DELTA),
    "Gaussian": Gaussian(label="sex", features=("age", "pay")),
    "Closeness": Closeness(columns=("sex",), counts=(3.0, 4.0)),
    "Statistics": Statistics.for_column(SCHEMA, "age"),
}
NOWHERE = Constraints(
    determines=(FunctionalDependency(column="age", target="height", cells=(0,) * 20),)
)
HOPELESS: list[Recipe] = [
    dp.Histogram("height"),
    dp.Marginals(cliques=[("age", "height")]),
    dp.Independent(columns=("height",)),
    dp.Joint(columns=("age", "height")),
    Tree(ordered=frozenset({"height"})),
    Tree(constraints=NOWHERE),
    dp.Adaptive(weights={("age", "height"): 2.0}),
    dp.Adaptive(constraints=NOWHERE),
    dp.SomeColumns(columns=("height",), recipe=Tree()),
    dp.SomeColumns(columns=("age",), recipe=dp.Histogram("sex")),
    dp.SomeColumns(columns=("age",), recipe=Categories("town", delta=DELTA)),
    Categories("height", delta=DELTA),
    Categories("town", delta="1e-4"),  # more than was set aside
    Categories("town", delta="1e-40"),  # no threshold is so high
    Gaussian(label="height", features=("age",)),
    Gaussian(label="sex", features=("height",)),
    Closeness(columns=("sex",), counts=(1.0, 2.0, 3.0)),
    Closeness(columns=("height",), counts=(1.0,)),
    Statistics(column="height", centers=(1.0, 2.0)),
    Statistics(column="sex", centers=(1.0, 2.0, 3.0)),
]
LOSSES = [dp.PureDP(epsilon=1), dp.ZCDP(rho="0.1")]


def frame(rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(8)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 20, rows),
            "sex": rng.choice(["F", "M"], rows),
            "town": rng.choice(list("abcdexyz"), rows),
            "pay": rng.integers(0, 10, rows),
        },
    )


def opened(rows: int = 60) -> dp.Curator:
    budget = dp.ApproxDP(epsilon=50, delta="1e-9", threshold_delta="1e-6")
    return dp.Curator.open(frame(rows), SCHEMA, budget=budget, ledger=dp.MemoryLedger())


def refused_by_loss(recipe: Recipe, loss: AnyLoss) -> bool:
    try:
        recipe.fit(rehearsal(recipe, loss), ignore_stage_progress)
    except dp.DpcoreError:
        return True
    return False


def rehearsal(recipe: Recipe, loss: Any) -> Rehearsal:
    return Rehearsal(
        domain=DOMAIN, loss=loss, max_rows=2, part=None, delta=recipe.threshold_delta
    )


def test_every_recipe_is_here() -> None:
    """A recipe that this suite does not know could charge for what it then refuses."""
    found = set()
    for module in pkgutil.walk_packages(dpcore.synthesis.__path__, "dpcore.synthesis."):
        for name, member in vars(importlib.import_module(module.name)).items():
            own = isinstance(member, type) and member.__module__ == module.name
            if own and "kind" in vars(member) and hasattr(member, "fit"):
                assert Recipe in member.__mro__, name
                found.add(name)
    assert (
        found == set(RECIPES) == {type(recipe).__name__ for recipe in RECIPES.values()}
    )


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("name", RECIPES)
def test_one_release_has_one_number(name: str, loss: AnyLoss) -> None:
    """Pictures, files, questions and drawn rows of one release would tell different
    numbers of rows.
    """
    recipe = RECIPES[name]
    if isinstance(recipe, Categories | Closeness | Statistics):
        return  # figures and names, no tables
    release = opened().run(recipe, loss)
    total = max(0.0, release.model.total)
    for clique in [
        (),
        *release.marginals,
        *((name,) for each in release.marginals for name in each),
    ]:
        told = release.answer(clique)
        assert told.is_measured
        assert (told.values >= 0).all()
        assert (told.low >= 0).all()
        assert (told.low <= told.values).all()
        assert (told.values <= told.high).all()
        assert float(told.values.sum()) == pytest.approx(
            total if len(release.marginals) else 0.0, rel=1e-6
        )
        if clique in release.marginals:
            listed_rows = release.table(clique)
            assert listed_rows["rows"].tolist() == told.values.ravel().tolist()
        for column in clique[:1]:
            first = told.values[0].sum()
            cell = release.schema.column(column)
            bounds = getattr(cell, "bounds", None)
            asked = (bounds[0], bounds[1]) if bounds else cell.labels[0]
            found = dp.count_rows(release, {column: asked})
            assert found.value == pytest.approx(float(first), rel=1e-6, abs=1e-6)
            assert found.low <= found.value <= found.high
    assert dp.count_rows(release, {}).value == pytest.approx(total, rel=1e-6)
    if release.model_columns:
        assert len(release.sample()) == round(total)


@pytest.mark.parametrize("name", RECIPES)
def test_what_is_stored_is_told_and_read_back(name: str) -> None:
    """A ledger would list the bare kind of a recipe, or an attack would be made on
    another recipe.
    """
    stored = json.loads(json.dumps(RECIPES[name].to_dict()))
    told = describe_recipe(stored)
    assert isinstance(told, Text)
    assert told != RECIPES[name].kind
    again = load_recipe(stored)
    assert (again is None) == (name == "Closeness")  # of which a digest is stored
    assert again is None or again.to_dict() == RECIPES[name].to_dict()
    assert set(RECIPES[name].reads(DOMAIN)) <= set(DOMAIN.names)


def test_unknown_recipes_are_named_by_their_kind() -> None:
    """The ledger of a newer version could not be shown."""
    assert describe_recipe({"kind": "newer"}) == "newer"
    assert load_recipe({"kind": "newer"}) is None


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", RECIPES)
def test_a_dry_run_reads_and_draws_nothing_of_its_own(name: str, loss: AnyLoss) -> None:
    """A recipe that cannot run on no rows would be refused for every table, or fail on
    an empty part.
    """
    recipe = RECIPES[name]
    recipe.check(DOMAIN)
    if name == "Statistics" and refused_by_loss(recipe, loss):
        does_not_apply("these statistics are not asked for under this loss")
    dry = rehearsal(recipe, loss)
    _, model = recipe.fit(dry, ignore_stage_progress)
    json.dumps(model.to_dict())
    costs = [
        event.epsilon if isinstance(loss, dp.PureDP) else event.rho
        for event in dry.events
    ]
    assert 0 < sum(cost for cost in costs if cost is not None) <= loss.amount  # type: ignore[union-attr]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", RECIPES)
def test_a_run_charges_once_and_its_record_stays_within(
    name: str, loss: AnyLoss
) -> None:
    """What a recipe spends, by its own record, must be within what was charged; its
    plan is plain data.
    """
    recipe = RECIPES[name]
    curator = opened()
    quote = curator.quote(recipe, loss)
    release = curator.run(recipe, loss)
    assert curator.balance().spent == quote.charge
    events = [Event.from_dict(event) for event in curator.lines()[-1].content["events"]]
    costs = [
        event.epsilon if isinstance(loss, dp.PureDP) else event.rho for event in events
    ]
    total = sum(cost for cost in costs if cost is not None)
    assert total <= loss.amount  # type: ignore[union-attr]
    assert total >= loss.amount * (
        Fraction(1, 2) if name == "Categories" else Fraction(999, 1000)
    )  # type: ignore[union-attr]
    assert {event.rows for event in events} == {2}
    again = load_model(json.loads(json.dumps(release.model.to_dict())))
    assert again.to_dict() == release.model.to_dict()
    assert json.loads(json.dumps(recipe.to_dict()))["kind"] == recipe.kind
    read = {column for event in events for clique in event.reads for column in clique}
    assert set(release.schema.domain.names) <= read | set(release.model.columns)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("recipe", HOPELESS, ids=lambda recipe: recipe.kind)
def test_what_is_hopeless_is_refused_before_the_charge(
    recipe: Recipe, loss: AnyLoss
) -> None:
    """Public facts alone refuse these; a charge for them would be budget for
    nothing.
    """
    curator = opened()
    loss = (
        dp.PureDP(epsilon="1e-7")
        if recipe.threshold_delta == Fraction(1, 10**40)
        else loss
    )
    with pytest.raises(dp.DpcoreError):
        curator.run(recipe, loss)
    assert len(curator.lines()) == 1


def test_every_recipe_has_a_hopeless_input() -> None:
    """Without one, nobody knows whether its refusals charge."""
    assert {type(recipe) for recipe in HOPELESS} >= {
        type(recipe) for recipe in RECIPES.values()
    } - {
        Statistics,
    }


@pytest.mark.parametrize("name", ["Tree", "Adaptive", "Gaussian", "Joint"])
def test_a_table_of_one_row_is_a_table(name: str) -> None:
    """Nearly no rows, all noise: the recipe must still come to an end, or the charge is
    lost.
    """
    curator = opened(rows=1)
    for loss in (dp.PureDP(epsilon="0.001"), dp.ZCDP(rho="0.00001")):
        curator.run(RECIPES[name], loss)
    assert {line.state for line in curator.lines()} == {
        "opened",
        "reserved",
        "committed",
    }


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", RECIPES)
def test_the_error_is_at_most_the_one_that_was_quoted(name: str, loss: AnyLoss) -> None:
    """People would decide by an error that the release does not have."""
    curator = opened(600)
    expected = {
        each.clique: each.variance
        for each in curator.quote(RECIPES[name], loss).expected
    }
    release = curator.run(RECIPES[name], loss)
    for clique in expected.keys() & release.marginals.keys():
        assert release.marginals[clique].variance <= expected[clique] * (1 + 1e-9)
