"""Form of a survey, its expected error and its links."""

from collections.abc import Iterable
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import dpcore.local as dl
from dpcore.errors import DpcoreError
from dpcore.local.base import wrong_number_of_answers_error
from workbench import session
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _, capital, ngettext
from workbench.language.wording import (
    answer_words,
    epsilon_verdict,
    escape_markdown,
    number,
    whole_number_text,
)
from workbench.local_dp import charts, design
from workbench.local_dp.words import (
    PROTOCOL_TITLES,
    REPORT_SENTENCES,
    error_verdict,
    plus_minus,
    recommendation_reason,
)
from workbench.report.document import fill_template
from workbench.report.files import file_name
from workbench.store.links.surveys import MAX_PEOPLE, links_work
from workbench.ui import epsilon_view, file_view, link_addresses, widgets

MAX_CODES_PER_SHEET = (
    500  # on a sheet; who asks more people has other ways to reach them
)


def ask_survey(experts: DeltaGenerator) -> tuple[str, list[str], float, int]:
    """Ask for the question, its possible answers, epsilon, and the number of people.

    Args:
        experts: place for what few need.
    """
    text = st.text_input(
        _("Question"),
        _("How often did you feel unwell at work this month?"),
        max_chars=200,
        key="local-question",
        persist_state="session",
    )
    answers = st.text_area(
        _("Possible answers, one per line"),
        "\n".join([_("never"), _("once"), _("several times"), _("almost every day")]),
        key="local-answers",
        height=150,
        persist_state="session",
    )
    epsilon = epsilon_view.ask_epsilon(
        capital("epsilon per answer"), key="local", default=1.0, largest=8.0
    )
    with experts:
        _ask_truth_chance(len(design.parse_answers(answers)), epsilon)
    if epsilon > 0:
        st.caption(f"{answer_words(epsilon)} {epsilon_verdict(epsilon)}")
    people = st.number_input(
        capital("people who answer"),
        1,
        10_000_000,
        1_000,
        key="local-people",
        persist_state="session",
    )
    return text, design.parse_answers(answers), epsilon, int(people)


def _ask_truth_chance(categories: int, epsilon: float) -> None:
    """Show the probability of a true answer; changing it sets epsilon."""
    if categories < 2 or epsilon <= 0:
        return
    chance = session.Widget[float]("local-truth-chance")
    chance.put(design.chance_of_truth(epsilon, categories))
    st.number_input(
        _("Chance that the true answer is sent"),
        1 / categories,
        1.0,
        step=0.05,
        format="%.4g",
        key=chance.key,
        on_change=lambda: epsilon_view.number_field("local").put(
            design.epsilon_of(chance.current_value() or 0.0, categories)
        ),
    )


def show_expected_error(
    text: str,
    answers: list[str],
    epsilon: float,
    people: int,
    experts: DeltaGenerator,
) -> dl.Question:
    """Show the expected error, and let experts choose a protocol.

    Raises: DpcoreError for a question that cannot be asked.
    """
    if not 2 <= len(answers) <= design.MAX_POSSIBLE_ANSWERS:
        raise wrong_number_of_answers_error(design.MAX_POSSIBLE_ANSWERS)
    options = dl.recommend_protocols(len(answers), repr(epsilon), people)
    by_name = {option.protocol.kind: option for option in options}
    titles = {name: _(PROTOCOL_TITLES[name]) for name in by_name}
    key = f"local-protocol-{options[0].protocol.kind}"
    name = widgets.ask_by_title(
        experts.selectbox,
        capital("protocol"),
        titles,
        key=key,
        help=recommendation_reason(options),
    )
    option = by_name[name]
    question = dl.Question(
        text=text, categories=answers, protocol=name, epsilon=repr(epsilon)
    )
    off, more = st.columns(2)
    half = design.half_width(option.largest_error)
    off.metric(capital("off by"), plus_minus(half), help=_("error (95 %)"))
    experts.metric(
        _("Size of a report, in bits"),
        whole_number_text(option.protocol.report_bits),
        help=_(GLOSSARY["report"]),
    )
    more.metric(
        _("People needed for ± 1 %"), number(design.people_needed(option, people, 0.01))
    )
    st.write(error_verdict(option))
    experts.caption(f"{recommendation_reason(options)} {_(REPORT_SENTENCES[name])}")
    return question


def draw_error_curves(categories: int, epsilon: float, people: int) -> None:
    """Draw the error of every protocol, over people and over epsilon."""
    left, right = st.columns(2)
    with left:
        sizes = design.sizes_near(people)
        frame = design.expected_errors(categories, [(size, epsilon) for size in sizes])
        chart = charts.draw_error_lines(
            frame, x_field="people", title=_("people who answer"), survey_x=people
        )
        widgets.show_chart(chart, key="local-by-people")
    with right:
        epsilons = sorted({*design.CURVE_EPSILONS, epsilon})
        frame = design.expected_errors(
            categories, [(people, epsilon_step) for epsilon_step in epsilons]
        )
        chart = charts.draw_error_lines(
            frame, x_field="epsilon", title=_("epsilon per answer"), survey_x=epsilon
        )
        widgets.show_chart(chart, key="local-by-epsilon")


def offer_links(question: dl.Question, people: int) -> None:
    """Offer to make the links of a survey, and show them once."""
    titles = {days: _("{days} days").format(days=days) for days in SURVEY_DAYS}
    days = widgets.choose(_("Links work for"), titles, key="local-days", default=30)
    count = min(people, MAX_PEOPLE)
    st.button(
        ngettext("Make {number:,} link", "Make {number:,} links", count),
        type="primary",
        icon=":material/link:",
        disabled=not links_work.is_set(),
        on_click=_make_survey,
        args=(question, count, days),
    )
    if not links_work.is_set():
        st.caption(
            _(
                "Links do not work: this app was started without the part of the "
                "server that serves them."
            )
        )
    elif link_addresses.is_here_only(
        link_addresses.link_root(str(st.context.url), "answer")
    ):
        st.caption(
            _(
                "The links will work on this computer only: people answer here, one "
                "after the other. docs/hosting.md explains how others can open them."
            )
        )
    if count < people:
        st.caption(
            _("At most {most} links are made at once.").format(
                most=whole_number_text(MAX_PEOPLE)
            )
        )
    invitations = session.own(design.LocalState).invitations
    if invitations is not None:
        _show_links(question.text, *invitations)


def _make_survey(question: dl.Question, count: int, days: int) -> None:
    state = session.own(design.LocalState)
    try:
        key, tokens = session.surveys().make(question, people=count, days=days)
    except DpcoreError as error:
        state.invitations = error, []
        return
    state.survey_keys[key] = question.text
    state.invitations = key, tokens


def _show_links(text: str, key: str | DpcoreError, tokens: list[str]) -> None:
    if isinstance(key, DpcoreError):
        widgets.error_box(key)
        return
    root = link_addresses.link_root(str(st.context.url), "answer")
    widgets.show_link_ready(
        _(
            "The survey is open. Save the links and the key now: they cannot be "
            "shown again."
        ),
        root,
    )
    with st.container(horizontal=True):
        if len(tokens) <= MAX_CODES_PER_SHEET:
            name = file_name(text, "survey codes", "html")
            help = _(
                "One QR code per person, to print and cut out. Phones must be able "
                "to open {root}."
            ).format(root=escape_markdown(root, max_length=200))
            label = _("Codes to scan")
            file_view.download(
                label,
                lambda: link_sheet(
                    text, root, tokens, is_local_only=link_addresses.is_here_only(root)
                ),
                name,
                icon="qr_code",
                help=help,
            )
        file_view.download(
            f"{_('Links')} (CSV)",
            design.links_csv(root, tokens),
            file_name(text, "survey links", "csv"),
        )
        st.link_button(
            _("Open the first link"), root + tokens[0], icon=":material/open_in_new:"
        )
    st.text(_("Key to read the answers"))
    st.code(key, language=None)


def link_sheet(
    question: str, root: str, tokens: Iterable[str], *, is_local_only: bool = False
) -> str:
    """Return a page to print and cut up, with one QR code per link.

    Args:
        is_local_only: whether the links open on this computer only; the page then says so.
    """
    import segno

    codes = [
        segno.make(root + token, micro=False).svg_inline(omitsize=True, light="white")
        for token in tokens
    ]
    return fill_template(
        "sheet.html",
        Path(__file__).parent,
        question=question,
        codes=codes,
        warning=_(
            "These addresses work only on this computer: nobody else can open them."
        )
        if is_local_only
        else "",
    )


SURVEY_DAYS = (7, 30, 90)  # lifetimes of survey links to choose from, in days
