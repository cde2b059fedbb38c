"""What the Anonymize page keeps and asks: roles, hierarchies with undo, and the plan that they make."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import pandas as pd

from dpcore.anonymize.closeness import TCloseness
from dpcore.anonymize.fulldomain.metrics import InformationLoss, Metric
from dpcore.anonymize.fulldomain.size import Prediction
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.anonymize.methods import METHODS, FullDomain, LocalRecoding, Method, Mondrian
from dpcore.anonymize.models import PrivacyModel
from dpcore.anonymize.plan import Plan, Suppressed
from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation.table.proposals import HierarchiesOf, RolesOf, SizeOf, default_plan
from dpcore.io.encoding import decode
from dpcore.schema.role import ROLES
from dpcore.schema.values import MISSING, SUPPRESSED
from workbench import session
from workbench.ui.language import N_, Words, _, said
from workbench.ui.wording import COUNTED_WORDS, number

KS = (2, 3, 5, 10, 25, 50, 100)
LIMITS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
DRAWN_LIMITS = (0.0, 0.02, 0.05, 0.1)
SEARCH_SECONDS = 30.0
"""Predicted for a pass over all nodes; a search for one k looks at a part of them."""
LOCAL_COLUMNS = 12
SUGGESTED = "suggested"
METHOD_NAMES = Words(
    {
        "full-domain": N_("full-domain"),
        "local recoding": N_("local recoding"),
        "mondrian": N_("Mondrian"),
        "microaggregation": N_("microaggregation (MDAV)"),
    }
)
METHOD_WORDS = Words(
    {
        "full-domain": N_("one level per column, the same for everybody"),
        "local recoding": N_("levels differ from group to group"),
        "mondrian": N_("groups cut along the data, free ranges"),
        "microaggregation": N_("numbers become group means"),
    }
)


@dataclass(frozen=True, kw_only=True)
class Demands:
    """What a person demands of the table.

    Attributes:
        models: beside k.
        subset: a column of true and false that marks the rows to be published out of a population.
        household: a column that says who lives together: groups count households.
    """

    k: int
    limit: float
    models: tuple[PrivacyModel, ...] = ()
    metric: Metric = field(default_factory=InformationLoss)
    suppressed: Suppressed = "checked"
    subset: str | None = None
    household: str | None = None


@dataclass(kw_only=True)
class AnonymizeState(session.OfDataSet):
    """Choices so far for the current data set.

    Attributes:
        roles: of every column.
        hierarchies: by quasi-identifier, suggested or edited.
        before: earlier hierarchies of each column, for undo.
        version: rises with each edit, so that the grids are drawn anew.
        made_by: the plan of the table that was made, as it was asked for.
        loaded: a plan made earlier that is used in place of the choices on the page.
        wants_frontier: whether a long frontier was asked for.
        wants_comparison: whether the methods were to be compared.
        failed: the last plan that could not be tried, by what was asked, and why.
        stopped: what a person stopped, by what was asked.
    """

    roles: dict[str, str] = field(default_factory=dict)
    hierarchies: dict[str, Hierarchy] = field(default_factory=dict)
    before: dict[str, list[Hierarchy]] = field(default_factory=dict)
    version: int = 0
    made_by: Plan | None = None
    loaded: Plan | None = None
    wants_frontier: bool = False
    wants_comparison: bool = False
    failed: tuple[tuple[object, ...], DpcoreError] | None = None
    stopped: set[tuple[object, ...]] = field(default_factory=set)


def work(curator: Curator) -> AnonymizeState:
    """The choices for this data set; at first as proposed."""
    if not (current := session.own(AnonymizeState)).roles:
        proposed = session.once(curator, ("roles",), RolesOf)
        current.roles = {each.column: each.role for each in proposed}
    complete(curator, current, quasi_identifiers(current))
    return current


def roles_grid(curator: Curator, current: AnonymizeState) -> pd.DataFrame:
    """One line per column: its role, and why another one was or is proposed."""
    proposed = session.once(curator, ("roles",), RolesOf)
    return pd.DataFrame(
        [
            {"column": each.column, "role": current.roles[each.column], "why": said(each.reason)}
            for each in proposed
        ]
    )


def set_roles(current: AnonymizeState, roles: dict[str, str]) -> bool:
    """Take the roles that a person chose; whether that changed anything."""
    if roles == current.roles or not set(roles.values()) <= set(ROLES):
        return False
    current.roles, current.loaded, session.session().anonymized = roles, None, None
    current.wants_frontier = current.wants_comparison = False
    current.version += 1
    return True


def take_columns(curator: Curator, columns: Iterable[str], secret: Iterable[str]) -> None:
    """Take what the Audit page asked about: what others may know, and what should stay unknown."""
    current = work(curator)
    asked = dict.fromkeys(columns, "quasi-identifier") | dict.fromkeys(secret, "sensitive")
    kept = {
        name: "insensitive" if role in ("quasi-identifier", "sensitive") else role
        for name, role in current.roles.items()
    }
    set_roles(current, kept | asked)


def complete(curator: Curator, current: AnonymizeState, names: Iterable[str]) -> None:
    """A hierarchy for each of these columns."""
    missing = tuple(name for name in names if name not in current.hierarchies)
    if missing:
        suggested = session.once(curator, ("hierarchies", missing), lambda: HierarchiesOf(columns=missing))
        current.hierarchies |= suggested


def quasi_identifiers(current: AnonymizeState) -> list[str]:
    """Columns that are generalized."""
    return [name for name, role in current.roles.items() if role == "quasi-identifier"]


def sensitive(current: AnonymizeState) -> list[str]:
    """Columns whose values should stay unknown."""
    return [name for name, role in current.roles.items() if role == "sensitive"]


def with_hierarchies(current: AnonymizeState) -> list[str]:
    """Columns whose values become coarser, or are compared as if they did."""
    measured = [name for name in sensitive(current) if name in current.hierarchies]
    return [*quasi_identifiers(current), *measured]


def table_values(current: AnonymizeState, name: str) -> set[str]:
    """The values of a column that a hierarchy must have a path for."""
    suggested = (current.before.get(name) or [current.hierarchies[name]])[0]
    return set(suggested.values) - {MISSING, SUPPRESSED}


def read_hierarchy(data: bytes) -> Hierarchy:
    """A hierarchy from the bytes of a file, in whatever encoding tables are read in.

    Raises: ReadError when they are no text; HierarchyError when the text is no hierarchy.
    """
    return Hierarchy.from_csv(decode(data)[0])


def of_file(current: AnonymizeState, name: str, hierarchy: Hierarchy) -> Hierarchy:
    """A hierarchy from a file, which says so, and how many of its values the table lacks."""
    unused = len(set(hierarchy.values) - table_values(current, name))
    reason = _("From a file.")
    if unused:
        reason += " " + _(
            "{unused:,} of its {all:,} values do not occur in the table; information loss counts them too."
        ).format(unused=unused, all=len(hierarchy.values))
    return dataclasses.replace(hierarchy, reason=reason)


def replace_hierarchy(current: AnonymizeState, name: str, hierarchy: Hierarchy) -> None:
    """Put another hierarchy in place; the one before can be brought back."""
    current.before.setdefault(name, []).append(current.hierarchies[name])
    current.hierarchies[name] = hierarchy
    current.version += 1
    session.session().anonymized = None


def undo(current: AnonymizeState, name: str) -> None:
    """Bring back the hierarchy before the last edit."""
    if current.before.get(name):
        current.hierarchies[name] = current.before[name].pop()
        current.version += 1
        session.session().anonymized = None


def want_frontier(current: AnonymizeState) -> None:
    """Compute the frontier although it takes long."""
    current.wants_frontier = True


def want_comparison(current: AnonymizeState) -> None:
    """Compare the methods from now on."""
    current.wants_comparison = True


def hierarchy_grid(hierarchy: Hierarchy) -> pd.DataFrame:
    """One line per value, one column per level."""
    names = [_("value"), *(_("level {level}").format(level=i) for i in range(1, hierarchy.height + 1))]
    return pd.DataFrame(dict(zip(names, hierarchy.levels, strict=True)))


def hierarchy_from_grid(grid: pd.DataFrame) -> Hierarchy:
    """The hierarchy that a grid says. Raises: HierarchyError when it does not nest."""
    levels = tuple(tuple(grid[column].fillna("").astype(str)) for column in grid.columns)
    return Hierarchy(values=levels[0], levels=levels)


def plan_of(
    curator: Curator,
    current: AnonymizeState,
    demands: Demands,
    *,
    method: str,
) -> Plan:
    """The plan that the page says, by the suggested method or by another. Raises: the errors of a plan."""
    measured = [
        model.column
        for model in demands.models
        if isinstance(model, TCloseness) and model.distance == "hierarchical"
    ]
    complete(curator, current, measured)
    used = {name: current.hierarchies[name] for name in (*quasi_identifiers(current), *measured)}
    roles = {name: role for name, role in current.roles.items() if name != demands.subset}
    plan = default_plan(roles, used, k=demands.k, limit=demands.limit)
    plan = dataclasses.replace(
        plan.counting(curator.schema.unit.id_column),
        models=(*plan.models, *demands.models),
        metric=demands.metric,
        suppressed=demands.suppressed,
        subset=demands.subset,
        household=demands.household,
    )
    if method == SUGGESTED:
        return dataclasses.replace(plan, method=suggested_method(size(curator, current, plan), len(used)))
    return dataclasses.replace(plan, method=METHODS[method])


def size(curator: Curator, current: AnonymizeState, plan: Plan) -> Prediction:
    """How large full-domain search would be."""
    key = ("size", current.version, plan.models[1:], plan.counted, plan.subset)
    full = dataclasses.replace(plan, method=FullDomain())
    return session.once(curator, key, lambda: SizeOf(plan=full))


def suggested_method(predicted: Prediction, columns: int) -> Method:
    """Full-domain search while it is quick enough, then what is."""
    if predicted.is_feasible and predicted.usual <= SEARCH_SECONDS:
        return FullDomain()
    return LocalRecoding() if columns <= LOCAL_COLUMNS else Mondrian()


def too_long(predicted: Prediction, method: Method, columns: int) -> str:
    """Why a method is not tried out beside the others; empty where it is."""
    if method.searches and not suggested_method(predicted, columns).searches:
        return _("{nodes:,} combinations of levels take too long").format(nodes=predicted.nodes)
    if method == LocalRecoding() and columns > LOCAL_COLUMNS:
        return _("slow, and keeps less than Mondrian, with more than {columns} columns").format(
            columns=LOCAL_COLUMNS
        )
    return ""


def method_label(method: str) -> str:
    """A method for a list: its name and what it does."""
    if method == SUGGESTED:
        return _("as suggested for this table")
    return _("{method}: {words}").format(method=METHOD_NAMES[method], words=METHOD_WORDS[method])


def is_made_by(current: AnonymizeState, plan: Plan) -> bool:
    """Whether the table that was made is what this plan asks for."""
    return current.made_by is not None and current.made_by.to_json() == plan.to_json()


def whom(plan: Plan) -> str:
    """What groups are counted in: households, people, or rows where each row is a person."""
    return COUNTED_WORDS[plan.counts]


def method_words(curator: Curator, current: AnonymizeState, plan: Plan) -> str:
    """How large the search is, and what is suggested instead where that is too large."""
    predicted, columns = size(curator, current, plan), len(plan.quasi_identifiers)
    if predicted.is_feasible:
        forecast = (predicted.seconds, *predicted.search(plan.limit))
        seconds, mostly, most = (number(max(0.1, round(each, 1))) for each in forecast)
        found = _(
            "Full-domain: {nodes:,} combinations of levels, about {seconds} s to look at all. A search at "
            "this limit mostly takes less than {mostly} s, and at most about {most} s and {megabytes:,} MB."
        ).format(
            nodes=predicted.nodes,
            seconds=seconds,
            mostly=mostly,
            most=most,
            megabytes=math.ceil(predicted.memory / 1e6),
        )
    else:
        found = _("Full-domain: {nodes:,} combinations of levels are too many to search.").format(
            nodes=predicted.nodes
        )
    suggested = suggested_method(predicted, columns)
    if suggested.searches:
        return found
    if suggested.needs_hierarchies:
        return found + " " + _("Local recoding is suggested: it goes up only where a group needs it.")
    return (
        found
        + " "
        + _(
            "Mondrian is suggested: with more than {columns} columns local recoding is slow and keeps less."
        ).format(columns=LOCAL_COLUMNS)
    )
