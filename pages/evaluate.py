"""Evaluate: a release held against the original. Internal: it reads the rows."""

import streamlit as st

from dpcore.errors import DpcoreError
from dpcore.release import Release
from dpcore.synthesis import SyntheticModel
from workbench import session
from workbench.evaluate import comparing
from workbench.evaluate.charts import scales
from workbench.ui import charts, releases, widgets
from workbench.ui.language import _
from workbench.ui.wording import number, plain

st.title(_("How good is it?"))
curator = widgets.need_curator(
    _(
        "Here a release is held against the original: each column, each pair of columns, and questions "
        "such as how many people are between 20 and 30."
    )
)
held = session.session()


def choose_release() -> Release:
    made = {line["request_id"]: line for line in releases.earlier(curator)}
    if not made:
        st.info(_("There is no release of this data set yet."))
        st.page_link("pages/synthesize.py", label=_("Release something"), icon=":material/arrow_forward:")
        st.stop()
    order = list(made)
    chosen = st.selectbox(
        _("Release"),
        order,
        index=order.index(held.shown) if held.shown in order else 0,
        format_func=lambda request: f"{made[request]['what']} · {made[request]['when']}",
    )
    return curator.release(chosen)


def show_figures(release: Release) -> None:
    figures = comparing.figures(comparing.errors(curator, release))
    widgets.show_chart(scales(figures), key="figures")
    st.caption(
        _("Total variation distance: the share of rows that would have to change; 0 is perfect. ")
        + _("Sampling floor: what chance alone brings between two samples of this size. ")
        + _("Independent columns: every column kept, every relation lost.")
    )


def show_columns(release: Release) -> None:
    found = {each.column: each for each in comparing.columns(curator, release)}
    worst = max(found, key=lambda name: found[name].distance)
    st.markdown(
        _(
            "**The column that moved most is {column}: {distance:.1%} of its rows would have to change.**"
        ).format(column=plain(worst), distance=found[worst].distance)
    )
    name = st.selectbox(_("Column"), list(found), index=list(found).index(worst), key="evaluate-column")
    widgets.show_chart(comparing.column_chart(found[name]), key="column")


def show_pairs(release: Release) -> None:
    error = comparing.errors(curator, release)
    if len(error.columns) < 2:
        st.info(_("This release has one column only, so there are no pairs."))
        return
    st.markdown(
        _("**The pair that came out worst: {pair}.**").format(pair=plain(comparing.worst_pair(error)))
    )
    left, right = st.columns(2)
    with left:
        st.markdown(_("True error (internal)"))
        chart = charts.heatmap(error.columns, error.pairs, title=_("total variation distance"))
        widgets.show_chart(chart, key="pairs")
    with right:
        if isinstance(release.model, SyntheticModel):
            st.markdown(_("Error that the noise explains (may be published)"))
            widgets.show_noise(release.model)


def show_questions(release: Release) -> None:
    names = comparing.interval_columns(release)
    if not names:
        st.info(_("Range questions need a column of numbers or dates, and this release has none."))
        return
    name = st.selectbox(_("Column"), names, key="question-column")
    bounds = comparing.bounds(release, name)
    low, high = st.select_slider(
        _("How many rows have a value from … up to, and not including, …"),
        bounds,
        (bounds[0], bounds[len(bounds) // 2]),
        key=f"question-range-{name}",
    )
    found = comparing.ranges(curator, release, name, low, high)
    answer = found.named[0]
    left, middle, right = st.columns(3)
    left.metric(_("Answer from the release"), number(answer.answer))
    middle.metric(_("Off by"), _("undefined") if answer.percent is None else f"{number(answer.percent)} %")
    if answer.direct is not None:
        right.metric(
            _("Asked directly, typically"),
            f"{number(answer.direct.median)} %",
            help=_("One Laplace draw on this range alone. Every further range would be a further charge."),
        )
    widgets.show_chart(comparing.range_chart(found), key="ranges")


widgets.internal_badge()
try:
    release = choose_release()
    show_figures(release)
    tabs = {_("Columns"): show_columns, _("Pairs"): show_pairs, _("Questions"): show_questions}
    tab = st.segmented_control(
        _("Look at"), list(tabs), default=_("Columns"), required=True, key="evaluate-tab"
    )
    tabs[tab](release)
except DpcoreError as error:
    widgets.error_box(error)
