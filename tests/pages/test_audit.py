"""The Audit page: one screen from a table to a verdict, and nothing that breaks it."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.pages.tab import Tab
from workbench import session
from workbench.anonymize import plans
from workbench.anonymize.state import AnonymizeState
from workbench.store.settings import read_settings
from workbench.upload import source_view

KNOWN = "What others may know"
SECRET = "What should stay unknown"


def people(rows: int = 300, **cells: object) -> bytes:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, rows),
            "sex": rng.choice(["F", "M"], rows),
            "zip": rng.choice(["33617", "33620", "23620"], rows),
            "diagnosis": rng.choice(["flu", "cold", "cancer"], rows),
            "visits": rng.integers(1, 5, rows),
        },
    )
    return frame.assign(**cells).to_csv(index=False).encode()


def test_without_a_table_the_page_says_what_it_would_do(app: Tab) -> None:
    """An auditor would meet an empty form."""
    app.go("audit")
    assert app.errors == ""
    assert "how easily people can be found in a table" in app.text
    assert app.button("Open this sample: Hospital visits")


def test_the_verdict_needs_no_click(app: Tab) -> None:
    """Ten minutes would go by with settings."""
    app.open(people()).go("audit")
    assert app.errors == ""
    assert app.at.multiselect[0].value == ["age", "sex", "zip"]
    app.set("text_input", "zip", "336*").set("text_input", "age", "40-44")  # SEEDS E9
    assert app.errors == ""
    assert "people fit" in app.text
    assert "diagnosis is " in app.text
    assert "for anybody in the table, the chance is" in app.text
    assert "Nobody in this table fits" in app.set("text_input", "zip", "99999").text
    assert app.at.multiselect[1].value == ["diagnosis"]
    assert "of the people are unique as soon as somebody also knows visits" in app.text
    assert app.curator.balance().spent == 0


def test_the_sample_meets_its_voter_list(app: Tab) -> None:
    """The attack that made this famous could not be seen."""
    app.press("Open this sample: Hospital visits").press("Open the data set").go(
        "audit"
    )
    assert "are found with certainty" in app.text
    assert "patient_id and name identify people" in app.text.replace("\\", "")
    app.set("toggle", "The invented voter list", False)
    assert "You gave no list of people" in app.text


def test_an_uploaded_list_is_joined(app: Tab) -> None:
    """An attacker's real list could not be tried."""
    app.open(people()).go("audit")
    app.upload(b"age,sex\n33,F\n", "list.csv")
    assert "Of the 1 people on “list.csv”" in app.text.replace("\\", "")
    app.press("Remove").upload(b"", "list.csv")
    assert "empty" in app.errors
    assert "people are unique" in app.text


def test_an_own_table_is_never_held_against_the_list_of_the_sample(app: Tab) -> None:
    """Any own table with zip, birth_date and sex was audited against an invented town,
    "0 found".
    """
    table = people(
        zip="80331", birth_date=[f"1950-01-{i % 28 + 1:02}" for i in range(300)]
    )
    app.open(table).go("audit")
    assert not app.at.toggle or all(
        "voter list" not in each.label for each in app.at.toggle
    )
    assert "You gave no list of people" in app.text
    app.upload(b"zip,sex\n80331,F\n", "own list.csv")
    assert "Of the 1 people on “own list.csv”" in app.text.replace("\\", "")


def test_a_table_of_names_alone_is_no(app: Tab) -> None:
    """A list of addresses would be met with a question, and no answer."""
    rows = [f"p{i}@example.org,{i % 7}" for i in range(60)]
    app.open("\n".join(["contact,points", *rows]).encode()).go("audit")
    assert "No. contact identifies people." in app.text.replace("\\", "")


def test_other_columns_other_verdict(app: Tab) -> None:
    """A change of the question would keep the old answer."""
    app.open(people()).go("audit")
    app.set("multiselect", KNOWN, ["sex"])
    assert (
        "unique as soon as somebody also knows age\\. Unique without it, by sex\\: nobody"
        in app.text
    )
    assert "None of these sets makes anybody unique" in app.text
    app.set("multiselect", KNOWN, [])
    assert "Choose at least one column" in app.text
    app.go("ledger").go("audit")
    assert app.at.multiselect[0].value == []


def test_a_secret_that_others_know_is_no_secret_any_more(app: Tab) -> None:
    """A column in both lists would end in a traceback, or be judged as secret although
    it is known.
    """
    app.open(people()).go("audit")
    app.set("multiselect", KNOWN, ["age", "diagnosis"])
    assert app.errors == ""
    assert app.at.multiselect[1].value == []
    assert "by age and diagnosis" in app.text
    app.set("multiselect", KNOWN, ["age"])
    app.set("multiselect", SECRET, ["diagnosis"])
    assert "What groups give away" in app.text


def test_population_and_threshold(app: Tab) -> None:
    """Settings would be there to look at."""
    app.open(people()).go("audit")
    app.set("number_input", "People in the population", 1_000_000)
    assert "model" in app.text
    app.set("slider", "A person is exposed", 10)
    assert "are in a group of fewer than 10" in app.text
    app.set("number_input", "People in the population", 10)
    assert "Population" in app.errors


def test_make_it_safer_takes_the_columns_along(app: Tab) -> None:
    """The next page would protect other columns than those that were just judged."""
    app.open(people()).go("audit")
    app.set("multiselect", KNOWN, ["age", "visits"])
    app.press("Make it safer")
    assert app.errors == ""
    assert app.at.title[0].value == "Anonymize"
    roles = app.session.own(AnonymizeState).roles
    assert [name for name, role in roles.items() if role == "quasi-identifier"] == [
        "age",
        "visits",
    ]
    assert roles["diagnosis"] == "sensitive"
    assert roles["sex"] == "insensitive"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (people(1), "100\u202f% of the people"),
        (people(zip="33617"), "people are unique"),
        (people(zip=[None] * 299 + ["33617"]), "people are unique"),
        (people(age="*", sex="*", zip="*"), "Every row is suppressed"),
        (people(zip=[f"z{i}" for i in range(300)]), "100\u202f% of the people"),
        (
            people(30_000, zip=[f"z{i}" for i in range(30_000)]),
            "100\u202f% of the people",
        ),
    ],
    ids=[
        "one row",
        "constant",
        "missing",
        "suppressed",
        "all different",
        "30,000 values",
    ],
)
def test_odd_tables_get_a_verdict_or_a_reason(
    app: Tab, table: bytes, said: str
) -> None:
    """Tables as people have them would end in a traceback."""
    app.open(table).go("audit")
    app.set("multiselect", KNOWN, ["age", "sex", "zip"])
    assert said in f"{app.text}\n{app.errors}"


def test_hostile_names_are_shown_to_the_letter(app: Tab) -> None:
    """A column name would load a picture into the verdict."""
    table = people().replace(b"zip", b"![zip](http://127.0.0.1:9/x)")
    app.open(table).go("audit")
    assert app.errors == ""
    app.set("multiselect", KNOWN, ["age", "![zip](http://127.0.0.1:9/x)"])
    assert "![zip](" not in app.text


def test_a_table_of_one_column(app: Tab) -> None:
    """The page ended in a traceback where there is no other column to take in or leave
    out.
    """
    app.open("\n".join(["age", *(str(20 + i % 30) for i in range(60))]).encode()).go(
        "audit"
    )
    app.at.multiselect(key="audit-columns").set_value(["age"]).run()
    assert not app.at.exception
    assert "Leaving out or adding one column" not in app.text


def test_an_audit_of_a_source_on_file_leaves_a_line(
    app: Tab, tmp_path, monkeypatch
) -> None:
    """What is internal would be looked at again and again, and nobody could see how
    often.
    """
    pd.read_csv(io.BytesIO(people())).to_parquet(tmp_path / "visits.parquet")
    (tmp_path / "sources.toml").write_text(
        f'[[source]]\nname = "Visits"\nkind = "parquet"\nlocation = "{tmp_path}"\n',
    )
    settings = replace(read_settings(), sources=tmp_path / "sources.toml")
    monkeypatch.setattr(source_view, "read_settings", lambda: settings)

    app.go("upload").press("Show its first rows").open_draft()
    dataset = app.curator.account.dataset
    before = len(app.curator.lines())
    app.press("Open another table").press("Show its first rows").go("audit")
    assert app.errors == ""
    assert dataset == "source Visits"
    lines = app.curator.lines()[before:]
    assert any(
        line.content.get("evaluation") == "re-identification risk" for line in lines
    )


def test_the_risk_of_each_row(app: Tab) -> None:
    """Nobody could say which rows are easy to find, by which columns, and what a sample
    changes.
    """
    app.open(
        people(home=[f"h{i // 2}" for i in range(300)], weight=[20, 30, 40] * 100)
    ).go("audit")
    app.set("multiselect", KNOWN, ["age", "sex", "zip"]).set(
        "toggle", "Work it out", True
    )
    assert app.errors == ""
    assert "of the people are unique by one or two columns alone" in app.text
    assert "age is involved in" in app.text
    assert any(
        each.label == "Risk of each row (CSV, private)"
        for each in app.at.get("download_button")
    )
    app.set("selectbox", "Sampling weights", "weight").set(
        "selectbox", "Who lives together", "home"
    )
    assert app.errors == ""
    assert "represents 9,000 people" in app.text
    assert (
        "no guarantee of k\\-anonymity" in app.text
        or "no guarantee of k-anonymity" in app.text
    )
    assert "The mean risk in 150 households" in app.text
    app.set("selectbox", "Sampling weights", "diagnosis")
    assert "sampling weight must be a number above 0" in app.errors


def test_the_change_that_helps_most_is_carried_out(app: Tab) -> None:
    """The next page would ask again what was just worked out, or make another
    change.
    """
    app.open(people(contact=[f"p{i}@example.org" for i in range(300)])).go("audit")
    app.set("multiselect", KNOWN, ["age", "zip", "visits"])
    assert "The change that helps most" in app.text
    assert "one or two columns" in app.text
    app.press("Make it safer")
    assert app.errors == ""
    assert "The advice of the audit" in app.text
    assert "A plan made earlier" not in [each.value for each in app.at.markdown]
    current = app.session.own(AnonymizeState)
    assert current.roles["contact"] == "identifier"
    assert current.loaded_plan is None
    assert current.advice is not None
    labels = dict(current.advice.max_labels)
    assert len(labels) in (1, 2)
    app.press("Make the anonymized table")
    assert app.errors == ""
    frame = app.session.own(session.AnonymizeResult).table.table.frame
    assert "contact" not in frame
    for name, most in labels.items():
        assert frame[name].nunique() <= most
    sizes = frame.groupby(["age", "zip", "visits"], observed=True).size()
    assert sizes.min() >= 5, "a person counted as exposed in a group of fewer than 5"


def test_a_step_of_the_advice_can_be_left(app: Tab) -> None:
    """Advice would be an order."""
    app.open(people(contact=[f"p{i}@example.org" for i in range(300)])).go("audit")
    app.set("multiselect", KNOWN, ["age", "zip", "visits"]).press("Make it safer")
    app.go("anonymize")
    current = app.session.own(AnonymizeState)
    assert current.advice is not None
    name = next(iter(current.advice.max_labels))
    label = f"Publish at most {current.advice.max_labels[name]} values of {name}"
    assert name in current.lowest_levels
    app.set("checkbox", label, False)
    assert name not in current.lowest_levels
    app.set("checkbox", "Leave out contact", False)
    assert current.roles["contact"] == "insensitive"
    app.set("checkbox", label, True)
    assert name in current.lowest_levels
    assert app.errors == ""


def test_a_draft_is_made_safer_without_a_question_or_a_charge(app: Tab) -> None:
    """Whoever only wants a safer table would be asked for a budget, and pay for cells
    that nobody needs.
    """
    app.go("audit").upload(people())
    app.set("multiselect", KNOWN, ["age", "zip", "visits"])
    # what is decided for good is said before it is
    assert "each row is one person, with a budget of epsilon 3" in app.text
    app.press("Make it safer")
    assert app.errors == ""
    assert "Neither can be changed" not in app.text
    assert app.at.title[0].value == "Anonymize"
    assert app.curator.schema.unit.id_column is None
    assert app.curator.account.promise["epsilon"] == "3"
    assert app.session.draft is None
    assert app.curator.balance().spent == 0
    app.press("Make the anonymized table")
    assert app.errors == ""
    assert app.curator.balance().spent == 0


def test_buttons_lead_to_a_table_for_everybody(app: Tab) -> None:
    """The verdict would say no, and not what is missing."""
    app.go("audit").upload(people())
    app.set("multiselect", KNOWN, ["age", "zip", "visits"]).press("Make it safer")
    app.go("anonymize")
    for _step in range(4):
        if "Suitable for a wider circle of recipients" in app.text:
            break
        steps = [
            each
            for each in app.at.button
            if each.label.startswith(
                ("Take these", "Groups of at least", "At least 2", "Make ", "Leave out")
            )
            and "anonymized table" not in each.label
        ]
        steps[0].click().run()
        assert app.errors == ""
    assert "Suitable for a wider circle of recipients" in app.text
    app.press("Make the anonymized table")
    frame = app.session.own(session.AnonymizeResult).table.table.frame
    plan = app.session.own(AnonymizeState).plan_of_table
    assert plan is not None
    known = [name for name in plan.quasi_identifiers if name in frame]
    assert frame.groupby(known, observed=True).size().min() >= 10


def test_a_wide_table_loses_what_singles_people_out_most(
    app: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rare values of many columns would leave no groups, or one that should stay
    unknown would count as known.
    """
    monkeypatch.setattr(plans, "MAX_LOCAL_RECODING_COLUMNS", 3)
    rng = np.random.default_rng(5)
    wide = {
        "visits": np.arange(1_000),
        "rare": np.where(np.arange(1_000) < 20, rng.integers(0, 5, 1_000), 9),
        "diagnosis": rng.choice([f"d{place}" for place in range(90)], 1_000),
    }
    app.go("audit").upload(people(1_000, **wide))
    app.set("multiselect", KNOWN, ["age", "zip"])
    app.set("multiselect", SECRET, ["diagnosis"]).press("Make it safer")
    app.go("anonymize")
    while "With one of these columns" not in app.text:
        (taken, *_others) = [
            each
            for each in app.at.button
            if each.label.startswith(("Take these", "Groups of", "At least 2"))
        ]
        taken.click().run()
        assert app.errors == ""
    assert "visits (100 %)" in app.text
    (step,) = [each for each in app.at.button if each.label.startswith("Leave out")]
    assert "visits" in step.label.split(";")[0]
    assert "rare" in step.label.split(";")[1]
    step.click().run()
    roles = app.session.own(AnonymizeState).roles
    assert roles["visits"] == roles["diagnosis"] == "identifier"
    assert roles["rare"] == "quasi-identifier"
    assert "Suitable for a wider circle of recipients" in app.text


def test_one_button_takes_all_steps(app: Tab) -> None:
    """Somebody who wants a table for everybody would press a button for each reason."""
    app.go("audit").upload(people())
    app.set("multiselect", KNOWN, ["age", "zip", "visits"]).press("Make it safer")
    app.go("anonymize")
    steps = [
        each.label
        for each in app.at.button
        if each.label.startswith(
            ("Groups of at least", "At least 2", "The same levels")
        )
    ]
    assert len(steps) > 1
    app.press(f"Take these {len(steps)} steps")
    assert app.errors == ""
    assert not any(each.label in steps for each in app.at.button)


def test_who_has_several_rows_answers_on_the_way(app: Tab) -> None:
    """The way to a safer table would lead through a page of questions, or a number that
    the owner did not give would hold for good.
    """
    several = people(300, patient_id=np.arange(300) // 2)
    app.go("audit").upload(several)
    app.set("button_group", "Maximum number of rows", 3)
    assert "people by patient\\_id, at most 3 rows each" in app.text
    assert "Neither can be changed" in app.text
    app.press("Make it safer")
    assert app.errors == ""
    assert app.at.title[0].value == "Anonymize"
    unit = app.curator.schema.unit
    assert (unit.id_column, unit.max_rows, unit.from_data) == ("patient_id", 3, False)
    assert app.curator.balance().spent == 0


def test_without_the_answer_data_asks(app: Tab) -> None:
    """A number of rows would be chosen for the owner, for good."""
    several = people(300, patient_id=np.arange(300) // 2)
    app.go("audit").upload(several).press("Make it safer")
    assert app.errors == ""
    assert app.session.draft is not None
    assert app.session.draft.cap is None


def test_a_change_of_another_table_is_not_taken(app: Tab) -> None:
    """Columns that the open table lacks would become part of its plan."""
    app.open(people()).go("audit")
    app.session.slots[session.TakeAdvice] = session.TakeAdvice(
        known_columns=("height",), secret_columns=()
    )
    app.go("anonymize")
    assert app.errors == ""
    assert "height" not in app.session.own(AnonymizeState).roles


def test_a_published_criterion_is_measured(app: Tab) -> None:
    """Clauses would have to be read elsewhere, and what people decided would be written
    down nowhere.
    """
    app.open(people(birth_year=[1931] + [1950 + i % 40 for i in range(299)])).go(
        "audit"
    )
    app.set("selectbox", "Measure against published criteria", "hipaa-safe-harbor")
    assert app.errors == ""
    assert "This is not legal advice and not an expert determination" in app.text

    def results() -> pd.DataFrame:
        return next(
            each.value for each in app.at.dataframe if "result" in each.value
        ).set_index("clause")

    assert results()["result"]["(i)(C)"] == "violation found"
    assert results()["what was found"]["(i)(C)"] == "birth_year: fewer than 11 people"
    assert results()["what was found"]["(i)(B)"] == "zip: 300 people"
    assert (
        results()["result"]["(i)(N)"] == "no violation found in what a table can show"
    )
    assert results()["result"]["(ii)"] == "only you can decide"
    app.set("text_input", "Who decides", "Ada Byron")
    app.at.radio(key="answer-hipaa-safe-harbor-(ii)").set_value("yes").run()
    assert results()["result"]["(ii)"] == "decided by a person"
    assert results()["what was found"]["(ii)"].startswith(
        "yes, according to Ada Byron on 20"
    )
    app.set("selectbox", "Measure against published criteria", "maximum-risk")
    assert results()["result"].tolist() == ["violation found"] * 5
