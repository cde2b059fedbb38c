"""A release that is planned without rows: from the names of the columns to a script for
where the data is.
"""

from __future__ import annotations

import json

import pytest

from tests.pages.tab import CSV, Tab
from tests.scripts import printed_by
from workbench.session import person
from workbench.synthesize import pay_view
from workbench.ui import file_view


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The files that the Synthesize page offers, by their names."""
    offered: dict[str, str] = {}
    right = file_view.download

    def download(label, data, name, **options):
        offered[name.partition(".")[2]] = data if isinstance(data, str) else ""
        right(label, data, name, **options)

    monkeypatch.setattr(pay_view.file_view, "download", download)
    return offered


def planned(app: Tab) -> Tab:
    """A plan for three columns, of which two are declared and one is left out."""
    app.set("text_area", "Names of the columns", 'age;sex;"name"').press("Plan it")
    draft = app.session.draft
    assert draft is not None
    assert list(draft.grid["column"]) == ["age", "sex", "name"]
    assert app.errors == "", "nothing is wrong yet"
    assert app.button("See what you would get").disabled
    lines = draft.edited_grid.set_index("column")
    lines.loc["age", ["kind", "low", "high", "step"]] = ["integer", "0", "99", "10"]
    lines.loc["sex", ["kind", "categories"]] = ["categorical", "F | M"]
    draft.edited_grid = lines.reset_index()[draft.grid.columns]
    draft.version += 1
    app.at.run()
    assert app.errors == ""
    return app.set("number_input", "About how many rows", 200)


def test_a_plan_needs_no_rows(app, files, tmp_path):
    """Whoever may not upload a table had no way to its error, its cost or its
    codebook.
    """
    planned(app).press("See what you would get")
    app.go("synthesize")
    assert app.at.title[0].value == "Release something"
    assert "rows, of about 200 in all" in app.text
    assert not [
        each.label for each in app.at.button if each.label.startswith("Release for")
    ]
    assert json.loads(files["codebook.json"])["columns"][0]["name"] == "age"
    assert app.session.data_set is None
    assert app.session.curator is None, "there are no rows to read"
    (tmp_path / "table.csv").write_bytes(CSV)
    printed_by(files["py"], tmp_path)
    release = json.loads((tmp_path / "release.json").read_text())
    assert release["guarantee"]["loss"] == {"epsilon": "3/2"}
    app.go("audit")
    assert "Here you find out" in app.text, "there is nothing to audit"


def test_a_shared_server_says_first_who_can_read(app, monkeypatch):
    """Somebody would upload a table to a server of others, and learn afterwards who can
    read it.
    """
    assert "kept in the memory of this computer" in app.text
    monkeypatch.setattr(person.roles, "sign_in_needed", lambda: True)
    monkeypatch.setattr(
        person.roles, "person_of", lambda claims: person.roles.LOCAL_PERSON
    )
    app.at.run()
    boxes = [each.value for each in app.at.info]
    assert boxes
    assert boxes[0].startswith(
        "**Whoever runs this server could read what you upload.**"
    )
