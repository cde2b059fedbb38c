"""Published criteria on the Audit page, with decisions that people have to make."""

from datetime import UTC, datetime

import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.table.audit import AuditReport
from dpcore.evaluation.table.criteria import EvidenceQuestion, criterion_figures
from dpcore.risk.criteria import (
    Answer,
    ClauseOutcome,
    Criterion,
    judge_clauses,
    list_criteria,
)
from workbench.language.messages import _
from workbench.language.wording import escape_markdown, make_printable
from workbench.report import criteria
from workbench.ui import progress_view, widgets


def ask_criterion(
    curator: Curator, report: AuditReport
) -> tuple[Criterion, tuple[ClauseOutcome, ...]] | None:
    """Ask for a criterion; show and return it with its results, or return None."""
    with (
        st.expander(
            _("Measure against published criteria"),
            icon=":material/gavel:",
            key="criteria",
        ),
        widgets.catch_and_show_errors(),
    ):
        titles = {rule: _(Criterion.load(rule).title) for rule in list_criteria()}
        rule = widgets.ask_by_title(
            st.selectbox,
            _("Measure against published criteria"),
            titles,
            index=None,
            key="audit-rule",
        )
        if rule is not None:
            criterion = Criterion.load(rule)
            evaluation = EvidenceQuestion(criterion=rule, year=datetime.now(UTC).year)
            seen = progress_view.evaluate_in_line(
                curator, ("criterion", evaluation), lambda: evaluation
            )
            place = st.container()
            outcomes = judge_clauses(
                criterion, seen, criterion_figures(report), _ask_decisions(criterion)
            )
            for line in criteria.about_result(criterion):
                place.caption(escape_markdown(line, max_length=2_000))
            place.dataframe(
                criteria.outcome_table(outcomes),
                hide_index=True,
                key=f"criterion-{rule}",
                alt=_("What the rule requires, and what was found in the table"),
            )
            return criterion, outcomes
    return None


def _ask_decisions(criterion: Criterion) -> dict[str, Answer]:
    """Ask for the decisions that the criterion leaves to people, and for a name."""
    asked = criteria.questions_by_clause(criterion.clauses)
    answers = {}
    who = (
        make_printable(
            st.text_input(_("Who decides"), key=f"who-{criterion.rule}")
        ).strip()
        if asked
        else ""
    )
    for clause, question in asked.items():
        words = [_("yes"), _("no")]
        key = f"answer-{criterion.rule}-{clause}"
        answer = st.radio(
            escape_markdown(question, max_length=600),
            words,
            index=None,
            horizontal=True,
            disabled=not who,
            key=key,
        )
        if answer and who:
            answers[clause] = Answer(
                is_yes=answer == words[0], person=who, date=datetime.now(UTC).date()
            )
    return answers
