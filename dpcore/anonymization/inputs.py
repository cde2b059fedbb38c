"""A table as a plan reads it, with checked roles, the rows to be published, their
owners and secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dpcore.anonymization.choices import Choices
from dpcore.anonymization.groups import Rows
from dpcore.errors import SchemaError, no_column, too_few_for, two_roles
from dpcore.schema.values import as_text
from dpcore.schema.words import YES_AND_NO
from dpcore.tables.classes import BoolArray, IntArray
from dpcore.tables.rows import DistinctRows, Held, Microdata
from dpcore.text import Text

YES = {"1", "true", *(yes for yes, _ in YES_AND_NO)}
NO = {"0", "false", *(no for _, no in YES_AND_NO)}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Inputs:
    """A table and the choices of a plan, and what follows from both, each computed
    once. Private.

    Attributes:
        frame: the table; under a research subset, the population.
        weights, held: of distinct tuples in place of rows: rows of each, and who holds
            them.
    """

    frame: pd.DataFrame
    plan: Choices
    weights: IntArray | None = None
    held: Held | None = None

    @classmethod
    def of(cls, table: pd.DataFrame | Microdata, plan: Choices) -> Inputs:
        """Take a table, or the distinct tuples of one that stays where it is.

        Raises: SchemaError when the roles do not fit the rows of the table.
        """
        if isinstance(table, DistinctRows):
            return cls(
                frame=coded(table.frame, plan),
                plan=plan,
                weights=table.rows,
                held=table.held,
            )
        frame = table.frame if isinstance(table, Microdata) else table
        check_roles(frame.columns, plan)
        check_households(
            plan,
            lambda home, person: (
                frame.groupby(person, dropna=False)[home].nunique(dropna=False).max()
            ),
        )
        return cls(frame=coded(frame, plan), plan=plan)

    @cached_property
    def subset(self) -> BoolArray | None:
        """Marks of the rows to be published, (rows,), None for all.

        Raises: SchemaError, see `subset_of`.
        """
        return subset_of(self.frame, self.plan)

    @cached_property
    def published(self) -> pd.DataFrame:
        """The rows to be published, as they are."""
        return self.frame if self.subset is None else self.frame[self.subset]

    @property
    def person(self) -> str | None:
        """The column that names who is counted, None where every row is, or `held` says
        it.
        """
        return self.plan.counted if self.weights is None else None

    @cached_property
    def published_weights(self) -> IntArray | None:
        """The rows that each tuple stands for, (published rows,), None where each is a
        row.
        """
        return (
            self.weights
            if self.weights is None or self.subset is None
            else self.weights[self.subset]
        )

    @cached_property
    def rows(self) -> Rows:
        """The owners of the published rows, and the sensitive values that the models
        look at.
        """
        return self.among(np.ones(len(self.published), dtype=bool))

    def among(self, marked: BoolArray) -> Rows:
        """Return the same of some of the published rows, as if there were no others.

        Args:
            marked: (published rows,).
        """
        there = marked
        if self.subset is not None:
            there = np.zeros(len(self.frame), dtype=bool)
            there[self.subset] = marked
        weights = self.published_weights
        return Rows.of(
            self.published[marked],
            self.plan.secrets,
            self.person,
            weights=None if weights is None else weights[marked],
            held=None if self.held is None else self.held.within(there),
        )

    def check_people(self, people: int) -> None:
        """Refuse a table of too few people for the plan's k.

        Raises: InfeasibleError.
        """
        if self.plan.k > people and self.plan.limit < 1:
            raise too_few_for(self.plan.k, Text(self.plan.counts))


def coded(frame: pd.DataFrame, plan: Choices) -> pd.DataFrame:
    """Return some columns of a table with those coded that a plan codes.

    Raises: SchemaError for a column that does not hold numbers.
    """
    return frame.assign(
        **{
            name: code(frame[name])
            for name, code in plan.coded.items()
            if name in frame
        }
    )


def check_roles(columns: Collection[str], plan: Choices) -> None:
    """Refuse a table whose columns are not those of the plan.

    Raises: SchemaError.
    """
    named = [
        name for name in (plan.subset, plan.person, plan.household) if name is not None
    ]
    for name in (*plan.roles, *named):
        if name not in columns:
            raise no_column(name)
    for name in columns:
        if name not in plan.roles and name not in named:
            raise SchemaError(
                "the plan gives no role to {column}",
                remedy="give a column this role",
                column=name,
            )


def check_households(plan: Choices, most: Callable[[str, str], float]) -> None:
    """Refuse a person of two households, since k households in a group would not be k
    people.

    Args:
        most: finds how many values of one column the rows of one value of another have
            at most.

    Raises: SchemaError.
    """
    household = plan.household
    person = plan.person
    if household is None or person is None:
        return
    if household == person:
        raise two_roles(household)
    if most(household, person) > 1:
        raise SchemaError(
            "somebody has rows in two households of {column}",
            remedy="choose another column",
            column=household,
        )


def subset_of(frame: pd.DataFrame, plan: Choices) -> BoolArray | None:
    """Return marks of the rows to be published, (rows,), None for all.

    True and false may be words, as files have them.

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
