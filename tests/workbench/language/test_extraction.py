"""A catalogue starts from everything that the pages and the library say."""

from __future__ import annotations

import io
from pathlib import Path

from babel.messages.extract import extract_from_file

from workbench.language.extraction import extract

ROOT = Path(__file__).resolve().parents[3]


def test_marked_messages_errors_and_reasons_are_found() -> None:
    """A translator would never see the sentence."""
    source = b"""
st.title(_("Data"))
raise ParameterError("k ({k}) must be at least 1", remedy="raise k", k=k)
Integer(low=0, reason=Text("cells of {step}", step=2))
print("not a message")
"""
    found = [
        message
        for _line, _name, message, _notes in extract(io.BytesIO(source), (), (), {})
    ]
    assert sorted(found) == [
        "Data",
        "cells of {step}",
        "k ({k}) must be at least 1",
        "raise k",
    ]


def test_babel_reads_the_whole_house() -> None:
    """The catalogue's source would be empty, and nobody would notice."""
    messages = {
        message[1]
        for folder in ("dpcore", "workbench", "pages")
        for path in (ROOT / folder).rglob("*.py")
        for message in extract_from_file("workbench.language.extraction:extract", path)
    }
    messages |= {
        message[1]
        for path in (
            ROOT / "workbench" / name
            for name in ("learn/lessons.toml", "ui/examples.toml")
        )
        for message in extract_from_file(
            "workbench.language.extraction:extract_words", path
        )
    }
    assert len(messages) > 500
    assert {
        "1 · What noise does",
        "as it is",
        "9 · Trust nobody",
        "Every row is kept:",
    } <= messages
    assert not {"noise", "33617", "lines"} & messages
    assert "the table has no rows" in messages
    assert "Open the data set" in messages


def test_messages_in_a_table_are_found() -> None:
    """Headings, roles and the glossary would stay English in every language."""
    source = b'STATES = {"failed": N_("failed, charge stays")}'
    found = [message for _l, _n, message, _c in extract(io.BytesIO(source), (), (), {})]
    assert found == ["failed, charge stays"]


def test_plurals_are_found_in_both_forms() -> None:
    """A language with other plurals could not say how many there are."""
    source = b'note = Text("{cells} cell was empty", many="{cells} cells were empty", cells=2)'
    found = [
        message
        for _line, _name, message, _notes in extract(io.BytesIO(source), (), (), {})
    ]
    assert found == [("{cells} cell was empty", "{cells} cells were empty")]
    counted = b'ngettext("{number} row", "{number} rows", len(table))'
    found = [
        message for _l, _n, message, _c in extract(io.BytesIO(counted), (), (), {})
    ]
    assert found == [("{number} row", "{number} rows")]


def test_messages_of_templates_are_found() -> None:
    """Pages behind links would stay English in every language."""
    templates = {
        "workbench/share/static/answer.html": "Send this",
        "workbench/report/page.html": "How to read it",
        "workbench/report/explore.html": "too few to show",
    }
    for name, message in templates.items():
        assert message in {each[1] for each in extract_from_file("jinja2", ROOT / name)}


def test_texts_of_criteria_are_found() -> None:
    """Criteria would stay English in every language, and their clauses and numbers be
    translated.
    """
    path = ROOT / "dpcore/risk/published/maximum-risk.toml"
    messages = {
        each[1]
        for each in extract_from_file(
            "workbench.language.extraction:extract_words", path
        )
    }
    assert "Trusted recipients, the rule of three: at most 1/3" in messages
    assert not {"1/3", "highest"} & messages
