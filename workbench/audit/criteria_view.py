"""Published criteria on the Audit page, with decisions that people have to make."""

from datetime import UTC, datetime

import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.table.audit import AuditReport
from dpcore.evaluation.table.criteria import EvidenceQuestion, figures_of
from dpcore.risk.criteria import Answer, Criterion, Outcome, judge, rules
from workbench.language.messages import _
from workbench.language.wording import plain, printable
from workbench.report import criteria
from workbench.ui import progress_view, widgets


def ask_criterion(
    curator: Curator, report: AuditReport
) -> tuple[Criterion, tuple[Outcome, ...]] | None:
    """Ask for a criterion; show and return it with its results, or return None."""
    with (
        st.expander(
            _("Measure against published criteria"),
            icon=":material/gavel:",
            key="criteria",
        ),
        widgets.errors_shown(),
    ):
        titles = {rule: _(Criterion.load(rule).title) for rule in rules()}
        rule = widgets.ask_by_title(
            st.selectbox,
            _("Measure against published criteria"),
            titles,
            index=None,
            key="audit-rule",
        )
        if rule is not None:
            criterion = Criterion.load(rule)
            evaluation = EvidenceQuestion(rule=rule, year=datetime.now(UTC).year)
            seen = progress_view.evaluate_in_line(
                curator, ("criterion", evaluation), lambda: evaluation
            )
            place = st.container()
            outcomes = judge(criterion, seen, figures_of(report), _answers(criterion))
            for line in criteria.about_result(criterion):
                place.caption(plain(line, at_most=2_000))
            place.dataframe(
                criteria.outcome_table(outcomes),
                hide_index=True,
                key=f"criterion-{rule}",
                alt=_("What the rule asks, and what the table has"),
            )
            return criterion, outcomes
    return None


def _answers(criterion: Criterion) -> dict[str, Answer]:
    """Ask for the decisions that the criterion leaves to people, and for a name."""
    asked = criteria.questions_by_clause(criterion.clauses)
    answers = {}
    who = (
        printable(st.text_input(_("Who decides"), key=f"who-{criterion.rule}")).strip()
        if asked
        else ""
    )
    for clause, question in asked.items():
        words = [_("yes"), _("no")]
        key = f"answer-{criterion.rule}-{clause}"
        answer = st.radio(
            plain(question, at_most=600),
            words,
            index=None,
            horizontal=True,
            disabled=not who,
            key=key,
        )
        if answer and who:
            answers[clause] = Answer(
                yes=answer == words[0], by=who, on=datetime.now(UTC).date()
            )
    return answers
