"""Normal distributions of each class, estimated from noisy sums.

Positions of values lie in [-1, 1]. The noise of a class mean is sigma / n_c, with sigma
the standard deviation of the noise of a sum and n_c the noisy size of the class, so
small classes are uncertain and large ones are not. Three steps follow from that, none
of which looks at a row:

1. Means. `posterior_means` shrinks together classes that noise alone could have set
   apart.
2. Scales. Rows are drawn from normal laws that are clipped to [-1, 1], and classes that
   differ in their variance mostly do so because some lie nearer to a bound. So all
   classes have one scale before clipping, from their pooled variance inside classes,
   shrunk to that of the public prior scale. A class gets a variance of its own as far
   as classes differ from that beyond their noise.
3. Correlations. Covariances of all classes together are shrunk to 0, and those of each
   class to them, likewise.

The weights are those of normal laws: typical deviation squared against noise squared.
The constants were chosen while looking at three small public tables; curves are flat
around them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.synthesis.gaussian._class_means import Density, posterior_means
from dpcore.synthesis.gaussian._clipped_normal import (
    clipped_moments,
    find_centers,
    find_scales,
)
from dpcore.tables.counts import Values
from dpcore.tables.sums import NoisySums

MIN_CLASS_ROWS = 5.0
"""Least rows of a class when sums are divided by them."""
PRIOR_SCALE = 0.28
"""Scale of any feature before clipping, if nothing is known of it."""
PRIOR_SPREAD = 0.06
"""Typical distance of a variance from the prior's, and of a covariance from 0."""
SIGNIFICANT_NOISE = 3.0
"""Noise variances beyond which classes differ: the entries of one draw are large
together.
"""
MIN_VARIANCE_FLOOR = 1e-4
MAX_VARIANCE_FLOOR = 0.02
"""The least variance of a feature before clipping is that of its noise, within these."""
MIN_EIGENVALUE = 0.02
"""Least eigenvalue of drawn correlations."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Normal distributions of the features in each class, before clipping.

    Attributes:
        centers: (classes, features).
        covariances: (classes, features, features), positive definite.
    """

    centers: Values
    covariances: Values

    @property
    def scales(self) -> Values:
        """Standard deviations before clipping, of shape (classes, features)."""
        return np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))

    @property
    def drawn_moments(self) -> tuple[Values, Values]:
        """Means and variances of the values after clipping to [-1, 1].

        Each is of shape (classes, features).
        """
        return clipped_moments(self.centers, self.scales)


def fit_moments(
    first_sums: NoisySums,
    second_sums: NoisySums | None,
    density: Density,
    pairs: Sequence[tuple[int, int]] = (),
) -> Moments:
    """Estimate the normal distributions of the features from noisy sums.

    Args:
        first_sums: per class the number of rows, then the sum of each feature.
        second_sums: per class the sum of 2 x^2 - 1 of each feature, then the sum of x_i x_j
            of each pair.
        density: of the noise of a first sum.
        pairs: features i, j whose products were summed.
    """
    sizes = np.maximum(first_sums.values[:, 0], MIN_CLASS_ROWS)
    shares = sizes / sizes.sum()
    means = posterior_means(
        first_sums.values[:, 1:], sizes, first_sums.deviation, density
    )
    features = means.shape[1]
    scales = np.full(means.shape, PRIOR_SCALE)
    correlations = np.tile(np.eye(features), (len(sizes), 1, 1))
    if second_sums is not None:
        squares = (second_sums.values[:, :features] / sizes[:, None] + 1) / 2
        scales = _unclipped_scales(
            means, squares - means**2, shares, second_sums.deviation / 2 / sizes
        )
        if pairs:
            i, j = np.array(pairs).T
            products = (
                second_sums.values[:, features:] / sizes[:, None]
                - means[:, i] * means[:, j]
            )
            deviation = second_sums.deviation / sizes
            weight = _prior_weight(float(((shares * deviation) ** 2).sum()))
            # Shrink pooled covariances towards 0, then those of each class towards the
            # pooled ones.
            shared = np.broadcast_to(weight * (shares @ products), products.shape)
            by_class = shrink_to_shared(products, shared, deviation)
            inside = shared if by_class is None else by_class
            variances = _clipped_variances(means, scales)
            norms = np.sqrt(variances[:, i] * variances[:, j] + MIN_VARIANCE_FLOOR)
            correlations[:, i, j] = correlations[:, j, i] = np.clip(
                inside / norms, -1.0, 1.0
            )
    covariances = (
        scales[:, :, None] * nearest_correlations(correlations) * scales[:, None, :]
    )
    return Moments(centers=find_centers(means, scales), covariances=covariances)


def nearest_correlations(correlations: Values) -> Values:
    """Return valid correlation matrices close to the given ones.

    Eigenvalues are at least `MIN_EIGENVALUE`, and the diagonal is 1.
    """
    values, vectors = np.linalg.eigh(correlations)
    rebuilt = (vectors * np.maximum(values, MIN_EIGENVALUE)[:, None, :]) @ np.swapaxes(
        vectors, 1, 2
    )
    size = np.sqrt(np.diagonal(rebuilt, axis1=1, axis2=2))
    scaled: Values = rebuilt / size[:, :, None] / size[:, None, :]
    return scaled


def _unclipped_scales(
    means: Values, variances: Values, shares: Values, deviation: Values
) -> Values:
    """Return scales before clipping, (classes, features), from noisy variances.

    Args:
        means: (classes, features), in [-1, 1].
        variances: (classes, features), noisy.
        shares: (classes,), of the rows.
        deviation: (classes,), of the noise of `variances`.
    """
    # First find one scale for all classes, from pooled variances shrunk towards the
    # prior.
    pooled_noise = float(((shares * deviation) ** 2).sum())
    weight = _prior_weight(pooled_noise)
    pooled = weight * (shares @ variances) + (1 - weight) * (
        shares @ _clipped_variances(means, PRIOR_SCALE)
    )
    shared = np.broadcast_to(find_scales(means, pooled, shares), means.shape)
    # Then find a scale for each class, if the variances differ beyond noise.
    by_class = shrink_to_shared(variances, _clipped_variances(means, shared), deviation)
    if by_class is not None:
        shared = find_scales(
            means.reshape(1, -1), by_class.ravel(), np.ones(1)
        ).reshape(means.shape)
    least = np.clip(
        2 * math.sqrt(pooled_noise / len(shares)),
        MIN_VARIANCE_FLOOR,
        MAX_VARIANCE_FLOOR,
    )
    return np.maximum(shared, math.sqrt(least))


def _clipped_variances(means: Values, scale: Values | float) -> Values:
    """Return the variances after clipping for these means and this scale."""
    scales = np.broadcast_to(scale, means.shape)
    return clipped_moments(find_centers(means, scales), scales)[1]


def _prior_weight(noise: float) -> float:
    """Return the weight of a pooled estimate relative to its prior.

    Args:
        noise: variance of the noise of the pooled number.
    """
    return PRIOR_SPREAD**2 / (PRIOR_SPREAD**2 + noise)


def shrink_to_shared(noisy: Values, shared: Values, deviation: Values) -> Values | None:
    """Shrink noisy numbers of each class towards the numbers that classes share.

    The variance between classes beyond noise is estimated from all of them.

    Args:
        noisy: (classes, ...), noisy numbers.
        shared: of the same shape, what the classes share.
        deviation: (classes,), of the noise of `noisy`.

    Returns: None if classes do not differ beyond noise.
    """
    noise = np.broadcast_to((deviation**2)[:, None], noisy.shape)
    precision = 1 / np.maximum(noise, 1e-12) ** 2
    between = float(
        np.average((noisy - shared) ** 2 - SIGNIFICANT_NOISE * noise, weights=precision)
    )
    if between <= 0:
        return None
    shrunk: Values = shared + between / np.maximum(between + noise, 1e-12) * (
        noisy - shared
    )
    return shrunk
