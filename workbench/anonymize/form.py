"""Editable tables of roles and hierarchies, with undo, import and export."""

import dataclasses

import pandas as pd
import streamlit as st

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.plan import Plan
from dpcore.curator import Curator
from dpcore.schema.role import ROLES
from workbench.anonymize import plans, rules_view, state
from workbench.anonymize.state import AnonymizeState
from workbench.language.messages import _, capital, join_with_commas, translate
from workbench.language.wording import ROLE_WORDS, escape_markdown
from workbench.report.files import file_name
from workbench.server.workers import reading
from workbench.ui import file_view, widgets


def edit_roles(curator: Curator, page_state: AnonymizeState) -> None:
    """Show the roles of all columns in an editable table."""
    names = page_state.quasi_identifiers
    secret = page_state.sensitive_columns
    label = _(plans.MESSAGES["roles"]).format(known=len(names), secret=len(secret))
    with st.expander(label, key="roles", expanded=not names):
        st.write(_(plans.MESSAGES["what roles do"]))
        grid = st.data_editor(
            state.roles_grid(curator, page_state),
            key=f"roles-{page_state.version}",
            hide_index=True,
            disabled=["column", "why"],
            column_config={
                "column": _("column"),
                "role": st.column_config.SelectboxColumn(
                    _("role"),
                    options=ROLES,
                    required=True,
                    format_func=lambda role: _(ROLE_WORDS[str(role)]),
                ),
                "why": st.column_config.TextColumn(_("why suggested"), width="large"),
            },
            alt=label,
        )
        if page_state.set_roles(dict(zip(grid["column"], grid["role"], strict=True))):
            st.rerun()


def ask_undecided(page_state: AnonymizeState) -> None:
    """Ask which undecided columns may be published as they are."""
    names = page_state.undecided_columns
    st.warning(
        _(
            "**Decide about {columns} first: do these texts name people?** That "
            "their values are publicly known does not answer it: first names are, "
            "too. If you are not sure, look at them on the Data page."
        ).format(columns=escape_markdown(join_with_commas(names), max_length=300)),
    )
    published = st.multiselect(
        _("Publish as they are"),
        names,
        format_func=escape_markdown,
        key=f"anonymize-undecided-{page_state.version}",
        help=_("The other columns are left out. You can change every role below."),
    )
    rest = [name for name in names if name not in published]
    label = (
        _("Leave out {columns}").format(
            columns=escape_markdown(join_with_commas(rest), max_length=100)
        )
        if rest
        else _("Publish them as they are")
    )
    st.button(
        label, type="primary", on_click=page_state.decide_columns, args=(published,)
    )


def edit_hierarchies(page_state: AnonymizeState) -> None:
    """Show the hierarchy of one column in an editable table."""
    names = page_state.hierarchy_columns
    if not names:
        return
    with st.expander(_("How values become coarser"), key="hierarchies"):
        name = st.selectbox(capital("column"), names, key="hierarchy-column")
        hierarchy = page_state.hierarchies[name]
        if hierarchy.reason:
            st.caption(escape_markdown(translate(hierarchy.reason), max_length=300))
        rules_view.ask_rule(page_state, name)
        grid = st.data_editor(
            state.hierarchy_grid(hierarchy),
            key=f"hierarchy-{name}-{page_state.version}",
            hide_index=True,
            disabled=[_("value")],
            alt=_("How values become coarser"),
        )
        with st.container(horizontal=True):
            wanted = st.button(_("Use these levels"), key="hierarchy-use")
            st.button(
                _("Undo"),
                disabled=not page_state.earlier_hierarchies.get(name),
                on_click=page_state.undo,
                args=(name,),
                icon=":material/undo:",
            )
            file_view.download(
                f"{_('How values become coarser')} (CSV)",
                hierarchy.to_csv(),
                file_name(name, "hierarchy", "csv"),
            )
        if wanted:
            with widgets.catch_and_show_errors():  # an error leaves the grid as it is
                page_state.replace_hierarchy(name, state.hierarchy_from_grid(grid))
                st.rerun()
        file = file_view.file_uploader(
            _("Or import a file: one line per value, value;level 1;…;*"),
            type=["csv", "txt"],
            key=f"import-{name}-{page_state.version}",
        )
        if file is not None:
            with widgets.catch_and_show_errors():
                _import_hierarchy(
                    page_state, name, reading.read_hierarchy(file.getvalue())
                )


def load_plan(page_state: AnonymizeState) -> None:
    """Ask for the plan of an earlier table and use it."""
    with st.expander(_("A plan made earlier")):
        file = file_view.file_uploader(
            _("Plan (JSON, internal)"),
            type=["json"],
            key=f"plan-{page_state.version}",
        )
        if file is not None:
            with widgets.catch_and_show_errors():
                page_state.load_plan(reading.read_plan(file.getvalue()))
                st.rerun()


def show_loaded_plan(curator: Curator, page_state: AnonymizeState, plan: Plan) -> bool:
    """Show a loaded plan; return whether it covers all values of the table."""
    st.markdown(_("A plan made earlier"))
    st.write(
        escape_markdown(plans.plan_words(plan, map(str, plan.models)), max_length=500)
    )
    unknown = page_state.find_new_values(curator, plan)
    if unknown:
        st.warning(
            _(plans.MESSAGES["unknown values"]).format(
                columns=escape_markdown(join_with_commas(unknown), max_length=200)
            )
        )
        lines = [(name, value) for name, values in unknown.items() for value in values]
        st.dataframe(
            pd.DataFrame(lines, columns=[_("column"), _("value")]),
            hide_index=True,
            alt=_("Values that the plan does not cover"),
        )
        extended = page_state.add_suggested_hierarchies(plan, unknown)
        st.button(
            _("Use the suggested levels for these columns"),
            on_click=page_state.use_plan,
            args=(extended,),
        )
    if plan.node is not None:
        without_node = dataclasses.replace(plan, node=None)
        st.button(
            _("Choose the levels again"),
            on_click=page_state.use_plan,
            args=(without_node,),
        )
    st.button(_("Stop using this plan"), on_click=page_state.use_plan, args=(None,))
    return not unknown


def _import_hierarchy(
    page_state: AnonymizeState, name: str, hierarchy: Hierarchy
) -> None:
    """Take a hierarchy from a file.

    If it lacks values, they are shown and nothing is taken.
    """
    missing = sorted(page_state.table_values(name) - set(hierarchy.values))
    if missing:
        st.error(
            _(
                "The file has no line for these values of the column. Add a line "
                "for each of them, then import the file again:"
            ),
        )
        st.dataframe(
            pd.DataFrame({_("value"): missing}),
            hide_index=True,
            alt=_("Values missing from the hierarchy"),
        )
        return
    page_state.replace_hierarchy(name, page_state.mark_imported(name, hierarchy))
    st.rerun()
