"""Seeded tables of many shapes, for benchmarks: drawn from structure that is public,
from no person's data.

A Bayesian network draws a column after its parents: every combination of the parents'
cells has its own distribution, from a Dirichlet law around the column's own. Of ordered
columns the distribution moves with the parents, in bumps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

MIXED = (2, 2, 5, 5, 6, 7, 9, 9, 15, 16, 26, 41, 73, 100)
FEW_PAIRS = (
    2,
    4,
    7,
    35,
    3,
    3,
    5,
    10,
    *(2, 3, 5, 8, 12, 20, 50) * 6,
    100,
    100,
    100,
    100,
)
CENSUS = (2, 2, 3, 4, 5, 6, 8, 9, 12, 100)
DENSE = (
    2,
    2,
    3,
    3,
    4,
    4,
    5,
    5,
    6,
    6,
    7,
    8,
    8,
    9,
    10,
    10,
    12,
    12,
    14,
    15,
    16,
    18,
    20,
    20,
)
PARITY = (2,) * 9 + (3, 4, 5)
TRUE_RULE = 0.95
"""Accuracy of the rule by which the class of a parity comes about."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """Tables of one shape.

    Attributes:
        make: seed -> a table of cell numbers.
        ordered: columns whose neighboring cells are alike.
    """

    name: str
    sizes: dict[str, int]
    make: Callable[[int], pd.DataFrame]
    ordered: tuple[str, ...] = ()


def network(
    sizes: Sequence[int],
    rows: int,
    seed: int,
    *,
    parents: int = 3,
    strength: float = 1.0,
    ordered: Sequence[int] = (),
) -> pd.DataFrame:
    """Rows of a random Bayesian network with at most so many parents a column.

    Args:
        strength: how far a distribution moves with the parents; 0 leaves columns
            independent.
        ordered: positions of columns with bumps.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(sizes))
    codes = np.zeros((rows, len(sizes)), dtype=np.int64)
    for place, column in enumerate(order):
        size = sizes[column]
        own = rng.dirichlet(np.full(size, 0.7))
        count = min(place, parents)
        above = rng.choice(order[:place], size=count, replace=False) if count else []
        key = np.zeros(rows, dtype=np.int64)
        cells = 1
        for parent in above:
            groups = min(sizes[parent], 6)
            key = key * groups + codes[:, parent] * groups // sizes[parent]
            cells *= groups
        laws = np.empty((cells, size))
        for cell in range(cells):
            if column in ordered:
                center = rng.uniform(0, size)
                width = size * rng.uniform(0.05, 0.3)
                bump = np.exp(-0.5 * ((np.arange(size) - center) / width) ** 2)
                laws[cell] = (1 - strength / 2) * own + strength / 2 * bump / bump.sum()
            else:
                laws[cell] = rng.dirichlet(
                    own * size / max(strength, 1e-9) * 0.7 + 1e-3
                )
        ends = laws.cumsum(axis=1)
        ends[:, -1] = 1.0
        codes[:, column] = (rng.random(rows)[:, None] > ends[key]).sum(axis=1)
    return pd.DataFrame(codes, columns=_names(sizes))


def strong_pair(rows: int, seed: int) -> pd.DataFrame:
    """Ten columns of noise, of which two nearly agree."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 8, size=(rows, 10))
    codes[:, 7] = np.where(rng.random(rows) < 0.9, codes[:, 2], codes[:, 7])
    return pd.DataFrame(codes, columns=_names([8] * 10))


def few_pairs(rows: int, seed: int) -> pd.DataFrame:
    """A wide raw table: 46 columns of noise, and eight that nearly determine each other
    in pairs.
    """
    rng = np.random.default_rng(seed)
    codes = np.column_stack(
        [rng.choice(size, rows, p=rng.dirichlet(np.ones(size))) for size in FEW_PAIRS]
    )
    for first, second in ((0, 1), (2, 3), (4, 5), (6, 7)):
        same = codes[:, first] * FEW_PAIRS[second] // FEW_PAIRS[first]
        codes[:, second] = np.where(rng.random(rows) < 0.95, same, codes[:, second])
    return pd.DataFrame(codes, columns=_names(FEW_PAIRS))


def dense(rows: int, seed: int) -> pd.DataFrame:
    """Columns that all depend: noisy copies of one hidden factor, in even cells up to
    2.5 deviations.
    """
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=rows)
    codes = np.empty((rows, len(DENSE)), dtype=np.int64)
    for at, size in enumerate(DENSE):
        noise = rng.uniform(0.3, 1.5)
        place = (factor + noise * rng.normal(size=rows)) / (1 + noise**2) ** 0.5
        codes[:, at] = np.clip((place / 5 + 0.5) * size, 0, size - 1)
    return pd.DataFrame(codes, columns=_names(DENSE))


def parity(rows: int, seed: int, *, inputs: int = 3) -> pd.DataFrame:
    """Twelve independent columns, and a class: whether the first few add up to an odd
    number, mostly.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            name: rng.integers(0, n, rows)
            for name, n in zip(_names(PARITY), PARITY, strict=True)
        },
    )
    frame["class"] = (
        frame.iloc[:, :inputs].sum(axis=1) + (rng.random(rows) >= TRUE_RULE)
    ) % 2
    return frame


def _names(sizes: Sequence[int]) -> list[str]:
    return [f"c{i}" for i in range(len(sizes))]


def _family(
    name: str,
    sizes: Sequence[int],
    rows: int,
    *,
    ordered: Sequence[int] = (),
    strength: float = 1.0,
) -> Family:
    names = _names(sizes)
    return Family(
        name=name,
        sizes=dict(zip(names, sizes, strict=True)),
        make=lambda seed: network(
            sizes, rows, seed, strength=strength, ordered=ordered
        ),
        ordered=tuple(names[i] for i in ordered),
    )


_wide = np.random.default_rng(60).choice([2, 3, 5, 8, 12, 20], size=60).tolist()
FAMILIES = (
    _family("binary16", [2] * 16, 20_000),
    _family("binary23", [2] * 23, 50_000),
    _family("mixed14", MIXED, 48_000, ordered=(12, 13)),
    _family("census10", CENSUS, 30_000, ordered=(9,)),
    _family("wide60", _wide, 100_000),
    _family("small8", (2, 3, 4, 5, 6, 8, 10, 12), 2_000),
    _family("independent", (2, 2, 4, 5, 6, 8, 9, 10, 12, 20), 30_000, strength=0.0),
    Family(
        name="strong pair",
        sizes=dict.fromkeys(_names([8] * 10), 8),
        make=lambda seed: strong_pair(20_000, seed),
    ),
    Family(
        name="few pairs",
        sizes=dict(zip(_names(FEW_PAIRS), FEW_PAIRS, strict=True)),
        make=lambda seed: few_pairs(8_000, seed),
    ),
    Family(
        name="dense",
        sizes=dict(zip(_names(DENSE), DENSE, strict=True)),
        make=lambda seed: dense(20_000, seed),
    ),
    Family(
        name="parity",
        sizes=dict(zip((*_names(PARITY), "class"), (*PARITY, 2), strict=True)),
        make=lambda seed: parity(20_000, seed),
    ),
)
