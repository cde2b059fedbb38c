"""Search of lattices that are too large to look through: its bound, and the nodes that
it finds.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from benchmarks.large import blocks, optimum
from dpcore.anonymization._thresholds import max_people_in_share
from dpcore.anonymization.apply import carry_out
from dpcore.anonymization.fulldomain import _bounded as bounded
from dpcore.anonymization.fulldomain import search as searches
from dpcore.anonymization.fulldomain._bounded import BoundedSearch
from dpcore.anonymization.fulldomain._judge import NodeSearch
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.metrics import InformationLoss, SeparableMetric
from dpcore.anonymization.fulldomain.search import find_optimal_node
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import KAnonymity, KMap, PrivacyModel
from dpcore.anonymization.plan import Plan
from dpcore.errors import InfeasibleError, LimitError
from dpcore.evaluation.table.residual_risk import ResidualRiskQuestion
from dpcore.schema.schema import Schema
from dpcore.schema.unit import PrivacyUnit
from dpcore.tables.rows import Microdata
from tests.anonymization import oracle
from tests.anonymization.oracle import METRICS, MODELS, Case, cases, evaluate
from tests.tiers import examples
from workbench.anonymize.document import method_sentences
from workbench.language.wording import percent

SEPARABLE = METRICS[:3]
often = examples(15, suppress_health_check=list(HealthCheck))


@often
@given(data=st.data(), with_people=st.booleans())
def test_small_lattices_are_decided_to_the_end(
    data: st.DataObject, with_people: bool
) -> None:
    """Else a node is called closed that is not, and the best one is never seen."""
    case = data.draw(cases(with_subset=True, with_people=with_people))
    models = tuple(data.draw(st.lists(st.sampled_from(MODELS), min_size=1, max_size=2)))
    limit = data.draw(st.sampled_from((0.0, 0.1, 0.35)))
    metric = data.draw(st.sampled_from(SEPARABLE))
    expected = oracle.optimum(case, models, limit, metric)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searches, "MAX_NODES", 0)
        patch.setattr(
            bounded, "MAX_PROJECTIONS", data.draw(st.sampled_from((1, 6, 300)))
        )
        answer = None
        with suppress(InfeasibleError):
            answer = find_optimal_node(
                case.tuples(), models, limit=limit, metric=metric
            )
    assert (answer is None) == (expected is None)
    if answer is not None and expected is not None:
        assert answer.score * (1 - answer.gap) <= expected[0] * (1 + 1e-6) + 1e-9
        assert answer.score <= expected[0] * (1 + 2e-4) + 1e-9
        suppressed, blocked = evaluate(case, answer.node, models)
        assert (len(suppressed), blocked) == (answer.suppressed_rows, False)
        assert len(case.whose(suppressed)) == answer.suppressed_people


Found = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def check_projections(
    case: Case, models: tuple[PrivacyModel, ...], metric: SeparableMetric, found: Found
) -> None:
    """Compare what the projections of each node add up to with what the node suppresses
    and loses.
    """
    levels, lost, rows, closed = found
    shape = [hierarchy.height + 1 for hierarchy in case.hierarchies.values()]
    for node in itertools.product(*map(range, shape)):
        suppressed, _ = evaluate(case, node, models)
        here = ((levels == -1) | (levels == node)).all(axis=1)
        if (closed >= node).all(axis=1).any():
            assert len(case.whose(suppressed)) > ALLOWED * len(case.whose(shown(case)))
            continue
        if len(case.whose(suppressed)) <= ALLOWED * len(case.whose(shown(case))):
            # no group is without the levels of a feasible node
            assert (levels[here] >= 0).any(axis=0).all()
        assert rows[here].sum() <= len(suppressed)
        least = float(metric.scores_from_sums(lost[here].sum()))
        assert least <= oracle.score(case, node, suppressed, metric) * (1 + 1e-9) + 1e-9


ALLOWED = 0.35


def shown(case: Case) -> list[int]:
    """The rows to be published."""
    return [row for row, flag in enumerate(case.flags) if flag]


@often
@given(data=st.data(), with_people=st.booleans())
def test_projections_suppress_and_lose_no_more_than_nodes(
    data: st.DataObject, with_people: bool
) -> None:
    """Else a bound is above the optimum, and a table is called nearer to the best than
    it is.
    """
    case = data.draw(cases(with_subset=True, with_people=with_people))
    models = (
        data.draw(st.sampled_from([KAnonymity(k=2), KAnonymity(k=4), KMap(k=3)])),
    )
    metric = data.draw(st.sampled_from(SEPARABLE))
    table = case.tuples()
    judge = NodeSearch(
        table, models, max_people_in_share(ALLOWED, table.people), metric
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded, "MAX_PROJECTIONS", data.draw(st.sampled_from((1, 6))))
        found = bounded.measure_projections(judge, metric)
    check_projections(case, models, metric, found)


@pytest.mark.parametrize("fault", ["rows", "lost"])
def test_projections_that_count_too_much_are_seen(fault: str) -> None:
    """Else the test above passes whatever the projections say."""
    flat = Hierarchy(values=("a", "b"), levels=(("a", "b"), ("*", "*")))
    frame = pd.DataFrame(
        {"q0": list("aaaaab"), "q1": list("aaaaaa"), "secret": list("aaaaaa")}
    )
    case = Case(frame, {"q0": flat, "q1": flat}, None)
    models = (KAnonymity(k=2),)
    metric = InformationLoss()
    judge = NodeSearch(case.tuples(), models, 2, metric)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded, "MAX_PROJECTIONS", 1)
        levels, lost, rows, closed = bounded.measure_projections(judge, metric)
    assert rows.sum() == 1
    check_projections(case, models, metric, (levels, lost, rows, closed))
    more = (
        (levels, lost, 2 * rows, closed)
        if fault == "rows"
        else (levels, 1.01 * lost, rows, closed)
    )
    with pytest.raises(AssertionError):
        check_projections(case, models, metric, more)


@lru_cache
def made(
    mean: str, seed: int, limit: float
) -> tuple[pd.DataFrame, dict[str, Hierarchy], float]:
    """A table of 20 columns, and its optimum."""
    frame, trees = blocks(2_000, seed=seed)
    return frame, trees, optimum(frame, trees, 5, mean, limit)


def asked(
    mean: str,
    seed: int,
    limit: float = 0.0,
    most: int = bounded.MAX_WORK,
) -> tuple[float, float, float]:
    """The score that a search finds, what it says others score at least, and the
    optimum: 1.1e12 nodes.
    """
    frame, trees, known = made(mean, seed, limit)
    table, metric = Tuples.build(frame, trees), InformationLoss(mean=mean)  # type: ignore[arg-type]
    assert table.keys.dtype == object
    assert table.lattice.size == 4**20
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded, "MAX_WORK", most)
        found = find_optimal_node(table, [KAnonymity(k=5)], limit=limit, metric=metric)
    return found.score, found.score * (1 - found.gap), known


@pytest.mark.parametrize("combinations", [1, 300])
@pytest.mark.parametrize(("mean", "seed"), [("geometric", 1), ("arithmetic", 2)])
def test_twenty_columns_of_a_known_optimum(
    mean: str,
    seed: int,
    combinations: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else more columns than can be looked through lose more than they must."""
    monkeypatch.setattr(bounded, "MAX_PROJECTIONS", combinations)
    score, least, known = asked(mean, seed)
    assert least <= known * (1 + 1e-6)
    assert score == pytest.approx(known, rel=2e-4)


@pytest.mark.parametrize("mean", ["geometric", "arithmetic"])
def test_twenty_columns_of_which_few_rows_may_be_suppressed(mean: str) -> None:
    """Else with a suppression limit all that is known of a table is that it could be
    far better.
    """
    score, least, known = asked(mean, 1, 0.02, most=20_000_000)
    assert least <= known * (1 + 1e-6)
    assert score <= 1.02 * known
    assert least >= 0.9 * score


def test_a_bound_by_rows_that_are_counted_twice_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the test above passes with a bound that is above the optimum."""
    projections = bounded.measure_projections

    def twice(*given: Any) -> Found:
        levels, lost, rows, closed = projections(*given)
        return levels, lost, 2 * rows, closed

    monkeypatch.setattr(bounded, "measure_projections", twice)
    with pytest.raises(AssertionError):
        test_twenty_columns_of_which_few_rows_may_be_suppressed("arithmetic")


def test_a_search_that_ends_early_says_how_far_it_may_be_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a person takes what was found in a minute for the best there is."""
    monkeypatch.setattr(bounded, "MAX_PROJECTIONS", 1)
    score, least, known = asked("geometric", 1, most=3_000_000)
    assert least <= known * (1 + 1e-6)
    assert score > 1.01 * known


def test_the_plan_and_the_report_to_sign_say_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the gap is on the page alone, and gone once the table is made by its
    plan.
    """
    monkeypatch.setattr(bounded, "MAX_WORK", 3_000_000)
    monkeypatch.setattr(bounded, "MAX_PROJECTIONS", 1)
    frame, trees, _ = made("geometric", 1, 0.0)
    plan = Plan(
        roles=dict.fromkeys(trees, "quasi-identifier"),
        hierarchies=trees,
        models=(KAnonymity(k=5),),
    )
    chosen = carry_out(frame, plan).plan
    assert chosen.gap > 0.01
    again = Plan.from_json(chosen.to_json())
    assert again.gap == chosen.gap
    report = ResidualRiskQuestion(plan=again).compute(
        Microdata(frame),
        Schema(columns=(), unit=PrivacyUnit(max_rows=1)),
    )
    assert f"by more than {percent(chosen.gap)}" in " ".join(method_sentences(report))
    # of levels that somebody chose, nothing is known
    assert again.with_node({**chosen.node}).gap == 0


def test_a_rule_that_closes_too_much_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above pass whatever the bound is."""
    close = BoundedSearch._extend_closed_node

    def too_much(self: BoundedSearch, node: Node) -> Node:
        closed = np.array(close(self, node))
        raised = np.minimum(closed + 1, np.array(self.top) - 1).clip(min=closed)
        self.rules[-1] = self.level > raised[self.column]
        return tuple(closed.tolist())

    monkeypatch.setattr(BoundedSearch, "_extend_closed_node", too_much)
    with pytest.raises(AssertionError):
        test_twenty_columns_of_a_known_optimum("geometric", 1, 1, monkeypatch)


def test_what_no_levels_meet_is_said_of_a_large_lattice_too() -> None:
    """Else a person waits for a minute, or hears that there are too many columns."""
    names = tuple("ab")
    flat = Hierarchy(values=names, levels=(names, ("*", "*")))
    frame = pd.DataFrame({f"q{place}": list("abab") for place in range(22)})
    table = Tuples.build(frame, dict.fromkeys(frame, flat))
    with pytest.raises(InfeasibleError) as caught:
        find_optimal_node(table, [KAnonymity(k=5)], limit=0.5)
    assert caught.value.details["nearest_limit"] == 1.0
    assert find_optimal_node(table, [KAnonymity(k=2)]).node == (0,) * 22


def test_no_work_left_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nothing found is taken for nothing there."""
    monkeypatch.setattr(bounded, "MAX_WORK", 0)
    frame, trees = blocks(1_000)
    with pytest.raises(LimitError, match="fewer quasi-identifiers"):
        find_optimal_node(Tuples.build(frame, trees), [KAnonymity(k=5)])
