"""How far a search says that it is."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.anonymization.fulldomain._grouper import Grouper
from dpcore.anonymization.fulldomain.metrics import AverageClassSize
from dpcore.anonymization.fulldomain.search import find_optimal_node
from dpcore.anonymization.fulldomain.size import (
    MAX_NODES_PER_REPORT,
    estimate_memory,
    nodes_per_report,
    walk_with_progress,
)
from dpcore.anonymization.fulldomain.tuples import Tuples, cumulative_from_zero
from dpcore.anonymization.hierarchies.builders import build_flat, build_intervals
from dpcore.anonymization.models import KAnonymity


def test_the_time_left_follows_from_the_share_towards_the_end() -> None:
    """The share was that of a logarithm: at half of the bar a search had often just
    begun.
    """
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            f"q{place}": (random.pareto(1.5, 3_000) * 9).astype(int) % 40
            for place in range(5)
        },
    )
    trees = {name: build_intervals(frame[name], widths=[2, 4, 8, 16]) for name in frame}
    shares: list[float] = []
    find_optimal_node(
        Tuples.build(frame, trees),
        [KAnonymity(k=5)],
        limit=0.1,
        metric=AverageClassSize(),
        on_progress=lambda stage, share: shares.append(share),
    )
    looks = MAX_NODES_PER_REPORT * np.arange(len(shares)) + 1
    assert len(shares) > 20
    assert all(0 < share <= 1 for share in shares)
    predicted = (looks / shares)[-len(shares) // 4 :] / looks[-1]
    assert 0.5 < predicted.min() <= predicted.max() < 2


def test_memory_is_counted_from_nodes_tuples_and_labels() -> None:
    """A forecast that left out the labels would promise a tenth of what a search
    takes.
    """
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": list("xyxy")})
    table = Tuples.build(
        frame, {"a": build_flat(frame["a"]), "b": build_flat(frame["b"])}
    )
    assert (
        estimate_memory(table)
        == 1_500_000 + 4 * 50 + 4 * 96 + 4 * (2 + 2) * 4 + 4 * (2 + 2) * 4
    )


def test_the_share_of_a_pass_is_that_of_its_tuples() -> None:
    """The share was that of the nodes: the finest come first, and the time left was
    said five times too long.
    """
    random = np.random.default_rng(5)
    frame = pd.DataFrame(
        {f"q{place}": random.integers(0, 24, 4_000) for place in range(4)}
    )
    trees = {name: build_intervals(frame[name], widths=[2, 4, 8]) for name in frame}
    table = Tuples.build(frame, trees)
    reached = cumulative_from_zero(
        np.array([len(classes.keys) for classes in Grouper(table).walk()])
    )
    shares: list[float] = []
    for _ in walk_with_progress(
        Grouper(table), "walking", lambda stage, share: shares.append(share)
    ):
        pass
    done = reached[: table.lattice.size : MAX_NODES_PER_REPORT] / reached[-1]
    at = np.linspace(0, 1, len(done), endpoint=False)
    assert max(done[1:] / at[1:]) > 2, "nodes would do"
    assert 0.5 < min(shares[3:] / done[3:]) <= max(shares[3:] / done[3:]) < 2


def test_progress_is_told_more_often_where_nodes_take_longer() -> None:
    """Else Stop is heard seconds later on a large table."""
    many = pd.DataFrame({"a": np.arange(60_000)})
    assert nodes_per_report(Tuples.build(many, {"a": build_flat(many["a"])})) == 8
    few = many.head(9)
    assert (
        nodes_per_report(Tuples.build(few, {"a": build_flat(few["a"])}))
        == MAX_NODES_PER_REPORT
    )


def test_people_take_memory_before_they_are_folded() -> None:
    """A forecast from tuples alone was half of what the rows of 10,000 people took."""
    frame = pd.DataFrame({"a": np.arange(9_000) % 7, "person": np.arange(9_000) // 3})
    table = Tuples.build(frame, {"a": build_flat(frame["a"])}, person="person")
    assert table.members is not None
    assert (
        estimate_memory(table)
        == 1_500_000 + 700 * len(table.members.person)
        == 1_500_000 + 700 * 9_000
    )
