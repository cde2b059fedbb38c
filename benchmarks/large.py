"""Tables whose lattice is too large to look through, and whose optimum is known by
their making.

The rows are in blocks. The rows of a block differ in the columns of one group only; in
all others they have a value of their own, which no label but `*` joins with others. So
the classes of a block depend on the levels of its group alone: the optimum without
suppression is that of each group by itself, and with it the one of the groups whose
suppressed rows add up to few enough.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy

BESIDE = "beside"
"""The value of the columns in which the rows of a block are alike."""


def tree(values: int, join: int, levels: int) -> Hierarchy:
    """A hierarchy whose labels join so many labels of the level below, but for one
    value.
    """
    names = (BESIDE, *(f"v{value:03}" for value in range(values)))
    between = [
        (BESIDE, *(f"{level}:{value // join**level}" for value in range(values)))
        for level in range(1, levels)
    ]
    return Hierarchy(values=names, levels=(names, *between, ("*",) * len(names)))


def blocks(
    rows: int,
    *,
    groups: int = 5,
    columns: int = 4,
    seed: int = 0,
) -> tuple[pd.DataFrame, dict[str, Hierarchy]]:
    """A table of so many groups of so many columns, each of 6 to 24 values of a skewed
    law.
    """
    random = np.random.default_rng(seed)
    size = rows // groups
    cells = {}
    trees = {}
    for group in range(groups):
        hidden = random.integers(0, 3, size)
        for column in range(columns):
            values = int(random.integers(6, 25))
            name = f"g{group} q{column}"
            trees[name] = tree(values, int(random.integers(2, 4)), 3)
            weights = 1 / np.arange(1, values + 1) ** 1.2
            codes = np.zeros(rows, dtype=np.int64)
            for law in range(3):
                here = np.flatnonzero(hidden == law)
                chances = np.roll(weights, 2 * law) / weights.sum()
                codes[group * size + here] = 1 + random.choice(
                    values, len(here), p=chances
                )
            cells[name] = np.array(trees[name].values)[codes]
    return pd.DataFrame(cells), trees


def optimum(
    frame: pd.DataFrame,
    trees: dict[str, Hierarchy],
    k: int,
    mean: str,
    limit: float = 0.0,
) -> float:
    """The least information loss of k-anonymity, group by group, without the program's
    code.

    Of each number of rows that are suppressed together, up to the limit, each group's
    are tried: what its columns lose follows from its levels and from how many rows the
    other groups suppress.
    """
    names = sorted(trees, key=lambda name: name.split()[0])
    groups = [
        _group(frame, trees, list(members), k)
        for _, members in itertools.groupby(names, key=lambda name: name.split()[0])
    ]
    least = math.inf
    for together in range(math.floor(Fraction(str(limit)) * len(frame)) + 1):
        # by the rows that the groups so far suppress
        reached = np.full(together + 1, np.inf)
        reached[0] = 0
        for gone, covered, outside, leaves in groups:
            share = (covered + (together - gone)[:, None] * (1 - outside)) / len(frame)
            value = (share - 1 / leaves) / (1 - 1 / leaves)
            lost = (np.log1p(value) if mean == "geometric" else value).sum(axis=1)
            cheapest: dict[int, float] = {}
            for rows, each in zip(gone.tolist(), lost.tolist(), strict=True):
                if rows <= together:
                    cheapest[rows] = min(each, cheapest.get(rows, math.inf))
            further = np.full(together + 1, np.inf)
            for rows, each in cheapest.items():
                np.minimum(
                    further[rows:],
                    reached[: together + 1 - rows] + each,
                    out=further[rows:],
                )
            reached = further
        least = min(least, float(reached[together]))
    whole = least / len(frame.columns)
    return math.expm1(whole) if mean == "geometric" else whole


def _group(
    frame: pd.DataFrame,
    trees: dict[str, Hierarchy],
    names: list[str],
    k: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What a group suppresses at each of its nodes, what its columns cover, and what in
    each other row.

    The rows of its block with fewer than k alike are gone (nodes,). Covered is the
    share of the leaves below a cell, summed over all rows (nodes, columns), and in a
    row of another block (nodes, columns). Last come the leaves of each column.
    """
    block = frame.loc[(frame[names] != BESIDE).all(axis=1), names]
    leaves = np.array([len(trees[name].values) for name in names])
    codes = []
    shares = []
    beside = []
    for name, number in zip(names, leaves, strict=True):
        below = [Counter(level) for level in trees[name].levels]
        labels = [
            block[name].map(_label(trees[name], level)) for level in trees[name].levels
        ]
        codes.append([pd.factorize(level)[0] for level in labels])
        shares.append(
            [
                each.map(count).to_numpy() / number
                for each, count in zip(labels, below, strict=True)
            ],
        )
        beside.append(
            [
                count[level[0]] / number
                for count, level in zip(below, trees[name].levels, strict=True)
            ],
        )
    gone = []
    covered = []
    outside = []
    for node in itertools.product(*map(range, map(len, codes))):
        key = np.zeros(len(block), dtype=np.int64)
        for column, level in zip(codes, node, strict=True):
            key = 100 * key + column[level]
        _, place, sizes = np.unique(key, return_inverse=True, return_counts=True)
        few = sizes[place] < k
        others = np.array(
            [each[level] for each, level in zip(beside, node, strict=True)]
        )
        inside = [
            np.where(few, 1, each[level]).sum()
            for each, level in zip(shares, node, strict=True)
        ]
        gone.append(few.sum())
        covered.append(inside + (len(frame) - len(block)) * others)
        outside.append(others)
    return np.array(gone), np.array(covered), np.array(outside), leaves


def _label(of: Hierarchy, level: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(of.values, level, strict=True))
