"""State of the Anonymize page, with roles, hierarchies and a plan made earlier."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field

import pandas as pd

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.plan import Plan
from dpcore.curator import Curator
from dpcore.errors import DpcoreError, SchemaError
from dpcore.evaluation.table.proposals import (
    HierarchiesQuestion,
    RolesQuestion,
)
from dpcore.schema.role import ROLES
from dpcore.schema.values import MISSING, SUPPRESSED
from workbench import session
from workbench.language.messages import _, join_with_commas, translate


@dataclass(kw_only=True)
class AnonymizeState(session.DataSetState):
    """Choices made on the Anonymize page for the current data set.

    Attributes:
        roles: role of every column.
        hierarchies: suggested or edited, by quasi-identifier.
        earlier_hierarchies: earlier hierarchies of each column, for undo.
        version: rises with each edit, so that the grids are drawn anew.
        plan_of_table: the plan of the table that was made, as it was chosen.
        loaded_plan: a plan made earlier that is used in place of the choices on the page.
        wants_frontier: whether a long frontier is to be computed.
        wants_comparison: whether the methods are to be compared.
        failed_trial: key of the last plan that could not be tried, and why.
        stopped_searches: keys of the searches that a person stopped.
        advice: the audit's advice that was taken over; None without one.
        lowest_levels: lowest level of columns, by that advice.
        notes: what a person should know of a project whose plan was taken.
        context_statements: the context that a person stated for the report to sign.
    """

    roles: dict[str, str] = field(default_factory=dict)
    hierarchies: dict[str, Hierarchy] = field(default_factory=dict)
    earlier_hierarchies: dict[str, list[Hierarchy]] = field(default_factory=dict)
    version: int = 0
    plan_of_table: Plan | None = None
    loaded_plan: Plan | None = None
    wants_frontier: bool = False
    wants_comparison: bool = False
    failed_trial: tuple[tuple[object, ...], DpcoreError] | None = None
    stopped_searches: set[tuple[object, ...]] = field(default_factory=set)
    advice: session.TakeAdvice | None = None
    lowest_levels: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    context_statements: dict[str, str] = field(default_factory=dict)

    @property
    def quasi_identifiers(self) -> list[str]:
        """Names of the columns that are generalized."""
        return [name for name, role in self.roles.items() if role == "quasi-identifier"]

    @property
    def sensitive_columns(self) -> list[str]:
        """Columns with sensitive values."""
        return [name for name, role in self.roles.items() if role == "sensitive"]

    @property
    def undecided_columns(self) -> list[str]:
        """Columns that a person has to decide about."""
        return [name for name, role in self.roles.items() if role == "undecided"]

    def decide_columns(self, published: Iterable[str]) -> None:
        """Publish these undecided columns as they are, and leave the others out."""
        self.set_roles(
            self.roles
            | dict.fromkeys(self.undecided_columns, "identifier")
            | dict.fromkeys(published, "insensitive")
        )

    @property
    def hierarchy_columns(self) -> list[str]:
        """Names of quasi-identifiers, and of sensitive columns that have a
        hierarchy.
        """
        return [
            *self.quasi_identifiers,
            *(name for name in self.sensitive_columns if name in self.hierarchies),
        ]

    def set_roles(self, roles: dict[str, str]) -> bool:
        """Set the roles; return whether any changed."""
        if roles == self.roles or not set(roles.values()) <= set(ROLES):
            return False
        self.roles = roles
        self.loaded_plan = None
        session.own(session.AnonymizeResult).table = None
        self.wants_frontier = self.wants_comparison = False
        self.version += 1
        return True

    def set_column_roles(
        self, known: Iterable[str], secret: Iterable[str], left_out: Iterable[str] = ()
    ) -> None:
        """Set which columns are quasi-identifiers, sensitive or left out."""
        chosen = dict.fromkeys(known, "quasi-identifier") | dict.fromkeys(
            secret, "sensitive"
        )
        others = dict.fromkeys(
            [*self.quasi_identifiers, *self.sensitive_columns], "insensitive"
        )
        self.set_roles(
            self.roles | others | chosen | dict.fromkeys(left_out, "identifier")
        )

    def apply_advice(self, curator: Curator, advice: session.TakeAdvice) -> None:
        """Apply the roles and lowest levels that an audit advises.

        Columns that are to become coarser are quasi-identifiers.
        """
        known = dict.fromkeys((*advice.known_columns, *advice.max_labels))
        secret = [
            name for name in advice.secret_columns if name not in advice.max_labels
        ]
        self.set_column_roles(
            [name for name in known if name not in advice.left_out_columns],
            secret,
            advice.left_out_columns,
        )
        self.loaded_plan = None
        self.advice = advice
        self.lowest_levels = {}
        names = self.quasi_identifiers
        self.add_missing_hierarchies(curator, names)
        if advice.max_labels and names:
            if self.undecided_columns:
                self.notes = (
                    _(
                        "These columns are left out, because their texts may name "
                        "people: {columns}. Give them another role below to publish "
                        "them."
                    ).format(columns=join_with_commas(self.undecided_columns)),
                )
                self.decide_columns(())
            for name in advice.max_labels:
                self.toggle_lowest_level(name)

    def toggle_lowest_level(self, name: str) -> None:
        """Switch the advised lowest level of a column on or off."""
        assert self.advice is not None
        if name in self.lowest_levels:
            self.lowest_levels = {
                kept: at for kept, at in self.lowest_levels.items() if kept != name
            }
        else:
            self.lowest_levels = self.lowest_levels | {name: self._lowest_level(name)}
        self.version += 1
        session.own(session.AnonymizeResult).table = None

    def _lowest_level(self, name: str) -> int:
        """Return the lowest level with as few labels as the advice allows."""
        assert self.advice is not None
        levels = self.hierarchies[name].levels
        most = self.advice.max_labels[name]
        return next(i for i, level in enumerate(levels) if len({*level}) <= most)

    def add_missing_hierarchies(self, curator: Curator, names: Iterable[str]) -> None:
        """Add suggested hierarchies for columns that have none."""
        missing = tuple(name for name in names if name not in self.hierarchies)
        if missing:
            key = ("hierarchies", missing)
            suggested = session.evaluate_once(
                curator, key, lambda: HierarchiesQuestion(columns=missing)
            )
            self.hierarchies |= suggested

    def table_values(self, name: str) -> set[str]:
        """Return the values of a column in the table, except missing and suppressed
        ones.
        """
        suggested = (self.earlier_hierarchies.get(name) or [self.hierarchies[name]])[0]
        return set(suggested.values) - {MISSING, SUPPRESSED}

    def replace_hierarchy(self, name: str, hierarchy: Hierarchy) -> None:
        """Replace the hierarchy of a column; `undo` brings the old one back."""
        self.earlier_hierarchies.setdefault(name, []).append(self.hierarchies[name])
        self._set_hierarchy(name, hierarchy)

    def undo(self, name: str) -> None:
        """Bring back the hierarchy before the last edit."""
        if self.earlier_hierarchies.get(name):
            self._set_hierarchy(name, self.earlier_hierarchies[name].pop())

    def _set_hierarchy(self, name: str, hierarchy: Hierarchy) -> None:
        self.hierarchies[name] = hierarchy
        if name in self.lowest_levels:  # its levels are others now
            self.lowest_levels = self.lowest_levels | {name: self._lowest_level(name)}
        self.version += 1
        session.own(session.AnonymizeResult).table = None

    def load_plan(self, plan: Plan) -> None:
        """Use a plan made earlier in place of the choices on the page.

        Raises: SchemaError when its columns are others.
        """
        if others := {*plan.roles, *filter(None, (plan.subset, plan.household))} ^ set(
            self.roles
        ):
            raise SchemaError(
                "the plan is for other columns: {columns}",
                remedy="use the plan made for this table, or make a new plan",
                columns=join_with_commas(sorted(others)),
            )
        self.plan_of_table = None
        session.own(session.AnonymizeResult).table = None
        self.use_plan(plan)

    def use_plan(self, plan: Plan | None) -> None:
        """Use this plan in place of the page's choices; None returns to them."""
        self.loaded_plan = plan
        self.version += 1

    def find_new_values(self, curator: Curator, plan: Plan) -> dict[str, list[str]]:
        """Return the values that the plan's hierarchies lack, by column."""
        if not plan.method.needs_hierarchies:
            return {}
        names = plan.quasi_identifiers
        self.add_missing_hierarchies(curator, names)
        values = {
            name: self.table_values(name) - set(plan.hierarchies[name].values)
            for name in names
        }
        return {name: sorted(new) for name, new in values.items() if new}

    def add_suggested_hierarchies(self, plan: Plan, names: Iterable[str]) -> Plan:
        """Return the plan with suggested hierarchies for these columns.

        Its levels are to be chosen anew.
        """
        hierarchies = {
            **plan.hierarchies,
            **{name: self.hierarchies[name] for name in names},
        }
        return dataclasses.replace(plan, hierarchies=hierarchies, node=None)

    def mark_imported(self, name: str, hierarchy: Hierarchy) -> Hierarchy:
        """Return an imported hierarchy; its reason says that it is from a file."""
        return dataclasses.replace(hierarchy, reason=_("From a file."))


def anonymize_state(curator: Curator) -> AnonymizeState:
    """Return the page's choices for this data set; at first, the proposed ones."""
    current = session.own(AnonymizeState)
    if not current.roles:
        proposed = session.evaluate_once(curator, ("roles",), RolesQuestion)
        current.roles = {proposal.column: proposal.role for proposal in proposed}
        person = curator.schema.unit.id_column
        if current.roles.get(person or "") == "undecided":
            current.roles[str(person)] = "identifier"
    current.add_missing_hierarchies(curator, current.quasi_identifiers)
    return current


def roles_grid(curator: Curator, page_state: AnonymizeState) -> pd.DataFrame:
    """Return a table with each column, its role and the reason for the proposed
    role.
    """
    proposed = session.evaluate_once(curator, ("roles",), RolesQuestion)
    lines = [
        (proposal.column, page_state.roles[proposal.column], translate(proposal.reason))
        for proposal in proposed
    ]
    return pd.DataFrame(lines, columns=["column", "role", "why"])


def hierarchy_grid(hierarchy: Hierarchy) -> pd.DataFrame:
    """Return a line per value, with a column per level."""
    names = [_("value"), *(f"{_('level')} {i}" for i in range(1, hierarchy.height + 1))]
    return pd.DataFrame(dict(zip(names, hierarchy.levels, strict=True)))


def hierarchy_from_grid(grid: pd.DataFrame) -> Hierarchy:
    """Return the hierarchy of a grid. Raises: HierarchyError when it does not nest."""
    levels = tuple(
        tuple(grid[column].fillna("").astype(str)) for column in grid.columns
    )
    return Hierarchy(values=levels[0], levels=levels)
