"""Swap values between drawn rows until pairs of columns are closer to the model.

Rows drawn node by node keep the tables of the nodes but for rounding; a pair in no node
comes out with sampling noise. First a few rows are moved so that every column is
rounded as a whole. Swapping the values of one column between two rows then keeps every
column and changes all pairs with it. For each column in turn the rows are paired at
random, and a swap is made with a probability proportional to the decrease of

    F = sum over pairs, over cells of  (rows - expected)^2 / (expected + 1)

Only a part of the swaps that would lower F is made, since their effects add up. If a
pass raises F, it is undone and the probabilities are halved.

Source: the gradual update of PrivSyn (Zhang and others 2021, section 5) moves rows to
one noisy pair after the other; swaps weighed by all pairs together keep what is right
(docs/decisions/0010).
"""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from dpcore.synthesis._sampling import Integers
from dpcore.tables.counts import Values

MAX_PASSES = 40
MIN_PASSES = 3
# In smaller tables most cells expect less than one row, and swaps would empty them.
MIN_ROWS = 300
# larger tables are drawn in blocks, which keeps memory small
BLOCK_ROWS = 100_000
# With more pairs, computing them from the model takes longer than the swaps.
MAX_PAIRS = 5_000
MAX_PAIR_CELLS = 4_000_000  # of all pairs together; memory holds them several times
# row values and cells read in all passes: 5 CPU seconds
MAX_VALUES_READ = 400_000_000
# the same if it is needed for MIN_PASSES: a million rows of 15 columns, 10 CPU seconds
MAX_WORK_FOR_MIN_PASSES = 700_000_000
SWAP_RATE = 0.25  # probability of a swap per unit by which it lowers F
NOISY_PASSES = 4  # enough for very noisy counts
NOISY_ABOVE_SD = 40.0  # noise SD in rows above which fewer passes are enough
MIN_IMPROVEMENT = 0.005  # share of F that a pass must remove to be followed by another


def affordable_passes(rows: int, sizes: Sequence[int], deviation: float) -> int:
    """Return the number of passes that time and memory allow, or 0 if too few.

    Args:
        rows: to draw.
        sizes: cells of each column.
        deviation: noise SD of the counts that the model was fitted to, in rows.
    """
    pairs = math.comb(len(sizes), 2)
    cells = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2
    if not 0 < pairs <= MAX_PAIRS or cells > MAX_PAIR_CELLS or rows < MIN_ROWS:
        return 0
    work = 2 * pairs * rows + 8 * cells * len(block_sizes(rows))
    if MIN_PASSES * work > MAX_VALUES_READ:
        return MIN_PASSES if MIN_PASSES * work <= MAX_WORK_FOR_MIN_PASSES else 0
    enough = max(
        NOISY_PASSES, MAX_PASSES * min(1.0, NOISY_ABOVE_SD / max(deviation, 1e-9))
    )
    return int(min(enough, MAX_VALUES_READ / work))


def block_sizes(rows: int) -> list[int]:
    """Split a number of rows into blocks of nearly equal size; return the sizes."""
    blocks = max(1, math.ceil(rows / BLOCK_ROWS))
    return [rows // blocks + (block < rows % blocks) for block in range(blocks)]


def refine_rows(
    codes: Mapping[str, Integers],
    expected: Mapping[tuple[str, str], Values],
    rng: np.random.Generator,
    *,
    passes: int,
    fixed_columns: Collection[str] = (),
) -> dict[str, Integers]:
    """Move and swap values within columns until pairs are closer to the model.

    Args:
        codes: int64, one array a column, all of one length.
        expected: pair -> rows of each cell, at least 0, as many in all as there are
            rows. Pairs of fixed columns need not be there.
        rng: of the post-processing.
        passes: at most.
        fixed_columns: columns whose values stay where they are.
    """
    codes = {name: column.copy() for name, column in codes.items()}
    free = [name for name in codes if name not in fixed_columns]
    if not free:
        return codes
    columns = {name: table.sum(axis=0) for (_, name), table in expected.items()}
    columns |= {name: table.sum(axis=1) for (name, _), table in expected.items()}
    for name in free:
        _round_column(codes[name], columns[name], rng)
    state = _SwapState(codes, expected)
    chance = SWAP_RATE
    best = state.objective()
    for _ in range(passes):
        before = {name: column.copy() for name, column in state.codes.items()}
        for place in rng.permutation(len(free)):
            state.swap(free[place], chance, rng)
        off = state.objective()
        if off > best:
            state = _SwapState(before, expected)
            chance = chance / 2
        elif best - off < MIN_IMPROVEMENT * best:
            break
        best = min(best, off)
    return state.codes


def _round_column(column: Integers, expected: Values, rng: np.random.Generator) -> None:
    """Move as few rows as possible so that cell counts equal the expected counts.

    Expected rows are rounded up or down at random.
    """
    # Round all cells with one random offset, so that each changes by less than 1.
    reached = np.cumsum(expected) + rng.random()
    goal = np.diff(np.floor(reached).astype(np.int64), prepend=0)
    rows = np.bincount(column, minlength=len(goal))
    # Fill cells that lack rows with random rows from cells that have too many.
    lacking = np.repeat(np.arange(len(goal)), np.maximum(goal - rows, 0))
    order = rng.permutation(len(column))
    order = order[np.argsort(column[order], kind="stable")]
    rank = np.arange(len(column)) - (np.cumsum(rows) - rows)[column[order]]
    spare = rng.permutation(order[rank >= goal[column[order]]])
    moved = min(len(spare), len(lacking))
    column[spare[:moved]] = rng.permutation(lacking)[:moved]


class _SwapState:
    """The drawn rows, and the excess over expected counts in each pair's cells."""

    def __init__(
        self, codes: dict[str, Integers], expected: Mapping[tuple[str, str], Values]
    ) -> None:
        self.codes = codes
        self.pairs = tuple(expected)
        self.partners: dict[str, list[str]] = {name: [] for name in codes}
        self.excess: dict[tuple[str, str], Values] = {}
        self.weights: dict[tuple[str, str], Values] = {}
        for (a, b), table in expected.items():
            cells = codes[a] * table.shape[1] + codes[b]
            excess = (
                np.bincount(cells, minlength=table.size).reshape(table.shape) - table
            )
            for pair, pair_excess, goal in (
                ((a, b), excess, table),
                ((b, a), excess.T, table.T),
            ):
                self.partners[pair[0]].append(pair[1])
                self.excess[pair] = np.ascontiguousarray(pair_excess)
                self.weights[pair] = np.ascontiguousarray(1 / (goal + 1))

    def objective(self) -> float:
        """Return the objective F of the module's docstring."""
        return sum(
            float((self.weights[pair] * self.excess[pair] ** 2).sum())
            for pair in self.pairs
        )

    def swap(self, name: str, chance: float, rng: np.random.Generator) -> None:
        """Swap values of one column between rows paired at random."""
        # 1. Pair the rows at random, and keep pairs whose values differ.
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
        # 2. Compute the change of F by each swap alone: for every other column, one row
        # leaves each of the cells (here, c) and (there, d), and one enters each of
        # (there, c) and (here, d).
        change = np.zeros(len(one))
        for other in self.partners[name]:
            excess = self.excess[name, other]
            weights = self.weights[name, other]
            more = (weights * (1 + 2 * excess)).ravel()
            less = (weights * (1 - 2 * excess)).ravel()
            a = here * excess.shape[1]
            b = there * excess.shape[1]
            c = self.codes[other].take(one)
            d = self.codes[other].take(two)
            each = less.take(a + c)
            each += more.take(b + c)
            each += less.take(b + d)
            each += more.take(a + d)
            each *= c != d
            change += each
        # 3. Swap with a probability proportional to the decrease, and update the
        # excess.
        swapped = rng.random(len(one)) < -chance * change
        one = one[swapped]
        two = two[swapped]
        here = here[swapped]
        there = there[swapped]
        column[one], column[two] = there, here
        for other in self.partners[name]:
            excess = self.excess[name, other]
            a = here * excess.shape[1]
            b = there * excess.shape[1]
            c = self.codes[other].take(one)
            d = self.codes[other].take(two)
            excess += np.bincount(
                np.concatenate([b + c, a + d]), minlength=excess.size
            ).reshape(excess.shape)
            excess -= np.bincount(
                np.concatenate([a + c, b + d]), minlength=excess.size
            ).reshape(excess.shape)
            self.excess[other, name][:] = excess.T
