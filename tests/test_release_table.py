"""Tables of a release as rows, for people who want the counts and not invented
people.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import dpcore as dp

AGE = dp.Integer("age", low=0, high=2, bin_width=1)
SEX = dp.Categorical("sex", categories=("F", "M"))


def released(*columns: dp.Column, cliques: list[tuple[str, ...]]) -> dp.Release:
    frame = pd.DataFrame({each.name: [each.labels[0]] * 3 for each in columns})
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    return curator.run(dp.Marginals(cliques=cliques), loss=dp.PureDP(epsilon=1))


def test_cells_counts_and_intervals_are_listed() -> None:
    """The counts that were paid for could be taken away as base64 only."""
    release = released(AGE, SEX, cliques=[("age", "sex")])
    frame = release.table(("age", "sex"))
    told = release.answer(("age", "sex"))
    assert list(frame.columns) == ["age", "sex", "rows", "low", "high", "as measured"]
    assert frame[["age", "sex"]].values.tolist() == [
        [a, s] for a in AGE.labels for s in SEX.labels
    ]
    assert frame["rows"].tolist() == told.values.ravel().tolist()
    assert frame["high"].tolist() == told.high.ravel().tolist()
    assert frame["low"].min() == 0
    assert (
        frame["as measured"].tolist()
        == release.marginals["age", "sex"].values.ravel().tolist()
    )


def test_a_column_named_like_a_figure_is_kept() -> None:
    """A column "low" of the table would be overwritten."""
    low = dp.Categorical("low", categories=("a", "b"))
    names = ["low", "count: rows", "count: low", "count: high", "count: as measured"]
    assert list(released(low, cliques=[("low",)]).table(("low",)).columns) == names


def test_the_number_of_rows_is_one_line() -> None:
    """A release of the row count alone would have no table."""
    release = released(SEX, cliques=[()])
    (line,) = release.table(())["rows"].tolist()
    assert line == max(0.0, float(release.marginals[()].values))
    assert np.isfinite(line)
