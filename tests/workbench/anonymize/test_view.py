"""What leaves with an anonymized table."""

from __future__ import annotations

from unittest.mock import MagicMock

import pandas as pd
import pytest

import dpcore as dp
from dpcore.evaluation.table.proposals import HierarchiesQuestion, default_plan
from workbench.anonymize import view
from workbench.ui import file_view


def test_no_download_of_the_table_lists_the_original_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The birth date of somebody who was suppressed was in the footer of the Parquet
    file.
    """
    frame = pd.DataFrame(
        {"birth": ["1980-01-01"] * 99 + ["1931-07-19"], "sex": ["F", "M"] * 50}
    )
    schema = dp.Schema(
        columns=(dp.Categorical("sex", categories=("F", "M")),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    hierarchies = curator.evaluate(HierarchiesQuestion(columns=("birth",))).content
    roles = {"birth": "quasi-identifier", "sex": "insensitive"}
    made = curator.anonymize(default_plan(roles, hierarchies, k=5, limit=0.05))
    assert "1931-07-19" in made.plan
    download = MagicMock()
    monkeypatch.setattr(view, "st", MagicMock())
    monkeypatch.setattr(file_view, "download", download)
    view.show_table("people.csv", made, [])
    downloads = {call.args[0]: call.args[1] for call in download.call_args_list}
    for name in ("CSV", "Parquet"):
        assert b"1931-07-19" not in downloads[name]()
    assert any(
        "internal" in name
        for name, content in downloads.items()
        if content == made.plan
    )
