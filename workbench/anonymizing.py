"""What the Anonymize page keeps and asks: roles, hierarchies with undo, the frontier, and trials."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dpcore.anonymize.hierarchy import Hierarchy
from dpcore.anonymize.models import DistinctL, EntropyL, KAnonymity, Model, TCloseness
from dpcore.anonymize.plan import ROLES, Plan
from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation.anonymization import (
    Choices,
    FrontierOf,
    SuggestedHierarchies,
    SuggestedRoles,
    Trial,
    TrialReport,
    default_plan,
)
from dpcore.release import AnonymizedTable
from workbench import charts, state
from workbench.auditing import percent
from workbench.charts import Chart
from workbench.wording import _, number, plain

KS = (2, 3, 5, 10, 25, 50, 100)
LIMITS = (0.0, 0.02, 0.05, 0.1)
QUICK_SECONDS = 3.0
LONG_SECONDS = 120.0
METHODS = {
    "full-domain": _("full-domain: one level a column, the same for everybody"),
    "local recoding": _("local recoding: levels differ from group to group"),
    "mondrian": _("Mondrian: groups cut along the data, free ranges"),
    "microaggregation": _("microaggregation (MDAV): numbers become group means"),
}
SECRET_MODELS = {
    "none": _("nothing more"),
    "distinct": _("different values in each group (distinct l-diversity)"),
    "entropy": _("values in each group well spread (entropy l-diversity)"),
    "t": _("groups resemble the whole table (t-closeness)"),
}


@dataclass(kw_only=True)
class Work:
    """Choices so far for one data set.

    Attributes:
        roles: of every column.
        hierarchies: by quasi-identifier, suggested or edited.
        before: earlier hierarchies of each column, for undo.
        version: rises with each edit, so that the grids are drawn anew.
        made: the table that was made, if any.
        wants_frontier: whether a long frontier was asked for.
    """

    roles: dict[str, str]
    hierarchies: dict[str, Hierarchy] = field(default_factory=dict)
    before: dict[str, list[Hierarchy]] = field(default_factory=dict)
    version: int = 0
    made: AnonymizedTable | None = None
    wants_frontier: bool = False


def work(curator: Curator) -> Work:
    """The choices for this data set; at first as proposed."""
    held = state.session()
    if not isinstance(held.anonymization, Work):
        proposed = state.once(curator, ("roles",), SuggestedRoles)
        held.anonymization = Work(roles={each.column: each.role for each in proposed})
    current: Work = held.anonymization
    _complete(curator, current)
    return current


def roles_grid(curator: Curator) -> pd.DataFrame:
    """One line a column: its proposed role and why."""
    proposed = state.once(curator, ("roles",), SuggestedRoles)
    return pd.DataFrame([{"column": each.column, "role": each.role, "why": each.reason} for each in proposed])


def set_roles(current: Work, grid: pd.DataFrame) -> None:
    """Take the roles that a person chose."""
    roles = dict(zip(grid["column"], grid["role"], strict=True))
    if roles != current.roles and set(roles.values()) <= set(ROLES):
        current.roles, current.made, current.wants_frontier = roles, None, False


def _complete(curator: Curator, current: Work) -> None:
    """A hierarchy for every quasi-identifier."""
    missing = tuple(
        name
        for name, role in current.roles.items()
        if role == "quasi-identifier" and name not in current.hierarchies
    )
    if missing:
        current.hierarchies |= state.once(
            curator, ("hierarchies", missing), lambda: SuggestedHierarchies(columns=missing)
        )


def quasi_identifiers(current: Work) -> list[str]:
    """Columns that are generalized."""
    return [name for name, role in current.roles.items() if role == "quasi-identifier"]


def sensitive(current: Work) -> list[str]:
    """Columns whose values should stay unknown."""
    return [name for name, role in current.roles.items() if role == "sensitive"]


def replace_hierarchy(current: Work, name: str, hierarchy: Hierarchy) -> None:
    """Put another hierarchy in place; the one before can be brought back."""
    current.before.setdefault(name, []).append(current.hierarchies[name])
    current.hierarchies[name] = hierarchy
    current.version += 1
    current.made = None


def undo(current: Work, name: str) -> None:
    """Bring back the hierarchy before the last edit."""
    if current.before.get(name):
        current.hierarchies[name] = current.before[name].pop()
        current.version += 1
        current.made = None


def hierarchy_grid(hierarchy: Hierarchy) -> pd.DataFrame:
    """One line a value, one column a level."""
    names = [_("value"), *(_("level {level}").format(level=i) for i in range(1, hierarchy.height + 1))]
    return pd.DataFrame(dict(zip(names, hierarchy.levels, strict=True)))


def hierarchy_from_grid(grid: pd.DataFrame) -> Hierarchy:
    """The hierarchy that a grid says. Raises: HierarchyError when it does not nest."""
    levels = tuple(tuple(grid[column].fillna("").astype(str)) for column in grid.columns)
    return Hierarchy(values=levels[0], levels=levels)


def secret_model(kind: str, column: str, value: float) -> Model | None:
    """The model on a sensitive column that a person chose."""
    if kind == "distinct":
        return DistinctL(column=column, l=int(value))
    if kind == "entropy":
        return EntropyL(column=column, l=float(value))
    if kind == "t":
        return TCloseness(column=column, t=float(value))
    return None


def plan_of(current: Work, *, k: int, limit: float, method: str, model: Model | None) -> Plan:
    """The plan that the page says. Raises: the errors of a plan."""
    used = {name: current.hierarchies[name] for name in quasi_identifiers(current)}
    plan = default_plan(current.roles, used, k=k, limit=limit)
    models: tuple[Model, ...] = (KAnonymity(k=k),) if model is None else (KAnonymity(k=k), model)
    return dataclasses.replace(plan, models=models, method=method)  # type: ignore[arg-type]


def frontier(curator: Curator, current: Work, plan: Plan) -> Choices | DpcoreError:
    """Every k and limit at once; or why not, such as that it takes long."""
    most = LONG_SECONDS if current.wants_frontier else QUICK_SECONDS
    key = ("frontier", current.version, tuple(current.roles.items()), plan.models[1:], most)
    try:
        return state.once(
            curator,
            key,
            lambda: FrontierOf(
                plan=dataclasses.replace(
                    plan, method="full-domain", models=(KAnonymity(k=2), *plan.models[1:])
                ),
                ks=KS,
                limits=LIMITS,
                most_seconds=most,
            ),
        )
    except DpcoreError as error:
        return error


def trial(curator: Curator, current: Work, plan: Plan) -> TrialReport:
    """A plan tried out, once. Raises: the errors of a plan."""
    key = ("trial", current.version, tuple(current.roles.items()), plan.models, plan.limit, plan.method)
    return state.once(curator, key, lambda: Trial(plan=plan))


def make(curator: Curator, current: Work, plan: Plan) -> None:
    """Make the table; it leaves a line in the ledger."""
    try:
        current.made = curator.anonymize(plan)
    except DpcoreError as error:
        state.session().notice = error


def frontier_chart(choices: Choices) -> Chart:
    """k against information loss, one line a suppression limit; a click chooses a point."""
    frame = pd.DataFrame(
        [
            {
                "k": point.k,
                "limit": f"{point.limit:.0%}",
                "loss": point.score,
                "levels": "-".join(map(str, point.node)),
                "suppressed rows": point.suppressed,
            }
            for point in choices.points
        ],
        columns=["k", "limit", "loss", "levels", "suppressed rows"],
    )
    return charts.frontier(frame)


def sizes_chart(report: TrialReport) -> Chart:
    """Share of rows by the size of the group they hide in, before and after."""
    labels = ["1", "2-4", "5-9", "10-24", "25-99", "100+"]
    edges = np.array([2, 5, 10, 25, 100])
    frame = []
    for side, found in ((_("before"), report.before), (_("after"), report.after)):
        rows = np.bincount(
            np.searchsorted(edges, found.class_sizes, side="right"), found.class_sizes, minlength=len(labels)
        )
        frame += [
            {"group size": label, "of": side, "share": float(share)}
            for label, share in zip(labels, rows / max(1, rows.sum()), strict=True)
        ]
    return charts.grouped(
        pd.DataFrame(frame),
        x="group size",
        x_title=_("rows in the group"),
        y_title=_("share of rows"),
        alt=_("Share of rows by the size of their group, before and after."),
    )


def columns_table(report: TrialReport) -> pd.DataFrame:
    """What each column lost."""
    levels: dict[str, Any] = dict(report.plan.node or {})
    return pd.DataFrame(
        [
            {
                _("column"): name,
                _("level"): str(levels.get(name, "")),
                _("generalized (NCP)"): percent(ncp),
                _("distribution moved by"): percent(report.quality.column_change[name]),
            }
            for name, ncp in report.quality.column_ncp.items()
        ]
    )


def warnings(curator: Curator, report: TrialReport) -> list[str]:
    """What this does not promise, with numbers from this very table."""
    found = []
    for name, risk in report.after.secrets.items():
        if risk.homogeneous_classes:
            found.append(
                _(
                    "{classes:,} groups, {share} of the rows, reveal {column} although k holds. "
                    "Ask for l-diversity."
                ).format(
                    classes=risk.homogeneous_classes, share=percent(risk.homogeneous_rows), column=plain(name)
                )
            )
        else:
            found.append(
                _(
                    "Knowing a group makes some value of {column} up to {times} times more likely (t = {t})."
                ).format(column=plain(name), times=number(risk.posterior_ratio), t=number(risk.t_equal))
            )
    if report.after.people is not None:
        found.append(
            _("k counts rows, and a person may have several. People in the smallest group: {people}.").format(
                people=report.after.people
            )
        )
    if report.after.with_others > 0.001:
        found.append(
            _(
                "{share} of the rows become unique again for somebody who also knows the columns "
                "left as they are."
            ).format(share=percent(report.after.with_others))
        )
    earlier = sum("anonymized" in line.content for line in curator.lines())
    if earlier:
        found.append(
            _(
                "This table was anonymized {times} times before. Two versions together can reveal more "
                "than each alone, and no budget counts that."
            ).format(times=earlier)
        )
    if report.plan.method in ("local recoding", "mondrian"):
        found.append(_("Local methods keep more, and are more exposed: published attacks aim at them."))
    found.append(
        _(
            "Loss was minimized, and an attacker who knows that can sometimes undo a part of it. "
            "k-anonymity is no guarantee against a determined attacker: prefer the Synthesize page for "
            "the public."
        )
    )
    return found
