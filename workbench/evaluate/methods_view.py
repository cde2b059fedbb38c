"""Form to compare methods at several epsilons before anything is spent."""

import streamlit as st

from workbench import session
from workbench.evaluate import methods
from workbench.evaluate.form import digest
from workbench.evaluate.learning_view import MEASURES
from workbench.evaluate.report import computed_report, progress
from workbench.language.messages import _, capital, translate_table
from workbench.ui import file_view, progress_view, widgets
from workbench.ui.method_charts import draw_against_epsilon


def compare_methods() -> None:
    """Compare methods against epsilon on public tables."""
    st.markdown(
        _(
            "Before you spend any budget, see how the methods perform on invented "
            "people at several epsilons. Nothing is charged, and your table is not "
            "read. You can add a public table of your own."
        )
    )
    tables = methods.invented_table_titles()
    own = file_view.table_uploader(
        _("A public table with a column of labels"), key="sweep-file"
    )
    chosen = widgets.ask_by_title(
        st.multiselect, capital("table"), tables, list(tables)[:1], key="sweep-tables"
    )
    titles = methods.method_titles()
    names = widgets.ask_by_title(
        st.multiselect, capital("method"), titles, list(titles), key="sweep-methods"
    )
    epsilons = st.multiselect(
        capital("epsilon"),
        list(methods.EPSILONS),
        list(methods.DEFAULT_EPSILONS),
        key="sweep-epsilons",
    )
    of_own = "" if own is None else digest(own)
    key = ("sweep", tuple(chosen), tuple(names), tuple(sorted(epsilons)), of_own)
    frame = computed_report(key)
    if frame is None:
        if (
            not (chosen or of_own)
            or not names
            or not epsilons
            or not st.button(capital("compare"), type="primary")
        ):
            return
        public = [methods.invented_table(name) for name in chosen]
        if own is not None:
            public.append(methods.public_table(_("table"), own))
        with (
            progress(_("Comparing the methods"), key="stop-heavy") as on_progress,
            progress_view.wait_in_line(),
        ):
            frame = methods.sweep_epsilons(public, names, sorted(epsilons), on_progress)
        session.session().reports[key] = frame
    measures = {"pairs": _("distance of pairs of columns"), **translate_table(MEASURES)}
    titles = {
        measure: title
        for measure, title in measures.items()
        if (frame["measure"] == measure).any()
    }
    measure = widgets.choose(_("Measure"), titles, key="sweep-measure")
    shown = frame[frame["measure"] == measure].drop(columns="measure")
    widgets.show_pictures(
        draw_against_epsilon(shown, measure=measures[measure]), key="sweep"
    )
