"""SEEDS B2: outlier removal by density is a preview for the owner, and never a step of
a release.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.evaluation.table.outliers import OutlierRowsQuestion, find_thin_rows

SCHEMA = dp.Schema(
    columns=(
        dp.Real("x", low=-10, high=10, bin_width=0.01),
        dp.Real("y", low=-10, high=10, bin_width=0.01),
        dp.Categorical("sex", categories=("F", "M")),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)


def table() -> pd.DataFrame:
    """Two dense clouds and one point far from both, the last row."""
    rng = np.random.default_rng(1)
    clouds = np.concatenate(
        [rng.normal(-3, 0.5, (100, 2)), rng.normal(3, 0.5, (100, 2)), [[9.0, -9.0]]]
    )
    return pd.DataFrame({"x": clouds[:, 0], "y": clouds[:, 1], "sex": "F"})


def test_a_planted_far_point_goes_and_dense_points_stay() -> None:
    """B2: the far point must be marked, and the middle of the clouds must not."""
    found = find_thin_rows(table(), SCHEMA, ("x", "y"))
    assert found.is_thin[-1]
    dense = np.hypot(table()["x"].abs() - 3, table()["y"].abs() - 3)[:-1] < 0.8
    assert not found.is_thin[:-1][dense].any()
    assert found.share < 0.1


def test_it_is_internal_and_on_file() -> None:
    """B2: whether a row is thin depends on others, so it must not leave, and must be on
    file.
    """
    curator = dp.Curator.open(
        table(), SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    report = curator.evaluate(OutlierRowsQuestion(columns=("x", "y")))
    assert report.content.is_thin[-1]
    assert "x" in str(curator.lines()[-1].content)
    assert curator.balance().spent == 0
    with pytest.raises(dp.DisclosureError):
        report.__reduce__()


def test_refusals() -> None:
    """Columns without numbers and tables too small to have a density get a sentence."""
    with pytest.raises(dp.ParameterError, match="no numbers"):
        find_thin_rows(table(), SCHEMA, ("sex",))
    with pytest.raises(dp.ParameterError, match="too few rows"):
        find_thin_rows(table().head(3), SCHEMA, ("x",))
