"""The measurer: one reserved loss, never exceeded, and every draw on record."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.accounting.loss import Loss
from dpcore.mechanisms.measurer import GRAIN, Measurer
from dpcore.schema import Domain
from dpcore.tables.counts import Counts
from tests.statistical import laws

DOMAIN = Domain(names=("a", "b"), sizes=(3, 4))
TABLE = np.arange(12).reshape(3, 4) * 10
EXACT = {(): TABLE.sum(), ("a",): TABLE.sum(1), ("b",): TABLE.sum(0), ("a", "b"): TABLE}
BIG = dp.PureDP(epsilon=10_000)


def counts(cliques: Sequence[tuple[str, ...]]) -> list[Counts]:
    return [Counts(clique=clique, values=np.array(EXACT[clique])) for clique in cliques]


def measurer(loss: Loss, rows: int = 1) -> Measurer:
    return Measurer(counts, domain=DOMAIN, loss=loss, max_rows=rows)


losses = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=100).map(
        lambda amount: dp.PureDP(epsilon=amount)
    ),
    st.fractions(min_value=Fraction(1, 10**6), max_value=100).map(
        lambda amount: dp.ZCDP(rho=amount)
    ),
)
cliques = st.lists(st.sampled_from(list(EXACT)), min_size=1, max_size=4)


@given(loss=losses, cliques=cliques, rows=st.integers(1, 5), data=st.data())
def test_events_never_cost_more_than_the_loss(
    loss: Loss,
    cliques: list[tuple[str, ...]],
    rows: int,
    data: st.DataObject,
) -> None:
    """The sum over the draws, from their recorded scales, must stay within what was
    reserved.
    """
    weights = data.draw(
        st.none()
        | st.lists(st.integers(1, 9), min_size=len(cliques), max_size=len(cliques))
    )
    under = measurer(loss, rows)
    under.measure(cliques, loss.share(Fraction(1, 2)), weights)
    under.measure_gaps(
        {("a",): np.zeros(3), ("b",): np.zeros(4)}, loss.share(Fraction(1, 4))
    )
    under.select_clique(
        {("a",): np.zeros(3), ("b",): np.zeros(4)}, loss.share(Fraction(1, 4))
    )
    costs = [
        event.epsilon if isinstance(loss, dp.PureDP) else event.rho
        for event in under.events
    ]
    assert sum(costs) <= loss.amount
    assert sum(costs) >= loss.amount * (1 - Fraction(1, 10**9))
    assert len(under.events) == len(cliques) + 2
    assert all(event.rows == rows for event in under.events)
    with pytest.raises(dp.BudgetExceeded):
        under.measure([("a",)], loss.share(Fraction(1, 10**12)))


def test_nothing_is_read_beyond_the_loss() -> None:
    """The refusal must come before the counts are read."""

    def refuse(*arguments: object, **named: object) -> list[Counts]:
        raise AssertionError("read")

    blind = Measurer(refuse, domain=DOMAIN, loss=dp.PureDP(epsilon=1), max_rows=1)
    for step in (
        lambda: blind.measure([("a",)], dp.PureDP(epsilon=2)),
        lambda: blind.measure_gaps({("a",): np.zeros(3)}, dp.PureDP(epsilon=2)),
        lambda: blind.select_clique({("a",): np.zeros(3)}, dp.PureDP(epsilon=2)),
    ):
        with pytest.raises(dp.BudgetExceeded):
            step()
    assert blind.events == []


def test_measured_cells_are_the_right_ones() -> None:
    """With hardly any noise every clique must show its own counts."""
    for clique, marginal in zip(
        EXACT, measurer(BIG).measure(list(EXACT), BIG), strict=True
    ):
        assert marginal.clique == clique
        assert (marginal.values == EXACT[clique]).all()


@pytest.mark.parametrize(
    ("loss", "noise"),
    [(dp.PureDP(epsilon=1), "laplace"), (dp.ZCDP(rho="0.1"), "gaussian")],
)
def test_noise_of_a_measurement(loss: Loss, noise: str) -> None:
    """The cells must carry the law that the loss buys, and the stated variance must be
    the real one.
    """
    drawn = []
    variance = 0.0
    for _ in range(1_000):
        under = measurer(loss, rows=2)
        (marginal,) = under.measure([("a", "b")], loss)
        drawn.append((marginal.values - TABLE).ravel())
        variance = marginal.variance
        assert marginal.noise == noise
    law = (
        laws.discrete_laplace_pmf(2.0)
        if noise == "laplace"
        else laws.discrete_gaussian_pmf(2 / 0.2**0.5)
    )
    assert laws.chi_square_p(np.concatenate(drawn), law) > laws.FALSE_ALARM
    assert laws.moments(law)[1] == pytest.approx(variance, rel=1e-6)


def test_gaps_are_distances() -> None:
    """Distances to a public estimate, to 1 / 1024 of a row, with noise of the stated
    deviation.
    """
    estimates = {
        ("a",): EXACT[("a",)] + np.array([1.5, -2.25, 0.0]),
        ("b",): EXACT[("b",)] * 1.0,
    }
    found = measurer(BIG).measure_gaps(estimates, BIG)
    assert found[("a",)] == pytest.approx(3.75, abs=0.01)
    assert found[("b",)] == pytest.approx(0.0, abs=0.01)
    loss = dp.PureDP(epsilon=1)
    noisy = [measurer(loss).measure_gaps(estimates, loss)[("b",)] for _ in range(1_000)]
    deviation = measurer(loss).gap_deviation(2, loss)
    assert deviation == pytest.approx(2 * 2**0.5, rel=0.02)
    assert laws.mean_fits(np.array(noisy), 0.0, deviation**2)


@pytest.mark.parametrize("loss", [BIG, dp.ZCDP(rho=10_000)])
def test_selection_prefers_large_gaps(loss: Loss) -> None:
    """The clique that is furthest from its estimate wins, unless its penalty says
    otherwise.
    """
    estimates = {("a",): EXACT[("a",)] + 1.0, ("b",): EXACT[("b",)] + 5.0}
    assert measurer(loss).select_clique(estimates, loss) == ("b",)
    assert measurer(loss).select_clique(estimates, loss, penalties={("b",): 18.0}) == (
        "a",
    )


@pytest.mark.parametrize(
    "estimate", [-(2.0**53) + 1, 2.0**53 - 1, -1e300, 1e300, np.inf, np.nan]
)
def test_one_row_moves_a_distance_by_one_row(estimate: float) -> None:
    """Beyond int64 a distance would wrap, and one row could throw it from one end to
    the other.
    """
    scores = []
    for row in (0, 1):
        table = TABLE.sum(1) + np.array([row, 0, 0])

        def exact(
            cliques: Sequence[tuple[str, ...]], table: np.ndarray = table
        ) -> list[Counts]:
            return [Counts(clique=clique, values=table) for clique in cliques]

        under = Measurer(exact, domain=DOMAIN, loss=BIG, max_rows=1)
        scores.append(int(under._distances({("a",): np.array([estimate, 0, 0])})[0]))
    assert abs(scores[1] - scores[0]) == GRAIN
    assert min(scores) >= 0


def test_estimates_must_have_the_shape_of_the_counts() -> None:
    """Counts held against a larger estimate would be repeated, and each row would count
    many times.
    """
    under = measurer(BIG)
    for estimate in (np.zeros((1000, 3)), np.zeros(()), np.zeros(4)):
        with pytest.raises(dp.ParameterError, match="shape"):
            under.measure_gaps({("a",): estimate}, BIG)
        with pytest.raises(dp.ParameterError, match="shape"):
            under.select_clique({("a",): estimate}, BIG)
    assert under.events == []


def test_views_share_one_loss() -> None:
    """A coarser view must spend from the same reserve, or the loss could be spent once
    a view.
    """
    loss = dp.PureDP(epsilon=1)

    def empty(cliques: Sequence[tuple[str, ...]], **groups: object) -> list[Counts]:
        return [
            Counts(clique=clique, values=np.zeros(2, dtype=np.int64))
            for clique in cliques
        ]

    whole = Measurer(empty, domain=DOMAIN, loss=loss, max_rows=1)
    view = whole.coarsen({"a": np.array([0, 1, 1])})
    assert view.domain.sizes == (2, 4)
    view.measure([("a",)], loss)
    assert len(whole.events) == 1
    for each in (whole, view):
        with pytest.raises(dp.BudgetExceeded):
            each.measure([("b",)], loss.share(Fraction(1, 10)))


def test_naming_texts_is_paid_for_in_delta_too() -> None:
    """A recipe must not name categories with more delta than was reserved, nor with it
    twice.
    """
    loss = dp.PureDP(epsilon=100)
    delta = Fraction(1, 1000)

    def texts(column: str) -> dict[str, int]:
        return {"common": 500, "also": 900, "rare": 1}

    without = Measurer(counts, domain=DOMAIN, loss=loss, max_rows=1, texts=texts)
    with pytest.raises(dp.BudgetExceeded, match="delta"):
        without.find_common_texts("a", loss, delta)
    assert without.events == []
    under = Measurer(
        counts, domain=DOMAIN, loss=loss, max_rows=1, texts=texts, delta=delta
    )
    found = under.find_common_texts("a", loss.share(Fraction(1, 2)), delta)
    assert list(found) == ["also", "common"]
    assert under.events[0].delta == delta
    assert under.events[0].epsilon <= 50
    with pytest.raises(dp.BudgetExceeded, match="delta"):
        under.find_common_texts("a", loss.share(Fraction(1, 2)), delta)
    with pytest.raises(dp.ParameterError):
        measurer(loss).find_common_texts("a", loss, delta)


def test_naming_texts_under_rho() -> None:
    """Under zCDP the epsilon of naming must be one whose rho is at most what was
    reserved.
    """
    loss = dp.ZCDP(rho="0.02")
    delta = Fraction(1, 10**6)
    under = Measurer(
        counts,
        domain=DOMAIN,
        loss=loss,
        max_rows=2,
        texts=lambda column: {"x": 10**6},
        delta=delta,
    )
    assert list(under.find_common_texts("a", loss, delta)) == ["x"]
    assert under.events[0].epsilon ** 2 / 2 <= loss.rho
    assert under.events[0].rho <= loss.rho
