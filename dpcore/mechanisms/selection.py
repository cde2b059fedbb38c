"""Private choices of a high score, and of common categories."""

import functools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError, UsageError
from dpcore.mechanisms.noise import opendp_measurements


def noisy_max(scores: npt.NDArray[np.int64], *, noise_scale: float, pure: bool) -> int:
    """Choose the index of a high score.

    Costs, with scores that one person changes by at most s: 2 s / noise_scale in
    epsilon when `pure` (permute and flip), else (2 s / noise_scale)^2 / 8 in rho
    (exponential mechanism).

    Args:
        pure: True for permute and flip, False for the exponential mechanism.
        scores: int64, one a candidate, at least one.
        noise_scale: above 0, in the unit of the scores.
    Source: McKenna, Sheldon (2020); Cesar, Rogers (2021); drawn by OpenDP.
    """
    if not len(scores):
        raise UsageError("a choice needs at least one candidate", remedy="give a score")
    return int(_choice(noise_scale, pure)(scores.astype(np.int64).tolist()))


@functools.lru_cache(maxsize=256)
def _choice(noise_scale: float, pure: bool) -> Any:
    """Return the mechanism of a scale, cached as it takes longer to make than to
    choose.
    """
    from opendp.domains import atom_domain, vector_domain
    from opendp.measures import max_divergence, zero_concentrated_divergence
    from opendp.metrics import linf_distance

    return opendp_measurements().make_noisy_max(
        vector_domain(atom_domain(T="i64")),
        linf_distance(T="i64"),
        max_divergence() if pure else zero_concentrated_divergence(),
        scale=noise_scale,
    )


def thresholded_counts(
    counts: Mapping[str, int],
    *,
    rows: int,
    epsilon: Fraction,
    delta: Fraction,
) -> dict[str, int]:
    """Return noisy counts of the categories whose noisy count is above a threshold.

    Costs epsilon and delta, where a person holds at most `rows` rows, in at most `rows`
    categories.

    Args:
        counts: exact number of rows of each category that occurs. Private.
        rows: rows a person may have, at least 1.
        epsilon: above 0.
        delta: above 0.

    Returns: category -> noisy count, for categories over the threshold only, in
        alphabetical order, which says nothing about the counts.

    Raises: ParameterError when delta is not above 0: without it no unknown category may
        be named.

    Source: Rogers (2023), "A unifying privacy analysis framework for unknown domain
    algorithms"; OpenDP.
    """
    if delta <= 0:
        raise UsageError(
            "delta (0) must be above 0 to name categories that nobody declared",
            remedy="declare the categories, or set a delta aside for this",
        )
    # numbers stand for the texts: OpenDP would cut a text at a NUL and take two for one
    texts = list(counts)
    named = _naming(rows, epsilon, delta)(
        {str(i): int(counts[text]) for i, text in enumerate(texts)}
    )
    return dict(sorted((texts[int(i)], count) for i, count in named.items()))


@functools.lru_cache(maxsize=256)
def _naming(rows: int, epsilon: Fraction, delta: Fraction) -> Any:
    """Return the mechanism with the lowest threshold that keeps epsilon and delta."""
    measurements = opendp_measurements()
    from opendp.domains import atom_domain, map_domain
    from opendp.metrics import absolute_distance, l01inf_distance

    space = (
        map_domain(atom_domain(T="String"), atom_domain(T="i64")),
        l01inf_distance(absolute_distance(T="i64")),
    )
    scale = float(Fraction(rows) / epsilon * (1 + Fraction(1, 10**9)))
    distances = (rows, rows, rows)  # categories, rows in all, rows in one category
    threshold = rows + 2
    while threshold < 10**12:
        # OpenDP names counts at the threshold but reports the delta of those above it
        # (issue 2922), so the delta is taken from a threshold one lower than the one
        # that is used
        cost = measurements.make_laplace_threshold(
            *space, scale=scale, threshold=threshold - 1
        ).map(
            distances,
        )
        if Fraction(cost[0]) <= epsilon and Fraction(cost[1]) <= delta:
            return measurements.make_laplace_threshold(
                *space, scale=scale, threshold=threshold
            )
        # wider far out, or it would take minutes
        threshold += max(1, round(scale / 4), threshold // 64)
    raise InfeasibleError(
        "this epsilon and delta are too small together", remedy="raise epsilon"
    )
