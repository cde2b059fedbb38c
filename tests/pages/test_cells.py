"""Cells of numbers that are found privately when a table is opened: asked, charged and
said, once.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.loss import UNIT
from tests.pages.tab import CSV, RULE, Tab
from tests.truth import reports

LARGE = pd.DataFrame(
    {
        "pay": 1_000 + (np.arange(12_000) * 7919) % 4_001,
        "score": np.arange(12_000) % 5 + 1,
        "sex": np.tile(["F", "M"], 6_000),
    },
)


def toggle(app: Tab):
    (found,) = [each for each in app.at.toggle if "found privately" in each.label]
    return found


def test_cells_are_found_privately_charged_once_and_said(new_tab):
    """Bounds of a table would be read from it in silence, or be paid again by a second
    tab.
    """
    content = LARGE.to_csv(index=False).encode()
    app = new_tab().go("upload").upload(content).set("radio", RULE, "basic")
    assert toggle(app).value
    assert (
        "Found privately, for another epsilon 0.05: the cells of pay, score" in app.text
    )
    taken = next(
        each.value for each in app.at.warning if "Taken from this table" in each.value
    )
    assert ("pay" in taken, "sex" in taken) == (False, True)
    assert "These bounds come from this table" not in app.text
    app.press("Open the data set")
    assert app.errors == ""
    assert app.curator.balance().spent == UNIT // 20
    score = app.curator.schema.column("score")
    assert {"1", "2", "3", "4", "5"} <= set(score.labels)
    assert score.found.loss == {"epsilon": "1/20"}
    assert "low" not in score.from_data
    ledger = app.go("ledger")
    assert (
        "Cells of pay, score, found privately"
        in ledger.at.dataframe[0].value.to_string()
    )
    assert (
        "taken from the data itself: sex (kind, categories, order)"
        in ledger.text.replace("\\", "")
    )
    assert "Found privately, for another epsilon 0.05" in app.go("codebook").text
    other = new_tab().go("upload").upload(content)  # recognized
    assert other.curator.schema == app.curator.schema
    assert other.curator.balance().spent == UNIT // 20
    app.go("codebook").press("Declare it anew").go("upload").upload(content)
    assert not [each for each in app.at.toggle if "found privately" in each.label]
    app.press("Open the data set")
    assert app.curator.schema.column("score").found == score.found
    assert app.curator.balance().spent == UNIT // 20


def test_cells_are_found_privately_where_that_is_asked_for(new_tab):
    """A sample, or a table in which noise hides everything, would lose its cells; or
    nobody could choose.
    """
    sample = new_tab()
    sample.go("upload").press("Open this sample: Hospital visits")
    small = new_tab().go("upload").upload(CSV)
    assert not toggle(sample).value
    assert not [each for each in small.at.toggle if each.value]
    app = new_tab().go("upload").upload(LARGE.to_csv(index=False).encode())
    app.set("radio", RULE, "basic")
    toggle(app).set_value(False).run()
    assert "Found privately" not in app.text
    assert "Taken from this table: pay, score, sex" in app.text
    draft = app.session.draft
    draft.edited_grid.loc[draft.edited_grid["column"] == "pay", "known from"] = "a law"
    draft.version += 1
    app.at.run()
    assert "pay" not in toggle(app).label
    toggle(app).set_value(True).run()
    app.press("Open the data set")
    pay, score = (app.curator.schema.column(name).found for name in ("pay", "score"))
    assert (pay, score.loss) == (None, {"epsilon": "1/20"})
    assert app.curator.schema.column("pay").known_from == "a law"


def test_a_search_that_cannot_be_paid_is_refused(app):
    """A table whose budget is spent would be opened without cells, or with those of its
    rows.
    """
    content = LARGE.to_csv(index=False).encode()
    app.go("upload").upload(content).set("radio", RULE, "basic")
    toggle(app).set_value(False).run()
    app.press("Open the data set")
    app.curator.run(dp.Histogram("sex"), dp.PureDP(epsilon="2.99"))
    app.go("codebook").press("Declare it anew").go("upload").upload(content)
    toggle(app).set_value(True).run()
    app.press("Open the data set")
    assert "left" in app.errors
    assert app.session.draft is not None


def test_the_program_of_a_release_with_found_cells_runs(
    app: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be refused, as its ledger knows no search, or promise what only the
    search's charge allows.
    """
    offered = reports.downloads(monkeypatch)
    app.go("upload").upload(LARGE.to_csv(index=False).encode())
    app.set("radio", RULE, "basic").press("Open the data set")
    assert set(app.curator.schema.found) == {"pay", "score"}
    app.go("synthesize").release()
    monkeypatch.chdir(tmp_path)
    LARGE.to_csv("table.csv", index=False)
    exec(offered["Script (Python)"].decode(), {})
    guarantee = json.loads((tmp_path / "release.json").read_text())["guarantee"]
    assert not guarantee.get("found")
    assert "pay" in guarantee["from_data"]


def test_a_codebook_whose_found_cells_were_changed_is_refused_where_it_is_given(app):
    """It would be taken, asked about, and refused when the table is opened."""
    content = LARGE.to_csv(index=False).encode()
    app.go("upload").upload(content).press("Open the data set")
    codebook = json.loads(app.curator.schema.to_json())
    app.go("codebook").press("Declare it anew").go("upload").upload(content)
    before = app.session.draft.schema
    pay = next(each for each in codebook["columns"] if each["name"] == "pay")
    pay["high"] += 1
    bring_codebook(app, codebook)
    assert "pay" in app.errors
    assert "not those that were found" in app.errors
    assert app.session.draft.schema == before
    pay["high"] -= 1
    bring_codebook(app, codebook)
    assert app.errors == ""
    assert app.session.draft.schema.found == before.found


def bring_codebook(app: Tab, codebook: dict[str, Any]) -> None:
    field = next(each for each in app.at.file_uploader if "codebook" in each.label)
    text = json.dumps(codebook).encode()
    field.upload("codebook.json", text, "application/json").run()
