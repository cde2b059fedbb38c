"""The Tables page: choices, the table with its marks, and its files."""

from __future__ import annotations

import streamlit as st

from dpcore.curator import Curator
from dpcore.suppression import PRESETS, ExactTable, PublishedTable, Rule
from workbench import session
from workbench.language.messages import _, translate_table
from workbench.language.wording import plain
from workbench.report.files import file_name
from workbench.store.ledger.datasets import public_name
from workbench.tables import state
from workbench.tables.state import TablesState
from workbench.ui import exact_tables, file_view, progress_view, widgets

NO_COLUMN = ""


def choose_columns(curator: Curator) -> tuple[str, ...]:
    """Ask for the rows and the columns of the table."""
    names = state.countable_columns(curator)
    rows = st.selectbox(_("Rows"), names, key="tables-rows", persist_state="session")
    others = [NO_COLUMN, *(name for name in names if name != rows)]
    columns = st.selectbox(
        _("Columns"),
        others,
        index=min(1, len(others) - 1),
        format_func=lambda name: name or _("none: one column alone"),
        key="tables-columns",
        persist_state="session",
    )
    return (rows, columns) if columns else (rows,)


def choose_rule() -> Rule:
    """Ask for a preset, or the number of a rule of one's own."""
    titles = translate_table(
        {name: exact_tables.PRESET_NAMES[name] for name in PRESETS}
    )
    titles["own"] = _("a rule of your own")
    name = widgets.ask_by_title(st.selectbox, _("Rule"), titles, key="tables-rule")
    if name in PRESETS:
        return PRESETS[name]
    threshold = st.number_input(
        _("Fewest people in a shown cell"), 2, 10_000, 10, key="tables-threshold"
    )
    return Rule(
        threshold=int(threshold),
        hide_zeros=st.checkbox(_("Hide empty cells too"), key="tables-zeros"),
        hide_full=st.checkbox(
            _("Hide that a whole group is in one cell"), key="tables-full"
        ),
        members=st.checkbox(
            _("Readers may know who is in which cell"), key="tables-members"
        ),
    )


def make_button(
    curator: Curator, current: TablesState, columns: tuple[str, ...], rule: Rule
) -> None:
    """Make the table at a click, with a bar."""
    if not st.button(_("Make the table"), type="primary"):
        return
    stages = {
        "suppressing": _("choosing what to hide"),
        "attacking": _("trying to tell what is hidden"),
        "bounding": _("measuring how closely it can be told"),
    }
    with progress_view.show_progress(
        _("Making the table"), stages, key="stop-table"
    ) as tell:
        state.make(curator, current, columns, rule, tell)


def show(
    curator: Curator, current: TablesState, columns: tuple[str, ...], rule: Rule
) -> None:
    """Show the table, what it tells and does not promise, and its files."""
    if current.made is None:
        return
    made = current.made.content
    table = made.published
    if (made.plan.names, made.plan.rule) != (columns, rule):
        st.warning(_("This table was made under earlier settings. Make it again."))
    if current.published is None:
        widgets.internal_badge()
    widgets.show_table(exact_tables.crosstab(table), alt=_("Exact table"))
    for sentence in exact_tables.exceptions(table):
        st.caption(plain(sentence, at_most=600))
    if words := state.noise_words(curator, made):
        st.info(words)
    with st.container(border=True):
        st.header(_("What this does not promise"))
        sentences = exact_tables.not_promised(table, len(made.attacked))
        st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
    if current.published is None:
        st.button(
            _("Accept and publish"),
            type="primary",
            icon=":material/publish:",
            on_click=state.accept,
            args=(curator, current),
            help=_(
                "The table is attacked once more before it is published. The "
                "ledger notes it outside the total, and every guarantee of "
                "this data set will mention it."
            ),
        )
    else:
        st.success(
            _(
                "The table is published: the ledger notes it, and every guarantee of "
                "this data set says so."
            )
        )
        offer(public_name(curator.lines()), current.published, made)
    with st.expander(_("Hidden counts, and how closely they can be told")):
        widgets.internal_badge()
        widgets.show_table(
            exact_tables.hidden_cells(made),
            alt=_("Hidden counts, and how closely they can be told"),
        )


def offer(name: str, table: PublishedTable, made: ExactTable) -> None:
    """Offer the table as files, and the report to its owner."""
    what = f"exact table {' '.join(table.layout.columns)}"
    with st.container(horizontal=True):
        file_view.download("CSV", table.to_csv(), file_name(name, what, "csv"))
        file_view.download("JSON", table.to_json(), file_name(name, what, "json"))
        file_view.download(
            _("Download as one HTML file"),
            lambda: exact_tables.public_page(table, len(made.attacked)),
            file_name(name, what, "html"),
            icon="description",
        )
        file_view.download(
            _("Report (HTML, internal)"),
            lambda: exact_tables.report_page(made),
            file_name(name, f"{what} internal", "html"),
            icon="signature",
        )
        file_view.download(
            _("Plan (JSON, internal)"),
            made.plan.to_json(),
            file_name(name, f"plan {what}", "json"),
            icon="description",
        )


def earlier_tables(curator: Curator) -> None:
    """Name the tables that every new one is attacked with."""
    names = [plain(table.name) for table in curator.exact_tables()]
    if names:
        st.caption(
            _("Published before, and attacked together with this one: {names}.").format(
                names=", ".join(names)
            )
        )


def state_of_tab() -> TablesState:
    """Return the state of this page in this tab."""
    return session.own(TablesState)
