"""The people and sensitive values of classes, on which privacy models decide."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Protocol, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.errors import ParameterError
from dpcore.tables.classes import (
    BoolArray,
    FloatArray,
    IntArray,
    class_index,
    count_pairs,
    leaves_of,
)
from dpcore.tables.people import (
    people_per_class,
    person_codes,
    select_one_row_per_person,
)
from dpcore.tables.rows import TupleOwners
from dpcore.tables.value_counts import ValueCounts

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, kw_only=True, eq=False)
class SensitiveColumn:
    """The values of a sensitive column in the whole published table, with counts.

    Attributes:
        values: its values, numbers in their order; without a hierarchy, those of no
            published row last.
        counts: (values,) people with each value; a person with several values counts
            for each.
    """

    values: tuple[str, ...]
    hierarchy: Hierarchy | None
    counts: IntArray

    @property
    def rank_count(self) -> int:
        """Number of ranked values: all if there is a hierarchy, else those
        published.
        """
        return (
            int(np.count_nonzero(self.counts))
            if self.hierarchy is None
            else len(self.values)
        )

    @cached_property
    def log_table(self) -> FloatArray:
        """Natural logarithms of 0 to the sum of counts, with log 0 taken as 0.

        They are the same on every processor.
        """
        return np.array([0.0, *map(math.log, range(1, int(self.counts.sum()) + 1))])

    @cached_property
    def parents(self) -> tuple[IntArray, ...]:
        """Code of the label one level above each label: parents[level][code]."""
        if self.hierarchy is None:
            raise ParameterError(
                "hierarchical distance needs a hierarchy of the sensitive column",
                remedy="use the suggested hierarchy, or give every value of the "
                "column a line",
            )
        codes = [
            self.hierarchy.codes(level) for level in range(self.hierarchy.height + 1)
        ]
        return tuple(
            reduce_to_labels(finer, coarser) for finer, coarser in pairwise(codes)
        )


def reduce_to_labels(codes: IntArray, numbers: IntArray) -> IntArray:
    """Reduce numbers per leaf to numbers per label; leaves of a label must agree."""
    result = np.empty(codes.max() + 1, dtype=np.int64)
    result[codes] = numbers
    return result


class ClassStatistics(Protocol):
    """What a privacy model may know about the classes, one entry per class."""

    @property
    def secrets(self) -> Mapping[str, SensitiveColumn]:
        """The sensitive columns of the whole published table."""

    @property
    def people(self) -> IntArray:
        """Published people of each class, or rows if every row is a person."""

    @property
    def population(self) -> IntArray:
        """People of the population table in each class."""

    def histogram(self, column: str) -> ValueCounts:
        """Count the published people of each class by sensitive value."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of a table, reduced to the owner and the sensitive values of each.

    Attributes:
        person: (rows,) number of the person, None if every row is one.
        values: sensitive column -> (rows,) number of the value.
        weights: (rows,) people that each row stands for, None if each stands for one.
        tuple_index: (rows,) index of each in a table of distinct tuples, None in a table of
            rows.
    """

    row_count: int
    secrets: Mapping[str, SensitiveColumn]
    person: IntArray | None
    values: Mapping[str, IntArray]
    weights: IntArray | None = None
    tuple_index: IntArray | None = None

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        secrets: Mapping[str, Hierarchy | None],
        person: str | None = None,
        weights: IntArray | None = None,
        owners: TupleOwners | None = None,
    ) -> Rows:
        """Read people and sensitive columns of a table or of its distinct tuples.

        If `owners` says who holds the tuples, a row is a pair of a group of people and a
        tuple.
        """
        people = person_codes(frame, person)
        described = {}
        values = {}
        for name, hierarchy in secrets.items():
            described[name], values[name] = count_sensitive_column(
                frame,
                name,
                hierarchy,
                person=people,
                weights=weights,
                owners=owners,
            )
        if owners is None:
            return cls(
                row_count=len(frame),
                secrets=described,
                person=people,
                values=values,
                weights=weights,
            )
        return cls(
            row_count=len(owners.tuple_index),
            secrets=described,
            person=owners.group,
            values={name: codes[owners.tuple_index] for name, codes in values.items()},
            weights=owners.people[owners.group],
            tuple_index=owners.tuple_index,
        )

    @property
    def codes(self) -> list[IntArray]:
        """Codes that distinguish the rows: sensitive values, then people."""
        return [*self.values.values(), *([] if self.person is None else [self.person])]

    def merge_rows(self, first: IntArray, weights: IntArray) -> Rows:
        """Return one row for each set of rows with the same person and values.

        Args:
            first: a row of each.
            weights: the number of rows of each, kept if every row is a person.
        """
        taken = self.select(first)
        return taken if self.person is not None else replace(taken, weights=weights)

    def select(self, rows: IntArray) -> Rows:
        """Select rows by index."""
        return replace(
            self,
            row_count=len(rows),
            person=None if self.person is None else self.person[rows],
            values={name: values[rows] for name, values in self.values.items()},
            weights=None if self.weights is None else self.weights[rows],
            tuple_index=None if self.tuple_index is None else self.tuple_index[rows],
        )

    def expand_to_rows(self, figures: NDArray[Number]) -> NDArray[Number]:
        """Expand an array over the table's rows or tuples to these rows."""
        return figures if self.tuple_index is None else figures[self.tuple_index]

    def group_by_class(self, classes: IntArray) -> Groups:
        """Group the rows by these classes."""
        return Groups(rows=self, classes=classes)

    def group_as_one_class(self, row_mask: BoolArray) -> Groups:
        """Group the marked rows as one class.

        Args:
            row_mask: (rows or tuples of the table,).
        """
        places = self.expand_to_rows(row_mask).nonzero()[0]
        return self.select(places).group_by_class(np.zeros_like(places))


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Classes of rows, counted from the rows themselves rather than from a lattice.

    Attributes:
        classes: (rows,) class of each row.
    """

    rows: Rows
    classes: IntArray

    @property
    def secrets(self) -> Mapping[str, SensitiveColumn]:
        """The sensitive columns of the whole published table."""
        return self.rows.secrets

    @cached_property
    def people(self) -> IntArray:
        """Distinct people of each class."""
        person = self.rows.person
        weights = self.rows.weights
        if weights is None:
            return people_per_class(self.classes, person)
        places = select_one_row_per_person(self.classes, person)
        return np.bincount(self.classes[places], weights[places]).astype(np.int64)

    @property
    def population(self) -> IntArray:
        """The published people of each class; no population table is known here."""
        return self.people

    def histogram(self, column: str) -> ValueCounts:
        """Count the people of each class by sensitive value."""
        values = self.rows.values[column]
        classes = self.classes
        weights = self.rows.weights
        if self.rows.person is not None:
            places = select_one_row_per_person(
                class_index([classes, values]), self.rows.person
            )
            classes = classes[places]
            values = values[places]
            weights = None if weights is None else weights[places]
        group, value, count = count_pairs(classes, values, weights)
        return ValueCounts(
            group=group, value=value, count=count, class_count=len(self.people)
        )


def count_sensitive_column(
    frame: pd.DataFrame,
    name: str,
    hierarchy: Hierarchy | None,
    *,
    person: IntArray | None,
    published: IntArray | slice = slice(None),
    weights: IntArray | None = None,
    owners: TupleOwners | None = None,
) -> tuple[SensitiveColumn, IntArray]:
    """Count people by value of a sensitive column; return each row's code too.

    Args:
        frame: the table, or its distinct tuples.
        name: of the column.
        hierarchy: of the column, if it has one.
        person: (rows,) number of the person; None if every row is one.
        published: the places of the rows that are counted.
        weights: (rows,) people that each row stands for, None if each stands for one.
        owners: who they are, if people hold several rows.
    """
    if hierarchy is None:
        leaves = leaves_of(frame, name)
        values = tuple(leaves.labels)
        codes = leaves.codes
    else:
        hierarchy, codes = hierarchy.read_column(frame[name])
        values = hierarchy.values
    # Count the people with each value in the published rows
    if owners is not None:
        shown = np.zeros(len(codes), dtype=bool)
        shown[published] = True
        owners = owners.select(shown)
        places = select_one_row_per_person(codes[owners.tuple_index], owners.group)
        people = owners.people[owners.group[places]]
        counts = np.bincount(
            codes[owners.tuple_index[places]], people, len(values)
        ).astype(np.int64)
    elif weights is None:
        shown_codes = codes[published]
        places = select_one_row_per_person(
            shown_codes, None if person is None else person[published]
        )
        counts = np.bincount(shown_codes[places], minlength=len(values))
    else:
        counts = np.bincount(codes[published], weights[published], len(values)).astype(
            np.int64
        )
    # Values of no published row come last: a reader ranks only those they see
    if hierarchy is None and not counts.all():
        order = np.argsort(counts == 0, kind="stable")
        values = tuple(values[place] for place in order)
        counts = counts[order]
        codes = order.argsort()[codes]
    return SensitiveColumn(values=values, hierarchy=hierarchy, counts=counts), codes
