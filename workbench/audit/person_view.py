"""Form to look up the group of people who match known facts."""

import re

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.table.linked_one_person import LinkedOnePersonQuestion
from dpcore.evaluation.table.one_person import (
    KnownFact,
    OnePersonQuestion,
    OnePersonReport,
)
from workbench import session
from workbench.language.messages import _, join, ngettext
from workbench.language.wording import escape_markdown, percent
from workbench.ui import widgets

_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:-|–|\.\.)\s*(-?\d+(?:\.\d+)?)")
FIELDS_PER_LINE = 4  # fields for known facts before a person asks for more


def ask_about_person(
    curator: Curator, columns: list[str], sensitive: list[str]
) -> None:
    """Ask for known facts about a person; show the matching group."""
    title = _("What would somebody learn about one person?")
    section = st.expander(title, icon=":material/person_search:", key="one-person")
    with section, widgets.catch_and_show_errors():
        st.write(
            _(
                "Type what is known about the person: a value (33620), a "
                "prefix (336*) or a range (40-44). Leave a field empty if "
                "nothing is known."
            )
        )
        known = _ask_facts(columns, key="person")
        if not known:
            return
        report = session.evaluate_once(
            curator,
            ("one person", tuple(known), tuple(sensitive)),
            lambda: OnePersonQuestion(known=tuple(known), sensitive=tuple(sensitive)),
        )
        _show_group(report)


def ask_about_person_with_events(
    curator: Curator,
    columns: list[str],
    event_columns: list[str],
    sensitive: list[str],
    *,
    number: int,
) -> None:
    """Ask for known facts about a person and some events; show the matching group.

    Args:
        columns: of people that others may know.
        event_columns: of events that others may know.
        sensitive: columns of either file that should stay unknown.
        number: of known events.
    """
    title = _("What would somebody learn about one person?")
    section = st.expander(title, icon=":material/person_search:", key="one-person")
    with section, widgets.catch_and_show_errors():
        st.write(
            _(
                "Type what is known about the person and about each event: a value "
                "(33620), a prefix (336*) or a range (40-44). Leave a field empty if "
                "nothing is known."
            )
        )
        known = _ask_facts(columns, key="person")
        events = []
        for event in range(1, number + 1):
            if event_columns:
                st.markdown(_("Event {number}").format(number=event))
            facts = _ask_facts(event_columns, key=f"event-{event}")
            if facts:
                events.append(tuple(facts))
        if not known and not events:
            return
        report = session.evaluate_once(
            curator,
            ("one person of both", tuple(known), tuple(events), tuple(sensitive)),
            lambda: LinkedOnePersonQuestion(
                known=tuple(known), events=tuple(events), sensitive=tuple(sensitive)
            ),
        )
        _show_group(report)


def _ask_facts(columns: list[str], *, key: str) -> list[KnownFact]:
    """Ask for a fact about each column; return those that are known.

    Args:
        key: beginning of the keys of the fields.
    """
    if not columns:
        return []
    known = []
    cells = st.columns(min(FIELDS_PER_LINE, len(columns)))
    for place, name in enumerate(columns):
        text = cells[place % len(cells)].text_input(
            escape_markdown(name), key=f"{key}-{name}"
        )
        if text.strip():
            known.append(parse_value(name, text.strip()))
    return known


def _show_group(report: OnePersonReport) -> None:
    """Show the size of the group, and its sensitive values."""
    for sentence in group_sentences(report):
        st.markdown(sentence)
    for name, table in sensitive_value_tables(report).items():
        st.markdown(f"**{escape_markdown(name)}**")
        st.dataframe(table, hide_index=True, key=f"person-secret-{name}", alt=name)


def parse_value(column: str, text: str) -> KnownFact:
    """Read a range of numbers, a prefix with a star, or a value of a column."""
    between = _RANGE.fullmatch(text)
    if between is not None:
        low, high = sorted(map(float, between.groups()))
        return KnownFact(column=column, bounds=(low, high))
    if text.endswith("*") and len(text) > 1:
        return KnownFact(column=column, prefix=text.rstrip("*"))
    return KnownFact(column=column, value=text)


def group_sentences(report: OnePersonReport) -> list[str]:
    """Return the size of the group, and the values it reveals for certain."""
    if not report.people:
        return [
            _(
                "**Nobody in this table fits.** An attacker learns that the "
                "person is not in it."
            ),
        ]
    lines = [
        ngettext(
            "**One person fits. Whoever knows this has found them.**",
            "**{number:,} people fit.**",
            report.people,
        )
    ]
    shared = {
        name: [secret.value for secret in secrets if secret.group_chance == 1]
        for name, secrets in report.secrets.items()
    }
    certain = [
        name
        for name, values in shared.items()
        if values and name not in report.repeated
    ]
    if certain:
        lines.append(
            ngettext(
                "Whoever knows this learns this person's {columns} for certain.",
                "All of them share one value of {columns}: nothing is left to guess.",
                report.people,
                columns=escape_markdown(join(certain), max_length=200),
            )
        )
    for name, secrets in report.secrets.items():
        if name in certain or not secrets:
            continue
        if shared[name]:
            lines.append(
                ngettext(
                    "This person has {values} in {column} at least once.",
                    "All of them have {values} in {column} at least once: whoever "
                    "knows this learns it for certain.",
                    report.people,
                    column=escape_markdown(name),
                    values=escape_markdown(join(shared[name]), max_length=200),
                )
            )
            continue
        sentence = (
            _(
                "The person has {value} in {column} at least once with a chance of "
                "{chance}; for anybody in the table, the chance is {before}."
            )
            if name in report.repeated
            else _(
                "{column} is {value} with a chance of {chance}; for anybody in the "
                "table, the chance is {before}."
            )
        )
        lines.append(
            sentence.format(
                column=escape_markdown(name),
                value=escape_markdown(secrets[0].value, max_length=60),
                chance=percent(secrets[0].group_chance),
                before=percent(secrets[0].table_chance),
            )
        )
    return lines


def sensitive_value_tables(report: OnePersonReport) -> dict[str, pd.DataFrame]:
    """Return the values of each sensitive column in the group, most likely first."""
    return {
        name: pd.DataFrame(
            [
                {
                    _("value"): secret.value,
                    _("chance in this group"): percent(secret.group_chance),
                    _("in the whole table"): percent(secret.table_chance),
                }
                for secret in secrets
            ],
        )
        for name, secrets in report.secrets.items()
        if secrets
    }
