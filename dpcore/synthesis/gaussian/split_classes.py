"""A split of every class into two cells, which adds detail to normal laws without
correlations.

The split follows from noisy moments alone: the feature that varies most inside classes,
at its mean. So the cells are as public as the classes, and disjoint. Means of the other
features are measured in each half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcore.synthesis.gaussian.clipped_normal import centers_for, scales_for
from dpcore.synthesis.gaussian.moments import SMALLEST_CLASS, Moments, beyond_noise
from dpcore.tables.counts import Values, pack, unpack
from dpcore.tables.sums import NoisySums

LEAST_WITHIN = 0.05
"""Part of a variance that lies within the halves, at least."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassSplit:
    """Laws of the features in the low and the high cell of one feature, before
    clipping.

    Attributes:
        feature: number of the feature that is split.
        edge: position up to which a value is low.
        centers: (2, classes, features), of the low and the high half.
        scales: (classes, features).
    """

    feature: int
    edge: float
    centers: Values
    scales: Values

    def to_dict(self) -> dict[str, Any]:
        return {
            "feature": self.feature,
            "edge": self.edge,
            "centers": pack(self.centers),
            "scales": pack(self.scales),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> ClassSplit:
        """Read what `to_dict` wrote."""
        centers = unpack(fields["centers"])
        scales = unpack(fields["scales"])
        return cls(
            feature=fields["feature"],
            edge=fields["edge"],
            centers=centers,
            scales=scales,
        )


def split_of(moments: Moments, sizes: Values) -> tuple[int, float]:
    """Return the feature that varies most inside classes, and its mean over all.

    Args:
        moments: of the features.
        sizes: (classes,), noisy rows.
    """
    shares = np.maximum(sizes, SMALLEST_CLASS)
    shares = shares / shares.sum()
    means, variances = moments.clipped
    feature = int((shares @ variances).argmax())
    return feature, float(shares @ means[:, feature])


def split_classes(
    sums: NoisySums, moments: Moments, feature: int, edge: float
) -> ClassSplit:
    """Return the laws from noisy sums.

    Args:
        moments: of the features.
        feature: number of the feature that is split.
        edge: position up to which a value is low.
        sums: a line per class and half, low before high: the number of rows, then the
            sum of each feature but the one that is split.
    """
    means, variances = moments.clipped
    classes, features = means.shape
    others = [number for number in range(features) if number != feature]
    sizes = np.maximum(sums.values[:, :1], SMALLEST_CLASS)
    of_class = np.repeat(means, 2, axis=0)
    half_means = of_class.copy()
    half_means[:, others] = np.clip(sums.values[:, 1:] / sizes, -1.0, 1.0)
    drawn = beyond_noise(half_means, of_class, sums.deviation / sizes[:, 0])
    half_means = (of_class if drawn is None else np.clip(drawn, -1.0, 1.0)).reshape(
        classes, 2, features
    )
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
            variances[number] - between, LEAST_WITHIN * variances[number]
        )
        scales[number] = scales_for(half_means[number], within, shares[number])
    centers = centers_for(np.swapaxes(half_means, 0, 1), scales[None])
    return ClassSplit(feature=feature, edge=edge, centers=centers, scales=scales)
