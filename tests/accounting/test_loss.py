"""Losses as exact numbers, and the conversions between epsilon, delta and rho."""

from __future__ import annotations

import decimal
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.accounting.loss import (
    UNIT,
    epsilon_of_rho,
    log_delta,
    rho_of_epsilon,
    round_down_to_units,
    round_up_to_units,
    split_loss,
)

REFUSED = [
    0,
    -1,
    "0",
    "-0.5",
    math.nan,
    "nan",
    "sNaN",
    math.inf,
    "-inf",
    "1e400",
    "1e-400",
    "one",
    "",
    None,
    True,
    [1],
    "1/0",
    "1e7",
    2_000_000,
]


@pytest.mark.parametrize("value", REFUSED, ids=repr)
@pytest.mark.parametrize(("loss", "name"), [(dp.PureDP, "epsilon"), (dp.ZCDP, "rho")])
def test_losses_that_are_refused(loss: type, name: str, value: object) -> None:
    """A loss of nothing, of no number, or beyond all reason must not reach the
    ledger.
    """
    with pytest.raises(dp.ParameterError, match=name):
        loss(**{name: value})


@pytest.mark.parametrize("delta", [0.5, 0, 1, -1e-6, "0.0011", math.nan])
def test_deltas_that_are_refused(delta: object) -> None:
    """A delta of 0.5 would let half of the releases publish a person outright."""
    with pytest.raises(dp.ParameterError, match="delta"):
        dp.ApproxDP(epsilon=1, delta=delta)
    if delta != 0:
        with pytest.raises(dp.ParameterError, match="threshold_delta"):
            dp.ApproxDP(epsilon=1, delta="1e-6", threshold_delta=delta)


def test_losses_are_what_was_written() -> None:
    """A binary rounding of 0.1 would make ten tenths more than one."""
    for value in (
        "0.1",
        0.1,
        decimal.Decimal("0.1"),
        Fraction(1, 10),
        np.float64(0.1),
        " 0.1 ",
    ):
        assert dp.PureDP(epsilon=value).epsilon == Fraction(1, 10)
    assert sum(dp.PureDP(epsilon=0.1).epsilon for _ in range(10)) == 1


@given(
    amount=st.fractions(min_value=Fraction(1, 10**6), max_value=100),
    weights=st.lists(st.floats(min_value=1e-3, max_value=1e3), min_size=1, max_size=20),
)
def test_shares_add_up(amount: Fraction, weights: list[float]) -> None:
    """Shares that add up to more than the loss would overspend it; to less, waste
    it.
    """
    for loss in (dp.PureDP(epsilon=amount), dp.ZCDP(rho=amount)):
        assert (
            sum(part.amount for part in split_loss(loss, len(weights), weights))
            == amount
        )
        assert sum(part.amount for part in split_loss(loss, len(weights))) == amount


@given(st.fractions(min_value=0, max_value=10**6))
def test_units_round_the_safe_way(amount: Fraction) -> None:
    """A charge rounded down, or a budget rounded up, would spend what is not there."""
    assert (
        Fraction(round_down_to_units(amount), UNIT)
        <= amount
        <= Fraction(round_up_to_units(amount), UNIT)
    )
    assert round_up_to_units(amount) - round_down_to_units(amount) <= 1


GRID = list(
    itertools.product((0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 50.0), (1e-12, 1e-9, 1e-6, 1e-3))
)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_rho_of_a_promise(epsilon: float, delta: float) -> None:
    """A rho too large would break the promise; OpenDP's own conversion is the
    oracle.
    """
    from opendp.combinators import make_zCDP_to_approxDP
    from opendp.domains import atom_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import absolute_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    rho = float(dp.ApproxDP(epsilon=epsilon, delta=delta).rho)
    scale = math.sqrt(0.5 / rho)
    gaussian = make_gaussian(
        atom_domain(T="i64"), absolute_distance(T="i64"), scale=scale
    )
    oracle = make_zCDP_to_approxDP(gaussian).map(1).epsilon(delta)
    # the oracle itself is rounded up by a little; at tiny rho one unit of 1e-12 is what
    # keeps us apart
    assert oracle <= epsilon * (1 + 1e-6)
    assert oracle >= epsilon * (1 - 1e-6) - 1e-12 * epsilon / rho


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_conversion_agrees_with_renyi_accounting(epsilon: float, delta: float) -> None:
    """dp-accounting's Renyi accountant must not find a larger epsilon than ours over
    fine orders.
    """
    from dp_accounting.rdp.rdp_privacy_accountant import compute_epsilon

    rho = float(dp.ApproxDP(epsilon=epsilon, delta=delta).rho)
    orders = 1 + np.logspace(-4, 8, 60_000)
    theirs, _ = compute_epsilon(orders, rho * orders, delta)
    # the best order, not only those of a list
    assert epsilon_of_rho(rho, delta) <= theirs * (1 + 1e-9)
    assert epsilon_of_rho(rho, delta) == pytest.approx(theirs, rel=1e-6)
    assert math.exp(log_delta(rho, epsilon)) <= delta * (1 + 1e-9)


@given(
    rho=st.floats(min_value=1e-9, max_value=50),
    delta=st.floats(min_value=1e-15, max_value=1e-3),
)
def test_conversions_are_inverse(rho: float, delta: float) -> None:
    """Going to epsilon and back must never gain budget."""
    epsilon = epsilon_of_rho(rho, delta)
    assert math.exp(log_delta(rho, epsilon)) <= delta * (1 + 1e-9)
    if epsilon > 1e-6:
        assert float(dp.ApproxDP(epsilon=epsilon, delta=delta).rho) == pytest.approx(
            rho, rel=1e-5, abs=2e-12
        )


def test_delta_against_the_formula() -> None:
    """Canonne, Kamath, Steinke (2020), proposition 7, over a plain grid of orders."""
    rho = 0.1
    epsilon = 2.0
    alpha = 1 + np.logspace(-3, 1.5, 200_000)
    grid = (
        np.exp((alpha - 1) * (alpha * rho - epsilon))
        / (alpha - 1)
        * (1 - 1 / alpha) ** alpha
    )
    assert math.exp(log_delta(rho, epsilon)) == pytest.approx(grid.min(), rel=1e-8)


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "3", "10", "50", "250"])
def test_rho_of_pure_covers_randomized_response(epsilon: str) -> None:
    """Randomized response is the worst epsilon-DP mechanism: its divergence must stay
    below rho * alpha.
    """
    rho = float(rho_of_epsilon(Fraction(epsilon)))
    value = float(epsilon)
    log_p = -np.log1p(np.exp(-value))
    log_q = -value - np.log1p(np.exp(-value))
    for alpha in 1 + np.logspace(-6, 3, 200):
        terms = (
            alpha * log_p + (1 - alpha) * log_q,
            alpha * log_q + (1 - alpha) * log_p,
        )
        divergence = np.logaddexp(*terms) / (alpha - 1)
        slack = 1e-13 * alpha * value / (alpha - 1)  # of the float sums above
        assert divergence <= rho * alpha * (1 + 1e-12) + slack
    assert rho <= value * math.tanh(value / 2) * (1 + 1e-12)
    assert rho <= value**2 / 2 * (1 + 1e-9)


def test_rho_of_pure_is_below_opendp() -> None:
    """OpenDP charges epsilon^2 / 2 for any pure mechanism: ours must be smaller, and
    equal in the limit.
    """
    from opendp.combinators import make_pureDP_to_zCDP
    from opendp.domains import atom_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import absolute_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    for epsilon in (0.01, 0.5, 2.0):
        pure = make_laplace(
            atom_domain(T="i64"), absolute_distance(T="i64"), scale=1 / epsilon
        )
        theirs = make_pureDP_to_zCDP(pure).map(1)
        ours = float(rho_of_epsilon(Fraction(str(epsilon))))
        assert ours <= theirs
        assert ours >= theirs * (1 - epsilon**2 / 12 - 1e-9)


def test_rho_of_pure_rounds_up() -> None:
    """A rho rounded down would charge too little, at any size of epsilon."""
    with decimal.localcontext(prec=100):
        for text in ("1e-12", "1e-6", "0.3", "2", "40", "199"):
            value = decimal.Decimal(text)
            exact = value * (value.exp() - 1) / (value.exp() + 1)
            assert rho_of_epsilon(Fraction(text)) >= Fraction(exact)
    assert rho_of_epsilon(Fraction(1_000)) == 1_000
