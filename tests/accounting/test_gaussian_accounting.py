"""Why discrete Gaussian noise is not charged as continuous noise
(docs/decisions/0041).
"""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext

import pytest
from dp_accounting.pld import privacy_loss_distribution
from scipy.optimize import brentq
from scipy.special import ndtr

SCALE = 5
DELTA = 1e-5


def discrete_delta(epsilon: float, scale: int) -> float:
    """Return the delta of one discrete Gaussian draw that a row moves by 1, from sums
    of 60 digits.

    Beyond 40 scales a probability is below 1e-340, so what is left out is no digit of
    the sums.
    """
    with localcontext(prec=60):
        law = [
            (-Decimal(x * x) / (2 * scale**2)).exp()
            for x in range(-40 * scale, 40 * scale + 1)
        ]
        factor = Decimal(epsilon).exp()
        mass = sum(law)
        above = sum(
            max(Decimal(0), here - factor * moved)
            for moved, here in itertools.pairwise(law)
        )
        return float(above / mass)


def continuous_delta(epsilon: float, mu: float) -> float:
    """Return the delta of mu-GDP (Balle and Wang 2018, theorem 8)."""
    return float(
        ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    )


def test_a_discrete_gaussian_draw_loses_more_than_a_continuous_one() -> None:
    """Charged as 1 / 5-GDP, one draw at scale 5 would lose more than was promised."""
    promised = brentq(
        lambda epsilon: continuous_delta(epsilon, 1 / SCALE) - DELTA, 0.1, 2
    )
    lost = brentq(lambda epsilon: discrete_delta(epsilon, SCALE) - DELTA, 0.1, 2)
    assert (promised, lost) == pytest.approx((0.7255, 0.7266), abs=5e-5)
    assert discrete_delta(promised, SCALE) > 1.02 * DELTA
    oracle = privacy_loss_distribution.from_discrete_gaussian_mechanism(
        SCALE,
        value_discretization_interval=1e-5,
    )
    assert oracle.get_epsilon_for_delta(DELTA) == pytest.approx(lost, abs=2e-5)
    # the twin: with the surcharge of 1 / (24 scale^2) and a little the same draw keeps
    # its promise
    charged = (1 + 1.004 / (24 * SCALE**2)) / SCALE
    assert (
        discrete_delta(
            brentq(lambda e: continuous_delta(e, charged) - DELTA, 0.1, 2), SCALE
        )
        < DELTA
    )
