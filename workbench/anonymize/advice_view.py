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
from workbench.language.wording import list_names, number, plain
from workbench.store.policy import read_policy

LEAST_DIFFERENT = 2  # different sensitive values that each group should have
MAX_COLUMNS_A_STEP = 3  # columns up to which one step makes all of them coarser
Step = tuple[str, Callable[[], None]]
"""The label of a button, and what it does."""


def take(curator: Curator, current: AnonymizeState, advice: session.TakeAdvice) -> None:
    """Apply the roles, lowest levels, k and l that an audit advises.

    Nothing of another table is taken.
    """
    named = {*advice.known, *advice.secret, *advice.left_out, *advice.labels}
    if not named <= set(current.roles):
        return
    current.take(curator, advice)
    demands_form.K_FIELD.put(max(advice.k, read_policy().k))
    if advice.different > 1:
        demands_form.ask_for_different(current.sensitive, advice.different)


def show(current: AnonymizeState) -> None:
    """Show the steps that the audit advises as checkboxes."""
    advice = current.advice
    if advice is None or not (advice.left_out or advice.labels):
        return
    with st.container(border=True):
        st.markdown(f"**{_('The advice of the audit')}**")
        for column in advice.left_out:
            st.checkbox(
                _("Leave out {column}").format(column=plain(column)),
                current.roles[column] == "identifier",
                key=f"advice-out-{column}-{current.version}",
                on_change=_toggle_left_out,
                args=(current, column),
            )
        for column, labels in advice.labels.items():
            values = len(current.hierarchies[column].values)
            st.checkbox(
                _(
                    "Publish {column} in at most {labels} values instead of {values}"
                ).format(
                    column=plain(column), labels=number(labels), values=number(values)
                ),
                column in current.floor,
                key=f"advice-coarser-{column}-{current.version}",
                on_change=current.toggle_floor,
                args=(column,),
            )
        st.caption(
            _("These steps are done. Untick one to leave it, or change anything below.")
        )


def _toggle_left_out(current: AnonymizeState, column: str) -> None:
    is_out = current.roles[column] == "identifier"
    _set_roles(current, [column], "insensitive" if is_out else "identifier")


def _set_roles(current: AnonymizeState, columns: list[str], role: str) -> None:
    current.set_roles(current.roles | dict.fromkeys(columns, role))


def show_verdict(
    curator: Curator, current: AnonymizeState, report: TrialReport, versions: int
) -> None:
    """Say whether the planned table may be published; offer the missing steps."""
    verdict, reasons = document.recommendation(
        report.plan, report.after, report.after.risk.highest, report.alike, versions
    )
    with st.container(border=True):
        st.markdown(f"**{verdict}** {plain(' '.join(reasons), at_most=800)}")
        if current.loaded is not None:
            return
        steps = missing_steps(curator, current, report)
        if steps:
            st.caption(_("Steps that bring it closer to a table for everybody:"))
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
    curator: Curator, current: AnonymizeState, report: TrialReport
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
        name for name, risk in report.after.secrets.items() if risk.homogeneous_classes
    ]
    if revealing:
        steps.append(
            (
                _("At least {l} different values of {columns} in each group").format(
                    l=LEAST_DIFFERENT,
                    columns=plain(", ".join(revealing), at_most=100),
                ),
                functools.partial(
                    demands_form.ask_for_different, revealing, LEAST_DIFFERENT
                ),
            )
        )
    if report.plan.method.cuts_freely:
        steps.append(
            (
                capital(_("the same levels for everybody")),
                functools.partial(demands_form.METHOD_FIELD.put, FullDomain.kind),
            )
        )
    leaving = [
        name
        for name, role in current.roles.items()
        if role in ("sensitive", "insensitive")
    ]
    if report.alike > document.NOTEWORTHY_SHARE and leaving:
        steps.append(_step_against_copies(curator, current, leaving))
    return steps


def _step_against_copies(
    curator: Curator, current: AnonymizeState, leaving: list[str]
) -> Step:
    """Return the step for rows that are like nobody else's.

    If the column with most cells should stay unknown, it is left out. Otherwise the
    columns with most cells that leave as they are become coarser: half of many, so that
    a wide table needs few steps.
    """
    sizes = {column.name: column.size for column in curator.schema.columns}
    by_size = sorted(leaving, key=lambda name: -sizes.get(name, math.inf))
    if current.roles[by_size[0]] == "sensitive":
        return (
            _("Leave out {column}").format(column=plain(by_size[0])),
            functools.partial(_set_roles, current, by_size[:1], "identifier"),
        )
    known = [name for name in by_size if current.roles[name] == "insensitive"]
    if len(known) > MAX_COLUMNS_A_STEP:
        known = known[: math.ceil(len(known) / 2)]
    return (
        _("Make {columns} coarser too").format(columns=list_names(known)),
        functools.partial(_set_roles, current, known, "quasi-identifier"),
    )
