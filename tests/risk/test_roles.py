"""Proposed roles: what a column's name and values say, and that no proposal makes a first run fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymize.apply import apply
from dpcore.anonymize.hierarchies.suggest import suggest_together
from dpcore.anonymize.models import KAnonymity
from dpcore.anonymize.plan import Plan
from dpcore.errors import SchemaError
from dpcore.risk.roles import suggest_roles
from workbench import samples


def role_of(name: str, cells: object = "x") -> str:
    frame = pd.DataFrame({name: cells}, index=range(30) if np.isscalar(cells) else None)
    return suggest_roles(frame)[0].role


@pytest.mark.parametrize(
    "name",
    ["age", "Age", "birth_date", "date-of-birth", "ZIP code", "nativeCountry", "marital.status", "SEX"],
)
def test_what_others_may_know_is_a_quasi_identifier(name: str) -> None:
    """The columns of every linkage attack would be published as they are."""
    assert role_of(name) == "quasi-identifier"


@pytest.mark.parametrize(
    "name", ["diagnosis", "HIV_test", "yearlyIncome", "salary-class", "religion", "test.result"]
)
def test_what_people_keep_to_themselves_is_sensitive(name: str) -> None:
    """Nobody would be told that a group reveals its diagnosis."""
    assert role_of(name) == "sensitive"


@pytest.mark.parametrize("name", ["page", "message", "passage", "capacity", "agent", "unzipped"])
def test_words_inside_other_words_say_nothing(name: str) -> None:
    """A column of pages would be taken for ages."""
    assert role_of(name) == "insensitive"


def test_values_that_name_people_are_identifiers() -> None:
    """E-mail addresses and keys would stay in the published table."""
    assert role_of("contact", [f"p{i}@example.org" for i in range(30)]) == "identifier"
    assert role_of("reference", [f"X-{i * 37}" for i in range(30)]) == "identifier"
    assert role_of("event", [f"2024-01-{i + 1:02}" for i in range(30)]) == "insensitive"
    assert role_of("where", [f"{20_000 + i % 9}" for i in range(30)]) == "insensitive"
    assert role_of("home_town", ["A", "B", "C"] * 10) == "quasi-identifier"


def test_every_column_has_a_role_and_a_reason_without_a_value() -> None:
    """A reason would show a cell of the table."""
    frame = samples.hospital(500)
    found = suggest_roles(frame)
    assert [each.column for each in found] == list(frame.columns)
    cells = {str(cell) for cell in frame["name"]} | set(frame["zip"])
    assert all(each.reason and not any(cell in each.reason for cell in cells) for each in found)


def test_a_table_without_rows_is_refused() -> None:
    """Roles would be proposed from nothing."""
    with pytest.raises(SchemaError, match="no rows"):
        suggest_roles(pd.DataFrame({"age": []}))


@pytest.mark.parametrize("table", ["census", "hospital", "adult"])
def test_a_first_run_needs_no_reading(table: str, request: pytest.FixtureRequest) -> None:
    """Roles and hierarchies as proposed and k = 5 would not bring a table."""
    if table == "adult":
        shared: Path = request.getfixturevalue("shared")
        frame = pd.read_csv(shared / "data" / "adult.csv").head(3_000)
    else:
        frame = {"census": samples.census, "hospital": samples.hospital}[table](3_000)
    roles = {each.column: each.role for each in suggest_roles(frame)}
    known = [name for name, role in roles.items() if role == "quasi-identifier"]
    plan = Plan(
        roles=roles,
        hierarchies=suggest_together(frame, known),
        models=(KAnonymity(k=5),),
        limit=0.02,
    )
    made = apply(frame, plan)
    kept = made[(made[known] != "*").any(axis=1)]
    assert len(kept) >= 0.98 * len(frame)
    assert kept.groupby(known, dropna=False).size().min() >= 5
