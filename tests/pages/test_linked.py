"""Two files about the same people: declared, opened and released together."""

from __future__ import annotations

import dataclasses
import html
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import dpcore as dp
from dpcore.accounting.loss import UNIT, loss_fields
from dpcore.errors import LimitError
from dpcore.evaluation.table import cells_of_numbers
from dpcore.evaluation.table.linked_audit import LinkedAuditQuestion
from dpcore.schema.linked import AS_NUMBERS, AS_WRITTEN, KEEP_ONE, LEAVE_OUT, OWN_PERSON
from dpcore.synthesis import LinkedRelease
from tests.pages.tab import RULE, Tab
from tests.truth import reports
from workbench import session
from workbench.anonymize import linked_view
from workbench.language.wording import loss_words, pair_sentences, percent
from workbench.report import sentences
from workbench.server.web import holders
from workbench.store.links.surveys import links_work
from workbench.store.people.same_people import same_people
from workbench.store.policy import Policy
from workbench.ui import releases
from workbench.upload import linked

PAGES = (
    "upload",
    "audit",
    "anonymize",
    "tables",
    "synthesize",
    "links",
    "evaluate",
    "ledger",
    "codebook",
)


def patients(number: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "patient": [f"p{i:04d}" for i in range(number)],
            "sex": rng.choice(["F", "M"], number),
            "age": rng.integers(0, 90, number),
        }
    )


def stays(people: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    owners = np.repeat(people["patient"].to_numpy(), rng.integers(0, 4, len(people)))
    return pd.DataFrame(
        {
            "patient": owners,
            "ward": rng.choice(["A", "B", "C"], len(owners)),
            "nights": rng.integers(1, 15, len(owners)),
        }
    )


def as_csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def field(app: Tab, beginning: str):
    """The upload field whose key begins so."""
    return next(
        each for each in app.at.file_uploader if str(each.key).startswith(beginning)
    )


def bring(
    app: Tab,
    people: pd.DataFrame | None = None,
    events: pd.DataFrame | None = None,
) -> Tab:
    """Bring a file of people, and one of their events."""
    people = patients() if people is None else people
    events = stays(people) if events is None else events
    app.go("upload").upload(as_csv(people), "patients.csv")
    field(app, "second-file").upload("stays.csv", as_csv(events), "text/csv").run()
    return app


def bring_both(app: Tab, *files: tuple[str, pd.DataFrame]) -> Tab:
    """Bring two files at once, where a page asks for them."""
    content = [(name, as_csv(frame), "text/csv") for name, frame in files]
    field(app, "pair").set_value(content).run()
    return app.go("upload")


def say_cap(app: Tab, most: int) -> Tab:
    groups = app.at.get("button_group")
    cap = [each for each in groups if each.label.startswith("Maximum number of rows")]
    cap[0].set_value(most).run()
    return app


def answer(app: Tab) -> Tab:
    """Answer what happens to rows that do not fit, and whether 007 is 7."""
    app.press("Leave out what does not fit")
    rule(app, "Keys such").set_value(AS_WRITTEN).run()
    return app


def open_pair(app: Tab, button: str = "Open the data set") -> Tab:
    bring(app)
    return answer(say_cap(app, 3)).press(button)


def rule(app: Tab, beginning: str):
    """The question for a rule whose label begins so."""
    return next(each for each in app.at.radio if each.label.startswith(beginning))


def last_pair(tab: Tab) -> str:
    """The id of the last release of both tables."""
    ids = [line.request_id for line in tab.curator.lines()]
    return [each for each in ids if each.endswith(" events")][-1].removesuffix(
        " events"
    )


def spent(tab: Tab) -> int:
    balance = tab.curator.balance()
    return balance.spent + balance.reserved


def test_nothing_is_asked_of_who_has_one_file(app: Tab) -> None:
    """Who has one file would have to understand what a second one is for."""
    app.go("upload").upload(as_csv(patients()), "patients.csv")
    assert app.session.linked_draft is None
    assert "How the files belong together" not in app.text
    # in sight, below the button for one file, which a phone shows first
    words = "**The same people have rows in a second file?**"
    order = [
        str(getattr(each, "label", "") or getattr(each, "value", ""))
        for each in app.at.main
    ]
    assert order.index("See what you would get") < order.index(words)
    assert order.index(words) < order.index("1 · Who is protected?")
    assert not [each for each in app.at.expander if "second file" in each.label]
    app.press("Open another table").press("Open this sample: Census")
    app.go("upload")
    assert words not in app.text


@pytest.mark.parametrize("is_turned", [False, True])
def test_roles_and_keys_are_proposed(app: Tab, is_turned: bool) -> None:
    """One would have to know which file is which, in which order."""
    people = patients()
    events = stays(people).rename(columns={"patient": "PatientNo"})
    bring(app, *((events, people) if is_turned else (people, events)))
    pair = app.session.linked_draft
    assert pair is not None
    assert (pair.people_key, pair.events_key) == ("patient", "PatientNo")
    assert len(pair.people.frame) == len(people)
    assert app.errors == ""


def test_files_in_another_order_keep_their_roles(app: Tab) -> None:
    """The events would be taken for people, as the first file was people before."""
    people = patients()
    bring(app, people, stays(people))
    app.press("Open another table")
    bring(app, stays(people), people)
    pair = app.session.linked_draft
    assert pair is not None
    assert len(pair.people.frame) == len(people)


def test_no_rule_is_chosen_in_silence(app: Tab) -> None:
    """Rows would be left out, or people merged, by a default that nobody saw."""
    say_cap(bring(app), 3)
    assert app.button("Open the data set").disabled
    assert all(rule(app, name).value is None for name in ("Events whose", "Keys such"))
    assert "must not depend on whether these tables have such rows" in app.text
    app.press("Leave out what does not fit")
    assert rule(app, "Events whose").value == LEAVE_OUT
    # whether 007 is 7 is a question about people, and asked by itself
    assert rule(app, "Keys such").value is None
    assert app.button("Open the data set").disabled
    rule(app, "Keys such").set_value(AS_NUMBERS).run()
    assert not app.button("Open the data set").disabled
    app.press("Open the data set")
    assert app.errors == ""
    assert app.session.linked is not None
    assert app.session.linked.linked.rules.keys == AS_NUMBERS


def test_what_does_not_fit_is_counted_and_asked(app: Tab) -> None:
    """Events of nobody, rows without a key and people who are there twice would be
    decided in silence.
    """
    people = patients()
    events = stays(people)
    events["patient"] = events["patient"].astype(object)
    events.loc[:8, "patient"] = [f"x{i}" for i in range(9)]
    events.loc[9:12, "patient"] = None
    twice = pd.concat([people, people.head(5).assign(age=50)])
    twice["patient"] = twice["patient"].str[1:]
    events["patient"] = events["patient"].str.replace("^p0*", "", regex=True)
    say_cap(bring(app, twice, events), 3)
    assert app.button("Open the data set").disabled
    assert "internal: based on the original" in app.text
    keys = rule(app, "2")
    assert "007 and 7" in keys.label
    keys.set_value(AS_NUMBERS).run()
    rule(app, "9 events whose person").set_value(LEAVE_OUT).run()
    rule(app, "4 rows have no key").set_value(LEAVE_OUT).run()
    assert app.button("Open the data set").disabled
    rule(app, "5 people have several rows").set_value(KEEP_ONE).run()
    app.press("Open the data set")
    assert app.errors == ""
    assert app.session.linked is not None
    counts = app.session.linked.count_rows().content
    assert (counts.orphan_events, counts.repeated_people) == (9, 5)
    assert counts.people == len(people)


def test_people_without_values_need_a_cell(app: Tab) -> None:
    """A rule that adds people would end in a traceback."""
    answer(say_cap(bring(app), 3))
    draft = app.session.linked_draft
    assert draft is not None
    lines = draft.people.edited_grid.assign(missing=False)
    draft.people.grid = draft.people.edited_grid = lines
    draft.people.version += 1
    rule(app, "Events whose").set_value(OWN_PERSON).run()
    assert "no cell for missing values" in app.errors
    assert app.button("Open the data set").disabled


def test_a_cap_that_drops_most_events_is_said(app: Tab) -> None:
    """Results about people would be taken for results about events."""
    people = patients()
    events = pd.concat([stays(people)] * 4)
    answer(say_cap(bring(app, people, events), 1))
    dropped = [
        each.value for each in app.at.warning if "of the rows count" in each.value
    ]
    assert len(dropped) == 1
    assert "people rather than rows" in dropped[0]
    say_cap(app, 20)
    assert "of the rows count" not in app.text


def test_a_file_of_people_who_have_several_rows_is_doubted(app: Tab) -> None:
    """Whoever takes the members of households for the people would lose most rows."""
    people = patients()
    bring(app, people, stays(people))
    words = "If patients.csv has one row for each person"
    assert words not in app.text.replace("\\", "")
    roles = rule(app, "Which table has one row")
    roles.set_value(roles.options[1]).run()
    assert words in app.text.replace("\\", "")


def test_columns_that_are_left_out_are_named_before_opening(app: Tab) -> None:
    """A number of the order would vanish from the drawn file without a word."""
    people = patients()
    orders = stays(people).assign(order_no=lambda rows: range(5000, 5000 + len(rows)))
    answer(say_cap(bring(app, people, orders), 3))
    shown = app.text.replace("\\", "")
    assert "**Left out of stays.csv:** " in shown
    assert "order_no" in shown


def test_what_was_answered_outlasts_another_page(app: Tab) -> None:
    """Whoever looks something up would have to answer everything again."""
    say_cap(bring(app), 3)
    rule(app, "Keys such").set_value(AS_NUMBERS).run()
    app.go("learn").go("upload")
    assert app.session.linked_draft is not None
    assert rule(app, "Keys such").value == AS_NUMBERS
    answer(app)
    assert not app.button("Open the data set").disabled
    app.press("Only patients")
    assert app.session.linked_draft is None
    assert app.session.draft is not None


def test_a_file_can_be_read_in_another_way(app: Tab) -> None:
    """Both files would have to be brought again for one option."""
    say_cap(bring(app), 3)
    app.set("button_group", "Columns of", "events")
    app.press("Read it again").go("upload")
    pair = app.session.linked_draft
    assert app.errors == ""
    assert pair is not None
    assert app.session.draft is pair.events
    assert [table.name for table in pair.tables] == ["patients.csv", "stays.csv"]
    answer(app).press("Open the data set")
    assert app.errors == ""
    assert app.session.linked is not None


def test_files_of_other_people_are_refused(app: Tab) -> None:
    """A pair without any common person would be opened, and be empty."""
    people = patients()
    events = stays(people)
    events["patient"] = "q" + events["patient"]
    say_cap(bring(app, people, events), 3)
    assert "No event belongs to a person" in app.errors
    assert app.button("Open the data set").disabled


def test_the_same_file_twice_is_refused(app: Tab) -> None:
    """A table linked with itself would count each person twice."""
    people = patients()
    bring(app, people, people)
    assert "this is the same table again" in app.errors.lower()
    assert app.session.linked_draft is None
    assert app.session.draft is not None


def test_a_column_of_both_files_is_left_out_by_a_click(app: Tab) -> None:
    """One would have to rename it elsewhere and begin again."""
    people = patients()
    events = stays(people).assign(age=40)
    answer(say_cap(bring(app, people, events), 3))
    assert app.button("Open the data set").disabled
    app.press("Leave them out of stays").press("Open the data set")
    assert app.errors == ""
    assert app.session.linked is not None
    assert "age" not in app.session.linked.linked.events.domain.names


def test_two_files_need_room_for_both(
    app: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server would run out of memory by the second file."""
    app.go("upload").upload(as_csv(patients()), "patients.csv")
    monkeypatch.setattr(holders, "sizes_of_open_tables", lambda: [0] * 1_000)
    events = stays(patients())
    field(app, "second-file").upload("stays.csv", as_csv(events), "text/csv").run()
    assert "no room for another table" in app.errors
    assert app.session.linked_draft is None
    assert app.session.draft is not None


def test_both_views_work_on_every_page(app: Tab) -> None:
    """A page would end in a traceback for one of the tables."""
    open_pair(app)
    app.go("synthesize").release()
    for view in ("people", "events"):
        app.session.look_at(view)
        for page in PAGES:
            app.go(page)
            assert app.errors == "", (view, page)
            assert "one person with all rows in both tables" in app.text
    names = app.curator.schema.domain.names
    assert names == ("sex", "age", "number of events", "ward", "nights")


def test_exact_tables_are_not_of_a_pair(app: Tab) -> None:
    """Exact figures of the events that count would pass for those of the file."""
    open_pair(app)
    for view in ("people", "events"):
        app.session.look_at(view)
        app.go("tables")
        assert "This page looks at one file. Open patients" in app.text
        assert not app.at.dataframe
        assert not app.at.get("download_button")
        assert not app.at.button
    assert app.errors == ""


def test_a_pair_that_is_not_open_is_not_audited(app: Tab) -> None:
    """The audit of one file would pass for that of both."""
    bring(app)
    app.go("audit")
    assert "These two tables are not open yet" in app.text
    assert "unique" not in app.text


def test_a_file_beside_an_open_pair_is_audited_alone(app: Tab) -> None:
    """The audit of the pair would pass for that of the new file."""
    open_pair(app)
    app.go("upload").press("Open another table")
    other = patients(40).assign(patient=range(40))
    app.go("upload").upload(as_csv(other), "other.csv")
    app.go("audit")
    assert app.errors == ""
    assert "How many events of a person" not in app.text
    app.go("anonymize")
    assert app.errors == ""


def test_people_are_audited_by_their_events(
    app: Tab, new_tab: Callable[[], Tab]
) -> None:
    """Nobody would learn what somebody finds who knows a patient and two stays."""
    open_pair(app).press("Audit: is it anonymous?")
    app.go("audit")
    assert app.errors == ""
    assert "internal: based on the original" in app.text
    # what is proposed holds something about events
    known = next(
        each
        for each in app.at.multiselect
        if each.label.startswith("What others may know about a")
    )
    assert known.value == ["sex", "age", "ward", "nights"]
    app.set("multiselect", "What others may know about a", ["sex", "ward", "nights"])
    assert "such as ward and nights, they know of 2 events of each person" in app.text
    assert "All events are looked at here" in app.text
    people = patients()
    rows = stays(people).merge(people[["patient", "sex"]])
    shares = {}
    for number in (1, 2):
        app.set("radio", "How many events of a person others", number)
        assert app.errors == ""
        sets = {
            patient: [*zip(own["sex"], own["ward"], own["nights"], strict=True)]
            for patient, own in rows.groupby("patient")
        }
        unique = [
            any(
                sum(not Counter(some) - Counter(other) for other in sets.values()) == 1
                for some in combinations(own, min(number, len(own)))
            )
            for own in sets.values()
        ]
        shares[number] = sum(unique) / len(people)
        shown = percent(shares[number])
        assert f"{shown} of the people are unique" in app.text
    assert shares[2] > shares[1] > 0
    # one person, by what is known of her and of two stays
    for label, value in (("sex", "F"), ("ward", "A"), ("ward", "B")):
        fields = [each for each in app.at.text_input if each.label == label]
        next(each for each in fields if not each.value).set_value(value).run()
    fitting = [
        own
        for own in sets.values()
        if {("F", "A"), ("F", "B")} <= {(sex, ward) for sex, ward, _ in own}
    ]
    assert f"{len(fitting)} people fit" in app.text
    # the same from either half; a line in the ledger, and no charge
    app.session.look_at("events")
    app.go("audit")
    app.set("multiselect", "What others may know about a", ["sex", "ward", "nights"])
    assert f"{percent(shares[2])} of the people are unique" in app.text
    kinds = [line.content.get("evaluation") for line in app.curator.lines()]
    assert "re-identification risk by events" in kinds
    assert spent(app) == 0
    downloads = [each.label for each in app.at.get("download_button")]
    assert downloads == ["Download as one HTML file"]
    # without its files, they are asked for
    again = new_tab().go("audit")
    again.press("Continue with patients")
    bring_both(again, ("stays.csv", stays(people)), ("patients.csv", people))
    assert "are unique" in again.go("audit").text
    assert again.errors == ""


def test_a_pair_is_declared_anew(app: Tab) -> None:
    """A slip in what is known about two files could not be corrected any more."""
    people = patients()
    events = stays(people)
    open_pair(app)
    account = app.curator.account
    app.go("codebook").press("Declare it anew").go("upload")
    assert app.errors == ""
    bring_both(app, ("stays.csv", events), ("patients.csv", people))
    assert app.errors == ""
    pair = app.session.linked_draft
    assert pair is not None
    assert pair.people.name == "patients.csv"
    assert "was opened before, with a budget of" in app.text
    # as it was answered: nothing is open, and another rule may be chosen
    assert rule(app, "Keys such").value == AS_WRITTEN
    assert not app.button("Open the data set").disabled
    rule(app, "Events whose").set_value(OWN_PERSON).run()
    lines = pair.people.edited_grid
    lines.loc[lines["column"] == "age", "high"] = "109"
    lines["missing"] = True
    pair.people.grid = pair.people.edited_grid = lines
    pair.people.version += 1
    app.at.run()
    app.press("Open the data set")
    assert app.errors == ""
    assert app.curator.account == account
    assert app.session.linked is not None
    made = app.session.linked.linked
    assert made.people.column("age").high == 109
    assert made.rules.orphans == OWN_PERSON
    assert made.events.unit.max_rows == 3
    assert app.session.linked_draft is None
    declared = [line for line in app.curator.lines() if "declared" in line.content]
    assert len(declared) == 2
    # another number of events is another promise
    app.go("codebook").press("Declare it anew").go("upload")
    bring_both(app, ("stays.csv", events), ("patients.csv", people))
    say_cap(app, 5).press("Open the data set")
    assert "another budget or privacy unit" in app.errors
    app.press("Open another table").press("Back to patients")
    assert "What you can do now" in app.text


def test_a_pair_is_anonymized(app: Tab) -> None:
    """One table would be anonymized without the other, or give a patient away together
    with it.
    """
    open_pair(app).go("audit")
    app.set("multiselect", "What others may know about a", ["sex", "age", "ward"])
    app.press("Make it safer")
    app.go("anonymize")
    assert app.errors == ""
    known = next(
        each
        for each in app.at.multiselect
        if each.label.startswith("What others may know about a")
    )
    assert known.value == ["sex", "age", "ward"]
    app.set("multiselect", "What should stay unknown", ["nights"])
    app.press("Make both anonymized tables")
    assert app.errors == ""
    made = app.session.own(session.AnonymizePairResult).made
    assert made is not None
    people, events = made.people.frame, made.events.frame
    both = people.merge(events, on="patient").reset_index()
    two = both.merge(both, on="patient")
    two = two[two["index_x"] != two["index_y"]]
    columns = ["sex_x", "age_x", "ward_x", "ward_y"]
    for rows, names in ((two, columns), (both, ["sex", "age", "ward"])):
        assert rows.groupby(names)["patient"].nunique().min() >= 5
    assert people.groupby(["sex", "age"]).size().min() >= 5
    assert len(people) >= 0.98 * 300
    assert not {*people["patient"]} & {*patients()["patient"]}
    promise = "sex and age of a person and ward of 2 events finds a group of at least 5"
    assert promise in app.text
    assert "Whoever knows more than 2 events of a person" in app.text
    assert spent(app) == 0
    downloads = [each.label for each in app.at.get("download_button")]
    assert downloads == [
        "People (CSV)",
        "People (Parquet)",
        "Events (CSV)",
        "Events (Parquet)",
    ]
    (line,) = [line for line in app.curator.lines() if "anonymized" in line.content]
    assert line.content["about"] == ["5-anonymity against 2 known events"]
    # other settings are said, and what cannot be had is a sentence
    app.set("number_input", "Everybody is in a group", 400)
    assert "made under earlier settings" in app.text
    app.press("Make both anonymized tables")
    assert "more people than may be left out" in app.errors
    app.set("multiselect", "What others may know about a", [])
    assert app.button("Make both anonymized tables").disabled
    app.set("multiselect", "What others may know about a", ["sex"])
    app.set("number_input", "Everybody is in a group", 5)
    app.press("Make both anonymized tables")
    assert "Whoever knows sex of a person finds a group of at least 5" in app.text
    assert "something of a person's events may find fewer people" in app.text


def test_both_anonymized_tables_are_judged_together(app: Tab) -> None:
    """Nobody could say what k-anonymity took from people, events and their ties."""
    people = patients()
    events = stays(people).sort_values("patient")
    # a patient stays in one ward, and the old ones in the first
    old = people.set_index("patient")["age"].loc[events["patient"]].to_numpy() > 45
    events["ward"] = np.where(old, "A", "B")
    answer(say_cap(bring(app, people, events), 2)).press("Open the data set")
    app.go("anonymize")
    app.set("multiselect", "What others may know about a", ["sex", "age"])
    app.press("Make both anonymized tables").press("Evaluate")
    app.go("evaluate")
    assert app.errors == ""
    chosen = next(each for each in app.at.selectbox if each.label == "Release")
    assert chosen.value == "anonymized pair"
    figures = {each.label: each.value for each in app.at.metric}
    made = app.session.own(session.AnonymizePairResult).made
    left_out = made.left_out_people / len(people)
    assert figures["People left out"] == percent(left_out)
    assert figures["Keys that do not fit"] == "0"
    # wards and the number of events are published as they are
    assert figures["Events of one person kept"].startswith(("9", "100"))
    assert "on average in the original" in app.text
    assert "spread evenly over these values" in app.text
    across, of_person = (each.value for each in app.at.dataframe[:2])
    pairs = {*zip(across["column of people"], across["column of events"], strict=True)}
    assert ("age", "ward") in pairs
    assert of_person["column of events"].tolist() == ["nights", "ward"]
    for table in ("People", "Events"):
        app.set("segmented_control", "Table", table)
        assert app.errors == ""
    kinds = [line.content.get("evaluation") for line in app.curator.lines()]
    assert "events of one person" in kinds
    assert spent(app) == 0


def test_a_column_without_detail_is_named(app: Tab) -> None:
    """Nights that are a star in each row would be called fit for counting."""
    open_pair(app).go("anonymize")
    app.set("multiselect", "What others may know about a", ["sex", "nights"])
    app.set("number_input", "Everybody is in a group", 60)
    app.press("Make both anonymized tables").press("Evaluate")
    app.go("evaluate")
    assert app.errors == ""
    made = app.session.own(session.AnonymizePairResult).made
    assert set(made.events.frame["nights"]) == {"*"}
    assert "nights says nothing any more: every row has the same label." in app.text
    assert "Weakest: events." in app.text


def test_an_identifier_is_never_published_unasked(app: Tab) -> None:
    """An address that was taken for known, and then not, would leave as it is."""
    people = patients()
    people["mail"] = [f"a{i}@example.org" for i in range(len(people))]
    answer(say_cap(bring(app, people), 3)).press("Open the data set")
    app.go("anonymize")
    assert "Not published: mail." in app.text
    both = "In both lists, so published, coarser if needed: mail."
    for known in (["sex", "mail"], ["sex", "ward"]):
        app.set("multiselect", "What others may know about a", known)
        assert (both in app.text) == ("mail" in known)
    assert "Not published: mail." in app.text
    assert "Published, coarser if needed: sex and ward." in app.text
    assert "Published as they are: age and nights." in app.text
    app.press("Make both anonymized tables")
    assert app.errors == ""
    made = app.session.own(session.AnonymizePairResult).made
    assert list(made.people.frame) == ["patient", "sex", "age"]
    assert list(made.events.frame) == ["patient", "ward", "nights"]
    # from the audit, where it was known
    app.go("audit").set("multiselect", "What others may know about a", ["sex", "mail"])
    app.press("Make it safer")
    app.go("anonymize").set("multiselect", "What others may know about a", ["sex"])
    assert "Not published: mail." in app.text
    # unless somebody says so
    app.set("multiselect", "Columns that are not published", [])
    assert "Not published" not in app.text
    assert "Published as they are: age, mail, ward and nights" in app.text


def test_a_known_column_is_not_proposed_as_not_published(app: Tab) -> None:
    """A column would stand in both lists, and be published nevertheless."""
    people = patients()
    events = stays(people)
    names = {"A": "surgery", "B": "medicine", "C": "children"}
    events["ward"] = events["ward"].map(names)
    answer(say_cap(bring(app, people, events), 3)).press("Open the data set")
    app.go("anonymize")
    fields = {each.label: each for each in app.at.multiselect}
    known = fields["What others may know about a person and about events"].value
    assert "ward" in known
    assert fields["Columns that are not published"].value == []
    assert "In both lists" not in app.text
    # a text that may name people is not published once it is not known any more
    others = [name for name in known if name != "ward"]
    app.set("multiselect", "What others may know about a", others)
    assert app.errors == ""
    assert "Not published: ward." in app.text
    assert "default value" not in app.text
    app.set("multiselect", "Columns that are not published", [])
    assert "Not published" not in app.text
    app.set("multiselect", "What others may know about a", others[:1])
    assert "Not published" not in app.text


def test_a_number_that_events_repeat_is_not_proposed(app: Tab) -> None:
    """A case number of each patient would leave with the stays."""
    people = patients()
    events = stays(people)
    place = {name: i for i, name in enumerate(people["patient"])}
    events["caseno"] = [
        f"{place[name] * 7919 % 100_000:05d}" for name in events["patient"]
    ]
    answer(say_cap(bring(app, people, events), 3)).press("Open the data set")
    app.go("anonymize")
    assert "Not published: caseno." in app.text
    app.press("Make both anonymized tables")
    assert list(app.session.own(session.AnonymizePairResult).made.events.frame) == [
        "patient",
        "ward",
        "nights",
    ]


def test_unchanged_columns_and_other_versions_are_said(
    app: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever knows a column that is published as it is would find people, and two
    versions would be joined by it, without a word.
    """
    open_pair(app).go("anonymize")
    app.set("multiselect", "What others may know about a", ["sex", "ward"])
    app.press("Make both anonymized tables")
    made = app.session.own(session.AnonymizePairResult).made
    shares = {}
    for column in ("age", "nights"):
        of_people = ["sex", *({column} & {*made.people.frame})]
        of_events = ["ward", *({column} & {*made.events.frame})]
        people = made.people.frame.set_index("patient")[of_people]
        events = made.events.frame.set_index("patient")[of_events]
        sets = {
            patient: Counter(events.loc[[patient]].itertuples(index=False, name=None))
            if patient in events.index
            else Counter()
            for patient in people.index
        }
        own = dict(zip(people.index, people.itertuples(index=False), strict=True))
        unique = [
            any(
                sum(
                    own[other] == own[patient] and not Counter(some) - sets[other]
                    for other in sets
                )
                == 1
                for some in [
                    (),
                    *combinations(
                        sets[patient].elements(), min(2, sets[patient].total())
                    ),
                ]
            )
            for patient in sets
        ]
        shares[column] = np.mean(unique)
    worst = max(shares, key=lambda name: shares[name])
    assert shares[worst] > 0.1
    warned = f"{percent(shares[worst])} of the people are unique for somebody who also "
    assert f"{warned}knows {worst}, which is published as it is" in app.text
    assert "Other versions" not in app.text
    # too many pairs of events that differ by unchanged columns alone
    compute = linked_view._compute_report

    def refuse_others(question: LinkedAuditQuestion, **rows: object) -> object:
        if question.others:
            raise LimitError("too many pairs", remedy="name fewer columns")
        return compute(question, **rows)

    monkeypatch.setattr(linked_view, "_compute_report", refuse_others)
    app.set("multiselect", "What others may know about a", ["sex", "age", "ward"])
    app.press("Make both anonymized tables")
    assert app.errors == ""
    assert "too many different events to say what nights would" in app.text
    assert "Other versions of these tables were made before (1 in all)" in app.text
    app.set("multiselect", "What others may know about a", ["sex", "age", "nights"])
    app.set("multiselect", "Columns that are not published", ["ward"])
    app.press("Make both anonymized tables")
    assert "too many different" not in app.text
    assert "which is published" not in app.text


def few_stays(people: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"patient": people["patient"].head(3), "ward": ["A", "B", "C"]})


def wards_of_their_own(people: pd.DataFrame) -> pd.DataFrame:
    owners = np.repeat(people["patient"].to_numpy()[:57], 2)
    nights = np.random.default_rng(5).integers(1, 9, len(owners))
    return pd.DataFrame(
        {
            "patient": owners,
            "ward": [f"ward {i}" for i in range(len(owners))],
            "nights": nights,
        }
    )


@pytest.mark.parametrize(
    ("events", "known", "secret", "smallest"),
    [
        (wards_of_their_own, ["zip"], [], 60),
        (wards_of_their_own, ["ward"], [], 57),
        (wards_of_their_own, ["ward"], ["nights"], 57),
        (few_stays, ["ward"], [], 57),
    ],
)
def test_a_pair_without_detail_is_made_too(
    app: Tab,
    events: Callable[[pd.DataFrame], pd.DataFrame],
    known: list[str],
    secret: list[str],
    smallest: int,
) -> None:
    """Safe tables would be withheld, or called smaller than they are."""
    rng = np.random.default_rng(0)
    people = patients(60).assign(
        zip=rng.permutation(np.arange(10_000, 90_000, 1_333))[:60]
    )
    answer(say_cap(bring(app, people, events(people)), 3)).press("Open the data set")
    app.go("anonymize")
    app.set("multiselect", "What others may know about a", known)
    app.set("multiselect", "What should stay unknown", secret)
    app.set("select_slider", "People left out", 0.1)
    app.set("number_input", "Everybody is in a group", 40)
    app.press("Make both anonymized tables")
    assert app.errors == ""
    assert f"The smallest group has {smallest}." in app.text


def test_a_server_has_a_smallest_group_for_pairs_too(
    app: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy of 20 people in a group would hold for one table alone."""
    open_pair(app).go("anonymize")
    app.set("multiselect", "What others may know about a", ["sex", "ward"])
    monkeypatch.setattr(linked_view, "read_policy", lambda: Policy(k=290))
    app.press("Make both anonymized tables")
    assert "fewer than 290" in app.errors
    assert app.session.own(session.AnonymizePairResult).made is None


def test_rows_that_do_not_fit_are_said(app: Tab) -> None:
    """An audit of a part of the files would pass for one of all."""
    people = patients()
    events = stays(people)
    events.loc[:6, "patient"] = "stranger"
    answer(say_cap(bring(app, people, events), 3)).press("Open the data set")
    app.go("audit")
    app.set("multiselect", "What others may know about a", ["ward"])
    assert "7 rows do not fit the rules of this data set" in app.text
    app.set("multiselect", "What others may know about a", [])
    assert "Choose at least one column that others may know" in app.text
    assert app.errors == ""


def test_a_pair_is_released_once(app: Tab) -> None:
    """A second click would pay twice, or the second table never be paid for."""
    open_pair(app, "See what you would get").go("synthesize")
    assert app.errors == ""
    metrics = {each.label: each.value for each in app.at.metric}
    assert {"Error of people (95\u202f%)", "Error of events (95\u202f%)"} <= {*metrics}
    app.press("Release for")
    assert spent(app) == 0
    pay = app.button("Pay and release")
    pay.click().run()
    app.settle()
    once = spent(app)
    assert once > 0
    pay.click().run()
    app.settle()
    assert spent(app) == once
    assert app.at.title[0].value == "People and their events"
    assert "one person with all rows in both tables" in app.text


def test_the_same_again_is_free(app: Tab) -> None:
    """The same release would be paid twice without a word."""
    open_pair(app).go("synthesize").release()
    once = spent(app)
    downloads = [each.label for each in app.at.get("download_button")]
    tables = {"People (CSV)", "Events (CSV)", "People (Parquet)", "Events (Parquet)"}
    assert tables <= {*downloads}
    app.press("Release something else")
    assert app.button("Show the stored release, free").proto.type == "primary"
    app.press("Show the stored release, free")
    assert app.at.title[0].value == "People and their events"
    assert spent(app) == once


def test_drawn_events_belong_to_drawn_people(app: Tab) -> None:
    """The page would show tables that do not fit together."""
    open_pair(app).go("synthesize").release()
    app.set("number_input", "People", 50)
    people, events = (each.value for each in app.at.dataframe[:2])
    assert len(people) == 50
    assert {*events["patient"]} <= {*people["patient"]}
    assert "number of events" not in people
    before = people.copy()
    app.press("Draw other rows")
    assert not app.at.dataframe[0].value.equals(before)


def test_its_lines_and_its_views_can_be_told_apart(app: Tab) -> None:
    """Two charges would have one name, and one be compared with the other table."""
    open_pair(app).go("synthesize").release()
    app.press("People: figures")
    title = app.at.title[0].value.replace("\\", "")
    assert title.startswith("People: Synthetic table")
    app.press("People and their events")
    assert app.at.title[0].value == "People and their events"
    app.press("Release something else").press("One column").release()
    app.go("ledger")
    asked = list(app.at.dataframe[0].value["asked"])
    assert asked[1:] == [
        "People and their events: Events",
        "People and their events: People",
    ]
    assert asked[0].startswith("People: Histogram of sex")
    assert list(app.at.dataframe[0].value["state"]) == ["released"] * 3
    app.go("evaluate")
    offered = next(each for each in app.at.selectbox if each.label == "Release").options
    assert len([each for each in offered if each.startswith("People: ")]) == 2
    assert not [each for each in offered if each.startswith("Events: ")]
    app.session.look_at("events")
    app.go("evaluate")
    offered = next(each for each in app.at.selectbox if each.label == "Release").options
    assert [each for each in offered if each.startswith("Events: ")]
    assert not [each for each in offered if each.startswith("People: ")]
    assert app.errors == ""


def test_the_same_files_find_their_account(
    app: Tab, new_tab: Callable[[], Tab]
) -> None:
    """What was spent on two files would be forgotten with the tab."""
    open_pair(app).go("synthesize").release()
    once = spent(app)
    dataset = app.curator.account.dataset
    people = patients()
    again = bring(new_tab(), stays(people), people)
    assert again.session.linked_draft is None
    assert again.curator.account.dataset == dataset
    assert again.session.linked is not None
    assert len(again.session.linked.people.schema.domain.names) == 3
    assert spent(again) == once
    assert again.errors == ""
    # and without the rows, from the list of data sets
    other = new_tab()
    other.go("upload").press("Continue with patients")
    other.go("synthesize")
    assert "upload both files" in other.text
    bring_both(other, ("stays.csv", stays(people)), ("patients.csv", people))
    assert other.session.linked is not None
    assert other.session.linked.people.account.dataset == dataset
    other.go("synthesize").press("Open People and their events")
    assert other.at.title[0].value == "People and their events"


def test_keys_of_other_names_are_found_again(
    app: Tab, new_tab: Callable[[], Tab]
) -> None:
    """Whoever chose the keys by hand could not come back to the account."""
    people = patients()
    events = stays(people).rename(columns={"patient": "who"})
    bring(app, people, events)
    app.set("selectbox", "Column that names the person in patients", "patient")
    app.set("selectbox", "Column that names the person in stays", "who")
    answer(say_cap(app, 3)).press("Open the data set")
    dataset = app.curator.account.dataset
    again = bring(new_tab(), events, people)
    assert again.errors == ""
    assert again.session.linked_draft is None
    assert again.curator.account.dataset == dataset
    assert again.session.linked is not None
    assert again.session.linked.linked.events_key == "who"


def test_what_one_file_spent_before_is_said(app: Tab) -> None:
    """The budget of a file that was opened alone would be spent a second time, and
    nobody be told.
    """
    people = patients()
    app.open(as_csv(people), "patients.csv")
    alone = app.curator.account.dataset
    app.go("upload")
    bring_both(app, ("patients.csv", people), ("stays.csv", stays(people)))
    assert "was opened alone before" in app.text
    answer(say_cap(app, 3)).press("Open the data set")
    assert app.errors == ""
    assert app.curator.account.dataset != alone
    notes = [line.content for line in app.curator.lines()]
    assert {"kind": "same people", "with": alone}.items() <= next(
        note for note in notes if note.get("kind") == "same people"
    ).items()


def test_the_number_of_events_can_be_found_with_noise(
    app: Tab, new_tab: Callable[[], Tab]
) -> None:
    """An owner who does not know it would look, or pay for it again at each opening."""
    people = patients(2_000)
    bring(app, people)
    answer(say_cap(app, -1)).press("Open the data set")
    assert app.errors == ""
    once = spent(app)
    assert once > 0
    assert app.session.linked is not None
    found = app.session.linked.events.schema.unit
    assert found.found
    again = bring(new_tab(), people)
    assert again.session.linked is not None
    assert again.session.linked.events.schema.unit == found
    assert spent(again) == once
    again.go("ledger")
    assert again.errors == ""
    again.go("codebook").press("Declare it anew").go("upload")
    bring_both(again, ("patients.csv", people), ("stays.csv", stays(people)))
    again.press("Open the data set")
    assert again.errors == ""
    assert again.session.linked is not None
    assert again.session.linked.events.schema.unit == found
    assert spent(again) == once


def test_names_of_files_are_never_markup(app: Tab) -> None:
    """The name of a file would load a picture from elsewhere."""
    name = "![x](https://example.org/x.png).csv"
    app.go("upload").upload(as_csv(patients()), name)
    events = as_csv(stays(patients()))
    field(app, "second-file").upload(f"b{name}", events, "text/csv").run()
    labels = [label for each in app.at.radio for label in each.options]
    for text in (app.text, *labels, *(each.label for each in app.at.button)):
        assert "![" not in text
    answer(say_cap(app, 3)).press("Open the data set")
    app.go("synthesize").release()
    assert "![" not in app.text
    assert app.errors == ""


def test_three_files_are_refused(app: Tab) -> None:
    """A third file would be left out in silence."""
    people = patients()
    app.open(as_csv(people), "patients.csv")
    app.go("upload")
    events = stays(people)
    files = [("a.csv", people), ("b.csv", events), ("c.csv", events.head(50))]
    bring_both(app, *files)
    assert "these are not two files" in app.errors.lower()
    assert app.session.linked_draft is None


@pytest.mark.parametrize("beginning", ["table-upload", "table-audit"])
def test_two_files_at_once_are_a_pair(app: Tab, beginning: str) -> None:
    """Whoever drops both files on the first page would be refused, or lose one."""
    people = patients()
    files = [("stays.csv", stays(people)), ("patients.csv", people)]
    content = [(name, as_csv(frame), "text/csv") for name, frame in files]
    app.go("upload")
    field(app, beginning).set_value(content).run()
    app.go("upload")
    assert app.errors == ""
    pair = app.session.linked_draft
    assert pair is not None
    assert (pair.people.name, pair.events.name) == ("patients.csv", "stays.csv")
    answer(say_cap(app, 3)).press("Open the data set")
    assert app.errors == ""
    assert app.session.linked is not None


def test_of_two_files_the_one_that_cannot_be_read_is_named(app: Tab) -> None:
    """Whoever reads "the table has no rows" would look for it in both files."""
    people = patients(40)
    content = [
        (name, as_csv(frame), "text/csv")
        for name, frame in (("people.csv", people), ("stays.csv", stays(people)[:0]))
    ]
    app.go("upload")
    field(app, "table-upload").set_value(content).run()
    app.go("upload")
    assert "stays.csv**: The table has no rows" in app.errors.replace("\\", "")
    assert "people.csv" not in app.errors
    assert app.session.linked_draft is None


def test_three_files_at_once_are_refused_by_name(app: Tab) -> None:
    """A third file would be left out in silence, or a pair be made of any two."""
    people = patients(40)
    names = ["a.csv", "b.csv", "c ![x](y).csv", "d.csv", "e.csv", "f.csv", "g.csv"]
    content = [(name, as_csv(people), "text/csv") for name in names]
    for number, named in ((3, "c "), (7, "e.csv, 2 more")):
        app.go("upload")
        field(app, "table-upload").set_value(content[:number]).run()
        app.go("upload")
        assert "these are not two files" in app.errors.lower()
        assert named in app.errors.replace("\\", "")
        assert "![" not in app.errors
        assert app.session.draft is None
        assert app.session.linked_draft is None


def test_keys_are_proposed_by_their_values() -> None:
    """A small number that is also somebody's key would be proposed as the key."""
    people = patients().assign(patient=[f"{i:03d}" for i in range(300)])
    events = stays(people)
    events["patient"] = events["patient"].str.lstrip("0")
    assert linked.propose_keys(people, events) == (0, ("patient", "patient"))
    assert linked.propose_keys(events, people) == (1, ("patient", "patient"))
    events = events.rename(columns={"patient": "Patient ID"})
    assert linked.propose_keys(people, events) == (0, ("patient", "Patient ID"))


def test_keys_of_other_names_are_not_proposed() -> None:
    """A temperature would be proposed as the name of a person, and be opened."""
    people = patients().assign(patient=range(300)).rename(columns={"patient": "id"})
    weather = pd.DataFrame({"temperature": [*range(30)] * 10, "order id": range(300)})
    assert linked.propose_keys(people, weather) == (0, ("", ""))
    assert linked.propose_keys(weather, people.head(9)) == (1, ("", ""))
    assert linked.propose_keys(people, weather.assign(ID=[*range(100)] * 3)) == (
        0,
        ("id", "ID"),
    )


def test_a_button_answers_what_was_met_too(app: Tab) -> None:
    """A button under three questions would leave them open."""
    people = patients()
    events = stays(people)
    events["patient"] = events["patient"].astype(object)
    events.loc[:8, "patient"] = [f"x{i}" for i in range(9)]
    events.loc[9:12, "patient"] = None
    say_cap(bring(app, people, events), 3)
    rule(app, "9 events whose person").set_value(OWN_PERSON).run()
    answer(app)
    assert rule(app, "9 events whose person").value == OWN_PERSON  # a person's answer
    assert rule(app, "4 rows have no key").value == LEAVE_OUT


def test_two_files_without_a_common_column_wait(app: Tab) -> None:
    """Two files that have nothing to do with each other would be linked by chance."""
    weather = pd.DataFrame({"temperature": [*range(30)] * 10, "rain": [0.5] * 300})
    people = patients().assign(patient=range(300))
    bring(app, people, weather)
    assert app.errors == ""
    assert "no column that could do so has the same name" in app.text
    assert app.button("Open the data set").disabled
    asked = [
        each
        for each in app.at.selectbox
        if each.label.startswith("Column that names the person")
    ]
    assert [each.value for each in asked] == [None, None]
    for label, name in (("patients", "patient"), ("stays", "temperature")):
        app.set("selectbox", f"Column that names the person in {label}", name)
    assert "no column that could do so" not in app.text
    answer(say_cap(app, 3))
    assert not app.button("Open the data set").disabled


def test_files_with_hardly_a_common_person_are_refused(app: Tab) -> None:
    """A few keys that are equal by chance would make a pair of two strangers."""
    people = patients(100)
    strangers = [f"q{i}" for i in range(96)]
    events = pd.DataFrame(
        {"patient": [*people["patient"].head(4), *strangers], "ward": ["A", "B"] * 50}
    )
    answer(say_cap(bring(app, people, events), 3))
    assert "do not seem to be about the same people" in app.errors
    assert "internal: based on the original" in app.text
    assert app.button("Open the data set").disabled
    assert "Choose how many events" not in app.text


def test_four_of_eighty_keys_are_enough(app: Tab) -> None:
    """Files with few common people would be refused as well."""
    people = patients(100)
    strangers = [f"q{i}" for i in range(76)]
    events = pd.DataFrame(
        {"patient": [*people["patient"].head(4), *strangers], "ward": ["A", "B"] * 40}
    )
    answer(say_cap(bring(app, people, events), 3))
    assert app.errors == ""
    assert not app.button("Open the data set").disabled


def half_of(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.iloc[::2].reset_index(drop=True)


@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize(
    ("change_people", "change_events", "like"),
    [
        (half_of, None, "two.csv"),
        (None, half_of, "one.csv"),
    ],
)
def test_a_pair_with_one_known_file_is_asked_about(
    app: Tab,
    change_people: Callable[[pd.DataFrame], pd.DataFrame] | None,
    change_events: Callable[[pd.DataFrame], pd.DataFrame] | None,
    like: str,
    *,
    is_turned: bool,
) -> None:
    """Half of the people with the same events would get a second budget unasked."""
    open_pair(app)
    people = patients()
    events = stays(people)
    files = [
        ("one.csv", change_people(people) if change_people else people),
        ("two.csv", change_events(events) if change_events else events),
    ]
    if is_turned:
        files.reverse()
    app.go("upload").press("Open another table")
    app.go("upload").upload(as_csv(files[0][1]), files[0][0])
    field(app, "second-file").upload(files[1][0], as_csv(files[1][1]), "text/csv").run()
    assert f"{html.escape(like[:3])}\\.csv looks like a file of patients" in app.text
    assert app.session.linked_draft is not None
    answer(say_cap(app, 3))
    assert app.button("Open the data set").disabled
    rule(app, "Are both tables").set_value("the same").run()
    app.press("Open the data set")
    assert app.errors == ""
    own = app.curator.account.dataset
    (other,) = {*app.curator.ledger.datasets()} - {own}
    assert same_people(own, app.curator.ledger) == [other]
    # what the other has spent is said before paying, and in the ledger
    assert "is about the same people" not in app.go("ledger").text
    app.session.choose(other)
    app.go("synthesize").release()
    app.session.choose(own)
    for page in ("ledger", "synthesize"):
        app.go(page)
        if page == "synthesize":
            app.press("Release for")
        assert "stays\\.csv is about the same people and has spent" in app.text


def test_a_pair_of_other_people_is_not_asked_about(app: Tab) -> None:
    """A question about everything would be answered without being read."""
    open_pair(app)
    people = patients()
    rng = np.random.default_rng(3)
    others = people.assign(
        patient="q" + people["patient"], age=rng.integers(0, 90, len(people))
    )
    events = stays(people).assign(ward="D").iloc[:-5]
    events["patient"] = "q" + events["patient"]
    events["nights"] = rng.integers(1, 15, len(events))
    app.go("upload").press("Open another table")
    bring(app, others, events)
    assert "looks like" not in app.text
    answer(say_cap(app, 3))
    assert not app.button("Open the data set").disabled


def test_either_file_of_a_pair_alone_is_asked_about(app: Tab) -> None:
    """The events alone would get a second budget unasked."""
    open_pair(app)
    people = patients()
    for name, rows in (("one", people), ("two", stays(people))):
        app.go("upload").press("Open another table")
        app.go("upload").upload(as_csv(rows), f"{name}.csv")
        assert f"{name}\\.csv looks like a file of patients" in app.text


def test_a_changed_pair_is_asked_about_where_a_file_was_opened_alone(app: Tab) -> None:
    """The account of the file alone would stand for that of the pair."""
    people = patients()
    events = stays(people)
    app.open(as_csv(people), "patients.csv")
    app.go("upload")
    bring_both(app, ("patients.csv", people), ("stays.csv", events))
    assert "looks like" not in app.text
    answer(say_cap(app, 3)).press("Open the data set")
    assert app.errors == ""
    app.go("upload").press("Open another table")
    app.open(as_csv(people), "patients.csv").go("upload")
    bring_both(app, ("patients.csv", people), ("some.csv", half_of(events)))
    assert "patients\\.csv looks like a file of patients" in app.text


def test_a_maximum_from_the_data_is_in_every_promise(app: Tab) -> None:
    """A page that says that every guarantee will name it would not keep its word."""
    bring(app)
    app.press("How many rows each maximum keeps")
    answer(say_cap(app, 3))
    assert "Every guarantee will say so" in app.text
    app.press("Open the data set")
    app.go("synthesize").press("Release for")
    assert "number of events (high)" in app.text
    app.press("Pay and release").settle()
    promise = app.text
    assert "count, a number that was taken from the data" in promise
    assert "number of events (high)" in promise
    for half in ("People: figures", "Events: figures"):
        app.press(half)
        assert "number of events (high)" in app.text
        app.press("People and their events")


def test_a_maximum_said_beforehand_is_not_called_from_the_data(app: Tab) -> None:
    """A warning of everything would warn of nothing."""
    open_pair(app).go("synthesize").release()
    assert "taken from the data, " not in app.text
    assert "number of events (high)" not in app.text
    assert "At most 3 events of a person count. Further ones are neither" in app.text


def test_each_half_says_what_both_cost_together(app: Tab) -> None:
    """Whoever reads one page would be told of a part of what others can learn."""
    open_pair(app).go("synthesize").release()
    both = releases.load_pair(app.session.data_set, last_pair(app)).total_loss
    alone = app.session.data_set.release(f"{last_pair(app)} people").guarantee.loss
    plain = pair_sentences(both)
    assert all(sentence in app.text for sentence in plain)
    for half in ("People: figures", "Events: figures"):
        app.press(half)
        assert "is about the same people" in app.text
        assert loss_words(loss_fields(both)) in app.text
        assert all(sentence in app.text for sentence in plain)
        app.press("Show it to somebody")
        assert loss_words(loss_fields(both)) in html.unescape(app.framed)
        app.go("synthesize").press("People and their events")
    assert loss_words(alone) != loss_words(loss_fields(both))
    assert loss_words(loss_fields(both)).startswith("rho") == ("rho" in alone)
    # both losses by hand
    parts = [
        Fraction(
            app.session.data_set.release(f"{last_pair(app)} {view}").guarantee.loss[
                unit
            ]
        )
        for view in ("people", "events")
        for unit in alone
    ]
    assert sum(parts) == Fraction(loss_fields(both)[next(iter(alone))])


def test_a_release_of_one_table_names_no_other_half(app: Tab) -> None:
    """Readers would look for a half that does not exist."""
    open_pair(app).go("synthesize").press("One column").release()
    assert "is about the same people" not in app.text


def test_the_order_of_a_release_is_that_of_its_day(app: Tab) -> None:
    """Drawn events would be sorted by a column that nobody measured an order of."""
    open_pair(app).go("synthesize").release()
    data_set = app.session.data_set
    assert data_set is not None
    assert data_set.declaration.linked is not None
    declared = data_set.declaration.linked
    later = dataclasses.replace(declared.schema, order_by="nights")
    changed = dataclasses.replace(
        data_set,
        declaration=dataclasses.replace(
            data_set.declaration, linked=dataclasses.replace(declared, schema=later)
        ),
    )
    assert releases.load_pair(changed, last_pair(app)).order_by == ""


def test_an_order_is_kept_with_the_release(app: Tab) -> None:
    """Drawn events would lose the order that was paid for."""
    answer(say_cap(bring(app), 3)).set("selectbox", "Column that tells it", "nights")
    app.press("Open the data set").go("synthesize").release()
    assert app.errors == ""
    pair = releases.load_pair(app.session.data_set, last_pair(app))
    assert pair.order_by == "nights"


def test_counts_of_people_are_called_people(app: Tab) -> None:
    """A number of people would be read as one of rows."""
    open_pair(app).go("synthesize").release()
    assert "people of the truth" in app.text
    assert "rows of the truth" not in app.text
    release = app.session.data_set.release(f"{last_pair(app)} people")
    assert sentences.view_of_release(release) == "people"
    events = app.session.data_set.release(f"{last_pair(app)} events")
    assert sentences.view_of_release(events) == "events"


def test_two_totals_have_a_reason(app: Tab) -> None:
    """Two numbers of events on one page would look like an error."""
    open_pair(app).go("synthesize").release()
    headline = re.search(r"people and ([\d,]+) events\.\*\*", app.text)
    drawn = re.search(r"people and ([\d,]+) events are drawn", app.text)
    assert headline
    assert drawn
    reason = f"The released number of events is {headline[1]}"
    assert (reason in app.text) == (headline[1] != drawn[1])
    app.set("number_input", "People", 50)
    assert "The released number of events" not in app.text


def test_counts_are_exact_units(app: Tab) -> None:
    """The whole budget could not be spent in one release of both."""
    open_pair(app, "See what you would get").go("synthesize")
    budget = app.curator.balance().budget
    app.set("number_input", "epsilon", 3.0).release()
    assert app.errors == ""
    assert 0 <= budget - spent(app) < UNIT / 1000


@pytest.fixture
def answering():
    """The server that answers links is there."""
    links_work.set()
    yield
    links_work.clear()


def test_one_link_shows_both_tables(app: Tab, answering: None) -> None:
    """Somebody would need two links, each of which states half of the loss."""
    open_pair(app).go("synthesize").release()
    release = releases.load_pair(app.session.data_set, last_pair(app))
    app.press("Show it to somebody").go("links")
    assert app.errors == ""
    seen = html.unescape(app.framed)
    assert "people and" in seen
    assert "<h2>Events</h2>" in seen
    assert loss_words(loss_fields(release.total_loss)) in seen
    app.set("text_input", "Title", "Patients and stays")
    app.set("multiselect", "Charts", [("sex",), ("ward",)])
    app.set("toggle", "Also an interactive page", True).press("Make the link")
    token = app.at.code[0].value.rpartition("/share/")[2]
    shares = session.shares()
    page = shares.page_of(shares.open(token, None))
    shown, pictures = page.linked()
    assert shown.to_json() == release.to_json()
    assert pictures == (("sex",), ("ward",))
    assert "explore" in page.contents
    app.press("Revoke")
    assert shares.open(token, None) is None


def test_links_offer_both_and_each_half(app: Tab, answering: None) -> None:
    """A half that was shared before could not be shared again."""
    open_pair(app).go("synthesize").release().go("links")
    choice = next(each for each in app.at.selectbox if each.label == "Release")
    assert len(choice.options) == 3
    assert choice.options[0].startswith("People and their events")
    both = {"lead": "people and", "half": "is about the same people"}
    assert both["lead"] in html.unescape(app.framed)
    for option in choice.options[1:]:
        app.set("selectbox", "Release", option)
        assert both["half"] in html.unescape(app.framed)


def test_a_pair_is_judged_as_one(app: Tab) -> None:
    """Two good halves could have nothing to do with each other."""
    app.at.default_timeout = 60
    open_pair(app).go("synthesize").set("number_input", "epsilon", 3.0).release()
    app.press("Compare with the original").go("evaluate")
    assert app.errors == ""
    choice = next(each for each in app.at.selectbox if each.label == "Release")
    assert choice.value == last_pair(app)
    assert "it as a pair" in app.text
    assert "Across both tables:" in app.text
    assert "Keys: every event belongs to one person" in app.text
    assert "Number of events:" in app.text
    assert {each.label for each in app.at.metric} >= {
        "Relations across kept",
        "Number of events off by",
        "Keys that do not fit",
    }
    assert "Two events of one person" in app.text
    assert "on average in the original" in app.text
    for table in ("Events", "People"):
        app.set("segmented_control", "Table", table)
        assert app.errors == ""
        assert "is farthest from the original" in app.text
        columns = next(
            each.value for each in app.at.dataframe if "column" in each.value
        )
        assert ("ward" in set(columns["column"])) == (table == "Events")
    app.set("segmented_control", "Show", "Pairs of columns")
    assert app.errors == ""
    # each half can still be judged by itself
    app.set("selectbox", "Release", choice.options[1])
    assert "it as a pair" not in app.text
    assert "is farthest from the original" in app.text
    assert app.errors == ""


@pytest.mark.parametrize("label", ["Script (Python)", "Notebook"])
def test_the_program_of_a_pair_runs(
    app: Tab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, label: str
) -> None:
    """A program would make another release than the page, or name the files."""
    offered = reports.downloads(monkeypatch)
    answer(say_cap(bring(app), 3)).set("selectbox", "Column that tells it", "nights")
    app.press("Open the data set").go("synthesize").release()
    pair = releases.load_pair(app.session.data_set, last_pair(app))
    text = offered[label].decode()
    if label == "Notebook":
        cells = json.loads(text)["cells"]
        code = ["".join(each["source"]) for each in cells if "outputs" in each]
        assert all(step.startswith("# ") for step in code[1:]), "a step without comment"
        text = "\n".join(code)
    assert "patients" not in text
    assert "stays" not in text
    people = patients()
    (tmp_path / "people-table.csv").write_bytes(as_csv(people))
    (tmp_path / "events-table.csv").write_bytes(as_csv(stays(people)))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(text, names)
    again = LinkedRelease.from_json((tmp_path / "linked-release.json").read_text())
    for view, half in pair.halves.items():
        own = again.halves[view]
        assert own.guarantee.loss == half.guarantee.loss
        assert own.recipe == half.recipe
        # texts such as the reasons of proposals stay on the page
        assert own.schema.domain == half.schema.domain
    assert again.order_by == "nights"
    assert again.total_loss == pair.total_loss
    drawn_people = pd.read_csv(tmp_path / "synthetic-people.csv")
    drawn_events = pd.read_csv(tmp_path / "synthetic-events.csv")
    assert {*drawn_events["patient"]} <= {*drawn_people["patient"]}
    assert list(drawn_events) == ["patient", "ward", "nights"]


def test_files_of_a_half_say_that_it_is_one_of_two(
    app: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program would read the loss of a half as all that a person risks."""
    open_pair(app).go("synthesize").release()
    both = releases.load_pair(app.session.data_set, last_pair(app)).total_loss
    offered = reports.downloads(monkeypatch)
    app.press("Events: figures")
    told = json.loads(offered["The guarantee (JSON)"])["one_of_two_halves"]
    assert (told["half"], told["loss_of_both_halves"]) == ("events", loss_fields(both))
    rows = pq.read_metadata(io.BytesIO(offered["Drawn rows (Parquet)"])).metadata
    footer = json.loads(rows[b"guarantee"])
    assert footer["one_of_two_halves"]["half"] == "events"
    app.press("People and their events")
    told = json.loads(offered["The guarantee (JSON)"])
    assert told["loss_of_both_halves"] == loss_fields(both)
    page = html.unescape(offered["Download as one HTML file"].decode())
    assert "people and" in page
    explored = offered["Interactive page of events (HTML, cannot be revoked)"]
    assert b"explore-content" in explored


def test_the_switch_says_which_half_is_shown(app: Tab) -> None:
    """Figures of events would stand below a switch that says people."""
    open_pair(app).go("synthesize").release()
    for half, view in (("Events: figures", "events"), ("People: figures", "people")):
        app.press(half)
        switch = next(
            each for each in app.at.get("button_group") if each.label == "Look at"
        )
        assert switch.value == view
        assert app.curator is getattr(app.session.linked, view)
        app.press("People and their events")
    assert app.errors == ""


def test_the_codebook_says_in_which_file_a_column_is(app: Tab) -> None:
    """Nobody would know which of both files needs a column."""
    open_pair(app).go("codebook")
    table = next(each.value for each in app.at.dataframe if "column" in each.value)
    assert dict(zip(table["column"], table["in the table of"], strict=True)) == {
        "sex": "people",
        "age": "people",
        "number of events": "neither: counted by the program",
    }
    assert "at most 3 events of a person count" in app.text
    assert "You need the file of the table" not in app.text
    app.session.look_at("events")
    app.go("codebook")
    table = next(each.value for each in app.at.dataframe if "column" in each.value)
    tables = dict(zip(table["column"], table["in the table of"], strict=True))
    assert tables["ward"] == tables["nights"] == "events"
    assert tables["sex"] == "people"


def test_what_noise_hides_is_said_before_paying(app: Tab) -> None:
    """Somebody would pay for columns of which nothing can be read."""
    open_pair(app).go("synthesize").set("number_input", "epsilon", 0.1)
    assert "**Noise hides**" in app.text
    assert "An average cell is that of about 300 people and" in app.text
    app.press("Release for")
    assert " counts will say little" in app.text


def test_released_numbers_are_not_called_private(app: Tab) -> None:
    """Noisy numbers that everybody may see would pass for those of the files."""
    open_pair(app).go("synthesize")
    assert "rounded to one digit. Only you see them." in app.text
    app.release().press("Release something else")
    assert "events, as released." in app.text
    assert "Only you see them." not in app.text


def test_empty_cells_have_a_reason(app: Tab) -> None:
    """Drawn cells would be empty where no file has an empty cell, without a word."""
    app.at.default_timeout = 60
    people = patients().assign(age=lambda frame: frame["age"].astype(object))
    people.loc[:120, "age"] = None
    answer(say_cap(bring(app, people, stays(patients())), 3))
    app.press("Open the data set").go("synthesize").release()
    drawn = [each.value for each in app.at.dataframe[:2]]
    has_gaps = any(frame.isna().any(axis=None) for frame in drawn)
    assert has_gaps
    assert "Some drawn cells are empty" in app.text


def with_numbers(number: int = 20_000) -> tuple[pd.DataFrame, pd.DataFrame]:
    """People and events, each with a column of numbers of which nothing is known."""
    people = patients(number)
    places = np.arange(number)
    people["pay"] = 1_000 + (places * 7919) % 4_001
    events = stays(people)
    events["cost"] = 40 + (np.arange(len(events)) * 7919) % 20
    return people, events


def search_toggle(app: Tab):
    (found,) = [each for each in app.at.toggle if "found privately" in each.label]
    return found


def searches_of(app: Tab) -> list[Any]:
    """Charges for finding cells, in order."""
    return [
        line
        for line in app.curator.lines()
        if line.content.get("recipe", {}).get("kind") == "cells of numbers"
    ]


def test_cells_of_both_tables_are_found_charged_once_and_said(
    app: Tab, new_tab: Callable[[], Tab]
) -> None:
    """Bounds of two files would be read from the rows, or be paid again by a second
    tab, or once for each file.
    """
    people, events = with_numbers()
    files = (("patients.csv", people), ("stays.csv", events))
    bring(app, people, events)
    # without the number of events that count, nothing can be said of the noise
    assert not [each for each in app.at.toggle if "found privately" in each.label]
    answer(say_cap(app, 3)).set("radio", RULE, "basic")
    assert search_toggle(app).value
    assert search_toggle(app).label.startswith("Cells of pay, nights, cost, found")
    words = "Found privately, for another epsilon 0.05: the cells of pay, nights, cost"
    assert words in app.text
    assert "costs a twentieth of a release at epsilon 1" in app.text
    app.set("button_group", "Columns of", "events")
    assert search_toggle(app).value
    assert words in app.text
    assert "These bounds come from this table" not in app.text
    app.press("Open the data set")
    assert app.errors == ""
    assert spent(app) == UNIT // 20
    assert app.session.linked is not None
    made = app.session.linked.linked
    pay, cost = made.people.column("pay"), made.events.column("cost")
    assert pay.low <= 1_500 < 4_500 <= pay.high < 50_000
    assert cost.low <= 42 < 57 <= cost.high < 600
    own = [column.found.loss for column in (pay, cost)]
    assert sum(Fraction(loss["epsilon"]) for loss in own) == Fraction(1, 20)
    assert not {"low", "high"}.intersection(*(pay.from_data, cost.from_data))
    # each charge is in the ledger before its answer
    states = [
        line.state
        for line in app.curator.lines()
        if line.request_id in {search.request_id for search in searches_of(app)}
    ]
    assert states == ["reserved", "committed"] * 2
    ledger = app.go("ledger").at.dataframe[0].value.to_string()
    for names in ("pay", "nights, cost"):
        assert f"Cells of {names}, found privately" in ledger
    for view in ("people", "events"):
        app.session.look_at(view)
        app.go("codebook")
        assert app.errors == ""
        assert app.text.count("Found privately, for another epsilon") >= 1
    # a second tab, a reload, and a declaration anew
    other = bring(new_tab(), people, events)
    assert other.session.linked is not None
    assert other.session.linked.linked == made
    assert spent(other) == UNIT // 20
    other.go("codebook").press("Declare it anew").go("upload")
    bring_both(other, *files)
    assert not [each for each in other.at.toggle if "found privately" in each.label]
    other.press("Open the data set")
    assert other.errors == ""
    assert other.session.linked is not None
    assert other.session.linked.linked.people.column("pay").found == pay.found
    assert spent(other) == UNIT // 20
    # what leaves says both searches, each with its own charge
    other.go("synthesize").release()
    assert other.errors == ""
    for charge, names in (("0.016", "pay"), ("0.034", "nights, cost")):
        words = f"Found privately, for another epsilon {charge}: the cells of {names}."
        assert words in other.text
    assert spent(other) > UNIT // 20


def test_cells_of_a_pair_are_found_where_that_is_asked_for(app: Tab) -> None:
    """Nobody could choose, or a small pair would lose its cells; or a column whose
    bounds are known would be searched.
    """
    people, events = with_numbers()
    answer(say_cap(bring(app, people, events), 3)).set("radio", RULE, "basic")
    search_toggle(app).set_value(False).run()
    assert "Found privately" not in app.text
    pair = app.session.linked_draft
    assert pair is not None
    lines = pair.people.edited_grid
    lines.loc[lines["column"] == "pay", "known from"] = "a law"
    pair.people.version += 1
    app.at.run()
    assert "pay" not in search_toggle(app).label
    search_toggle(app).set_value(True).run()
    app.press("Open the data set")
    assert app.errors == ""
    # the events alone pay the whole charge
    assert spent(app) == UNIT // 20
    assert app.session.linked is not None
    made = app.session.linked.linked
    assert made.people.column("pay").known_from == "a law"
    assert not made.people.found
    assert made.events.column("cost").found.loss == {"epsilon": "1/20"}


def test_a_small_pair_keeps_its_cells(app: Tab) -> None:
    """Noise would hide everything, and be paid for."""
    answer(say_cap(bring(app), 3))
    assert not search_toggle(app).value
    app.press("Open the data set")
    assert app.errors == ""
    assert spent(app) == 0


def test_a_search_of_a_pair_that_cannot_be_paid_is_refused(app: Tab) -> None:
    """One file would be searched and paid for, and the pair be opened without cells."""
    people, events = with_numbers(2_000)
    answer(say_cap(bring(app, people, events), 3)).set("radio", RULE, "basic")
    search_toggle(app).set_value(False).run()
    app.press("Open the data set")
    app.curator.run(dp.Histogram("sex"), dp.PureDP(epsilon="2.97"))
    curator = app.curator
    before = curator.lines()
    app.go("codebook").press("Declare it anew").go("upload")
    bring_both(app, ("patients.csv", people), ("stays.csv", events))
    search_toggle(app).set_value(True).run()
    app.press("Open the data set")
    assert "left" in app.errors
    assert app.session.linked_draft is not None
    assert [line for line in curator.lines() if line.state == "reserved"] == [
        line for line in before if line.state == "reserved"
    ]


def test_a_failed_search_of_a_pair_leaves_its_charge(
    app: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that read the rows and then failed would cost nothing; or the second
    click would pay for the people again.
    """
    people, events = with_numbers(2_000)
    answer(say_cap(bring(app, people, events), 3)).set("radio", RULE, "basic")
    search_toggle(app).set_value(True).run()
    pair = app.session.linked_draft
    assert pair is not None
    dataset, ledger = linked.account_of(pair)

    declare = cells_of_numbers._ColumnSearch.declare_cells
    calls = Counter[str]()

    def fail(search: Any) -> Any:
        name = search.column.name
        calls[name] += 1
        if name == "cost" and calls[name] == 2:  # the first time, it is rehearsed
            raise LimitError("no more", remedy="try again")
        return declare(search)

    with monkeypatch.context() as patched:
        patched.setattr(cells_of_numbers._ColumnSearch, "declare_cells", fail)
        app.press("Open the data set")
    assert "no more" in app.errors.lower()
    assert app.session.linked is None
    charged = [line for line in ledger.lines(dataset) if line.state == "reserved"]
    assert sum(line.charge.units for line in charged) == UNIT // 20
    app.press("Open the data set")
    assert app.errors == ""
    # the people were answered, and are not paid again; the events are asked anew
    of_events = searches_of(app)[-1]
    paid = Fraction(of_events.content["loss"]["epsilon"])
    assert Fraction(1, 40) < paid < Fraction(1, 20)
    assert spent(app) == UNIT // 20 + round(paid * UNIT)


def test_two_files_of_one_name_are_a_pair(app: Tab) -> None:
    """Two folders may each hold an export.csv; the page ended without a word."""
    people = patients()
    content = [
        ("export.csv", as_csv(frame), "text/csv") for frame in (people, stays(people))
    ]
    app.go("upload")
    field(app, "table-upload").set_value(content).run()
    app.go("upload")
    assert app.errors == ""
    pair = app.session.linked_draft
    assert pair is not None
    assert (pair.people.name, pair.events.name) == ("export.csv", "export (2).csv")
    answer(say_cap(app, 3)).press("Open the data set")
    assert app.errors == ""
    assert app.session.linked is not None


def test_one_file_twice_is_refused(app: Tab) -> None:
    content = [("export.csv", as_csv(patients()), "text/csv")] * 2
    app.go("upload")
    field(app, "table-upload").set_value(content).run()
    app.go("upload")
    assert "this is the same table again" in app.errors.lower()
    assert app.session.linked_draft is None
