"""Columns that tell a target only together: asked, fitted and drawn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpcore as dp
from dpcore.accounting.loss import ZCDP
from dpcore.mechanisms._selection import select_high_score
from dpcore.schema.domain import Domain
from dpcore.synthesis.discrete._interactions import (
    MAX_CUT_SETS,
    affordable_sets,
    choose_cut_sets,
    cut_columns,
)
from dpcore.synthesis.discrete.recipes import TARGET_CHANCE
from tests.statistical import laws

ROWS = 16_000
RULE = 0.96  # share of the rows that follow the rule
SIZES = (2,) * 9 + (3, 4, 5)
LOSS = dp.ApproxDP(epsilon=1, delta="1e-9")


def parity(inputs: int) -> pd.DataFrame:
    """Twelve independent columns, and a class that only `inputs` of them tell."""
    rng = np.random.default_rng(inputs)
    codes = np.column_stack([rng.integers(0, size, ROWS) for size in SIZES])
    frame = pd.DataFrame(codes, columns=[f"c{place}" for place in range(len(SIZES))])
    odd = codes[:, :inputs].sum(axis=1) % 2
    frame["class"] = np.where(rng.random(ROWS) < RULE, odd, 1 - odd)
    return frame


def run(
    frame: pd.DataFrame, recipe: dp.Adaptive, loss: dp.ApproxDP | ZCDP = LOSS
) -> tuple[dp.Release, dict]:
    columns = tuple(
        dp.Categorical(name, categories=tuple(range(int(frame[name].max()) + 1)))
        for name in frame
    )
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    curator = dp.Curator.open(frame, schema, budget=LOSS, ledger=dp.MemoryLedger())
    release = curator.run(recipe, loss)
    return release, curator.lines()[-1].content


def share_by_rule(drawn: pd.DataFrame, inputs: int) -> float:
    odd = drawn[[f"c{place}" for place in range(inputs)]].sum(axis=1) % 2
    return float((odd == drawn["class"]).mean())


@pytest.mark.parametrize("inputs", [2, 3])
def test_a_rule_of_several_columns_is_drawn(inputs: int) -> None:
    """No pair shows it: learners of drawn rows would do no better than chance."""
    frame = parity(inputs)
    release, _ = run(frame, dp.Adaptive(target="class"))
    assert share_by_rule(release.sample(ROWS, seed=0), inputs) > 0.94
    # the twin that no target is named in
    without, _ = run(frame, dp.Adaptive())
    assert share_by_rule(without.sample(ROWS, seed=0), inputs) < 0.6


def test_no_rule_is_made_up() -> None:
    """Among hundreds of sets the strongest looks strong by chance."""
    frame = parity(2)
    mixed = np.random.default_rng(3).permutation(frame["class"])
    release, _ = run(frame.assign(**{"class": mixed}), dp.Adaptive(target="class"))
    # contrasts of binary triples are measured in any table
    measured = [table for table in release.model.measurements if not table.signed]
    assert max(len(table.clique) for table in measured) <= 2


def asks_for_sets(content: dict) -> bool:
    return any(
        len(event["reads"]) > 100 and max(map(len, event["reads"])) == 4
        for event in content["events"]
    )


def test_a_target_that_a_pair_tells_costs_no_search() -> None:
    """The search is paid for; a table whose pairs tell the target must not pay it."""
    frame = parity(2)
    assert asks_for_sets(run(frame, dp.Adaptive(target="class"))[1])
    rng = np.random.default_rng(4)
    told = np.where(rng.random(ROWS) < 0.2, rng.integers(0, 2, ROWS), frame["c0"])
    _, content = run(frame.assign(**{"class": told}), dp.Adaptive(target="class"))
    assert not asks_for_sets(content)


def test_cuts_lie_close_to_half_of_the_rows() -> None:
    cuts = cut_columns(
        {
            "binary": np.array([10.0, 90.0]),
            "skewed": np.array([10.0, 30.0, 20.0, 40.0]),
            "single": np.array([100.0]),
        }
    )
    assert {name: [cut.tolist() for cut in found] for name, found in cuts.items()} == {
        "binary": [[1, -1]],
        "skewed": [[1, 1, -1, -1], [1, -1, 1, -1]],
    }


def test_what_does_not_fit_is_left_out_as_a_whole_kind() -> None:
    """Left out one by one, the order of the columns would decide what is found."""
    sides = {f"c{place}": [np.array([1.0, -1.0])] for place in range(10)}
    assert len(choose_cut_sets(sides, 200)) == 45 + 120
    assert len(choose_cut_sets(sides, 164)) == 45
    assert choose_cut_sets(sides, 44) == []


def test_sets_that_noise_would_hide_are_not_asked_for() -> None:
    counts = {f"c{place}": np.array([8_000.0, 8_000.0]) for place in range(40)}
    loud = affordable_sets(counts, "c0", ZCDP(rho="1e-5"), max_rows=1)
    quiet = affordable_sets(counts, "c0", ZCDP(rho="0.01"), max_rows=1)
    assert len(loud) < len(quiet) <= MAX_CUT_SETS
    assert affordable_sets(counts, "c0", ZCDP(rho="1e-9"), max_rows=1) == []


@pytest.mark.parametrize("rho", [LOSS.rho, Fraction(1, 10_000)])
def test_the_told_lead_is_enough_for_the_told_chance(rho: Fraction) -> None:
    """A lead told too small would promise a choice that noise decides; half is.

    Columns stand out from their noise under the larger loss only.
    """
    frame = parity(2)
    recipe = dp.Adaptive(target="class")
    sizes = {name: int(frame[name].max()) + 1 for name in frame}
    domain = Domain(names=tuple(sizes), sizes=tuple(sizes.values()))
    loss = ZCDP(rho=rho)
    lead = recipe.sufficient_lead(domain, loss, 1, ROWS)
    _, content = run(frame, recipe, loss)
    (choice,) = (e for e in content["events"] if e["mechanism"] == "exponential")
    runs = 4_000
    least = stats.binom.ppf(laws.FALSE_ALARM, runs, TARGET_CHANCE)
    for part, is_enough in ((1.0, True), (0.5, False)):
        scores = np.zeros(len(choice["reads"]), dtype=np.int64)
        scores[3] = round(1024 * lead * part)
        scale = 1024 * float.fromhex(choice["noise_scale"])
        right = sum(
            select_high_score(scores, noise_scale=scale, is_pure=False) == 3
            for _ in range(runs)
        )
        assert bool(right >= least) is is_enough
