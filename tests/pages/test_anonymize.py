"""The Anonymize page: a first result with one click, everything editable, bad input
said in place.
"""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from tests.pages.tab import Tab
from workbench import session
from workbench.anonymize import outcomes, plans
from workbench.anonymize.state import AnonymizeState
from workbench.ui.examples import EXAMPLES

K = "Everybody is in a group"
LIMIT = "Suppressed, at most"
METHOD = "Method"
MAKE = "Make the anonymized table"
USE = "Use these levels"
ZIPS = ("33617", "33620", "23620", "23622")


def people(rows: int = 300, **cells: object) -> bytes:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "name": [
                f"Person {chr(65 + i % 26)}{'abcdefghij'[i // 26 % 10]}"
                for i in range(rows)
            ],
            "age": rng.integers(20, 80, rows),
            "sex": rng.choice(["F", "M"], rows),
            "zip": rng.choice(ZIPS, rows),
            "diagnosis": rng.choice(["flu", "cold", "cancer"], rows),
            "visits": rng.integers(1, 5, rows),
        },
    )
    return frame.assign(**cells).to_csv(index=False).encode()


def page(app: Tab, table: bytes | None = None) -> Tab:
    app.open(people() if table is None else table).go("anonymize")
    return app


def edit(app: Tab, key: str, row: int, **cells: object) -> Tab:
    """Change cells of one line of a grid, as a person would."""
    app.at.session_state[key] = {
        "edited_rows": {row: cells},
        "added_rows": [],
        "deleted_rows": [],
    }
    app.at.run()
    return app


def role(app: Tab, column: str, value: str) -> Tab:
    current = app.session.own(AnonymizeState)
    return edit(
        app, f"roles-{current.version}", list(current.roles).index(column), role=value
    )


def hierarchy_key(app: Tab, column: str) -> str:
    return f"hierarchy-{column}-{app.session.own(AnonymizeState).version}"


def offer(app: Tab, content: bytes) -> Tab:
    """Import a hierarchy file."""
    app.at.file_uploader[0].upload("zip.csv", content, "text/csv").run()
    return app


def made(app: Tab) -> pd.DataFrame:
    assert app.session.own(session.AnonymizeResult).table is not None, app.errors
    return app.session.own(session.AnonymizeResult).table.table.frame


def smallest(table: pd.DataFrame, *names: str) -> int:
    """Rows of the smallest group that is not suppressed."""
    known = list(names or ("age", "sex", "zip"))
    kept = table[(table[known] != "*").any(axis=1)]
    return kept.groupby(known, dropna=False).size().min()


def test_without_a_table_the_page_says_what_it_would_do(app: Tab) -> None:
    """A newcomer would meet an empty form."""
    app.go("anonymize")
    assert app.errors == ""
    assert "everybody looks like at least k - 1 others" in app.text
    assert app.button("Open this sample: Census")


def test_a_first_result_takes_one_click(app: Tab) -> None:
    """People would have to read before anything happens."""
    page(app).press(MAKE)
    assert app.errors == ""
    assert "The anonymized table is ready: 5\\-anonymity" in app.text
    table = made(app)
    assert list(table.columns) == ["age", "sex", "zip", "diagnosis", "visits"]
    assert smallest(table) >= 5
    assert [each.label for each in app.at.get("download_button")][:4] == [
        "CSV",
        "CSV for spreadsheets",
        "Excel",
        "Parquet",
    ]
    assert app.curator.balance().spent == 0
    assert any("anonymized" in line.content for line in app.curator.lines())
    no_epsilon_stands_on_the_page_but_in_the_header(app)
    a_table_of_earlier_settings_is_said_to_be_one(app)


def no_epsilon_stands_on_the_page_but_in_the_header(app: Tab) -> None:
    """k would be read on the scale of differential privacy."""
    said = [each.value for each in [*app.at.markdown, *app.at.caption, *app.at.header]]
    assert [
        line for line in said if "epsilon" in line and "no epsilon" not in line
    ] == []


def a_table_of_earlier_settings_is_said_to_be_one(app: Tab) -> None:
    """A green box praised a table that the figures beside it did not describe."""
    assert "earlier settings" not in app.text
    app.set("number_input", K, 10)
    assert "earlier settings" in app.text


def test_before_and_after_and_what_is_not_promised(app: Tab) -> None:
    """A decision would be made without seeing what it costs and leaves open."""
    page(app)
    the_guided_example_stands_in_order(app)
    the_same_choices_are_tried_once(app)
    figures = {each.label: each.value for each in app.at.metric}
    assert set(figures) == {
        "Unique rows",
        "Highest risk",
        "Generalized",
        "Suppressed rows",
    }
    assert figures["Unique rows"] == "0\u202f%"
    assert "NCP" not in app.text, "one thing had two names"
    assert "What this does not promise" in app.text
    assert "no guarantee against a determined attacker" in app.text
    app.set("number_input", K, 100)
    assert "The smallest group has 1" in app.text


def test_choices_outlast_a_visit_to_another_page(app: Tab) -> None:
    """Roles, hierarchies and demands would be lost by a look at the ledger."""
    role(page(app), "visits", "quasi-identifier")
    app.set("number_input", K, 10)
    app.go("ledger").go("anonymize")
    assert app.session.own(AnonymizeState).roles["visits"] == "quasi-identifier"
    assert app.at.get("number_input")[0].value == 10
    assert any("others may know 4" in each.label for each in app.at.expander)


def test_a_role_is_changed_in_the_grid(app: Tab) -> None:
    """A wrong proposal could not be corrected."""
    role(page(app), "visits", "quasi-identifier")
    assert app.errors == ""
    role(app, "name", "insensitive").press(MAKE)
    assert "name" in made(app).columns
    assert smallest(made(app), "age", "sex", "zip", "visits") >= 5


def test_columns_of_which_nothing_is_known_are_asked_about(app: Tab) -> None:
    """First names under an unknown header would be published with one click."""
    words = ["Zofia", "Jan", "Ewa"] * 100
    page(app, people(kolumna=words, antwort=words))
    assert app.session.own(AnonymizeState).undecided_columns == ["kolumna", "antwort"]
    assert "Decide about kolumna, antwort first" in app.text
    assert app.button(MAKE).disabled
    app.set("multiselect", "Publish as they are", ["antwort"])
    app.press("Leave out kolumna")
    assert app.errors == ""
    app.press(MAKE)
    assert list(made(app).columns) == [
        "age",
        "sex",
        "zip",
        "diagnosis",
        "visits",
        "antwort",
    ]


def test_a_change_of_columns_leaves_out_what_nobody_knows(app: Tab) -> None:
    """The plan that the Audit page hands over would publish first names."""
    page(app, people(kolumna=["Zofia", "Jan", "Ewa"] * 100))
    note = session.TakeAdvice(
        known_columns=("age", "sex"), secret_columns=(), max_labels={"age": 3}
    )
    app.session.slots[session.TakeAdvice] = note
    app.go("anonymize")
    assert "These columns are left out, because their texts may name people" in app.text
    app.press(MAKE)
    assert "kolumna" not in made(app).columns


def test_no_quasi_identifier(app: Tab) -> None:
    """Taking all roles away would end in a traceback, with no way back."""
    page(app)
    for name in ("age", "sex", "zip"):
        role(app, name, "insensitive")
    assert "no quasi\\-identifier" in app.errors
    assert app.button(MAKE).disabled
    role(app, "age", "quasi-identifier")
    assert app.errors == ""
    assert not app.button(MAKE).disabled


def test_a_secret_that_becomes_known(app: Tab) -> None:
    """A model on a column would go on although the column is generalized, or break the
    page.
    """
    page(app).set("selectbox", "Requirement for what should stay", "distinct")
    assert app.errors == ""
    role(app, "diagnosis", "quasi-identifier")
    assert app.errors == ""
    assert not any(
        each.label.startswith("Requirement for what should stay")
        for each in app.at.selectbox
    )
    role(app, "diagnosis", "sensitive").press(MAKE)
    assert app.errors == ""


@pytest.mark.proof
def test_models_on_a_secret(app: Tab) -> None:
    """l-diversity and t-closeness would be offered and not kept."""
    page(app)
    for kind, slider, value in (
        ("distinct", "l", 3),
        ("entropy", "l", 2),
        ("t", "t", 0.3),
    ):
        app.set("selectbox", "Requirement for what should stay", kind).set(
            "slider", slider, value
        ).press(MAKE)
        assert app.errors == "", kind
        models = app.session.own(session.AnonymizeResult).table.guarantee.models
        assert len(models) == 2, kind
        assert {
            "distinct": "distinct 3-div",
            "entropy": "entropy 2-div",
            "t": "0.3-clos",
        }[kind] in models[1]
        kept = made(app).query("age != '*' or sex != '*' or zip != '*'")
        values = kept.groupby(["age", "sex", "zip"])["diagnosis"].nunique()
        assert kind == "t" or values.min() >= value, kind


def test_an_impossible_demand_is_said_and_nothing_is_lost(app: Tab) -> None:
    """Ten different diseases where there are three would end in an empty page."""
    page(app).set("selectbox", "Requirement for what should stay", "distinct")
    app.set("slider", "l", 10)
    assert "No k meets these requirements" in app.text
    assert "What to do" in app.errors
    assert app.errors.count("What to do") == 1, "the same was said three times"
    assert app.button(MAKE).disabled
    app.press("Drop the requirement for what should stay unknown")
    assert app.errors == ""
    app.set("selectbox", "Requirement for what should stay", "distinct").set(
        "slider", "l", 2
    ).press(MAKE)
    assert app.errors == ""


def test_an_infeasible_limit_names_the_nearest_one_that_can_be_chosen(app: Tab) -> None:
    """A person would have to guess how much must be suppressed."""
    table = people(
        200,
        zip=["33617"] * 130 + ["33620"] * 70,
        diagnosis=["flu", "cold"] * 65 + ["flu"] * 70,
        sex="F",
        age=30,
    )
    page(app, table).set("selectbox", "Requirement for what should stay", "entropy")
    assert "allow 35\\.0 %" in app.errors.lower()
    nearest = min(limit for limit in plans.SUPPRESSION_LIMITS if limit >= 0.35)
    app.set("select_slider", LIMIT, nearest)
    assert app.errors == ""


def test_levels_are_made_by_a_rule_and_in_the_grid(app: Tab) -> None:
    """Whoever knows no file format could not say how values become coarser."""
    page(app).set("selectbox", "Column", "zip")
    levels_are_made_by_a_rule(app)
    levels_that_do_not_nest(app)
    app.set("selectbox", "Column", "sex")
    an_edited_hierarchy_and_undo(app)


def levels_that_do_not_nest(app: Tab) -> None:
    """A slip in the grid would be taken, or the typed levels would be gone."""
    key = hierarchy_key(app, "zip")
    before = app.session.own(AnonymizeState).hierarchies["zip"]
    edit(app, key, 0, **{"level 2": "elsewhere"}).press(USE)
    assert "does not nest" in app.errors
    assert app.session.own(AnonymizeState).hierarchies["zip"] == before
    assert app.at.session_state[key]["edited_rows"] == {0: {"level 2": "elsewhere"}}


def levels_are_made_by_a_rule(app: Tab) -> None:
    """As `test_levels_are_made_by_a_rule_and_in_the_grid`."""
    app.set("button_group", "Build the levels by a rule", "masking")
    assert app.errors == ""
    groups = next(each.value for each in app.at.dataframe if "groups" in each.value)
    assert groups["such as"].iloc[-2].endswith("****"), "down to one digit"
    app.set("button_group", "Build the levels by a rule", "intervals")
    app.set("text_input", "Widths", "10, 15")
    assert "a multiple of the one before" in app.errors
    app.set("text_input", "Widths", "10, 1000").press("Use these levels")
    assert app.errors == ""
    assert app.session.own(AnonymizeState).hierarchies["zip"].height == 3
    app.press("Undo")
    assert app.session.own(AnonymizeState).hierarchies["zip"].height == 5


def an_edited_hierarchy_and_undo(app: Tab) -> None:
    """Other labels could not be chosen, or not be taken back."""
    before = app.session.own(AnonymizeState).hierarchies["sex"]
    edit(app, hierarchy_key(app, "sex"), 0, **{"level 1": "anybody"})
    app.press(USE)
    assert "needs exactly one line" in app.errors
    key = hierarchy_key(app, "sex")
    app.at.session_state[key] = {
        "edited_rows": {0: {"level 1": "anybody"}, 1: {"level 1": "anybody"}},
        "added_rows": [],
        "deleted_rows": [],
    }
    app.at.run()
    app.press(USE)
    assert app.errors == ""
    assert app.session.own(AnonymizeState).hierarchies["sex"].labels(1) == ("anybody",)
    assert app.at.selectbox(key="hierarchy-column").value == "sex"
    app.press("Undo")
    assert app.session.own(AnonymizeState).hierarchies["sex"] == before


LINES = [f"{zip_code};{zip_code[:2]}***;*" for zip_code in ZIPS]
RIGHT = {
    "plain": "\n".join(LINES),
    "byte order mark": "\ufeff" + "\n".join(LINES),
    "comma": "\n".join(LINES).replace(";", ","),
    "tab": "\r\n".join(LINES).replace(";", "\t"),
    "repeated lines": "\n".join(LINES + LINES),
    "more values": "\n".join([*LINES, "99999;99***;*", ""]),
}
WRONG = {
    "missing path": ("\n".join(LINES[:3]).encode(), "no line for these values"),
    "no top": (b"33617;a\n33620;a\n23620;b\n23622;b\n", "the same last entry"),
    "not nested": (
        b"33617;a;u;*\n33620;a;v;*\n23620;b;u;*\n23622;b;u;*\n",
        "level 2 does not nest",
    ),
    "two paths": (
        b"33617;a;*\n33617;b;*\n33620;a;*\n23620;b;*\n23622;b;*\n",
        "each value needs exactly one line",
    ),
    "ragged": (b"33617;a;*\n33620;*\n", "each value needs exactly one line"),
    "empty": (b"", "each value needs exactly one line"),
    "too little UTF-16": (b"\xff\xfe3\x00", "no line for these values"),
}


@pytest.mark.proof
def test_hierarchy_files_as_people_have_them(app: Tab) -> None:
    """A file that is right would be refused for its form; a wrong one be taken, the
    hierarchy before be lost, or a person have to find out which line is missing.
    """
    page(app).set("selectbox", "Column", "zip")
    before = app.session.own(AnonymizeState).hierarchies["zip"]
    for name, (content, said) in WRONG.items():
        offer(app, content)
        assert said.lower() in app.errors.lower(), name
        assert app.session.own(AnonymizeState).hierarchies["zip"] == before, name
        assert not app.button(MAKE).disabled, name
        if name == "missing path":
            listed = [
                each.value["value"].tolist()
                for each in app.at.dataframe
                if [*each.value] == ["value"]
            ]
            assert listed == [["23622"]]
    for name, text in RIGHT.items():
        offer(app, text.encode())
        assert app.errors == "", name
        taken = app.session.own(AnonymizeState).hierarchies["zip"]
        assert set(taken.labels(1)) - {"99***"} == {"33***", "23***"}, name
        assert "From a file" in app.text, name
        app.press(MAKE)
        assert app.errors == "", name
        app.press("Undo")
        assert app.session.own(AnonymizeState).hierarchies["zip"] == before, name


def test_other_methods(app: Tab) -> None:
    """A method would be offered that does not work."""
    page(app)
    for method in ("local recoding", "mondrian"):
        app.set("selectbox", METHOD, method)
        assert app.errors == "", method
        assert "easier to attack" in app.text, method
        app.press(MAKE)
        assert app.session.own(AnonymizeState).plan_of_table.method.kind == method
        assert smallest(made(app)) >= 5, method


def test_microaggregation_needs_numbers(app: Tab) -> None:
    """MDAV on names would end in a traceback."""
    page(app).set("selectbox", METHOD, "microaggregation")
    assert "column 'sex' does not hold numbers only" in app.errors.lower()
    assert app.button(MAKE).disabled
    for name in ("sex", "zip"):
        role(app, name, "insensitive")
    app.press(MAKE)
    assert app.errors == ""
    assert made(app).groupby("age").size().min() >= 5


def test_cells_are_suppressed_from_the_levels_that_are_chosen(app: Tab) -> None:
    """A person could not begin from ten years of age, or would see the cost of another
    method.
    """
    page(app).set("selectbox", METHOD, "cell suppression")
    assert "What each k costs with suppression of cells" in app.text
    app.press(MAKE)
    cells = [(made(app) == "*").to_numpy().sum()]
    app.set("number_input", "age", 1).press(MAKE)
    cells.append((made(app) == "*").to_numpy().sum())
    assert app.errors == ""
    assert cells[0] > cells[1] > 0
    assert made(app).groupby(["age", "sex", "zip"]).size().min() >= 5


def test_methods_are_compared_on_demand(app: Tab) -> None:
    """A person could not see what another method keeps, or would wait for it
    unasked.
    """
    page(app)
    reads = len(app.curator.lines())
    app.press("Compare the methods")
    assert len(app.curator.lines()) > reads
    table = next(each.value for each in app.at.dataframe if "method" in each.value)
    assert table["method"].tolist() == [
        "full-domain",
        "local recoding",
        "suppression of cells",
        "Mondrian",
    ]
    assert "does not hold numbers only" in app.text


def test_a_long_frontier_is_computed_when_asked_for(
    app: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page would hang at first sight of a wide table."""
    monkeypatch.setattr(outcomes, "MAX_SECONDS_UNASKED", 0.0)
    page(app)
    assert "combinations of levels; trying all of them takes about" in app.text
    app.press("Compute all suppression limits")
    assert app.errors == ""
    assert not any(each.label.startswith("Compute all") for each in app.at.button)


def test_fifteen_quasi_identifiers_fall_back_and_say_so(app: Tab) -> None:
    """Too many columns would make the page hang, as in other tools."""
    rng = np.random.default_rng(1)
    wide = pd.DataFrame({f"age {i:02}": rng.integers(0, 100, 300) for i in range(15)})
    page(app, wide.to_csv(index=False).encode())
    assert app.errors == ""
    assert "too many combinations of levels (14,348,907) to try them all" in app.text
    assert "Mondrian is suggested" in app.text
    app.press(MAKE)
    assert made(app).groupby(list(wide)).size().min() >= 5
    app.set("selectbox", METHOD, "full-domain")
    assert app.errors == ""
    app.press(MAKE)
    assert made(app).groupby(list(wide)).size().min() >= 5


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (people(1), "larger than the number of rows"),
        (people(4), "larger than the number of rows"),
        (people(zip="33617"), ""),
        (people(zip=None), ""),
        (people(zip=[None, "33617"] * 150), ""),
        (
            people(
                age=["*"] * 6 + ["20-39", "40-59"] * 147,
                sex=["*"] * 6 + ["F"] * 294,
                zip="*",
            ),
            "",
        ),
        (people(age="*", sex="*", zip="*"), "every row is suppressed"),
    ],
    ids=[
        "one row",
        "fewer than k",
        "constant",
        "empty column",
        "missing",
        "again",
        "all suppressed",
    ],
)
def test_odd_tables(app: Tab, table: bytes, said: str) -> None:
    """Tables as people have them would end in a traceback."""
    page(app, table)
    for name in ("age", "sex", "zip"):
        if app.session.own(AnonymizeState).roles[name] != "quasi-identifier":
            role(app, name, "quasi-identifier")
    if said:
        assert said in app.errors.lower()
        assert app.button(MAKE).disabled
    else:
        app.press(MAKE)
        assert app.errors == ""
        assert smallest(made(app)) >= 5


@pytest.mark.proof
def test_30000_values(app: Tab) -> None:
    """A column of codes that somebody calls a quasi-identifier would take the page
    down.
    """
    page(app, people(30_000, zip=[f"{i:05}" for i in range(30_000)]))
    assert app.errors == ""
    app.set("selectbox", "Column", "zip").press(MAKE)
    assert app.errors == ""
    assert smallest(made(app)) >= 5


def test_k_above_the_rows(app: Tab) -> None:
    """k = 100 for fifty people would end in a traceback."""
    page(app, people(50)).set("number_input", K, 100)
    assert "k \\(100\\) is larger than the number of rows" in app.errors.lower()
    app.set("number_input", K, 5)
    assert app.errors == ""


def the_guided_example_stands_in_order(app: Tab) -> None:
    """A learner would not find the tables, or find wrong counts beside them."""
    said = app.unfold("A guided example").text
    places = [said.index(f"**Table: {step.number}**") for step in EXAMPLES]
    assert places == sorted(places)
    assert "entropy l = 2.83" in said


def the_same_choices_are_tried_once(app: Tab) -> None:
    """Every rerun would read the rows again and fill the ledger."""
    lines = len(app.curator.lines())
    app.at.run()
    app.set("number_input", K, 10).set("number_input", K, 5)
    assert len(app.curator.lines()) == lines + 1


def test_a_plan_is_loaded_again(app: Tab) -> None:
    """The plan "makes the same table again", and no page could read one."""
    page(app).set("number_input", K, 10).press(MAKE)
    text = app.session.own(session.AnonymizeResult).table.plan
    before = made(app)
    app.set("number_input", K, 2)
    app.at.file_uploader[-1].upload(
        "plan.json", text.encode(), "application/json"
    ).run()
    assert app.errors == ""
    assert "A plan made earlier" in app.text
    app.press(MAKE)
    pd.testing.assert_frame_equal(made(app), before)
    older = json.loads(text)  # as one of a delivery before, without this zip code
    older["hierarchies"]["zip"] = [
        [each.replace("23622", "23629") for each in level]
        for level in older["hierarchies"]["zip"]
    ]
    older = json.dumps(older).encode()
    app.at.file_uploader[-1].upload("older.json", older, "application/json").run()
    assert app.errors == ""
    assert "The plan does not cover some values in zip" in app.text
    assert app.button(MAKE).disabled
    app.press("Use the suggested levels for these columns").press(MAKE)
    assert app.errors == ""
    assert len(made(app)) >= 0.98 * 300
    app.press("Stop using this plan")
    assert app.session.own(AnonymizeState).loaded_plan is None
    app.at.file_uploader[-1].upload("plan.json", b"[]", "application/json").run()
    assert "another kind of file" in app.errors


def test_several_secrets_at_once(app: Tab) -> None:
    """Only one column could stay unknown, by one method, or all by one model."""
    role(page(app), "visits", "sensitive").set("selectbox", METHOD, "mondrian")
    app.set("selectbox", "Requirement for what should stay", "distinct")
    app.set("multiselect", "Columns", ["diagnosis", "visits"]).press(MAKE)
    assert app.errors == ""
    groups = made(app).groupby(["age", "sex", "zip"])
    assert groups["diagnosis"].nunique().min() >= 2
    assert groups["visits"].nunique().min() >= 2
    app.set("multiselect", "Columns with their own requirement", ["visits"])
    app.set("selectbox", "visits", "entropy").press(MAKE)
    assert app.errors == ""
    assert app.session.own(session.AnonymizeResult).table.guarantee.models[1:] == (
        "distinct 2-diversity of diagnosis",
        "entropy 2-diversity of visits",
    )


@pytest.mark.proof
def test_every_model_metric_and_population_can_be_asked_for(app: Tab) -> None:
    """Recursive l, ordered and hierarchical t, k-map, delta-presence, weights and
    households would be in the library and on no page.
    """
    table = people(
        240, mine=[True, False] * 120, home=[f"h{i // 2}" for i in range(240)]
    )
    role(page(app, table), "visits", "sensitive")
    app.set("selectbox", "Requirement for what should stay", "recursive").set(
        "number_input", "c", 5.0
    )
    app.set("multiselect", "Columns", ["diagnosis", "visits"])
    app.set("multiselect", "Weights of columns that matter more", ["zip"])
    app.set("selectbox", "Count households", "home")
    assert app.errors == ""
    app.press(MAKE)
    assert app.errors == ""
    assert app.session.own(session.AnonymizeResult).table.guarantee.models[1:] == (
        "recursive (5, 2)-diversity of diagnosis",
        "recursive (5, 2)-diversity of visits",
    )
    assert app.session.own(AnonymizeState).plan_of_table.metric.weights == {"zip": 3.0}
    assert app.session.own(session.AnonymizeResult).table.guarantee.unit == "households"
    assert "households" in app.text
    assert "home" not in made(app).columns
    assert any(
        each.label == "Report to sign (HTML, internal)"
        for each in app.at.get("download_button")
    )
    app.set("selectbox", "Requirement for what should stay", "t-hierarchical").set(
        "slider", "t", 0.6
    )
    assert app.errors == ""
    app.set("selectbox", "Requirement for what should stay", "t-ordered").set(
        "selectbox", "What is minimized", "entropy"
    )
    app.set("selectbox", "The table is a population", "mine")
    app.set("number_input", "Minimum number of people in the population", 8).set(
        "slider",
        "Published share of the population",
        (0.0, 0.9),
    )
    app.press(MAKE)
    assert app.errors == ""
    models = " ".join(app.session.own(session.AnonymizeResult).table.guarantee.models)
    assert "0.6-closeness of visits (ordered distance)" in models
    assert "8-map" in models
    assert "(0, 0.9)-presence" in models
    assert len(made(app)) <= 120


def test_a_step_in_the_lattice_is_used(app: Tab) -> None:
    """The levels of one column could be changed by an edited plan file only."""
    page(app).set("toggle", "Show what one level more or less would change", True)
    assert app.errors == ""
    chosen = next(
        each for each in app.at.selectbox if each.label == "Meets the demands"
    )
    step = next(
        each for each in chosen.options if int(each.split()[-3]) < int(each.split()[-1])
    )
    chosen.set_value(step).run()
    app.press("Use this step")
    loaded = app.session.own(AnonymizeState).loaded_plan
    assert loaded is not None
    assert loaded.node is not None
    assert "A plan made earlier" in app.text
    app.press(MAKE)
    assert json.loads(app.session.own(session.AnonymizeResult).table.plan)[
        "node"
    ] == dict(loaded.node)
    assert app.errors == ""


def test_names_leave_as_pseudonyms(app: Tab) -> None:
    """A table for follow-up could be made in a script only."""
    page(app).set("selectbox", "Replace by pseudonyms", "name").press(MAKE)
    assert app.errors == ""
    assert not set(made(app)["name"]) & set(pd.read_csv(io.BytesIO(people()))["name"])
    assert app.session.own(session.AnonymizeResult).table is not None
    values = json.loads(app.session.own(session.AnonymizeResult).table.follow_up)[
        "values"
    ]
    assert set(values) == set(made(app)["name"])
    assert "Follow-up table (JSON, internal)" in [
        each.label for each in app.at.get("download_button")
    ]
    assert "pseudonyms of name show which rows belong to one person" in app.text


def test_other_columns_leave_with_coarser_numbers(app: Tab) -> None:
    """Who has a salary of nine millions would be unique again by it, or a demand be on
    no page.
    """
    raw = pd.read_csv(io.BytesIO(people(wage=[9_000_000, *range(1_001, 1_300)])))
    page(app, raw.to_csv(index=False).encode())
    role(app, "wage", "insensitive")
    app.set("multiselect", "Columns to round or to change at random", ["wage"])
    app.set("number_input", "wage: high", 1_250.0).set(
        "number_input", "wage: step", 100.0
    )
    app.set("number_input", "Average risk allowed", 4.0)
    assert app.errors == ""
    wages = (raw["wage"] / 100).add(0.5).astype(int).mul(100).clip(upper=1_250)
    table = next(
        frame.value for frame in app.at.dataframe if "mean, after" in frame.value
    )
    seen = [float(text.replace(",", "")) for text in table.iloc[0, 1:]]
    il1s = (raw["wage"] - wages).abs().mean() / (np.sqrt(2) * raw["wage"].std())
    expected = [raw["wage"].mean(), raw["wage"].std(), wages.mean(), wages.std(), il1s]
    assert np.allclose(seen, expected, rtol=0.01)
    app.press(MAKE)
    assert app.errors == ""
    assert set(made(app)["wage"]) <= set(wages)
    assert app.session.own(session.AnonymizeResult).table is not None
    assert (
        "average risk of at most 0.04"
        in app.session.own(session.AnonymizeResult).table.guarantee.models
    )
    kept = made(app).groupby(["age", "sex", "zip"]).size()
    assert len(kept) / kept.sum() <= 0.04


def test_one_column_is_drawn_before_and_after_and_lost_values_are_named(app):
    """Nobody saw what the labels do to a column, or that all people of one gender were
    gone.
    """
    page(app, people(sex=["X" if i < 3 else "FM"[i % 2] for i in range(300)]))
    column = next(each for each in app.at.selectbox if each.key == "anonymize-shape")
    assert "age" in column.options
    column.set_value("age").run()
    assert app.errors == ""
    charts = [each.proto.alt for each in app.at.get("vega_lite_chart")]
    assert any("age" in alt and "share of rows" in alt for alt in charts), charts
    warned = [each.value for each in app.at.warning]
    lost = [
        each
        for each in warned
        if each.startswith("These groups disappear from the table")
    ]
    assert bool(lost) == any("with sex X" in each for each in lost)
