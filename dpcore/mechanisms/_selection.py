"""Private selection of high scores and of common categories."""

import functools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.errors import InfeasibleError, UsageError
from dpcore.mechanisms._noise import opendp_measurements


def select_high_score(
    scores: npt.NDArray[np.int64], *, noise_scale: float, is_pure: bool
) -> int:
    """Return the index of a high score, chosen privately.

    Costs, if one person changes each score by at most s: 2 s / noise_scale in
    epsilon when `is_pure` (permute and flip), else (2 s / noise_scale)^2 / 8 in rho
    (exponential mechanism).

    Args:
        scores: int64, one a candidate, at least one.
        noise_scale: above 0, in the unit of the scores.
        is_pure: True for permute and flip, False for the exponential mechanism.

    Source: McKenna, Sheldon (2020); Cesar, Rogers (2021); drawn by OpenDP.
    """
    if not len(scores):
        raise UsageError("a choice needs at least one candidate", remedy="give a score")
    return int(
        _selection_mechanism(noise_scale, is_pure)(scores.astype(np.int64).tolist())
    )


@functools.lru_cache(maxsize=256)
def _selection_mechanism(noise_scale: float, is_pure: bool) -> Any:
    """Return OpenDP's selection mechanism at this scale.

    It is cached, as making it takes longer than choosing.
    """
    from opendp.domains import atom_domain, vector_domain
    from opendp.measures import max_divergence, zero_concentrated_divergence
    from opendp.metrics import linf_distance

    return opendp_measurements().make_noisy_max(
        vector_domain(atom_domain(T="i64")),
        linf_distance(T="i64"),
        max_divergence() if is_pure else zero_concentrated_divergence(),
        scale=noise_scale,
    )


def thresholded_counts(
    counts: Mapping[str, int],
    *,
    max_rows: int,
    epsilon: Fraction,
    delta: Fraction,
) -> dict[str, int]:
    """Return the categories whose noisy counts exceed a threshold, with these counts.

    Costs epsilon and delta, if a person has at most `max_rows` rows, in at most `max_rows`
    categories.

    Args:
        counts: exact number of rows of each category that occurs. Private.
        max_rows: most rows of a person, at least 1.
        epsilon: above 0.
        delta: above 0.

    Returns: category -> noisy count, for categories over the threshold only, in
        alphabetical order, which reveals nothing about the counts.

    Raises: ParameterError if delta is not above 0: without it no unknown category may
        be named.

    Source: Rogers (2023), "A unifying privacy analysis framework for unknown domain
    algorithms"; OpenDP.
    """
    if delta <= 0:
        raise UsageError(
            "delta (0) must be above 0 to name categories that nobody declared",
            remedy="declare the categories, or set a delta aside for this",
        )
    # Use numbers as keys instead of the texts: OpenDP would cut a text at a NUL and
    # confuse texts that differ only after it.
    texts = list(counts)
    noisy = _threshold_mechanism(max_rows, epsilon, delta)(
        {str(i): int(counts[text]) for i, text in enumerate(texts)}
    )
    return dict(sorted((texts[int(i)], count) for i, count in noisy.items()))


@functools.lru_cache(maxsize=256)
def _threshold_mechanism(max_rows: int, epsilon: Fraction, delta: Fraction) -> Any:
    """Return the mechanism with the lowest threshold that keeps epsilon and delta."""
    measurements = opendp_measurements()
    from opendp.domains import atom_domain, map_domain
    from opendp.metrics import absolute_distance, l01inf_distance

    space = (
        map_domain(atom_domain(T="String"), atom_domain(T="i64")),
        l01inf_distance(absolute_distance(T="i64")),
    )
    scale = float(Fraction(max_rows) / epsilon * (1 + Fraction(1, 10**9)))
    distances = (
        max_rows,
        max_rows,
        max_rows,
    )  # categories, rows in all, rows in one category
    threshold = max_rows + 2
    while threshold < 10**12:
        # OpenDP releases counts at the threshold, but its delta only covers counts
        # above it (issue 2922). Therefore the delta is computed for a threshold that is
        # lower by one.
        cost = measurements.make_laplace_threshold(
            *space, scale=scale, threshold=threshold - 1
        ).map(
            distances,
        )
        if Fraction(cost[0]) <= epsilon and Fraction(cost[1]) <= delta:
            return measurements.make_laplace_threshold(
                *space, scale=scale, threshold=threshold
            )
        # The steps grow with the threshold; otherwise the search would take minutes.
        threshold += max(1, round(scale / 4), threshold // 64)
    raise InfeasibleError(
        "this epsilon and delta are too small together", remedy="raise epsilon"
    )
