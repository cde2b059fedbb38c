"""The header line of every page: the data set, its people and its budget."""

import streamlit as st

from dpcore.accounting.ledger import Account, Balance
from dpcore.errors import DpcoreError
from workbench import session
from workbench.language.budget import budget_line, exact_budget_words
from workbench.language.messages import _, join_with_commas
from workbench.language.wording import escape_markdown, unit_words
from workbench.session import person
from workbench.store.ledger.datasets import DataSet
from workbench.ui import progress_view, releases, unexpected, widgets

DATA_SET_FIELD = session.Widget[str]("header-dataset")
VIEW_FIELD = session.Widget[str]("header-view")
_DARK_TEXT_SELECTORS = (
    "[data-testid=stSliderThumbValue]",
    "[role=radio][data-selected=true]",
)
"""Selectors of words in the theme's button color, too dark on a dark page."""


def show_header(*, is_declaring: bool) -> None:
    """Show the data set, who is protected, and the budget as a bar of three parts.

    If the ledger does not answer, the page ends here and says so.

    Args:
        is_declaring: whether the page declares tables; it then names the draft.
    """
    tab = session.session()
    _say_lost_tables(tab)
    is_choosing = session.own(session.TableChoice).is_open
    # The table that is being declared is not the open table.
    if is_declaring and (tab.draft is not None or is_choosing):
        if tab.draft is not None:
            tables = tab.linked_draft.tables if tab.linked_draft else [tab.draft]
            names = join_with_commas(escape_markdown(table.name) for table in tables)
            st.markdown(_("**{name}** · not opened yet").format(name=names))
        return
    data_set = tab.data_set
    if data_set is None:
        return
    # Read this before the balance, so that a run which ends in between causes a redraw.
    busy = tab.is_busy()
    try:
        balance = data_set.balance()
    except DpcoreError as error:
        unexpected.show_error(error)
        st.stop()
    words = unit_words(data_set.unit, is_linked=data_set.is_linked) + (
        ""
        if tab.curator
        else " · "
        + (
            _("rows not loaded: open them on the Data page")
            if data_set.account.source
            else _("rows not loaded: upload both files")
            if data_set.is_linked
            else _("rows not loaded: upload the file")
        )
    )
    unit = escape_markdown(words, max_length=120)
    left, middle, right = st.columns([9, 10, 3], vertical_alignment="center")
    with left:
        if len(tab.data_sets) > 1:
            DATA_SET_FIELD.put(data_set.id)
            st.selectbox(
                _("Data set"),
                list(tab.data_sets),
                format_func=lambda dataset: tab.data_sets[dataset].name,
                key=DATA_SET_FIELD.key,
                on_change=lambda: tab.choose(DATA_SET_FIELD.current_value() or ""),
            )
            st.caption(unit)
        else:
            st.markdown(f"**{escape_markdown(data_set.name)}**  \n:small[{unit}]")
        if tab.linked is not None:
            VIEW_FIELD.put(session.view_of(tab.curator, tab.linked))
            widgets.ask_by_title(
                st.segmented_control,
                _("Look at"),
                {"people": _("people"), "events": _("events")},
                required=True,
                key=VIEW_FIELD.key,
                on_change=lambda: tab.look_at(VIEW_FIELD.current_value() or "people"),
            )
    with middle:
        show_budget_bar(balance, data_set.account)
        if busy or balance.reserved:
            _watch_budget(data_set, tab, (busy, balance))
    if person.is_steward():
        right.page_link(
            session.page_script("ledger"),
            label=_("Ledger"),
            icon=":material/receipt_long:",
        )


def _watch_budget(
    data_set: DataSet, tab: session.Session, drawn: tuple[bool, Balance]
) -> None:
    """Redraw the page when the budget changes; until then list the current runs."""
    progress_view.redraw_when(lambda: (tab.is_busy(), data_set.balance()) != drawn)
    for what in releases.describe_running(data_set):
        words = _("In progress: {what}. This page updates when it is ready.")
        st.caption(words.format(what=escape_markdown(what, max_length=160)))


def inject_css() -> None:
    """Lighten the few words of a dark page that have the color of buttons."""
    if session.is_dark():
        marked = ", ".join(f"{selector} p" for selector in _DARK_TEXT_SELECTORS)
        st.html(f"<style>{marked} {{ color: #7FC4EE; }}</style>")


def _say_lost_tables(tab: session.Session) -> None:
    """Say why an open table was removed from memory, and how to open it again."""
    back = _(
        "The record of what was spent and the releases are kept. Open the same "
        "table again to continue."
    )
    if tab.dropped_tables is None:
        gone = _(
            "This tab lost its connection to the server: the server was restarted, "
            "or the tab was inactive for too long."
        )
    elif tab.dropped_tables:
        gone = _(
            "This tab was idle for a while, so the rows of {names} were removed from "
            "memory."
        ).format(
            names=join_with_commas(
                escape_markdown(name, max_length=80) for name in tab.dropped_tables
            ),
        )
    else:
        return
    st.warning(f"{gone} {back}", icon=":material/history:")
    st.button(_("Understood"), key="gone", on_click=_forget_lost_tables)


def _forget_lost_tables() -> None:
    session.session().dropped_tables = ()


def show_budget_bar(balance: Balance, account: Account) -> None:
    """Show the spent, reserved and remaining budget as one bar, with numbers below."""
    parts = [
        (balance.spent, "#0072B2"),
        (balance.reserved, "#D55E00"),
        (balance.remaining_units, "transparent"),
    ]
    label = budget_line(balance, account)
    exact = exact_budget_words(balance, account)
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
        f'title="{exact}">{label}</small>'
    )
