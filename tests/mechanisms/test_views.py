"""Coarser views of a table, and the limit on all cells together."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines.frame import FrameEngine
from dpcore.mechanisms.measurer import Measurer
from dpcore.tables.counts import check_cells

SCHEMA = dp.Schema(
    columns=(dp.Integer("age", low=0, high=7),), unit=dp.PrivacyUnit(max_rows=1)
)
LOSS = dp.PureDP(epsilon=1000)  # the noise is 0 nearly always


def test_a_coarser_view_of_a_coarser_view_merges_what_was_merged() -> None:
    """Cells would be counted in the wrong group once a view is coarsened again."""
    engine = FrameEngine(
        pd.DataFrame({"age": [0, 1, 2, 3, 4, 5, 6, 7]}), SCHEMA, key=b"k" * 32
    )
    whole = Measurer(engine.counts, domain=SCHEMA.domain, loss=LOSS, max_rows=1)
    pairs = whole.coarsen({"age": np.arange(8) // 2})
    halves = pairs.coarsen({"age": np.array([0, 0, 0, 1])})
    assert halves.domain.size("age") == 2
    (marginal,) = halves.measure([("age",)], LOSS.share(0.5))
    assert marginal.values.tolist() == [6, 2]
    with pytest.raises(dp.BudgetExceeded):
        whole.measure([("age",)], LOSS)


VIEWS: dict[str, Callable[[Measurer], Measurer]] = {
    "project": lambda whole: whole.project(("age",)),
    "coarsen": lambda whole: whole.coarsen({"age": np.arange(8) // 2}),
    "project, coarsened": lambda whole: whole.project(("age",)).coarsen(
        {"age": np.arange(8) // 2}
    ),
    "coarsen, project": lambda whole: whole.coarsen({"age": np.arange(8) // 2}).project(
        ("age",)
    ),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_spends_from_the_loss_of_the_whole(view: str) -> None:
    """A recipe that measures in a view and beside it would spend twice what is
    charged.
    """
    engine = FrameEngine(
        pd.DataFrame({"age": [0, 1, 2, 3, 4, 5, 6, 7]}), SCHEMA, key=b"k" * 32
    )
    half = LOSS.share(0.5)
    delta = Fraction("1e-6")
    for first, then in itertools.permutations((0, 1)):
        whole = Measurer(
            engine.counts,
            domain=SCHEMA.domain,
            loss=LOSS,
            max_rows=1,
            texts=engine.texts,
            delta=delta,
        )
        sides = (whole, VIEWS[view](whole))
        sides[first].measure([("age",)], half)
        with pytest.raises(dp.BudgetExceeded):
            sides[then].measure([("age",)], LOSS)
        sides[then].find_common_texts("age", LOSS.share(0.25), delta)
        with pytest.raises(dp.BudgetExceeded, match="delta"):
            sides[first].find_common_texts("age", LOSS.share(0.125), delta)
        sides[first].measure([("age",)], LOSS.share(0.25))
        assert whole.is_spent
        assert sides[1].is_spent
        for side in sides:
            with pytest.raises(dp.BudgetExceeded):
                side.measure([("age",)], LOSS.share("0.001"))
        assert whole.events == sides[1].events
        assert len(whole.events) == 3


def test_very_many_tables_are_refused_before_any_is_made() -> None:
    """Thousands of large tables would run for hours although each alone is allowed."""
    names = tuple(f"c{i}" for i in range(60))
    schema = dp.Schema(
        columns=tuple(dp.Integer(name, low=0, high=999) for name in names),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    cliques = [(a, b) for i, a in enumerate(names) for b in names[:i]]
    with pytest.raises(dp.LimitError, match="together these columns have"):
        check_cells(schema.domain, cliques)
