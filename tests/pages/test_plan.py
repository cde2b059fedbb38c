"""A release that is planned without rows: from the names of the columns to a script for
where the data is.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpcore.accounting.loss import loss_fields
from dpcore.schema.linked import AS_WRITTEN, LinkedSchema
from dpcore.synthesis import LinkedRelease
from tests.pages.tab import CSV, Tab
from tests.pages.test_linked import answer, as_csv, bring, patients, say_cap, stays
from tests.scripts import printed_by
from workbench import __main__ as commands
from workbench.session import person
from workbench.store.sources.job import LinkedJob
from workbench.synthesize import pay_view
from workbench.ui import file_view
from workbench.upload.unit_view import FIND_PRIVATELY


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


def declare(app: Tab, table: str, facts: dict[str, dict[str, str]]) -> Tab:
    """Say what the columns of one of two planned tables hold."""
    pair = app.session.linked_draft
    assert pair is not None
    draft = getattr(pair, table)
    lines = draft.edited_grid.set_index("column").astype(object)
    for column, values in facts.items():
        for name, value in values.items():
            lines.loc[column, name] = value
    draft.grid = draft.edited_grid = lines.reset_index()[draft.grid.columns]
    draft.version += 1
    app.at.run()
    return app


def planned_pair(app: Tab) -> Tab:
    """A plan for patients and their stays, as somebody without rows types it."""
    app.set("text_area", "Names of the columns", "patient;sex;age").press("Plan it")
    assert app.button("Plan both tables").disabled
    names = "patient\nward\nnights"
    app.set("text_area", "Names of the columns of the second table", names)
    app.press("Plan both tables")
    assert app.errors == ""
    pair = app.session.linked_draft
    assert pair is not None
    assert (pair.people_key, pair.events_key) == ("patient", "patient")
    assert app.button("See what you would get").disabled
    assert "Choose a kind for at least one column of" in app.text
    assert not [each.label for each in app.at.button if "Open the data" in each.label]
    declare(
        app,
        "people",
        {
            "sex": {"kind": "categorical", "categories": "F | M"},
            "age": {"kind": "integer", "low": "0", "high": "99", "step": "10"},
        },
    )
    declare(
        app,
        "events",
        {
            "ward": {"kind": "categorical", "categories": "A | B | C"},
            "nights": {"kind": "integer", "low": "1", "high": "14", "step": "1"},
        },
    )
    answer(say_cap(app, 3))
    app.set("number_input", "About how many people", 300)
    app.set("number_input", "About how many events", 500)
    assert app.errors == ""
    return app


def test_a_pair_is_planned_without_rows(
    app: Tab, files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may not upload patients and stays could plan one of both alone."""
    planned_pair(app).press("See what you would get")
    app.go("synthesize")
    assert app.errors == ""
    assert "about 300 people and 500 events, your numbers" in app.text
    labels = [each.label for each in app.at.button]
    assert not [label for label in labels if label.startswith("Release for")]
    assert not [label for label in labels if label == "Histogram"], "rows of one view"
    assert app.session.data_set is None
    assert app.session.linked is None, "there are no rows to read"
    assert commands.ledger_of(commands.find_steward(None)).datasets() == []
    # the plan runs where the rows are: as a script, and as a command
    people = patients()
    (tmp_path / "people.csv").write_bytes(as_csv(people))
    (tmp_path / "events.csv").write_bytes(as_csv(stays(people)))
    job = LinkedJob.from_json(files["job.json"])
    printed_by(files["py"], tmp_path)
    made = LinkedRelease.from_json((tmp_path / "linked-release.json").read_text())
    (tmp_path / "job.json").write_text(files["job.json"])
    monkeypatch.chdir(tmp_path)
    assert commands.main(["release", "job.json", "--to", "release.json"]) == 0
    again = LinkedRelease.from_json((tmp_path / "release.json").read_text())
    for each in (made, again):
        assert each.people.schema.domain == job.schema.people_view.domain
        assert each.events.schema.domain == job.schema.events_view.domain
        assert loss_fields(each.total_loss) == loss_fields(made.total_loss)
    assert not made.people.guarantee.from_data, "no fact was taken from rows"
    for page in ("audit", "anonymize", "evaluate", "ledger", "codebook"):
        app.go(page)
        assert app.errors == ""
        assert "not open yet" not in app.text, page
    # whoever looks again finds what was typed
    app.go("upload")
    assert not app.button("See what you would get").disabled


def test_a_planned_number_of_events_is_found_where_the_rows_are(
    app: Tab, files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number that an invented person has would be taken for that of all people."""
    planned_pair(app)
    groups = app.at.get("button_group")
    cap = next(each for each in groups if each.label.startswith("Maximum number"))
    cap.set_value(FIND_PRIVATELY).run()
    app.press("See what you would get").go("synthesize")
    assert app.errors == ""
    people = patients(5_000)
    (tmp_path / "people.csv").write_bytes(as_csv(people))
    (tmp_path / "events.csv").write_bytes(as_csv(stays(people)))
    (tmp_path / "job.json").write_text(files["job.json"])
    monkeypatch.chdir(tmp_path)
    assert commands.main(["release", "job.json", "--to", "release.json"]) == 0
    made = LinkedRelease.from_json((tmp_path / "release.json").read_text())
    unit = made.events.schema.unit
    assert unit.found
    # a third of those with stays have 3: fewer are found once in 100 million times
    assert unit.max_rows >= 3
    number = made.people.schema.column("number of events")
    assert number.size == unit.max_rows + 1


def test_the_codebook_of_a_planned_pair_is_loaded(
    app: Tab, files: dict[str, str]
) -> None:
    """Whoever has the rows would answer all questions of the plan a second time."""
    planned_pair(app).press("See what you would get").go("synthesize")
    codebook = files["codebook.json"]
    linked = LinkedSchema.from_json(codebook)
    assert linked.rules.keys == AS_WRITTEN
    app.go("upload").press("Open another table")
    people = patients()
    # the plan says what is there, whatever these rows would propose
    bring(app, people, stays(people)[["patient", "nights", "ward"]])
    field = next(each for each in app.at.file_uploader if "codebook" in each.label)
    field.upload("codebook.json", codebook.encode(), "application/json").run()
    assert app.errors == ""
    app.press("Open the data set")
    assert app.errors == ""
    opened = app.session.linked
    assert opened is not None
    assert opened.linked.people_view.domain == linked.people_view.domain
    assert {*opened.linked.events.domain.names} == {"ward", "nights"}
    assert opened.linked.rules == linked.rules
    assert opened.linked.events.unit == linked.events.unit
    app.go("synthesize").release()
    assert app.errors == ""


def test_a_codebook_of_two_tables_needs_both(app: Tab, files: dict[str, str]) -> None:
    """Half of a codebook would be taken, and the other half be lost in silence."""
    planned_pair(app).press("See what you would get").go("synthesize")
    codebook = files["codebook.json"].encode()
    app.go("upload").press("Open another table")
    app.go("upload").upload(as_csv(patients()), "patients.csv")

    def load() -> None:
        field = next(each for each in app.at.file_uploader if "codebook" in each.label)
        field.upload("codebook.json", codebook, "application/json").run()

    load()
    assert "of two tables about the same people" in app.errors
    # of other tables: neither is changed
    app.press("Open another table")
    other = patients().rename(columns={"patient": "id"})
    events = stays(patients()).rename(columns={"patient": "id"})
    bring(app, other, events)
    load()
    assert "which this table does not have" in app.errors
    pair = app.session.linked_draft
    assert pair is not None
    assert pair.keys == ["id", "id"]


def test_the_same_names_twice_are_refused(app: Tab) -> None:
    """A table would be linked with itself."""
    app.set("text_area", "Names of the columns", "patient;sex").press("Plan it")
    app.set("text_area", "Names of the columns of the second table", "patient;sex")
    app.press("Plan both tables")
    assert "this is the same table again" in app.errors.lower()
    assert app.session.linked_draft is None


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
