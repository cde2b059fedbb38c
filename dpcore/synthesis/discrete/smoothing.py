"""Noise taken off tables with a wide column, as far as neighboring cells tell it from
what is there.

Along its longest axis a table is a mean of 32 cells and the differences of their
halves, quarters and so on, wherever they begin. Each difference is drawn towards 0 by
what noise explains of the size of its neighbors. So a smooth curve loses most of its
noise and a spike keeps its height; where cells have no order differences are large,
noise explains little of them, and little changes. All of it follows from noisy tables
and public sizes.

Source: Coifman and Donoho (1995), "Translation-invariant de-noising", for Haar's
wavelets from every beginning; Cai and Silverman (2001), "Incorporating information on
neighbouring coefficients", for drawing by neighbors, after James and Stein.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from dpcore.tables.counts import Marginal, Values

MAX_UNSMOOTHED_CELLS = 20
"""Cells of an axis up to which a table stays as it was measured."""
COARSEST_STEP = 16
"""Cells of the halves that the longest difference compares."""
NOISE_CORRECTION = 1.2
"""Variances of noise that are taken off the mean square of differences."""


def smooth_table(table: Marginal, estimate: Values | float = 0.0) -> Marginal:
    """Return a noisy table with less noise along its longest axis, where that has more
    than FEW cells.

    Args:
        table: with independent noise in its cells.
        estimate: of its counts, without its noise, from which it differs more smoothly
            than from 0.

    Returns: with the variance that a cell has left on average, if differences are as
        large as they seem.
    """
    size = max(table.values.shape, default=0)
    if size <= MAX_UNSMOOTHED_CELLS or table.signed:
        return table
    axis = table.values.shape.index(size)
    lines = np.moveaxis(table.values - estimate, axis, -1)
    # mirrored, so that its ends meet
    ring = np.concatenate([lines, lines[..., ::-1]], axis=-1)
    values, left = _shrink_differences(ring, table.variance, 1)
    return replace(
        table,
        values=estimate + np.moveaxis(values[..., :size], -1, axis),
        variance=left,
    )


def best_total(measured: Iterable[Marginal]) -> float:
    """Return the number of rows by all tables as they were measured, weighted by their
    noise.
    """
    tables = [table for table in measured if not table.signed]
    weights = [1 / max(table.variance * table.values.size, 1e-12) for table in tables]
    return float(np.average([table.total for table in tables], weights=weights))


def match_total(tables: Iterable[Marginal], total: float) -> list[Marginal]:
    """Return the tables moved to one total: smoothed ones add up with more noise than
    their variance says.
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
    """Return means over `step` cells with less noise, each difference judged by five,
    and its variance.
    """
    if step > COARSEST_STEP:
        return rings, variance
    after = np.roll(rings, -step, axis=-1)
    half = (rings - after) / 2
    noise = variance / 2
    near = np.mean(
        [np.roll(half**2, 2 * step * place, axis=-1) for place in range(-2, 3)], axis=0
    )
    kept = np.maximum(0.0, 1 - NOISE_CORRECTION * noise / np.maximum(near, 1e-9))
    mean, left = _shrink_differences((rings + after) / 2, noise, 2 * step)
    values: Values = (
        mean + kept * half + np.roll(mean - kept * half, step, axis=-1)
    ) / 2
    return values, left + noise * float(kept.mean())
