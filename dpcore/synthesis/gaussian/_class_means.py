"""Posterior means of classes from noisy sums with a known noise distribution.

For each feature, class means lie around a common center, of which nothing is known, at
distances with the density exp(-|d| / s) / (2 s), where s is `CLASS_MEAN_SPREAD`. The
posterior mean of each follows by summing over a grid. Classes that the noise alone could have set apart are
drawn together, others stay. The entries of one draw of max-norm noise are treated as
independent, each with its exact density.
"""

from collections.abc import Callable

import numpy as np

from dpcore.tables.counts import Values

Density = Callable[[Values], Values]
"""The density of the noise of a sum: rows -> density, up to a factor."""
CLASS_MEAN_SPREAD = 0.25
"""Typical distance of a class mean from the center of its feature, on the scale of [-1,
1].
"""
GRID_CENTERS = 101
"""Grid points of the center of a feature, in [-1, 1]."""
GRID_POINTS = 81
"""Grid points of a class mean around its noisy value."""
GRID_SDS = 6.0
"""Half-width of that grid in noise standard deviations."""


def posterior_means(
    sums: Values, sizes: Values, deviation: float, density: Density
) -> Values:
    """Return the posterior means of the features of each class, in [-1, 1].

    Args:
        sums: (classes, features), noisy sums, in rows.
        sizes: (classes,), rows of each class, above 0.
        deviation: of the noise of a sum, in rows.
        density: of that noise.
    """
    centers = np.linspace(-1.0, 1.0, GRID_CENTERS)
    steps = np.linspace(0.0, 1.0, GRID_POINTS)
    reach = GRID_SDS * deviation / sizes
    means = np.empty_like(sums)
    for feature, column in enumerate(sums.T):
        # 1. Compute the likelihood of each class mean on a grid around its noisy value.
        middle = np.clip(column / sizes, -1.0, 1.0)
        low = np.maximum(middle - reach, -1.0)
        high = np.minimum(middle + reach, 1.0)
        points = low[:, None] + (high - low)[:, None] * steps
        likelihood = density(column[:, None] - sizes[:, None] * points)
        likelihood = (
            likelihood / np.maximum(likelihood.max(axis=1, keepdims=True), 1e-300)
            + 1e-30
        )
        # 2. Multiply by the prior around each possible center; shape (classes, points,
        # centers).
        joint = likelihood[:, :, None] * np.exp(
            -np.abs(points[:, :, None] - centers) / CLASS_MEAN_SPREAD
        )
        # 3. Compute the posterior of the center from all classes together.
        mass = joint.sum(axis=1)
        log_posterior = np.log(mass).sum(axis=0)
        posterior = np.exp(log_posterior - log_posterior.max())
        # 4. Average the posterior means given each center over the centers.
        means[:, feature] = (
            (joint * points[:, :, None]).sum(axis=1)
            / mass
            @ (posterior / posterior.sum())
        )
    return means
