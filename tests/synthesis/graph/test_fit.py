"""The fit: exact without noise, weighted by 1 / variance, and a minimum of what it
claims to minimize.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpcore.schema import Clique, Domain
from dpcore.synthesis.graph.fit import SMOOTHNESS, FittedModel, fit
from dpcore.tables.counts import Marginal, project
from tests.synthesis.standin import brute_force, exact, random_cliques, random_domain


def even(domain: Domain) -> dict[str, np.ndarray]:
    return {name: np.ones(domain.size(name)) for name in domain.names}


@pytest.mark.parametrize("seed", range(30))
def test_without_noise_marginals_are_met(seed: int) -> None:
    """In the noiseless limit the model must reproduce what was measured, loops
    included.
    """
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, int(rng.integers(1, 6)))
    whole = (
        rng.dirichlet(np.full(domain.cells(domain.names), 0.7)).reshape(domain.sizes)
        * 1000
    )
    cliques = random_cliques(rng, domain)
    fitted = fit(
        domain,
        exact(domain, whole, cliques, 1e-8),
        start=even(domain),
        max_sweeps=3000,
    )
    for clique in cliques:
        np.testing.assert_allclose(
            fitted.model.marginal(clique),
            project(whole, domain.names, clique),
            atol=0.1,
        )


@pytest.mark.parametrize("seed", range(20))
def test_model_is_the_minimum_it_claims_to_be(seed: int) -> None:
    """At the minimum every potential is (y - mu) / (strength * variance), y made
    consistent first.
    """
    rng = np.random.default_rng(seed)
    domain = Domain(names=("a", "b", "c"), sizes=(3, 4, 2))
    whole = rng.dirichlet(np.full(24, 0.5)).reshape(domain.sizes) * 500
    measured = Marginal(
        clique=("a", "b"),
        values=project(whole, domain.names, ("a", "b")) + rng.normal(0, 6, (3, 4)),
        variance=36.0,
        noise="gaussian",
    )
    fitted = fit(domain, [measured], start=even(domain), max_sweeps=500)
    # One table: no scaling but to its own total, which the fit meets but for the pull
    # of the start.
    theta = fitted.potentials[("a", "b")]
    whole_fit = brute_force(domain, fitted.model.factors, fitted.model.total)
    np.testing.assert_allclose(
        fitted.model.marginal(("a", "b")),
        project(whole_fit, domain.names, ("a", "b")),
        rtol=1e-9,
    )
    unscaled = 500 / 12 * np.exp(theta) * (measured.values.sum() / 500)
    np.testing.assert_allclose(
        SMOOTHNESS / 6.0 * 36.0 * theta + unscaled, measured.values, atol=0.05
    )


def test_precise_tables_count_by_inverse_variance() -> None:
    """Two tables of one column with variances 1 and 9 must be averaged 9 : 1, not 3 :
    1.
    """
    domain = Domain(names=("a",), sizes=(2,))
    tables = [
        Marginal(
            clique=("a",),
            values=np.array([5000.0, 5000.0]),
            variance=1.0,
            noise="gaussian",
        ),
        Marginal(
            clique=("a",),
            values=np.array([5100.0, 4900.0]),
            variance=9.0,
            noise="gaussian",
        ),
    ]
    fitted = fit(domain, tables, start=even(domain))
    assert fitted.model.marginal(("a",))[0] == pytest.approx(5010, abs=0.5)


def test_warm_start_goes_on_where_it_stopped() -> None:
    """A second fit from the first one's potentials must agree with one long fit."""
    rng = np.random.default_rng(4)
    domain = random_domain(rng, 5)
    whole = (
        rng.dirichlet(np.ones(domain.cells(domain.names))).reshape(domain.sizes) * 5000
    )
    cliques: list[Clique] = list(itertools.combinations(domain.names, 2))
    tables = exact(domain, whole, cliques, 25.0)
    first = fit(domain, tables, start=even(domain), max_sweeps=40)
    second = fit(
        domain, tables, start=even(domain), warm_start=first.potentials, max_sweeps=40
    )
    whole_way = fit(domain, tables, start=even(domain), max_sweeps=80)
    assert second.sweeps <= 40
    for clique in cliques:
        np.testing.assert_allclose(
            second.model.marginal(clique), whole_way.model.marginal(clique), atol=1.0
        )


def test_structural_zeros_stay_zero() -> None:
    """A factor of zeros must hold whatever the noisy counts of these cells say."""
    domain = Domain(names=("a", "b"), sizes=(3, 3))
    noisy = Marginal(
        clique=("a", "b"), values=np.full((3, 3), 50.0), variance=4.0, noise="gaussian"
    )
    fitted: FittedModel = fit(
        domain, [noisy], start=even(domain), factors=[(("a", "b"), 1 - np.eye(3))]
    )
    table = fitted.model.marginal(("a", "b"))
    assert np.all(np.diag(table) == 0)
    assert table.sum() == pytest.approx(450)


def test_negative_and_empty_counts_are_survived() -> None:
    """Heavy noise makes whole tables negative; the model must still be a distribution
    of finite numbers.
    """
    domain = Domain(names=("a", "b"), sizes=(4, 5))
    noisy = Marginal(
        clique=("a", "b"), values=np.full((4, 5), -1e6), variance=1e10, noise="laplace"
    )
    table = fit(domain, [noisy], start=even(domain)).model.marginal(("a", "b"))
    assert np.all(np.isfinite(table))
    assert table.sum() == pytest.approx(1.0)
