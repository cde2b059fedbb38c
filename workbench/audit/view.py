"""Sections of the Audit page below the choice of columns."""

import functools

import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.table.audit import AuditReport, who_is_named
from dpcore.schema import PrivacyUnit
from workbench import session
from workbench.audit import findings
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _, capital
from workbench.language.wording import number, percent, plain, unit_words
from workbench.store.policy import read_policy
from workbench.ui import verdict, widgets


def show_changes(report: AuditReport, columns: list[str]) -> None:
    """Show how the risk changes if one column is left out or added.

    A click on a bar leaves its column out, or takes it in.
    """
    if not report.changes:
        return
    st.header(_("One column less, or one more"))
    chart, labels = findings.changes_chart(report, columns)
    # The chart gets a new key after each choice, so that it forgets the old click.
    clicked = session.Selection("audit-changes-" + "-".join(columns), "clicked")
    toggle = functools.partial(findings.toggle, clicked, labels, columns)
    widgets.show_clickable(chart, clicked, toggle)
    st.caption(
        _(
            (
                "Now {share} of the people are unique. Click a bar to leave its column "
                "out, or to take it in."
            ),
        ).format(share=percent(report.risk.uniques)),
    )
    with st.expander(_("The same as a table")):
        widgets.show_table(chart.table, alt=chart.alt)


def say_nothing_known(curator: Curator) -> None:
    """Name columns that identify people, and ask to choose columns that others know."""
    text = verdict.naming_sentences(
        *who_is_named(findings.roles(curator), curator.schema)
    )
    if text:
        sentences = " ".join([capital("no") + ".", *text])
        st.markdown(f"## :red-background[{plain(sentences, at_most=1_000)}]")
    st.info(_("Choose at least one column that others may know."))


def as_proposed_words(unit: PrivacyUnit) -> str:
    """Say what *Make it safer* fixes for good if the table is not open yet."""
    return _(
        "*Make it safer* opens the table as *Data* proposes it: {unit}, with a budget "
        "of epsilon {epsilon} for noisy releases that you may make later. Neither can "
        "be changed afterwards. If they do not fit, describe the table on *Data* first."
    ).format(unit=unit_words(unit), epsilon=number(read_policy().proposed_epsilon))


def show_verdict(report: AuditReport, columns: list[str]) -> None:
    """Show the verdict in its color, its reasons, and the best change."""
    judged = verdict.judge_table(report, columns)
    color = {"poor": "red", "mixed": "orange", "good": "green"}[judged.level]
    st.markdown(f"## :{color}-background[{plain(judged.sentence, at_most=1_000)}]")
    st.markdown(
        "\n".join(f"- {plain(reason, at_most=600)}" for reason in judged.reasons)
    )
    best, *others = judged.actions or [""]
    if not best:
        return
    st.markdown(f"**{_('The change that helps most')}**")
    st.markdown(plain(best, at_most=600))
    st.caption(verdict.searched_changes_sentence())
    if others:
        with st.expander(_("Other changes"), key="other-changes"):
            st.markdown("\n".join(f"- {plain(way, at_most=600)}" for way in others))


def show_details(report: AuditReport, columns: list[str], listed: str) -> None:
    """Show sets of columns, attackers, identifiers and sensitive columns.

    Args:
        listed: name of the attacker's list, if there is one.
    """
    left, right = st.columns(2)
    with left:
        st.header(_("Risk by columns known"))
        if report.sets[0].uniques:
            widgets.show_chart(findings.sets_chart(report), key="audit-sets")
        else:
            st.write(_("None of these sets makes anybody unique."))
    with right:
        show_changes(report, columns)
    left, right = st.columns(2)
    with left:
        st.header(_("What attackers can expect"))
        text = findings.linkage_words(report, listed) or _(
            "You gave no list of people to compare with, or it shares no column "
            "with the table."
        )
        st.write(plain(text, at_most=600))
        st.markdown(
            "\n".join(f"- {sentence}" for sentence in findings.attackers(report))
        )
    with right:
        st.header(_("Columns that look like identifiers"))
        widgets.show_table(
            findings.identifiers(report), alt=_("Columns that look like identifiers")
        ) if report.identifiers else st.write(capital("none"))
    if report.secrets:
        st.header(_("What groups give away"), help=_(GLOSSARY["equivalence class"]))
        st.dataframe(
            findings.secrets(report), hide_index=True, alt=_("What groups give away")
        )
