"""Intervals of a test on counts, by the script of docs/guarantees.md, hold the truth as
often as it says.
"""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcore as dp
from benchmarks.coverage import population, textbook
from dpcore.io.export import to_csv
from dpcore.tables.rows import PublicTable
from tests.architecture.modules import ROOT
from tests.statistical.laws import at_least
from workbench.report.downloads import guarantee_json

COLUMNS = ("age", "smokes", "ill")
RUNS = 200
PEOPLE = 3_000
(SCRIPT,) = re.findall(
    r"```python\n(.*?)```",
    (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8"),
    re.DOTALL,
)
LIES = SCRIPT.replace("n + s**2", "n")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """(runs, 2) intervals that hold the coefficients of age and smoking, by each
    script.
    """
    folder: Path = tmp_path_factory.mktemp("counts")
    ranges = ((20, 79), (0, 1), (0, 1))
    columns = tuple(
        dp.Integer(name, low=low, high=high)
        for name, (low, high) in zip(COLUMNS, ranges, strict=True)
    )
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    loss = dp.ApproxDP(epsilon=1, delta="1/1000000000")
    right = textbook(population(np.random.default_rng(0), 1_000_000))
    truth = np.array(
        [right["coefficient of age"][0], right["coefficient of smoking"][0]]
    )
    held: dict[str, list[np.ndarray]] = {SCRIPT: [], LIES: []}
    for run in range(RUNS):
        people = population(np.random.default_rng(1 + run), PEOPLE)[list(COLUMNS)]
        curator = dp.Curator.open(people, schema, budget=loss, ledger=dp.MemoryLedger())
        release = curator.run(dp.Joint(COLUMNS), loss)
        (folder / "counts.csv").write_bytes(to_csv(PublicTable(release.table(COLUMNS))))
        (folder / "guarantee.json").write_text(
            guarantee_json(release), encoding="utf-8"
        )
        assert json.loads(guarantee_json(release))["marginals"][0]["columns"] == list(
            COLUMNS
        )
        for script, each in held.items():
            names: dict[str, Any] = {"print": lambda *said: None}
            # Noise makes an estimated variance negative now and then: no interval then,
            # which counts as a miss.
            with contextlib.chdir(folder), np.errstate(invalid="ignore"):
                exec(script, names)
            each.append(np.abs(names["beta"][1:] - truth) <= 1.96 * names["errors"][1:])
    return {script: np.array(each) for script, each in held.items()}


def test_intervals_by_counts_hold(found: dict[str, np.ndarray]) -> None:
    """Whoever tests a hypothesis as the document says would be wrong more often than 5
    times in 100.
    """
    for hits in found[SCRIPT].sum(axis=0):
        assert at_least(int(hits), RUNS, 0.95)


def test_intervals_without_the_noise_are_rejected(found: dict[str, np.ndarray]) -> None:
    """The test above would believe the errors that a textbook gives."""
    for hits in found[LIES].sum(axis=0):
        assert not at_least(int(hits), RUNS, 0.95)
