"""Every row of the ARX reference table: the optimal score to 1e-8, its node, the
suppressed rows.

Each model of a setup is answered by a frontier, of which those over the same tuples are
filled in one walk, and a sample of rows by the single search. Rows with tied optima are
compared by score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.arx import METRICS, SETUPS, Adult, models_of, reference
from dpcore.anonymization.fulldomain import frontier as frontiers
from dpcore.anonymization.fulldomain._grouper import Classes, Grouper
from dpcore.anonymization.fulldomain.frontier import Frontier, FrontierPoint
from dpcore.anonymization.fulldomain.search import Solution, find_optimal_node
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.models import (
    DeltaPresence,
    KAnonymity,
    KMap,
    PrivacyModel,
    SensitiveModel,
)

pytestmark = pytest.mark.shared


KINDS = SensitiveModel, KMap | DeltaPresence
"""What models ask of the tuples: sensitive values, or a subset."""
Build = Callable[[str, Sequence[PrivacyModel]], Tuples]


@pytest.fixture(scope="module")
def tuples_for(shared: Path) -> Build:
    """Builds the tuples of the Adult table with ARX's hierarchies, once for all models
    of the same kinds.
    """
    adult = Adult.read(shared / "data" / "arx")
    built: dict[tuple[str, bool, bool], Tuples] = {}

    def build(setup: str, models: Sequence[PrivacyModel]) -> Tuples:
        kinds = (
            setup,
            *(any(isinstance(model, kind) for model in models) for kind in KINDS),
        )
        if kinds not in built:
            built[kinds] = adult.tuples(setup, list(models))
        return built[kinds]

    return build


def check(row: Any, answer: FrontierPoint | Solution | None) -> None:
    """Compare one answer with its reference row."""
    assert answer is not None
    assert answer.score == pytest.approx(row.score, rel=1e-8, abs=1e-8), row
    if row.tied_optima == 1:
        assert "-".join(map(str, answer.node)) == row.node
        assert answer.suppressed_rows == row.suppressed_model, row


@pytest.mark.proof
@pytest.mark.parametrize("setup", SETUPS)
def test_every_row_by_frontier(
    shared: Path,
    tuples_for: Build,
    setup: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else some k, limit, metric or model gives another optimum than ARX and the
    exhaustive search.
    """
    rows = reference(shared / "reference" / "arx_adult.csv").query("setup == @setup")
    assert len(rows) > 50
    # all of them take part in one walk below
    monkeypatch.setattr(frontiers, "walk_with_progress", lambda *_: ())
    monkeypatch.setattr(Classes, "histogram", lru_cache(maxsize=1)(Classes.histogram))
    asked: dict[Tuples, list[tuple[Frontier, Any]]] = defaultdict(list)
    for others, group in rows.groupby("others"):
        models = models_of(others)
        table = tuples_for(setup, models)
        asked[table].append((Frontier(table, group["k"].unique(), models), group))
    for table, questions in asked.items():
        grouper = Grouper(table)
        for classes in grouper.walk():
            for frontier, _ in questions:
                frontier._add_node(classes)
        for frontier, group in questions:
            for row in group.itertuples():
                check(
                    row,
                    frontier.find_best(
                        row.k, row.suppression_limit, METRICS[row.metric]
                    ),
                )


@pytest.mark.proof
def test_a_sample_by_search(shared: Path, tuples_for: Build) -> None:
    """Else pruning loses an optimum on a real table that small random tables do not
    show.
    """
    rows = reference(shared / "reference" / "arx_adult.csv").query(
        "suppression_limit < 1"
    )
    for row in rows.iloc[::9].itertuples():
        models = models_of(row.others)
        table = tuples_for(row.setup, models)
        question = [KAnonymity(k=row.k), *models]
        check(
            row,
            find_optimal_node(
                table, question, limit=row.suppression_limit, metric=METRICS[row.metric]
            ),
        )
