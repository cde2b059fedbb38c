"""What readers are taken to know of the values of two columns.

A reader has a map: a town lies in a district, two areas cross. A file with untidy rows
does not follow the map everywhere. This module is the one place that decides which
pairs of columns have such a map, and what it says (decision 0058).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dpcore.errors import InfeasibleError
from dpcore.schema.values import MISSING
from dpcore.suppression.attacked import UNLISTED, KnownMap

MIN_DECIDED_SHARE = 0.8  # lambda of Goodman and Kruskal (1954)
MIN_USUAL_SHARE = 0.95
"""Share of the people in usual pairs: of two crossing areas, and if others are errors."""
MAX_RARE_BY_CHANCE = 0.2
"""People in rare pairs of crossing areas, as a share of those expected there by chance."""
MAX_SPARSE_PAIRS = 0.7
"""Pairs that occur in a sparse map, as a share of those expected by chance."""
MAX_CHANCE_OF_TREE = 0.01
"""Chance that columns without a map lack a pair that a map without a circle lacks."""
NO_VALUES = frozenset({MISSING, UNLISTED})

Pair = tuple[str, str]


def find_map(
    columns: Pair,
    people: Mapping[Pair, int],
    *,
    threshold: int,
    min_threshold: int | None = None,
    stand_together: bool,
    all_shown: bool,
) -> KnownMap | None:
    """Return the map that readers are taken to have of two columns; None without one.

    A pair of values is usual if as many people as the threshold have it, or if it is
    the commonest pair of one of its values. Readers know a map if knowing one value
    removes most errors in guessing the other. They also know one of areas that cross, if
    no table has both columns: nearly all people are in usual pairs, and in the others
    are far fewer than by chance. If a table has both, the map is doubtful: there may be
    readers with it and readers without it. So is one in which far fewer pairs occur than
    by chance, or one without a circle: then the sums of both columns tell each pair.

    Args:
        people: who have each pair of values; MISSING and UNLISTED are no values.
        threshold: people of a usual pair, the largest of all tables.
        min_threshold: the smallest one, by which it is decided whether there is a map,
            so that a stricter rule does not undo it; None for the same.
        stand_together: whether a table has both columns.
        all_shown: whether each table with one of the columns has a cell for each pair.
            Then areas that cross would tell nothing but which cells are empty.
    """
    known = {pair: n for pair, n in people.items() if NO_VALUES.isdisjoint(pair)}
    total = sum(known.values())
    if not total:
        return None
    sums: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    tops: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for pair, number in known.items():
        for value, own_sums, own_tops in zip(pair, sums, tops, strict=True):
            own_sums[value] += number
            own_tops[value] = max(own_tops.get(value, 0), number)

    def find_top(side: int, value: str) -> float:
        return tops[side].get(value, math.inf if value in NO_VALUES else 0)

    usual = frozenset(
        pair
        for pair, number in people.items()
        if number >= threshold
        or number >= min(find_top(side, value) for side, value in enumerate(pair))
    )
    guessed = [sum(own_tops.values()) for own_tops in tops]
    deciding = [
        side
        for side in (0, 1)
        if _decides(guessed[side], max(sums[1 - side].values()), total)
    ]
    least = threshold if min_threshold is None else min_threshold
    in_usual = sum(
        number for pair, number in known.items() if pair in usual or number >= least
    )
    are_few_rare = in_usual >= MIN_USUAL_SHARE * total
    # 1. How many people, and how many pairs, would be there by chance
    often = {pair for pair, number in known.items() if pair in usual or number >= least}
    rare_by_chance = total - sum(
        sums[0][first] * sums[1][second] / total for first, second in often
    )
    others = sums[1].most_common()
    sizes = np.array([number for _, number in others])
    pairs_by_chance = 0.0
    most_absent = 0.0  # people by chance in a pair that nobody has
    for first, own in sums[0].items():
        pairs_by_chance -= float(np.expm1(-own * sizes / total).sum())
        absent = (number for second, number in others if (first, second) not in known)
        most_absent = max(most_absent, own * next(absent, 0) / total)
    all_pairs = len(sums[0]) * len(sums[1])
    # 2. Do the values go together as those of areas that cross?
    is_sparse = len(known) <= MAX_SPARSE_PAIRS * pairs_by_chance
    is_tree = (
        len(known) < len(sums[0]) + len(sums[1])
        and all_pairs * math.exp(-most_absent) < MAX_CHANCE_OF_TREE
    )
    crosses = (
        is_sparse
        or is_tree
        or (
            are_few_rare
            and len(often) < all_pairs
            and total - in_usual <= MAX_RARE_BY_CHANCE * rare_by_chance
        )
    )
    if not deciding and (all_shown or not crosses):
        return None
    rare = {pair: number for pair, number in people.items() if pair not in usual}
    inner = ""
    if deciding and are_few_rare:
        # of a code and its name, each one tells the other
        inner = columns[max(deciding, key=lambda side: (guessed[side], -side))]
    return KnownMap(
        columns=columns,
        usual=usual,
        rare=rare,
        inner=inner,
        is_doubtful=not deciding and (stand_together or not are_few_rare),
    )


def mark_errors(columns: Pair, known: KnownMap | None) -> KnownMap:
    """Return a map whose rare pairs are errors of coding, as the owner says.

    A pair without a value is none of these.

    Raises: InfeasibleError if no column tells the other one for nearly all people.
    """
    if known is None or known.nesting is None:
        first, second = columns
        raise InfeasibleError(
            "rare pairs of {first} and {second} cannot all be errors of coding, because "
            "more than a few people have one, or no column tells the other",
            remedy="leave this statement out of the plan",
            first=first,
            second=second,
        )
    return replace(known, errors=frozenset(find_errors(known)))


def find_errors(known: KnownMap) -> dict[Pair, int]:
    """Return the rare pairs that may be errors of coding, with their people."""
    return {
        pair: number
        for pair, number in known.rare.items()
        if NO_VALUES.isdisjoint(pair)
    }


def _decides(guessed: int, guessed_blindly: int, total: int) -> bool:
    """Return whether one value removes most errors in guessing the other.

    Args:
        guessed: people guessed right by the commonest pair of their value.
        guessed_blindly: people guessed right without it.
    """
    errors = total - guessed_blindly
    return errors > 0 and guessed - guessed_blindly >= MIN_DECIDED_SHARE * errors
