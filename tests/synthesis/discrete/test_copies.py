"""Columns that repeat another one: candidates by name, one noisy number each."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.loss import ZCDP, Loss, PureDP
from dpcore.mechanisms.sensitivity import noise_scale
from dpcore.synthesis.discrete.constraints import Constraints, FunctionalDependency
from dpcore.synthesis.discrete.copies import COPIES_SHARE, DiffersRule, copy_candidates
from dpcore.synthesis.discrete.recipes import table_recipe_arguments

# A hundredth of the rows, in which a copy may differ, is 5.4 deviations of its noise: one
# of the five copies of this file is missed once in a million runs.
ROWS = 6_000
RHO = ZCDP(rho=Fraction(3, 5))
BUDGET = dp.ApproxDP(epsilon=12, delta="1e-9")


def table(rows: int = ROWS) -> pd.DataFrame:
    """A score and its copy, one that differs in a tenth of the rows, and a day twice."""
    rng = np.random.default_rng(5)
    score = rng.integers(1, 11, rows)
    day = pd.Timestamp("2013-01-01") + pd.to_timedelta(
        rng.integers(0, 700, rows) * 86_400 + 3_600 * rng.integers(0, 24, rows),
        unit="s",
    )
    other = np.where(rng.random(rows) < 0.1, rng.integers(1, 11, rows), score)
    return pd.DataFrame(
        {
            "seen": day.astype(str),
            "first_seen": day.astype(str),
            "score": score,
            "score.1": score,
            "v_score": other,
            "group": rng.choice(["a", "b"], rows),
        }
    )


def released(
    kind: type[dp.Adaptive | dp.Tree],
    loss: Loss = RHO,
    frame: pd.DataFrame | None = None,
) -> dp.Release:
    frame = table() if frame is None else frame
    schema = dp.suggest_schema(frame)
    budget: dp.PureDP | dp.ApproxDP = BUDGET
    if isinstance(loss, PureDP):
        budget = dp.PureDP(epsilon=5)
    curator = dp.Curator.open(frame, schema, budget=budget, ledger=dp.MemoryLedger())
    return curator.run(kind(**table_recipe_arguments(schema.columns)), loss)


def test_names_alone_make_candidates() -> None:
    columns = dp.suggest_schema(table()).columns
    pairs = [(each.column, each.target) for each in copy_candidates(columns)]
    assert pairs == [("score", "score.1"), ("seen", "first_seen"), ("score", "v_score")]
    other = table().assign(
        first_seen=lambda frame: frame["seen"].str.replace("13", "14")
    )
    assert pairs == [
        (each.column, each.target)
        for each in copy_candidates(dp.suggest_schema(other).columns)
    ]
    assert copy_candidates([dp.Integer("x_1", low=0, high=1)]) == ()


@pytest.mark.parametrize("kind", [dp.Adaptive, dp.Tree])
def test_drawn_rows_repeat_copies_and_nothing_else(
    kind: type[dp.Adaptive | dp.Tree],
) -> None:
    release = released(kind)
    drawn = release.sample(seed=0)
    assert (drawn["score"] == drawn["score.1"]).all()
    assert (drawn["seen"] == drawn["first_seen"]).all()
    assert drawn["seen"].dt.hour.nunique() > 20
    # a tenth that differ are no copy
    assert ("v_score", "score") not in release.model.copies
    assert (drawn["score"] != drawn["v_score"]).any()
    again = dp.Release.from_json(release.to_json())
    pd.testing.assert_frame_equal(again.sample(seed=0), drawn)


def test_what_was_asked_is_charged_within_the_release() -> None:
    """Three counts of two cells, a fiftieth of the loss in all, and the rest as ever."""
    frame = table()
    schema = dp.suggest_schema(frame)
    curator = dp.Curator.open(
        frame,
        schema,
        budget=BUDGET,
        ledger=dp.MemoryLedger(),
    )
    curator.run(dp.Adaptive(**table_recipe_arguments(schema.columns)), RHO)
    events = curator.lines()[-1].content["events"]
    scale = noise_scale(max_rows=1, queries=1, loss=RHO.share(COPIES_SHARE / 3))
    pairs = [["score", "score.1"], ["seen", "first_seen"], ["score", "v_score"]]
    assert [
        (event["reads"], float.fromhex(event["noise_scale"])) for event in events[1:4]
    ] == [([pair], pytest.approx(scale)) for pair in pairs]


def test_a_model_says_whether_its_rows_are_refined() -> None:
    """Above some rows three parts of the method switched off, untold."""
    model = released(dp.Tree).model
    assert model.is_refined
    for rows, is_refined in ((300_000.0, True), (3e8, False)):
        graph = dataclasses.replace(model.graph, total=rows)
        assert dataclasses.replace(model, graph=graph).is_refined == is_refined


def test_where_noise_would_hide_copies_nothing_is_asked() -> None:
    small = table(200)
    assert released(dp.Adaptive, frame=small).model.copies == ()
    assert released(dp.Adaptive, PureDP(epsilon="1/4")).model.copies == ()
    assert released(dp.Tree, PureDP(epsilon=5)).model.copies != ()


def test_an_earlier_model_keeps_its_copies() -> None:
    frame = table()
    schema = dp.suggest_schema(frame)
    curator = dp.Curator.open(
        frame,
        schema,
        budget=BUDGET,
        ledger=dp.MemoryLedger(),
    )
    order = table_recipe_arguments(schema.columns)
    first = curator.run(dp.Adaptive(**order), RHO)
    weights = {("score.1", "group"): 4.0, ("score", "score.1"): 4.0}
    second = curator.run(dp.Adaptive(**order, earlier=first, weights=weights), RHO)
    assert second.model.copies == first.model.copies
    drawn = second.sample(seed=0)
    assert (drawn["score"] == drawn["score.1"]).all()


def test_facts_of_the_owner_come_first() -> None:
    frame = table()
    schema = dp.suggest_schema(frame)
    fact = FunctionalDependency(
        column="score",
        target="score.1",
        cells=tuple(range(schema.column("score").size)),
    )
    curator = dp.Curator.open(
        frame,
        schema,
        budget=BUDGET,
        ledger=dp.MemoryLedger(),
    )
    recipe = dp.Tree(
        **table_recipe_arguments(schema.columns),
        constraints=Constraints(determines=(fact,)),
    )
    assert ("score.1", "score") not in curator.run(recipe, RHO).model.copies
    assert dp.Tree.from_dict(recipe.to_dict()) == recipe


def test_rows_differ_each_by_itself() -> None:
    rows = pd.DataFrame({"a": [1, None, 2, None], "b": ["1", None, 3, 4]})
    assert DiffersRule(columns=("a", "b"))(rows).tolist() == [0, 0, 1, 1]
