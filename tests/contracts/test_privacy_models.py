"""The contract of every privacy model: it sees people and values, never rows or bits.

It judges alike whoever counts them: the search by sorting, the search by counting, or
the rows of a finished table.
"""

from __future__ import annotations

import functools
import itertools
import random

import numpy as np
import pytest

from dpcore.anonymization._groups import Groups, Rows
from dpcore.anonymization.closeness import Distance, TCloseness
from dpcore.anonymization.fulldomain._grouper import Grouper
from dpcore.anonymization.fulldomain.counter import Counter
from dpcore.anonymization.models import (
    DeltaPresence,
    KAnonymity,
    KMap,
    PrivacyModel,
    SensitiveModel,
)
from dpcore.anonymization.plan import Plan
from dpcore.tables.classes import class_index
from tests.anonymization.oracle import (
    MODELS,
    SECRET,
    SECRET_HIERARCHY,
    Case,
    classes_at,
    holds,
)
from tests.anonymization.test_brute_force import table

# without a subset: rows know no population
TABLES = [seed for seed in range(60) if seed % 4 < 2]
each_model = pytest.mark.parametrize("model", MODELS, ids=str)


@functools.cache
def case_of(seed: int) -> Case:
    return table(seed)


@functools.cache
def by_rows(seed: int, node: tuple[int, ...], *, twice: bool = False) -> Groups:
    """The classes of a node, counted row by row; `twice`: every row of the table is
    there two times.
    """
    case = case_of(seed)
    frame = case.frame.assign(person=case.people or range(len(case.frame)))
    codes = [
        hierarchy.codes(level)[hierarchy.find_leaves(frame[name])]
        for (name, hierarchy), level in zip(case.hierarchies.items(), node, strict=True)
    ]
    rows = np.repeat(np.arange(len(frame)), 2 if twice else 1)
    held = Rows.from_frame(frame.iloc[rows], {SECRET: SECRET_HIERARCHY}, "person")
    return held.group_by_class(class_index(codes)[rows])


@functools.cache
def searched(seed: int) -> dict[tuple[int, ...], tuple[Groups, Groups]]:
    """The classes of every node as the search sees them: by sorting, and by
    counting.
    """
    tuples = case_of(seed).tuples()
    grouper = Grouper(tuples)
    counter = Counter(tuples)
    return {
        node: (grouper.group_node(node), counter.count_classes(node))
        for node in nodes(case_of(seed))
    }


def nodes(case: Case) -> list[tuple[int, ...]]:
    return list(
        itertools.product(*(range(h.height + 1) for h in case.hierarchies.values()))
    )


@each_model
def test_rows_are_judged_as_in_the_textbook(model: PrivacyModel) -> None:
    """Else a local method, or the check of a finished table, lets a class pass that the
    model forbids.
    """
    for seed in TABLES:
        case = case_of(seed)
        for node in nodes(case):
            wrong = sum(
                not holds(model, case, rows) for rows in classes_at(case, node).values()
            )
            assert model.violations(by_rows(seed, node)).sum() == wrong


@each_model
def test_a_row_written_twice_changes_nothing(model: PrivacyModel) -> None:
    """Else rows are counted where people are meant."""
    for seed in TABLES:
        case = case_of(seed)
        node = random.Random(len(case.frame)).choice(nodes(case))
        once = by_rows(seed, node)
        twice = by_rows(seed, node, twice=True)
        assert (model.violations(once) == model.violations(twice)).all()


@each_model
def test_search_counts_what_rows_do(model: PrivacyModel) -> None:
    """Else the search closes nodes, or accepts them, by other numbers than those of the
    table.
    """
    for seed in range(40):
        for node, (sorted_out, counted) in searched(seed).items():
            marked = model.violations(sorted_out)
            assert model.violations(counted).tolist() == marked.tolist()
            if case_of(seed).subset is None:
                assert np.array_equal(
                    np.sort(counted.people), np.sort(by_rows(seed, node).people)
                )
                assert marked.sum() == model.violations(by_rows(seed, node)).sum()


@each_model
def test_no_class_is_smaller_than_the_model_says(model: PrivacyModel) -> None:
    """Else the search suppresses a class that fulfills the model, before it looks at
    the secrets.
    """
    for seed in range(0, 60, 2):
        for _, classes in searched(seed).values():
            kept = classes.people[~model.violations(classes)]
            if isinstance(model, SensitiveModel) and (kept > 0).any():
                assert kept[kept > 0].min() >= model.min_class_size(
                    classes.secrets[SECRET]
                )


@pytest.mark.parametrize("people", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("distance", ["equal", "hierarchical", "ordered"])
@pytest.mark.proof
def test_what_t_closeness_says_is_lost_is_suppressed_in_all_finer_classes(
    distance: Distance,
    people: bool,
) -> None:
    """Else the search closes a node that suppresses fewer people."""
    lost_at_all = 0
    for seed, t in itertools.product(range(100), (0.2, 0.45)):
        case = table(seed)
        model = TCloseness(column=SECRET, t=t, distance=distance)
        tuples = case.tuples()
        if (tuples.members is not None) != people:
            continue
        counter = Counter(tuples)
        classes = {node: counter.count_classes(node) for node in nodes(case)}
        suppressed = {
            node: each.count_people_in(model.violations(each))
            for node, each in classes.items()
        }
        for node, each in classes.items():
            held = each.upper_histogram(SECRET)
            if held is None:
                continue
            lost = int(
                tuples.fewest_people(
                    model.min_suppressed(each, model.violations(each), held).sum()
                )
            )
            lost_at_all += lost
            finer = itertools.product(*(range(level + 1) for level in node))
            assert lost <= min(suppressed[below] for below in finer)
    assert lost_at_all > 0


@each_model
def test_a_class_without_people_violates_nothing(model: PrivacyModel) -> None:
    """Else a node is refused for people who are not in it."""
    empty = by_rows(1, nodes(case_of(1))[0])
    shifted = Groups(rows=empty.rows, classes=empty.classes + 1)
    judged = model.violations(shifted)
    assert not judged[0] or isinstance(model, DeltaPresence)
    assert (judged[1:] == model.violations(empty)).all()


@each_model
def test_a_plan_keeps_it(model: PrivacyModel) -> None:
    """Else a plan that is loaded again asks for less than the one that was saved."""
    roles = {"q0": "quasi-identifier", SECRET: "sensitive"}
    plan = Plan(
        roles=roles,
        hierarchies={"q0": SECRET_HIERARCHY, SECRET: SECRET_HIERARCHY},
        models=(model, KAnonymity(k=2), KMap(k=2)),
        person="id",
        suppressed="blanked",
    )
    assert Plan.from_json(plan.to_json()) == plan
    assert str(model)
