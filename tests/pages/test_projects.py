"""A project of ARX on the pages: opened as a table, with its roles, hierarchies and
demands on Anonymize.
"""

from __future__ import annotations

from tests.io.arx_project import HIERARCHIES, project
from tests.pages.tab import Tab
from workbench import session
from workbench.anonymize.state import AnonymizeState

SUBSET = [True] * 5 + [False] * 2 + [True] * 3
CRITERIA = (
    "2-anonymity",
    "distinct-1-diversity for attribute 'diagnosis'",
    "(1.0,0.1)-DP",
)


def test_a_project_is_made_into_its_table(app: Tab) -> None:
    """Whoever comes from ARX would meet another plan than in its window."""
    app.open(project(criteria=CRITERIA, subset=SUBSET), "own.deid").go("anonymize")
    assert app.errors == ""
    assert (
        "2\\-anonymity; distinct 1\\-diversity of diagnosis\\. Groups are counted in rows"
        in app.text
    )
    assert "Suppressed at most\\: 20 %" in app.text
    assert "the plan leaves them out\\: \\(1\\.0,0\\.1\\)\\-DP" in app.text
    assert "do not pass it on" in app.text
    current = app.session.own(AnonymizeState)
    assert current.roles["name"] == "identifier"
    assert current.quasi_identifiers == ["age", "sex"]
    assert {
        name: current.hierarchies[name].to_csv() for name in HIERARCHIES
    } == HIERARCHIES
    app.press("Make the anonymized table")
    assert app.errors == ""
    assert app.session.own(session.AnonymizeResult).table is not None
    table = app.session.own(session.AnonymizeResult).table.table.frame
    assert list(table.columns) == ["age", "sex", "diagnosis", "visits"]
    assert table.groupby(["age", "sex"]).size().min() >= 2
    assert len(table) <= sum(SUBSET)


def test_a_project_opens_with_the_levels_that_it_had_applied(app: Tab) -> None:
    """The search would find other levels than those in the window of ARX."""
    stored = ["[0, 1]", "[1, 1]"]
    app.open(project(criteria=CRITERIA[:1], stored=stored), "own.deid").go("anonymize")
    app.press("Make the anonymized table")
    assert app.errors == ""
    table = app.session.own(session.AnonymizeResult).table
    assert table is not None
    assert set(table.table.frame["age"]) <= {"30-39", "60-69"}
    assert set(table.table.frame["sex"]) == {"*"}
    assert "those that the project had applied" in app.text
    app.press("Choose the levels again").press("Make the anonymized table")
    assert set(app.session.own(session.AnonymizeResult).table.table.frame["sex"]) != {
        "*"
    }


def test_a_project_says_nothing_of_the_next_table(app: Tab) -> None:
    """Another table with the same columns would be published by the plan of the project
    before.
    """
    app.go("upload").upload(project(), "own.deid")
    lines = [
        "name;age;sex;diagnosis;visits",
        *(f"P{i};{30 + i % 9};F;flu;{i % 3}" for i in range(40)),
    ]
    app.session.draft = None
    app.at.run()
    app.upload("\n".join(lines).encode(), "next.csv").open_draft().go("anonymize")
    assert app.errors == ""
    assert "do not pass it on" not in app.text
    assert app.session.own(AnonymizeState).loaded_plan is None
