"""Parts of the Anonymize page: the frontier, before and after, roles, hierarchies, the guided example."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
import streamlit as st

from dpcore.anonymize.hierarchy import Hierarchy
from dpcore.anonymize.plan import ROLES, Plan
from dpcore.curator import Curator
from dpcore.errors import DpcoreError, HierarchyError
from dpcore.evaluation.anonymization import TrialReport
from dpcore.io.export import to_csv, to_parquet
from dpcore.release import AnonymizedTable
from workbench import anonymizing, examples, state, widgets
from workbench.anonymizing import Work
from workbench.auditing import percent
from workbench.wording import GLOSSARY, _, number, plain


def frontier(curator: Curator, work: Work, plan: Plan) -> None:
    """What every k would cost; a click chooses."""
    with st.spinner(_("Looking at every combination of levels")):
        found = anonymizing.frontier(curator, work, plan)
    if isinstance(found, DpcoreError):
        widgets.error_box(found)
        seconds = found.details.get("seconds", anonymizing.LONG_SECONDS)
        label = _("Compute it all the same, about {seconds:.0f} s").format(seconds=seconds)
        if seconds < anonymizing.LONG_SECONDS and st.button(label):
            work.wants_frontier = True
            st.rerun()
        return
    if not found.points:
        st.warning(_("No combination meets these demands. Allow more suppression, or ask for less."))
        return
    st.markdown(_("**What each k costs: lower is better, further right is safer.**"))
    chart = anonymizing.frontier_chart(found)
    st.altair_chart(chart.spec, alt=chart.alt, key="frontier", on_select=_choose, selection_mode="chosen")
    with st.expander(_("The same as a table")):
        st.dataframe(chart.table, hide_index=True)
    st.caption(
        _("{nodes:,} combinations of levels were looked at. Click a point to choose it.").format(
            nodes=found.prediction.nodes
        )
    )


def _choose() -> None:
    chosen = state.widget("frontier")["selection"].get("chosen") or []
    if chosen:
        state.set_widget("anonymize-k", int(chosen[0]["k"]))
        state.set_widget("anonymize-limit", int(str(chosen[0]["limit"]).rstrip("%")) / 100)


def before_and_after(curator: Curator, work: Work, plan: Plan) -> None:
    """Risk and utility side by side, and what is not promised."""
    st.header(_("Before and after"))
    widgets.internal_badge()
    try:
        with st.spinner(_("Trying it out")):
            report = anonymizing.trial(curator, work, plan)
    except DpcoreError as error:
        widgets.error_box(error)
        return
    _figures(report)
    left, right = st.columns(2)
    with left:
        widgets.show_chart(anonymizing.sizes_chart(report), key="sizes")
    with right:
        st.dataframe(anonymizing.columns_table(report), hide_index=True)
    with st.container(border=True):
        st.subheader(_("What this does not promise"))
        for sentence in anonymizing.warnings(curator, report):
            st.markdown(f"- {sentence}")


def _figures(report: TrialReport) -> None:
    unique, risk, loss, hidden = st.columns(4)
    unique.metric(
        _("Unique rows"),
        percent(report.after.risk.uniques),
        _("before {share}").format(share=percent(report.before.risk.uniques)),
        delta_color="off",
        delta_arrow="off",
    )
    risk.metric(
        _("Highest risk"),
        percent(report.after.risk.highest),
        _("before {share}").format(share=percent(report.before.risk.highest)),
        delta_color="off",
        delta_arrow="off",
    )
    loss.metric(_("Generalized (NCP)"), percent(report.quality.ncp), help=GLOSSARY["information loss"])
    hidden.metric(_("Suppressed rows"), percent(report.quality.suppressed), help=GLOSSARY["suppression"])
    st.caption(
        _("The smallest group has {k} rows, the average group {average}.").format(
            k=report.quality.k, average=number(report.quality.average_class)
        )
    )


def result(made: AnonymizedTable) -> None:
    """The table that was made, with its plan."""
    st.success(_("The anonymized table is ready. The ledger notes it, outside differential privacy."))
    st.dataframe(made.table.frame.head(200), hide_index=True)
    with st.container(horizontal=True):
        st.download_button(
            "CSV",
            lambda: to_csv(made.table),
            "anonymized.csv",
            "text/csv",
            on_click="ignore",
            icon=":material/download:",
        )
        st.download_button(
            "Parquet",
            lambda: to_parquet(made.table, {"guarantee": json.dumps(made.guarantee.to_dict())}),
            "anonymized.parquet",
            on_click="ignore",
            icon=":material/download:",
        )
        st.download_button(
            _("Plan (JSON, internal)"),
            made.plan,
            "plan.json",
            "application/json",
            on_click="ignore",
            icon=":material/description:",
            help=_("Makes the same table again. It lists values of the original: do not publish it."),
        )


def roles(curator: Curator, work: Work) -> None:
    """What each column is to a person; editable."""
    with st.expander(_("Roles of the columns"), expanded=False):
        st.write(
            _(
                "Identifiers are dropped, quasi-identifiers generalized, sensitive and other columns "
                "kept as they are."
            )
        )
        grid = st.data_editor(
            anonymizing.roles_grid(curator),
            key=f"roles-{curator.account.dataset[:12]}",
            hide_index=True,
            disabled=["column", "why"],
            column_config={
                "column": _("column"),
                "role": st.column_config.SelectboxColumn(_("role"), options=ROLES, required=True),
                "why": st.column_config.TextColumn(_("why suggested"), width="large"),
            },
            alt=_("One line a column: its role and why it was suggested"),
        )
        before = dict(work.roles)
        anonymizing.set_roles(work, grid)
        if work.roles != before:
            st.rerun()


def hierarchies(work: Work) -> None:
    """How each quasi-identifier becomes coarser; editable, with undo."""
    names = anonymizing.quasi_identifiers(work)
    if not names:
        return
    with st.expander(_("How values become coarser"), expanded=False):
        name = st.selectbox(_("Column"), names, key="hierarchy-column")
        hierarchy = work.hierarchies[name]
        st.caption(plain(hierarchy.reason, at_most=300))
        grid = st.data_editor(
            anonymizing.hierarchy_grid(hierarchy),
            key=f"hierarchy-{name}-{work.version}",
            hide_index=True,
            disabled=[_("value")],
            alt=_("One line a value, one column a level"),
        )
        with st.container(horizontal=True):
            if st.button(_("Use the edited levels"), key="hierarchy-use"):
                _take(work, name, lambda: anonymizing.hierarchy_from_grid(grid))
            st.button(
                _("Undo"),
                disabled=not work.before.get(name),
                on_click=anonymizing.undo,
                args=(work, name),
                icon=":material/undo:",
            )
            st.download_button(
                _("Export (value;level 1;…;*)"),
                hierarchy.to_csv(),
                "hierarchy.csv",
                "text/csv",
                on_click="ignore",
            )
        file = st.file_uploader(
            _("Or import a file: one line a value, value;level 1;…;*"),
            type=["csv", "txt"],
            key=f"import-{name}-{work.version}",
        )
        if file is not None:
            _import(work, name, file.getvalue())


def _import(work: Work, name: str, data: bytes) -> None:
    """Take a hierarchy from a file; values without a line in it are shown, not taken."""
    try:
        hierarchy = Hierarchy.from_csv(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        widgets.error_box(HierarchyError("the file is not UTF-8 text", remedy="save it as UTF-8"))
        return
    except DpcoreError as error:
        widgets.error_box(error)
        return
    missing = sorted(set(work.hierarchies[name].values) - set(hierarchy.values))
    if missing:
        st.error(
            _("The file has no line for some values of the column. Add lines for these, then import again:")
        )
        st.dataframe(pd.DataFrame({_("value"): missing}), hide_index=True)
        return
    _take(work, name, lambda: hierarchy)


def _take(work: Work, name: str, read: Callable[[], Hierarchy]) -> None:
    try:
        anonymizing.replace_hierarchy(work, name, read())
    except DpcoreError as error:
        widgets.error_box(error)
        return
    st.rerun()


def guided_example() -> None:
    """The small tables of a textbook, step by step."""
    with st.expander(_("A guided example on four rows")):
        for step in examples.STEPS:
            st.markdown(f"**{step.title}**")
            left, right = st.columns([2, 3])
            left.dataframe(step.frame(), hide_index=True)
            right.write(step.text())
