"""The people of classes, and how many of them hold each sensitive value, as privacy
models see them.
"""

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
    counted_pairs,
    leaves_of,
)
from dpcore.tables.people import once_each, people_per_class, person_of
from dpcore.tables.rows import Held
from dpcore.tables.value_counts import ValueCounts

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, kw_only=True, eq=False)
class SensitiveColumn:
    """A sensitive column in the whole published table.

    Attributes:
        values: its values, numbers in their order; without a hierarchy, those of no
            published row last.
        counts: (values,) people who hold each value; a person with several values
            counts for each.
    """

    values: tuple[str, ...]
    hierarchy: Hierarchy | None
    counts: IntArray

    @property
    def ranks(self) -> int:
        """How many values have a place in the order: those of the hierarchy, or of the
        published rows.
        """
        return (
            int(np.count_nonzero(self.counts))
            if self.hierarchy is None
            else len(self.values)
        )

    @cached_property
    def logs(self) -> FloatArray:
        """Natural logarithms of 0, 1, 2, ... up to the sum of the counts, with 0 for 0.

        They are the same on every processor.
        """
        return np.array([0.0, *map(math.log, range(1, int(self.counts.sum()) + 1))])

    @cached_property
    def parents(self) -> tuple[IntArray, ...]:
        """Codes of the labels one level above, parents[level] by code at a level of the
        hierarchy.
        """
        if self.hierarchy is None:
            raise ParameterError(
                "hierarchical distance needs a hierarchy of the sensitive column",
                remedy="take the suggested one, or give every value of the column a line",
            )
        codes = [
            self.hierarchy.codes(level) for level in range(self.hierarchy.height + 1)
        ]
        return tuple(by_code(finer, coarser) for finer, coarser in pairwise(codes))


def by_code(codes: IntArray, numbers: IntArray) -> IntArray:
    """Bring one number per leaf to one per label, since the leaves of a label share
    it.
    """
    result = np.empty(codes.max() + 1, dtype=np.int64)
    result[codes] = numbers
    return result


class ClassStatistics(Protocol):
    """The figures that a model may look at, one entry per class."""

    @property
    def secrets(self) -> Mapping[str, SensitiveColumn]:
        """The sensitive columns, as they are in the whole published table."""

    @property
    def people(self) -> IntArray:
        """Published people, or rows where each row is a person."""

    @property
    def population(self) -> IntArray:
        """People of the whole table."""

    def histogram(self, column: str) -> ValueCounts:
        """Return published people by value of a sensitive column."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of one table as models see them, their owners and the sensitive values
    they hold.

    Attributes:
        person: (rows,) number of the person, None where every row is one.
        values: sensitive column -> (rows,) number of the value.
        weights: (rows,) people that each row stands for, where it stands for several.
        place: (rows,) where each is in the table, which has distinct tuples; None where
            it has rows.
    """

    number: int
    secrets: Mapping[str, SensitiveColumn]
    person: IntArray | None
    values: Mapping[str, IntArray]
    weights: IntArray | None = None
    place: IntArray | None = None

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        secrets: Mapping[str, Hierarchy | None],
        person: str | None = None,
        weights: IntArray | None = None,
        held: Held | None = None,
    ) -> Rows:
        """Read the person and the sensitive columns of a table, or of its distinct
        tuples with weights.

        Where it is known who holds them, a row is a pair of a group of people and a
        tuple.
        """
        codes = person_of(frame, person)
        described = {}
        values = {}
        for name, hierarchy in secrets.items():
            described[name], values[name] = secret_of(
                frame,
                name,
                hierarchy,
                person=codes,
                weights=weights,
                held=held,
            )
        if held is None:
            return cls(
                number=len(frame),
                secrets=described,
                person=codes,
                values=values,
                weights=weights,
            )
        return cls(
            number=len(held.place),
            secrets=described,
            person=held.group,
            values={name: codes[held.place] for name, codes in values.items()},
            weights=held.people[held.group],
            place=held.place,
        )

    @property
    def codes(self) -> list[IntArray]:
        """The columns that tell these rows apart, of the person and of the sensitive
        values.
        """
        return [*self.values.values(), *([] if self.person is None else [self.person])]

    def united(self, first: IntArray, weights: IntArray) -> Rows:
        """Return one row for several of one person and values, by the first one and
        their number.
        """
        taken = self.taken(first)
        return taken if self.person is not None else replace(taken, weights=weights)

    def taken(self, rows: IntArray) -> Rows:
        """Return some of the rows."""
        return replace(
            self,
            number=len(rows),
            person=None if self.person is None else self.person[rows],
            values={name: values[rows] for name, values in self.values.items()},
            weights=None if self.weights is None else self.weights[rows],
            place=None if self.place is None else self.place[rows],
        )

    def spread(self, figures: NDArray[Number]) -> NDArray[Number]:
        """(rows,) a figure of each row or tuple of the table."""
        return figures if self.place is None else figures[self.place]

    def groups(self, classes: IntArray) -> Groups:
        """Return the rows in these classes."""
        return Groups(rows=self, classes=classes)

    def together(self, marked: BoolArray) -> Groups:
        """Return the marked rows in one class.

        Args:
            marked: (rows or tuples of the table,).
        """
        places = self.spread(marked).nonzero()[0]
        return self.taken(places).groups(np.zeros_like(places))


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Classes counted row by row, which local methods and the check of a finished table
    give to a model.

    Attributes:
        classes: (rows,) class of each row.
    """

    rows: Rows
    classes: IntArray

    @property
    def secrets(self) -> Mapping[str, SensitiveColumn]:
        """The sensitive columns, as they are in the whole published table."""
        return self.rows.secrets

    @cached_property
    def people(self) -> IntArray:
        """Distinct people of each class."""
        person = self.rows.person
        weights = self.rows.weights
        if weights is None:
            return people_per_class(self.classes, person)
        places = once_each(self.classes, person)
        return np.bincount(self.classes[places], weights[places]).astype(np.int64)

    @property
    def population(self) -> IntArray:
        """The published people, since these classes know no others."""
        return self.people

    def histogram(self, column: str) -> ValueCounts:
        """People by value of a sensitive column."""
        values = self.rows.values[column]
        classes = self.classes
        weights = self.rows.weights
        if self.rows.person is not None:
            places = once_each(class_index([classes, values]), self.rows.person)
            classes = classes[places]
            values = values[places]
            weights = None if weights is None else weights[places]
        group, value, count = counted_pairs(classes, values, weights)
        return ValueCounts(
            group=group, value=value, count=count, classes=len(self.people)
        )


def secret_of(
    frame: pd.DataFrame,
    name: str,
    hierarchy: Hierarchy | None,
    *,
    person: IntArray | None,
    published: IntArray | slice = slice(None),
    weights: IntArray | None = None,
    held: Held | None = None,
) -> tuple[SensitiveColumn, IntArray]:
    """Count a sensitive column over the published rows, and number each row's value,
    (rows,).

    Args:
        frame: the table, or its distinct tuples.
        name: of the column.
        hierarchy: of the column, if it has one.
        person: (rows,) number of the person; None where every row is one.
        published: the places of the rows that are counted.
        weights: (rows,) people that each row stands for, where it stands for several.
        held: who they are, where people hold several rows.
    """
    if hierarchy is None:
        leaves = leaves_of(frame, name)
        values = tuple(leaves.labels)
        codes = leaves.codes
    else:
        hierarchy, codes = hierarchy.read(frame[name])
        values = hierarchy.values
    if held is not None:
        shown = np.zeros(len(codes), dtype=bool)
        shown[published] = True
        held = held.among(shown)
        places = once_each(codes[held.place], held.group)
        people = held.people[held.group[places]]
        counts = np.bincount(codes[held.place[places]], people, len(values)).astype(
            np.int64
        )
    elif weights is None:
        there = codes[published]
        places = once_each(there, None if person is None else person[published])
        counts = np.bincount(there[places], minlength=len(values))
    else:
        counts = np.bincount(codes[published], weights[published], len(values)).astype(
            np.int64
        )
    # a reader, who sees published rows, ranks their values
    if hierarchy is None and not counts.all():
        order = np.argsort(counts == 0, kind="stable")
        values = tuple(values[place] for place in order)
        counts = counts[order]
        codes = order.argsort()[codes]
    return SensitiveColumn(values=values, hierarchy=hierarchy, counts=counts), codes
