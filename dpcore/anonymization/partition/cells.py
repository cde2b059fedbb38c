"""Suppress as few single cells as possible until every class may be released.

A suppressed cell prints `*`, which counts as a value of its own. If it counted as any
value, as in mu-Argus and sdcMicro, a row would look like others that somebody who knows
its person can rule out: they print another value where its own is suppressed. Finding
the least number is NP-hard (Meyerson, Williams, 2004, PODS), so only small tables are
sure to get it.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dpcore.anonymization._thresholds import max_people_in_share
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.partition.admission import ReleaseGate
from dpcore.anonymization.partition.recoding import (
    LabelCosts,
    TupleTable,
    release_by_node,
    renumber_classes,
    settle_unreleased,
)
from dpcore.anonymization.recoded import Recoded, read_leaves, recode
from dpcore.tables.classes import IntArray

MAX_EXACT_ROWS = 12
"""Rows of a table for which all partitions into classes are compared."""


def suppress_cells(
    frame: pd.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
    levels: Mapping[str, int],
    *,
    importance: Mapping[str, float],
    gate: ReleaseGate,
    limit: float = 0.0,
) -> Recoded:
    """Generalize columns to their levels, then suppress cells of least importance.

    The sum of importance is the least possible for at most `MAX_EXACT_ROWS` rows. For
    more, sets of columns are suppressed in the order of their price, each in the rows
    that have enough rows like them only then.

    Args:
        frame: the rows to publish.
        hierarchies: of the columns.
        levels: of each column, to begin from.
        importance: by column, 1 by default: a cell of twice the importance counts as
            two.
        gate: conditions on a class.
        limit: largest share of the people with a row whose cells are all suppressed,
            too few to be a class.

    Raises: HierarchyError for a value without a path.
    """
    covering, leaf = read_leaves(frame, hierarchies)
    codes = [covering[name].codes(levels[name])[leaf[name]] for name in leaf]
    # Sort the rows, so that the result does not depend on their order
    order = np.lexsort([*gate.rows.codes, *codes])
    ones = np.ones(len(order), dtype=np.int64)
    weights = np.array([importance.get(name, 1.0) for name in leaf])
    trees = [
        LabelCosts(
            np.stack([column[order], 0 * ones]),
            np.outer([0.0, weight], ones),
            np.array([0.0, weight]),
        )
        for column, weight in zip(codes, weights / weights.mean(), strict=True)
    ]
    table = TupleTable(trees, ones, gate.for_tuples(order, ones))
    everybody = gate.rows.group_as_one_class(np.ones(len(order), dtype=bool))
    allowed = max_people_in_share(limit, int(everybody.people[0]))
    exact = len(order) <= MAX_EXACT_ROWS
    classes, chosen = (
        _find_cheapest_partition(table, allowed)
        if exact
        else settle_unreleased(table, release_by_node(table), allowed)
    )
    row_classes = np.empty_like(classes)
    row_classes[order] = classes
    shown = [levels[name] for name in leaf]
    stars = [covering[name].height + 1 for name in leaf]
    return recode(
        covering, leaf, classes=row_classes, levels=np.where(chosen > 0, stars, shown)
    )


def _find_cheapest_partition(
    table: TupleTable, max_suppressed_people: int
) -> tuple[IntArray, IntArray]:
    """Return classes and levels of the cheapest of all partitions into classes."""
    rows = len(table.weights)
    columns = len(table.trees)
    # Subsets of rows are bit masks: check which may be classes, and price them
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
    fine = table.gate.admits(row, subset)
    price = size * (np.array([tree.cost[1] for tree in table.trees]) @ differs)
    price[~fine | differs.all(axis=0)] = np.inf
    # Dynamic program: find the cheapest partition of each subset by choosing the class
    # of its first row
    least = np.zeros(len(subsets))
    chosen = np.zeros_like(subsets)
    for whole in range(1, len(subsets)):
        inside = subsets[: whole + 1]
        inside = inside[(inside & ~whole == 0) & (inside & whole & -whole > 0)]
        costs = price[inside] + least[whole ^ inside]
        chosen[whole] = inside[costs.argmin()]
        least[whole] = costs.min()
    # The cheapest subset to suppress, together with the partition of the others
    may_go = fine | (
        table.gate.rows.select(row).group_by_class(subset).people
        <= max_suppressed_people
    )
    gone = int(np.argmin(np.where(may_go, size * columns, np.inf) + least[::-1]))
    released = np.full(rows, -1)
    left = int(subsets[-1]) ^ gone
    while left:
        released[chosen[left] >> np.arange(rows) & 1 > 0] = left
        left ^= int(chosen[left])
    return renumber_classes(table, released, gone > 0)
