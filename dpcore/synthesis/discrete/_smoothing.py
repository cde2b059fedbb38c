"""Noise removal along a wide column, by wavelets.

Along its longest axis a table is a mean of 32 cells and the differences of their
halves, quarters and so on, starting at every cell. Each difference is shrunk towards 0
by the part of its neighbors' size that noise explains. So a smooth curve loses most of
its noise and a spike keeps its height; if cells have no order, differences are large,
noise explains little of them, and little changes. All of it follows from noisy tables
and public sizes.

Source: Coifman and Donoho (1995), "Translation-invariant de-noising", for Haar's
wavelets from every beginning; Cai and Silverman (2001), "Incorporating information on
neighbouring coefficients", for shrinking by neighbors, after James and Stein.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from dpcore.tables.counts import Marginal, Values

MAX_UNSMOOTHED_CELLS = 20
"""Cells of the longest axis up to which a table stays as it was measured."""
COARSEST_STEP = 16
"""Cells of each half in the longest difference."""
NOISE_CORRECTION = 1.2
"""Noise variances subtracted from the mean square of differences."""


def smooth_table(table: Marginal, estimate: Values | float = 0.0) -> Marginal:
    """Return a noisy table with less noise along its longest axis.

    A table of at most MAX_UNSMOOTHED_CELLS cells on that axis stays as it is.

    Args:
        table: with independent noise in its cells.
        estimate: a noise-free estimate of its counts; the difference from it is
            smoother than the counts.

    Returns: with the mean variance left in a cell, if the true differences are as large
        as they seem.
    """
    size = max(table.values.shape, default=0)
    if size <= MAX_UNSMOOTHED_CELLS or table.signed:
        return table
    axis = table.values.shape.index(size)
    lines = np.moveaxis(table.values - estimate, axis, -1)
    # Append the mirror image of each line, so that the ring has no jump at its ends.
    ring = np.concatenate([lines, lines[..., ::-1]], axis=-1)
    values, left = _shrink_differences(ring, table.variance, 1)
    return replace(
        table,
        values=estimate + np.moveaxis(values[..., :size], -1, axis),
        variance=left,
    )


def best_total(measured: Iterable[Marginal]) -> float:
    """Return the number of rows estimated from all tables by inverse variance."""
    tables = [table for table in measured if not table.signed]
    weights = [1 / max(table.variance * table.values.size, 1e-12) for table in tables]
    return float(np.average([table.total for table in tables], weights=weights))


def match_total(tables: Iterable[Marginal], total: float) -> list[Marginal]:
    """Return the tables, each shifted to have this total.

    The sums of smoothed tables have more noise than their variance says.
    """
    return [
        replace(
            table,
            values=table.values
            + (total - table.total) / table.values.size * (not table.signed),
        )
        for table in tables
    ]


def _shrink_differences(
    rings: Values, variance: float, step: int
) -> tuple[Values, float]:
    """Return means over `step` cells with less noise, and their variance.

    Each difference is judged by its own size and that of four neighbors.
    """
    if step > COARSEST_STEP:
        return rings, variance
    # 1. Compute Haar coefficients: half the difference of neighboring means.
    after = np.roll(rings, -step, axis=-1)
    half = (rings - after) / 2
    noise = variance / 2
    # 2. Shrink each by the mean square of itself and four neighbors (James and Stein).
    near = np.mean(
        [np.roll(half**2, 2 * step * place, axis=-1) for place in range(-2, 3)], axis=0
    )
    kept = np.maximum(0.0, 1 - NOISE_CORRECTION * noise / np.maximum(near, 1e-9))
    # 3. Recurse on means over twice as many cells, then recombine.
    mean, left = _shrink_differences((rings + after) / 2, noise, 2 * step)
    values: Values = (
        mean + kept * half + np.roll(mean - kept * half, step, axis=-1)
    ) / 2
    return values, left + noise * float(kept.mean())
