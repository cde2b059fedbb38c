"""Views of the Local answers page, for respondents and for analysts."""

from typing import Any, get_args

import pandas as pd
import streamlit as st

import dpcore.local as dl
from dpcore.local.base import Reports
from dpcore.local.several import Way
from workbench import samples, session
from workbench.language.messages import _, capital, minute, name_and_text
from workbench.language.wording import (
    SAMPLE_DESCRIPTIONS,
    answer_words,
    escape_markdown,
    number,
    whole_number_text,
)
from workbench.local_dp import charts, design, simulate
from workbench.local_dp.words import (
    PROTOCOL_TITLES,
    REPORT_SENTENCES,
    WAY_SENTENCES,
    coverage_sentence,
    most_said_sentence,
)
from workbench.report.charts import PRIVATE, share_bars
from workbench.report.files import file_name
from workbench.server.workers import reading
from workbench.store.links.surveys import Survey
from workbench.ui import epsilon_view, file_view, widgets


def show_respondent_page(question: dl.Question) -> None:
    """Show what a respondent sees behind a link, with an invented answer."""
    st.write(
        _(
            "Everybody you invite opens a page of their own. In their browser,"
            " a small script changes the answer at random, shows what will be "
            "sent, and sends only that. Try it here with an invented answer; "
            "nothing is stored."
        )
    )
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.markdown(f"**{escape_markdown(question.text, max_length=200)}**")
        answers = dict(enumerate(map(escape_markdown, question.categories)))
        answer = widgets.ask_by_title(
            st.radio, capital("answer"), answers, key="local-true"
        )
        st.button(_("Change it at random"), type="primary", key="local-try")
        report = question.protocol.to_plain(question.protocol.perturb([answer]))[0]
        st.text(_("This is all that will be sent"))
        st.json(
            {
                "protocol": question.protocol.kind,
                "epsilon": str(question.epsilon),
                "report": report,
            },
            expanded=True,
        )
        st.caption(_(REPORT_SENTENCES[question.protocol.kind]))
    with right:
        st.header(_("What one report can reveal"))
        labels = list(question.categories)
        chart = share_bars(
            labels,
            design.support_chances(question.protocol, labels, answer),
            x_title=_("chance that the report supports this answer"),
            alt=name_and_text(
                _("chance that the report supports this answer"), labels[answer]
            ),
            color=PRIVATE,
        )
        widgets.show_chart(chart, key="local-chances")
        st.caption(answer_words(question.protocol.real_epsilon))


def simulate_survey() -> None:
    """Simulate a survey on a column of true answers."""
    if st.toggle(_("Use a table of my own"), key="local-own"):
        label = _(
            "A table with true answers (CSV or Parquet): used in this tab only, and "
            "not stored"
        )
        frame = file_view.table_uploader(label, key="local-truth")
        if frame is None:
            return
        widgets.show_internal_badge()
    else:
        frame = samples.census()
        st.caption(_(SAMPLE_DESCRIPTIONS["census"]))
    left, right = st.columns([2, 3], gap="large")
    with left:
        name = st.selectbox(
            capital("column"), list(frame.columns), index=_first_countable(frame)
        )
        names = [name]
        if not simulate.is_asked_for_mean(frame[name]):
            others = [
                str(column)
                for column in frame
                if column != name and not simulate.is_asked_for_mean(frame[column])
            ]
            names += st.multiselect(
                _("Further questions to the same people"), others, key="local-others"
            )
        if (given := int(frame[names].notna().all(axis=1).sum())) < len(frame):
            st.caption(
                _(
                    "{rows} of {all} rows have an answer; the others are left out."
                ).format(
                    rows=whole_number_text(given), all=whole_number_text(len(frame))
                )
            )
        epsilon = epsilon_view.ask_epsilon(
            capital("epsilon"), key="local-sim", default=1.0, largest=8.0
        )
    if simulate.is_asked_for_mean(frame[name]):
        _simulate_means(frame[name], epsilon, left, right)
    else:
        _simulate_shares([frame[column] for column in names], epsilon, left, right)


def _first_countable(frame: pd.DataFrame) -> int:
    """Return the position of the first column with few enough different values."""
    kinds = frame.nunique()
    return next((i for i, n in enumerate(kinds) if 2 < n <= simulate.MAX_ANSWERS), 0)


def _simulate_shares(
    columns: list[pd.Series], epsilon: float, controls: Any, results: Any
) -> None:
    way: Way = "split"
    with controls:
        if len(columns) > 1:
            fields = {
                "part": number(epsilon / len(columns)),
                "epsilon": number(epsilon),
            }
            ways = {
                way: _(WAY_SENTENCES[way]).format(**fields) for way in get_args(Way)
            }
            label = _("Each person loses epsilon {epsilon} in total").format(**fields)
            way = widgets.ask_by_title(st.radio, label, ways, key="local-way")
        protocols = {kind: _(PROTOCOL_TITLES[kind]) for kind in dl.Protocol.kinds()}
        protocol = widgets.ask_by_title(
            st.selectbox, capital("protocol"), protocols, key="local-sim-protocol"
        )
        st.button(_("Ask everybody again"), key="local-again")
    surveys = simulate.simulate_surveys(
        columns, protocol=protocol, epsilon=epsilon, way=way
    )
    with results:
        for place, survey in enumerate(surveys):
            if len(surveys) > 1:
                st.markdown(
                    f"**{escape_markdown(survey.question.text, max_length=200)}**"
                )
            widgets.show_chart(
                charts.draw_share_intervals(survey.shares), key=f"local-shares-{place}"
            )
            st.write(coverage_sentence(survey.estimate, list(survey.truth)))
        st.caption(
            _(
                "Reported: the share of reports that support an answer; on its own, "
                "it is misleading. Corrected: the estimated share of people, with "
                "its interval. True: known here because this is a simulation."
            )
        )


def _simulate_means(
    column: pd.Series, epsilon: float, controls: Any, results: Any
) -> None:
    with controls:
        low = st.number_input(
            capital("low"), value=float(column.min()), key=f"local-low-{column.name}"
        )
        high = st.number_input(
            capital("high"), value=float(column.max()), key=f"local-high-{column.name}"
        )
        st.button(_("Ask everybody again"), key="local-again")
    means = simulate.simulate_means(column, low=low, high=high, epsilon=epsilon)
    with results:
        widgets.show_chart(charts.draw_mean_intervals(means), key="local-means")
        st.caption(
            _(
                "Rounding everybody to the nearer end shifts the mean. "
                "Rounding at random keeps it but is not private. The "
                "mechanisms keep it and are private."
            )
        )


def show_collected() -> None:
    """Show the estimates of a survey that was made on this server."""
    keys = session.own(design.LocalState).survey_keys
    key = ""
    if keys:
        newest_first = dict(reversed(keys.items()))
        known = {**newest_first, "": _("another one, by its key")}
        key = widgets.ask_by_title(
            st.selectbox, _("A survey made here"), known, key="local-known"
        )
    if not key:
        key = st.text_input(
            _("Key to read the answers"), type="password", key="local-key"
        )
    if not key:
        st.info(_("The key was shown when the links were made."))
        return
    survey = session.surveys().survey_of(key.strip())
    if survey is None:
        st.warning(_("There is no survey with this key on this server."))
        return
    _show_survey(key.strip(), survey)


def _show_survey(key: str, survey: Survey) -> None:
    answered, ends = st.columns(2)
    answered.metric(
        capital("answers"),
        f"{whole_number_text(survey.answered)} / {whole_number_text(survey.invited)}",
    )
    ends.metric(
        _("Links"),
        _("work until {day}").format(day=f"{minute(survey.expires)} UTC")
        if survey.is_open
        else _("closed"),
    )
    lines = session.surveys().report_lines(key)
    with st.container(horizontal=True):
        if survey.answered:
            file_view.download(
                _("Reports as JSON lines, one per answer"),
                lines,
                file_name(survey.question.text, "reports", "jsonl"),
            )
        if survey.is_open:
            with st.popover(_("Close"), icon=":material/lock:"):
                st.write(
                    _(
                        "All links of this survey stop working, for ever. Answers that "
                        "were given stay."
                    )
                )
                st.button(
                    _("Close the survey"), on_click=session.surveys().close, args=(key,)
                )
    if survey.answered:
        show_estimates(*dl.from_json_lines(lines))


def show_uploaded_reports() -> None:
    """Ask for a file of randomized reports and show its estimates."""
    file = file_view.file_uploader(
        _("Reports as JSON lines, one per answer"),
        type=["jsonl", "ndjson", "json", "txt"],
        key="local-reports",
    )
    if file is None:
        return
    question, reports = session.compute_once(
        ("reports file", file.file_id), lambda: reading.read_reports(file.getvalue())
    )
    show_estimates(question, reports)


def show_estimates(question: dl.Question, reports: Reports) -> None:
    """Show the estimates of collected reports."""
    estimate = question.protocol.estimate(reports)
    st.header(escape_markdown(question.text, max_length=200))
    st.caption(
        _("{people} reports by {protocol}, epsilon {epsilon} per answer.").format(
            people=whole_number_text(estimate.people),
            protocol=_(PROTOCOL_TITLES[question.protocol.kind]),
            epsilon=number(float(question.epsilon)),
        ),
    )
    widgets.show_chart(
        charts.draw_share_intervals(simulate.estimated_shares(question, estimate)),
        key="local-decoded",
    )
    # The sentence names the largest share, which may be any of them, so all intervals
    # must hold together (Bonferroni).
    low, high = estimate.interval(1 - 0.05 / len(question.categories))
    st.write(most_said_sentence(question.categories, low.tolist(), high.tolist()))
