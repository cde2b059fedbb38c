"""Noisy tables as rows, for people who want the counts and not invented people."""

from __future__ import annotations

import numpy as np
import pytest

import dpcore as dp
from dpcore.errors import ParameterError
from dpcore.tables.counts import Marginal
from dpcore.tables.listing import listed

AGE = dp.Integer("age", low=0, high=2, bin_width=1)
SEX = dp.Categorical("sex", categories=("F", "M"))


def test_cells_counts_and_intervals_are_listed():
    """The counts that were paid for could be taken away as base64 only (D9, D32)."""
    values = np.array([[1.0, -20.0], [3.0, 4.0], [5.0, 6.0]])
    marginal = Marginal(
        clique=("age", "sex"), values=values, variance=2.0, noise="laplace", columns=(AGE, SEX)
    )
    frame = listed(marginal).frame
    half = marginal.half_width()
    assert list(frame.columns) == ["age", "sex", "noisy rows", "low", "high"]
    assert frame[["age", "sex"]].values.tolist() == [[a, s] for a in AGE.labels for s in SEX.labels]
    assert frame["noisy rows"].tolist() == values.ravel().tolist()
    assert frame["high"].tolist() == [max(0, each + half) for each in values.ravel()]
    assert frame["low"].min() == 0


def test_a_column_named_like_a_figure_is_kept():
    """A column "low" of the table would be overwritten."""
    low = dp.Categorical("low", categories=("a", "b"))
    marginal = Marginal(clique=("low",), values=np.ones(2), variance=2.0, noise="laplace", columns=(low,))
    assert list(listed(marginal).frame.columns) == ["low", "count: noisy rows", "count: low", "count: high"]


def test_the_number_of_rows_is_one_line_and_unknown_labels_are_refused():
    """A release of the row count alone would have no table."""
    count = Marginal(clique=(), values=np.array(7.0), variance=2.0, noise="laplace")
    assert listed(count).frame["noisy rows"].tolist() == [7.0]
    with pytest.raises(ParameterError, match="labels"):
        listed(Marginal(clique=("age",), values=np.ones(3), variance=2.0, noise="laplace"))
