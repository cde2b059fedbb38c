"""Draw positions of values inside cells, by the slope between neighboring cells.

Cells tell how many rows lie in an interval, not where. Drawn evenly, a cell whose rows
crowd at one end (as incomes do) gets a wrong mean. So the density in a cell is a line
through its mean: the slope is that of the neighbors, by the smaller of the two sides,
and none if the sides disagree.

Source: van Leer (1979), "Towards the ultimate conservative difference scheme V", the
minmod limiter.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def estimate_slopes(
    rows: npt.NDArray[np.int64],
    starts: Floats,
    ends: Floats,
    *,
    has_single_value: npt.NDArray[np.bool_],
) -> Floats:
    """Return the slope of the density in each cell, in [-2, 2], shape (cells,).

    It is the change of the density across the cell over its mean.

    Args:
        rows: drawn rows of each cell; of a noisy model, so that this is
            post-processing.
        starts: lower bound of each cell, (cells,).
        ends: upper bound of each cell, (cells,).
        has_single_value: cells of a single value. They say nothing of their neighbors: next to
            them, as at both ends of the column, only the other side counts.
    """
    widths = np.where(has_single_value, 1.0, ends - starts)
    density = rows / widths
    middle = (starts + ends) / 2
    steps = np.diff(density) / np.diff(middle)
    steps[has_single_value[1:] | has_single_value[:-1]] = np.nan
    before = np.append(np.nan, steps)
    after = np.append(steps, np.nan)
    before, after = (
        np.where(np.isnan(before), after, before),
        np.where(np.isnan(after), before, after),
    )
    slope = np.where(
        before * after > 0, np.sign(before) * np.minimum(abs(before), abs(after)), 0.0
    )
    relative = np.divide(
        slope * widths, density, out=np.zeros_like(slope), where=density > 0
    )
    limited: Floats = np.clip(relative, -2.0, 2.0)
    return limited


def place_in_cells(uniform: Floats, slope: Floats) -> Floats:
    """Map uniform numbers to positions in [0, 1) with density 1 + slope (x - 1/2).

    By the inverse of its integral.
    """
    start = 1 - slope / 2
    root = np.sqrt(np.maximum(start**2 + 2 * slope * uniform, 0.0))
    places = np.divide(
        2 * uniform, start + root, out=np.zeros_like(uniform), where=start + root > 0
    )
    return np.minimum(places, np.nextafter(1.0, 0.0))
