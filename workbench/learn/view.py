"""Lessons on the page: an idea, controls, charts, sentences and a question.

A control computes its own lesson only.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from workbench import session
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _, capital
from workbench.language.textbook_names import textbook_names
from workbench.language.wording import escape_markdown, number
from workbench.learn import figures, lessons
from workbench.learn.charts import horizontal_bars
from workbench.learn.lessons import LESSONS
from workbench.report.charts import Chart, draw_lines
from workbench.report.files import file_name
from workbench.ui import examples, file_view, widgets
from workbench.ui.notebooks import write_notebook

ARROW_ICON = ":material/arrow_forward:"


@st.fragment
def show_lesson(key: str) -> None:
    """Show a lesson, with a link to its page and its glossary term."""
    data = LESSONS[key]
    st.header(_(data["title"]))
    st.caption(textbook_names(f"lesson {key}"))
    charts = data.get("charts", ())
    places = [st.container() for _chart in charts] or [st.container()]
    chosen = []
    for control in data["controls"]:
        with places[control.get("chart", 0)]:
            chosen.append(_ask_control(control))
    shown = lessons.LESSON_FUNCTIONS[key](*chosen)
    said = lessons.lesson_sentences(key, shown)
    for number_of_chart, (place, chart) in enumerate(zip(places, charts, strict=False)):
        with place:
            widgets.show_chart(
                _draw_chart(chart, shown.frames[number_of_chart]),
                key=f"learn-{key}-{number_of_chart}",
            )
            if number_of_chart == 0 and shown.table is not None:
                widgets.show_table(
                    shown.table.assign(**_translate_texts(shown.table)),
                    key=f"learn-{key}-figures",
                    alt=_("The figures as a table"),
                )
            st.write(said.pop(0))
    for sentence in filter(None, said):
        st.write(sentence)
    if key == "holes":
        _show_textbook_example()
    if key == "parallel":
        _show_sum_of_mechanisms()
    _ask_question(key)
    with st.container(horizontal=True):
        st.page_link(
            session.page_script(data["page"]),
            icon=ARROW_ICON,
            help=_(GLOSSARY[data["term"]]),
        )
        cells = [
            ("markdown", _(data["title"])),
            *(("code", cell.strip()) for cell in notebook_cells(key)),
        ]
        file_view.download(
            _("Notebook"),
            write_notebook(cells),
            file_name(data["title"], "lesson", "ipynb"),
            key=f"learn-{key}-notebook",
        )


def show_walk() -> None:
    """Show how two companies share data step by step, with links to the pages."""
    for step in lessons.WALK_STEPS:
        st.write(_(step["says"]))
        st.page_link(session.page_script(step["page"]), icon=ARROW_ICON)


def notebook_cells(key: str) -> list[str]:
    """Return the cells of a lesson's notebook, which needs only `dpcore`."""
    notebook: str = LESSONS[key]["notebook"]
    return notebook.split("# %%\n")


def _ask_control(control: Mapping[str, Any]) -> Any:
    """Show a control and return its value: a step, a whole number or list entries."""
    key = f"learn-{control['key']}"
    if "options" in control:
        return st.pills(
            _(control["label"]),
            control["options"],
            default=control["options"],
            format_func=_,
            selection_mode="multi",
            key=key,
        )
    if "ends" in control:
        low, high = map(int, control["ends"])
        return st.slider(
            _(control["label"]),
            low,
            high,
            int(control["default"]),
            key=key,
            persist_state="session",
        )
    return st.select_slider(
        _(control["label"]),
        control["steps"],
        control["default"],
        key=key,
        help=_(GLOSSARY["epsilon"]) if control["label"] == "epsilon" else None,
        persist_state="session",
    )


def _translate_texts(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Translate the text columns of a frame, and return them by name."""
    return {
        str(name): texts.map(_)
        for name, texts in frame.select_dtypes(["object", "str"]).items()
    }


def _draw_chart(chart: Mapping[str, Any], frame: pd.DataFrame) -> Chart:
    titles = {name: _(title) for name, title in chart["titles"].items()}
    table = frame.assign(**_translate_texts(frame))[list(titles)]
    if chart["kind"] == "bars":
        return horizontal_bars(table, titles)
    logarithmic = tuple(chart.get("logarithmic", ()))
    return draw_lines(
        table,
        titles,
        logarithmic_fields=logarithmic,
        has_points=chart["kind"] == "lines",
    )


def _ask_question(key: str) -> None:
    """Ask the question of a lesson, judge the answer, and count it."""
    data = LESSONS[key]
    answers = dict(enumerate(map(_, data["answers"])))
    field = f"learn-{key}-answer"
    answer = widgets.ask_by_title(
        st.radio,
        _(data["asks"]),
        answers,
        index=None,
        key=field,
        persist_state="session",
    )
    if answer is None:
        return
    if answer == data["right"]:
        st.success(capital("right"))
    else:
        st.warning(f"{_('Not quite.')} {lessons.right_answer(key)}")
    given = {
        lesson_key: session.Widget[int](f"learn-{lesson_key}-answer").current_value()
        for lesson_key in LESSONS
    }
    done, right = lessons.count_answers(given)
    st.caption(
        _("{done} of {all} questions answered, {right} of them correctly.").format(
            done=done,
            all=len(LESSONS),
            right=right,
        ),
    )


def _show_textbook_example() -> None:
    """Show small textbook tables whose k-anonymity can be counted by hand."""
    steps = {step.number: step for step in examples.EXAMPLES}
    step = steps[st.selectbox(capital("table"), list(steps), key="learn-holes-table")]
    left, right = st.columns([2, 3])
    left.dataframe(step.frame(), hide_index=True, alt=_("The table of this step"))
    right.write(escape_markdown(_(step.description), max_length=400))
    right.markdown("  \n".join(f"**{line}**" for line in step.count_k_and_l()))
    right.caption(_(examples.BOOK_REFERENCE))


def _show_sum_of_mechanisms() -> None:
    """Show an editable list of answers, and add up what they cost one person."""
    st.markdown(f"**{_('Add up several answers yourself')}**")
    what = _("what is asked")
    loss = _("epsilon")
    part = _("part of the people (empty: all)")
    lines = st.data_editor(
        pd.DataFrame(
            {
                what: [
                    _("the number of people"),
                    _("ages of the women"),
                    _("ages of the men"),
                    _("jobs of the men"),
                ],
                loss: [0.5, 1.0, 0.4, 0.3],
                part: ["", _("women"), _("men"), _("men")],
            }
        ),
        num_rows="dynamic",
        hide_index=True,
        column_config={
            "epsilon": st.column_config.NumberColumn(_("epsilon"), min_value=0.0)
        },
        alt=_(
            "Answers, each with its epsilon and the part of the people that it is about"
        ),
        key="learn-parallel-sum",
    )
    filled = lines.dropna(subset=[loss])
    names = filled[part].fillna("").astype(str).str.strip()
    together, plain_sum = figures.add_up_mechanisms(
        zip(filled[loss].astype(float), names, strict=True)
    )
    st.write(
        _(
            "Together they cost a person at most **epsilon {together}**; the plain "
            "sum of all lines is {sum}. Questions to all people add up. Of "
            "questions to different parts of the people, only the most expensive "
            "one counts. That holds only if nobody is in two parts, and if you "
            "chose the parts without looking at the data."
        ).format(together=number(together), sum=number(plain_sum))
    )
