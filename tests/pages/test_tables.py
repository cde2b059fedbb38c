"""The Tables page: three clicks from an open table to a safe one in a file."""

from __future__ import annotations

from tests.pages.tab import Tab
from workbench.tables.state import TablesState

PEOPLE = "\n".join(
    [
        "region,sex",
        *(
            f"{region},{sex}"
            for region, women, men in (
                ("north", 60, 50),
                ("south", 40, 45),
                ("east", 33, 28),
                ("isle", 3, 14),
            )
            for sex in ["F"] * women + ["M"] * men
        ),
    ]
).encode()


def test_from_an_open_table_to_a_safe_one(app: Tab) -> None:
    """Make, accept, download: nothing leaves before it is accepted, and the noise that
    would do the same is named beside it.
    """
    app.open(PEOPLE).go("tables")
    assert not app.errors
    app.press("Make the table")
    assert not app.errors
    current = app.session.own(TablesState)
    assert current.made is not None
    made = current.made.content
    assert made.reasons
    assert "What this does not promise" in app.text
    assert "people of the truth" in app.text
    assert not app.at.get("download_button")
    assert app.curator.exact_tables() == []
    app.press("Accept and publish")
    assert not app.errors
    assert app.curator.exact_tables() == [made.published]
    assert len(app.at.get("download_button")) == 5
    app.go("ledger")
    assert "Exact tables of counts" in app.text


def test_a_rule_that_hides_everything_is_said_in_place(app: Tab) -> None:
    app.open(PEOPLE).go("tables").set("selectbox", "Rule", "own")
    app.set("number_input", "Fewest people", 9_000).press("Make the table")
    assert "fewer people than the rule wants" in app.errors
    assert app.session.own(TablesState).made is None
