"""The Data page: a table is read, described and opened, and nothing typed is lost on
the way.
"""

from __future__ import annotations

import dataclasses
import io
import sqlite3
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.delta_generator import DeltaGenerator

import dpcore as dp
from dpcore.io import read_table
from dpcore.tables import digests
from dpcore.tables.sketch import SketchedTable
from tests.pages.tab import CSV, Tab
from workbench import session
from workbench.server.web import holders
from workbench.server.workers import reading
from workbench.store import start
from workbench.store.settings import read_settings
from workbench.ui import progress_view
from workbench.upload import source_view


def grid_key(app: Tab) -> str:
    return f"grid-{app.session.draft.dataset}-{app.session.draft.version}"


def edit(app: Tab, row: int, **changes: object) -> Tab:
    """Change cells of one line of the schema, as a person would in the grid."""
    before = (
        app.at.session_state[grid_key(app)]["edited_rows"]
        if grid_key(app) in app.at.session_state
        else {}
    )
    edits = {**before, row: {**before.get(row, {}), **changes}}
    app.at.session_state[grid_key(app)] = {
        "edited_rows": edits,
        "added_rows": [],
        "deleted_rows": [],
    }
    app.at.run()
    return app


def test_what_is_rare_is_counted_as_other_by_the_label(app):
    """A common ward would vanish, since two rows spell it as it is printed."""
    wards = ["surgery", "eye"] * 50 + ["Surgery"] * 2 + ["Zoo"] * 3
    app.go("upload").upload("\n".join(["ward", *wards]).encode(), "wards.csv")
    app.press("Join them").press("Count rare labels as other")
    line = app.session.draft.edited_grid.iloc[0]
    assert (line["categories"], line["other"]) == ("Eye | Surgery", True)
    assert "Count rare labels as other" not in [each.label for each in app.at.button]


def test_the_first_page_has_three_ways_to_begin(app):
    """A newcomer would not know where to begin, or what it is called."""
    assert app.errors == ""
    assert app.at.title[0].value == "Privacy Workbench"
    assert [each.value for each in app.at.header] == [
        "Check a table",
        "Share numbers or a table",
        "Collect answers",
    ]
    assert [each.label for each in app.at.button] == [
        "Check this sample: Hospital visits",
        "Open this sample: Census",
        "Open this sample: Hospital visits",
        "Open this sample: Customers",
        "Open this sample: Patients in China",
        "Ask a question",
        "Try it on invented people",
        "Plan it",
    ]
    assert [each.label for each in app.at.file_uploader] == [
        "A table to check",
        "A table to share",
    ]
    assert "50 MB" in app.text


def test_a_file_is_checked_by_dropping_it(app):
    """Whoever only wants to know whether a table is anonymous would have to describe it
    first.
    """
    app.at.file_uploader[0].upload("people.csv", CSV, "text/csv").run()
    assert app.errors == ""
    assert app.at.title[0].value == "Is this anonymous?"
    assert "of the people are unique" in app.text or "Nobody is unique" in app.text
    app.go("upload")
    assert "200 rows of 3 columns" in app.text, (
        "it would have to be brought again to be shared"
    )


def test_an_empty_page_takes_a_table_and_has_it_in_the_end(app):
    """People would be sent to another page to begin, and find their way back alone."""
    for page in ("anonymize", "evaluate", "links", "ledger", "codebook", "synthesize"):
        assert app.go(page).at.file_uploader, page
    app.go("ledger").at.file_uploader[-1].upload("people.csv", CSV, "text/csv").run()
    assert "200 rows of 3 columns" in app.text
    app.go("upload").open_draft()
    assert app.at.title[0].value == "Ledger"


def test_a_survey_is_tried_on_invented_people(app):
    """Nobody would see what comes of such answers before asking anyone."""
    app.press("Try it on invented people")
    assert app.at.title[0].value == "Ask without learning anybody's answer"
    assert "20,000 invented people" in app.text


def test_sample_is_opened_and_the_next_steps_are_shown(app):
    """The shortest way in would not work."""
    app.press("Open this sample").press("Open the data set")
    assert app.errors == ""
    assert app.at.title[0].value == "What you can do now"
    assert app.curator.name == "Census"
    assert app.session.draft is None


def test_a_table_that_is_not_opened_yet_is_led_back_to(app):
    """Whoever goes on to another page too early would take the table for lost."""
    app.press("Open this sample: Hospital visits").go("anonymize")
    assert app.at.button[0].label == "Continue with Hospital visits"
    app.go("upload")
    assert "**Hospital visits** · not opened yet" in app.text
    app.press("Open the data set").go("anonymize")
    assert "Continue with" not in str([each.label for each in app.at.button])


def test_step_leads_to_its_kind_of_release(opened):
    """What was chosen on one page would be forgotten on the next (D19: audit and
    anonymize were missing).
    """
    labels = [
        each.label for each in opened.at.button if str(each.key).startswith("step-")
    ]
    assert labels == [
        "Audit: is it anonymous?",
        "Anonymize the table",
        "Release a histogram",
    ]
    opened.press("Release a histogram")
    assert "✓ A histogram" in opened.text


def test_upload_is_read_and_its_bytes_are_dropped(app, monkeypatch):
    """The file would stay in memory beside the table, or be read in silence for half a
    minute.
    """
    titles = []
    shares = []
    bar = DeltaGenerator.progress
    percent = progress_view.percent
    monkeypatch.setattr(
        DeltaGenerator,
        "progress",
        lambda self, share, text: titles.append(text) or bar(self, share, text),
    )
    monkeypatch.setattr(
        progress_view, "percent", lambda share: shares.append(share) or percent(share)
    )
    app.upload(CSV)
    assert titles[0].replace("\\", "").startswith("Reading people.csv")
    assert len(shares) >= len(reading.STAGES)
    assert shares == sorted(shares)
    assert [each.label for each in app.at.button].count("Stop") == 0, (
        "it would stay after the reading"
    )
    assert "200 rows of 3 columns" in app.text
    fields = [field.key for field in app.at.file_uploader]
    assert fields == ["second-file-1", "codebook-1"]
    assert "upload-0" not in app.at.session_state


def test_parquet_is_read(app):
    """Half of all tables come as Parquet."""
    file = io.BytesIO()
    pd.DataFrame({"age": np.arange(20, 60), "sex": ["F", "M"] * 20}).to_parquet(file)
    app.upload(file.getvalue(), "people.parquet")
    assert "40 rows of 2 columns" in app.text


def test_a_yes_lists_what_becomes_public_with_a_tick_each(app):
    """Labels would become public that nobody was shown, or that are places, codes or
    names.
    """
    app.upload(CSV)
    boxes = {each.label.replace("\\", ""): each.value for each in app.at.checkbox}
    assert boxes["city · categories (categorical): A, B, C, D"] is False
    assert boxes["sex · categories (categorical): F, M"] is True
    assert boxes["age · bounds and steps (integer): 0 – 119, 1"] is True
    app.press("Yes, this is plainly public").press("Open the data set")
    assert app.curator.schema.from_data == {"city": ("kind", "categories", "ordered")}
    app.go("codebook")
    assert "Some facts were taken from the data: city" in app.text


def test_one_question_takes_the_cells_for_missing_away(app):
    """Tables in which nothing can be missing would keep a cell for it in every
    column.
    """
    app.upload(CSV)
    assert all(app.session.draft.edited_grid["missing"])
    app.set("button_group", "Can cells be empty in a table of this kind?", False)
    assert not any(app.session.draft.edited_grid["missing"])
    app.open_draft()
    assert [column.size for column in app.curator.schema.columns] == [120, 2, 4]
    assert [column.origin("missing") for column in app.curator.schema.columns] == [
        "told by the owner"
    ] * 3


def test_a_table_with_a_gap_is_not_opened_where_none_can_be(app):
    """The answer would be taken, and the gap counted as something else."""
    app.upload(CSV + b"\n,F,A")
    app.set("button_group", "Can cells be empty in a table of this kind?", False)
    assert "have no cell: age" in app.errors


def test_facts_from_the_data_are_named_until_confirmed(app):
    """Bounds and categories that reveal the table would pass for public ones."""
    app.upload(CSV)
    assert "Taken from this table: age, sex, city" in app.text
    app.know_all()
    assert "Taken from this table" not in app.text
    app.press("Open the data set")
    assert app.curator.schema.from_data == {}


def test_unconfirmed_facts_stay_marked_when_opened(app):
    """A guarantee would keep silent about bounds that were read from the data."""
    app.upload(CSV).press("Open the data set")
    assert set(app.curator.schema.from_data) == {"age", "sex", "city"}


def test_edits_are_in_the_schema_that_is_opened(app):
    """What a person declares would be ignored."""
    edit(app.upload(CSV), 0, low="18", high="99")
    app.press("Open the data set")
    age = app.curator.schema.column("age")
    assert (age.low, age.high) == (18, 99)


def test_edits_outlast_other_pages_and_other_answers(app):
    """Everything typed into the grid would be lost by a look at another page."""
    edit(app.upload(CSV), 0, high="99")
    app.go("ledger").go("upload")
    app.set("radio", "What is the most that you will release from this table?", "zcdp")
    app.know_all()
    assert app.session.draft.edited_grid["high"].tolist()[0] == "99"
    edit(app, 0, low="10")
    assert app.session.draft.edited_grid.loc[0, ["low", "high"]].tolist() == [
        "10",
        "99",
    ]


def test_several_rows_a_person(app):
    """People with many rows would be protected as if they had one."""
    rows = "\n".join(f"p{i % 40},{20 + i % 50}" for i in range(200))
    app.upload(f"patient_id,age\n{rows}".encode())
    assert app.at.radio[0].value == "named"
    app.set("button_group", "Maximum number of rows", 5)
    app.open_draft()
    assert app.curator.schema.unit.max_rows == 5
    assert app.curator.schema.unit.id_column == "patient_id"
    assert "patient_id" not in app.curator.schema.domain.names


def test_the_number_of_rows_a_person_is_found_privately_and_charged(new_tab):
    """The number would be free, or be looked for and paid again whenever the file is
    brought.
    """
    rows = "\n".join(f"p{i // 3},{20 + i % 50}" for i in range(36_000))
    table = f"patient_id,age\n{rows}".encode()
    app = new_tab().upload(table)
    app.set("button_group", "Maximum number of rows", -1)
    app.open_draft()
    assert app.errors == ""
    assert app.curator.schema.unit == dp.PrivacyUnit(
        max_rows=3, id_column="patient_id", found="1/20"
    )
    assert app.session.data_set.unit == app.curator.schema.unit
    assert app.session.data_set.declaration.schema.unit == app.curator.schema.unit
    assert app.curator.balance().spent == 5 * 10**10
    assert "found privately" in app.go("ledger").text
    charges = app.at.dataframe[0].value
    assert charges["asked"].tolist() == [
        "Rows of one person that count, found privately, by patient_id"
    ]
    again = new_tab().upload(table)
    assert again.curator.balance().spent == 5 * 10**10
    assert again.curator.schema.unit == app.curator.schema.unit


def test_each_table_is_asked_about_anew(app):
    """The answer "one row per person" to one table would silently hold for the next
    one.
    """
    app.upload(CSV)
    assert app.at.radio[0].value == "one"
    app.press("Open another table")
    app.press("Open this sample: Hospital visits")
    assert app.at.radio[0].value == "named"
    assert app.session.draft.cap == 3


def test_a_budget_on_file_stays(new_tab):
    """A second tab could open the same table with a fresh budget, or would ask
    everything again.
    """
    first = new_tab().open()
    second = new_tab().upload(CSV)
    assert second.errors == ""
    assert second.curator.account == first.curator.account
    assert second.curator.schema == first.curator.schema


def test_declared_anew_the_budget_and_the_unit_stay(new_tab):
    """The same table could be opened with a weaker promise, or nothing could be
    corrected any more.
    """
    rows = "\n".join(f"p{i % 40},{20 + i % 50}" for i in range(200))
    table = f"patient_id,age\n{rows}".encode()
    app = new_tab().open(table)
    app.go("codebook").press("Declare it anew").go("upload")
    app.upload(table)
    assert "was opened before, with a budget of epsilon 3" in app.text
    edit(app, 1, high="99")
    app.set("radio", "A person has", "one")
    app.press("Open the data set")
    assert "opened before with another budget or privacy unit" in app.errors
    app.set("radio", "A person has", "named").press("Open the data set")
    assert app.errors == ""
    assert app.curator.schema.column("age").high == 99
    assert sum("declared" in line.content for line in app.curator.lines()) == 2


@pytest.mark.parametrize(
    ("row", "changes", "said"),
    [
        (0, {"low": "99", "high": "10"}, "must end above its start"),
        (0, {"low": "nan"}, "nan"),
        (0, {"high": "inf"}, "inf"),
        (0, {"high": ""}, "needs high"),
        (0, {"high": "old"}, "must be a number"),
        (0, {"step": "0"}, "width"),
        (1, {"categories": ""}, "categor"),
        (1, {"categories": "F"}, "have no cell: sex"),
    ],
)
def test_a_fact_that_does_not_hold_is_refused_in_place(app, row, changes, said):
    """A slip in the grid would end in a traceback, or in a schema that nobody meant."""
    edit(app.upload(CSV), row, **changes)
    assert said in app.errors
    assert app.button("Open the data set").disabled
    assert app.session.draft is not None


@pytest.mark.parametrize("delta", ["0.5", "0", "-1", "nan", "much", "1e400"])
def test_a_delta_that_promises_nothing_is_refused(app, delta):
    """With a delta of 0.5, publishing half of the table would be allowed."""
    app.upload(CSV).set(
        "radio", "What is the most that you will release from this table?", "zcdp"
    )
    app.set("text_input", "delta", delta)
    assert "delta" in app.errors.lower()
    assert app.button("Open the data set").disabled


def test_a_budget_of_nothing_is_refused(app):
    """Epsilon 0 would open a data set from which nothing can be released."""
    app.upload(CSV)
    app.set("number_input", "exactly", 0.0)
    assert "above 0" in app.errors
    assert app.button("Open the data set").disabled


def test_a_second_table_and_the_way_back(opened):
    """Whoever asks for another table would lose the open one, or see its name over the
    new one.
    """
    opened.press("Open another table")
    opened.press("Back to people")
    assert opened.at.title[0].value == "What you can do now"
    opened.press("Open another table").upload(CSV + b"\n30,F,A", "more.csv")
    assert "**more.csv** · not opened yet" in opened.text.replace("\\", "")
    assert not [each for each in opened.at.selectbox if each.label == "Data set"]
    opened.set("radio", "Are both tables about the same people?", "different")
    opened.open_draft()
    assert len(opened.session.open_tables) == 2
    first = next(iter(opened.session.open_tables))
    opened.set("selectbox", "Data set", first)
    assert opened.curator.name == "people.csv"


def test_a_ledger_that_cannot_be_opened_is_said(new_tab, own_ledger: Path, monkeypatch):
    """A full disk or wrong rights would look like a broken program."""
    (own_ledger / "file").write_text("")
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(own_ledger / "file"))
    app = new_tab().upload(CSV)
    assert "ledger" in app.errors
    app.go("synthesize")
    assert "Open a data set first" in app.text


def test_a_ledger_that_is_lost_later_is_said(opened, own_ledger: Path):
    """Every page would end in a traceback once the ledger is gone."""
    with sqlite3.connect(own_ledger / "workbench.sqlite") as database:
        database.execute("DROP TABLE ledger_lines")
    for page in ("upload", "synthesize", "evaluate", "ledger"):
        opened.go(page)
        assert "ledger" in opened.errors


def test_a_table_that_was_changed_a_little_is_recognized(app):
    """A changed cell is a new account with a full budget: a hundred of them average the
    noise away.
    """
    app.upload(CSV).press("Open the data set")
    app.press("Open another table")
    app.upload(CSV.replace(b",F", b",M", 1))
    assert "This looks like" in app.text
    assert "sum of both budgets" in app.text
    assert app.button("Open the data set").disabled
    app.set("radio", "Are both tables about the same people?", "the same")
    app.press("Open the data set")
    notes = [line for line in app.curator.lines() if "sketch" in line.content]
    assert [line.content["people"] for line in notes] == ["the same"]


def test_an_uploaded_table_is_digested_in_workers_only(app, monkeypatch):
    """Sketches and fingerprints held up every page of the server, twice each."""

    def refuse(frame, key):
        raise AssertionError("digested in the server")

    with monkeypatch.context() as here:
        here.setattr(SketchedTable, "from_frame", refuse)
        here.setattr(digests, "digest_columns", refuse)
        app.upload(CSV).press("Open the data set")
    frame = read_table(CSV, "people.csv").frame
    expected = SketchedTable.from_frame(frame, start.ledger().key)
    (note,) = (line for line in app.curator.lines() if "sketch" in line.content)
    assert note.content["sketch"] == expected.sketch.to_dict()


def test_a_sketch_under_another_key_is_not_used(app, monkeypatch):
    """A table that was handed on is compared under the key of whoever opened it."""
    app.upload(CSV)
    draft = app.session.draft
    other = SketchedTable.from_frame(draft.frame, b"o" * 32)
    draft.sketched = other
    app.press("Open the data set")
    (note,) = (line for line in app.curator.lines() if "sketch" in line.content)
    assert note.content["sketch"] != other.sketch.to_dict()


def test_the_server_takes_no_more_tables_than_it_may(new_tab, monkeypatch):
    """Open tables would fill the memory until the system ends the server, and
    everybody's work with it.
    """
    # tabs of earlier tests go at any moment
    monkeypatch.setattr(holders, "_holders", weakref.WeakSet())
    limits = dataclasses.replace(read_settings(), tables=1)
    monkeypatch.setattr(holders, "read_settings", lambda: limits)
    first = new_tab().open()
    second = new_tab()
    second.go("upload").upload(CSV)
    assert "no room for another table" in second.errors
    assert second.session.draft is None
    limits = dataclasses.replace(
        limits, tables=1_000, table_bytes=sum(holders.sizes_of_open_tables()) + 1_000
    )
    second.upload(CSV)
    assert "no room for another table" in second.errors
    limits = dataclasses.replace(limits, idle_minutes=1e-9)
    holders.drop_idle_tables()  # nobody did anything for a while: there is room again
    limits = dataclasses.replace(limits, idle_minutes=60)
    assert first.session.curator is None
    warnings = "".join(each.value for each in first.go("audit").at.warning)
    assert "people\\.csv were removed from memory" in warnings
    assert "removed from memory" not in "".join(
        each.value for each in first.press("Understood").at.warning
    )
    second.open()
    assert second.errors == ""


def test_a_connected_source_is_looked_at_and_opened(app, tmp_path, monkeypatch):
    """Tables that do not fit could not be reached; or a look at some rows would pass
    for the table.
    """
    frame = pd.DataFrame(
        {"age": np.arange(3000) % 90, "sex": np.tile(["F", "M"], 1500)}
    )
    frame.to_parquet(tmp_path / "visits.parquet")
    (tmp_path / "sources.toml").write_text(
        f'[[source]]\nname = "Visits"\nkind = "parquet"\nlocation = "{tmp_path}"\n',
    )
    settings = replace(read_settings(), sources=tmp_path / "sources.toml")
    monkeypatch.setattr(source_view, "read_settings", lambda: settings)
    app.go("upload").press("Show its first rows")
    assert "first 1,000 rows of a connected source" in app.text
    app.open_draft()
    assert app.errors == ""
    assert app.curator.account.source == "Visits"
    assert app.curator._engine.counts([()])[0].values == 3000
    assert "belongs to the connected source Visits" in app.go("ledger").text
    (tmp_path / "visits.parquet").unlink()
    app.go("upload").press("Open another table").press("Show its first rows")
    assert "no file where the source should be" in app.errors


def test_the_unit_that_an_operator_declared_reaches_the_ledger(
    app, tmp_path, monkeypatch
):
    """At most 3 rows of a person, named by no column, was opened and charged as one row
    (epsilon 1 for 3).
    """
    pd.DataFrame({"age": np.arange(300) % 90}).to_parquet(tmp_path / "visits.parquet")
    unit = dp.PrivacyUnit(max_rows=3)
    schema = dp.Schema(columns=(dp.Integer("age", low=0, high=99),), unit=unit)
    (tmp_path / "visits.json").write_text(schema.to_json())
    (tmp_path / "sources.toml").write_text(
        '[[source]]\nname = "Visits"\nkind = "parquet"\nlocation = '
        f'"{tmp_path}/visits.parquet"\n'
        f'schema = "{tmp_path}/visits.json"\n',
    )
    settings = replace(read_settings(), sources=tmp_path / "sources.toml")
    monkeypatch.setattr(source_view, "read_settings", lambda: settings)
    app.go("upload").press("Show its first rows")
    assert "You cannot weaken this" in app.text
    weaker = dp.Schema(
        columns=schema.columns, unit=dp.PrivacyUnit(max_rows=1)
    ).to_json()
    field = next(each for each in app.at.file_uploader if "codebook" in each.label)
    field.upload("codebook.json", weaker.encode(), "application/json").run()
    assert "would promise less" in app.errors
    app.press("Open the data set")
    assert app.curator.schema.unit == unit
    assert app.curator.account.unit == unit.to_dict()


def test_a_codebook_without_its_person_is_refused(app):
    """A codebook whose column of persons is gone would be taken with another one, in
    silence.
    """
    app.upload(CSV)
    for unit in (
        dp.PrivacyUnit(max_rows=3),
        dp.PrivacyUnit(max_rows=2, id_column="gone"),
    ):
        codebook = dp.Schema(
            columns=(dp.Integer("age", low=0, high=99),), unit=unit
        ).to_json()
        field = next(each for each in app.at.file_uploader if "codebook" in each.label)
        field.upload("codebook.json", codebook.encode(), "application/json").run()
    assert "'gone', which this table does not have" in app.errors
    app.press("Open the data set")
    assert app.curator.schema.unit == dp.PrivacyUnit(max_rows=3)


def test_many_columns_are_proposed_zcdp_and_its_delta_is_explained(app):
    """Pure epsilon was proposed for wide tables, where its noise is larger; delta was a
    mere number.
    """
    header = ",".join(f"c{i}" for i in range(6))
    wide = "\n".join(
        [
            header,
            *(",".join(str((i * j) % 3) for j in range(1, 7)) for i in range(200)),
        ],
    ).encode()
    narrow = b"\n".join(b",".join(line.split(b",")[:2]) for line in CSV.split(b"\n"))
    app.upload(narrow, "narrow.csv")
    assert next(
        each.value
        for each in app.at.radio
        if each.label == "What is the most that you will release from this table?"
    ).is_pure
    app.press("Open another table").upload(wide, "wide.csv")
    assert not next(
        each.value
        for each in app.at.radio
        if each.label == "What is the most that you will release from this table?"
    ).is_pure
    assert (
        "a chance of 1 in a billion, nobody loses more privacy than epsilon states"
        in app.text
    )
    app.set("text_input", "delta", "1e-4")
    assert "Delta is too large for about 200 people: choose at most 5e-05" in app.text


def test_the_pages_propose_by_the_policy_and_refuse_beyond_it(
    new_tab, own_ledger: Path, monkeypatch
):
    """What is proposed would be refused at its opening; or what is refused would be
    opened.
    """
    (own_ledger / "policy.toml").write_text(
        "epsilon = 0.5\nk = 20\n[purposes]\nreport = 0.25\n"
    )
    monkeypatch.setenv("WORKBENCH_POLICY", str(own_ledger / "policy.toml"))
    read_settings.cache_clear()
    app = new_tab().upload(CSV)
    assert "(epsilon 0.25) for this release" in app.text
    app.set("number_input", "exactly", 0.6)
    assert "at most epsilon 0.5" in app.errors.replace("\\", "")
    assert app.button("See what you would get").disabled
    app.set("number_input", "exactly", 0.5).press("See what you would get")
    assert app.go("synthesize").button("Release for")
    app.go("anonymize").press("Make the anonymized table")
    assert "groups of at least 20" in app.errors
    assert app.session.own(session.AnonymizeResult).table is None


def test_the_purpose_decides_what_is_proposed(app):
    """One would have to know what a marginal is to get the numbers for a report."""
    app.upload(CSV)
    assert "noisy counts of each column" in app.text
    assert "at most 88.9" in app.text
    app.set("button_group", "What is it for?", "open")
    assert "made-up rows" in app.text
    app.press("See what you would get")
    assert app.at.title[0].value == "Release something"
    assert app.session.data_set is not None
    app.go("synthesize")
    assert "✓ Invented rows" in app.text
    assert app.button("Release for half of the budget"), "open data come out once"
    app.press("A few columns together").set("radio", "Table", "pairs")
    assert "Choose at least one column" in app.text, (
        "what nobody proposed would be chosen"
    )


def test_a_clinic_file_is_of_patients_and_not_of_stays(app):
    """A patient with three stays would be three people, and be protected a third."""
    rows = "".join(
        f"{70_000 + row // 3};{20 + row % 70};{row % 11},50\r\n" for row in range(300)
    )
    data = f"Patientennummer;Alter;Kosten (€)\r\n{rows}".encode("cp1252")
    app.go("upload").upload(data, "entlassungen.csv")
    assert app.errors == ""
    assert list(app.session.draft.frame) == ["Patientennummer", "Alter", "Kosten (€)"]
    (way,) = [radio for radio in app.at.radio if radio.label == "A person has"]
    assert way.value == "named"
    assert app.session.draft.schema.unit.id_column == "Patientennummer"
    assert "choose below how many rows per person count" in app.text
    assert app.button("Open the data set").disabled
    app.set("button_group", "Maximum number of rows", 3)
    assert "people by Patientennummer, at most 3 rows each" in app.text
    assert not app.button("Open the data set").disabled
