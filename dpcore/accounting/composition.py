"""Two composition rules for budgets, and other accounting methods as information.

Basic: sums of pure epsilon are a valid filter when later queries depend on earlier
answers (Rogers, Roth, Ullman, Vadhan 2016). zCDP: sums of rho likewise (Whitehouse,
Ramdas, Rogers, Wu 2023). Advanced composition and privacy-loss distributions are not,
and are shown as information.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dpcore.accounting.events import Event
from dpcore.accounting.loss import (
    UNIT,
    ZCDP,
    AnyLoss,
    ApproxDP,
    Loss,
    Number,
    PureDP,
    check_loss,
    epsilon_of_rho,
    rho_of_epsilon,
    round_down_to_units,
    round_up_to_units,
)
from dpcore.errors import UsageError


class Rule(StrEnum):
    """The rule by which charges add up; its value is the stored text.

    BASIC adds up epsilons and takes pure losses alone; ZCDP adds up rhos.
    """

    BASIC = "basic"
    ZCDP = "zcdp"

    @classmethod
    def for_budget(cls, budget: AnyLoss) -> Rule:
        """Return the rule of a budget, basic for pure epsilon and zCDP for all else."""
        return cls.BASIC if isinstance(budget, PureDP) else cls.ZCDP

    @property
    def is_pure(self) -> bool:
        """Whether the rule adds up epsilons of pure differential privacy."""
        return self is Rule.BASIC

    @property
    def unit(self) -> str:
        """The unit that the rule adds up, "epsilon" or "rho"."""
        return PureDP.name if self.is_pure else ZCDP.name

    def make_loss(self, epsilon: Number, delta: Number) -> AnyLoss:
        """Return a pure loss under the basic rule, otherwise an (epsilon, delta) loss.

        Raises: ParameterError.
        """
        return (
            PureDP(epsilon=epsilon)
            if self.is_pure
            else ApproxDP(epsilon=epsilon, delta=delta)
        )

    def convert(self, loss: AnyLoss) -> Loss:
        """Convert a loss into the epsilon or rho that a recipe spends.

        It is rounded down to the whole units of a ledger, as a budget is, so that a
        budget with more decimals can be spent whole, at once or in shares. Of a loss
        below one unit nothing is taken off: it is charged as one.

        Raises: BudgetError if the loss has no meaning under the rule.
        """
        check_loss(loss, name="loss")
        if isinstance(loss, ApproxDP):
            loss = ZCDP(rho=loss.rho)
        if self.is_pure and not isinstance(loss, PureDP):
            raise UsageError(
                f"a loss of {loss} cannot be charged to a budget of pure epsilon",
                remedy=(
                    "state the loss as PureDP(epsilon=...), or open the data set "
                    "with an ApproxDP budget"
                ),
            )
        units = round_down_to_units(loss.amount)
        if units == 0 or units == loss.amount * UNIT:
            return loss
        whole = Fraction(units, UNIT)
        return PureDP(epsilon=whole) if isinstance(loss, PureDP) else ZCDP(rho=whole)

    def to_units(self, loss: Loss) -> int:
        """Return the ledger's charge for a loss, in units of 1e-12, rounded up.

        The units are of epsilon or rho.
        """
        if not self.is_pure and isinstance(loss, PureDP):
            return round_up_to_units(rho_of_epsilon(loss.epsilon))
        return round_up_to_units(loss.amount)


def total_loss(losses: Sequence[Loss]) -> Loss:
    """Sum the losses of several releases, in epsilon if all are pure, else in rho.

    The sum is in rho if one of the losses has no epsilon.
    """
    if all(isinstance(loss, PureDP) for loss in losses):
        return PureDP(epsilon=sum((loss.amount for loss in losses), Fraction(0)))
    rhos = (
        loss.rho if isinstance(loss, ZCDP) else rho_of_epsilon(loss.epsilon)
        for loss in losses
    )
    return ZCDP(rho=sum(rhos, Fraction(0)))


def total_units(charges: Iterable[tuple[int, tuple[str, str] | None]]) -> int:
    """Sum (units, part) charges under sequential and parallel composition.

    A part is (partition, cell): a partition is a column with one declaration of its
    cells, so that its parts are disjoint. Charges on the whole table add up. Charges on
    the parts of one partition cost the largest sum of a part: a person who is added or
    removed changes rows of the parts by at most `max_rows` in all, and losses grow at
    least linearly in the rows that change (McSherry 2009, theorem 4). Different
    partitions add up.
    """
    whole = 0
    parts: dict[tuple[str, str], int] = {}
    for units, part in charges:
        if part is None:
            whole += units
        else:
            parts[part] = parts.get(part, 0) + units
    largest: dict[str, int] = {}
    for (column, _), units in parts.items():
        largest[column] = max(largest.get(column, 0), units)
    return whole + sum(largest.values())


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The epsilon of the same events under several rules, for information only.

    All are at one delta.

    Attributes:
        basic_epsilon: sum of epsilons; None if an event has no pure epsilon.
        zcdp_epsilon: from the sum of rhos.
        tight_epsilon: by privacy-loss distributions, valid only if the whole plan was fixed in
            advance; None if dp-accounting is not installed.
    """

    delta: float
    basic_epsilon: float | None
    zcdp_epsilon: float
    tight_epsilon: float | None


def compare(events: Sequence[Event], *, delta: float = 1e-9) -> Comparison:
    """Compare the cost of `events` under basic, zCDP and tight accounting.

    Args:
        events: run on the whole table; events on parts count as if on the whole.
        delta: at which epsilon is stated for zCDP and tight, in (0, 1).
    """
    epsilons = [event.epsilon for event in events]
    basic = (
        None if None in epsilons else float(sum(e for e in epsilons if e is not None))
    )
    rho = float(sum((event.rho for event in events), Fraction(0)))
    spare = delta - float(sum((event.delta for event in events), Fraction(0)))
    zcdp = epsilon_of_rho(rho, spare) if spare > 0 else math.inf
    return Comparison(
        delta=delta,
        basic_epsilon=basic,
        zcdp_epsilon=zcdp,
        tight_epsilon=_tight_epsilon(events, spare),
    )


def _tight_epsilon(events: Sequence[Event], remaining_delta: float) -> float | None:
    try:
        from dp_accounting import dp_event, pld
    except ImportError:
        return None
    if remaining_delta <= 0:
        return math.inf
    accountant = pld.PLDAccountant()
    for (epsilon, rho), times in Counter(
        (event.epsilon, event.rho) for event in events
    ).items():
        if epsilon is None:
            accountant.compose(dp_event.GaussianDpEvent(1 / math.sqrt(2 * rho)), times)
        else:
            # Among all mechanisms with this epsilon, discrete Laplace noise of
            # sensitivity 1 is a worst case.
            accountant.compose(
                dp_event.DiscreteLaplaceDpEvent(float(epsilon), 1), times
            )
    return float(accountant.get_epsilon(remaining_delta))


def optimal_epsilon(epsilon: float, times: int, *, delta: float) -> float:
    """Return the smallest total epsilon of `times` mechanisms planned in advance.

    Each has the loss `epsilon`; the result holds at `delta`. Information: it never
    releases budget, because later queries may not depend on earlier answers.

    Source: Kairouz, Oh, Viswanath (2015), theorem 3.3. Its deltas are those at the
    corners, and in exp(e) delta(e) = sum over l of C(times, l) max(0, exp((times - l)
    epsilon) - exp(e + l epsilon))
               / (1 + exp(epsilon))^times is a line from corner to corner.
    """
    # Between two corners, delta(e) = over - under * exp(e). Go through the corners from
    # right to left.
    over = under = 0.0
    for place in range(times // 2 + 1):
        log_chance = math.log(math.comb(times, place)) - times * math.log1p(
            math.exp(epsilon)
        )
        over += math.exp(log_chance + (times - place) * epsilon)
        under += math.exp(log_chance + place * epsilon)
        corner = max(0, times - 2 * (place + 1)) * epsilon
        if over - under * math.exp(corner) >= delta:
            return math.log((over - delta) / under)
    return 0.0
