"""Rows of a learned table that are drawn for known cells."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.synthesis import SyntheticModel
from dpcore.synthesis.discrete import model as discrete
from dpcore.synthesis.discrete.constraints import Constraints, FunctionalDependency

ROWS = 4_000
HALF = FunctionalDependency(column="a", target="half", cells=(0, 0, 1, 1))


@cache
def learned() -> dp.Release:
    """b follows a, c is a wide column that follows b, and half is a // 2."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 4, ROWS)
    b = np.where(rng.random(ROWS) < 0.9, a, rng.integers(0, 4, ROWS))
    frame = pd.DataFrame(
        {"a": a, "half": a // 2, "b": b, "c": 10 * b + rng.integers(0, 10, ROWS)}
    )
    schema = dp.Schema(
        columns=tuple(
            dp.Integer(name, low=0, high=high)
            for name, high in (("a", 3), ("half", 1), ("b", 3), ("c", 39))
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    loss = dp.ApproxDP(epsilon=50, delta="1e-9")
    curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
    recipe = dp.Adaptive(
        ordered=frozenset("abc"), constraints=Constraints(determines=(HALF,))
    )
    return curator.run(recipe, loss)


def model() -> SyntheticModel:
    made = learned().model
    assert isinstance(made, SyntheticModel)
    return made


def known_rows(rows: int = 2_000) -> dict[str, np.ndarray]:
    return {"a": np.arange(rows) % 4}


@pytest.mark.parametrize("passes", [None, 0], ids=["refined", "not refined"])
def test_other_columns_follow_the_known_ones(
    passes: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Swaps towards other pairs would undo what was drawn for a known cell."""
    if passes is not None:
        monkeypatch.setattr(discrete, "affordable_passes", lambda *_: passes)
    known = known_rows()
    codes, _ = model().sample_known(known, np.random.default_rng(2))
    assert (codes["a"] == known["a"]).all()
    assert (codes["half"] == known["a"] // 2).all()
    assert abs((codes["b"] == known["a"]).mean() - 0.925) < 0.03
    assert (codes["c"] // 10 == codes["b"]).mean() > 0.85


def test_rows_without_known_cells_do_not_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test above would pass for any rows."""
    codes, _ = model().sample_ranked(2_000, np.random.default_rng(2))
    assert (codes["b"] == known_rows()["a"]).mean() < 0.5


def test_known_rows_of_another_law_are_kept() -> None:
    """Rows would be moved until the known column is as in the table."""
    known = {"a": np.zeros(1_000, dtype=np.int64)}
    codes, _ = model().sample_known(known, np.random.default_rng(3))
    assert (codes["a"] == 0).all()
    assert (codes["b"] == 0).mean() > 0.85


def test_a_known_determined_column_stays() -> None:
    """A person would have another value in an event than in the table of people."""
    known = known_rows() | {"half": np.ones(2_000, dtype=np.int64)}
    codes, ranks = model().sample_known(known, np.random.default_rng(4))
    assert (codes["half"] == 1).all()
    assert not ranks.keys() & known.keys()


def test_an_unknown_name_is_refused() -> None:
    """A misspelled column would be ignored."""
    with pytest.raises(dp.DpcoreError, match="'d' is not in the schema"):
        model().sample_known({"d": np.zeros(1, np.int64)}, np.random.default_rng(0))
