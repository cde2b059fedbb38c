"""What is asked about facts that were taken from the table: in groups, and what each answer declares."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from workbench.session.draft import Draft
from workbench.ui import columns
from workbench.upload import facts
from workbench.upload.grid import from_grid, to_grid

ROWS = 600


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
        }
    )


def draft_and_schema() -> tuple[Draft, dp.Schema]:
    table = frame()
    schema = dp.suggest_schema(table)
    grid = to_grid(schema, list(table.columns))
    draft = Draft(name="t", frame=table, schema=schema, grid=grid, edited=grid, notes=(), dataset="d")
    return draft, schema


def now(draft: Draft) -> dp.Schema:
    schema, problems = from_grid(draft.edited, draft.schema, draft.schema.unit)
    assert not problems
    assert schema is not None
    return schema


def names(question: facts.FactQuestion | None) -> list[str]:
    assert question is not None
    return [column.name for column in question.columns]


def test_what_is_plainly_public_comes_first_and_bounds_are_rounded() -> None:
    """One click took postcodes and costs of this very table as known, and every guarantee kept silent."""
    draft, schema = draft_and_schema()
    question = facts.next_question(draft, schema)
    assert question is not None
    assert question.kind == "public"
    assert names(question) == ["sex", "age", "ward"]  # two people are of sex d, which everybody knows
    facts.put(draft, question.columns, "plainly public")
    question = facts.next_question(draft, now(draft))
    assert question is not None
    assert (question.kind, names(question)) == ("round", ["stay", "cost", "birth"])
    rounded = [columns.rounded(column) for column in question.columns]
    assert [(column.low, column.high) for column in rounded] == [  # type: ignore[union-attr]
        (0, 20),
        (0, 5000),
        ("1930-01-01", "1989-12-31"),
    ]
    facts.put(draft, [column for column in rounded if column], "round")
    question = facts.next_question(draft, now(draft))
    assert question is not None
    assert (question.kind, names(question)) == ("one", ["zip"])
    assert facts.rare(draft, now(draft), question.columns[0]) == ("99998",)  # four rows of two people
    zips = question.columns[0]
    assert isinstance(zips, dp.Categorical)
    facts.put(draft, [facts.without(zips, ("99998",))], "shared labels")
    schema = now(draft)
    assert facts.next_question(draft, schema) is None
    assert schema.from_data == {}
    assert schema.column("zip").labels == ("01067", "04103", "(other)")
    assert {column.name: column.known_from for column in schema.columns} == {
        "sex": "plainly public", "age": "plainly public", "ward": "plainly public", "stay": "round",
        "cost": "round", "birth": "round", "zip": "shared labels",
    }  # fmt: skip
    facts.take_back(draft)
    assert names(facts.next_question(draft, now(draft))) == ["zip"]


def test_round_bounds_are_no_source_of_the_cells_between() -> None:
    """Amounts that many of these very rows share would count as known for any such table."""
    rng = np.random.default_rng(1)
    amounts = np.where(rng.random(5000) < 0.1, 7688.0, rng.lognormal(8, 2, 5000).round(2))
    table = pd.DataFrame({"amount": amounts, "score": rng.random(5000).round(4)})
    schema = dp.suggest_schema(table)
    assert 7688.0 in schema.column("amount").special  # type: ignore[attr-defined]
    grid = to_grid(schema, list(table.columns))
    draft = Draft(name="t", frame=table, schema=schema, grid=grid, edited=grid, notes=(), dataset="d")
    question = facts.next_question(draft, schema)
    assert question is not None
    assert question.kind == "round"
    facts.put_rounded(draft, filter(None, map(columns.rounded, question.columns)), "round")
    after = now(draft)
    assert {"special", "cuts"} <= set(after.column("amount").from_data)
    assert "high" not in after.column("amount").from_data
    assert {column.name: column.known_from for column in after.columns} == {"amount": "", "score": "round"}
    assert facts.next_question(draft, after) is None
    facts.take_back(draft)
    assert names(facts.next_question(draft, now(draft))) == ["amount", "score"]


def test_what_is_left_stays_marked() -> None:
    """Whoever does not know would have to say yes; or would be asked for ever."""
    draft, schema = draft_and_schema()
    for _step in range(10):
        question = facts.next_question(draft, now(draft))
        if question is None:
            break
        facts.leave(draft, question)
    assert facts.next_question(draft, now(draft)) is None
    assert set(now(draft).from_data) == {column.name for column in schema.columns}


def test_labels_that_differ_in_case_alone_are_joined() -> None:
    """Two spellings of one ward would be two wards in every result."""
    draft, schema = draft_and_schema()
    joined = facts.twins(schema.columns)
    assert joined["ward"].labels == ("Chirurgie", "Innere")
    facts.put(draft, joined.values())
    ward = now(draft).column("ward")
    assert ward.from_data  # joining says nothing about where the list is from
    assert ward.synonyms == (("CHIRURGIE", "Chirurgie"),)
    codes = ward.encode(draft.frame["ward"])
    assert np.bincount(codes).tolist() == [ROWS * 2 // 3, ROWS // 3]
    assert facts.twins(now(draft).columns) == {}


def test_cells_that_cannot_be_read_are_listed() -> None:
    """Impossible dates would go missing without anybody being told."""
    draft, schema = draft_and_schema()
    assert facts.unread(draft, schema.column("birth")) == ("00.00.1950",)
    assert facts.unread(draft, schema.column("cost")) == ()


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
    """A value would be moved to a bound that was meant to be wide enough for any table."""
    rounded = columns.rounded(column)
    assert rounded is not None
    assert rounded.low <= column.low  # type: ignore[attr-defined]
    assert rounded.high >= column.high  # type: ignore[attr-defined]
    assert rounded.size <= max(2 * column.size, 400)


def test_bounds_that_no_round_numbers_fit_are_asked_about_by_themselves() -> None:
    """Cells narrower than numbers of this size allow would end the page in an error."""
    assert columns.rounded(dp.Real("a", low=1e15, high=1e15 + 8, bin_width=0.5)) is None
