"""Proposals for a table that does not fit are made from its distinct tuples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.anonymization.models import DistinctL, KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.engines import base
from dpcore.evaluation.table.proposals import (
    FrontierQuestion,
    HierarchiesQuestion,
    SearchSizeQuestion,
)
from dpcore.evaluation.table.trial import TrialQuestion
from tests.contracts.engine_kinds import parquet_engine

COLUMNS = ("town", "age", "job")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "town": random.choice(list("abcd"), 400, p=[0.6, 0.2, 0.1, 0.1]),
            "age": random.integers(20, 60, 400),
            "job": random.choice(["clerk", "cook", "nurse"], 400),
        },
    )


@pytest.fixture
def curators(
    frame: pd.DataFrame,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[dp.Curator, dp.Curator]:
    """One that has the rows, and one of the same rows, which do not fit there."""
    path = tmp_path_factory.mktemp("parts") / "people.parquet"
    frame.to_parquet(path)
    schema = dp.Schema(
        columns=(
            dp.Categorical("town", categories=tuple("abcd")),
            dp.Integer("age", low=0, high=99),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 399)
    ledger = dp.MemoryLedger()
    budget = dp.PureDP(epsilon=1)
    there = dp.Curator.open(
        parquet_engine(path, schema, key=ledger.key),
        schema,
        budget=budget,
        ledger=ledger,
        identity="there",
    )
    here = dp.Curator.open(frame, schema, budget=budget, ledger=ledger)
    return here, there


def test_hierarchies_size_and_frontier_are_those_of_the_rows(
    curators: tuple[dp.Curator, dp.Curator],
) -> None:
    """Else a connected source gets no search, or other answers than the same rows in
    memory.
    """
    here, there = curators
    asked = HierarchiesQuestion(columns=COLUMNS[:2])
    proposed = [curator.evaluate(asked).content for curator in (here, there)]
    assert proposed[0] == proposed[1]
    plan = Plan(
        roles=dict(
            zip(
                COLUMNS,
                ("quasi-identifier", "quasi-identifier", "sensitive"),
                strict=True,
            )
        ),
        hierarchies=proposed[0],
        models=(KAnonymity(k=2), DistinctL(column="job", l=2)),
    )
    assert (
        len(
            {
                curator.evaluate(SearchSizeQuestion(plan=plan)).content.nodes
                for curator in (here, there)
            }
        )
        == 1
    )
    told: list[float] = []
    for limits in ((0.0, 0.05), (0.05,)):
        question = FrontierQuestion(plan=plan, ks=(2, 5, 500), limits=limits)
        points = [
            curator.evaluate(question, lambda stage, share: told.append(share)).content
            for curator in (here, there)
        ]
        assert points[0] == points[1]
        assert len(points[0]) == 2 * len(limits)
    assert told
    with pytest.raises(dp.LimitError, match="399"):
        there.evaluate(
            FrontierQuestion(plan=Plan(**{**vars(plan), "method": "mondrian"}), ks=(2,))
        )


def test_what_progress_raises_ends_a_trial_and_an_anonymization(
    curators: tuple[dp.Curator, dp.Curator],
) -> None:
    """Else nobody can stop what takes minutes, once it began through the curator."""

    class StoppedError(Exception):
        pass

    def stop(stage: str, share: float) -> None:
        raise StoppedError

    here, _ = curators
    plan = Plan(
        roles=dict(
            zip(
                COLUMNS,
                ("quasi-identifier", "quasi-identifier", "insensitive"),
                strict=True,
            )
        ),
        hierarchies=here.evaluate(HierarchiesQuestion(columns=COLUMNS[:2])).content,
        models=(KAnonymity(k=2),),
    )
    for started in (
        lambda: here.evaluate(TrialQuestion(plan=plan), stop),
        lambda: here.anonymize(plan, stop),
    ):
        with pytest.raises(StoppedError):
            started()
