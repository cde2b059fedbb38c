"""Steps advised by the audit, and steps still missing before publication."""

import functools
import math
from collections.abc import Callable

import streamlit as st

from dpcore.anonymization.methods import FullDomain
from dpcore.curator import Curator
from dpcore.evaluation.table.trial import TrialReport
from workbench import session
from workbench.anonymize import demands_form, document, plans
from workbench.anonymize.state import AnonymizeState
from workbench.language.messages import _, capital
from workbench.language.wording import escape_markdown, list_names, number
from workbench.store.policy import read_policy

MIN_DIFFERENT_VALUES = 2  # different sensitive values that each group should have
MAX_COLUMNS_A_STEP = 3  # columns up to which one step makes all of them coarser
Step = tuple[str, Callable[[], None]]
"""The label of a button, and what it does."""


def apply_advice(
    curator: Curator, page_state: AnonymizeState, advice: session.TakeAdvice
) -> None:
    """Apply the roles, lowest levels, k and l that an audit advises.

    Nothing of another table is taken.
    """
    named = {
        *advice.known_columns,
        *advice.secret_columns,
        *advice.left_out_columns,
        *advice.max_labels,
    }
    if not named <= set(page_state.roles):
        return
    page_state.apply_advice(curator, advice)
    demands_form.K_FIELD.put(max(advice.k, read_policy().k))
    if advice.min_different_values > 1:
        demands_form.require_different_values(
            page_state.sensitive_columns, advice.min_different_values
        )


def show_advice(page_state: AnonymizeState) -> None:
    """Show the steps that the audit advises as checkboxes."""
    advice = page_state.advice
    if advice is None or not (advice.left_out_columns or advice.max_labels):
        return
    with st.container(border=True):
        st.markdown(f"**{_('The advice of the audit')}**")
        for column in advice.left_out_columns:
            st.checkbox(
                _("Leave out {column}").format(column=escape_markdown(column)),
                page_state.roles[column] == "identifier",
                key=f"advice-out-{column}-{page_state.version}",
                on_change=_toggle_left_out,
                args=(page_state, column),
            )
        for column, labels in advice.max_labels.items():
            values = len(page_state.hierarchies[column].values)
            st.checkbox(
                _(
                    "Publish at most {labels} values of {column} instead of {values}"
                ).format(
                    column=escape_markdown(column),
                    labels=number(labels),
                    values=number(values),
                ),
                column in page_state.lowest_levels,
                key=f"advice-coarser-{column}-{page_state.version}",
                on_change=page_state.toggle_lowest_level,
                args=(column,),
            )
        st.caption(
            _(
                "These steps are applied already. Untick a step to undo it, or "
                "change anything below."
            )
        )


def _toggle_left_out(page_state: AnonymizeState, column: str) -> None:
    is_out = page_state.roles[column] == "identifier"
    _set_roles(page_state, [column], "insensitive" if is_out else "identifier")


def _set_roles(current: AnonymizeState, columns: list[str], role: str) -> None:
    current.set_roles(current.roles | dict.fromkeys(columns, role))


def show_verdict(
    curator: Curator, page_state: AnonymizeState, report: TrialReport, versions: int
) -> None:
    """Say whether the planned table may be published; offer the missing steps."""
    verdict, reasons = document.recommendation(
        report.plan, report.after, report.after.risk.highest, report.linkable, versions
    )
    with st.container(border=True):
        st.markdown(
            f"**{verdict}** {escape_markdown(' '.join(reasons), max_length=800)}"
        )
        if page_state.loaded_plan is not None:
            return
        steps = missing_steps(curator, page_state, report)
        if steps:
            st.caption(
                _("These steps bring the table closer to one that everybody may see:")
            )
        elif report.after.groups_per_person > 1:
            st.caption(
                _(
                    "No step here changes that people have several rows. For everybody, "
                    "share noisy counts or made-up rows instead."
                )
            )
            st.page_link(
                session.page_script("synthesize"), icon=":material/arrow_forward:"
            )
        with st.container(horizontal=True):
            for label, do in steps:
                st.button(label, on_click=do, icon=":material/add_task:")


def missing_steps(
    curator: Curator, page_state: AnonymizeState, report: TrialReport
) -> list[Step]:
    """Return one step for each reason against publishing the table."""
    steps: list[Step] = []
    whom = plans.unit_of_groups(report.plan)
    least = math.ceil(1 / document.LOW_RISK)
    if report.after.risk.highest > document.LOW_RISK:
        steps.append(
            (
                _("Groups of at least {k} {whom}").format(k=least, whom=whom),
                functools.partial(demands_form.K_FIELD.put, least),
            )
        )
    revealing = [
        name
        for name, risk in report.after.secret_risks.items()
        if risk.homogeneous_classes
    ]
    if revealing:
        steps.append(
            (
                _("At least {l} different values of {columns} in each group").format(
                    l=MIN_DIFFERENT_VALUES,
                    columns=escape_markdown(", ".join(revealing), max_length=100),
                ),
                functools.partial(
                    demands_form.require_different_values,
                    revealing,
                    MIN_DIFFERENT_VALUES,
                ),
            )
        )
    if report.plan.method.groups_row_by_row:
        steps.append(
            (
                capital(_("the same levels for everybody")),
                functools.partial(demands_form.METHOD_FIELD.put, FullDomain.kind),
            )
        )
    leaving = [
        name
        for name, role in page_state.roles.items()
        if role in ("sensitive", "insensitive")
    ]
    if report.linkable > document.NOTEWORTHY_SHARE and leaving:
        steps.append(_step_against_unique_rows(curator, page_state, leaving))
    return steps


def _step_against_unique_rows(
    curator: Curator, page_state: AnonymizeState, unchanged_columns: list[str]
) -> Step:
    """Return the step for rows that are like nobody else's.

    If the column with most cells should stay unknown, it is left out. Otherwise the
    columns with most cells that leave as they are become coarser: half of many, so that
    a wide table needs few steps.
    """
    sizes = {column.name: column.size for column in curator.schema.columns}
    by_size = sorted(unchanged_columns, key=lambda name: -sizes.get(name, math.inf))
    if page_state.roles[by_size[0]] == "sensitive":
        return (
            _("Leave out {column}").format(column=escape_markdown(by_size[0])),
            functools.partial(_set_roles, page_state, by_size[:1], "identifier"),
        )
    known = [name for name in by_size if page_state.roles[name] == "insensitive"]
    if len(known) > MAX_COLUMNS_A_STEP:
        known = known[: math.ceil(len(known) / 2)]
    return (
        _("Make {columns} coarser too").format(columns=list_names(known)),
        functools.partial(_set_roles, page_state, known, "quasi-identifier"),
    )
