"""Random rows from tables of probabilities, as post-processing of noisy numbers."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from dpcore.tables.counts import Values

Integers = npt.NDArray[np.int64]


def flat_cell_indices(
    codes: Sequence[Integers], shape: tuple[int, ...], rows: int
) -> Integers:
    """Return each row's cell as one flat index into a table of this shape.

    The last axis is the fastest.
    """
    return (
        np.ravel_multi_index(tuple(codes), shape)
        if codes
        else np.zeros(rows, dtype=np.int64)
    )


def evenly_mixed_orders(rows: int, rng: np.random.Generator) -> Iterator[Integers]:
    """Yield random orders of the rows, any two of which are evenly mixed.

    Let p be a prime of about the root of `rows`. Each of the first p orders consists of
    p levels of about p rows, and a level of one order shares at most one row with a
    level of another. So cells assigned along the orders coincide in about as many rows
    as expected, where independent orders leave the noise of a sample. Any three orders
    are as independent as random ones; orders after the first p are independent.

    Source: Owen (1992), randomized orthogonal arrays, of Bose's construction; Tang
    (1993) for the ranks inside levels.
    """
    count = math.isqrt(max(rows, 4) - 1) + 1
    prime = next(
        p
        for p in itertools.count(count)
        if all(p % q for q in range(2, math.isqrt(p) + 1))
    )
    # Bose's construction: the level of a row in order f is (first + f * second) mod p.
    first, second = np.divmod(rng.permutation(prime**2)[:rows], prime)
    for factor in range(prime):
        levels = rng.permutation(prime).astype(np.min_scalar_type(prime))[
            (first + factor * second) % prime
        ]
        shuffled = rng.permutation(rows)
        yield shuffled[np.argsort(levels[shuffled], kind="stable")]
    while True:
        yield rng.permutation(rows)


def sample_cells(
    parents: Integers,
    table: Values,
    rng: np.random.Generator,
    *,
    order: Integers | None = None,
) -> Integers:
    """Draw one cell per row, with probabilities from the parent's line of `table`.

    Rows are ranked at random inside each parent, or as they come in `order`, and cells
    are assigned along the ranks, so that each cell gets its expected number of rows
    rounded down or up. The fresh order in every parent keeps columns independent that
    share nothing but this parent. A line of zeros is replaced by the sum over all
    lines, and a table of zeros by equal chances.

    Args:
        parents: int64, the line of each row, in 0 .. lines - 1.
        table: (lines, cells), at least 0; lines need not add up to 1.
        rng: of the post-processing.
        order: int64, all rows in a random order, fresh for each call.

    Returns: int64, a cell number a row.
    """
    lines, cells = table.shape
    weights = np.where(table.sum(axis=1, keepdims=True) > 0, table, table.sum(axis=0))
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, 1.0)
    reached: Values = np.cumsum(weights, axis=1)
    reached /= reached[:, -1:]
    # One random offset per parent rounds the expected counts of its cells up or down.
    shuffled = rng.permutation(len(parents)) if order is None else order
    offsets: Values = rng.random(size=(lines,))
    drawn = np.empty(len(parents), dtype=np.int64)
    if lines == 1:
        goals = np.minimum(
            (np.arange(len(parents)) + offsets) / max(1, len(parents)), 1 - 1e-9
        )
        drawn[shuffled] = np.searchsorted(reached[0], goals, side="right").clip(
            max=cells - 1
        )
        return drawn
    # Rank the rows within each parent.
    group_sizes = np.bincount(parents, minlength=lines)
    # numpy sorts integers of one or two bytes in linear time.
    small = parents.astype(np.min_scalar_type(lines))
    order = shuffled[np.argsort(small[shuffled], kind="stable")]
    sorted_parents = parents[order]
    first = np.cumsum(group_sizes) - group_sizes
    rank = np.arange(len(parents)) - first[sorted_parents]
    # Look up all ranks at once in the concatenated cumulative shares of all parents.
    place = (rank + offsets[sorted_parents]) / group_sizes[sorted_parents]
    goals = sorted_parents + np.minimum(place, 1 - 1e-9)
    flat = (reached + np.arange(lines)[:, None]).ravel()
    numbers = np.searchsorted(flat, goals, side="right") - sorted_parents * cells
    drawn[order] = np.clip(numbers, 0, cells - 1)
    return drawn
