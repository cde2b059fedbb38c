"""Pieces that several pages show: the header line, error boxes, charts with their
table.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from dpcore.accounting.ledger import Account, Balance
from dpcore.curator import Curator
from dpcore.errors import DpcoreError, RowsError
from dpcore.evaluation.base import Evaluation, Result
from dpcore.progress import OnProgress, silent
from dpcore.release import PrivateReport, Release
from dpcore.synthesis import SyntheticModel
from workbench import session
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import N_, _, commas, translate_stored
from workbench.language.wording import (
    budget_line,
    declared_words,
    loss_words,
    plain,
    rho_words,
    unit_words,
)
from workbench.report import charts
from workbench.report.charts import Chart, Pictures
from workbench.report.document import BADGES
from workbench.server.workers import process, queue
from workbench.server.workers.callbacks import cancelled_by
from workbench.session import person
from workbench.store.ledger.datasets import DataSet
from workbench.ui import (
    addresses,
    data_sets_view,
    file_view,
    progress_view,
    releases,
    reopening,
    rows_view,
    unexpected,
)

Value = TypeVar("Value")
DATASET = session.Widget[str]("header-dataset")
LINKS = {
    "here only": N_(
        "These addresses open on this computer only: nobody else can follow them."
    ),
    "ways": N_(
        "To let others in, serve the workbench under a name that they can reach: "
        "docs/hosting.md says how, for a machine of your own and for hosts that cost "
        "nothing. Without a server, send a release as one HTML file."
    ),
}
_IN_THE_DARK = ("[data-testid=stSliderThumbValue]", "[role=radio][data-selected=true]")
"""Words in the color of the theme's buttons, on which white words have to be read as
well: too dark here.
"""
READABLE = 20
"""Columns that a map of pairs can name."""


def header(*, declaring: bool) -> None:
    """One line on every page: the data set, who is protected, and the budget as a bar
    of three parts.

    Where the ledger does not answer, the page ends here and says so.

    Args:
        declaring: whether this is the page on which tables are declared: a table on its
            way is named then.
    """
    tab = session.session()
    _say_what_is_gone(tab)
    if declaring and (
        tab.draft is not None or session.own(session.TableChoice).is_open
    ):  # not the one before
        if tab.draft is not None:
            st.markdown(
                _("**{name}** · not opened yet").format(name=plain(tab.draft.name))
            )
        return
    data_set = tab.data_set
    if data_set is None:
        return
    # before the balance: a run that ends between the two is looked at again
    busy = tab.is_busy()
    try:
        balance = data_set.balance()
    except DpcoreError as error:
        error_box(error)
        st.stop()
    words = unit_words(data_set.unit) + (
        "" if tab.curator else " · " + _("rows not here")
    )
    unit = plain(words, at_most=120)
    left, middle, right = st.columns([9, 10, 3], vertical_alignment="center")
    with left:
        if len(tab.data_sets) > 1:
            DATASET.put(data_set.id)
            st.selectbox(
                _("Data set"),
                list(tab.data_sets),
                format_func=lambda dataset: tab.data_sets[dataset].name,
                key=DATASET.key,
                on_change=lambda: tab.choose(DATASET.value() or ""),
            )
            st.caption(unit)
        else:
            st.markdown(f"**{plain(data_set.name)}**  \n:small[{unit}]")
    with middle:
        budget_bar(balance, data_set.account)
        if busy or balance.reserved:
            _budget_of_now(data_set, tab, (busy, balance))
    if person.is_steward():
        right.page_link(
            session.page_script("ledger"),
            label=_("Ledger"),
            icon=":material/receipt_long:",
        )


def _budget_of_now(
    data_set: DataSet, tab: session.Session, drawn: tuple[bool, Balance]
) -> None:
    """Draw the page again when the budget changes, and say until then what is being
    made, in any tab.
    """
    progress_view.redraw_when(lambda: (tab.is_busy(), data_set.balance()) != drawn)
    for what in releases.being_made(data_set):
        words = _("Being made: {what}. This page changes when it is there.")
        st.caption(words.format(what=plain(what, at_most=160)))


def legible() -> None:
    """In the dark, a lighter color for the few words that the theme would paint in that
    of its buttons.
    """
    if session.is_dark():
        marked = ", ".join(f"{each} p" for each in _IN_THE_DARK)
        st.html(f"<style>{marked} {{ color: #7FC4EE; }}</style>")


def _say_what_is_gone(tab: session.Session) -> None:
    """Say why an open table was dropped, and the way back."""
    back = _("What was spent and released is kept. Open the same table again to go on.")
    if tab.lost is None:
        gone = _(
            "This tab lost its server: it was restarted, or the tab was away for too "
            "long."
        )
    elif tab.lost:
        gone = _(
            "This tab was idle for a while, so the rows of {names} were removed from "
            "memory."
        ).format(
            names=commas(plain(name, at_most=80) for name in tab.lost),
        )
    else:
        return
    st.warning(f"{gone} {back}", icon=":material/history:")
    st.button(_("Understood"), key="gone", on_click=_understood)


def _understood() -> None:
    session.session().lost = ()


def budget_bar(balance: Balance, account: Account) -> None:
    """Spent, held and left as one bar, with the numbers under it."""
    parts = [
        (balance.spent, "#0072B2"),
        (balance.reserved, "#D55E00"),
        (balance.left, "transparent"),
    ]
    label = budget_line(balance, account)
    rho = rho_words(balance, account)
    cells = "".join(
        (
            "<div "
            f'style="width:{100 * units / balance.budget:.3f}%;background:{color};height:14px"></div>'
        )
        for units, color in parts
    )
    bar = "display:flex;border:1px solid #888;border-radius:7px;overflow:hidden"
    st.html(
        f'<div aria-hidden="true" style="{bar}">{cells}</div><small '
        f'title="{rho}">{label}</small>'
    )


def need_data_set() -> DataSet:
    """Return the data set of this tab.

    Without one, show what the page would do, and end it.
    """
    data_set = session.session().data_set
    if data_set is None:
        data_sets_view.ways_to_a_table()
        st.stop()
    return data_set


def need_rows() -> Curator:
    """Return a curator of the table that is being declared, which needs no budget, or
    of the open one.
    """
    draft = session.session().draft
    return (
        need_curator()
        if draft is None or not draft.has_rows
        else reopening.auditable_draft()
    )


def need_curator() -> Curator:
    """Return the curator of this tab.

    Without its rows, ask for them, and end the page.
    """
    data_set = need_data_set()
    curator = session.session().curator
    if curator is None:
        data_sets_view.say_what_for()
        data_sets_view.bring_rows(data_set)
        st.stop()
    return curator


def error_box(error: Exception) -> None:
    """Show what happened, why, and what to do; an unexpected exception is only
    numbered.
    """
    unexpected.box(error)
    if isinstance(error, RowsError):
        rows_view.offer_first_rows()


@contextmanager
def in_line() -> Iterator[None]:
    """Wait, with the place shown, until it is this tab's turn to compute something
    long.
    """
    note = st.empty()
    with queue.runs().turn(
        lambda place: note.caption(
            _("Other runs go first: place {place} in line.").format(place=place)
        ),
    ):
        note.empty()
        yield


def once_in_line(
    curator: Curator,
    key: tuple[Any, ...],
    evaluation: Callable[[], Evaluation[Any, Result]],
    on_progress: OnProgress = silent,
) -> Result:
    """`session.once` for what takes long: it waits for its turn."""
    if key in session.session().reports:
        return session.once(curator, key, evaluation)
    with (
        in_line(),
        rows_view.being_scanned(_("Reading the rows"), key=f"stop reading {key}"),
    ):
        return session.once(curator, key, evaluation, on_progress)


def compute(function: Callable[..., Result], *given: Any) -> Result:
    """Compute a function of a module that reads nothing private in a worker, now."""
    with cancelled_by(session.unwanted()):
        return process.compute(function, *given)


def compute_in_line(function: Callable[..., Result], *given: Any) -> Result:
    """Compute the same when its turn comes."""
    with in_line():
        return compute(function, *given)


def readable(chart: Chart) -> Any:
    """Return the drawing of a chart, with words that can be read on this tab's
    background.
    """
    return charts.readable(chart.spec, dark=session.is_dark())


def show_clickable(
    chart: Chart,
    clicked: session.Selection,
    on_click: Callable[[], None] | Literal["rerun"] = "rerun",
) -> None:
    """Show a chart whose marks can be clicked, with words for those who do not see
    it.
    """
    st.altair_chart(
        readable(chart),
        alt=chart.alt,
        key=clicked.key,
        on_select=on_click,
        selection_mode=clicked.name,
    )


def show_chart(chart: Chart, *, key: str) -> None:
    """Show a chart with words for those who do not see it, and its table under an
    expander.
    """
    st.altair_chart(readable(chart), alt=chart.alt, key=key)
    _twin(chart.table, key=key)


def show_pictures(pictures: Pictures, *, key: str) -> None:
    """Show several charts, below each other on a telephone, with one legend and one
    table for all.
    """
    st.html(
        '<div style="display:flex;flex-wrap:wrap;gap:2px '
        f'14px">{"".join(pictures.legend)}</div>'
    )
    for number, beside in enumerate(pictures.lines):
        for place, (column, chart) in enumerate(
            zip(st.columns(len(beside)), beside, strict=True)
        ):
            column.altair_chart(
                readable(chart), alt=chart.alt, key=f"{key}-{number}-{place}"
            )
    _twin(
        pd.concat([chart.table for beside in pictures.lines for chart in beside]),
        key=key,
    )


def show_page(page: str, *, alt: str) -> None:
    """Show a page of its own in a frame that is foreign to the tab and runs nothing."""
    style = "position:fixed;inset:0;width:100%;height:100%;border:0"
    frame = (
        f'<iframe sandbox="" style="{style}" title="{escape(alt)}" '
        f'srcdoc="{escape(page)}"></iframe>'
    )
    st.iframe(frame, height=620, alt=alt)


def _twin(table: pd.DataFrame, *, key: str) -> None:
    with st.expander(_("The same as a table"), key=f"{key}-twin"):
        show_table(table, key=f"{key}-table")


def show_table(frame: pd.DataFrame, *, key: str | None = None) -> None:
    """Show aggregates with the digits that mean something, thousands separated."""
    numbers = frame.select_dtypes("number").columns
    st.dataframe(
        charts.round_figures(frame),
        hide_index=True,
        key=key,
        column_config={
            name: st.column_config.NumberColumn(format="localized") for name in numbers
        },
    )


def show_rows(frame: pd.DataFrame) -> None:
    """Show rows; a column of whole days is written without a time."""
    times = frame.select_dtypes("datetime")
    days = [
        name
        for name in times.columns
        if (times[name].dropna() == times[name].dropna().dt.normalize()).all()
    ]
    column_config = {
        name: st.column_config.DateColumn(format="YYYY-MM-DD") for name in days
    }
    st.dataframe(frame, hide_index=True, column_config=column_config)


def private_badge(release: Release | PrivateReport) -> None:
    """Show the badge of differentially private results, with their loss and unit."""
    st.badge(
        _("differentially private · {loss} · {unit}").format(
            loss=loss_words(release.guarantee.loss),
            unit=plain(translate_stored(release.guarantee.unit), at_most=200),
        ),
        color="blue",
        icon=":material/verified_user:",
        help=_(GLOSSARY["privacy unit"]),
    )
    for sentence in declared_words(release.guarantee):
        st.caption(sentence)


def internal_badge() -> None:
    """Show the badge of everything that reads the original."""
    st.badge(_(BADGES["internal"]), color="orange", icon=":material/visibility_lock:")
    rows_view.say_first_rows()


def table_uploader(label: str, *, key: str) -> pd.DataFrame | None:
    """Ask for a second table from a file, read once; None, and any error, while there
    is none.
    """
    tab = session.session()
    if (table := tab.tables.get(key)) is not None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.markdown(
            f"{plain(label, at_most=200)}: **{plain(table[0], at_most=100)}**"
        )
        right.button(
            _("Remove"), key=f"{key}-remove", on_click=tab.drop_table, args=(key,)
        )
        return table[1]
    file = file_view.file_uploader(
        label, type=data_sets_view.ENDINGS, key=session.file_field(key).key
    )
    if file is None:
        if key in tab.notices:
            error_box(tab.notices[key])
        return None
    session.renew_file_fields()
    if (read := file_view.read(file.getvalue(), file.name, notice=key)) is not None:
        tab.tables[key] = (file.name, read.table.frame)
    return st.rerun()


def choose(
    label: str,
    titles: Mapping[Value, str],
    *,
    key: str,
    default: Value | None = None,
    **options: Any,
) -> Value:
    """Return one of a few values, chosen by their titles; the first of them unless a
    default is given.
    """
    default = next(iter(titles)) if default is None else default
    value: Value = by_title(
        st.segmented_control,
        label,
        titles,
        default=default,
        required=True,
        key=key,
        **options,
    )
    return value


def by_title(
    field: Callable[..., Any],
    label: str,
    titles: Mapping[Value, str],
    *given: Any,
    **options: Any,
) -> Any:
    """Ask by a field of Streamlit for one value or for several, each of which is shown
    by its title.
    """
    return field(label, list(titles), *given, format_func=titles.__getitem__, **options)


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show an error of the library that ends the block, and go on after it."""
    try:
        yield
    except DpcoreError as error:
        error_box(error)


def show_notice(page: str) -> None:
    """Show once the error that happened in a callback of a page."""
    if (error := session.session().notices.pop(page, None)) is not None:
        error_box(error)


def show_link_ready(words: str, root: str) -> None:
    """Say that links were made; in orange, with the ways to serve others, where they
    open here only.
    """
    if addresses.is_here_only(root):
        st.warning(
            f"{words} {_(LINKS['here only'])} {_(LINKS['ways'])}",
            icon=":material/computer:",
        )
    else:
        st.success(words)


def choose_readable(names: Sequence[str], matrix: Any, *, key: str) -> list[int]:
    """Return positions of the columns to be drawn; of many, those with the largest
    entries or a choice.
    """
    if len(names) <= READABLE:
        return list(range(len(names)))
    off = np.where(
        np.eye(len(names), dtype=bool), np.nan, np.asarray(matrix, dtype=float)
    )
    known = np.isfinite(off)
    means = np.where(known, off, 0).sum(axis=1) / np.maximum(1, known.sum(axis=1))
    order = [names[i] for i in np.argsort(-means, kind="stable")]
    shown_names = st.multiselect(
        _(
            "Columns in the picture: of {all}, those with the largest errors at first"
        ).format(all=len(names)),
        order,
        order[:READABLE],
        key=key,
        max_selections=2 * READABLE,
    )
    return [list(names).index(name) for name in shown_names]


def show_noise(
    model: SyntheticModel, *, shown: list[int] | None = None, end: float | None = None
) -> None:
    """Show the error of every pair that the noise alone explains.

    Args:
        shown, end: columns and darkest error of a map beside it.
    """
    errors = model.noise_errors()
    columns = tuple(errors.columns)
    pairs = errors.to_numpy()
    if len(columns) < 2:
        st.info(_("This release has one column only."))
        return
    if shown is None:
        shown = choose_readable(columns, pairs, key="noise-columns")
    names = [columns[i] for i in shown]
    chart = charts.heatmap(
        names, pairs[np.ix_(shown, shown)], title=_("error by noise"), end=end
    )
    show_chart(chart, key="noise")
    st.caption(
        _(
            "Expected total variation distance of each pair by noise alone. It was "
            "computed from the release "
            "and may be published. White pairs have no table of their own.",
        ),
    )
