"""Demands beyond k as their papers state them, decided group by group from counts of
people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd


def words(model: dict[str, Any]) -> str:
    """A demand as it is promised."""
    kind = model["model"]
    column = model.get("column")
    if kind == "k-map":
        return f"{model['k']}-map"
    if kind == "delta-presence":
        return f"({model['lowest']:g}, {model['highest']:g})-presence"
    if kind == "t-closeness":
        return f"{model['t']:g}-closeness of {column} ({model['distance']} distance)"
    if kind == "beta-likeness":
        return f"{model['beta']:g}-likeness of {column}"
    if kind == "average risk":
        return f"average risk of at most {model['most']:g}"
    if kind == "recursive (c, l)-diversity":
        return f"recursive ({model['c']:g}, {model['l']})-diversity of {column}"
    return f"{kind.split()[0]} {model['l']:g}-diversity of {column}"


def of_shares(
    model: dict[str, Any], people: pd.Series, population: pd.Series
) -> pd.Series:
    """Which groups break a demand on those who are published out of a population, each
    counted by group.
    """
    if model["model"] == "k-map":
        return population < model["k"]
    if model["model"] == "average risk":  # all of them, or none
        return pd.Series(
            least_crowd([*people], model["most"]) > people.min(), people.index
        )
    share = people / population
    return (share < model["lowest"]) | (share > model["highest"])


def least_crowd(crowds: Sequence[int], most: float) -> float:
    """The people of the smallest group that can stay, where smaller ones go until a
    risk is kept.
    """
    for least in sorted({*crowds}):
        stay = [int(crowd) for crowd in crowds if crowd >= least]
        if Fraction(len(stay), sum(stay)) <= Fraction(str(most)):
            return int(least)
    return math.inf


def of_values(
    model: dict[str, Any],
    counts: pd.DataFrame,
    whole: pd.Series,
    levels: Sequence[Sequence[str]],
) -> pd.Series:
    """Which groups break a demand on a column that should stay unknown.

    Args:
        counts: people by group and value. whole: people of the whole table by value.
        levels: of the column's hierarchy, labels in one order of the values; empty
            without one.
    """
    if model["model"] == "t-closeness":
        shares = whole / whole.sum()
        apart = counts.reindex(columns=shares.index, fill_value=0)
        apart = apart.div(apart.sum(axis=1), axis=0) - shares
        return _distance(model["distance"], apart, levels) > model["t"] + 1e-12
    if model["model"] == "beta-likeness":
        most = (1 + Fraction(str(model["beta"]))) / int(whole.sum())
        return pd.Series(
            [
                any(
                    Fraction(int(n), int(group.sum())) > most * int(whole[value])
                    for value, n in group.items()
                )
                for _, group in counts.iterrows()
            ],
            counts.index,
        )
    breaks = DIVERSITY[model["model"]]
    broken = [
        breaks(sorted(map(int, group), reverse=True), model)
        for group in counts.to_numpy()
    ]
    return pd.Series(broken, counts.index, dtype=bool)


def _few(counts: list[int], model: dict[str, Any]) -> bool:
    return sum(count > 0 for count in counts) < model["l"]


def _uneven(counts: list[int], model: dict[str, Any]) -> bool:
    """Entropy below ln l, in whole numbers: n^n / (product of r^r) below l^n."""
    people = sum(counts)
    held = people**people
    least = math.prod(r**r for r in counts) * Fraction(str(model["l"])) ** people
    # rounding may decide other ties: these tables have none
    assert held != least or counts[0] == 1
    return held < least


def _frequent(counts: list[int], model: dict[str, Any]) -> bool:
    """Definition 4.3 of Machanavajjhala et al. (2007): r1 not below c (r_l + ... +
    r_m).
    """
    return not counts[0] < Fraction(str(model["c"])) * sum(counts[model["l"] - 1 :])


DIVERSITY: dict[str, Callable[[list[int], dict[str, Any]], bool]] = {
    "distinct l-diversity": _few,
    "entropy l-diversity": _uneven,
    "recursive (c, l)-diversity": _frequent,
}


def _distance(
    kind: str, apart: pd.DataFrame, levels: Sequence[Sequence[str]]
) -> pd.Series:
    """The earth mover's distance of each group: what every value has too much or too
    little of.
    """
    if kind == "equal":
        return apart.clip(lower=0).sum(axis=1)
    if kind == "ordered":
        order = sorted(
            apart,
            key=lambda each: float(each) if each.lstrip("-").isdigit() else math.inf,
        )
        return apart[order].cumsum(axis=1).abs().sum(axis=1) / (len(order) - 1)
    # Li, Li, Venkatasubramanian (2007), 3.2: at each node what its children can
    # exchange, times its height
    moved = pd.Series(0.0, apart.index)
    height = len(levels) - 1
    for level in range(1, height + 1):
        label = dict(zip(levels[0], levels[level - 1], strict=True))
        parent = dict(zip(levels[level - 1], levels[level], strict=True))
        extra = apart.T.groupby(label).sum()
        over, under = (
            side.clip(lower=0).groupby(parent).sum().T for side in (extra, -extra)
        )
        moved += np.minimum(over, under).sum(axis=1) * level / height
    return moved
