"""Attribute disclosure: what a class reveals without re-identification.

All figures come from the pairs (class, value) that occur: a sensitive column may have
any number of values. Sources: Machanavajjhala et al. (2007) for l-diversity, Li, Li,
Venkatasubramanian (2007) for t-closeness.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcore.errors import UsageError
from dpcore.tables.classes import (
    IntArray,
    class_index,
    count_codes,
    count_pairs,
    has_few_cells,
    sorting_order,
)
from dpcore.tables.people import max_per_person, select_one_row_per_person
from dpcore.tables.value_counts import ValueCounts

ROWS_PER_BATCH = 2_000_000
"""Rows of which the classes are looked at together, about."""


@dataclass(frozen=True, kw_only=True)
class AttributeRisk:
    """How much the worst class reveals, and how many classes reveal everything.

    Attributes:
        distinct_l: the table is distinct-l-diverse up to this l.
        entropy_l: exp of the smallest class entropy.
        recursive_c: the table is recursive (c, l)-diverse, at the requested l, for
            every c above; infinite if a class has fewer than l values.
        t_equal: largest total variation between a class's values and those of all rows.
        t_ordered: the same as earth mover's distance along the order of the values,
            over its largest length.
        homogeneous_classes: classes in which all rows share one value.
        homogeneous_people: share of people (rows, if each is a person) with a row in
            such a class.
        posterior_ratio: how many times more likely a value becomes, at most, once the
            class is known.
    """

    distinct_l: int
    entropy_l: float
    recursive_c: float
    t_equal: float
    t_ordered: float
    homogeneous_classes: int
    homogeneous_people: float
    posterior_ratio: float


def measure_attribute_risk(
    classes: IntArray,
    sensitive: IntArray,
    *,
    l: int = 2,  # noqa: E741
    person: IntArray | None = None,
) -> AttributeRisk:
    """Measure how much the classes reveal about one sensitive column.

    If people have several rows, a person counts once for each class and value, and in
    the
    whole table once for each value, as in the privacy models: l, t and entropy are the
    limits at which these turn.

    Args:
        classes: (rows,) class of each row, without gaps.
        sensitive: (rows,) code of the value, in its order, without gaps.
        l: for recursive (c, l)-diversity.
        person: (rows,) person of each row; None if every row is a person.

    Raises: ParameterError for l below 1.
    """
    if l < 1:
        raise UsageError(f"l ({l}) must be at least 1", remedy="raise l")
    table = count_codes(
        sensitive
        if person is None
        else sensitive[select_one_row_per_person(sensitive, person)]
    )
    prior = table / table.sum()
    if person is not None:
        once = select_one_row_per_person(class_index([classes, sensitive]), person)
        classes = classes[once]
        sensitive = sensitive[once]
        person = class_index([person[once]])
    number = int(classes.max()) + 1
    together = max(1, number * ROWS_PER_BATCH // len(classes))
    count_in = _make_pair_counter(classes, sensitive, number)
    parts = list[tuple[float, ...]]()
    is_homogeneous = np.empty(number, dtype=bool)
    for start in range(0, number, together):
        owner, value, count = count_in(start, start + together)
        counts = ValueCounts(
            group=owner,
            value=value,
            count=count,
            class_count=min(together, number - start),
        )
        share = count / counts.total[owner]
        whole = counts.total * table.sum()
        largest, rest = counts.largest_and_rest(l)
        is_homogeneous[start : start + together] = counts.distinct == 1
        parts.append(
            (
                -counts.distinct.min(),
                counts.sum_by_class(share * np.log(share)).max(),
                (largest / rest).max() if rest.all() else np.inf,
                (counts.scaled_distance(table) / whole).max() / 2,
                (counts.scaled_ordered_distance(table) / whole).max()
                / max(1, len(table) - 1),
                (share / prior[value]).max(),
            ),
        )
    distinct, entropy, recursive, equal, ordered, ratio = map(
        float, np.max(parts, axis=0)
    )
    return AttributeRisk(
        distinct_l=int(-distinct),
        entropy_l=math.exp(-entropy),
        recursive_c=recursive,
        t_equal=equal,
        t_ordered=ordered,
        homogeneous_classes=int(is_homogeneous.sum()),
        homogeneous_people=float(
            max_per_person(is_homogeneous[classes], person).mean()
        ),
        posterior_ratio=ratio,
    )


def _make_pair_counter(
    classes: IntArray, sensitive: IntArray, number: int
) -> Callable[[int, int], tuple[IntArray, IntArray, IntArray]]:
    """Return a function that counts (class, value) pairs in a range of classes.

    It returns each class from the start of the range, its value, and their rows. Few
    pairs are counted at once; for many, the rows are sorted by their class.
    """
    if has_few_cells(number * (int(sensitive.max()) + 1), len(classes)):
        owner, value, count = count_pairs(classes, sensitive)

        def select(start: int, stop: int) -> tuple[IntArray, IntArray, IntArray]:
            pairs = slice(*np.searchsorted(owner, [start, stop]))
            return owner[pairs] - start, value[pairs], count[pairs]

        return select
    order = sorting_order(classes, number)
    of_class = classes[order]
    of_value = sensitive[order]

    def count_rows(start: int, stop: int) -> tuple[IntArray, IntArray, IntArray]:
        rows = slice(*np.searchsorted(of_class, [start, stop]))
        return count_pairs(of_class[rows] - start, of_value[rows])

    return count_rows
