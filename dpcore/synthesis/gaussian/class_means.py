"""Posterior class means from noisy sums, given the law of the noise.

Of each feature, class means lie around a common center, of which nothing is known, at
distances with the density exp(-|d| / SPREAD) / (2 SPREAD). The posterior mean of each
follows by adding up over a grid. It draws classes together where the noise alone could
have set them apart, and leaves those alone that lie beyond it. The entries of one draw
of max-norm noise are taken for independent ones, each with its exact density.
"""

from collections.abc import Callable

import numpy as np

from dpcore.tables.counts import Values

Density = Callable[[Values], Values]
"""Of the noise of a sum: rows -> density, up to a factor."""
SPREAD = 0.25
"""Typical distance of a class mean from the center of its feature, on the scale of [-1,
1].
"""
CENTERS = 101
POINTS = 81
REACH = 6.0
"""Deviations of the noise that are looked at around a sum."""


def class_means(
    sums: Values, sizes: Values, deviation: float, density: Density
) -> Values:
    """Return the posterior means of the features of each class, in [-1, 1].

    Args:
        sums: (classes, features), noisy sums, in rows.
        sizes: (classes,), rows of each class, above 0.
        deviation: of the noise of a sum, in rows.
        density: of that noise.
    """
    centers = np.linspace(-1.0, 1.0, CENTERS)
    steps = np.linspace(0.0, 1.0, POINTS)
    reach = REACH * deviation / sizes
    means = np.empty_like(sums)
    for feature, column in enumerate(sums.T):
        middle = np.clip(column / sizes, -1.0, 1.0)
        low = np.maximum(middle - reach, -1.0)
        high = np.minimum(middle + reach, 1.0)
        points = low[:, None] + (high - low)[:, None] * steps
        likelihood = density(column[:, None] - sizes[:, None] * points)
        likelihood = (
            likelihood / np.maximum(likelihood.max(axis=1, keepdims=True), 1e-300)
            + 1e-30
        )
        joint = likelihood[:, :, None] * np.exp(
            -np.abs(points[:, :, None] - centers) / SPREAD
        )
        together = joint.sum(axis=1)
        chance = np.log(together).sum(axis=0)
        chance = np.exp(chance - chance.max())
        means[:, feature] = (
            (joint * points[:, :, None]).sum(axis=1)
            / together
            @ (chance / chance.sum())
        )
    return means
