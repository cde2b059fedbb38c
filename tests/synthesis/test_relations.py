"""What is said of relations before paying follows from public facts, and is neither
blind nor boastful.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.evaluation.utility.counts import cramers_v
from dpcore.schema.domain import Domain
from dpcore.synthesis import SyntheticModel, relations
from dpcore.synthesis.relations import (
    RelationTrial,
    count_in_runs,
    find_weakest_kept_relation,
    relation_share_kept,
)
from dpcore.tables.sums import to_levels

LOUD = dp.ZCDP(rho="0.00001")
QUIET = dp.ZCDP(rho="0.5")


def trial(
    loss: dp.ZCDP, sizes: tuple[int, ...] = (3, 4, 20, 20), rows: int = 5_000
) -> RelationTrial:
    return RelationTrial(
        recipe=dp.Adaptive(), sizes=sizes, loss=loss, rows=rows, max_rows=1
    )


def test_noise_that_drowns_everything_tells_nothing() -> None:
    """A relation would be promised that no release at this loss can tell."""
    many = trial(
        LOUD,
        sizes=(5,) * 8 + (20,) * 8,
    )  # by chance each of four pairs would have to come out, five times
    assert find_weakest_kept_relation(many) == {False: None, True: None}


def test_little_noise_tells_weak_relations() -> None:
    """The preview would warn of every release, and be read by nobody."""
    told = find_weakest_kept_relation(trial(QUIET))
    assert told[False] == min(relations.TRIAL_STRENGTHS)
    assert told[True] is not None
    assert told[True] <= 0.35


def test_luck_in_some_runs_promises_no_relation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a relation comes out in every third run, two lucky runs in a row would
    promise it to one person in nine, who would not be warned before paying.
    """
    outcomes = {0.1: iter([True] * 4 + [False]), 0.2: iter([True] * 5)}

    def draw(_trial: RelationTrial, strength: float) -> dict[bool, float]:
        return {False: float(next(outcomes[strength]))}

    monkeypatch.setattr(relations, "_share_of_pairs_kept", draw)
    narrow = trial(QUIET, sizes=(2, 3))
    assert find_weakest_kept_relation(narrow, [0.1, 0.2, 0.35]) == {False: 0.2}


def test_a_table_of_one_kind_of_pairs_is_told_of_that_kind_alone() -> None:
    """A sentence would be about wide columns that the table does not have."""
    assert set(find_weakest_kept_relation(trial(QUIET, sizes=(2, 3)))) == {False}


@pytest.mark.parametrize("strength", [0.2, 0.5, 0.9])
def test_invented_relations_are_as_strong_as_is_said(strength: float) -> None:
    """The association in the sentence would be another one than what was tried.

    Oracle: its definition.
    """
    even = trial(QUIET, sizes=(4, 4), rows=20_000)
    columns = relations._invent_columns(even, strength, np.random.default_rng(3))
    table = pd.crosstab(*columns, normalize=True)
    apart = np.outer(table.sum(axis=1), table.sum(axis=0))
    v = float(
        np.sqrt(
            (((table - apart) ** 2) / apart).to_numpy().sum() / (min(table.shape) - 1)
        )
    )
    assert cramers_v(count_in_runs(columns, (4, 4))[0]) == pytest.approx(v)
    assert v == pytest.approx(strength, abs=0.02)


def test_what_is_kept_is_judged_against_independence() -> None:
    """A model of independent columns would count as telling a relation."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 5, 4_000)
    frame = pd.DataFrame(
        {
            "a": first,
            "b": np.where(rng.random(4_000) < 0.8, first, rng.integers(0, 5, 4_000)),
        },
    )
    schema = dp.Schema(
        columns=tuple(dp.Integer(name, low=0, high=4) for name in frame),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    curator = dp.Curator.open(
        frame, schema, budget=dp.ZCDP(rho=100), ledger=dp.MemoryLedger()
    )
    model = curator.run(dp.Adaptive(), dp.ZCDP(rho=50)).model
    assert isinstance(model, SyntheticModel)
    codes = (frame["a"].to_numpy(), frame["b"].to_numpy())
    assert relation_share_kept(model, ("a", "b"), codes) > 0.9
    shuffled = (codes[0], rng.permutation(codes[1]))
    assert relation_share_kept(model, ("a", "b"), shuffled) < 0.5


def test_large_tables_are_tried_with_as_much_less_noise() -> None:
    """A table of a million rows would be told what one of twenty thousand is."""
    schema = dp.Schema(
        columns=tuple(dp.Integer(name, low=0, high=1) for name in ("a", "b")),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    million = RelationTrial.for_recipe(
        dp.Adaptive(), schema, dp.ZCDP(rho="0.01"), 1_000_000
    )
    assert million is not None
    assert (million.rows, float(million.loss.amount)) == (20_000, 0.01 * 50**2)
    assert (
        RelationTrial.for_recipe(dp.Histogram("a"), schema, dp.ZCDP(rho="0.01"), 100)
        is None
    )


def test_the_recipe_is_given_the_rows_of_the_invented_table() -> None:
    """What is promised of relations would be about a table that was counted wrongly.

    Oracle: a loop over the rows, at a loss of which the noise is next to nothing.
    """
    rng = np.random.default_rng(2)
    codes = {"a": rng.integers(0, 2, 300), "b": rng.integers(0, 3, 300)}
    rows = list(zip(codes["a"].tolist(), codes["b"].tolist(), strict=True))
    table = relations._InventedTable(Domain(names=("a", "b"), sizes=(2, 3)), codes)
    loss = dp.ZCDP(rho=10_000)
    measurer = table.measurer(loss, 1)
    merged = measurer.coarsen({"b": np.array([0, 0, 1])})
    (counts,) = merged.measure([("b", "a")], loss.share(0.5))
    signs = (1.0, -1.0)
    sums = measurer.measure_sums(
        ("b",), [{}, {"a": to_levels(np.array(signs))}], loss.share(0.5)
    )
    for cell in range(2):
        for a in range(2):
            exact = sum((b // 2, first) == (cell, a) for first, b in rows)
            assert abs(counts.values[cell, a] - exact) < 1
    for b in range(3):
        inside = [signs[first] for first, second in rows if second == b]
        assert sums.values[b] == pytest.approx([len(inside), sum(inside)], abs=0.5)
