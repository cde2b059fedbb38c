"""The steps around a node of the lattice, against a look at every class in plain
Python.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpcore.anonymization.fulldomain.metrics import InformationLoss
from dpcore.anonymization.fulldomain.neighbors import Neighbor, measure_neighbors
from dpcore.anonymization.models import DeltaPresence, KAnonymity
from tests.anonymization.oracle import Case, classes_at, evaluate, score
from tests.anonymization.test_brute_force import table

Node = tuple[int, ...]


def smallest_kept(case: Case, node: Node, suppressed: Sequence[int]) -> int:
    """The people of the smallest class that stays; 0 if none does."""
    gone = set(suppressed)
    inside = (
        [row for row in rows if case.flags[row] and row not in gone]
        for rows in classes_at(case, node).values()
    )
    return min((len(case.whose(rows)) for rows in inside if rows), default=0)


def steps(case: Case, node: Node) -> set[Node]:
    """The node, and every other whose levels differ by one in all."""
    heights = [
        range(case.floor.get(name, 0), tree.height + 1)
        for name, tree in case.hierarchies.items()
    ]
    return {
        each
        for each in itertools.product(*heights)
        if sum(abs(own - other) for own, other in zip(node, each, strict=True)) <= 1
    }


def test_every_step_and_its_figures_are_those_of_brute_force() -> None:
    """Somebody would choose a step by a cost or a group size that is another node's."""
    for seed in range(120):
        case = table(seed)
        limit = (0.0, 0.1, 0.5)[seed % 3]
        models = (KAnonymity(k=1 + seed % 4), DeltaPresence(lowest=0.2, highest=1.0))[
            : 1 + seed % 2
        ]
        node = tuple(
            max(case.floor.get(name, 0), seed // (1 + place) % (h.height + 1))
            for place, (name, h) in enumerate(case.hierarchies.items())
        )
        made = measure_neighbors(
            case.tuples(), node, models, limit=limit, metric=InformationLoss()
        )
        assert made[0].node == node
        assert {each.node for each in made} == steps(case, node)
        assert len(made) == len(steps(case, node))
        for each in made:
            check(each, case, models, limit)


def check(each: Neighbor, case: Case, models: tuple[object, ...], limit: float) -> None:
    people = len(case.whose([row for row, shown in enumerate(case.flags) if shown]))
    allowed = math.floor(Fraction(str(limit)) * people)
    suppressed, blocked = evaluate(case, each.node, models)
    assert (each.suppressed_rows, each.suppressed_people) == (
        len(suppressed),
        len(case.whose(suppressed)),
    )
    assert np.isclose(
        each.score, score(case, each.node, suppressed, InformationLoss()), atol=1e-8
    )
    assert each.is_feasible == (not blocked and each.suppressed_people <= allowed)
    # it was the k that is possible within the limit: 11 for a table that has 5
    assert each.k == smallest_kept(case, each.node, suppressed)
