"""Thousands of random tables: models, metrics, limits and weights against a look at
every node.

The tables are seeded, small and full of ties. Half have people of several rows, half a
research subset.
"""

from __future__ import annotations

import random
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymization.fulldomain.metrics import (
    AverageClassSize,
    Discernibility,
    InformationLoss,
    NonUniformEntropy,
)
from dpcore.anonymization.fulldomain.search import Solution, find_optimal_node
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import KAnonymity, PrivacyModel
from dpcore.errors import InfeasibleError
from tests.anonymization.oracle import (
    MODELS,
    RISKS,
    SECRET,
    SECRET_HIERARCHY,
    Case,
    evaluate,
    optimum,
)
from tests.tiers import but_first

TABLES = 2_000
PARTS = 8
METRICS = (
    InformationLoss(),
    InformationLoss(weights={"q0": 3.0, "q1": 0.5}),
    InformationLoss(mean="arithmetic"),
    InformationLoss(mean="arithmetic", weights={"q1": 5.0}),
    NonUniformEntropy(),
    NonUniformEntropy(weights={"q0": 2.5}),
    Discernibility(),
    AverageClassSize(),
)
LIMITS = (0.0, 0.05, 0.1, 0.3, 0.5, 1.0)


def hierarchy(draw: random.Random) -> Hierarchy:
    """2 to 5 leaves in up to two levels below `*`."""
    leaves = tuple(f"v{i}" for i in range(draw.randint(2, 5)))
    levels = [leaves]
    for depth in range(draw.randint(0, 2)):
        codes = list(dict.fromkeys(levels[-1]))
        group = {
            code: f"g{depth}{draw.randrange(max(1, len(codes) - 1))}" for code in codes
        }
        levels.append(tuple(group[label] for label in levels[-1]))
    return Hierarchy(values=leaves, levels=(*levels, ("*",) * len(leaves)))


def table(seed: int) -> Case:
    """A random table."""
    draw = random.Random(seed)
    trees = {f"q{j}": hierarchy(draw) for j in range(draw.randint(1, 3))}
    rows = draw.randint(1, 20)
    columns = {name: draw.choices(tree.values, k=rows) for name, tree in trees.items()}
    columns[SECRET] = draw.choices(SECRET_HIERARCHY.values, (4, 3, 2, 1), k=rows)
    people = [draw.randint(0, rows // 2) for _ in range(rows)] if seed % 2 else None
    subset = [draw.random() < 0.7 for _ in range(rows)] if seed % 4 > 1 else None
    if subset is not None:
        subset[0] = True
    floor = {}
    if seed % 3 == 0:
        floor = {name: draw.randint(0, tree.height) for name, tree in trees.items()}
    return Case(pd.DataFrame(columns), trees, subset, people, floor)


def some_of(turn: int) -> tuple[PrivacyModel, ...]:
    """One model, or an average risk with or without one."""
    place = turn % (len(MODELS) + 2 * len(RISKS))
    if place < len(MODELS):
        return (MODELS[place],)
    risk = RISKS[place % 2]
    return (
        (risk,) if place < len(MODELS) + 2 else (risk, MODELS[turn // 3 % len(MODELS)])
    )


@pytest.mark.parametrize("part", but_first(1, range(PARTS)))
def test_the_search_agrees_with_looking_at_everything(part: int) -> None:
    """Else some combination of model, metric, limit and weights gives a node that is
    not the best.
    """
    for seed in range(part, TABLES, PARTS):
        case = table(seed)
        turn = seed // PARTS
        models = (*some_of(turn), KAnonymity(k=1 + seed % 4))
        metric = METRICS[seed // 3 % len(METRICS)]
        limit = LIMITS[seed // 5 % len(LIMITS)]
        expected = optimum(case, models, limit, metric)
        found: Solution | None = None
        with suppress(InfeasibleError):
            found = find_optimal_node(case.tuples(), models, limit=limit, metric=metric)
        said = (seed, models, metric, limit)
        assert (found is None) == (expected is None), said
        if found is not None and expected is not None:
            assert np.isclose(found.score, expected[0], rtol=1e-8, atol=1e-8), said
            levels = zip(case.hierarchies, found.node, strict=True)
            assert all(level >= case.floor.get(name, 0) for name, level in levels), said
            suppressed, blocked = evaluate(case, found.node, models)
            assert (len(suppressed), blocked) == (found.suppressed_rows, False), said
            assert len(case.whose(suppressed)) == found.suppressed_people, said
