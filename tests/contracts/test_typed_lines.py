"""A line that the owner typed, with its source, says the same whatever the rows are."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import dpcore as dp
from dpcore.io import read_table
from dpcore.schema import Column, Difference, Time
from tests.contracts.declarations import CHANGES, Change
from workbench.session.draft import ShownColumns
from workbench.upload import grid

KEPT = ("column", "rules", "told", "reason")
"""Cells of a line that nobody types."""
GAPS: Any = {"missing": True, "unreadable_is_missing": True}
HIDDEN = [
    Change(
        name="durations or times of day",
        values=[str(place % 60) for place in range(300)],
        hers="61",
        column="time",
    ),
    Change(
        name="times of day with a text",
        values=[f"{place % 24}{place % 60:02d}" for place in range(300)],
        hers="x",
        column="time",
    ),
    Change(
        name="whole ages",
        values=[str(place % 90) for place in range(300)],
        hers="3.5",
        column="age",
    ),
    Change(
        name="a list of numbers or of texts",
        values=[*(str(1990 + place % 30) for place in range(290)), *["before"] * 10],
        hers="20211",
        column="year",
    ),
    Change(
        name="a list of numbers or cells",
        values=[str(1_000 * (place % 40)) for place in range(300)],
        hers="77",
    ),
]
"""People who change what the grid does not show: rules, and how times are written."""
TYPED: list[Column] = [
    dp.Categorical("c", categories=("good", "bad"), other=True, missing=True),
    dp.Categorical("c", categories=("low", "medium", "high"), other=True),
    dp.Categorical("c", categories=(1, 2, 3), other=True, missing=True),
    dp.Categorical("c", categories=("1990", "2000"), other=True, missing=True),
    dp.Boolean("c", true_label="yes", false_label="no", missing=True),
    dp.Integer("c", low=0, high=99, bin_width=1, **GAPS),
    dp.Integer("c", low=0, high=119, bin_width=1, **GAPS),
    dp.Real("c", low=0, high=99, bin_width=5, **GAPS),
    dp.Real("c", low=0, high=99, bin_width=5, special=(7.0,), decimals=1, **GAPS),
    dp.Date("c", low="2000-01-01", high="2030-12-31", step="year", **GAPS),
    Time("c", step=60, **GAPS),
    Difference("c", start="begin", high=99, unit="day", **GAPS),
]
"""A column of every kind, as a person types it."""


def schema_of(
    change: Change, typed: Column, *, with_her: bool, is_read: bool
) -> list[Any]:
    """Return what the grid says of the column after a person typed its line.

    Args:
        is_read: whether the table is read from a file, so that numbers are numbers.
    """
    frame = change.table(with_her=with_her)
    if is_read:
        frame = read_table(change.file(with_her=with_her), "table.csv").frame
    suggested = dp.suggest_schema(frame)
    lines = grid.to_grid(suggested, list(frame.columns))
    place = lines.index[lines["column"] == change.column][0]
    cells = grid.grid_line(dataclasses.replace(typed, name=change.column))
    cells["known from"] = "the questionnaire"
    for name, cell in cells.items():
        if name not in KEPT:
            lines.at[place, name] = cell
    schema, problems = grid.from_grid(
        lines, suggested, dp.PrivacyUnit(max_rows=1), ShownColumns()
    )
    if schema is None:
        return sorted(map(str, problems.values()))
    return [
        column.to_dict()
        for column in schema.columns
        if change.column in (column.name, *column.source_columns)
    ]


def told_apart(change: Change) -> list[str]:
    """Return the kinds of typed columns of which her row changes what they say."""
    return [
        typed.kind
        for typed in TYPED
        for is_read in (False, True)
        if schema_of(change, typed, with_her=False, is_read=is_read)
        != schema_of(change, typed, with_her=True, is_read=is_read)
    ]


@pytest.mark.parametrize("change", [*CHANGES, *HIDDEN], ids=lambda change: change.name)
def test_a_typed_line_says_the_same_with_her_and_without_her(change: Change) -> None:
    """What the grid does not show, such as an order, would follow one row unmarked."""
    assert not told_apart(change)


def test_an_order_that_follows_the_rows_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The fault of before: the suggested order stayed with a typed list."""

    def planted(
        line: dict[str, Any], categories: Any, suggested: Column | None
    ) -> bool:
        return bool(getattr(suggested, "ordered", False))

    monkeypatch.setattr(grid, "_is_ordered", planted)
    change = next(change for change in CHANGES if change.name == "order of labels")
    assert "categorical" in told_apart(change)


def test_rules_that_follow_the_rows_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault of before: the suggested rules stayed with a typed line."""
    monkeypatch.setattr(grid, "_with_rules_of_line", lambda _column, rules: rules)
    caught = {change.name for change in HIDDEN if told_apart(change)}
    assert {"whole ages", "a list of numbers or of texts"} <= caught
