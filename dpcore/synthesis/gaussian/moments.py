"""Laws of classes from noisy sums, with public constants.

Positions of values lie in [-1, 1]. The noise of a class mean is sigma / n_c, with sigma
the deviation of the noise of a sum and n_c the noisy size of the class, so small
classes are uncertain and large ones are not. Three steps follow from that, none of
which looks at a row:

1. Means. `class_means` gives what is to be believed of them, by the law of the noise: a class that noise
   alone could have set apart is not.
2. Scales. Rows are drawn from normal laws that are clipped to [-1, 1] (`clipped`), and classes that differ in
   their variance mostly do so because some lie nearer to a bound. So all classes have
   one scale before clipping, by the variance that they have inside them together,
   shrunk to that of the public prior scale. A class gets a variance of its own as far
   as classes differ from that beyond their noise.
3. Correlations. Covariances of all classes together are shrunk to 0, and each class to them, likewise.

The weights are those of normal laws: typical deviation squared against noise squared.
The constants were chosen while looking at three small public tables; curves are flat
around them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.synthesis.gaussian.class_means import Density, class_means
from dpcore.synthesis.gaussian.clipped_normal import (
    centers_for,
    clipped_moments,
    scales_for,
)
from dpcore.tables.counts import Values
from dpcore.tables.sums import NoisySums

SMALLEST_CLASS = 5.0
"""Rows that a class is taken to have at least when sums are divided."""
PRIOR_SCALE = 0.28
PRIOR_SPREAD = 0.06
"""Typical deviation of a variance from the prior's, and of a covariance from 0."""
SURELY = 3.0
"""Times the variance of the noise by which classes must differ: entries of one draw are
large together.
"""
LEAST_VARIANCE = 0.02
FLATTEST = 1e-4
"""Before clipping, of any feature: the noise of the variances, from `FLATTEST` to
`LEAST_VARIANCE`.
"""
LEAST_SHARE = 0.02
"""Eigenvalues of correlations, at least."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Normal laws of numeric features, class by class, before they are clipped to [-1,
    1].

    Attributes:
        centers: (classes, features).
        covariances: (classes, features, features), positive definite.
    """

    centers: Values
    covariances: Values

    @property
    def scales(self) -> Values:
        """Deviations before clipping, of shape (classes, features)."""
        return np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))

    @property
    def clipped(self) -> tuple[Values, Values]:
        """Means and variances of drawn values in [-1, 1], each of shape (classes,
        features).
        """
        return clipped_moments(self.centers, self.scales)


def moments(
    first: NoisySums,
    second: NoisySums | None,
    density: Density,
    pairs: Sequence[tuple[int, int]] = (),
) -> Moments:
    """Return the laws of features from their noisy sums.

    Args:
        first: per class the number of rows, then the sum of each feature.
        second: per class the sum of 2 x^2 - 1 of each feature, then the sum of x_i x_j
            of each pair.
        density: of the noise of a first sum.
        pairs: features i, j whose products were summed.
    """
    sizes = np.maximum(first.values[:, 0], SMALLEST_CLASS)
    shares = sizes / sizes.sum()
    means = class_means(first.values[:, 1:], sizes, first.deviation, density)
    features = means.shape[1]
    scales = np.full(means.shape, PRIOR_SCALE)
    correlations = np.tile(np.eye(features), (len(sizes), 1, 1))
    if second is not None:
        squares = (second.values[:, :features] / sizes[:, None] + 1) / 2
        scales = _scales(
            means, squares - means**2, shares, second.deviation / 2 / sizes
        )
        if pairs:
            i, j = np.array(pairs).T
            products = (
                second.values[:, features:] / sizes[:, None] - means[:, i] * means[:, j]
            )
            deviation = second.deviation / sizes
            weight = _weight(float(((shares * deviation) ** 2).sum()))
            shared = np.broadcast_to(weight * (shares @ products), products.shape)
            own = beyond_noise(products, shared, deviation)
            variances = _variances(means, scales)
            sizes_of = np.sqrt(variances[:, i] * variances[:, j] + FLATTEST)
            drawn = (shared if own is None else own) / sizes_of
            correlations[:, i, j] = correlations[:, j, i] = np.clip(drawn, -1.0, 1.0)
    covariances = scales[:, :, None] * possible(correlations) * scales[:, None, :]
    return Moments(centers=centers_for(means, scales), covariances=covariances)


def possible(correlations: Values) -> Values:
    """Return the nearest possible correlations, with eigenvalues of at least
    `LEAST_SHARE`.
    """
    values, vectors = np.linalg.eigh(correlations)
    rebuilt = (vectors * np.maximum(values, LEAST_SHARE)[:, None, :]) @ np.swapaxes(
        vectors, 1, 2
    )
    size = np.sqrt(np.diagonal(rebuilt, axis1=1, axis2=2))
    scaled: Values = rebuilt / size[:, :, None] / size[:, None, :]
    return scaled


def _scales(
    means: Values, variances: Values, shares: Values, deviation: Values
) -> Values:
    """Return scales before clipping, of shape (classes, features), from noisy
    variances.

    Args:
        means: (classes, features), in [-1, 1].
        variances: (classes, features), noisy.
        shares: (classes,), of the rows.
        deviation: (classes,), of the noise of `variances`.
    """
    pooled_noise = float(((shares * deviation) ** 2).sum())
    weight = _weight(pooled_noise)
    pooled = weight * (shares @ variances) + (1 - weight) * (
        shares @ _variances(means, PRIOR_SCALE)
    )
    shared = np.broadcast_to(scales_for(means, pooled, shares), means.shape)
    own = beyond_noise(variances, _variances(means, shared), deviation)
    if own is not None:
        shared = scales_for(means.reshape(1, -1), own.ravel(), np.ones(1)).reshape(
            means.shape
        )
    least = np.clip(2 * math.sqrt(pooled_noise / len(shares)), FLATTEST, LEAST_VARIANCE)
    return np.maximum(shared, math.sqrt(least))


def _variances(means: Values, scale: Values | float) -> Values:
    """Return the variances of clipped numbers of these means and this scale before
    clipping.
    """
    scales = np.broadcast_to(scale, means.shape)
    return clipped_moments(centers_for(means, scales), scales)[1]


def _weight(noise: float) -> float:
    """Return the weight of a shared number against its prior, by the variance of its
    noise.
    """
    return PRIOR_SPREAD**2 / (PRIOR_SPREAD**2 + noise)


def beyond_noise(noisy: Values, shared: Values, deviation: Values) -> Values | None:
    """Shrink class numbers of shape (classes, ...) towards what the classes share.

    How far classes lie from that beyond their noise is found from them all; None where
    that is not at all.

    Args:
        noisy: (classes, ...), noisy numbers.
        shared: of the same shape, what the classes share.
        deviation: (classes,), of the noise of `noisy`.
    """
    noise = np.broadcast_to((deviation**2)[:, None], noisy.shape)
    precision = 1 / np.maximum(noise, 1e-12) ** 2
    between = float(
        np.average((noisy - shared) ** 2 - SURELY * noise, weights=precision)
    )
    if between <= 0:
        return None
    drawn: Values = shared + between / np.maximum(between + noise, 1e-12) * (
        noisy - shared
    )
    return drawn
