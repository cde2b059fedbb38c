"""Classes exactly at a threshold, against integers and fractions."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymization._groups import Groups, Rows, SensitiveColumn
from dpcore.anonymization._thresholds import (
    compare_exactly,
    max_people_in_share,
    min_limit,
)
from dpcore.anonymization.apply import apply
from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.fulldomain.frontier import Frontier
from dpcore.anonymization.fulldomain.metrics import InformationLoss
from dpcore.anonymization.fulldomain.search import find_optimal_node
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.methods import LocalRecoding
from dpcore.anonymization.models import EntropyL, KAnonymity, RecursiveCL
from dpcore.anonymization.plan import Plan
from dpcore.errors import InfeasibleError

MOST = 18


def partitions(total: int, largest: int) -> Iterator[tuple[int, ...]]:
    """The ways in which so many people can hold values."""
    if not total:
        yield ()
    for first in range(min(total, largest), 0, -1):
        yield from ((first, *rest) for rest in partitions(total - first, first))


CLASSES = [
    *(counts for total in range(1, MOST + 1) for counts in partitions(total, total)),
    *((each,) * values for each in range(1, 200) for values in (2, 3, 4)),
    *((11 * each, 10 * each) for each in range(1, 60)),
]
PEOPLE = np.array(list(map(sum, CLASSES)))
TABLE = np.zeros(MOST, dtype=np.int64)
for held in CLASSES:
    TABLE[: len(held)] += held


def groups() -> Groups:
    """The classes; the largest count is of value 0, and so on."""
    codes = [np.repeat(np.arange(len(counts)), counts) for counts in CLASSES]
    values = {"s": np.concatenate(codes)}
    secret = SensitiveColumn(
        values=tuple(map(str, range(MOST))), hierarchy=None, counts=TABLE
    )
    owner = np.repeat(np.arange(len(CLASSES)), PEOPLE)
    return Rows(
        row_count=len(owner), secrets={"s": secret}, person=None, values=values
    ).group_by_class(owner)


def is_recursive(counts: tuple[int, ...], c: str) -> bool:
    return counts[0] < Fraction(c) * sum(counts[1:])


def is_close(counts: tuple[int, ...], t: str) -> bool:
    shares = [Fraction(each, sum(counts)) for each in counts] + [Fraction(0)] * (
        MOST - len(counts)
    )
    table = [Fraction(int(each), int(TABLE.sum())) for each in TABLE]
    return sum(
        abs(share - own) for share, own in zip(shares, table, strict=True)
    ) / 2 <= Fraction(t)


@pytest.mark.parametrize("l", ["1", "2", "3", "4", "1.5", "2.5"])
def test_rounding_lets_no_class_below_l_pass(l: str) -> None:  # noqa: E741
    """Rounding decides classes exactly at l as in ARX: it may close one, and nothing
    else.
    """
    judged = EntropyL(column="s", l=float(l)).violations(groups())
    for counts, is_closed in zip(CLASSES, judged.tolist(), strict=True):
        lost = math.prod(r**r for r in counts) * Fraction(l) ** sum(counts)
        whole = sum(counts) ** sum(counts)
        if lost != whole:
            assert is_closed == (lost > whole or len(counts) < float(l)), counts


@pytest.mark.parametrize("c", ["1.1", "2", "2.2", "0.7", "1.4"])
def test_a_class_at_exactly_c_is_not_recursively_diverse(c: str) -> None:
    """1.1 times 50 is above 55 in floats: a class of 55 and 50 was published."""
    judged = RecursiveCL(column="s", c=float(c), l=2).violations(groups())
    assert judged.tolist() == [not is_recursive(counts, c) for counts in CLASSES]
    if c == "1.1":
        assert judged[CLASSES.index((55, 50))]
        assert 55 < 1.1 * 50, "floats would do"


def test_a_class_at_exactly_t_is_close() -> None:
    """Else a class is suppressed for nothing, or published although it is too far."""
    table = np.array([30, 30, 40])
    for t in ("0.1", "0.2", "0.3", "0.35", "0.55", "0.7"):
        for people in range(10, 400, 10):
            # what a class at t has, in these units
            moved = 2 * people * 100 * Fraction(t)
            units = np.array([2 * people * int(table.sum())] * 3)
            figures = np.array(
                [math.ceil(moved) - 1, math.floor(moved), math.floor(moved) + 1]
            )
            assert compare_exactly(figures, float(t), units).tolist() == [
                -1,
                0 if moved == int(moved) else -1,
                1,
            ]
    for t in ("0.4142", "0.25", "0.5"):
        judged = TCloseness(column="s", t=float(t)).violations(groups())
        assert judged.tolist() == [not is_close(counts, t) for counts in CLASSES]


def test_what_floats_cannot_tell_apart_is_told_apart() -> None:
    """Else one person in 3,000,000,000,000,000 decides nothing."""
    units = np.array([10**16])
    for people, sign in ((-1, -1), (0, 0), (1, 1)):
        assert compare_exactly(
            np.array([3 * 10**15 + people]), 0.3, units
        ).tolist() == [sign]


def test_a_limit_is_the_decimal_that_was_written() -> None:
    """.29 times 100 is below 29 in floats: the last person who may be suppressed would
    be kept.
    """
    assert math.floor(0.29 * 100) == 28, "floats would do"
    for people in (*range(1, 120), 1_000, 30_162, 10**9):
        for tenths in range(1_001):
            assert (
                max_people_in_share(tenths / 1_000, people) == tenths * people // 1_000
            )
    for people in range(1, 120):
        for some in range(people + 1):
            limit = min_limit(some, people)
            assert max_people_in_share(limit, people) >= some
            assert limit == 0 or max_people_in_share(limit - 0.001, people) < some


def test_every_search_suppresses_29_of_100_people_at_a_limit_of_29_percent() -> None:
    """A search, the frontier, local recoding or the check of a plan would round for
    itself.
    """
    values = tuple(f"v{value}" for value in range(30))
    tree = Hierarchy(values=values, levels=(values, ("*",) * 30))
    frame = pd.DataFrame({"q": ["v0"] * 71 + [*values[1:]]})
    table = Tuples.build(frame, {"q": tree})
    model = KAnonymity(k=30)
    metric = InformationLoss()
    plan = Plan(
        roles={"q": "quasi-identifier"},
        hierarchies={"q": tree},
        models=(model,),
        limit=0.29,
        suppressed="kept",
    )
    for limit, hidden in ((0.29, 29), (0.28, 0)):
        found = find_optimal_node(table, [model], limit=limit)
        point = Frontier(table, [30]).find_best(30, limit, metric)
        assert point is not None
        assert (
            (found.suppressed_rows, found.node)
            == (hidden, point.node)
            == (hidden, (int(not hidden),))
        )
    for at in (
        plan.with_node({"q": 0}),
        dataclasses.replace(plan, method=LocalRecoding()),
    ):
        assert (apply(frame, at)["q"] == "*").sum() == 29
        few = dataclasses.replace(at, limit=0.28)
        if at.node is None:
            assert (apply(frame, few)["q"] == "*").all()
        else:
            with pytest.raises(InfeasibleError):
                apply(frame, few)
