"""A named target: its strongest pair is measured first, by one private choice."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.loss import ZCDP, Loss, PureDP
from dpcore.errors import DpcoreError
from dpcore.schema.domain import Domain

ROWS = 3_000


def table() -> pd.DataFrame:
    """Ten columns, of which one tells the class and the others one another."""
    rng = np.random.default_rng(1)
    said = rng.integers(0, 2, ROWS)
    frame = {"class": said, "tells": np.where(rng.random(ROWS) < 0.15, 1 - said, said)}
    shared = rng.integers(0, 6, ROWS)
    for place in range(8):
        changed = rng.random(ROWS) < 0.1
        frame[f"c{place}"] = np.where(changed, rng.integers(0, 6, ROWS), shared)
    return pd.DataFrame(frame)


SCHEMA = dp.Schema(
    columns=tuple(
        dp.Categorical(
            str(name), categories=tuple(range(2 if name in ("class", "tells") else 6))
        )
        for name in table().columns
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)


def curator(budget: dp.PureDP | dp.ApproxDP) -> dp.Curator:
    return dp.Curator.open(
        table(),
        SCHEMA,
        budget=budget,
        ledger=dp.MemoryLedger(),
    )


@pytest.mark.parametrize("loss", [ZCDP(rho=Fraction(1, 100)), PureDP(epsilon=2)])
def test_the_strongest_pair_of_the_target_is_chosen_and_measured(loss: Loss) -> None:
    budget: dp.PureDP | dp.ApproxDP = dp.ApproxDP(epsilon=8, delta="1e-9")
    if isinstance(loss, PureDP):
        budget = dp.PureDP(epsilon=8)
    opened = curator(budget)
    release = opened.run(dp.Adaptive(target="class"), loss)
    assert {"class", "tells"} in [set(clique) for clique in release.model.cliques]
    content = opened.lines()[-1].content
    choices = [
        event
        for event in content["events"]
        if event["mechanism"] in ("exponential", "permute and flip")
    ]
    assert all("class" in pair for pair in choices[0]["reads"])
    assert len(choices[0]["reads"]) == 9
    drawn = release.sample(seed=0)
    assert (drawn["class"] == drawn["tells"]).mean() > 0.7


def test_a_small_table_finds_the_pair_at_a_small_loss() -> None:
    """Columns that noise hides take most of the loss, but not what the choice needs.

    A column that decides a class of two equal halves leads by all rows.
    """
    domain = Domain(names=tuple(f"c{place}" for place in range(20)), sizes=(6,) * 20)
    loss = ZCDP(rho=dp.ApproxDP(epsilon="0.1", delta="1e-9").rho)
    recipe = dp.Adaptive(target="c0")
    assert recipe.sufficient_lead(domain, loss, 1, 5_000) < 2_500
    assert recipe.sufficient_lead(domain, loss, 1, 500) > 500


def test_a_target_is_written_only_if_there_is_one() -> None:
    plain = dp.Adaptive()
    named = dp.Adaptive(target="class")
    assert "target" not in plain.to_dict()
    assert dp.Adaptive.from_dict(plain.to_dict()) == plain
    assert dp.Adaptive.from_dict(named.to_dict()) == named


def test_a_target_that_cannot_be_predicted_is_refused_before_paying() -> None:
    single = dp.Schema(
        columns=(
            *SCHEMA.columns[1:],
            dp.Categorical("class", categories=(0, 1, 2)[:1], other=False),
        ),
        unit=SCHEMA.unit,
    )
    opened = dp.Curator.open(
        table().assign(**{"class": 0}),
        single,
        budget=dp.ApproxDP(epsilon=8, delta="1e-9"),
        ledger=dp.MemoryLedger(),
    )
    before = len(opened.lines())
    for target in ("class", "nobody"):
        with pytest.raises(DpcoreError, match=target):
            opened.run(dp.Adaptive(target=target), ZCDP(rho=Fraction(1, 400)))
    assert len(opened.lines()) == before
