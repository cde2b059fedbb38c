"""From noisy sums to class moments: all of it post-processing of noisy numbers, with public constants.

Positions of values lie in [-1, 1]. The noise of a class mean is sigma / n_c, with sigma the deviation of
the noise of a sum and n_c the noisy size of the class, so small classes are uncertain and large ones are not.
Three steps follow from that, none of which looks at a row:

1. Means. The distance of a class mean from the mean of all classes (weighted by precision) is drawn in by
   `SOFT` deviations of its noise, and no further than to 0: a class that noise alone set apart is not.
2. Variances. What all classes have inside them together is shrunk to the public prior, and each class to
   that, by the weights of normal laws: typical deviation squared against noise squared. Covariances
   likewise, to 0. Part of the uncertainty of a mean is added to its variance.
3. A column whose variance is nearly the largest that its mean allows, 1 - mean^2, has its values at its two
   bounds, and is drawn so.

The constants were chosen while looking at three small public tables; curves are flat around them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.tables.counts import Values
from dpcore.tables.sums import NoisySums

SMALLEST_CLASS = 5.0
"""Rows that a class is taken to have at least when sums are divided."""
SOFT = 0.4
CARRIED = 0.1
"""Part of the variance of a mean's noise that drawn rows carry."""
PRIOR_VARIANCE = 0.08
PRIOR_SPREAD = 0.06
"""Typical deviation of a variance from the prior, and of a covariance from 0."""
LEAST_VARIANCE, FLATTEST = 0.02, 1e-4
"""Of drawn rows, along any direction: the noise of the variances, from `FLATTEST` to `LEAST_VARIANCE`."""
AT_THE_BOUNDS = 0.7
"""Part of the largest possible variance from which a column is taken to have two values."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """Means and covariances of numeric features, class by class.

    Attributes:
        means: (classes, features), in [-1, 1].
        covariances: (classes, features, features), eigenvalues from `FLATTEST` to 1.
        two_valued: (features,), whether a column's values lie at its two bounds.
    """

    means: Values
    covariances: Values
    two_valued: npt.NDArray[np.bool_]


def moments(first: NoisySums, second: NoisySums | None, pairs: Sequence[tuple[int, int]] = ()) -> Moments:
    """Moments of features from their noisy sums.

    Args:
        first: per class the number of rows, then the sum of each feature.
        second: per class the sum of 2 x^2 - 1 of each feature, then the sum of x_i x_j of each pair.
        pairs: features i, j whose products were summed.
    """
    sizes = np.maximum(first.values[:, 0], SMALLEST_CLASS)
    noise = (first.deviation / sizes) ** 2
    means = drawn_in(np.clip(first.values[:, 1:] / sizes[:, None], -1.0, 1.0), noise)
    features = means.shape[1]
    covariances = np.tile(np.eye(features) * PRIOR_VARIANCE, (len(sizes), 1, 1))
    two_valued = np.zeros(features, dtype=np.bool_)
    least = LEAST_VARIANCE
    if second is not None:
        least = float(np.clip(second.deviation / sizes.sum(), FLATTEST, LEAST_VARIANCE))
        variances, two_valued = _variances(second, sizes, means)
        covariances[:, range(features), range(features)] = variances
        if pairs:
            i, j = np.array(pairs).T
            products = second.values[:, features:] / sizes[:, None] - means[:, i] * means[:, j]
            drawn = _shrunk(products, sizes, second.deviation, prior=0.0)
            covariances[:, i, j] = covariances[:, j, i] = drawn
    covariances += np.eye(features) * (CARRIED * noise)[:, None, None]
    return Moments(means=means, covariances=clipped(covariances, least), two_valued=two_valued)


def drawn_in(means: Values, noise: Values) -> Values:
    """Class means with what noise alone would explain taken off their distance from the overall mean.

    Args:
        means: (classes, features).
        noise: (classes,), variance of the noise of each mean, at least 0.
    """
    precision = 1 / np.maximum(noise, 1e-12)
    center: Values = precision @ means / precision.sum()
    width = SOFT * np.sqrt(np.maximum(noise - 1 / precision.sum(), 0.0))[:, None]
    distance = means - center
    drawn: Values = center + np.sign(distance) * np.maximum(np.abs(distance) - width, 0.0)
    return drawn


def clipped(covariances: Values, least: float) -> Values:
    """The nearest covariances whose eigenvalues lie from `least` to 1."""
    values, vectors = np.linalg.eigh(covariances)
    kept = np.clip(values, least, 1.0)
    rebuilt: Values = (vectors * kept[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    return rebuilt


def _variances(second: NoisySums, sizes: Values, means: Values) -> tuple[Values, npt.NDArray[np.bool_]]:
    """Variances (classes, features), and which features have their values at the bounds."""
    features = means.shape[1]
    squares = (second.values[:, :features] / sizes[:, None] + 1) / 2
    room = 1 - _pooled(means, sizes) ** 2
    noise = math.sqrt(len(sizes)) * second.deviation / sizes.sum()
    two_valued = (_pooled(squares, sizes) - 1 + room > AT_THE_BOUNDS * room) & (room > 3 * noise)
    own = _shrunk(squares - means**2, sizes, second.deviation / 2, prior=PRIOR_VARIANCE)
    return np.clip(np.where(two_valued, 1 - means**2, own), FLATTEST, 1.0), two_valued


def _shrunk(found: Values, sizes: Values, deviation: float, *, prior: float) -> Values:
    """Class numbers (classes, ...) drawn to what the classes share, and that to its prior.

    The weights are those of normal laws. How far classes lie from each other beyond their noise is found from
    them all; where that is not at all, they get the shared number.

    Args:
        deviation: of the noise of the sums that `found` was divided from, in rows.
    """
    together = len(sizes) * (deviation / sizes.sum()) ** 2
    weight = PRIOR_SPREAD**2 / (PRIOR_SPREAD**2 + together)
    shared = weight * _pooled(found, sizes) + (1 - weight) * prior
    noise = np.broadcast_to(((deviation / sizes) ** 2)[:, None], found.shape)
    precision = 1 / np.maximum(noise, 1e-12) ** 2
    between = max(float(np.average((found - shared) ** 2 - noise, weights=precision)), 0.0)
    drawn: Values = shared + between / np.maximum(between + noise, 1e-12) * (found - shared)
    return drawn


def _pooled(values: Values, sizes: Values) -> Values:
    """The mean over classes, by size."""
    mean: Values = sizes @ values / sizes.sum()
    return mean
