"""A plan made earlier, in place of the choices on the page: for this table, or the next delivery of it."""

from __future__ import annotations

import dataclasses

from dpcore.anonymize.plan import Plan
from dpcore.curator import Curator
from dpcore.errors import SchemaError
from workbench import session
from workbench.anonymize import work
from workbench.anonymize.work import AnonymizeState


def load(current: AnonymizeState, text: str) -> None:
    """Take a plan.

    Raises: ParameterError when the text is no plan, SchemaError when its columns are others.
    """
    plan = Plan.from_json(text)
    columns = {*plan.roles, *(name for name in (plan.subset, plan.household) if name)}
    missing, new = sorted(columns - set(current.roles)), sorted(set(current.roles) - columns)
    if missing or new:
        raise SchemaError(
            "the plan is for other columns: {columns}",
            remedy="take the plan of this table, or make a new one",
            columns=", ".join([*missing, *new]),
        )
    current.loaded, current.made_by, session.session().anonymized = plan, None, None
    current.version += 1


def new_values(curator: Curator, current: AnonymizeState, plan: Plan) -> dict[str, list[str]]:
    """Values of this table that the hierarchies of a plan have no path for, by column."""
    if not plan.method.needs_hierarchies:
        return {}
    names = plan.quasi_identifiers
    work.complete(curator, current, names)
    found = {
        name: sorted(work.table_values(current, name) - set(plan.hierarchies[name].values)) for name in names
    }
    return {name: values for name, values in found.items() if values}


def take_suggested(current: AnonymizeState, columns: list[str]) -> None:
    """Keep the loaded plan, with the suggested hierarchies of some columns; the levels are chosen anew."""
    if current.loaded is not None:
        suggested = {name: current.hierarchies[name] for name in columns}
        hierarchies = {**current.loaded.hierarchies, **suggested}
        current.loaded = dataclasses.replace(current.loaded, hierarchies=hierarchies, node=None)
        current.version += 1


def choose_anew(current: AnonymizeState) -> None:
    """Keep the loaded plan, but not its levels: they may not hold for another table."""
    if current.loaded is not None:
        current.loaded = dataclasses.replace(current.loaded, node=None)
        current.version += 1


def put_aside(current: AnonymizeState) -> None:
    """Go back to the choices on the page."""
    current.loaded = None
    current.version += 1
