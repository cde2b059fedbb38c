"""Where each fact is from: public rules, the owner, the data, or a private search."""

from __future__ import annotations

import dataclasses
import json
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.errors import BudgetError, ParameterError
from dpcore.release import PrivateReport, _digest, check_origins
from dpcore.schema import Schema
from dpcore.schema.origin import (
    CENSORED_RULE,
    MISSING_WORDS_RULE,
    SPELLINGS_RULE,
    CellSearch,
    Origin,
    censored_number,
    fold_text,
    label_of_folded,
    means_missing,
)
from dpcore.schema.values import MISSING, OTHER_LABEL
from workbench.language.wording import found_cells_sentences, from_data_words
from workbench.store.links.shares import SharedPage

FRAME = pd.DataFrame(
    {
        "age": np.arange(20, 80).tolist() * 10,
        "sex": ["F", "M"] * 300,
        "pay": (np.arange(600) * 7.5 + 100).tolist(),
    },
)
SCHEMA = dp.suggest_schema(FRAME)
BY_HAND = Schema(
    columns=(
        dp.Integer(
            "age",
            low=0,
            high=99,
            missing=True,
            missing_tokens=("-9",),
            synonyms=(("many", "99"),),
        ),
        dp.Categorical("sex", categories=("F", "M")),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
PURE = {"budget": dp.PureDP(epsilon=3)}
EPSILON_1_20 = CellSearch(measure="epsilon", amount="1/20")


def fields(schema: Schema = SCHEMA) -> dict[str, Any]:
    """A schema file, to be changed."""
    content: dict[str, Any] = json.loads(schema.to_json())
    return content


def read(content: dict[str, Any]) -> Schema:
    return Schema.from_json(json.dumps(content))


def test_each_fact_has_an_origin() -> None:
    """A guarantee would call a rule the owner's word, or a fact of the table a rule."""
    age, sex, pay = SCHEMA.columns
    assert age.origin("low") == age.origin("missing") == Origin.RULE
    assert age.values_origin == Origin.DATA, "that they are whole numbers was looked up"
    assert dataclasses.replace(age, from_data=()).values_origin == Origin.RULE
    assert (sex.origin("categories"), sex.origin("missing"), sex.origin("other")) == (
        Origin.DATA,
        Origin.RULE,
        Origin.TOLD,
    )
    found = dp.open_with_cells(
        FRAME, SCHEMA, ["pay"], ledger=dp.MemoryLedger(), **PURE
    ).schema.column("pay")
    assert (pay.origin("low"), found.origin("low")) == (Origin.DATA, Origin.FOUND)
    assert found.from_data == ("kind",)
    assert (
        BY_HAND.column("sex").values_origin
        == BY_HAND.column("sex").origin("missing")
        == Origin.TOLD
    )


def test_a_rule_declares_one_thing_and_not_its_opposite() -> None:
    """What the owner changed for one person's cell was called a public rule."""
    age = SCHEMA.column("age")
    assert age.origin("unreadable_is_missing") == Origin.RULE
    refused = dataclasses.replace(age, unreadable_is_missing=False)
    assert refused.origin("unreadable_is_missing") == Origin.TOLD
    never = dataclasses.replace(refused, missing=False)
    assert never.origin("missing") == Origin.TOLD
    younger = dataclasses.replace(age, high=99)
    assert (younger.origin("high"), younger.origin("low")) == (Origin.TOLD, Origin.RULE)


def test_a_highest_age_of_an_earlier_file_is_read_as_from_the_data() -> None:
    """A file of a program that called 99 a rule could not be opened."""
    younger = dataclasses.replace(SCHEMA.column("age"), high=99)
    content = fields(dataclasses.replace(SCHEMA, columns=(younger,)))
    assert content["columns"][0].pop("known_from") == "declared"
    assert read(content).column("age").from_data == ("kind", "high")
    content["columns"][0]["known_from"] = "a law"
    assert read(content).column("age").from_data == ("kind",)


def test_a_schema_written_by_hand_means_what_it_says() -> None:
    """Words that a rule knows would go missing in a column of somebody who declared
    none of this.
    """
    column = dp.Categorical("x", categories=("unknown", "known"), other=True)
    assert column.encode(pd.Series(["unknown", "None", "known"])).tolist() == [0, 2, 1]
    assert not column.missing
    ruled = dataclasses.replace(column, rules=(MISSING_WORDS_RULE,), missing=True)
    assert ruled.encode(pd.Series(["unknown", "None", "known"])).tolist() == [
        0,
        3,
        1,
    ], "a category is declared"


def test_a_listed_word_changes_what_no_other_spelling_means() -> None:
    """One person's `none` would make an answer of everybody's None, or refuse it."""
    answer = dp.Categorical(
        "answer", categories=("a", "none"), missing=True, rules=(MISSING_WORDS_RULE,)
    )
    values = pd.Series(["a", "none", "None"])
    assert answer.encode(values).tolist() == [0, 1, 2]
    joined = dataclasses.replace(answer, rules=(MISSING_WORDS_RULE, SPELLINGS_RULE))
    assert joined.encode(values).tolist() == [0, 1, 1]


def test_the_owner_says_that_no_cell_is_empty() -> None:
    """Tables of yes and no would have cells that nobody needs, whatever their owner
    knows.
    """
    schema = dp.suggest_schema(FRAME, missing=False)
    assert [column.missing for column in schema.columns] == [False] * 3
    assert [column.origin("missing") for column in schema.columns] == [Origin.TOLD] * 3
    with pytest.raises(dp.SchemaError, match="fit none of its declared cells"):
        schema.encode(FRAME.assign(sex="unknown"))


@given(st.text(max_size=12))
def test_folding_knows_one_spelling(text: str) -> None:
    """A label would not be found by the text that is printed for it."""
    assert (
        fold_text(fold_text(text))
        == fold_text(text)
        == fold_text(label_of_folded(fold_text(text)))
    )
    assert fold_text(f"  {text} ") == fold_text(text)


@pytest.mark.parametrize("letter", ["ı", "ß", "ŉ", "ǰ", "İ", "ǆ", "ς", "a"])
def test_a_printed_label_is_found_by_its_own_text(letter: str) -> None:
    """Rows of a ward whose name begins with such a letter would have no cell."""
    folded = fold_text(f"{letter}rmak")
    assert fold_text(label_of_folded(folded)) == folded


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("<0.5", 0.25),
        ("<0,5", 0.25),
        ("≤ 3", 1.5),
        ("<=3", 1.5),
        (">200", 200),
        ("≥-2", -2),
        ("5", None),
    ],
)
def test_a_limit_counts_by_one_rule(text: str, number: float | None) -> None:
    """What a limit of detection counts as would follow from which ones occur."""
    assert censored_number(text) == number


def test_rules_of_a_column_read_its_values() -> None:
    """A release would count other rows than its declaration says."""
    ward = dp.Categorical(
        "ward",
        categories=("Surgery", "A1"),
        missing=True,
        rules=(MISSING_WORDS_RULE, SPELLINGS_RULE),
    )
    values = pd.Series(["sURGERY ", "surgery", "a1", "unBekannt", None])
    assert ward.encode(values).tolist() == [0, 0, 1, 2, 2]
    load = dp.Real(
        "load",
        low=0,
        high=10,
        bin_width=1,
        missing=True,
        unreadable_is_missing=True,
        rules=(MISSING_WORDS_RULE, CENSORED_RULE),
    )
    assert load.encode(pd.Series(["<9", "4.5", "k.A.", "word", ">12"])).tolist() == [
        4,
        4,
        10,
        10,
        9,
    ]
    assert means_missing("KEINE ANGABE")
    with pytest.raises(ParameterError, match="which columns of its kind do not have"):
        dp.Categorical("ward", categories=("a",), rules=(CENSORED_RULE,))
    with pytest.raises(ParameterError, match="twice"):
        dp.Categorical("ward", categories=("a", "A"), rules=(SPELLINGS_RULE,))
    with pytest.raises(ParameterError, match="ages"):
        dp.Integer("age", low=3, high=119, rules=("ages 1",))


def pay(content: dict[str, Any]) -> dict[str, Any]:
    """What a schema file says of the column pay."""
    return next(each for each in content["columns"] if each["name"] == "pay")  # type: ignore[no-any-return]


def release_of(schema: Schema = BY_HAND) -> dp.Release:
    curator = dp.Curator.open(FRAME, schema, ledger=dp.MemoryLedger(), **PURE)
    return curator.run(dp.Histogram("age"), dp.PureDP(epsilon=1))


def test_texts_stay_in_the_account() -> None:
    """A word that one person wrote would be in a release, a link or a file that is
    handed on.
    """
    assert "-9" in BY_HAND.to_json()
    text = release_of().to_json()
    assert "-9" not in json.dumps(json.loads(text)["schema"])
    assert "many" not in text
    assert "-9" in BY_HAND.without_private_texts().to_json(), (
        "its owner declared it as public"
    )
    marked = dataclasses.replace(
        BY_HAND.columns[0], from_data=("missing_tokens", "synonyms")
    )
    shared = (
        dataclasses.replace(BY_HAND, columns=(marked,))
        .without_private_texts()
        .to_json()
    )
    assert "-9" not in shared
    assert "many" not in shared
    assert "missing_tokens" in shared, "but that there were some is said"


def without_owner(content: dict[str, Any]) -> None:
    content["columns"][1] |= {"from_data": []}
    content["columns"][1].pop("known_from", None)


def found_for_nothing(content: dict[str, Any]) -> None:
    content["columns"][2] |= {"from_data": ["kind"], "found": "epsilon 0"}


def found_for_both(content: dict[str, Any]) -> None:
    found = {"epsilon": "1/20", "rho": "1/20", "search": 16 * "0"}
    content["columns"][2] |= {"from_data": ["kind"], "found": found}


def found_by_no_search(content: dict[str, Any]) -> None:
    content["columns"][2] |= {"from_data": ["kind"], "found": {"epsilon": "1/20"}}


def found_and_no_kind(content: dict[str, Any]) -> None:
    content["columns"][2] |= {"from_data": [], "found": "epsilon 1/20"}


def kind_alone(content: dict[str, Any]) -> None:
    content["columns"][1] |= {"from_data": ["kind"]}


def words_of_nobody(content: dict[str, Any]) -> None:
    content["columns"][1] |= {"missing_tokens": ["unBekannt"]}


def synonyms_of_nobody(content: dict[str, Any]) -> None:
    content["columns"][1] |= {"synonyms": [["sURGERY", "F"]]}


def ages_of_another_name(content: dict[str, Any]) -> None:
    content["columns"][0] |= {"name": "salary"}


def found_and_read(content: dict[str, Any]) -> None:
    content["columns"][2] |= {"found": "epsilon 1/20"}


def found_labels(content: dict[str, Any]) -> None:
    content["columns"][1] |= {"found": "epsilon 1/20"}


def joined_by_nobody(content: dict[str, Any]) -> None:
    content["columns"][1] |= {"rules": [MISSING_WORDS_RULE, SPELLINGS_RULE]}


def unknown_rule(content: dict[str, Any]) -> None:
    content["columns"][1] |= {"rules": ["words for missing 99"]}


def other_ages(content: dict[str, Any]) -> None:
    content["columns"][0] |= {"high": 97}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (without_owner, "sex"),
        (found_for_nothing, "'pay'.*is not valid"),
        (found_for_both, "'pay'.*is not valid"),
        (found_by_no_search, "'pay'.*is not valid"),
        (found_and_no_kind, "pay"),
        (found_and_read, "pay"),
        (kind_alone, "'sex'.*categories"),
        (words_of_nobody, "'sex'.*missing_tokens"),
        (synonyms_of_nobody, "'sex'.*synonyms"),
        (ages_of_another_name, "salary"),
        (found_labels, "sex"),
        (unknown_rule, "sex"),
        (joined_by_nobody, "'sex'.*spellings"),
        (other_ages, "age"),
    ],
)
def test_a_file_that_claims_what_cannot_be_is_refused_by_name(
    change: Any, name: str
) -> None:
    """A codebook would make facts of a table public, or found, by saying so."""
    content = fields()
    assert read(content) == SCHEMA
    change(content)
    with pytest.raises(ParameterError, match=name) as refused:
        read(content)
    assert refused.value.remedy


def test_cells_that_nobody_paid_for_are_refused() -> None:
    """A codebook of another table would carry its search into this account, and its
    loss out of it.
    """
    ledger = dp.MemoryLedger()
    curator = dp.open_with_cells(FRAME, SCHEMA, ["pay"], ledger=ledger, **PURE)
    again = read(fields(curator.schema))
    found = again.column("pay").found
    assert found is not None
    assert found.loss == {"epsilon": "1/20"}
    assert re.fullmatch("[0-9a-f]{16}", found.id)
    opened = dp.Curator.open(FRAME, again, ledger=ledger, **PURE)
    assert opened.schema.found == {"pay": found}
    other = dataclasses.replace(found, id="0123456789abcdef")
    with pytest.raises(ParameterError, match=r"'pay' .* nothing was charged"):
        dp.Curator.open(FRAME, with_found(again, other), ledger=ledger, **PURE)
    with pytest.raises(ParameterError, match=r"'pay' .* nothing was charged"):
        dp.Curator.open(FRAME, again, ledger=dp.MemoryLedger(), **PURE)


@pytest.mark.parametrize("cell", ["missing", "other"])
def test_a_cell_that_the_table_asked_for_is_no_public_part(cell: str) -> None:
    """One person's label decided that there is such a part, and its charge was put
    beside those of others.
    """
    label = {"missing": MISSING, "other": OTHER_LABEL}[cell]
    for marks in ((), (cell,)):
        sex = dp.Categorical(
            "sex", categories=("F", "M"), missing=True, other=True, from_data=marks
        )
        schema = Schema(columns=(sex,), unit=dp.PrivacyUnit(max_rows=1))
        assert schema.check_part({"sex": "F"}) == ("sex", "F")
        if marks:
            with pytest.raises(BudgetError, match="'sex'"):
                schema.check_part({"sex": label})
        else:
            assert schema.check_part({"sex": label}) == ("sex", label)


def test_joined_spellings_are_somebodys_word_in_a_file() -> None:
    """A codebook would call it a public rule that somebody's spelling was the reason
    for.
    """
    sex = dp.Categorical(
        "sex",
        categories=("F", "M"),
        rules=(SPELLINGS_RULE,),
        from_data=("kind", "categories"),
    )
    content = fields(Schema(columns=(sex,), unit=dp.PrivacyUnit(max_rows=1)))
    assert content["columns"][0]["known_from"] == "declared"
    assert read(content).column("sex").from_data == ("kind", "categories")


def with_found(schema: Schema, found: CellSearch) -> Schema:
    """The schema with another search for cells of pay."""
    columns = (
        dataclasses.replace(column, found=found) if column.name == "pay" else column
        for column in schema.columns
    )
    return dataclasses.replace(schema, columns=tuple(columns))


def test_cells_of_before_stand_on_the_same_requests() -> None:
    """After an update a codebook would be refused, and a release or a part on file be
    charged again.
    """
    ledger = dp.MemoryLedger()
    curator = dp.open_with_cells(FRAME, SCHEMA, ["pay"], ledger=ledger, **PURE)
    content = fields(curator.schema)
    pay(content)["found"] = "epsilon 1/20"
    before = read(content)
    assert before.plan_text == curator.schema.plan_text
    part = ("pay", curator.schema.column("pay").labels[0])
    assert before.part_in_ledger(part, b"k") == curator.schema.part_in_ledger(
        part, b"k"
    )
    opened = dp.Curator.open(FRAME, before, ledger=ledger, **PURE)
    assert opened.schema.found == curator.schema.found


def test_equal_searches_of_before_are_told_apart_by_the_ledger() -> None:
    """An account that was charged for two searches of one loss would go on saying
    one.
    """
    ledger = dp.MemoryLedger()
    table = FRAME.assign(size=FRAME["pay"] * 3)
    schema = dp.suggest_schema(table)
    for name in ("pay", "size"):
        curator = dp.open_with_cells(table, schema, [name], ledger=ledger, **PURE)
        schema = curator.schema
    content = fields(schema)
    for column in content["columns"]:
        if "found" in column:
            column["found"] = "epsilon 1/20"
    before = read(content)
    assert before.found == {"pay": EPSILON_1_20, "size": EPSILON_1_20}
    opened = dp.Curator.open(table, before, ledger=ledger, **PURE).schema
    assert opened.found == schema.found
    assert opened.found["pay"] != opened.found["size"]
    assert len(found_cells_sentences(opened.found)) == 2


def test_texts_of_before_about_a_search_are_read() -> None:
    """A codebook of before would no longer open, or be opened as another search's."""
    ledger = dp.MemoryLedger()
    curator = dp.open_with_cells(FRAME, SCHEMA, ["pay"], ledger=ledger, **PURE)
    found = curator.schema.column("pay").found
    assert found is not None
    content = fields(curator.schema)
    assert pay(content)["found"] == {
        "epsilon": "1/20",
        "search": found.id,
        "columns": ["pay"],
    }
    pay(content)["found"] = f"epsilon 1/20 #{found.id}"
    before = read(content)
    assert before.found == {"pay": dataclasses.replace(found, columns=())}
    again = dp.Curator.open(FRAME, before, ledger=ledger, **PURE)
    assert again.schema.found == {"pay": found}, "the ledger knows all its columns"
    release = curator.run(dp.Histogram("pay"), dp.PureDP(epsilon=1))
    text = release.to_json()
    written = json.dumps(found.to_json())
    assert text.count(written) == 2, "in the schema and in the guarantee"
    old = json.loads(text.replace(written, f'"epsilon 1/20 #{found.id}"'))
    old["digest"] = _digest(old)
    before_release = dp.Release.from_dict(old)
    assert before_release.guarantee.found == before.found
    assert dp.Release.from_json(before_release.to_json()).schema.found == before.found


@pytest.mark.parametrize(
    "change",
    [
        lambda column: column.update(low=column["low"] - 1),
        lambda column: column.update(high=column["high"] + 1),
        lambda column: column.update(cuts=column["cuts"][:-1]),
        lambda column: column.update(special=[column["low"] + 1.5]),
    ],
)
def test_cells_that_were_changed_after_they_were_found_are_refused(change: Any) -> None:
    """Once a search was paid, whatever cells one writes would pass for what it found."""
    ledger = dp.MemoryLedger()
    curator = dp.open_with_cells(FRAME, SCHEMA, ["pay"], ledger=ledger, **PURE)
    content = fields(curator.schema)
    change(pay(content))
    with pytest.raises(ParameterError, match=r"'pay' .* not those that were found"):
        dp.Curator.open(FRAME, read(content), ledger=ledger, **PURE)


def test_a_guarantee_names_the_columns_that_the_table_left_out() -> None:
    """That a column is in no release would follow from one person, and nothing say
    so.
    """
    notes = [f"note {place}" for place in range(600)]
    schema = dp.suggest_schema(FRAME.assign(note=notes))
    assert schema.column("sex")
    curator = dp.Curator.open(
        FRAME.assign(note=notes), schema, ledger=dp.MemoryLedger(), **PURE
    )
    release = curator.run(dp.Histogram("sex"), dp.PureDP(epsilon=1))
    assert release.guarantee.from_data["note"] == ("left out",)
    content = json.loads(release.to_json())
    named = ("age", "note", "pay")
    assert set(release.guarantee.from_data) == {"sex", *named}
    read_again = dp.Release.from_dict(content).schema.left_out
    assert tuple(column.name for column in read_again) == named
    content["guarantee"]["from_data"].pop("note")
    with pytest.raises(ParameterError, match="'note'"):
        dp.Release.from_dict(sealed(content))


@pytest.mark.parametrize("her", ["w00", "Quokka"])
def test_a_release_of_other_columns_tells_not_whether_one_is_left_out(her: str) -> None:
    """Who knows the header and saw no mark would know that she is not there."""
    codes = [f"w{place % 50:02d}" for place in range(100)]
    table = pd.DataFrame({"diag": [*codes, her], "sex": [*"FM" * 50, "F"]})
    schema = dp.suggest_schema(table)
    assert bool(schema.excluded) == (her == "Quokka")
    curator = dp.Curator.open(table, schema, ledger=dp.MemoryLedger(), **PURE)
    release = curator.run(dp.Histogram("sex"), dp.PureDP(epsilon=1))
    assert release.guarantee.from_data["diag"] == ("left out",)
    assert [column.name for column in release.schema.left_out] == ["diag"]
    assert "diag (whether left out)" in from_data_words(release.guarantee.from_data)


@pytest.mark.parametrize("hers", [5.0, 2.5])
def test_a_release_names_all_columns_of_its_search(hers: float) -> None:
    """One number made the search cover another column, which halves what each gets."""
    loads = np.random.default_rng(3).gamma(3, 20, 4_000).round(1)
    table = pd.DataFrame(
        {"x": [*loads, 5.0], "y": [*[1.0, 2.0, 7.0, 3.0] * 1_000, hers]}
    )
    names = ["x", "y"] if hers == 2.5 else ["x"]
    schema = Schema(
        columns=(
            dp.Real("x", low=0, high=1_000, bin_width=10),
            dp.Real("y", low=0, high=1_000, bin_width=10),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    curator = dp.open_with_cells(table, schema, names, ledger=dp.MemoryLedger(), **PURE)
    release = curator.run(dp.Histogram("x"), dp.PureDP(epsilon=1))
    assert release.guarantee.found["x"].columns == tuple(names)
    (sentence,) = found_cells_sentences(release.guarantee.found)
    assert f"the cells of {', '.join(names)}." in sentence
    assert dp.Release.from_json(release.to_json()).guarantee == release.guarantee
    content = json.loads(release.to_json())
    content["guarantee"]["found"]["x"]["columns"] = ["z"]
    with pytest.raises(ParameterError, match="'x'"):
        dp.Release.from_dict(sealed(content))


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["guarantee"].update(from_data={}),
        lambda content: content["guarantee"].update(found={"sex": "epsilon 1/20"}),
    ],
)
def test_a_release_that_says_less_than_its_schema_is_refused(change: Any) -> None:
    """A page would promise what the declaration beside it denies."""
    curator = dp.Curator.open(FRAME, SCHEMA, ledger=dp.MemoryLedger(), **PURE)
    content = json.loads(
        curator.run(dp.Histogram("sex"), dp.PureDP(epsilon=1)).to_json()
    )
    change(content)
    with pytest.raises(ParameterError, match="'sex'"):
        dp.Release.from_dict(sealed(content))


SEVEN_ROWS = Schema(
    columns=(
        dp.Categorical("sex", categories=("F", "M"), known_from="a law"),
        dp.Integer("pay", low=0, high=5000, bin_width=500),
    ),
    unit=dp.PrivacyUnit(max_rows=7, id_column="person", from_data=True),
)


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """Give an altered file the digest that anybody can compute."""
    return {**content, "digest": _digest(content)}


def contradicted(content: dict[str, Any], change: str) -> None:
    """Change one thing that the guarantee or the schema of a release says."""
    guarantee = content["guarantee"]
    schema = content["schema"]
    if change == "unit":
        guarantee["unit"] = "add or remove one person (one row)"
    if change == "mark of the unit":
        guarantee["unit"] = (
            "add or remove one person (at most 7 rows, named by 'person')"
        )
    if change == "no source":
        guarantee["known_from"] = {}
    if change == "another source":
        guarantee["known_from"] = {"sex": "a law", "pay": "the census bureau"}
    if change == "declared by":
        schema["declared_by"] = "Mr X"
    if change == "stands on":
        guarantee["stands_on"] = [{"epsilon": "9"}]
    if change == "stands on rho":
        guarantee["stands_on"] = [{"rho": "1/9"}]
    if change == "left out without a mark":
        schema["left_out"] = [{"name": "zip", "from_data": []}]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("unit", "who is protected"),
        ("mark of the unit", "who is protected"),
        ("no source", "sources of the declared facts"),
        ("another source", "sources of the declared facts"),
        ("declared by", "declared that each row"),
        ("stands on", "builds on"),
        ("stands on rho", "builds on"),
        ("left out without a mark", "'zip'"),
    ],
)
def test_a_guarantee_that_contradicts_its_file_is_refused(
    change: str, says: str
) -> None:
    """A page would print a promise that the same file denies."""
    people = FRAME.assign(person=[f"p{place % 100}" for place in range(600)])
    curator = dp.Curator.open(people, SEVEN_ROWS, ledger=dp.MemoryLedger(), **PURE)
    release = curator.run(dp.Independent(columns=("sex", "pay")), dp.PureDP(epsilon=1))
    content = json.loads(release.to_json())
    assert dp.Release.from_dict(content).guarantee == release.guarantee
    contradicted(content, change)
    with pytest.raises(ParameterError, match=says) as refused:
        dp.Release.from_dict(sealed(content))
    assert refused.value.remedy


def test_an_older_guarantee_says_what_its_schema_says() -> None:
    """Earlier guarantees had other words for units and named no sources: they would be
    refused, or pass as promises that their schema denies.
    """
    people = FRAME.assign(person=[f"p{place % 100}" for place in range(600)])
    curator = dp.Curator.open(people, SEVEN_ROWS, ledger=dp.MemoryLedger(), **PURE)
    release = curator.run(dp.Independent(columns=("sex", "pay")), dp.PureDP(epsilon=1))
    content = json.loads(release.to_json())
    content.pop("digest")
    content["schema"]["version"] = 1
    content["guarantee"]["unit"] = "add or remove one person (at most 7 rows)"
    content["guarantee"].pop("known_from")
    guarantee = dp.Release.from_dict(content).guarantee
    assert guarantee.unit == str(SEVEN_ROWS.unit)
    assert guarantee.known_from == {"sex": "a law", "pay": "declared"}


def test_losses_that_a_release_stands_on_are_within_its_own() -> None:
    """A release of today, with the loss of an earlier one in it, would be refused."""
    curator = dp.Curator.open(
        FRAME, SCHEMA, budget=dp.ZCDP(rho=3), ledger=dp.MemoryLedger()
    )
    release = curator.run(dp.Histogram("sex"), dp.ZCDP(rho="1/3"))
    for stands_on in ({"rho": "1/3"}, {"epsilon": "1/2"}):
        carried = dataclasses.replace(release.guarantee, stands_on=(stands_on,))
        check_origins(carried, release.schema)
    too_much = dataclasses.replace(release.guarantee, stands_on=({"rho": "1/2"},))
    with pytest.raises(ParameterError, match="builds on"):
        check_origins(too_much, release.schema)


def test_a_guarantee_of_less_than_its_noise_gives_is_refused() -> None:
    """A page would print epsilon 1/100 over counts whose noise is that of 5."""
    for budget, loss, less in (
        (dp.PureDP(epsilon=9), dp.PureDP(epsilon=5), {"epsilon": "1/100"}),
        (dp.ZCDP(rho=9), dp.ZCDP(rho=5), {"rho": "1/100"}),
        (dp.ZCDP(rho=9), dp.ZCDP(rho=5), {"epsilon": "5"}),
        (dp.ZCDP(rho=9), dp.PureDP(epsilon=3), {"rho": "1/100"}),
    ):
        curator = dp.Curator.open(
            FRAME, SCHEMA, budget=budget, ledger=dp.MemoryLedger()
        )
        content = json.loads(curator.run(dp.Histogram("sex"), loss).to_json())
        dp.Release.from_dict(content)
        with pytest.raises(ParameterError, match="altered"):
            dp.Release.from_dict({**content, "digest": ""})
        unit = dp.PrivacyUnit(max_rows=50)
        for schema, guarantee in (
            ({}, {"loss": less}),
            ({"unit": unit.to_dict()}, {"unit": str(unit)}),
            ({}, {"kind": "syntactic", "loss": {"epsilon": "0"}}),
            ({}, {"loss": {}}),
        ):
            changed = content | {
                "schema": content["schema"] | schema,
                "guarantee": content["guarantee"] | guarantee,
            }
            with pytest.raises(ParameterError, match="guarantee"):
                dp.Release.from_dict(sealed(changed))
        content.pop("digest")
        with pytest.raises(ParameterError, match="altered"):
            dp.Release.from_dict(content)


@pytest.mark.parametrize("changed", [{"pooled": True}, {"noise": "max norm"}])
def test_counts_of_any_law_have_a_least_loss(changed: dict[str, Any]) -> None:
    """One word in the file would let every guarantee pass."""
    for budget, loss, less in (
        (dp.PureDP(epsilon=9), dp.PureDP(epsilon=5), {"epsilon": "1/100"}),
        (dp.ZCDP(rho=9), dp.ZCDP(rho=5), {"rho": "1/100"}),
    ):
        curator = dp.Curator.open(
            FRAME, SCHEMA, budget=budget, ledger=dp.MemoryLedger()
        )
        content = json.loads(curator.run(dp.Histogram("sex"), loss).to_json())
        for table in (*content["marginals"], *content["model"]["marginals"]):
            table.update(changed)
        dp.Release.from_dict(sealed(content))
        content["guarantee"]["loss"] = less
        with pytest.raises(ParameterError, match="smaller loss"):
            dp.Release.from_dict(sealed(content))


TWO_CELLS = tuple(
    dp.Categorical(name, categories=("no", "yes")) for name in ("a", "b", "c")
)


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("rho", ["1/1000", "1/50", "1/2"])
def test_a_paid_release_of_differences_is_read_again(rho: str, columns: int) -> None:
    """Columns of two cells are measured by differences, of which a row changes each
    cell by a half; what was paid could not be opened any more.
    """
    rng = np.random.default_rng(1)
    first = rng.choice(["no", "yes"], 600)
    frame = pd.DataFrame({"a": first, "b": first, "c": rng.permutation(first)})
    curator = dp.Curator.open(
        frame.iloc[:, :columns],
        dp.Schema(columns=TWO_CELLS[:columns], unit=dp.PrivacyUnit(max_rows=1)),
        budget=dp.ZCDP(rho=3),
        ledger=dp.MemoryLedger(),
    )
    release = curator.run(dp.Adaptive(), dp.ZCDP(rho=rho))
    assert any(table.signed for table in release.model.measurements)
    content = json.loads(release.to_json())
    assert dp.Release.from_dict(content).request_id == release.request_id
    # the twin: a tenth of the loss is refused
    content["guarantee"]["loss"] = {"rho": str(Fraction(rho) / 10)}
    with pytest.raises(ParameterError, match="smaller loss"):
        dp.Release.from_dict(sealed(content))


def test_counts_are_no_differences_because_the_file_says_so() -> None:
    """Then one word would let a fourth of the loss pass."""
    curator = dp.Curator.open(
        FRAME, SCHEMA, budget=dp.ZCDP(rho=3), ledger=dp.MemoryLedger()
    )
    content = json.loads(curator.run(dp.Histogram("sex"), dp.ZCDP(rho=1)).to_json())
    for table in (*content["marginals"], *content["model"]["marginals"]):
        table |= {"pooled": True, "signed": ["sex"], "own": table["variance"]}
    dp.Release.from_dict(sealed(content))
    content["guarantee"]["loss"] = {"rho": "1/3"}
    with pytest.raises(ParameterError, match="smaller loss"):
        dp.Release.from_dict(sealed(content))


def test_the_losses_of_several_draws_add_up() -> None:
    """Each of ten tables costs a tenth, and the file would state no more than that."""
    curator = dp.Curator.open(
        FRAME, SCHEMA, budget=dp.PureDP(epsilon=9), ledger=dp.MemoryLedger()
    )
    content = json.loads(curator.run(dp.Tree(), dp.PureDP(epsilon=4)).to_json())
    dp.Release.from_dict(sealed(content))
    content["guarantee"]["loss"] = {"epsilon": "3"}
    with pytest.raises(ParameterError, match="smaller loss"):
        dp.Release.from_dict(sealed(content))


def test_a_mark_of_the_reading_that_is_no_truth_value_is_refused() -> None:
    """It would be read as none, and the page would not print the mark."""
    curator = dp.Curator.open(FRAME, SCHEMA, ledger=dp.MemoryLedger(), **PURE)
    release = curator.run(dp.Histogram("sex"), dp.PureDP(epsilon=1))
    content = json.loads(release.to_json())
    for said in ("yes", 1, None):
        content["guarantee"]["reading_from_data"] = said
        with pytest.raises(ParameterError, match="how the file"):
            dp.Release.from_dict(sealed(content))


def test_texts_in_an_older_release_file_are_not_handed_on() -> None:
    """A release of before, opened and saved or shared today, would tell what a single
    person wrote.
    """
    curator = dp.Curator.open(FRAME, SCHEMA, ledger=dp.MemoryLedger(), **PURE)
    release = curator.run(dp.Independent(columns=("sex", "pay")), dp.PureDP(epsilon=1))
    content = json.loads(release.to_json())
    content["schema"]["version"] = 1
    for column in content["schema"]["columns"]:
        column["missing_tokens"] = ["unBekannt"]
        column["synonyms"] = [["<0.4817", "0.24085"]]
    before = content["digest"] = _digest(content)
    text = json.dumps(content)
    page = SharedPage(id="", title="", note="", contents=frozenset(), text=text)
    for read_back in (dp.read_release(text.encode()), page.releases()[0]):
        saved = read_back.to_json()
        # by the digest of the whole file anybody could try texts out
        assert not any(word in saved for word in ("unBekannt", "<0.4817", before))
        assert dp.read_release(saved.encode()).to_json() == saved
        assert read_back.answer(("sex",)).values.tolist() == (
            release.answer(("sex",)).values.tolist()
        )


def of_version_1(schema: Schema) -> dict[str, Any]:
    return json.loads(schema.plan_text)  # type: ignore[no-any-return]


def test_an_older_file_is_read_as_from_the_data_where_it_is_not_known_better() -> None:
    """A yes of before took every mark off, and older files would go on hiding what it
    hid.
    """
    content = of_version_1(BY_HAND)
    for column in content["columns"]:
        column["known_from"] = "plainly public"
    age, sex = read(content).columns
    assert age.from_data == (
        "missing",
        "missing_tokens",
        "unreadable_is_missing",
        "synonyms",
    )
    assert sex.from_data == ("missing", "missing_tokens", "synonyms")
    assert read(fields(read(content))) == read(content), "written anew, it stays so"


def joined(**said: Any) -> dict[str, Any]:
    """A file of version 1 with wards that are joined by the rule and by synonyms."""
    ward = dp.Categorical(
        "ward",
        categories=("Surgery",),
        missing=True,
        rules=(MISSING_WORDS_RULE, SPELLINGS_RULE),
        synonyms=(("theatre", "surgery"),),
        **said,
    )
    schema = Schema(columns=(ward,), unit=dp.PrivacyUnit(max_rows=1))
    return of_version_1(schema)


def test_joined_spellings_of_an_older_file_are_read_as_from_the_data() -> None:
    """One person's spelling was why they were joined, and nothing would say so."""
    content = joined()
    old = read(content)
    assert {"spellings", "synonyms"} <= set(old.from_data["ward"])
    again = Schema.from_json(old.to_json())
    assert again == old, "the file of today has the marks"
    for schema in (old, again):
        assert schema.plan_text == json.dumps(content, ensure_ascii=False, indent=1), (
            "and it stands on the same requests"
        )
    assert "theatre" not in old.without_private_texts().to_json()
    for marks in ((), ("categories",)):
        asked = read(joined(known_from="plainly public", from_data=marks))
        assert {"spellings", "synonyms", *marks} <= set(asked.from_data["ward"])
    new = json.loads(read(joined(known_from="a law")).to_json())
    new["columns"][0] |= {"from_data": []}
    assert read(new).from_data == {}, "a file of today is taken at its word"


def test_an_older_schema_written_by_hand_is_read_as_from_the_data() -> None:
    """A file that says nothing would make everything in it public; and a plan on file
    would be charged twice, if the request were another one.
    """
    content = of_version_1(BY_HAND)
    old = read(content)
    assert old.from_data == {
        "age": ("kind", "missing", "missing_tokens", "synonyms", "low", "high"),
        "sex": ("kind", "categories"),
    }
    assert old.columns_from_data == ("age", "sex")
    again = Schema.from_json(old.to_json())
    assert again.from_data == old.from_data
    assert old.plan_text == again.plan_text == BY_HAND.plan_text
    assert "many" not in old.without_private_texts().to_json()


def test_an_older_release_of_a_schema_written_by_hand_carries_the_marks() -> None:
    """Its guarantee would go on saying nothing of the facts that nobody answers for."""
    fields = json.loads(release_of().to_json())
    fields.pop("digest")
    fields["schema"] = json.loads(release_of().schema.plan_text)
    fields["guarantee"] |= {"known_from": {}, "from_data": {}}
    release = dp.Release.from_dict(fields)
    assert release.guarantee.from_data == {"age": ("kind", "missing", "low", "high")}
    written = json.loads(release.to_json())
    assert written["schema"]["version"] == 2
    assert written["guarantee"]["from_data"] == {
        "age": ["kind", "missing", "low", "high"]
    }
    assert written["schema"]["columns"][0]["from_data"] == [
        "kind",
        "missing",
        "low",
        "high",
    ]
    again = dp.Release.from_json(release.to_json())
    assert again.guarantee == release.guarantee


def test_an_older_report_of_a_search_carries_the_marks_of_its_columns() -> None:
    """It would say that only the kind was read, and repeat a reason with her word."""
    schema = Schema(
        columns=(dp.Real("pay", low=0, high=10_000, bin_width=10, missing=True),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    ledger = dp.MemoryLedger()
    curator = dp.open_with_cells(FRAME, schema, ["pay"], ledger=ledger, **PURE)
    search = next(line for line in curator.lines() if line.content.get("report"))
    report = curator.report(search.request_id)
    content = json.loads(report.to_json())
    (column,) = content["report"]["content"]["columns"]
    column.update(
        missing_tokens=["unBekannt"],
        from_data=["kind", "missing", "missing_tokens"],
        reason="because 1 of 600 says unBekannt",
    )
    content["report"]["guarantee"]["from_data"] = {"pay": ["kind"]}
    read_again = PrivateReport.from_json(json.dumps(content))
    marks = ("kind", "missing", "missing_tokens")
    assert read_again.guarantee.from_data == {"pay": marks}
    assert "unBekannt" not in read_again.to_json()
    unchanged = PrivateReport.from_json(report.to_json())
    assert unchanged == report


def counted(schema: Schema, missing: float) -> dp.Release:
    """A release of sexes whose noisy count of missing values is known."""
    gaps = FRAME.assign(sex=["unknown"] * 200 + ["F", "M"] * 200)
    curator = dp.Curator.open(
        gaps, schema, ledger=dp.MemoryLedger(), budget=dp.PureDP(epsilon=100)
    )
    release = curator.run(dp.Histogram("sex"), dp.PureDP(epsilon=2))
    (table,) = release.marginals.values()
    values = np.array([200.0, 200.0, missing])
    return dataclasses.replace(
        release, marginals={("sex",): dataclasses.replace(table, values=values)}
    )


def test_drawn_rows_and_charts_have_no_gaps_that_noise_made() -> None:
    """Tables without a gap would come out with gaps, because every column has a cell
    for them.
    """
    half = next(iter(counted(SCHEMA, 0).marginals.values())).half_width()
    hidden = counted(SCHEMA, half)
    told = counted(SCHEMA, half + 1)
    assert not hidden.sample(2_000, seed=1).isna().any(axis=None)
    assert set(hidden.sample(2_000, seed=1)["sex"]) == {"F", "M"}
    assert told.sample(2_000, seed=1)["sex"].isna().any()
    labels, counts = hidden.chart_cells(hidden.answer(("sex",)))
    assert (labels, counts.values.shape) == ([("F", "M")], (2,))
    assert told.chart_cells(told.answer(("sex",)))[0] == [("F", "M", "(missing)")]


def test_a_cell_for_missing_that_was_declared_by_hand_stays() -> None:
    """Who declared the cell would look for it in vain."""
    by_hand = dp.Categorical(
        "sex", categories=("F", "M"), missing=True, missing_tokens=("unknown",)
    )
    release = counted(Schema(columns=(by_hand,), unit=dp.PrivacyUnit(max_rows=1)), 0)
    assert release.columns_without_gaps == frozenset()
    assert release.chart_cells(release.answer(("sex",)))[0] == [("F", "M", "(missing)")]


def test_what_the_rows_decide_is_marked_also_at_its_default() -> None:
    """A number with many digits took the mark off decimals: marks said that she is
    there.
    """
    pairs = [
        ([1.5, 22.5, 7.0, 930.5] * 30 + [8.5], 1234.1234567),
        ([*range(500, 1500)], 10**8),
        ([0.0] * 9 + [place / 2 for place in range(1, 2000)], 0.0),
        (["low", "medium", "high"] * 30, "weird"),
    ]
    for values, hers in pairs:
        without, with_her = (
            dp.suggest_schema(pd.DataFrame({"x": rows})).column("x")
            for rows in (values, [*values, hers])
        )
        assert without != with_her
        assert without.kind == with_her.kind
        assert without.from_data == with_her.from_data, "nor does their order tell"


def test_a_release_of_other_columns_does_not_name_a_time_of_day() -> None:
    """One time among days made a column of times, which releases named as left out."""
    days = [f"2021-03-{day:02}" for day in range(1, 29)]
    for hers in ("2021-03-05", "2021-03-05 10:22:00"):
        frame = pd.DataFrame({"x": [*days, hers], "sex": ["F"] * 29})
        schema = dp.suggest_schema(frame)
        assert [each.name for each in schema.unread_columns(["sex"])] == ["x"]
