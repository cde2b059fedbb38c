"""Normal laws clipped to [-1, 1]: their moments, and the law that has wanted ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpcore.synthesis.gaussian._clipped_normal import (
    clipped_moments,
    find_centers,
    find_scales,
)

ONE = np.ones(1)


@pytest.mark.parametrize(
    ("center", "scale"), [(0.0, 0.3), (0.9, 0.3), (-1.4, 0.8), (3.0, 2.0), (0.1, 30.0)]
)
def test_moments_by_integration(center: float, scale: float) -> None:
    """A wrong formula would draw classes with other means than were measured."""
    law = norm(center, scale)
    ends = law.cdf(-1), law.sf(1)
    power = [quad(lambda x, p=p: x**p * law.pdf(x), -1, 1)[0] for p in (1, 2)]
    mean = power[0] - ends[0] + ends[1]
    found = clipped_moments(np.array([center]), np.array([scale]))
    assert found[0][0] == pytest.approx(mean, abs=1e-8)
    assert found[1][0] == pytest.approx(power[1] + sum(ends) - mean**2, abs=1e-8)


def test_every_mean_and_variance_has_its_law() -> None:
    """From no spread to values at the two bounds alone: the law must have the moments
    that were asked for.
    """
    means = np.array([[-0.98, -0.6, 0.0, 0.3, 0.9]])
    for part in (0.001, 0.05, 0.5, 0.9, 0.999):
        variances = part * (1 - means[0] ** 2)
        scale = find_scales(means, variances, ONE)
        found = clipped_moments(
            find_centers(means, scale), np.broadcast_to(scale, means.shape)
        )
        assert found[0] == pytest.approx(means, abs=1e-4)
        assert found[1][0] == pytest.approx(variances, rel=0.02, abs=1e-4)


def test_lines_share_a_scale() -> None:
    """Classes of one scale differ in variance where one lies nearer to a bound; their
    mean must be met.
    """
    means = np.array([[0.0], [0.95]])
    shares = np.array([0.7, 0.3])
    scale = find_scales(means, np.array([0.06]), shares)
    variances = clipped_moments(
        find_centers(means, scale), np.broadcast_to(scale, means.shape)
    )[1]
    assert shares @ variances == pytest.approx(np.array([0.06]), rel=1e-3)
    assert variances[1, 0] < variances[0, 0]


def test_impossible_moments_become_the_nearest() -> None:
    """Noise asks for negative variances, for more than the bounds allow, and for means
    beyond them.
    """
    means = np.array([[-1.0, 1.0, 0.5, 0.5]])
    scale = find_scales(means, np.array([-3.0, 5.0, -0.1, 2.0]), ONE)
    centers = find_centers(means, scale)
    mean, variance = clipped_moments(centers, np.broadcast_to(scale, means.shape))
    assert np.isfinite(centers).all()
    assert np.abs(mean - means).max() < 0.01
    assert variance[0, 2] < 1e-4
    assert variance[0, 3] == pytest.approx(0.75, abs=1e-3)
