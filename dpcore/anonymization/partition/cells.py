"""Suppression of single cells, few of them, until every class of rows that print the
same may be released.

A suppressed cell prints `*`, which counts as a value of its own. Counted as any value,
as mu-Argus and sdcMicro do, a row would look like others that somebody who knows its
person can rule out: they print another value where its own is suppressed. The least
number is NP-hard to find (Meyerson, Williams, 2004, PODS), so only small tables get it
for sure.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.partition.admission import Gate
from dpcore.anonymization.partition.recoding import (
    Table,
    Tree,
    labelled,
    release,
    settle,
)
from dpcore.anonymization.recoded import Recoded, leaf_codes, recode
from dpcore.anonymization.thresholds import most_within
from dpcore.tables.classes import IntArray

MOST_EXACT = 12
"""Rows of a table of which every way to form classes is looked at."""


def suppress_cells(
    frame: pd.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
    levels: Mapping[str, int],
    *,
    importance: Mapping[str, float],
    gate: Gate,
    limit: float = 0.0,
) -> Recoded:
    """Generalize every column to its level, then suppress cells at the least sum of
    their importance.

    The sum is the least possible for at most `MOST_EXACT` rows. For more, sets of
    columns are suppressed in the order of their price, each in the rows that then have
    enough like them and did not before.

    Args:
        frame: the rows to publish.
        hierarchies: of the columns.
        levels: of each column, to begin from.
        importance: by column, 1 where none is given: a cell of twice the importance
            counts as two.
        gate: what a class needs.
        limit: share of the people who may have a row without any cell left, too few to
            be a class.

    Raises: HierarchyError for a value without a path.
    """
    covering, leaf = leaf_codes(frame, hierarchies)
    codes = [covering[name].codes(levels[name])[leaf[name]] for name in leaf]
    # the order of the rows decides nothing
    order = np.lexsort([*gate.rows.codes, *codes])
    ones = np.ones(len(order), dtype=np.int64)
    weights = np.array([importance.get(name, 1.0) for name in leaf])
    trees = [
        Tree(
            np.stack([column[order], 0 * ones]),
            np.outer([0.0, weight], ones),
            np.array([0.0, weight]),
        )
        for column, weight in zip(codes, weights / weights.mean(), strict=True)
    ]
    table = Table(trees, ones, gate.of_tuples(order, ones))
    everybody = gate.rows.together(np.ones(len(order), dtype=bool))
    allowed = most_within(limit, int(everybody.people[0]))
    exact = len(order) <= MOST_EXACT
    classes, chosen = (
        _optimum(table, allowed) if exact else settle(table, release(table), allowed)
    )
    of_rows = np.empty_like(classes)
    of_rows[order] = classes
    shown = [levels[name] for name in leaf]
    stars = [covering[name].height + 1 for name in leaf]
    return recode(
        covering, leaf, classes=of_rows, levels=np.where(chosen > 0, stars, shown)
    )


def _optimum(table: Table, allowed: int) -> tuple[IntArray, IntArray]:
    """Return as `settle` the cheapest of all ways to form classes, with or without
    suppressed rows.
    """
    rows = len(table.weights)
    columns = len(table.trees)
    subsets = np.arange(1 << rows)
    subset, row = ((subsets[:, None] >> np.arange(rows)) & 1).nonzero()
    first = row[np.searchsorted(subset, subsets)]
    size = np.bincount(subset)
    differs = np.array(
        [
            np.bincount(subset, tree.codes[0, row] != tree.codes[0, first[subset]]) > 0
            for tree in table.trees
        ],
    )
    fine = table.gate.satisfied(row, subset)
    price = size * (np.array([tree.cost[1] for tree in table.trees]) @ differs)
    price[~fine | differs.all(axis=0)] = np.inf
    least = np.zeros(len(subsets))
    chosen = np.zeros_like(subsets)
    for whole in range(1, len(subsets)):
        some = subsets[: whole + 1]
        # with the first row of the whole
        some = some[(some & ~whole == 0) & (some & whole & -whole > 0)]
        costs = price[some] + least[whole ^ some]
        chosen[whole], least[whole] = some[costs.argmin()], costs.min()
    may_go = fine | (table.gate.rows.taken(row).groups(subset).people <= allowed)
    gone = int(np.argmin(np.where(may_go, size * columns, np.inf) + least[::-1]))
    released = np.full(rows, -1)
    left = int(subsets[-1]) ^ gone
    while left:
        released[chosen[left] >> np.arange(rows) & 1 > 0] = left
        left ^= int(chosen[left])
    return labelled(table, released, gone > 0)
