"""Full-domain search against brute force over the whole lattice."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dpcore.anonymization.fulldomain._grouper import Grouper
from dpcore.anonymization.fulldomain.counter import (
    MAX_EXACT_SUM,
    CodedClasses,
    CountedClasses,
)
from dpcore.anonymization.fulldomain.metrics import Discernibility, InformationLoss
from dpcore.anonymization.fulldomain.search import Solution, find_optimal_node
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import DeltaPresence, KAnonymity, PrivacyModel
from dpcore.errors import InfeasibleError, LimitError, ParameterError
from tests.anonymization.oracle import METRICS, MODELS, Case, cases, evaluate, optimum
from tests.tiers import examples

LIMITS = (0.0, 0.1, 0.35, 1.0)
often = examples(60, suppress_health_check=list(HealthCheck))


def found(
    table: Tuples, models: tuple[PrivacyModel, ...], limit: float, metric: object
) -> Solution | None:
    """The search's answer, None where it says that there is none."""
    try:
        return find_optimal_node(table, models, limit=limit, metric=metric)
    except InfeasibleError:
        return None


@pytest.mark.parametrize("with_people", [False, True])
@pytest.mark.parametrize("with_subset", [False, True])
@often
@given(data=st.data())
def test_search_finds_the_optimum(
    with_subset: bool, with_people: bool, data: st.DataObject
) -> None:
    """Else the search prunes a node that is better, or accepts one that is not
    feasible.

    Every metric is asked about every table: to draw a table takes longer than to search
    it.
    """
    case = data.draw(cases(with_subset=with_subset, with_people=with_people))
    models = tuple(data.draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=2)))
    limit = data.draw(st.sampled_from(LIMITS))
    table = case.tuples()
    for metric in METRICS:
        expected = optimum(case, models, limit, metric)
        answer = found(table, models, limit, metric)
        assert (answer is None) == (expected is None), metric
        if answer is not None and expected is not None:
            assert answer.score == pytest.approx(expected[0], rel=1e-8, abs=1e-8), (
                metric
            )
            assert answer.suppressed_rows in expected[1], metric
            suppressed, blocked = evaluate(case, answer.node, models)
            assert len(suppressed) == answer.suppressed_rows, metric
            assert len(case.whose(suppressed)) == answer.suppressed_people, metric
            assert not blocked, metric


@given(case=cases(with_subset=True), data=st.data())
@examples(30, suppress_health_check=list(HealthCheck))
def test_both_counts_in_one_number(case: Case, data: st.DataObject) -> None:
    """Else rows of the subset are taken for rows of the table, or counts that do not
    fit are lost.
    """
    table = case.tuples()
    node = tuple(
        data.draw(st.integers(0, len(each) - 1)) for each in table.label_counts
    )
    counts = []
    for exact in (MAX_EXACT_SUM, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "dpcore.anonymization.fulldomain.counter.MAX_EXACT_SUM", exact
            )
            coded = CodedClasses(Grouper(table).group_node((0,) * len(node)))
            classes = CountedClasses(coded, node, 1_000)
            assert bool(coded.packing_factor) == bool(exact)
            counts.append((classes.sizes.tolist(), classes.population.tolist()))
    assert counts[0] == counts[1]
    assert sum(counts[0][0]) == sum(case.subset)
    assert sum(counts[0][1]) == len(case.frame)


@often
@given(case=cases(), data=st.data())
def test_order_of_rows_and_columns_changes_nothing(
    case: Case, data: st.DataObject
) -> None:
    """Else the result would depend on how the file happens to be sorted."""
    models = (KAnonymity(k=2), data.draw(st.sampled_from(MODELS)))
    limit = data.draw(st.sampled_from(LIMITS))
    rows = data.draw(st.permutations(range(len(case.frame))))
    names = data.draw(st.permutations(list(case.hierarchies)))
    shuffled = Case(
        case.frame.iloc[rows],
        {name: case.hierarchies[name] for name in names},
        None,
        floor=case.floor,
    )
    before = found(case.tuples(), models, limit, InformationLoss())
    after = found(shuffled.tuples(), models, limit, InformationLoss())
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert after.score == pytest.approx(before.score, abs=1e-12)


def small() -> Tuples:
    """Four people, one column of four values in two groups."""
    groups = Hierarchy(
        values=tuple("abcd"), levels=(tuple("abcd"), ("x", "x", "y", "y"), ("*",) * 4)
    )
    return Tuples.build(pd.DataFrame({"q": list("abcc")}), {"q": groups})


def test_infeasible_limit_names_the_nearest_feasible_one() -> None:
    """Else a person is told no, and not what would be a yes."""
    with pytest.raises(InfeasibleError) as caught:
        find_optimal_node(small(), [KAnonymity(k=5)], limit=0.5)
    assert caught.value.details["nearest_limit"] == 1.0
    assert find_optimal_node(small(), [KAnonymity(k=5)], limit=1.0).suppressed_rows == 4


def test_limit_outside_its_range_is_refused() -> None:
    """Else 2 (meant as 2 %) would allow suppressing everything."""
    with pytest.raises(ParameterError, match="limit"):
        find_optimal_node(small(), [KAnonymity(k=2)], limit=2)


def test_too_large_a_lattice_is_refused_where_the_metric_is_no_sum_over_the_columns() -> (
    None
):
    """Else fifteen quasi-identifiers with deep hierarchies would run for hours."""
    leaves = tuple("abcdefgh")
    deep = Hierarchy(
        values=leaves, levels=(leaves, tuple("aacceegg"), tuple("aaaaeeee"), ("*",) * 8)
    )
    frame = pd.DataFrame({f"q{j}": ["a", "b"] for j in range(15)})
    with pytest.raises(LimitError, match="local recoding"):
        find_optimal_node(
            Tuples.build(frame, dict.fromkeys(frame, deep)),
            [KAnonymity(k=2)],
            metric=Discernibility(),
        )


def test_equal_scores_prefer_the_less_general_node() -> None:
    """Else a tie would generalize for nothing."""
    constant = Hierarchy(values=("a", "b"), levels=(("a", "b"), ("*", "*")))
    table = Tuples.build(
        pd.DataFrame({"q": ["a"] * 6, "r": ["a"] * 6}), {"q": constant, "r": constant}
    )
    for metric in METRICS:
        assert find_optimal_node(
            table, [KAnonymity(k=3)], limit=0.1, metric=metric
        ).node == (0, 0)


def test_search_looks_at_fewer_nodes_than_there_are() -> None:
    """Else nothing is pruned and the search is a full pass in disguise."""
    rng = np.random.default_rng(7)
    leaves = tuple(f"v{i}" for i in range(8))
    labels = (
        leaves,
        tuple(f"p{i // 2}" for i in range(8)),
        tuple(f"q{i // 4}" for i in range(8)),
        ("*",) * 8,
    )
    frame = pd.DataFrame(
        {f"q{j}": rng.choice(leaves, 500, p=np.arange(1, 9) / 36) for j in range(5)}
    )
    table = Tuples.build(
        frame, dict.fromkeys(frame, Hierarchy(values=leaves, levels=labels))
    )
    for limit, metric in itertools.product(
        (0.0, 0.05),
        (InformationLoss(), InformationLoss(mean="arithmetic")),
    ):
        assert (
            find_optimal_node(
                table, [KAnonymity(k=5)], limit=limit, metric=metric
            ).checked_nodes
            < table.lattice.size / 4
        )


def test_discernibility_looks_on_where_halving_found_no_feasible_node() -> None:
    """Else a table is called infeasible because feasibility does not follow the first
    guesses.
    """
    two = ("v0", "v1")
    five = ("v0", "v1", "v2", "v3", "v4")
    grouped = (("g00", "g01", "g00", "g02", "g00"), ("g11", "g10", "g11", "g10", "g11"))
    third = ["v0"] * 6 + ["v1", "v3"]
    case = Case(
        frame=pd.DataFrame({"q0": "v0", "q1": "v0", "q2": third, "secret": "a"}),
        hierarchies={
            "q0": Hierarchy(values=two, levels=(two, ("*", "*"))),
            "q1": Hierarchy(values=two, levels=(two, ("g00", "g00"), ("*", "*"))),
            "q2": Hierarchy(values=five, levels=(five, *grouped, ("*",) * 5)),
        },
        subset=[row in (1, 6) for row in range(8)],
        people=[0, 1, 0, 0, 0, 0, 0, 1],
    )
    models = (DeltaPresence(lowest=0.0, highest=0.6),)
    expected = optimum(case, models, 0.0, Discernibility())
    answer = found(case.tuples(), models, 0.0, Discernibility())
    assert (answer is None) == (expected is None)
