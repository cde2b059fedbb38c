"""Attribute disclosure: what a class gives away about a sensitive value, even when nobody is re-identified.

All figures come from the pairs (class, value) that occur: a sensitive column may have any number of values.
Sources: Machanavajjhala et al. (2007) for l-diversity, Li, Li, Venkatasubramanian (2007) for t-closeness.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.errors import ParameterError
from dpcore.tables.classes import FloatArray, IntArray, class_index, counted_pairs, starts_of
from dpcore.tables.people import largest_each, once_each


@dataclass(frozen=True, kw_only=True)
class AttributeRisk:
    """The disclosure of the worst class, and the number of classes that reveal everything.

    Attributes:
        distinct_l: the table is distinct-l-diverse up to this l.
        entropy_l: exp of the smallest class entropy.
        recursive_l, recursive_c: the table is recursive (c, l)-diverse at `recursive_l` for every c above
            `recursive_c`; infinite where a class has fewer than l values.
        t_equal: largest total variation between a class's values and those of all rows given.
        t_ordered: the same as earth mover's distance along the order of the values, over its largest length.
        homogeneous_classes: classes in which all rows share one value.
        homogeneous_people: share of people (rows, where each is a person) with a row in such a class.
        posterior_ratio: how many times more likely a value becomes, at most, once the class is known.
    """

    distinct_l: int
    entropy_l: float
    recursive_l: int
    recursive_c: float
    t_equal: float
    t_ordered: float
    homogeneous_classes: int
    homogeneous_people: float
    posterior_ratio: float


def attribute_risk(
    classes: IntArray,
    sensitive: IntArray,
    *,
    l: int = 2,  # noqa: E741
    person: IntArray | None = None,
) -> AttributeRisk:
    """Measure what the classes of a table give away about one sensitive column.

    Where people have several rows, a person counts once for each class and value, and in the whole table once
    for each value, as in the privacy models: l, t and entropy are the limits at which these turn.

    Args:
        classes: (rows,) class of each row, without gaps.
        sensitive: (rows,) code of the value, in its order, without gaps.
        l: for recursive (c, l)-diversity.
        person: (rows,) whose row it is; None where every row is a person.
    Raises: ParameterError for l below 1.
    """
    if l < 1:
        raise ParameterError("l ({l}) must be at least 1", remedy="raise l", l=l)
    of_table = sensitive[once_each(sensitive, person)]
    prior = np.bincount(of_table) / len(of_table)
    if person is not None:
        once = once_each(class_index([classes, sensitive]), person)
        classes, sensitive, person = classes[once], sensitive[once], class_index([person[once]])
    owner, value, count = counted_pairs(classes, sensitive)
    start = starts_of(owner)
    values = np.diff(start, append=len(owner))
    size = np.bincount(classes)
    share = count / size[owner]
    entropy = -np.add.reduceat(share * np.log(share), start)
    # total variation: values that a class lacks add their prior, which is 1 minus the prior of those it has
    variation = np.add.reduceat(np.abs(share - prior[value]) - prior[value], start) + 1
    homogeneous = values == 1
    return AttributeRisk(
        distinct_l=int(values.min()),
        entropy_l=float(np.exp(entropy.min())),
        recursive_l=l,
        recursive_c=_recursive_ratio(owner, count, start, size, l),
        t_equal=float(variation.max() / 2),
        t_ordered=float(_ordered_distance(owner, value, share, start, prior).max()),
        homogeneous_classes=int(homogeneous.sum()),
        homogeneous_people=float(largest_each(homogeneous[classes], person).mean()),
        posterior_ratio=float((share / prior[value]).max()),
    )


def _recursive_ratio(owner: IntArray, count: IntArray, start: IntArray, size: IntArray, l: int) -> float:  # noqa: E741
    """Largest r_1 / (r_l + ... + r_m) over the classes, r in falling order."""
    falling = count[np.lexsort((-count, owner))]
    rank = np.arange(len(owner)) - start[owner]
    tail = np.add.reduceat(np.where(rank >= l - 1, falling, 0), start)
    if (tail == 0).any():
        return float("inf")
    return float((falling[start] / tail).max())


def _ordered_distance(
    owner: IntArray, value: IntArray, share: FloatArray, start: IntArray, prior: FloatArray
) -> FloatArray:
    """(classes,) mean distance between the distribution functions of the class and of the table.

    The class's function is constant between the values it has, so each stretch [x, y) is summed at once: the
    table's function passes the constant a at z.
    """
    table = np.cumsum(prior)
    summed = np.concatenate(([0.0], np.cumsum(table)))
    before = np.cumsum(share) - share
    level = np.cumsum(share) - before[start][owner]
    following = np.append(value[1:], len(prior))
    following[start[1:] - 1] = len(prior)

    def stretch(a: FloatArray, x: IntArray, y: IntArray) -> FloatArray:
        z = np.clip(np.searchsorted(table, a), x, y)
        return np.asarray(a * (2 * z - x - y) + summed[x] + summed[y] - 2 * summed[z])

    first = summed[value[start]]  # below its first value the class's function is 0
    moved = first + np.add.reduceat(stretch(level, value, following), start)
    return np.asarray(moved / max(1, len(prior) - 1))
