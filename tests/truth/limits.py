"""What an attacker finds at most, worked out by enumeration and grids."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.stats import binom

AT_MOST = (
    "An attacker who knows all other rows and accepts 1 % false alarms finds at "
    "most {strict} % of the people in the table. With 5 % false alarms it is at "
    "most {loose} %."
)


def at_most(found: Callable[[float], float]) -> dict[str, Callable[[Any], bool]]:
    """Whether the shares at 1 % and 5 % false alarms are shown in percent, rounded up
    to a tenth.
    """

    def rounded_up(alarms: float, shown: str) -> bool:
        return -1e-4 <= float(shown) - 100 * found(alarms) <= 0.1001

    return {
        f"{AT_MOST}|strict": functools.partial(rounded_up, 0.01),
        f"{AT_MOST}|loose": functools.partial(rounded_up, 0.05),
    }


def pure_limit(recipe: Mapping[str, Any], epsilon: float) -> Callable[[float], float]:
    """The most in a release of this recipe, whose tables have even shares."""
    while recipe["kind"] == "some columns":
        recipe = recipe["recipe"]
    named = {"marginals": "cliques", "independent": "columns"}.get(recipe["kind"])
    return functools.partial(coins_limit, len(recipe[named]) if named else 1, epsilon)


def coins_limit(coins: int, epsilon: float, alarms: float) -> float:
    """The most with so many coins, each right with the odds of its share of epsilon."""
    odds = math.exp(epsilon / coins)
    least = np.arange(coins, -2, -1)  # more right ones are called "in" first
    wrong = binom(coins, 1 / (1 + odds)).sf(least)
    return float(np.interp(alarms, wrong, binom(coins, odds / (1 + odds)).sf(least)))


def rho_limit(rho: float, alarms: float) -> float:
    """The most that the Renyi divergences of one coin from another allow."""
    orders = 1 + np.geomspace(1e-3, 1e4, 200_000)
    one = (1 - 1 / orders) * math.log(alarms) + (orders - 1) * rho
    other = orders / (orders - 1) * math.log1p(-alarms) - orders * rho
    return float(min(1.0, math.exp(one.min()), -math.expm1(other.max())))
