"""The Codebook page says what was declared: every figure again from its own file, and
that from the table.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tests.truth.figures import check, figures
from tests.truth.tables import TABLES, Odd, around, opened
from workbench.records import codebook_view

TABLE = "What is publicly known > "
WORDS = ["k.A."]  # of the public list, those that these tables hold
STEPS = {"month": 12, "quarter": 4, "year": 1}
# a reason of the library: its numbers are the steps and bounds that stand beside it
STATIC = {TABLE + "why"}
NAMES = {TABLE + "column", "**Left out:** {columns}.|columns"}
NAMES |= {
    "Some facts were taken from the data: {columns}. Every guarantee mentions these "
    "facts, because they reveal something about the table.|columns",
}


def cells(column: dict[str, Any]) -> int:
    """How many cells the facts of a column make."""
    beside = column.get("missing", False) + column.get("other", False)
    if column["kind"] in ("categorical", "boolean"):
        return len(column.get("categories", "yn")) + beside
    low = column["low"]
    high = column["high"]
    if column["kind"] == "date":
        return (int(high[:4]) - int(low[:4]) + 1) * STEPS[
            column.get("step", "month")
        ] + beside
    step = column.get("bin_width", 1)
    count = math.ceil(round((high - low + (column["kind"] == "integer")) / step, 9))
    if cuts := column.get("cuts"):
        count = len(cuts) + 1
    bounds = {round(low + step * each, 9) for each in range(count)} | {
        *column.get("cuts", []),
        low,
        high,
    }
    special = column.get("special", [])  # it splits the cell that it lies in
    return (
        count
        + beside
        + sum(1 if round(number, 9) in bounds else 2 for number in special)
    )


def values(column: dict[str, Any], cells: pd.Series) -> Callable[[str], bool]:
    """Whether what is shown is what the table holds, or bounds that hold it."""
    by_rule = WORDS if "words for missing 1" in column.get("rules", []) else []
    tokens = [*column.get("missing_tokens", []), *by_rule]
    present = cells[~cells.isin(tokens)].dropna()
    if column["kind"] in ("categorical", "boolean"):
        true = sorted(
            present.astype(str).str.strip().loc[lambda each: each != ""].unique()
        )
        return lambda shown: sorted(shown.split(", ")) == sorted(true)
    bounds = (
        f"{column['low']:,} – {column['high']:,}"
        if column["kind"] == "integer"
        else None
    )
    numbers = pd.to_numeric(present, errors="coerce")
    if column["kind"] == "date":
        days = pd.to_datetime(present, errors="coerce").dropna()
        assert column["low"] == f"{days.min().year}-01-01"
        assert column["high"] == f"{days.max().year}-12-31"
        return lambda shown: shown == f"{column['low']} – {column['high']}"
    assert column["low"] <= numbers.min()
    assert numbers.max() <= column["high"]
    assert all(
        numbers.eq(each).any() or 2 * each == 0.5 for each in column.get("special", [])
    )
    if bounds is None or column.get("special"):
        return lambda shown: shown.startswith(f"{column['low']:g} – ")
    return lambda shown: shown.replace(",", "") == bounds.replace(",", "")


def facts(tab: Any, odd: Odd) -> dict[str, Any]:
    book = json.loads(
        tab.session.data_sets[tab.session.current_dataset].declaration.schema.to_json()
    )
    columns = book["columns"]
    return around(tab) | {
        "{number} rows|number": lambda _: odd.cap,
        "**{number} columns may be released. Protected: {unit}.**|number": lambda _: (
            odd.frame.shape[1] - (odd.id is not None) - odd.frame.isna().all().sum()
        ),
        TABLE + "cells": lambda _: [cells(each) for each in columns],
        TABLE + "values": lambda _: [
            values(each, odd.frame[each["name"]]) for each in columns
        ],
        TABLE + "counts as": lambda _: [
            ", ".join(f"{text} = {number}" for text, number in each.get("synonyms", []))
            for each in columns
        ],
    }


@pytest.mark.parametrize(
    "name",
    ["visits", "odd cells", "heavy tail", "wide", "missing", "constants", "twins"],
)
def test_every_figure_is_of_the_table(marking, name: str) -> None:
    """The page would say that other values or cells are public than those that were
    declared.
    """
    tab = opened(TABLES[name]).go("codebook")
    assert check(
        figures(tab, marking), facts(tab, TABLES[name]), STATIC | NAMES, None
    ) >= {TABLE + "cells", TABLE + "values"}


def test_a_wrong_base_is_caught(marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would not see the table of another declaration."""
    right = codebook_view.codebook_table
    other = []
    monkeypatch.setattr(
        codebook_view, "codebook_table", lambda declaration: right(other[0])
    )
    tab = opened(TABLES["heavy tail"])
    other.append(tab.session.data_sets[tab.session.current_dataset].declaration)
    tab = opened(TABLES["visits"]).go("codebook")
    with pytest.raises(AssertionError, match="not true"):
        check(figures(tab, marking), facts(tab, TABLES["visits"]), STATIC | NAMES, None)
