"""The cost of a run, and the loss needed for a wanted error, from public facts."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from fractions import Fraction

from dpcore.accounting.ledger import Balance, Charge, Standing
from dpcore.accounting.loss import UNIT, ZCDP, Loss, PureDP
from dpcore.errors import ParameterError, UsageError
from dpcore.mechanisms.sensitivity import noise_kind, noise_scale, noise_variance
from dpcore.schema.domain import Domain
from dpcore.synthesis.base import ExpectedError, Recipe
from dpcore.tables.counts import MAX_COUNTING_BYTES, half_width


@dataclass(frozen=True, kw_only=True)
class Quote:
    """The cost and the expected error of a run, from public facts alone.

    Attributes:
        charge: increase of the total, in units of 1e-12 of the account's rule.
        own_charge: the same if nothing is shared with charges on other parts; never
            less.
        balance: before the charge.
        expected: the expected error, one entry per marginal known in advance.
        memory: most bytes that counting takes, beyond the rows; runs that need more are
            refused uncharged.
    """

    charge: int
    own_charge: int
    balance: Balance
    expected: tuple[ExpectedError, ...]
    memory: int = MAX_COUNTING_BYTES

    def __repr__(self) -> str:
        charge = f"charge={self.charge / UNIT:g}, left_after={self.remaining_units_after / UNIT:g}"
        return f"Quote({charge}, {len(self.expected)} expected errors)"

    @classmethod
    def for_charge(
        cls, charge: Charge, standing: Standing, expected: tuple[ExpectedError, ...]
    ) -> Quote:
        """Return the quote for a charge, given the account's current totals."""
        return cls(
            charge=standing.extra_units(charge),
            own_charge=charge.units,
            balance=standing.balance,
            expected=expected,
        )

    @property
    def charged_before(self) -> int:
        """Units spent or reserved before."""
        return self.balance.spent + self.balance.reserved

    @property
    def is_affordable(self) -> bool:
        """Whether the remaining budget covers the charge."""
        return self.charge <= self.balance.remaining_units

    @property
    def remaining_units_after(self) -> int:
        """Units that would remain after the run; negative if it is not affordable."""
        return self.balance.remaining_units - self.charge

    @property
    def affordable_repeats(self) -> int:
        """A lower bound on the number of such runs that the budget allows."""
        return max(0, self.balance.remaining_units) // self.own_charge


def smallest_loss(
    recipe: Recipe,
    domain: Domain,
    max_rows: int,
    half_width: float,
    *,
    is_pure: bool,
    level: float,
    table_rows: float = 0,
) -> Loss:
    """Return the smallest loss that keeps every cell's error within `half_width`.

    Args:
        recipe: to run.
        domain: of the columns.
        max_rows: most rows of a person.
        half_width: in rows, above 0.
        is_pure: whether the loss is epsilon (Laplace noise) or rho (Gaussian noise).
        level: chance that a cell is within, between 0 and 1.
        table_rows: approximate number of rows; 0 if unknown.

    Raises: ParameterError if no loss up to 10,000 is enough, or the recipe's error
        is not known.
    """
    if not half_width > 0:
        raise UsageError(
            f"half_width ({half_width}) must be above 0", remedy="ask for some rows"
        )
    recipe.check(domain)

    def enough(exponent: int) -> bool:
        loss = _loss_at_step(is_pure, exponent)
        expected = recipe.expect(domain, loss, max_rows, table_rows)
        if not expected:
            raise UsageError(
                "the error of this recipe is not known in advance",
                remedy="state a loss instead",
            )
        return all(error.half_width(level) <= half_width for error in expected)

    # The losses go in steps of 10^(1/200), so the answer is within 1.2 % of the
    # smallest.
    exponents = range(-1200, 801)
    place = bisect.bisect_left(exponents, True, key=enough)
    if place == len(exponents):
        raise ParameterError(
            (
                "even a privacy loss of 10,000 cannot keep every cell within "
                "{half_width:g} rows"
            ),
            remedy="accept a larger error",
            half_width=half_width,
        )
    return _loss_at_step(is_pure, exponents[place])


def _loss_at_step(is_pure: bool, exponent: int) -> Loss:
    amount = Fraction(round(10 ** (exponent / 200) * UNIT), UNIT)
    return PureDP(epsilon=amount) if is_pure else ZCDP(rho=amount)


def column_count_error(loss: Loss, columns: int, *, max_rows: int) -> float:
    """Return the 95 % half-width of a count, in rows, if columns share the loss.

    Each of the columns is counted by itself, with an even share of the loss; 95 of 100
    counts are within it.

    Args:
        loss: of the whole release.
        columns: that are counted.
        max_rows: most rows of a person.
    """
    part = loss.share(Fraction(1, max(1, columns)))
    variance = noise_variance(
        noise_scale(max_rows=max_rows, queries=1, loss=part), part
    )
    return half_width(variance, noise_kind(loss), 0.95)
