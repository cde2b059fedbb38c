"""Categories found by a private threshold, and cuts at noisy quantiles."""

from __future__ import annotations

import pandas as pd
import pytest

import dpcore as dp
from dpcore.synthesis import Categories


def _curator(threshold_delta: str = "1e-6") -> dp.Curator:
    frame = pd.DataFrame(
        {
            "town": ["Aren"] * 400 + ["Belmar"] * 300 + ["Zz-canary"],
            "age": [*range(701)],
        }
    )
    schema = dp.Schema(
        columns=(
            dp.Categorical("town", categories=(), other=True),
            dp.Integer("age", low=0, high=999, bin_width=10),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    budget = dp.ApproxDP(epsilon="50", delta="1e-9", threshold_delta=threshold_delta)
    return dp.Curator.open(frame, schema, budget=budget, ledger=dp.MemoryLedger())


def test_common_texts_are_found_and_single_ones_are_not() -> None:
    """A text that one person alone holds would be named, or a common one missed."""
    release = _curator().run(Categories("town", delta="1e-7"), dp.PureDP(epsilon="1"))
    assert set(release.model.counts) == {"Aren", "Belmar"}
    assert abs(release.model.counts["Aren"] - 400) < 40
    assert "canary" not in release.to_json()


def test_what_was_found_can_be_declared_and_released() -> None:
    """The found categories could not be used as public ones."""
    curator = _curator()
    found = curator.release(
        curator.run(Categories("town", delta="1e-7"), dp.PureDP(epsilon="1")).request_id
    )
    column = found.model.to_column()
    assert column.categories == ("Aren", "Belmar")
    assert column.other
    assert not column.from_data


def test_the_delta_comes_out_of_what_was_set_aside_and_no_more() -> None:
    """Deltas of thresholds could add up beyond the promise."""
    curator = _curator("1e-6")
    curator.run(Categories("town", delta="9e-7"), dp.PureDP(epsilon="0.5"))
    before = curator.balance()
    with pytest.raises(dp.BudgetExceeded, match="set aside"):
        curator.run(Categories("town", delta="2e-7"), dp.PureDP(epsilon="0.5"))
    assert curator.balance() == before


def test_without_a_delta_nothing_is_named() -> None:
    """A budget of pure epsilon could be made to name unknown texts."""
    frame = pd.DataFrame({"town": ["Aren"] * 400})
    schema = dp.Schema(
        columns=(dp.Categorical("town", categories=(), other=True),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="3"), ledger=dp.MemoryLedger()
    )
    with pytest.raises(dp.BudgetExceeded):
        curator.run(Categories("town", delta="1e-9"), dp.PureDP(epsilon="1"))
    assert curator.balance().spent == 0
