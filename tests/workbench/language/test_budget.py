"""Shares of a budget in words."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpcore as dp
from dpcore.accounting.ledger import Account, Balance
from workbench.language import budget

PURE = dp.PureDP(epsilon=3)
GAUSSIAN = dp.ApproxDP(epsilon=3, delta="1e-9")


@pytest.mark.parametrize("loss", [PURE, GAUSSIAN])
def test_an_offered_share_is_charged_what_its_name_says(loss: dp.AnyLoss) -> None:
    """Half of the budget would be called half, and cost another share."""
    account = Account.for_budget("table", {}, loss)
    for share, words in budget.SHARE_NAMES.items():
        units = budget.charged_units(budget.share_epsilon(share, account), account)
        assert units <= share * account.units
        assert units == pytest.approx(float(share * account.units), rel=1e-4)
        assert budget.share_words(units, account) == words
    assert budget.share_epsilon(Fraction(1), account) == 3


@pytest.mark.parametrize("loss", [PURE, GAUSSIAN])
def test_the_rest_of_a_budget_can_be_spent_to_the_last_unit(loss: dp.AnyLoss) -> None:
    """What is left could be asked for, and be refused; or a little would stay."""
    account = Account.for_budget("table", {}, loss)
    for spent in (
        1,
        account.units // 3,
        account.units // 2,
        account.units - 10_000_000,
    ):
        left = account.units - spent
        epsilon = budget.affordable_epsilon(left, account)
        charged = budget.charged_units(epsilon, account)
        assert left - 5 <= charged <= left


def test_shown_shares_add_up() -> None:
    """33.33 + 33.33 + 33.33 would be read as a budget with a hole."""
    account = Account.for_budget("table", {}, PURE)
    third = account.units // 3
    shown = budget.split_percent([third, third, account.units - 2 * third], account)
    total = sum(float(text.split("\u202f")[0]) for text in shown)
    assert total == pytest.approx(100, abs=1e-9)
    line = budget.budget_line(
        Balance(budget=account.units, spent=third, reserved=0), account
    )
    assert line == "Budget: spent 33.33\u202f% · reserved 0\u202f% · left 66.67\u202f%"
