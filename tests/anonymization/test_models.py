"""The contract of every privacy model, and each against its textbook definition."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given

from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.fulldomain._grouper import Grouper
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.models import (
    DeltaPresence,
    DistinctL,
    EntropyL,
    KAnonymity,
    KMap,
    RecursiveCL,
)
from dpcore.errors import ParameterError
from tests.anonymization.oracle import (
    MODELS,
    SECRET,
    SECRET_HIERARCHY,
    Case,
    cases,
    classes_at,
    holds,
)
from tests.tiers import examples

often = examples(30, suppress_health_check=list(HealthCheck))
"""Every model is asked about every table: to draw a table takes longer than to judge
its classes.
"""


def tuples_of(case: Case) -> Tuples:
    """The tuples of a case, with its sensitive column and subset."""
    return Tuples.build(
        case.frame,
        case.hierarchies,
        sensitive={SECRET: SECRET_HIERARCHY},
        subset=np.array(case.subset),
    )


@often
@given(case=cases(with_subset=True))
def test_a_class_is_judged_as_in_the_textbook(case: Case) -> None:
    """Else a class is published that the model forbids, or suppressed for nothing."""
    table = tuples_of(case)
    flags = case.flags
    for classes in Grouper(table).walk():
        groups = classes_at(case, classes.node).values()
        for model in MODELS:
            marked = classes.sizes[model.violations(classes)].sum()
            wrong = [rows for rows in groups if not holds(model, case, rows)]
            assert marked == sum(flags[row] for rows in wrong for row in rows), model


def coarser(table: Tuples) -> Iterator[tuple[Node, Node]]:
    """Every node with each of those right above it."""
    for node in itertools.product(*map(range, table.lattice.shape)):
        for column, level in enumerate(node):
            if level < table.lattice.top[column]:
                yield node, (*node[:column], level + 1, *node[column + 1 :])


@often
@given(case=cases(with_subset=True))
def test_without_suppression_it_is_monotone(case: Case) -> None:
    """Else the search at limit 0 closes nodes that are feasible."""
    table = tuples_of(case)
    walked = list(Grouper(table).walk())
    for model in MODELS:
        # rounding decides classes exactly at the threshold, as in ARX
        if isinstance(model, EntropyL):
            model = EntropyL(column=model.column, l=model.l + 0.01)
        feasible = {
            classes.node: not model.violations(classes).any() for classes in walked
        }
        assert all(
            feasible[above] or not feasible[node] for node, above in coarser(table)
        ), model


@often
@given(case=cases(with_subset=True))
def test_relaxation_is_weaker_and_monotone_with_suppression(case: Case) -> None:
    """Else the search prunes a node by a bound that does not hold."""
    table = tuples_of(case)
    walked = list(Grouper(table).walk())
    for model in MODELS:
        relaxation = model.relaxation
        if relaxation is None:
            assert not model.monotone, model
            continue
        assert relaxation.monotone
        assert not model.monotone or relaxation == model
        rows = {}
        for classes in walked:
            weaker = relaxation.violations(classes)
            assert not (weaker & ~model.violations(classes)).any(), model
            rows[classes.node] = classes.sizes[weaker].sum()
        assert all(rows[above] <= rows[node] for node, above in coarser(table)), model


def test_some_models_are_not_monotone_with_suppression() -> None:
    """Else a search may prune by entropy-l or t, which the reference table refutes."""
    monotone = {type(model).__name__ for model in MODELS if model.monotone}
    assert monotone == {"KAnonymity", "KMap", "DistinctL"}


def test_delta_presence_binds_classes_that_are_not_published() -> None:
    """Else people who are surely absent from the subset go unnoticed."""
    case = Case(
        pd.DataFrame({"q0": ["a", "b"], SECRET: ["a", "a"]}),
        {"q0": SECRET_HIERARCHY},
        [True, False],
    )
    classes = Grouper(tuples_of(case)).group_node((0,))
    assert DeltaPresence(lowest=0.1, highest=1.0).violations(classes).tolist() == [
        False,
        True,
    ]
    assert DeltaPresence(lowest=0.0, highest=1.0).violations(classes).tolist() == [
        False,
        False,
    ]
    for model in MODELS:
        assert isinstance(model, DeltaPresence) or not model.violations(classes)[1]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: KAnonymity(k=0), "k"),
        (lambda: KMap(k=0), "k"),
        (lambda: DeltaPresence(lowest=0.5, highest=0.2), "bounds"),
        (lambda: DistinctL(column="s", l=0), "l"),
        (lambda: EntropyL(column="s", l=0.5), "l"),
        (lambda: RecursiveCL(column="s", c=0, l=2), "c"),
        (lambda: RecursiveCL(column="s", c=1, l=0), "l"),
        (lambda: TCloseness(column="s", t=1.5), "t"),
        (lambda: TCloseness(column="s", t=float("nan")), "t"),
    ],
)
def test_parameters_out_of_range_are_refused(make: object, name: str) -> None:
    """Else a model that promises nothing looks like one that holds."""
    with pytest.raises(ParameterError, match=f"^(the )?{name} "):
        make()  # type: ignore[operator]


def test_hierarchical_distance_needs_a_hierarchy() -> None:
    """Else a missing hierarchy would fail without saying what is missing."""
    table = Tuples.build(
        pd.DataFrame({"q0": ["a"], "s": [1]}), {"q0": SECRET_HIERARCHY}, sensitive=["s"]
    )
    with pytest.raises(ParameterError, match="hierarchy"):
        TCloseness(column="s", t=0.1, distance="hierarchical").violations(
            Grouper(table).group_node((0,))
        )


def test_ordered_distance_follows_the_numbers() -> None:
    """Else 9 and 10 would be far apart because their texts are."""
    frame = pd.DataFrame({"q0": list("aabb"), "s": [9, 10, 9, 100]})
    table = Tuples.build(frame, {"q0": SECRET_HIERARCHY}, sensitive=["s"])
    assert table.secrets["s"].values == ("9", "10", "100")
