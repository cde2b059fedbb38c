"""Published criteria on the Audit page: what a table violates, and a place for what only people decide."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.table.audit import AuditReport
from dpcore.evaluation.table.criteria import EvidenceOf, figures_of
from dpcore.risk.criteria import Answer, Criterion, Outcome, judge, rules, write_answers
from workbench.ui import criteria, file_view, widgets
from workbench.ui.files import file_name
from workbench.ui.language import Words, _
from workbench.ui.wording import plain, printable

YES_NO = Words("audit.yes_no")


def measured(curator: Curator, report: AuditReport) -> tuple[Criterion, tuple[Outcome, ...]] | None:
    """Ask for a criterion, and show the result of each clause; None where none is chosen."""
    with st.expander(_("Measure against published criteria"), icon=":material/gavel:", key="criteria"):
        rule = st.selectbox(
            _("Criterion"),
            rules(),
            index=None,
            format_func=lambda each: _(Criterion.load(each).title),
            key="audit-rule",
            persist_state="session",
        )
        if rule is None:
            return None
        criterion = Criterion.load(rule)
        with widgets.errors_shown():
            evaluation = EvidenceOf(rule=rule, year=datetime.now(UTC).year)
            seen = widgets.once_in_line(curator, ("criterion", evaluation), lambda: evaluation)
            place = st.container()
            answers = _answers(criterion)
            outcomes = judge(criterion, seen, figures_of(report), answers)
            with place:
                for line in criteria.about(criterion):
                    st.caption(plain(line, at_most=2_000))
                st.dataframe(criteria.table(outcomes), hide_index=True, key=f"criterion-{rule}")
            if answers:
                file_view.download(
                    _("Download the answers (TOML)"),
                    write_answers(criterion, answers).encode(),
                    file_name(curator.name, f"answers {rule}", "toml"),
                )
            return criterion, outcomes
    return None


def _answers(criterion: Criterion) -> dict[str, Answer]:
    asked = [each for each in criterion.clauses if each.question]
    if not asked:
        return {}
    st.markdown(f"**{_('Only you can decide')}**")
    who = printable(
        st.text_input(_("Who decides"), key=f"who-{criterion.rule}", persist_state="session")
    ).strip()
    answers = {}
    for each, question in zip(asked, criteria.questions(asked), strict=True):
        answer = st.radio(
            plain(question, at_most=600),
            list(YES_NO),
            index=None,
            format_func=YES_NO.__getitem__,
            horizontal=True,
            disabled=not who,
            key=f"answer-{criterion.rule}-{each.id}",
            persist_state="session",
        )
        if answer and who:
            answers[each.id] = Answer(yes=answer == "yes", by=who, on=datetime.now(UTC).date())
    return answers
