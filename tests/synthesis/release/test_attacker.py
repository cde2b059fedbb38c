"""What an attacker achieves at most on one release, from the law of its noise."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.attacker import (
    FALSE_ALARMS,
    max_true_positives,
    true_positives_of_mu,
    true_positives_of_steps,
)
from dpcore.accounting.loss import AnyLoss
from dpcore.synthesis import Recipe, SomeColumns, attacker_limits

SCHEMA = dp.Schema(
    columns=tuple(
        dp.Categorical(name, categories=("x", "y", "z")) for name in ("a", "b")
    ),
    unit=dp.PrivacyUnit(max_rows=2),
)
COLUMNS = dp.Independent(("a", "b"))
PURE = dp.PureDP(epsilon=4)
RHO = dp.ZCDP(rho="0.5")


def released(recipe: Recipe, loss: AnyLoss) -> dp.Release:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.choice(["x", "y"], 300) for name in ("a", "b")})
    curator = dp.Curator.open(frame, SCHEMA, budget=loss, ledger=dp.MemoryLedger())
    return curator.run(recipe, loss)


@pytest.mark.parametrize(
    "recipe", [COLUMNS, SomeColumns(columns=("a", "b"), recipe=COLUMNS)]
)
def test_tables_named_in_advance(recipe: Recipe) -> None:
    """The law of two tables of half the loss each would not be used, or be another."""
    for rate, most in attacker_limits(released(recipe, PURE)).items():
        assert most == pytest.approx(true_positives_of_steps([2, 2], rate))
        # the likeliest outcome alone has more than 1 % false alarms
        assert rate == 0.01 or most < max_true_positives(PURE, rate)
    for rate, most in attacker_limits(released(recipe, RHO)).items():
        own = true_positives_of_mu(math.sqrt(2 * 0.5), rate)
        assert own < most < 1.02 * own < max_true_positives(RHO, rate)


@pytest.mark.parametrize(
    "loss", [PURE, RHO, dp.ApproxDP(epsilon=2, delta="1e-6")], ids=str
)
def test_tables_chosen_by_the_recipe(loss: AnyLoss) -> None:
    """Of a recipe that chooses its tables only the stated loss is known."""
    limits = attacker_limits(released(dp.Tree(), loss))
    assert limits == {rate: max_true_positives(loss, rate) for rate in FALSE_ALARMS}


def test_a_release_that_stands_on_another() -> None:
    """The loss of the earlier release would be left out."""
    first = released(dp.Tree(), RHO)
    second = released(dp.Adaptive(earlier=first), RHO)
    for rate, most in attacker_limits(second).items():
        assert most == max_true_positives(dp.ZCDP(rho=1), rate)


def test_tiny_noise_falls_back_to_the_stated_loss() -> None:
    """The surcharge for discrete noise was computed from a scale of half a row on."""
    loss = dp.ZCDP(rho=100)
    limits = attacker_limits(released(dp.Histogram("a"), loss))
    assert limits == {rate: max_true_positives(loss, rate) for rate in FALSE_ALARMS}
