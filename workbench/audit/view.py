"""Sections of the Audit page below the choice of columns."""

import dataclasses
import functools

import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.table.audit import AuditReport, find_naming_columns
from dpcore.evaluation.table.rows_of_people import ROW_CAPS
from dpcore.schema import PrivacyUnit
from workbench import session
from workbench.audit import findings
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _, capital
from workbench.language.wording import escape_markdown, number, percent, unit_words
from workbench.session.draft import Draft
from workbench.store.policy import read_policy
from workbench.ui import verdict, widgets

MAX_CAP_OFFERED = 20  # rows per person; Data takes any number


def show_changes(report: AuditReport, columns: list[str]) -> None:
    """Show how the risk changes if one column is left out or added.

    A click on a bar leaves its column out, or takes it in.
    """
    if not report.uniques_after_change:
        return
    st.header(_("Leaving out or adding one column"))
    chart, labels = findings.changes_chart(report, columns)
    # The chart gets a new key after each choice, so that it forgets the old click.
    clicked = session.Selection("audit-changes-" + "-".join(columns), "clicked")
    toggle = functools.partial(findings.toggle_clicked_column, clicked, labels, columns)
    widgets.show_clickable(chart, clicked, toggle)
    st.caption(
        _(
            (
                "Now {share} of the people are unique. Click a bar to leave its "
                "column out or to add it."
            ),
        ).format(share=percent(report.risk.uniques)),
    )
    with st.expander(_("The same figures as a table")):
        widgets.show_table(chart.table, alt=chart.alt)


def show_no_columns_chosen(curator: Curator) -> None:
    """Name columns that identify people, and ask to choose columns that others know."""
    text = verdict.naming_sentences(
        *find_naming_columns(findings.suggested_roles(curator), curator.schema)
    )
    if text:
        sentences = " ".join([capital("no") + ".", *text])
        st.markdown(
            f"## :red-background[{escape_markdown(sentences, max_length=1_000)}]"
        )
    st.info(_("Choose at least one column that others may know."))


def ask_max_rows(draft: Draft) -> int | None:
    """Ask how many rows of one person count later, if only the owner knows that.

    None if that is decided already, or open. The Data page asks too, but then the way
    to a safer table leads through it.
    """
    is_open = draft.schema.unit.id_column is not None and draft.cap is None
    # a number chosen after figures of the rows were seen has to be marked there
    if not is_open or draft.row_figures_seen or draft.declared_unit is not None:
        return None
    max_rows: int | None = st.segmented_control(
        _("Maximum number of rows that count per person in later releases"),
        [cap for cap in ROW_CAPS if cap <= MAX_CAP_OFFERED],
        help=_(
            "Think of what a row means, not of this table. For example, few people "
            "stay in a hospital more than 3 times a year. The safer table keeps all "
            "rows. Noisy releases that you make later count only this many rows of "
            "each person."
        ),
        key=f"audit-cap-{draft.dataset}",
    )
    return max_rows


def show_proposed_opening(unit: PrivacyUnit, max_rows: int | None) -> None:
    """Say what *Make it safer* fixes for good if the table is not open yet.

    Args:
        max_rows: answer of `ask_max_rows`. Without it a table with several rows of a
            person is not opened as proposed.
    """
    if unit.id_column is not None:
        if max_rows is None:
            return
        unit = dataclasses.replace(unit, max_rows=max_rows)
    st.caption(
        _(
            "*Make it safer* opens the table as *Data* proposes it: {unit}, with a "
            "budget of epsilon {epsilon} for noisy releases that you may make later. "
            "Neither can be changed afterwards. If they do not fit, describe the table "
            "on *Data* first."
        ).format(
            unit=escape_markdown(unit_words(unit), max_length=200),
            epsilon=number(read_policy().proposed_epsilon),
        )
    )


def show_verdict(report: AuditReport, columns: list[str]) -> None:
    """Show the verdict in its color, its reasons, and the best change."""
    judged = verdict.judge_table(report, columns)
    color = {"poor": "red", "mixed": "orange", "good": "green"}[judged.level]
    st.markdown(
        f"## :{color}-background[{escape_markdown(judged.sentence, max_length=1_000)}]"
    )
    st.markdown(
        "\n".join(
            f"- {escape_markdown(reason, max_length=600)}" for reason in judged.reasons
        )
    )
    best, *others = judged.actions or [""]
    if not best:
        return
    st.markdown(f"**{_('The change that helps most')}**")
    st.markdown(escape_markdown(best, max_length=600))
    st.caption(verdict.searched_changes_sentence())
    if others:
        with st.expander(_("Other changes"), key="other-changes"):
            st.markdown(
                "\n".join(f"- {escape_markdown(way, max_length=600)}" for way in others)
            )


def show_details(report: AuditReport, columns: list[str], list_name: str) -> None:
    """Show sets of columns, attackers, identifiers and sensitive columns.

    Args:
        list_name: name of the attacker's list, if there is one.
    """
    linkage = findings.linkage_words(report, list_name) or _(
        "You gave no list of people to compare with, or the list shares no "
        "column with the table."
    )
    show_figures(report, columns, findings.attacker_sentences(report), linkage)


def show_figures(
    report: AuditReport, columns: list[str], expected: list[str], linkage: str = ""
) -> None:
    """Show sets of columns, attackers, identifiers and sensitive columns.

    Args:
        expected: sentences on what attackers can expect.
        linkage: the sentence on a list of people, if one can be given.
    """
    left, right = st.columns(2)
    with left:
        st.header(_("Risk by columns known"))
        if report.column_sets[0].uniques:
            widgets.show_chart(findings.sets_chart(report), key="audit-sets")
        else:
            st.write(_("None of these sets makes anybody unique."))
    with right:
        show_changes(report, columns)
    left, right = st.columns(2)
    with left:
        st.header(_("What attackers can expect"))
        if linkage:
            st.write(escape_markdown(linkage, max_length=600))
        st.markdown("\n".join(f"- {sentence}" for sentence in expected))
    with right:
        st.header(_("Columns that look like identifiers"))
        widgets.show_table(
            findings.identifiers_table(report),
            alt=_("Columns that look like identifiers"),
        ) if report.identifiers else st.write(capital("none"))
    if report.secrets:
        st.header(_("What groups give away"), help=_(GLOSSARY["equivalence class"]))
        st.dataframe(
            verdict.secrets_table(report),
            hide_index=True,
            alt=_("What groups give away"),
        )
