"""The grid says exactly the schema, and a slip in one line is said for that line."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.schema import (
    Boolean,
    Categorical,
    Date,
    ExcludedColumn,
    Integer,
    PrivacyUnit,
    Real,
    Schema,
    suggest_schema,
)
from dpcore.schema.origin import MISSING_WORDS_RULE
from workbench.language.columns import join_parts, split_parts
from workbench.session.draft import ShownColumns
from workbench.upload.grid import from_grid, to_grid

UNIT = PrivacyUnit(max_rows=1)
SCHEMA = Schema(
    columns=(
        Integer(name="age", low=0, high=99, bin_width=5, reason="r"),
        Integer(
            name="hours",
            low=0,
            high=99,
            cuts=(10, 40),
            missing=True,
            unreadable_is_missing=True,
        ),
        Real(
            name="cost",
            low=0.0,
            high=12.5,
            bin_width=0.5,
            from_data=("low", "high", "bin_width"),
        ),
        Date(name="day", low="2020-01-01", high="2020-12-31", step="month"),
        Boolean(name="ill", false_label="no", true_label="yes"),
        Categorical(
            name="sex",
            categories=("F", "M"),
            other=True,
            missing=True,
            missing_tokens=("?", ""),
            synonyms=(("f", "F"), ("<=m | M", "M")),
            from_data=("categories",),
        ),
    ),
    unit=UNIT,
    excluded=(ExcludedColumn(name="name", reason="names people"),),
)
HEADER = ["name", *(column.name for column in SCHEMA.columns)]


def line(grid, name):
    return grid.index[grid["column"] == name][0]


def test_the_grid_says_the_schema():
    """Opening a table without touching the grid would open another schema than was
    suggested.
    """
    schema, problems = from_grid(to_grid(SCHEMA, HEADER), SCHEMA, UNIT)
    assert problems == {}
    assert schema == SCHEMA


@given(st.lists(st.text(max_size=8), max_size=6))
def test_any_categories_are_kept(categories):
    """A category with a bar, a quotation mark or blanks in it would fall apart in the
    grid.
    """
    assert split_parts(join_parts(categories)) == tuple(categories)


def test_what_people_type_issplit():
    """Blanks around a bar would become part of a category."""
    assert split_parts('a|b |  c c|| "x|y" ') == ("a", "b", "c c", "x|y")
    assert split_parts(None) == ()


def test_a_changed_fact_is_from_the_data_until_somebody_says_where_from():
    """A bound that was corrected beside the check of the table would pass as public."""
    grid = to_grid(SCHEMA, HEADER)
    grid.loc[line(grid, "cost"), "high"] = "20"
    schema, _ = from_grid(grid, SCHEMA, UNIT)
    assert schema.column("cost").from_data == ("low", "high", "bin_width")
    grid.loc[line(grid, "cost"), "known from"] = "a price list"
    schema, _ = from_grid(grid, SCHEMA, UNIT)
    assert schema.column("cost").from_data == ()


def test_what_is_left_of_the_data_stays_marked():
    """Another kind, or one category less, would let the bounds and categories of the
    table pass as public.
    """
    grid = to_grid(SCHEMA, HEADER)
    grid.loc[line(grid, "cost"), "kind"] = "integer"
    grid.loc[line(grid, "cost"), ["high", "step"]] = ["13", "1"]
    grid.loc[line(grid, "sex"), "categories"] = "quite another | and one more"
    schema, problems = from_grid(grid, SCHEMA, UNIT)
    assert not problems
    assert set(schema.column("cost").from_data) == {"kind", "low", "high", "bin_width"}
    assert schema.column("sex").from_data == ("categories",)


def test_the_step_of_days_follows_their_bounds_if_it_is_cleared():
    """Whoever says from which day to which day would keep the months of whole years."""
    grid = to_grid(SCHEMA, HEADER)
    place = line(grid, "day")
    for low, high, step in (
        ("2019-03-01", "2019-03-31", "day"),
        ("2019-01-01", "2019-12-31", "week"),
        ("1950-01-01", "2019-12-31", "decade"),
    ):
        grid.loc[place, ["low", "high", "step"]] = [low, high, ""]
        schema, problems = from_grid(grid, SCHEMA, UNIT)
        assert not problems
        assert schema.column("day").step == step
    grid.loc[place, "low"] = "March"
    assert from_grid(grid, SCHEMA, UNIT)[1]


def test_a_source_says_known_from_outside():
    """Confirmed facts would stay marked in every guarantee, or be confirmed without a
    word on where from.
    """
    grid = to_grid(SCHEMA, HEADER)
    assert grid["known from"].tolist() == [
        "",
        "declared",
        "declared",
        "",
        "declared",
        "declared",
        "",
    ]
    schema, _ = from_grid(grid.assign(**{"known from": " a law "}), SCHEMA, UNIT)
    assert schema.from_data == {}
    assert {column.known_from for column in schema.columns} == {"a law"}
    assert "a law" in schema.to_json()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("age", {"low": "99", "high": "0"}),
        ("age", {"low": ""}),
        ("age", {"low": "nan"}),
        ("age", {"high": "1e400"}),
        ("age", {"step": "-1"}),
        ("hours", {"step": "40, 10"}),
        ("cost", {"high": "12,5"}),
        ("day", {"low": "2020-13-01"}),
        ("day", {"step": "fortnight"}),
        ("ill", {"categories": "a | b | c"}),
        ("sex", {"categories": "F | F"}),
        ("sex", {"categories": "", "other": False}),
        ("sex", {"kind": "integer"}),
        ("sex", {"counts as": "f as F"}),
        ("sex", {"low": None, "kind": "date"}),
    ],
)
def test_a_slip_is_said_for_its_column(name, changes):
    """One wrong line would make the whole grid fail without a word on where."""
    grid = to_grid(SCHEMA, HEADER)
    for column, value in changes.items():
        grid.loc[line(grid, name), column] = value
    schema, problems = from_grid(grid, SCHEMA, UNIT)
    assert schema is None
    assert list(problems) == [name]
    assert repr(name) in str(problems[name])
    assert problems[name].remedy


def test_a_column_is_left_out_and_taken_in():
    """People could not decide which columns may be released."""
    grid = to_grid(SCHEMA, HEADER)
    grid.loc[line(grid, "cost"), "kind"] = "leave out"
    grid.loc[line(grid, "name"), ["kind", "categories", "other"]] = [
        "categorical",
        "Ann | Bo",
        True,
    ]
    schema, problems = from_grid(grid, SCHEMA, UNIT)
    assert problems == {}
    assert schema.column("name").categories == ("Ann", "Bo")
    assert [column.name for column in schema.excluded] == ["cost"]


def test_a_column_that_the_table_left_out_stays_marked():
    """A release would not say that the table decided which columns it has."""
    out = ExcludedColumn(name="name", reason="names people", from_data=("left out",))
    suggested = dataclasses.replace(SCHEMA, excluded=(out,))
    grid = to_grid(suggested, HEADER)
    grid.loc[line(grid, "cost"), "kind"] = "leave out"
    schema, _ = from_grid(grid, suggested, UNIT)
    marks = {column.name: column.from_data for column in schema.excluded}
    assert marks == {"name": ("left out",), "cost": ()}


def test_the_column_that_names_the_person_is_never_released():
    """The id of a person could become a column of a release."""
    schema, _ = from_grid(
        to_grid(SCHEMA, HEADER), SCHEMA, PrivacyUnit(max_rows=2, id_column="age")
    )
    assert "age" not in schema.domain.names
    assert schema.unit.max_rows == 2


def test_a_table_without_columns_is_refused():
    """A schema of nothing would be opened."""
    grid = to_grid(SCHEMA, HEADER).assign(kind="leave out")
    schema, problems = from_grid(grid, SCHEMA, UNIT)
    assert schema is None
    assert "no column is left" in str(problems[""])


def test_ends_and_times_survive_the_grid():
    """A time stamp has one line: its time follows the day, or is left out with it."""
    frame = pd.DataFrame(
        {
            "pickup": ["2019-03-01 10:20:00", "2019-03-02 11:00:00"],
            "dropoff": ["2019-03-01 10:30:00", "2019-03-02 11:10:00"],
        }
    )
    schema = suggest_schema(frame)
    grid = to_grid(schema, list(frame.columns))
    assert list(grid["column"]) == ["pickup", "dropoff"]
    again, problems = from_grid(grid, schema, schema.unit)
    assert problems == {}
    assert again is not None
    assert again.domain == schema.domain
    assert [(c.kind, c.from_data) for c in again.columns] == [
        (c.kind, c.from_data) for c in schema.columns
    ]
    grid.loc[0, "kind"] = "leave out"
    without, _ = from_grid(grid, schema, schema.unit)
    assert without is not None
    assert without.domain.names == ("dropoff",)
    grid.loc[1, "categories"] = ""
    assert from_grid(grid, schema, schema.unit)[1].keys() == {"dropoff"}


def declared(values, hers, **typed):
    """Return what a person declares who types the same in front of any table."""
    frame = pd.DataFrame({"x": [*values, *hers]})
    suggested = suggest_schema(frame)
    grid = to_grid(suggested, ["x"])
    shown = ShownColumns()
    from_grid(grid, suggested, suggested.unit, shown)
    for field, text in typed.items():
        grid.at[0, field.replace("_", " ")] = text
    schema, problems = from_grid(grid, suggested, suggested.unit, shown)
    assert problems == {}
    return [column.to_dict() for column in schema.columns]


def test_no_row_decides_what_a_typed_line_does_not_show():
    """One label of one person took the order off a typed list, and one time put a
    column of times beside typed days, without a mark.
    """
    for hers in ("weird", "high"):
        assert declared(
            ["low", "medium", "high"] * 100,
            [hers],
            kind="categorical",
            categories="low | medium | high",
            other=True,
            known_from="the questionnaire",
        ) == [
            {
                "kind": "categorical",
                "name": "x",
                "missing": True,
                "rules": [MISSING_WORDS_RULE],
                "known_from": "the questionnaire",
                "categories": ["low", "medium", "high"],
                "other": True,
                "ordered": True,
            }
        ]
    days = pd.date_range("2021-01-01", periods=300).strftime("%Y-%m-%d")
    with_her, without = (
        declared(
            days,
            [hers],
            kind="date",
            low="2021-01-01",
            high="2022-12-31",
            step="month",
            known_from="the protocol",
        )
        for hers in ("2021-03-05 10:22:00", "2021-03-05")
    )
    assert with_her == without
    assert len(without) == 1
