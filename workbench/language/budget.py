"""Write budgets and charges in words, as shares of the budget with their epsilon.

Shares are of the units that add up, epsilon or rho. Under zCDP a sixth of the budget
has more than a sixth of its epsilon, so epsilons alone would not add up for a reader.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from dpcore.accounting.ledger import Account, Balance
from dpcore.accounting.loss import UNIT, epsilon_of_rho
from dpcore.errors import ParameterError
from workbench.language.messages import N_, _, localize_number, percent_sign
from workbench.language.wording import DEFAULT_DELTA, loss_words, number

SHARE_NAMES = {
    Fraction(1, 30): N_("a thirtieth of the budget"),
    Fraction(1, 10): N_("a tenth of the budget"),
    Fraction(1, 6): N_("a sixth of the budget"),
    Fraction(1, 3): N_("a third of the budget"),
    Fraction(1, 2): N_("half of the budget"),
    Fraction(1): N_("the whole budget"),
}
"""The shares that are offered, and their names."""
SHARE_NAME_TOLERANCE = (
    1e-3  # relative difference up to which a charge has a share's name
)
_PERCENT_DECIMALS = 2  # decimals of a share in percent, on every surface


def share_words(units: float, account: Account, *, before: float = 0) -> str:
    """Write ledger units as a share of the budget, such as "a sixth of the budget".

    Args:
        before: units already charged; see `share_percent`.
    """
    for share, words in SHARE_NAMES.items():
        if math.isclose(units, share * account.units, rel_tol=SHARE_NAME_TOLERANCE):
            return _(words)
    return _("{share} of the budget").format(
        share=share_percent(units, account, before=before)
    )


def share_percent(units: float, account: Account, *, before: float = 0) -> str:
    """Write units of the ledger as a share of the budget in percent.

    Args:
        before: units already charged, whose share in percent and this one add up to
            that of both.
    """
    _before, share = split_percent([before, units], account)
    return share


def split_percent(parts: Sequence[float], account: Account) -> list[str]:
    """Write parts of the budget in percent, so that the rounded numbers add up.

    Each sum from the first part on is rounded, and a part is the difference of two.
    """
    shown = []
    total = 0.0
    before = 0.0
    for units in parts:
        total += units
        rounded = round(100 * total / account.units, _PERCENT_DECIMALS)
        shown.append(
            localize_number(f"{round(rounded - before, _PERCENT_DECIMALS):g}")
            + percent_sign()
        )
        before = rounded
    return shown


def amount_words(units: float, account: Account, *, before: float = 0) -> str:
    """Write ledger units as share and epsilon: "a sixth of the budget (epsilon 1.1)".

    Rho is shown at the delta of the account; see `spent_epsilon`.

    Args:
        before: units already charged; see `share_percent`.
    """
    return _("{share} (epsilon {epsilon})").format(
        share=share_words(units, account, before=before),
        epsilon=number(spent_epsilon(units, account)),
    )


def budget_line(balance: Balance, account: Account) -> str:
    """Write the spent, reserved and remaining shares of the budget."""
    spent, held, left = split_percent(
        [balance.spent, balance.reserved, max(0, balance.remaining_units)], account
    )
    return _("Budget: spent {spent} · reserved {held} · left {left}").format(
        spent=spent, held=held, left=left
    )


def exact_budget_words(balance: Balance, account: Account) -> str:
    """Write the whole budget for a tooltip; under zCDP, also its parts in rho."""
    whole = _("{budget} in all").format(budget=budget_words(account))
    if account.rule.is_pure:
        return whole
    words = _(
        "counted in rho, which adds up: spent {spent}, reserved {held}, left {left}"
    )
    return f"{whole}; " + words.format(
        spent=number(balance.spent / UNIT),
        held=number(balance.reserved / UNIT),
        left=number(balance.remaining_units / UNIT),
    )


def budget_words(account: Account) -> str:
    """Write the total budget of an account, with delta if it has one."""
    return loss_words(account.promise)


def delta_of(account: Account) -> str:
    """Return the delta at which an account's rho is shown as epsilon."""
    return str(account.promise.get("delta", DEFAULT_DELTA))


def spent_epsilon(units: float, account: Account) -> float:
    """Convert units of the ledger to epsilon, at the account's delta under zCDP."""
    if account.rule.is_pure:
        return units / UNIT
    return epsilon_of_rho(units / UNIT, float(Fraction(delta_of(account))))


def affordable_epsilon(units: int, account: Account) -> float:
    """Return the largest epsilon whose charge is at most `units`.

    Its charge is `units` but for the last digits of a float.
    """
    if units == account.units and "epsilon" in account.promise:
        return float(Fraction(account.promise["epsilon"]))
    epsilon = spent_epsilon(units, account)
    step = 1e-13
    while epsilon > 0 and charged_units(epsilon, account) > units:
        epsilon *= 1 - step
        step *= 2
    return epsilon


def share_epsilon(share: Fraction, account: Account) -> float:
    """Return the epsilon of a share of the budget, in five digits, rounded down."""
    epsilon = affordable_epsilon(math.floor(share * account.units), account)
    if share == 1 or not epsilon:
        return epsilon
    scale = 10.0 ** (4 - math.floor(math.log10(epsilon)))
    return math.floor(epsilon * scale * (1 + 1e-9)) / scale


def charged_units(epsilon: float, account: Account) -> int:
    """Return the units that a release of this epsilon is charged."""
    try:
        loss = account.rule.make_loss(repr(epsilon), delta_of(account))
    except ParameterError:  # too small together with its delta
        return 0
    return account.rule.to_units(account.rule.convert(loss))
