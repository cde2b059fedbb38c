"""What an attacker achieves at most, against dp-accounting and laws summed by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.accounting.attacker import (
    FALSE_ALARMS,
    gaussian_mu,
    max_true_positives,
    true_positives_of_epsilon,
    true_positives_of_mu,
    true_positives_of_rho,
    true_positives_of_steps,
)
from dpcore.accounting.loss import ZCDP, ApproxDP, PureDP

pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
RATES = (0.001, *FALSE_ALARMS, 0.2, 0.5, 0.9)


def by_dp_accounting(law: object, false_alarms: float) -> float:
    """The most true positives: the least of exp(e) alpha + delta(e) over e, and the
    same with the two tables changed for each other.
    """
    epsilons = np.linspace(0, 12, 4_001)
    deltas = np.array(law.get_delta_for_epsilon(epsilons))  # type: ignore[attr-defined]
    one = np.exp(epsilons) * false_alarms + deltas
    other = 1 - np.exp(-epsilons) * np.maximum(0, 1 - false_alarms - deltas)
    return float(min(one.min(), other.min(), 1.0))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_one_pure_table(epsilon: float, rate: float) -> None:
    """A release would promise less, or more, than discrete Laplace noise keeps."""
    law = pld.from_discrete_laplace_mechanism(
        epsilon, value_discretization_interval=1e-3
    )
    expected = by_dp_accounting(law, rate)
    assert true_positives_of_epsilon(epsilon, rate) == pytest.approx(expected, rel=5e-3)
    assert true_positives_of_steps([epsilon], rate) == pytest.approx(
        true_positives_of_epsilon(epsilon, rate)
    )


@pytest.mark.parametrize("rate", RATES)
def test_several_pure_tables(rate: float) -> None:
    """The law of several tables would be another one than their composition."""
    law = pld.from_discrete_laplace_mechanism(
        0.25, value_discretization_interval=1e-4
    ).self_compose(6)
    assert true_positives_of_steps([0.25] * 6, rate) == pytest.approx(
        by_dp_accounting(law, rate), rel=5e-3
    )


@pytest.mark.parametrize("rate", RATES)
def test_uneven_parts_by_brute_force(rate: float) -> None:
    """Uneven shares: every outcome of three randomized responses, largest ratio first."""
    epsilons = (0.2, 0.5, 1.1)
    outcomes = []
    for signs in itertools.product((1, -1), repeat=3):
        terms = [s * e for s, e in zip(signs, epsilons, strict=True)]
        chance = math.prod(1 / (1 + math.exp(-term)) for term in terms)
        outcomes.append((sum(terms), chance))
    left = rate
    found = 0.0
    for loss, chance in sorted(outcomes, reverse=True):
        out = chance * math.exp(-loss)
        part = min(1.0, left / out)
        found += part * chance
        left -= part * out
    assert true_positives_of_steps(epsilons, rate) == pytest.approx(found)
    assert found <= true_positives_of_epsilon(sum(epsilons), rate)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("mu", [0.17, 1.0, 3.0])
def test_gaussian_noise(mu: float, rate: float) -> None:
    """The normal law, and the bound from rho alone, which may not be below it."""
    law = pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-4)
    found = true_positives_of_mu(mu, rate)
    assert found == pytest.approx(by_dp_accounting(law, rate), rel=5e-3)
    assert found <= true_positives_of_rho(mu**2 / 2, rate) <= 1


@pytest.mark.parametrize("scale", [0.5, 0.8, 1.0, 2.0, 5.0])
def test_discrete_noise_stays_below_its_mu(scale: float) -> None:
    """Without the surcharge, discrete noise at small scales tells more than mu says."""
    steps = np.arange(-60, 61)
    chances = np.exp(-(steps**2) / (2 * scale**2))
    tails = np.cumsum(chances[::-1])[::-1] / chances.sum()  # P(noise >= m)
    mu = gaussian_mu(scale, 1)
    assert mu is not None
    beyond = 0
    for place, rate in enumerate(tails[:-1]):
        if 1e-12 < rate < 1 - 1e-12:
            found = (
                tails[place - 1] if place else 1.0
            )  # the same threshold, one row more
            assert found <= true_positives_of_mu(mu, rate) * (1 + 1e-9)
            beyond += found > true_positives_of_mu(1 / scale, rate)
    assert beyond
    assert gaussian_mu(0.4, 1) is None


def test_bounds_of_stated_losses() -> None:
    """An account would tell an attacker's success by noise that it does not know."""
    assert max_true_positives(PureDP(epsilon=1), 0.01) == pytest.approx(0.0271828)
    loss = ApproxDP(epsilon=1, delta="1e-9")
    rho = float(loss.rho)
    assert max_true_positives(loss, 0.05) == true_positives_of_rho(rho, 0.05)
    assert max_true_positives(ZCDP(rho=loss.rho), 0.05) == true_positives_of_rho(
        rho, 0.05
    )
    named = ApproxDP(epsilon=1, delta="1e-9", threshold_delta="1e-4")
    assert max_true_positives(named, 0.05) == pytest.approx(
        true_positives_of_rho(float(named.rho), 0.05) + 1e-4
    )
    assert max_true_positives(PureDP(epsilon=10_000), 0.05) == 1
    assert true_positives_of_steps([5_000, 5_000], 0.01) == pytest.approx(1)
