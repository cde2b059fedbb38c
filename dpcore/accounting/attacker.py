"""Upper bounds on an attacker's true positive rate at a given false alarm rate.

The attacker knows everybody else's rows and tests whether one person is in the table. A
test that calls a share alpha of the people who are out "in" (false alarms) calls at
most the share returned here of those who are in "in".
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpcore.accounting.loss import AnyLoss, PureDP

Values = npt.NDArray[np.float64]

FALSE_ALARMS = (0.01, 0.05)
"""Shares of false alarms that every release tells."""
MAX_OUTCOMES = 2**20
"""Most outcomes of `true_positives_of_parts`; beyond, the sum of losses decides."""
DISCRETE_SURCHARGE = 1.5 / 24
"""A discrete Gaussian of scale s >= 0.5 is at most (1 + this / s^2) / s-GDP.

By sums of 60 digits at scales from 0.5 to 8, see decision 0041; it is 1 / (24 s^2) for
large scales.
"""
MIN_GAUSSIAN_SCALE = 0.5
"""Smallest scale, in rows, at which the surcharge was computed."""


def true_positives_of_epsilon(epsilon: float, false_alarms: float) -> float:
    """Return the largest true positive rate that epsilon-DP allows.

    Source: Kairouz, Oh, Viswanath (2015), theorem 2.1 with delta = 0.
    """
    power = math.exp(-epsilon)
    # For a large epsilon, exp(epsilon) would overflow a float.
    first = false_alarms / power if power > false_alarms else 1.0
    return min(first, 1 - power * (1 - false_alarms))


def true_positives_of_steps(epsilons: Sequence[float], false_alarms: float) -> float:
    """Return the largest true positive rate against a series of pure DP steps.

    Every epsilon-DP step is a post-processing of binary randomized response, also if it
    depends on earlier answers (Kairouz, Oh, Viswanath 2015, theorem 3.2). So the best
    test orders the sums of +epsilon and -epsilon (Neyman, Pearson).
    """
    # 1. The distribution of the sum of the losses: a step adds +epsilon with chance 1 /
    # (1 + exp(-epsilon)) if the person is in the table, and with chance 1 / (1 +
    # exp(epsilon)) if not.
    losses: Values = np.zeros(1)
    inside: Values = np.ones(1)
    outside: Values = np.ones(1)
    for epsilon in epsilons:
        wrong = 1 / (1 + math.exp(min(epsilon, 700.0)))
        sums = np.concatenate([losses + epsilon, losses - epsilon])
        # Sums that are equal up to rounding count as one outcome.
        losses, place = np.unique(np.round(sums, 10), return_inverse=True)
        both = [inside * (1 - wrong), inside * wrong]
        inside = _sum_chances(place, both)
        both = [outside * wrong, outside * (1 - wrong)]
        outside = _sum_chances(place, both)
        if len(losses) > MAX_OUTCOMES:
            return true_positives_of_epsilon(math.fsum(epsilons), false_alarms)
    # 2. The best test answers "in" for the largest sums, and flips a biased coin at the
    # last sum that fits the false alarms.
    found = np.append(0.0, np.cumsum(inside[::-1]))
    alarms = np.append(0.0, np.cumsum(outside[::-1]))
    return min(1.0, float(np.interp(false_alarms, alarms, found)))


def _sum_chances(
    outcome_index: npt.NDArray[np.int64], halves: Sequence[Values]
) -> Values:
    """Return the chance of each outcome: the sum over both ways to reach it."""
    weights = np.concatenate(halves)
    chances: Values = np.bincount(outcome_index.ravel(), weights=weights).astype(
        np.float64
    )
    return chances


def true_positives_of_mu(mu: float, false_alarms: float) -> float:
    """Return the largest true positive rate that mu-GDP allows.

    Source: Dong, Roth, Su (2022), definition 2.1.
    """
    normal = statistics.NormalDist()
    return normal.cdf(normal.inv_cdf(false_alarms) + mu)


def true_positives_of_rho(rho: float, false_alarms: float) -> float:
    """Return an upper bound on the true positive rate under rho-zCDP.

    For true positives t and false alarms a, the Renyi divergence of order k of one coin
    from the other is at most k rho, in both directions. Of its two terms one alone gives

        t^k a^(1 - k) <= exp(k (k - 1) rho), (1 - a)^k (1 - t)^(1 - k) <= the same.

    The best orders are k = sqrt(log(1 / a) / rho) and 1 + sqrt(-log(1 - a) / rho). A
    mechanism that keeps rho-zCDP by Gaussian noise stays below this.
    """
    alarm = -math.log(false_alarms)
    quiet = -math.log1p(-false_alarms)
    found = 1.0
    if alarm > rho:
        found = math.exp(-((math.sqrt(alarm) - math.sqrt(rho)) ** 2))
    return min(found, -math.expm1(-((math.sqrt(quiet) + math.sqrt(rho)) ** 2)))


def max_true_positives(loss: AnyLoss, false_alarms: float) -> float:
    """Return a bound on the true positive rate that follows from the loss alone."""
    if isinstance(loss, PureDP):
        return true_positives_of_epsilon(float(loss.epsilon), false_alarms)
    threshold_delta = float(getattr(loss, "threshold_delta", 0))
    found = true_positives_of_rho(float(loss.rho), false_alarms)
    return min(1.0, found + threshold_delta)


def gaussian_mu(scale: float, max_rows: int) -> float | None:
    """Return the mu of mu-GDP for one table with discrete Gaussian noise.

    Args:
        scale: of the noise, in rows.
        max_rows: most rows of a person.

    Returns: None for a scale below those that were computed.
    """
    if scale < MIN_GAUSSIAN_SCALE:
        return None
    return max_rows / scale * (1 + DISCRETE_SURCHARGE / scale**2)
