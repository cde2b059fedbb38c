"""Swap values between drawn rows until pairs of columns come closer to what the model
expects.

Rows drawn node by node keep the tables of the nodes but for rounding; a pair that is in
no node comes out with the noise of a sample. First a few rows are moved so that every
column is rounded as a whole. Swapping the values of one column between two rows then
keeps every column and moves all pairs with it. For each column in turn the rows meet at
random, and a swap is made with a chance that grows with what it lowers

    F = sum over pairs, over cells of  (rows - expected)^2 / (expected + 1)

since many swaps at once add up. A pass that raised F is taken back, and the chances are
halved.

Source: the gradual update of PrivSyn (Zhang and others 2021, section 5) moves rows to
one noisy pair after the other; swaps that are weighed by all pairs together keep what
is right (docs/decisions/0010).
"""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from dpcore.synthesis.sampling import Integers
from dpcore.tables.counts import Values

MAX_PASSES = 40
MIN_PASSES = 3
# of fewer, most cells expect less than one row, and swaps would empty them
MIN_ROWS = 300
# of more, as of a long table that is written some rows at a time, rows stay as drawn
MAX_ROWS = 200_000
# each is asked of the model, which takes longer than the swaps where columns are many
MAX_PAIRS = 5_000
MAX_PAIR_CELLS = 4_000_000  # of all pairs, which are held several times over
MAX_WORK = 200_000_000  # values of rows, and cells, looked at
SWAP_RATE = 0.25
# passes that do where counts are noisy; the deviation, in rows, from which fewer do
NOISY_PASSES = 4
NOISY_FROM = 40.0
MIN_IMPROVEMENT = 0.005  # part of F that a pass must take off to be followed by another


def passes_for(rows: int, sizes: Sequence[int], deviation: float) -> int:
    """Return the number of passes that time and memory allow, or 0 for too few.

    Args:
        rows: to draw.
        sizes: cells of each column.
        deviation: of the noise of the counts that the model was fitted to, in rows.
    """
    pairs = math.comb(len(sizes), 2)
    cells = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2
    if (
        not 0 < pairs <= MAX_PAIRS
        or cells > MAX_PAIR_CELLS
        or not MIN_ROWS <= rows <= MAX_ROWS
    ):
        return 0
    enough = max(NOISY_PASSES, MAX_PASSES * min(1.0, NOISY_FROM / max(deviation, 1e-9)))
    passes = min(enough, MAX_WORK / (2 * pairs * rows + 8 * cells))
    return int(passes) if passes >= MIN_PASSES else 0


def refine_rows(
    codes: Mapping[str, Integers],
    expected: Mapping[tuple[str, str], Values],
    rng: np.random.Generator,
    *,
    passes: int,
    kept: Collection[str] = (),
) -> dict[str, Integers]:
    """Move and swap values inside columns towards the expected pairs.

    Args:
        rng: of the post-processing.
        passes: at most.
        codes: int64, one array a column, all of one length.
        expected: pair -> rows of each cell, at least 0, as many in all as there are
            rows.
        kept: columns whose values stay where they are.
    """
    codes = {name: column.copy() for name, column in codes.items()}
    free = [name for name in codes if name not in kept]
    columns = {name: table.sum(axis=0) for (_, name), table in expected.items()}
    columns |= {name: table.sum(axis=1) for (name, _), table in expected.items()}
    for name in free:
        _round_column(codes[name], columns[name], rng)
    state = _SwapState(codes, expected)
    chance = SWAP_RATE
    best = state.off()
    for _ in range(passes):
        before = {name: column.copy() for name, column in state.codes.items()}
        for place in rng.permutation(len(free)):
            state.swap(free[place], chance, rng)
        off = state.off()
        if off > best:
            state = _SwapState(before, expected)
            chance = chance / 2
        elif best - off < MIN_IMPROVEMENT * best:
            break
        best = min(best, off)
    return state.codes


def _round_column(column: Integers, expected: Values, rng: np.random.Generator) -> None:
    """Move as few rows of a column as give each cell its expected rows, rounded by
    chance.
    """
    reached = np.cumsum(expected) + rng.random()
    goal = np.diff(np.floor(reached).astype(np.int64), prepend=0)
    rows = np.bincount(column, minlength=len(goal))
    lacking = np.repeat(np.arange(len(goal)), np.maximum(goal - rows, 0))
    order = rng.permutation(len(column))
    order = order[np.argsort(column[order], kind="stable")]
    rank = np.arange(len(column)) - (np.cumsum(rows) - rows)[column[order]]
    spare = rng.permutation(order[rank >= goal[column[order]]])
    moved = min(len(spare), len(lacking))
    column[spare[:moved]] = rng.permutation(lacking)[:moved]


class _SwapState:
    """Rows with the excess in each cell of each pair, in both orders of its columns."""

    def __init__(
        self, codes: dict[str, Integers], expected: Mapping[tuple[str, str], Values]
    ) -> None:
        self.codes = codes
        self.pairs = tuple(expected)
        self.near: dict[str, list[str]] = {name: [] for name in codes}
        self.excess: dict[tuple[str, str], Values] = {}
        self.weights: dict[tuple[str, str], Values] = {}
        for (a, b), table in expected.items():
            cells = codes[a] * table.shape[1] + codes[b]
            excess = (
                np.bincount(cells, minlength=table.size).reshape(table.shape) - table
            )
            for pair, turned, goal in (
                ((a, b), excess, table),
                ((b, a), excess.T, table.T),
            ):
                self.near[pair[0]].append(pair[1])
                self.excess[pair] = np.ascontiguousarray(turned)
                self.weights[pair] = np.ascontiguousarray(1 / (goal + 1))

    def off(self) -> float:
        """Return the objective F of the module."""
        return sum(
            float((self.weights[pair] * self.excess[pair] ** 2).sum())
            for pair in self.pairs
        )

    def swap(self, name: str, chance: float, rng: np.random.Generator) -> None:
        """Swap values of one column between rows that meet at random."""
        column = self.codes[name]
        half = len(column) // 2
        order = rng.permutation(len(column))
        one = order[:half]
        two = order[half : 2 * half]
        differ = column[one] != column[two]
        one = one[differ]
        two = two[differ]
        here = column[one]
        there = column[two]
        change = np.zeros(len(one))
        for other in self.near[name]:
            excess = self.excess[name, other]
            weights = self.weights[name, other]
            more = (weights * (1 + 2 * excess)).ravel()
            less = (weights * (1 - 2 * excess)).ravel()
            a = here * excess.shape[1]
            b = there * excess.shape[1]
            c = self.codes[other][one]
            d = self.codes[other][two]
            change += np.where(
                c == d, 0.0, less[a + c] + more[b + c] + less[b + d] + more[a + d]
            )
        swapped = rng.random(len(one)) < -chance * change
        one = one[swapped]
        two = two[swapped]
        here = here[swapped]
        there = there[swapped]
        column[one], column[two] = there, here
        for other in self.near[name]:
            excess = self.excess[name, other]
            a = here * excess.shape[1]
            b = there * excess.shape[1]
            c = self.codes[other][one]
            d = self.codes[other][two]
            excess += np.bincount(
                np.concatenate([b + c, a + d]), minlength=excess.size
            ).reshape(excess.shape)
            excess -= np.bincount(
                np.concatenate([a + c, b + d]), minlength=excess.size
            ).reshape(excess.shape)
            self.excess[other, name][:] = excess.T
