"""Local answers page: design a survey, try an answer, read the estimates."""

import streamlit as st

import dpcore.local as dl
from workbench import session
from workbench.language.messages import _, capital
from workbench.language.textbook_names import textbook_names
from workbench.local_dp import design, form, view
from workbench.ui import widgets

st.title(_("Ask without learning anybody's answer"))
st.caption(
    _(
        "Every answer is changed at random before it is sent. The privacy loss is "
        "counted per person and question, and no budget of a data set pays for it. "
        "If you ask somebody several questions, or the same question again next "
        "month, the epsilons add up."
    )
)


def design_survey() -> None:
    st.caption(textbook_names("local design"))
    left, right = st.columns([2, 3], gap="large")
    experts = st.expander(_("For experts"), key="local-experts")
    with left:
        text, answers, epsilon, people = form.ask_survey(experts)
    with right, widgets.catch_and_show_errors():
        st.header(_("What you would get"))
        question = form.show_expected_error(text, answers, epsilon, people, experts)
        session.own(design.LocalState).question = question
        form.offer_links(question, people)
        with experts:
            form.draw_error_curves(len(answers), epsilon, people)


def show_respondent() -> None:
    st.caption(textbook_names("local answer"))
    question = session.own(design.LocalState).question
    if question is None:
        question = dl.Question(
            text=_("How often did you feel unwell at work this month?"),
            categories=[_("never"), _("once")],
            protocol="randomized response",
            epsilon=1,
        )
    view.show_respondent_page(question)


def read_answers() -> None:
    st.caption(textbook_names("local estimate"))
    simulation = _("Try it on a table")
    made_here = _("A survey made here")
    ways = {
        simulation: view.simulate_survey,
        made_here: view.show_collected,
        _("Reports as JSON lines, one per answer"): view.show_uploaded_reports,
    }
    titles = dict(zip(ways, ways, strict=True))
    source = session.Widget[str]("local-source")
    if session.take_note(session.TrySurvey) is not None:
        source.put(simulation)
    # who has just made a survey wants its answers
    has_survey = bool(session.own(design.LocalState).survey_keys)
    way = widgets.choose(
        capital("source"),
        titles,
        key=source.key,
        default=made_here if has_survey else simulation,
    )
    ways[way]()


parts = {
    _("Design a survey"): design_survey,
    capital("answer"): show_respondent,
    _("Read the answers"): read_answers,
}
titles = dict(zip(parts, parts, strict=True))
if session.read_note(session.TrySurvey) is not None:
    session.Widget[str]("local-part").put(_("Read the answers"))
part = widgets.choose(
    _("Ask without learning anybody's answer"),
    titles,
    key="local-part",
    label_visibility="collapsed",
)
with widgets.catch_and_show_errors():
    parts[part]()
