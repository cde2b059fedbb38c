"""What is asked about facts that were taken from the table: in groups, and what each
answer declares.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from workbench.language import columns
from workbench.language.columns import split_parts
from workbench.session.draft import Draft, FileDraft, NamesDraft
from workbench.upload import facts
from workbench.upload.grid import to_grid
from workbench.upload.opening import read_grid

ROWS = 600
LISTED = {"kind", "categories", "ordered"}
"""Marks of a suggested list, whether it has an order or not."""


def frame() -> pd.DataFrame:
    """300 people with two rows each, as a hospital has them."""
    place = np.arange(ROWS)
    zips = np.array(["01067", "04103"])[place % 2]
    zips[:4] = "99998"
    wards = np.array(["Chirurgie", "CHIRURGIE", "Innere "])[place % 3].astype(object)
    birth = np.array([f"19{30 + each % 60}-01-15" for each in place], dtype=object)
    birth[5] = "00.00.1950"
    return pd.DataFrame(
        {
            "patient_id": place // 2,
            "sex": ["d", "d", *np.array(["m", "w"])[place % 2][2:]],
            "age": 20 + place % 60,
            "zip": zips,
            "ward": wards,
            "stay": place % 19,
            "cost": 500 + place * 7.5,
            "birth": birth,
        },
    )


def draft_of(table: pd.DataFrame) -> Draft:
    schema = dp.suggest_schema(table)
    grid = to_grid(schema, list(table.columns))
    return FileDraft(
        name="t",
        frame=table,
        schema=schema,
        grid=grid,
        edited_grid=grid,
        dataset="d",
    )


def draft_and_schema() -> tuple[Draft, dp.Schema]:
    draft = draft_of(frame())
    return draft, draft.schema


def now(draft: Draft) -> dp.Schema:
    schema, problems = read_grid(draft, draft.edited_grid, draft.schema.unit)
    assert not problems
    assert schema is not None
    return schema


def names(question: facts.FactQuestion | None) -> list[str]:
    assert question is not None
    return [column.name for column in question.columns]


def items(draft: Draft, question: facts.FactQuestion | None) -> list[facts.FactItem]:
    assert question is not None
    return facts.items_of(draft, now(draft), question)


def answer(draft: Draft, source: str = "plainly public") -> None:
    """Say yes to what is ticked."""
    question = facts.next_question(draft, now(draft))
    assert question is not None
    facts.put_public(
        draft,
        [item for item in items(draft, question) if item.is_proposed],
        question,
        source,
    )


def test_what_is_plainly_public_comes_first_and_bounds_are_rounded() -> None:
    """One click took postcodes and costs of this very table as known, and every
    guarantee kept silent.
    """
    draft, schema = draft_and_schema()
    question = facts.next_question(draft, schema)
    assert question is not None
    assert question.kind == "public"
    assert names(question) == ["age"]
    shown = items(draft, question)
    assert [(item.column.name, item.kind, item.is_proposed) for item in shown] == [
        ("sex", "values", False),
        ("zip", "values", False),
        ("ward", "values", False),
        ("age", "values", True),
    ]
    assert [item.content for item in shown[:3]] == [
        ("d", "m", "w"),  # two people are of sex d
        ("99998", "01067", "04103"),
        ("CHIRURGIE", "Chirurgie", "Innere"),
    ]
    answer(draft)
    assert now(draft).column("age").from_data == ()
    question = facts.next_question(draft, now(draft))
    assert question is not None
    assert (question.kind, names(question)) == ("round", ["stay", "cost", "birth"])
    rounded = [columns.round_bounds(column) for column in question.columns]
    assert [(column.low, column.high) for column in rounded] == [  # type: ignore[union-attr]
        (0, 20),
        (0, 5000),
        ("1930-01-01", "1989-12-31"),
    ]
    facts.put_rounded(draft, [column for column in rounded if column])
    assert {"low", "high"} <= set(now(draft).column("cost").from_data), (
        "they follow the table's own"
    )
    assert now(draft).column("cost").high == 5000  # type: ignore[attr-defined]
    question = facts.next_question(draft, now(draft))
    assert (question and question.kind, names(question)) == ("one", ["sex"])
    answer(draft, "the form")
    assert now(draft).column("sex").from_data == ()
    question = facts.next_question(draft, now(draft))
    assert names(question) == ["zip"]
    assert question is not None
    # four rows of two people
    assert facts.rare_spellings(draft, now(draft), question.columns[0]) == ("99998",)
    zips = question.columns[0]
    assert isinstance(zips, dp.Categorical)
    facts.put_columns(draft, [facts.drop_labels(zips, ("99998",))])
    assert now(draft).column("zip").labels == ("01067", "04103", "(other)", "(missing)")
    assert set(now(draft).column("zip").from_data) == {*LISTED, "other"}, (
        "which ones are rare too"
    )
    facts.undo_answer(draft)
    assert names(facts.next_question(draft, now(draft))) == ["zip"]
    assert {
        column.name: column.known_from
        for column in now(draft).columns
        if column.known_from
    } == {
        "sex": "the form",
        "age": "plainly public",
    }


def test_an_answer_makes_public_what_was_ticked_and_nothing_else() -> None:
    """A yes to the labels would make public a word that nobody was shown."""
    draft, _schema = draft_and_schema()
    line = draft.edited_grid["column"] == "stay"
    draft.edited_grid.loc[line, ["means missing", "counts as"]] = ["-9", "many = 18"]
    draft.edited_grid.loc[line, "known from"] = "the discharge form"
    stay = now(draft).column("stay")
    assert stay.from_data == ("missing_tokens", "synonyms"), (
        "typed after the cells were shown"
    )
    draft.answers.columns_as_taken |= {"sex", "zip", "ward", "age", "cost", "birth"}
    question = facts.next_question(draft, now(draft))
    shown = items(draft, question)
    assert [(item.kind, item.content, item.is_proposed) for item in shown] == [
        ("missing_tokens", ("-9",), False),
        ("synonyms", ("many = 18",), False),
    ]
    assert question is not None
    facts.put_public(draft, shown[:1], question, "the discharge form")
    assert now(draft).column("stay").from_data == ("synonyms",)
    draft.edited_grid.loc[line, "means missing"] = "-9 | -8"
    assert now(draft).column("stay").from_data == ("missing_tokens", "synonyms"), (
        "another text is another item"
    )


def test_one_answer_takes_the_cell_for_missing_away() -> None:
    """Where no cell can be empty, every column would keep a cell that nobody needs; or
    lose it unseen.
    """
    draft, schema = draft_and_schema()
    assert all(
        column.missing and column.origin("missing") == "public rule"
        for column in schema.columns
    )
    facts.put_missing(draft, False)
    after = now(draft)
    assert not any(column.missing for column in after.columns)
    assert all(
        column.origin("missing") == "told by the owner" for column in after.columns
    )
    facts.put_missing(draft, True)
    assert all("missing" in column.from_data for column in now(draft).columns), (
        "never was said, and taken back beside the check"
    )
    draft = draft_of(frame())
    draft.edited_grid.loc[draft.edited_grid["column"] == "sex", "missing"] = False
    assert "missing" in now(draft).column("sex").from_data, (
        "one column by itself: after a look at its gaps"
    )


@pytest.mark.parametrize("her", ["F", "", "unBekannt"])
def test_a_cell_that_is_ticked_after_never_is_marked(her: str) -> None:
    """One person with a gap made its owner tick the cell, and nothing told of it."""
    values = pd.Series(["F", "M"] * 100 + [her]).replace("", None)
    draft = draft_of(pd.DataFrame({"sex": values}))
    facts.put_missing(draft, False)
    answer(draft)
    assert now(draft).column("sex").from_data == ()
    if not now(draft).column("sex").check(values).refused:
        return
    draft.edited_grid.loc[0, "missing"] = True
    assert now(draft).column("sex").from_data == ("missing",)
    draft.edited_grid.loc[0, ["means missing", "known from"]] = ["unBekannt", "a form"]
    assert set(now(draft).column("sex").from_data) == {"missing", "missing_tokens"}
    assert "unBekannt" not in now(draft).without_private_texts().to_json()
    question = facts.next_question(draft, now(draft))
    assert question is not None
    shown = items(draft, question)
    ticked = [item for item in shown if item.kind == "missing"]
    facts.put_public(draft, ticked, question, "a form")
    assert now(draft).column("sex").from_data == ("missing_tokens",), (
        "what the owner says of the cell itself holds"
    )


def test_a_cell_that_is_ticked_after_never_is_marked_of_numbers_too() -> None:
    """The search brought the rules for missing values back, without a mark."""
    loads = [f"{place / 10:.1f}" for place in range(900)]
    draft = draft_of(pd.DataFrame({"load": [*loads, "unBekannt"]}))
    facts.put_missing(draft, False)
    without = facts.without_found_cells(now(draft), ("load",))
    assert without.columns_from_data == ()
    assert not without.column("load").missing
    draft.edited_grid.loc[0, ["missing", "means missing"]] = [True, "unBekannt"]
    with_her = facts.without_found_cells(now(draft), ("load",))
    assert with_her.column("load").missing
    assert with_her.columns_from_data == ("load",)
    question = facts.next_question(draft, with_her)
    assert question is not None
    shown = facts.items_of(draft, with_her, question)
    assert [(item.kind, item.is_proposed) for item in shown] == [("missing", False)]
    before = draft.edited_grid.copy()
    facts.put_public(draft, shown, question, "the form")
    assert draft.edited_grid.drop(columns="told").equals(before.drop(columns="told")), (
        "the public cells of the search are not declared"
    )
    assert facts.without_found_cells(now(draft), ("load",)).columns_from_data == ()


def test_an_answer_does_not_outlive_what_it_was_about() -> None:
    """A label that was added for one person's row passed as plainly public."""
    draft = draft_of(pd.DataFrame({"sex": ["F", "M"] * 100}))
    answer(draft)
    assert now(draft).from_data == {}
    assert facts.next_question(draft, now(draft)) is None
    draft.edited_grid.loc[0, "categories"] = "F | M | Zzyzx"
    sex = now(draft).column("sex")
    assert sex.from_data == ("categories",)
    assert sex.known_from == "", "that was said of other labels"
    question = facts.next_question(draft, now(draft))
    assert (question and question.kind, names(question)) == ("one", ["sex"])
    assert items(draft, question)[0].content == ("Zzyzx", "F", "M")
    draft.edited_grid.loc[0, "known from"] = "the form"
    assert now(draft).from_data == {}, "a source that is typed is the owner's word"


def edit(draft: Draft, **fields: object) -> dp.Column:
    """Change fields of the first line, as a person does beside the check."""
    for field, value in fields.items():
        draft.edited_grid.loc[0, field.replace("_", " ")] = value
    return now(draft).columns[0]


CODES = " | ".join(f"w{place:03d}" for place in range(400))


@pytest.mark.parametrize(
    ("change", "marks"),
    [
        ({"missing": True}, ("missing",)),
        ({"other": True}, ("other",)),
        ({"categories": f"{CODES} | Zzyzx"}, ("categories",)),
    ],
)
def test_what_is_changed_of_a_column_that_was_taken_in_is_marked(
    change: dict[str, object], marks: tuple[str, ...]
) -> None:
    """The error box proposes a cell for her value, and nothing told of it."""
    table = pd.DataFrame({"diag": split_parts(CODES), "sex": ["F", "M"] * 200})
    draft = draft_of(table)
    assert [column.name for column in draft.schema.excluded] == ["diag"]
    taken_in = edit(draft, kind="categorical", categories=CODES)
    assert taken_in.from_data == (), "told before the check was shown"
    assert edit(draft, **change).from_data == marks
    assert edit(draft, known_from="the list of diagnoses").from_data == ()


def test_a_typed_source_answers_for_what_the_line_says_then() -> None:
    """Her label, or her pay, passed as known from the questionnaire."""
    draft = draft_of(pd.DataFrame({"mood": ["good", "bad"] * 100 + ["Zzyzx"]}))
    edit(draft, categories="good | bad", known_from="the questionnaire")
    assert now(draft).from_data == {}
    column = edit(draft, other=True)
    assert (column.from_data, column.known_from) == (("other",), "the questionnaire")
    column = edit(draft, other=False, categories="good | bad | Zzyzx")
    assert (column.from_data, column.known_from) == (("categories",), "")
    assert edit(draft, categories="good | bad").from_data == ()
    draft = draft_of(pd.DataFrame({"pay": [place % 90 for place in range(400)]}))
    column = edit(draft, low="0", high="99", step="10")
    assert set(column.from_data) >= {"low", "high", "bin_width"}
    column = edit(draft, known_from="a law")
    assert (column.from_data, column.known_from) == ((), "a law")
    column = edit(draft, high="4817")
    assert (column.from_data, column.known_from) == (("high",), "")
    assert edit(draft, known_from="another law").from_data == ()
    assert "high" in edit(draft, known_from="").from_data


def test_a_source_on_file_answers_for_its_own_contents() -> None:
    """A codebook was believed for a list and a bound that it never had."""
    book = dp.Schema(
        columns=(
            dp.Categorical(
                "mood", categories=("good", "bad"), ordered=True, known_from="the form"
            ),
            dp.Real("pay", low=1 / 3, high=99.5, bin_width=10.1, known_from="a law"),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    table = pd.DataFrame({"mood": ["good", "Zzyzx"] * 50, "pay": [0.5] * 100})
    draft = draft_of(table)
    draft.schema = book
    draft.edited_grid = to_grid(book, list(table.columns))
    assert now(draft).from_data == {}
    assert now(draft).column("mood").ordered  # type: ignore[attr-defined]
    draft.edited_grid.loc[0, "categories"] = "good | bad | Zzyzx"
    draft.edited_grid.loc[1, ["high", "other"]] = ["4817", True]
    draft.edited_grid.loc[1, "missing"] = True
    after = now(draft)
    assert {name: set(marks) for name, marks in after.from_data.items()} == {
        "mood": {"categories"},
        "pay": {"missing", "high", "unreadable_is_missing"},
    }
    assert {column.known_from for column in after.columns} == {""}


def test_codes_that_are_made_numbers_are_marked() -> None:
    """What is no number counted as missing, said to be by a public rule."""
    codes = [f"{place % 12:02d}" for place in range(400)]
    draft = draft_of(pd.DataFrame({"x": [*codes, "Quokka"]}))
    column = edit(draft, kind="integer", low="0", high="11", step="1", other=True)
    assert {"kind", "unreadable_is_missing"} <= set(column.from_data)


def test_ages_are_told_once_and_marked_when_they_are_changed_again() -> None:
    """Her age of 104 took the usual 99 back, and a rule was named for it."""
    ages = [20 + place % 60 for place in range(400)]
    draft = draft_of(pd.DataFrame({"age": [*ages, 104]}))
    assert draft.schema.column("age").origin("high") == "public rule"
    facts.put_ages(draft, [dataclasses.replace(now(draft).columns[0], high=99)])  # type: ignore[arg-type, call-arg]
    told = now(draft).columns[0]
    assert (told.from_data, told.origin("high")) == (("kind",), "told by the owner")
    assert draft.answers.grid_before is None, "an undo would leave no trace"
    facts.put_ages(draft, [dataclasses.replace(told, high=119)])  # type: ignore[call-arg]
    assert set(now(draft).columns[0].from_data) == {"kind", "high"}


def test_a_draft_without_rows_shows_no_check() -> None:
    """A plan would say of its own words that a table told them."""
    plain = NamesDraft(
        name="a plan",
        frame=pd.DataFrame({"sex": [""]}),
        schema=dp.Schema(
            columns=(),
            unit=dp.PrivacyUnit(max_rows=1),
            excluded=(
                dp.schema.ExcludedColumn(name="sex", reason="say what it holds"),
            ),
        ),
        grid=pd.DataFrame(),
        edited_grid=pd.DataFrame(),
        dataset="d",
        expected_rows=10,
    )
    plain.edited_grid = to_grid(plain.schema, ["sex"])
    edit(plain, kind="categorical", categories="F | M")
    assert edit(plain, categories="F | M | X", other=True).from_data == ()


def test_a_tick_on_joined_spellings_alone_says_where_from() -> None:
    """The codebook of this table could not be read: nobody says who joined them."""
    draft = draft_of(pd.DataFrame({"ward": ["Eye", "eye", "Ear"] * 50}))
    facts.put_columns(draft, facts.join_spellings(draft.schema.columns).values())
    question = facts.next_question(draft, now(draft))
    assert question is not None
    ticked = [item for item in items(draft, question) if item.kind == "spellings"]
    facts.put_public(draft, ticked, question, "the ward list")
    column = now(draft).column("ward")
    assert set(column.from_data) == LISTED
    assert column.known_from == "the ward list"
    again = dp.Schema.from_json(now(draft).without_private_texts().to_json()).column(
        "ward"
    )
    assert again.known_from == "the ward list"


def test_what_was_said_of_one_cell_does_not_outlive_it() -> None:
    """A cell for missing that an answer took away came back without a mark."""
    draft = draft_of(pd.DataFrame({"sex": ["F", "M"] * 100}))
    draft.edited_grid.loc[0, "missing"] = False
    question = facts.next_question(draft, now(draft))
    assert question is not None
    facts.put_public(draft, items(draft, question), question, "the form")
    assert now(draft).from_data == {}
    draft.edited_grid.loc[0, "missing"] = True
    assert now(draft).column("sex").from_data == ("missing",)


@pytest.mark.parametrize("step", [0.1, 1 / 3, 1e15 / 7])
def test_an_answer_about_numbers_holds_as_the_grid_writes_them(step: float) -> None:
    """Digits that the grid does not show would have the same question asked again."""
    draft = draft_of(pd.DataFrame({"load": [step * place for place in range(900)]}))
    draft.answers.asks_one_by_one = True
    answer(draft, "a law")
    assert now(draft).from_data == {}


def test_what_is_left_stays_marked() -> None:
    """Whoever does not know would have to say yes; or would be asked for ever."""
    draft, schema = draft_and_schema()
    for _step in range(10):
        question = facts.next_question(draft, now(draft))
        if question is None:
            break
        facts.leave_as_taken(draft, question)
    assert facts.next_question(draft, now(draft)) is None
    assert set(now(draft).from_data) == {column.name for column in schema.columns}


def test_labels_that_differ_in_case_alone_are_joined() -> None:
    """Two spellings of one ward would be two wards in every result."""
    draft, schema = draft_and_schema()
    joined = facts.join_spellings(schema.columns)
    assert joined["ward"].labels == ("Chirurgie", "Innere", "(missing)")
    facts.put_columns(draft, joined.values())
    ward = now(draft).column("ward")
    assert set(ward.from_data) == {*LISTED, "spellings"}
    assert ward.synonyms == ()
    codes = ward.encode(draft.frame["ward"])
    assert np.bincount(codes).tolist() == [ROWS * 2 // 3, ROWS // 3]
    assert facts.join_spellings(now(draft).columns) == {}
    draft.edited_grid.loc[draft.edited_grid["column"] == "ward", "known from"] = (
        "the hospital's list"
    )
    assert now(draft).column("ward").from_data == ("spellings",), (
        "somebody's spelling was the reason for it"
    )
    draft.edited_grid.loc[draft.edited_grid["column"] == "ward", "categories"] = (
        "CHIRURGIE | Innere"
    )
    assert now(draft).column("ward").labels[:2] == ("CHIRURGIE", "Innere")
    assert np.bincount(
        now(draft).column("ward").encode(draft.frame["ward"])
    ).tolist() == [400, 200]


@pytest.mark.parametrize(
    "spelled",
    [["Surgery"], ["surgery"], ["SURGERY", "surgery"], ["surgery", "sURGERY"]],
)
def test_what_is_printed_follows_from_the_folded_text(spelled: list[str]) -> None:
    """The spelling of one person would be the printed name of a ward."""
    column = dp.Categorical("ward", categories=(*spelled, "a", "A"))
    assert facts.join_spellings([column])["ward"].categories == ("A", "Surgery")


@pytest.mark.parametrize("her", ["zeta", "Zeta"])
def test_joined_labels_have_the_order_of_the_folded_text(her: str) -> None:
    """One person's capital letter moved a ward within every result."""
    wards = ["alpha", "zeta", "beta", "Beta"] * 50
    draft = draft_of(pd.DataFrame({"ward": [*wards, her]}))
    facts.put_columns(draft, facts.join_spellings(draft.schema.columns).values())
    column = now(draft).column("ward")
    assert column.labels[:3] == ("Alpha", "Beta", "Zeta")
    (shown,) = (
        item
        for item in items(draft, facts.next_question(draft, now(draft)))
        if item.kind == "spellings"
    )
    pairs = ("Beta / beta",) if her == "zeta" else ("Beta / beta", "Zeta / zeta")
    assert shown.content == pairs, "it is seen whose spellings are joined"


def test_a_declared_order_stays_when_spellings_are_joined() -> None:
    """Low, middle and high would be sorted by their letters."""
    column = dp.Categorical(
        "pain", categories=("low", "middle", "high", "High"), ordered=True
    )
    assert facts.join_spellings([column])["pain"].categories == (
        "Low",
        "Middle",
        "High",
    )


def test_a_rare_spelling_stays_rare_when_it_is_joined() -> None:
    """Joined with many, one person's spelling would be proposed as plainly public."""
    table = pd.DataFrame({"mood": ["good", "bad"] * 300 + ["gOOD"]})
    draft = draft_of(table)
    schema = draft.schema
    assert facts.rare_spellings(draft, schema, schema.column("mood")) == ("gOOD",)
    (joined,) = facts.join_spellings(schema.columns).values()
    assert facts.rare_spellings(draft, schema, joined) == ("gOOD",)
    facts.put_columns(draft, [joined])
    question = facts.next_question(draft, now(draft))
    assert question is not None
    assert question.kind == "one"


def test_a_label_is_rare_by_all_its_spellings() -> None:
    """A ward of five hundred rows was counted as other, because two of them spell it as
    it is printed.
    """
    wards = ["surgery", "eye"] * 500 + ["Surgery"] * 2 + ["Zoo"] * 3
    draft = draft_of(pd.DataFrame({"ward": wards}))
    facts.put_columns(draft, facts.join_spellings(draft.schema.columns).values())
    column = now(draft).column("ward")
    assert isinstance(column, dp.Categorical)
    assert facts.rare_spellings(draft, now(draft), column) == ("Surgery", "Zoo")
    labels = facts.rare_labels(draft, now(draft), column)
    assert labels == ("Zoo",)
    assert facts.drop_labels(column, labels).categories == ("Eye", "Surgery")


def test_people_count_once_for_a_label() -> None:
    """Six people with two spellings each would pass as twelve."""
    table = pd.DataFrame(
        {
            "patient_id": [*range(100)] * 2,
            "ward": ["eye"] * 94 + ["zoo"] * 6 + ["eye"] * 94 + ["Zoo"] * 6,
        }
    )
    draft = draft_of(table)
    facts.put_columns(draft, facts.join_spellings(draft.schema.columns).values())
    column = now(draft).column("ward")
    assert facts.rare_labels(draft, now(draft), column) == ("Zoo",)


@pytest.mark.parametrize("hers", ["yEs", "Yes"])
def test_yes_and_no_are_public_if_ten_people_write_them_so(hers: str) -> None:
    """The spelling of the only person who says yes was proposed with a tick."""
    draft = draft_of(pd.DataFrame({"ill": ["no"] * 400 + [hers]}))
    column = now(draft).column("ill")
    assert isinstance(column, dp.Boolean)
    assert facts.rare_spellings(draft, now(draft), column) == (hers,)
    question = facts.next_question(draft, now(draft))
    assert (question and question.kind, names(question)) == ("one", ["ill"])
    draft = draft_of(pd.DataFrame({"ill": ["no"] * 400 + [hers] * 10}))
    question = facts.next_question(draft, now(draft))
    assert (question and question.kind, names(question)) == ("public", ["ill"])
    draft = draft_of(pd.DataFrame({"ill": [False] * 400 + [True]}))
    assert facts.rare_spellings(draft, now(draft), now(draft).column("ill")) == (), (
        "nobody wrote these"
    )


def test_cells_that_cannot_be_read_are_listed() -> None:
    """Impossible dates would go missing without anybody being told."""
    draft, schema = draft_and_schema()
    assert facts.unread_cells(draft, schema.column("birth")) == ("00.00.1950",)
    assert facts.unread_cells(draft, schema.column("cost")) == ()
    words = pd.DataFrame({"x": [*map(str, range(200)), "k.A.", "<3", "word"]})
    draft.frame = words
    assert facts.unread_cells(draft, dp.suggest_schema(words).column("x")) == (
        "word",
    ), "a rule reads the others"


COLUMNS = [
    dp.Integer("a", low=16, high=130, bin_width=2),
    dp.Integer("a", low=1995, high=2020),
    dp.Integer("a", low=7, high=7),
    dp.Integer("a", low=0, high=4999, cuts=(1, 10, 100, 1000)),
    dp.Real("a", low=-1.0, high=1.02, bin_width=0.02, special=(-1.0, 99.0)),
    dp.Real("a", low=0.1, high=0.7, bin_width=0.6, special=(0.1, 0.2, 0.7)),
    dp.Real("a", low=-1e299, high=1e299, bin_width=1e298),
    dp.Date("a", low="2024-01-01", high="2024-12-31"),
    dp.Date("a", low="0001-01-01", high="9999-12-31", step="year"),
]


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_round_bounds_hold_what_the_table_has(column: dp.Column) -> None:
    """A value would be moved to a bound that was meant to be wide enough for any
    table.
    """
    rounded = columns.round_bounds(column)
    assert rounded is not None
    assert rounded.low <= column.low  # type: ignore[attr-defined]
    assert rounded.high >= column.high  # type: ignore[attr-defined]
    assert rounded.size <= max(2 * column.size, 400)


def test_bounds_that_no_round_numbers_fit_are_asked_about_by_themselves() -> None:
    """Cells narrower than numbers of this size allow would end the page in an error."""
    assert (
        columns.round_bounds(dp.Real("a", low=1e15, high=1e15 + 8, bin_width=0.5))
        is None
    )
