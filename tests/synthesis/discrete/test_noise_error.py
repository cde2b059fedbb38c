"""The error that noise explains: what it says is what noise does, and what it cannot
tell is left open.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp

SCHEMA = dp.Schema(
    columns=(dp.Integer("a", low=0, high=9), dp.Integer("b", low=0, high=4)),
    unit=dp.PrivacyUnit(max_rows=1),
)
RUNS = 60


@pytest.mark.parametrize(
    "loss", [dp.PureDP(epsilon=1), dp.ZCDP(rho="1/20")], ids=["laplace", "gaussian"]
)
def test_the_noise_of_a_pair_is_as_large_as_it_says(loss: dp.PureDP | dp.ZCDP) -> None:
    """The page would show noise as a fault of the model, or the other way round."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"a": rng.integers(0, 10, 5_000), "b": rng.integers(0, 5, 5_000)}
    )
    truth = pd.crosstab(frame["a"], frame["b"]).to_numpy()
    off = []
    said = []
    budget = type(loss)(**{loss.name: loss.amount * RUNS})
    curator = dp.Curator.open(frame, SCHEMA, budget=budget, ledger=dp.MemoryLedger())
    for number in range(RUNS):
        release = curator.run(dp.Tree(), loss, request_id=f"r{number}")
        off.append(
            np.abs(release.marginals["a", "b"].values - truth).sum() / 2 / len(frame)
        )
        said.append(release.model.noise_errors().to_numpy()[0, 1])
    # of one deviation Gaussian noise is 0.80 off on average, Laplace noise 0.71
    share = np.mean(off) / np.mean(said)
    wanted = 0.886 if isinstance(loss, dp.PureDP) else 1.0
    # 6 deviations of it, beside 0.05 that agreement takes off
    assert abs(share - wanted) < 0.15
    assert abs(share / 2 - wanted) > 0.15  # the twin: half or twice the noise


def test_a_pair_that_no_table_held_is_left_open() -> None:
    """An assumption would be shown as an error of nothing."""
    frame = pd.DataFrame({"a": np.arange(500) % 10, "b": np.arange(500) % 5})
    schema = dp.Schema(
        columns=(*SCHEMA.columns, dp.Integer("c", low=0, high=4)), unit=SCHEMA.unit
    )
    curator = dp.Curator.open(
        frame.assign(c=frame["b"]),
        schema,
        budget=dp.PureDP(epsilon=1),
        ledger=dp.MemoryLedger(),
    )
    found = curator.run(dp.Tree(), dp.PureDP(epsilon=1)).model.noise_errors()
    assert list(found.columns) == list(found.index) == ["a", "b", "c"]
    # two of the three pairs are in the tree
    assert np.isnan(found.to_numpy()).sum() == 2
    assert (np.diag(found) > 0).all()
