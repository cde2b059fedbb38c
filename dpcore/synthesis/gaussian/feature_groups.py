"""Groups of correlated features, and the pair with the strongest relation.

Groups follow from a private correlation matrix, the pair from a private choice.
"""

import itertools
from collections.abc import Collection, Sequence

import numpy as np

from dpcore.accounting.loss import Loss
from dpcore.mechanisms.measurer import Measurer
from dpcore.synthesis.gaussian._moments import Moments
from dpcore.synthesis.gaussian.model import cell_positions, upper_half_indicator
from dpcore.tables.counts import Values
from dpcore.tables.sums import Entry, NoisySums, to_levels

MAX_GROUP_DISTANCE = 0.5
"""Largest mean distance, 1 - correlation, at which groups are joined."""


def find_groups(
    measurer: Measurer,
    features: Sequence[str],
    loss: Loss,
    *,
    with_missing: Collection[str] = (),
) -> tuple[tuple[str, ...], ...]:
    """Find sets of correlated features from noisy moments of the whole table.

    Costs `loss`. Average linkage on the distance 1 - r of noisy correlations; all after
    the sums is post-processing.

    Args:
        with_missing: features whose last cell is that of missing values.
    """
    sizes = {name: measurer.domain.size(name) for name in features}
    place = {
        name: cell_positions(size, missing=name in with_missing)
        for name, size in sizes.items()
    }
    pairs = list(itertools.combinations(features, 2))
    entries: list[Entry] = [{}, *({name: to_levels(place[name])} for name in features)]
    entries += [{name: to_levels(2 * place[name] ** 2 - 1)} for name in features]
    entries += [{name: to_levels(place[name]) for name in pair} for pair in pairs]
    sums = measurer.measure_sums((), entries, loss)
    if len(features) < 2:
        return (tuple(features),) if features else ()
    from scipy.cluster.hierarchy import fcluster, linkage

    upper = np.triu_indices(len(features), 1)
    tree = linkage(
        (1 - correlations_from_sums(sums, len(features)))[upper], method="average"
    )
    numbers = fcluster(tree, MAX_GROUP_DISTANCE, criterion="distance")
    return tuple(
        tuple(
            name
            for name, group in zip(features, numbers, strict=True)
            if group == number
        )
        for number in dict.fromkeys(numbers)
    )


def choose_related_pair(
    measurer: Measurer,
    features: Sequence[str],
    laws: Moments,
    sizes: Values,
    loss: Loss,
    *,
    with_missing: Collection[str] = (),
) -> tuple[str, str]:
    """Privately choose the two features most strongly related within classes.

    Costs `loss`. Each feature is cut at its noisy mean. The score of a pair is the
    distance of its four exact counts from those expected if features were independent
    inside classes.

    Args:
        measurer: of the table.
        features: at least two, in the order of the laws.
        laws: of the features, without relations; noisy.
        sizes: (classes,), noisy rows, at least 0.
        loss: spent whole.
        with_missing: features whose last cell is that of missing values.
    """
    from scipy.special import ndtr

    # For each class, compute the expected share above the edge from its normal
    # distribution.
    edges = sizes @ laws.drawn_moments[0] / max(float(sizes.sum()), 1.0)
    above = ndtr((laws.centers - edges) / laws.scales)
    shares = dict(
        zip(features, np.moveaxis(np.stack([1 - above, above]), 2, 0), strict=True)
    )
    view = measurer.coarsen(
        {
            name: upper_half_indicator(
                measurer.domain.size(name), edge, missing=name in with_missing
            )
            for name, edge in zip(features, edges, strict=True)
        },
    )
    pairs = map(view.domain.clique, itertools.combinations(features, 2))
    first, second = view.select_clique(
        {(a, b): shares[a] * sizes @ shares[b].T for a, b in pairs}, loss
    )
    return first, second


def correlations_from_sums(sums: NoisySums, features: int) -> Values:
    """Return correlations from noisy sums of 1, x, 2 x^2 - 1 and products."""
    count, *rest = sums.values[0]
    shares = np.array(rest) / max(count, 1.0)
    means, squares, products = np.split(shares, [features, 2 * features])
    noise = sums.deviation / max(count, 1.0)
    variances = np.maximum((squares + 1) / 2 - means**2, max(noise, 1e-6))
    matrix = np.eye(features)
    for (i, j), product in zip(
        itertools.combinations(range(features), 2), products, strict=True
    ):
        matrix[i, j] = matrix[j, i] = (product - means[i] * means[j]) / np.sqrt(
            variances[i] * variances[j]
        )
    return np.clip(matrix, -1.0, 1.0)
