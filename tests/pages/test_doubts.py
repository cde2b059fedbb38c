"""The Data page asks about values that may mean something else."""

from __future__ import annotations

import pandas as pd

import dpcore as dp
from tests.pages.tab import Tab

TABLE = pd.DataFrame(
    {
        "allergy": ["None", "Peanut", "Latex"] * 40,
        "days": [0, 3, 7, -1, 12, 30] * 20,
        "gender": ["m", "W", "männlich", "weiblich"] * 30,
    }
)


def test_doubts_are_asked_and_answers_are_kept(app: Tab) -> None:
    """A third of all allergies was missing, and nobody was asked."""
    app.go("upload").upload(TABLE.to_csv(index=False).encode())
    assert "allergy: “None” occurs in 40 of 120 rows" in app.text
    assert "\\-1 occurs in 20 of 120 rows, far from all other numbers" in app.text
    assert "do “m” (30 of 120 rows) and “männlich” mean the same" in app.text
    app.press("“None” is an answer").press("\\-1 means missing")
    app.press("Count “m” as “männlich”").press("“W” is something else")
    assert app.errors == ""
    assert "occurs in" not in app.text
    app.open_draft()
    schema = app.curator.schema
    allergy = schema.column("allergy")
    assert isinstance(allergy, dp.Categorical)
    assert set(allergy.categories) == {"None", "Peanut", "Latex"}
    assert schema.column("days").missing_tokens == ("-1",)
    assert schema.column("gender").synonyms == (("m", "männlich"),)
    assert app.errors == ""
