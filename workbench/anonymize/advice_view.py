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
from workbench.language.messages import _, capital, join
from workbench.language.wording import (
    escape_markdown,
    list_names,
    number,
    percent,
)
from workbench.store.policy import read_policy

MIN_DIFFERENT_VALUES = 2  # different sensitive values that each group should have
MAX_COLUMNS_NAMED = 3  # columns named on the button of a step
# Share of people that a column may single out to become coarser in a wide table; one
# that singles out more would keep no detail that is worth its place.
MAX_SHARE_COARSER = 0.05
MAX_SHARES_NAMED = 12  # columns whose shares are named under it
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
    _change_roles(page_state, {column: "insensitive" if is_out else "identifier"})


def _change_roles(page_state: AnonymizeState, roles: dict[str, str]) -> None:
    page_state.set_roles(page_state.roles | roles)


def show_verdict(
    page_state: AnonymizeState, report: TrialReport, versions: int
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
        steps = _steps_for_groups(report)
        if not steps and report.singling_columns:
            st.caption(_singling_sentence(report))
            steps = [_step_against_unique_rows(page_state, report)]
        if steps:
            st.caption(
                _("These steps bring the table closer to one that everybody may see:")
            )
        elif report.after.groups_per_person > 1:
            st.caption(
                _(
                    "No step here changes that people have several rows. If "
                    "everybody may see the result, share noisy counts or made-up "
                    "rows instead."
                )
            )
            st.page_link(
                session.page_script("synthesize"), icon=":material/arrow_forward:"
            )
        with st.container(horizontal=True):
            if len(steps) > 1:
                st.button(
                    _("Take these {number} steps").format(number=len(steps)),
                    on_click=_take_all,
                    args=(steps,),
                    type="primary",
                    icon=":material/done_all:",
                )
            for label, do in steps:
                st.button(label, on_click=do, icon=":material/add_task:")


def _steps_for_groups(report: TrialReport) -> list[Step]:
    """Return one step for each reason against publishing groups such as these."""
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
    return steps


def _singling_sentence(report: TrialReport) -> str:
    """Name the columns that single people out, with the shares of people."""
    named = list(report.singling_columns.items())[:MAX_SHARES_NAMED]
    shares = [
        _("{column} ({share})").format(
            column=escape_markdown(column), share=percent(share)
        )
        for column, share in named
    ]
    if more := len(report.singling_columns) - len(named):
        shares.append(_("{more} more").format(more=more))
    return _(
        "With one of these columns, this share of the {whom} has a row like nobody "
        "else's: {shares}."
    ).format(whom=plans.unit_of_groups(report.plan), shares=join(shares))


def _step_against_unique_rows(page_state: AnonymizeState, report: TrialReport) -> Step:
    """Return the step for rows that are like nobody else's.

    The columns that single people out become coarser. If groups would be found by too
    many columns, those that single out most are left out, and so are columns that
    should stay unknown: a coarser column counts as known.
    """
    shares = report.singling_columns
    coarser = [name for name in shares if page_state.roles[name] == "insensitive"]
    known = len(page_state.quasi_identifiers) + len(coarser)
    left_out = list[str]()
    if not coarser or known > plans.MAX_LOCAL_RECODING_COLUMNS:
        coarser = [name for name in coarser if shares[name] <= MAX_SHARE_COARSER]
        left_out = [name for name in shares if name not in coarser]
    named_coarser = list_names(coarser, max_names=MAX_COLUMNS_NAMED)
    named_left_out = list_names(left_out, max_names=MAX_COLUMNS_NAMED)
    if not left_out:
        label = _("Make {columns} coarser too").format(columns=named_coarser)
    elif not coarser:
        label = _("Leave out {columns}").format(columns=named_left_out)
    else:
        label = _("Leave out {columns}; make {coarser} coarser").format(
            columns=named_left_out, coarser=named_coarser
        )
    roles = dict.fromkeys(coarser, "quasi-identifier") | dict.fromkeys(
        left_out, "identifier"
    )
    return label, functools.partial(_change_roles, page_state, roles)


def _take_all(steps: list[Step]) -> None:
    for _label, take in steps:
        take()
