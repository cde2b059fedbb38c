"""Prepare a table for anonymization by a plan: roles, rows, owners, secrets."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dpcore.anonymization._groups import Rows
from dpcore.anonymization.choices import Choices
from dpcore.errors import (
    SchemaError,
    k_too_large_error,
    missing_column_error,
    two_roles_error,
)
from dpcore.schema.values import as_text
from dpcore.schema.words import YES_AND_NO
from dpcore.tables.classes import BoolArray, IntArray
from dpcore.tables.rows import DistinctRows, Microdata, TupleOwners
from dpcore.text import Text

# Words for true and false in a subset column, in lower case
TRUE_WORDS = {"1", "true", *(yes for yes, _ in YES_AND_NO)}
FALSE_WORDS = {"0", "false", *(no for _, no in YES_AND_NO)}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Inputs:
    """A private table with the settings of a plan, and what is derived from both.

    Attributes:
        frame: the table; under a research subset, the population.
        weights, owners: for distinct tuples in place of rows: rows of each, and its
            holders.
    """

    frame: pd.DataFrame
    plan: Choices
    weights: IntArray | None = None
    owners: TupleOwners | None = None

    @classmethod
    def from_table(cls, table: pd.DataFrame | Microdata, plan: Choices) -> Inputs:
        """Prepare a table, or a table of its distinct tuples.

        Raises: SchemaError when the roles do not fit the rows of the table.
        """
        if isinstance(table, DistinctRows):
            return cls(
                frame=code_columns(table.frame, plan),
                plan=plan,
                weights=table.rows,
                owners=table.owners,
            )
        frame = table.frame if isinstance(table, Microdata) else table
        check_roles(frame.columns, plan)
        check_households(
            plan,
            lambda home, person: (
                frame.groupby(person, dropna=False)[home].nunique(dropna=False).max()
            ),
        )
        return cls(frame=code_columns(frame, plan), plan=plan)

    @cached_property
    def is_in_subset(self) -> BoolArray | None:
        """Which rows are to be published, shape (rows,); None for all.

        Raises: SchemaError, see `mark_subset`.
        """
        return mark_subset(self.frame, self.plan)

    @cached_property
    def published_rows(self) -> pd.DataFrame:
        """The rows to be published, before they are recoded."""
        return (
            self.frame if self.is_in_subset is None else self.frame[self.is_in_subset]
        )

    @property
    def person_column(self) -> str | None:
        """The column of people to count; None if rows count or owners are given."""
        return self.plan.unit_column if self.weights is None else None

    @cached_property
    def published_weights(self) -> IntArray | None:
        """Number of rows of each published tuple, shape (tuples,); None if it is 1."""
        return (
            self.weights
            if self.weights is None or self.is_in_subset is None
            else self.weights[self.is_in_subset]
        )

    @cached_property
    def rows(self) -> Rows:
        """Owners and sensitive values of the published rows."""
        return self.select_rows(np.ones(len(self.published_rows), dtype=bool))

    def select_rows(self, row_mask: BoolArray) -> Rows:
        """Return the marked published rows, reduced to owners and sensitive values.

        Args:
            row_mask: (published rows,).
        """
        marked_in_frame = row_mask
        if self.is_in_subset is not None:
            marked_in_frame = np.zeros(len(self.frame), dtype=bool)
            marked_in_frame[self.is_in_subset] = row_mask
        weights = self.published_weights
        return Rows.from_frame(
            self.published_rows[row_mask],
            self.plan.secrets,
            self.person_column,
            weights=None if weights is None else weights[row_mask],
            owners=None
            if self.owners is None
            else self.owners.select_and_renumber(marked_in_frame),
        )

    def check_people(self, people: int) -> None:
        """Refuse a table with fewer people than the plan's k.

        It would have no rows, unless the plan publishes suppressed rows as they are.

        Raises: InfeasibleError.
        """
        keeps_all = self.plan.limit == 1 and self.plan.suppressed in ("kept", "blanked")
        if self.plan.k > people and not keeps_all:
            raise k_too_large_error(self.plan.k, Text(self.plan.counted_unit))


def code_columns(frame: pd.DataFrame, plan: Choices) -> pd.DataFrame:
    """Round and clip the columns for which a plan has a coding.

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
    """Refuse a table unless its columns are those of the plan.

    Raises: SchemaError.
    """
    special = [
        name for name in (plan.subset, plan.person, plan.household) if name is not None
    ]
    for name in (*plan.roles, *special):
        if name not in columns:
            raise missing_column_error(name)
    for name in columns:
        if name not in plan.roles and name not in special:
            raise SchemaError(
                "the plan gives no role to {column}",
                remedy="give a column this role",
                column=name,
            )


def check_households(plan: Choices, max_distinct: Callable[[str, str], float]) -> None:
    """Refuse a plan if a person has rows in two households.

    Else k households in a group would not be k people.

    Args:
        max_distinct: returns the most values of one column in the rows of one value of another.

    Raises: SchemaError.
    """
    household = plan.household
    person = plan.person
    if household is None or person is None:
        return
    if household == person:
        raise two_roles_error(household)
    if max_distinct(household, person) > 1:
        raise SchemaError(
            "somebody has rows in two households of {column}",
            remedy="choose another column",
            column=household,
        )


def mark_subset(frame: pd.DataFrame, plan: Choices) -> BoolArray | None:
    """Return which rows are to be published, shape (rows,); None for all.

    True and false may be words, as in files.

    Raises: SchemaError for other values.
    """
    if plan.subset is None:
        return None
    words = as_text(frame[plan.subset]).str.lower()
    published = words.isin(TRUE_WORDS)
    if not (published | words.isin(FALSE_WORDS)).all():
        raise SchemaError(
            "the subset column {column} must hold true and false only",
            remedy="use true for the rows to be published",
            column=plan.subset,
        )
    return np.asarray(published, dtype=bool)
