"""Tables whose lattice is too large to look through, and whose optimum is known by their making.

The rows are in blocks. The rows of a block differ in the columns of one group only; in all others they have
a value of their own, which no label but `*` joins with others. So the classes of a block depend on the levels
of its group alone, and the optimum without suppression is that of each group by itself.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd

from dpcore.anonymize.hierarchies.hierarchy import Hierarchy

BESIDE = "beside"
"""The value of the columns in which the rows of a block are alike."""


def tree(values: int, join: int, levels: int) -> Hierarchy:
    """A hierarchy whose labels join so many labels of the level below, but for one value."""
    names = (BESIDE, *(f"v{value:03}" for value in range(values)))
    between = [
        (BESIDE, *(f"{level}:{value // join**level}" for value in range(values)))
        for level in range(1, levels)
    ]
    return Hierarchy(values=names, levels=(names, *between, ("*",) * len(names)))


def blocks(
    rows: int, *, groups: int = 5, columns: int = 4, seed: int = 0
) -> tuple[pd.DataFrame, dict[str, Hierarchy]]:
    """A table of so many groups of so many columns, each of 6 to 24 values of a skewed law."""
    random, size = np.random.default_rng(seed), rows // groups
    cells, trees = {}, {}
    for group in range(groups):
        hidden = random.integers(0, 3, size)
        for column in range(columns):
            values, name = int(random.integers(6, 25)), f"g{group} q{column}"
            trees[name] = tree(values, int(random.integers(2, 4)), 3)
            weights = 1 / np.arange(1, values + 1) ** 1.2
            codes = np.zeros(rows, dtype=np.int64)
            for law in range(3):
                here = np.flatnonzero(hidden == law)
                chances = np.roll(weights, 2 * law) / weights.sum()
                codes[group * size + here] = 1 + random.choice(values, len(here), p=chances)
            cells[name] = np.array(trees[name].values)[codes]
    return pd.DataFrame(cells), trees


def optimum(frame: pd.DataFrame, trees: dict[str, Hierarchy], k: int, mean: str) -> float:
    """The least information loss of k-anonymity without suppression, group by group in plain pandas."""
    total = 0.0
    names = sorted(trees, key=lambda name: name.split()[0])
    for _, members in itertools.groupby(names, key=lambda name: name.split()[0]):
        group = list(members)
        block = frame.loc[(frame[group] != BESIDE).all(axis=1), group]
        labels = [
            [
                block[name].map(dict(zip(trees[name].values, level, strict=True)))
                for level in trees[name].levels
            ]
            for name in group
        ]
        codes = [[pd.factorize(level)[0] for level in column] for column in labels]
        lost = [_lost(frame[name], trees[name], mean) for name in group]
        nodes = itertools.product(*(range(len(each)) for each in lost))
        ordered = sorted((sum(map(list.__getitem__, lost, node)), node) for node in nodes)
        for cost, node in ordered:
            key = np.zeros(len(block), dtype=np.int64)
            for column, level in zip(codes, node, strict=True):
                key = 100 * key + column[level]
            if np.unique(key, return_counts=True)[1].min() >= k:
                total += cost
                break
    whole = total / len(frame.columns)
    return math.expm1(whole) if mean == "geometric" else whole


def _label(of: Hierarchy, level: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(of.values, level, strict=True))


def _lost(cells: pd.Series, of: Hierarchy, mean: str) -> list[float]:
    """What a column adds at each of its levels."""
    leaves, result = len(of.values), []
    for level in of.levels:
        below = Counter(level)
        share = cells.map(
            {value: below[label] / leaves for value, label in zip(of.values, level, strict=True)}
        )
        value = (share.mean() - 1 / leaves) / (1 - 1 / leaves)
        result.append(math.log1p(value) if mean == "geometric" else value)
    return result
