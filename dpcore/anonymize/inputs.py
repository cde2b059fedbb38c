"""The table as a plan asks for it: checked, the rows to be published, whose they are, what they hold."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import pandas as pd

from dpcore.anonymize.choices import Choices
from dpcore.anonymize.groups import Rows
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.anonymize.models import KAnonymity, SensitiveModel
from dpcore.errors import InfeasibleError, SchemaError
from dpcore.schema.values import as_text
from dpcore.schema.words import YES_AND_NO
from dpcore.tables.classes import BoolArray

YES = {"1", "true", *(yes for yes, _ in YES_AND_NO)}
NO = {"0", "false", *(no for _, no in YES_AND_NO)}


def check_table(frame: pd.DataFrame, plan: Choices, *, suppresses: bool) -> None:
    """Refuse a table that the roles of a plan do not fit, or that is too small for its k.

    Args: suppresses: whether the method may suppress rows, up to all of them at a limit of 1.

    Raises: SchemaError, InfeasibleError.
    """
    check_roles(frame.columns, plan)
    check_households(
        plan, lambda home, person: frame.groupby(person, dropna=False)[home].nunique(dropna=False).max()
    )
    rows = published_rows(frame, plan)
    people = len(rows) if plan.counted is None else rows[plan.counted].nunique(dropna=False)
    check_people(people, plan, suppresses=suppresses)


def check_roles(columns: Collection[str], plan: Choices) -> None:
    """Refuse a table whose columns are not those of the plan. Raises: SchemaError."""
    named = [name for name in (plan.subset, plan.person, plan.household) if name is not None]
    for name in (*plan.roles, *named):
        if name not in columns:
            raise SchemaError("the table has no column {column}", remedy="check the names", column=name)
    for name in columns:
        if name not in plan.roles and name not in named:
            raise SchemaError(
                "the plan gives no role to {column}", remedy="give the column a role", column=name
            )


def check_people(people: int, plan: Choices, *, suppresses: bool) -> None:
    """Refuse a table of too few people for the plan's k. Raises: InfeasibleError."""
    everything = suppresses and plan.limit == 1
    if k_of(plan) > people and not everything:
        raise InfeasibleError(
            "k ({k}) is above the number of {whom}",
            remedy="lower k, or bring more {whom}",
            k=k_of(plan),
            whom=plan.counts,
        )


def check_households(plan: Choices, most: Callable[[str, str], float]) -> None:
    """Refuse a person of two households: k households in a group would not be k people.

    Args: most: finds how many values of one column the rows of one value of another have at most.
    Raises: SchemaError.
    """
    household, person = plan.household, plan.person
    if household is None or person is None:
        return
    if household == person:
        raise SchemaError(
            "{column} says whose a row is, and cannot be the household too",
            remedy="choose another column",
            column=household,
        )
    if most(household, person) > 1:
        raise SchemaError(
            "somebody has rows in two households of {column}",
            remedy="choose a column that puts every person in one household",
            column=household,
        )


def k_of(plan: Choices) -> int:
    """The people that every class needs; 1 where the plan asks for no k."""
    return max((model.k for model in plan.models if isinstance(model, KAnonymity)), default=1)


def secrets_of(plan: Choices) -> dict[str, Hierarchy | None]:
    """The columns that the models look at, with the hierarchy of each that has one."""
    columns = (model.column for model in plan.models if isinstance(model, SensitiveModel))
    return {name: plan.hierarchies.get(name) for name in dict.fromkeys(columns)}


def subset_of(frame: pd.DataFrame, plan: Choices) -> BoolArray | None:
    """(rows,) which rows are to be published; None for all. True and false may be words, as files have them.

    Raises: SchemaError for other values.
    """
    if plan.subset is None:
        return None
    words = as_text(frame[plan.subset]).str.lower()
    published = words.isin(YES)
    if not (published | words.isin(NO)).all():
        raise SchemaError(
            "the subset column {column} must hold true and false only",
            remedy="mark the rows to be published with true",
            column=plan.subset,
        )
    return np.asarray(published, dtype=bool)


def published_rows(frame: pd.DataFrame, plan: Choices) -> pd.DataFrame:
    """The rows to be published, as they are."""
    subset = subset_of(frame, plan)
    return frame if subset is None else frame[subset]


def held_by(rows: pd.DataFrame, plan: Choices) -> Rows:
    """Whose the published rows are, and the sensitive values that the models look at."""
    return Rows.of(rows, secrets_of(plan), plan.counted)
