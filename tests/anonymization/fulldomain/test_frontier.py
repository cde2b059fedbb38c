"""The frontier gives, for every k, limit and metric, what the single search gives."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcore.anonymization.fulldomain.frontier import Frontier
from dpcore.anonymization.fulldomain.search import find_optimal_node
from dpcore.anonymization.fulldomain.size import measure_pass, predict_pass
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import KAnonymity
from dpcore.errors import LimitError
from tests.anonymization.oracle import METRICS, MODELS, Case, cases, optimum

often = settings(
    max_examples=10, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize("with_people", [False, True])
@pytest.mark.parametrize("with_subset", [False, True])
@often
@given(data=st.data())
def test_every_point_is_the_optimum(
    with_subset: bool, with_people: bool, data: st.DataObject
) -> None:
    """Else a point on the chart is not what the person could have."""
    case: Case = data.draw(cases(with_subset=with_subset, with_people=with_people))
    models = tuple(data.draw(st.lists(st.sampled_from(MODELS), max_size=1)))
    frontier = Frontier(case.tuples(), (4, 1, 2), models)
    for k, limit, metric in itertools.product((1, 2, 4), (0.0, 0.2, 1.0), METRICS):
        expected = optimum(case, (KAnonymity(k=k), *models), limit, metric)
        point = frontier.find_best(k, limit, metric)
        assert (point is None) == (expected is None)
        if point is not None and expected is not None:
            assert point.score == pytest.approx(expected[0], rel=1e-8, abs=1e-8)
            assert point.suppressed_rows in expected[1]


def table_of_people() -> Tuples:
    """A hundred people, two columns of eight values in three levels."""
    rng = np.random.default_rng(5)
    leaves = tuple(f"v{i}" for i in range(8))
    levels = (leaves, tuple(f"p{i // 2}" for i in range(8)), ("*",) * 8)
    frame = pd.DataFrame({name: rng.choice(leaves, 100) for name in ("q", "r")})
    return Tuples.build(
        frame, dict.fromkeys(frame, Hierarchy(values=leaves, levels=levels))
    )


def test_points_cover_the_whole_grid_and_never_get_worse_with_the_limit() -> None:
    """Else a looser limit would look like a worse choice."""
    points = Frontier(table_of_people(), (2, 5)).find_points((0.0, 0.05, 1.0), METRICS)
    assert len(points) == 2 * 3 * len(METRICS)
    assert all(type(level) is int for point in points for level in point.node)
    for strict, loose in itertools.pairwise(points):
        if (strict.k, strict.metric) == (loose.k, loose.metric):
            assert loose.score <= strict.score


def test_progress_is_told() -> None:
    """Else a page can show nothing while a long pass runs."""
    shares: list[float] = []
    Frontier(
        table_of_people(), (2,), on_progress=lambda stage, share: shares.append(share)
    )
    assert shares[0] == 0.0
    assert shares == sorted(shares)


def test_size_is_predicted_and_refused_above_the_bound() -> None:
    """Else fifteen quasi-identifiers freeze the page."""
    leaves = tuple("abcdefgh")
    deep = Hierarchy(
        values=leaves, levels=(leaves, tuple("aacceegg"), tuple("aaaaeeee"), ("*",) * 8)
    )
    assert predict_pass([deep] * 3, 1_000).nodes == 64
    assert predict_pass([deep] * 3, 1_000).seconds < 1
    prediction = predict_pass([deep] * 15, 10_000)
    assert prediction.nodes == 4**15
    assert not prediction.is_feasible
    frame = pd.DataFrame({f"q{j}": ["a", "b"] for j in range(15)})
    with pytest.raises(LimitError, match="local recoding") as caught:
        Frontier(Tuples.build(frame, dict.fromkeys(frame, deep)), (2,))
    assert caught.value.details["nodes"] == 4**15


def test_what_progress_raises_ends_the_pass_and_the_search() -> None:
    """Else nobody can stop a long job."""

    def stop(stage: str, share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Frontier(table_of_people(), (2,), on_progress=stop)
    with pytest.raises(KeyboardInterrupt):
        find_optimal_node(table_of_people(), [KAnonymity(k=2)], on_progress=stop)


def test_a_pass_is_predicted_from_some_of_its_nodes() -> None:
    """Else a page says seconds for what takes minutes, or refuses what is quick."""
    table = table_of_people()
    prediction = measure_pass(table, [KAnonymity(k=2)])
    assert prediction.nodes == table.lattice.size
    assert 0 < prediction.seconds < 60
    assert prediction.search_seconds(0.02) == (
        0.15 * prediction.seconds,
        0.45 * prediction.seconds,
    )
    assert prediction.search_seconds(0.3)[1] > prediction.seconds, (
        "where all may be suppressed little is closed"
    )
    assert (
        prediction.reference_seconds
        == measure_pass(table, [KAnonymity(k=2)]).reference_seconds
        > 0
    ), "what is suggested would change"
