"""A split of each class into two cells, which adds detail to the normal model.

The split follows from noisy moments alone: the feature that varies most inside classes,
at its mean. So the cells are as public as the classes, and disjoint. Means of the other
features are measured in each half. It is used if no correlations are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.synthesis.gaussian._clipped_normal import find_centers, find_scales
from dpcore.synthesis.gaussian._moments import MIN_CLASS_ROWS, Moments, shrink_to_shared
from dpcore.tables.counts import Values, pack_array, unpack_array
from dpcore.tables.sums import NoisySums

MIN_WITHIN_SHARE = 0.05
"""Least share of a variance that lies within the halves."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassSplit:
    """Normal distributions below and above an edge of one feature, in each class.

    Attributes:
        feature: number of the split feature.
        edge: position up to which a value is low.
        centers: (2, classes, features), of the low and the high half, before clipping.
        scales: (classes, features), common to both halves.
    """

    feature: int
    edge: float
    centers: Values
    scales: Values

    def to_dict(self) -> dict[str, Any]:
        return {
            "feature": self.feature,
            "edge": self.edge,
            "centers": pack_array(self.centers),
            "scales": pack_array(self.scales),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> ClassSplit:
        """Read the output of `to_dict`."""
        centers = unpack_array(fields["centers"])
        scales = unpack_array(fields["scales"])
        return cls(
            feature=fields["feature"],
            edge=fields["edge"],
            centers=centers,
            scales=scales,
        )


def choose_split(moments: Moments, sizes: Values) -> tuple[int, float]:
    """Return the feature that varies most inside classes, and its overall mean.

    Args:
        moments: of the features.
        sizes: (classes,), noisy rows.
    """
    shares = np.maximum(sizes, MIN_CLASS_ROWS)
    shares = shares / shares.sum()
    means, variances = moments.drawn_moments
    feature = int((shares @ variances).argmax())
    return feature, float(shares @ means[:, feature])


def fit_split(
    sums: NoisySums, moments: Moments, feature: int, edge: float
) -> ClassSplit:
    """Estimate the normal distributions of both halves from noisy sums.

    Args:
        sums: a line per class and half, low before high: the number of rows, then the
            sum of each feature but the split one.
        moments: of the features.
        feature: number of the split feature.
        edge: position up to which a value is low.
    """
    means, variances = moments.drawn_moments
    classes, features = means.shape
    others = [number for number in range(features) if number != feature]
    sizes = np.maximum(sums.values[:, :1], MIN_CLASS_ROWS)
    # 1. Shrink the means of the halves towards their class mean, as far as noise
    # explains.
    class_means = np.repeat(means, 2, axis=0)
    noisy_means = class_means.copy()
    noisy_means[:, others] = np.clip(sums.values[:, 1:] / sizes, -1.0, 1.0)
    shrunk = shrink_to_shared(noisy_means, class_means, sums.deviation / sizes[:, 0])
    half_means = class_means if shrunk is None else np.clip(shrunk, -1.0, 1.0)
    half_means = half_means.reshape(classes, 2, features)
    # 2. Find scales at which the two halves together have the variances of the class.
    shares = sizes.reshape(classes, 2) / sizes.reshape(classes, 2).sum(
        axis=1, keepdims=True
    )
    scales = np.empty((classes, features))
    for number in range(classes):
        between = (
            shares[number]
            @ (half_means[number] - shares[number] @ half_means[number]) ** 2
        )
        within = np.maximum(
            variances[number] - between, MIN_WITHIN_SHARE * variances[number]
        )
        scales[number] = find_scales(half_means[number], within, shares[number])
    centers = find_centers(np.swapaxes(half_means, 0, 1), scales[None])
    return ClassSplit(feature=feature, edge=edge, centers=centers, scales=scales)
