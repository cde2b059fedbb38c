"""What a round forecasts before it spends."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dpcore as dp
from dpcore.schema.domain import Domain
from dpcore.synthesis.discrete import _learner as learning
from dpcore.synthesis.discrete._columns import measure_columns
from dpcore.synthesis.discrete._learner import (
    RAISED_SELECTION_SHARE,
    SELECTION_SHARE,
    Learner,
)
from dpcore.synthesis.discrete.constraints import Constraints
from dpcore.synthesis.discrete.model import SyntheticModel
from tests.synthesis.standin import Table

DOMAIN = Domain(names=("a", "b", "c"), sizes=(2, 7, 30))


def test_the_error_columns_are_forecast_to_keep_is_what_they_keep() -> None:
    """A round would go to columns, or not, for a gain that does not come."""
    rng = np.random.default_rng(1)
    codes = {
        name: rng.integers(0, size, 3000)
        for name, size in zip(DOMAIN.names, DOMAIN.sizes, strict=True)
    }
    measurer = Table(codes, DOMAIN).measurer(dp.ZCDP(rho=0.5))
    columns = measure_columns(measurer, Constraints(), ())
    view = measurer.coarsen(columns.grouping.groups)
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    learner = Learner(
        view, columns, factors=(), weights=dict.fromkeys(pairs, 1.0), limit=10_000
    )
    before = learner._column_errors()
    more = measurer.loss.share(0.1)
    forecast = learner._column_errors(more)
    less = learner._column_errors(measurer.loss.share(0.05))
    gain = learner._gain_of_columns(dict.fromkeys(pairs, 0.0), more)
    learner.measure_columns(more)
    after = learner._column_errors()
    assert after == pytest.approx(forecast, rel=1e-3)
    # the twin
    assert all(
        after[name] < 0.99 * less[name] < 0.99 * before[name] for name in DOMAIN.names
    )
    off = [[np.hypot(each[a], each[b]) for a, b in pairs] for each in (before, after)]
    assert gain == pytest.approx(sum(off[0]) - sum(off[1]), rel=1e-2)


def test_two_wide_numbers_that_go_together_are_measured() -> None:
    """The one relation of a table of stays, days and cost, would drown in 60 x 80
    cells.

    Its distance is some twenty deviations of the noise of the question: chance does not
    hide it.
    """
    sizes = {"days": 60, "cost": 80, "year": 90, "ward": 9, "month": 12, "kind": 3}
    rng = np.random.default_rng(5)
    codes = {name: rng.integers(0, size, 20_000) for name, size in sizes.items()}
    codes["cost"] = np.clip(codes["days"] + rng.integers(-5, 25, 20_000), 0, 79)
    table = Table(codes, Domain(names=tuple(sizes), sizes=tuple(sizes.values())))

    def measured(ordered: set[str]) -> set[tuple[str, ...]]:
        recipe = dp.Adaptive(ordered=frozenset(ordered))
        model = recipe.fit(table.measurer(dp.ZCDP(rho="1/2000")), lambda *_: None)[1]
        assert isinstance(model, SyntheticModel)
        return set(model.cliques)

    assert ("days", "cost") in measured({"days", "cost", "year"})
    # the twin: cells without neighbors stay as they are
    assert ("days", "cost") not in measured(set())


def test_what_was_told_of_a_pair_counts_again_while_the_model_holds_nothing_of_it() -> (
    None
):
    """The same question would be paid for twice, and its first answer thrown away."""
    rng = np.random.default_rng(2)
    codes = {
        name: rng.integers(0, size, 3000)
        for name, size in zip(DOMAIN.names, DOMAIN.sizes, strict=True)
    }
    measurer = Table(codes, DOMAIN).measurer(dp.ZCDP(rho=5))
    columns = measure_columns(measurer, Constraints(), ())
    weights = dict.fromkeys([("a", "b"), ("a", "c"), ("b", "c")], 1.0)
    learner = Learner(
        measurer.coarsen(columns.grouping.groups),
        columns,
        factors=(),
        weights=weights,
        limit=10_000,
    )
    alone = learning.independent_tables(columns, weights)
    related = {pair: table.copy() for pair, table in alone.items()}
    related["b", "c"][0, 0] += 1e6
    loss = measurer.loss.share(0.01)
    for estimates in (alone, related):
        learner._measure_distances(estimates, loss)
        assert learner._distance_noise == measurer.gap_deviation(3, loss)
    assert learner._earlier_excess["a", "b"][1] == pytest.approx(
        learner._distance_noise / 2**0.5
    )
    # another question by now
    assert learner._earlier_excess["b", "c"][1] == pytest.approx(
        learner._distance_noise, rel=1e-3
    )
    # columns are clear: no relation weighs more than its error
    assert learner._weights == weights


@pytest.mark.parametrize(
    ("rho", "is_raised"), [("1/100", False), ("1/5000", True), ("1/100000", False)]
)
def test_more_is_asked_only_where_it_makes_distances_legible(
    rho: str, is_raised: bool
) -> None:
    """Loud distances choose the wrong pairs; hopeless ones would cost more for
    nothing.
    """
    names = tuple(f"c{place}" for place in range(14))
    domain = Domain(names=names, sizes=(5,) * 14)
    rng = np.random.default_rng(3)
    codes = {name: rng.integers(0, 5, 26_000) for name in names}
    measurer = Table(codes, domain).measurer(dp.ZCDP(rho=rho))
    columns = measure_columns(measurer, Constraints(), ())
    pairs = list(itertools.combinations(names, 2))
    learner = Learner(
        measurer.coarsen(columns.grouping.groups),
        columns,
        factors=(),
        weights=dict.fromkeys(pairs, 1.0),
        limit=10_000,
    )
    loss = measurer.loss.share(0.1)
    assert learner._raises_selection(loss) is is_raised
    learner.measure_most_useful(loss)
    share = RAISED_SELECTION_SHARE if is_raised else SELECTION_SHARE
    asked = measurer.gap_deviation(len(pairs), loss.share(share))
    assert learner._distance_noise == pytest.approx(asked)
