"""A stored release: its figures, rows, files and guarantee."""

from typing import Any

import streamlit as st

from dpcore.accounting.loss import Loss
from dpcore.errors import DpcoreError
from dpcore.release import MAX_UNCERTAIN_ROWS, Release
from dpcore.synthesis import (
    Figures,
    GaussianModel,
    SyntheticModel,
    attacker_limits,
    queryable_columns,
)
from workbench import session
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _, capital, decimal_sign, name_and_text
from workbench.language.textbook_names import textbook_names
from workbench.language.wording import (
    COUNTED_WORDS,
    attacker_words,
    counted_rows_words,
    escape_markdown,
    guarantee_words,
    other_half_words,
)
from workbench.report import of_release
from workbench.report.downloads import guarantee_json
from workbench.report.explore import is_explorable
from workbench.report.files import release_file
from workbench.report.sentences import view_of_release
from workbench.server.workers import drawing
from workbench.store.ledger.datasets import DataSet, public_name
from workbench.store.sources import places
from workbench.synthesize import (
    entry_view,
    figures_view,
    model_view,
    pooling_view,
    record_view,
    tables_view,
    verdict_view,
)
from workbench.synthesize.script import (
    counts_file,
    job_of,
    rows_to_draw,
    write_job_notebook,
    write_script,
)
from workbench.synthesize.state import SynthesizeState
from workbench.ui import (
    file_view,
    folder_view,
    progress_view,
    questions_view,
    releases,
    widgets,
)


def show(data_set: DataSet, request_id: str) -> None:
    """Show a release with its charts, rows to draw, downloads and promise."""
    try:
        release = data_set.release(request_id)
    except DpcoreError as error:
        widgets.error_box(error)
        st.button(_("Back"), on_click=session.session().runs.show, args=(None,))
        return
    what = releases.describe_of_view(release.recipe, request_id)
    st.title(escape_markdown(what, max_length=200))
    widgets.show_private_badge(release)
    if release.part is not None:
        st.markdown(
            name_and_text(
                _("Only rows with"), " = ".join(map(escape_markdown, release.part))
            )
        )
    if counted := counted_rows_words(release.schema.unit):
        st.caption(counted)
    mine = session.ledger().is_mine(data_set.id)
    with st.container(horizontal=True):
        st.button(
            _("Release something else"),
            on_click=session.session().runs.show,
            args=(None,),
            icon=":material/arrow_back:",
        )
        if mine and st.button(_("Show it to somebody"), icon=":material/link:"):
            session.leave_note(session.ShowRelease(request_id=request_id))
            st.switch_page(session.page_script("links"))
        stem, seen_view = releases.split_view(request_id)
        if releases.is_pair(data_set, stem):
            st.button(
                _(releases.LINKED_TITLE),
                icon=":material/account_tree:",
                on_click=session.session().runs.show,
                args=(stem,),
            )
        # Evaluate offers no release of a part: it would be held against all rows.
        if (
            mine
            and release.part is None
            and st.button(_("Compare with the original"), icon=":material/balance:")
        ):
            if seen_view and session.session().linked is not None:
                session.session().look_at(seen_view)
            st.switch_page(session.page_script("evaluate"))
        # The popover is filled last, because its files hold the rows that are drawn
        # below.
        files = st.popover(
            _("Download"), icon=":material/download:", key="release-files"
        )
    if mine:
        verdict_view.show(data_set, releases.curator_for(request_id), release)
    drawn: _DrawnRows | None = None
    if isinstance(release.model, SyntheticModel):
        with widgets.catch_and_show_errors():
            drawn = _show_drawn_rows(data_set, release)
        model_view.show(release, release.model)
    elif isinstance(release.model, Figures):
        figures_view.show_figures(data_set, release, release.model)
    else:
        tables_view.show(release)
    if isinstance(release.model, GaussianModel):
        figures_view.show_classes(release, release.model)
    if queryable_columns(release):
        st.caption(textbook_names("range query"))
        with st.expander(_("How many rows fit?"), key="ask-release"):
            questions_view.ask_row_count(release, key="asked")
    if release.model.columns and not isinstance(release.model, SyntheticModel):
        with widgets.catch_and_show_errors():
            drawn = _show_drawn_rows(data_set, release)
    with st.expander(_("What is promised and what is not"), expanded=True):
        first, *others = guarantee_words(release.guarantee)
        limits = attacker_words(attacker_limits(release))
        for sentence in (first, limits, *others):
            st.markdown(f"- {sentence}")
        both: Loss | None = None
        with widgets.catch_and_show_errors():
            both = releases.loss_of_pair(data_set, request_id)
        if both is not None:
            st.warning(other_half_words(both), icon=":material/account_tree:")
    _show_expert_tools(data_set, release, drawn)
    with files:
        _offer_files(data_set, release, drawn, both)


_DrawnRows = tuple[Release, int, int, tuple[Any, ...]]
"""Source release, number of rows, number of earlier draws, and cache key."""


def _show_expert_tools(
    data_set: DataSet, release: Release, drawn: _DrawnRows | None
) -> None:
    st.header(_("For experts"))
    name = public_name(data_set.lines())
    entry_view.show(name, release)
    if drawn is not None:
        record_view.show(releases.curator_for(release.request_id), *drawn)
    if release.model.columns:
        pooling_view.show(name, release)


def _offer_files(
    data_set: DataSet, release: Release, drawn: _DrawnRows | None, both: Loss | None
) -> None:
    """Offer the files of a release: to read, as tables, and for programs.

    Args:
        both: of one half of a release of linked tables, the loss of both halves.
    """
    st.caption(_("All of this may be published. Nothing is charged."))
    name = public_name(data_set.lines())

    def offer(
        label: str, data: Any, what: str, ending: str, icon: str, help: str = ""
    ) -> None:
        file_view.download(
            label,
            data,
            release_file(name, release, what, ending),
            icon=icon,
            help=help or None,
            width="stretch",
        )

    st.markdown(f"**{_('To read')}**")
    report = _("Download as one HTML file")
    offer(
        report,
        lambda: of_release.stand_alone_page(release, both),
        "report",
        "html",
        "description",
    )
    if is_explorable(release):
        offer(
            _("Interactive page (an HTML file that cannot be revoked)"),
            lambda: of_release.interactive_file(release, both),
            "explore",
            "html",
            "filter_alt",
        )
    if release.marginals or drawn is not None:
        st.markdown(f"**{_('Tables')}**")
    if release.marginals:
        offer(
            f"{capital('counts with their intervals')} (CSV)",
            lambda: counts_file(release),
            "counts",
            "csv" if len(release.marginals) == 1 else "zip",
            "table_chart",
        )
    if drawn is not None:
        source, rows, draw, _key = drawn
        sign = decimal_sign()
        offer(
            f"{capital('drawn rows')} (CSV)",
            lambda: drawing.csv_file(source, rows, draw),
            "rows",
            "csv",
            "table_rows",
        )
        offer(
            _("Drawn rows (CSV for spreadsheets)"),
            lambda: drawing.csv_file(source, rows, draw, spreadsheet_decimal=sign),
            "rows spreadsheet",
            "csv",
            "table_rows",
        )
        offer(
            f"{capital('drawn rows')} (Excel)",
            lambda: drawing.xlsx_file(source, rows, draw),
            "rows",
            "xlsx",
            "table_rows",
        )
        offer(
            f"{capital('drawn rows')} (Parquet)",
            lambda: drawing.parquet_file(
                source, rows, guarantee_json(source, both), draw
            ),
            "rows",
            "parquet",
            "table_rows",
        )
    st.markdown(f"**{_('For programs')}**")
    offer(
        f"{capital('the guarantee')} (JSON)",
        lambda: guarantee_json(release, both),
        "guarantee",
        "json",
        "verified_user",
    )
    offer(
        _("Noisy counts and model (JSON)"),
        release.to_json,
        "release",
        "json",
        "data_object",
    )
    job = job_of(data_set, release)
    if job is None:
        return
    of_script = rows_to_draw(release)
    offer(
        _("Script (Python)"),
        lambda: write_script(*job, of_script),
        "script",
        "py",
        "code",
    )
    offer(
        _("Notebook"),
        lambda: write_job_notebook(*job, of_script),
        "notebook",
        "ipynb",
        "menu_book",
    )
    offer(
        _("Download as a job (JSON)"),
        job[0].to_json(),
        "job",
        "json",
        "terminal",
        _(
            "Makes the same release on the command line, where the data is: python "
            "-m workbench release job.json --to release.json"
        ),
    )


def _show_drawn_rows(data_set: DataSet, release: Release) -> _DrawnRows:
    st.header(_("Draw a table"), help=_(GLOSSARY["post-processing"]))
    if releases.has_independent_columns(release):
        st.warning(
            _(
                "The columns of drawn rows are independent, because this release "
                "counts each column by itself. It means nothing that two values are "
                "in the same row. To keep relations between columns, release a "
                "whole table."
            ),
            icon=":material/link_off:",
        )
    st.caption(textbook_names("drawn rows"))
    cells = model_view.choose_cells(release)
    release = release.given(cells) if cells else release
    suggested = min(max(0, round(release.model.total)), 1_000_000)
    if suggested > MAX_UNCERTAIN_ROWS and not release.has_reliable_row_count:
        st.warning(_("The number of rows is mostly noise. Say how many rows to draw."))
        suggested = 1_000
    rows = int(
        st.number_input(
            capital(COUNTED_WORDS[view_of_release(release) or "rows"]),
            0,
            1_000_000,
            suggested,
            key=f"rows-{release.request_id}-{suggested}",
        ),
    )
    state = session.own(SynthesizeState)
    draw = state.draws.get(release.request_id, 0)
    key = (release.request_id, str(cells), rows, draw)
    shown = session.compute_once(
        ("drawn", *key),
        lambda: progress_view.compute_in_worker(
            drawing.draw_first_rows, release, rows, draw
        ),
    )
    widgets.show_rows(shown, alt=_("The first drawn rows"))
    if any(column.is_interval for column in release.schema.columns):
        st.caption(
            _(
                "A drawn row may contain values that nobody has, such as an age "
                "that does not occur in the table, because empty cells get noise "
                "too."
            )
        )
    st.button(
        _("Draw other rows"),
        on_click=state.draw_again,
        args=(release.request_id,),
        key="draw-again",
    )
    st.caption(
        _(
            "Do not test hypotheses on a drawn table, because it does not show its "
            "noise. Instead, release one table that counts the columns of the test "
            "together.",
        ),
        help=_(
            "In the test, treat each cell as one row that represents its n measured "
            "people. Use the variance n + s², where s is the standard deviation of "
            "a cell as stated in the guarantee (JSON).",
        ),
    )
    _offer_folder(data_set, release)
    return release, rows, draw, key


def _offer_folder(data_set: DataSet, release: Release) -> None:
    """Offer to write a larger table on the server, if the settings name a place."""
    if not places.can_write_tables():
        return
    with st.expander(_("Write a table of any size on the server"), key="folder"):
        rows = int(
            st.number_input(
                capital("rows"), 1, 1_000_000_000, 10_000_000, key="folder-rows"
            )
        )
        folder_view.offer_folder(
            _("Write a table of any size on the server"),
            release_file(
                public_name(data_set.lines()), release, "rows", "parquet"
            ).removesuffix(".parquet"),
            lambda place: drawing.write_folder(release, rows, place),
            key="synthetic",
        )
