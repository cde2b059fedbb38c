"""The toys of CONTRIBUTING on the pages; `tests/test_contributing.py` runs this in a
copy that has them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyarrow import feather

import dpcore as dp
from dpcore.anonymization import KAnonymity, Plan
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.anonymization.models import PrivacyModel
from dpcore.evaluation import Evaluation
from dpcore.schema import Column
from dpcore.synthesis import Recipe, describe_recipe, load_recipe
from tests.pages.tab import Tab
from workbench import session
from workbench.store import settings

PATIENTS = "\n".join(
    [
        "age,sex,diagnosis",
        *(
            f"{20 + i % 60},{'FM'[i % 2]},{('flu', 'cold', 'cancer')[i * 7 % 3]}"
            for i in range(300)
        ),
    ],
).encode()
MARKS = "\n".join(
    ["age,mark", *(f"{20 + i % 50},{1 + i % 6}" for i in range(200))]
).encode()


def tables(tab: Tab) -> str:
    """What the tables of a page say."""
    return " ".join(each.value.to_csv() for each in tab.at.dataframe)


def test_column(app: Tab) -> None:
    grade: Any = Column.of_kind("grade")
    schema = dp.Schema(
        columns=(grade("mark", missing=True),), unit=dp.PrivacyUnit(max_rows=1)
    )
    assert dp.Schema.from_json(schema.to_json()) == schema
    app.go("upload").upload(MARKS)
    draft = app.session.draft
    assert draft is not None
    is_mark = draft.edited_grid["column"] == "mark"
    draft.edited_grid.loc[is_mark, ["kind", "categories"]] = [
        "grade",
        "1 | 2 | 3 | 4 | 5 | 6",
    ]
    app.open_draft()
    assert app.errors == ""
    assert app.session.data_set is not None
    declaration = app.session.data_set.declaration
    assert declaration is not None
    assert declaration.schema.column("mark").kind == "grade"
    assert "grade" in tables(app.go("codebook"))


def test_recipe(opened: Tab) -> None:
    opened.go("synthesize").press("Every pair").release()
    assert opened.errors == ""
    release = opened.curator.release(opened.session.runs.shown_request_id)
    recipe = load_recipe(release.recipe)
    assert isinstance(recipe, Recipe.of_kind("every pair"))
    assert "Every pair of age, sex" in describe_recipe(release.recipe)
    again = dp.read_release(release.to_json().encode())
    assert list(again.sample(rows=5).columns) == ["age", "sex"]
    assert "Every pair of age, sex" in tables(opened.go("ledger"))


def test_privacy_model(app: Tab) -> None:
    bound: Any = PrivacyModel.of_kind("bounded frequency")
    plan = Plan(
        roles={"zip": "quasi-identifier", "ill": "sensitive"},
        hierarchies={"zip": build_flat(["1", "2"])},
        models=(KAnonymity(k=2), bound(column="ill", share=0.6)),
    )
    assert Plan.from_json(plan.to_json()) == plan
    app.open(PATIENTS).go("anonymize")
    app.set("selectbox", "Requirement for what should stay unknown", "frequency")
    app.set("slider", "Share, at most", 0.8).press("Make the anonymized table")
    assert app.errors == ""
    assert app.session.own(session.AnonymizeResult).table is not None
    assert (
        app.session.own(session.AnonymizeResult).table.guarantee.models[1]
        == "frequencies up to 0.8 of diagnosis"
    )


def test_source(app: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"age": range(20, 60), "sex": ["F", "M"] * 20})
    feather.write_feather(frame, str(tmp_path / "visits.feather"))
    entry = (
        '[[source]]\nname = "Visits"\nkind = "feather"\nlocation = '
        f'"{tmp_path}/visits.feather"\n'
    )
    (tmp_path / "sources.toml").write_text(entry)
    monkeypatch.setenv("WORKBENCH_SOURCES", str(tmp_path / "sources.toml"))
    settings.read_settings.cache_clear()
    app.go("upload")
    assert "Feather. The data stays where it is" in app.text
    app.press("Show its first rows").open_draft().go("synthesize").release()
    assert app.errors == ""
    assert app.curator.release(app.session.runs.shown_request_id).marginals


def test_evaluation(opened: Tab) -> None:
    largest: Any = Evaluation.of_kind("largest share")
    report: Any = opened.curator.evaluate(largest(column="city"))
    assert report.content == 0.25
    assert "share of the most frequent value of city" in tables(opened.go("ledger"))


def test_page(app: Tab) -> None:
    app.go("hello").press("Say hello")
    assert "Greetings: 1" in app.text


def test_language(app: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "language", lambda: "fr-CA")
    assert "Ce qui est connu" in app.go("codebook").text
    monkeypatch.setattr(session, "language", lambda: "nl")
    assert "What is publicly known" in app.go("codebook").text
