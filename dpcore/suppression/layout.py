"""The cells of a table of one to three axes, and how they add up."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.errors import LimitError, ParameterError

MAX_AXES = 3
MAX_CELLS = 20_000
MAX_CELLS_OF_THREE_AXES = 5_000  # whole numbers of these take the attack longer
TOTAL_LABEL = "Total"

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Group:
    """One row or column of a table: a group of values, or the total.

    Attributes:
        parent: index of the next coarser group; None for the total.
        values: of the column that belong to it.
    """

    label: str
    parent: int | None
    values: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The groups of one column: the total first, each group after its parent."""

    column: str
    groups: tuple[Group, ...]

    @classmethod
    def from_hierarchy(
        cls, column: str, hierarchy: Hierarchy, levels: Sequence[int] | None = None
    ) -> Axis:
        """Build an axis from some levels of a hierarchy, with a total.

        Args:
            levels: to be shown; None for all.

        Raises: ParameterError for levels that the hierarchy does not have.
        """
        shown = sorted(set(range(hierarchy.height) if levels is None else levels))
        if not set(shown) <= set(range(hierarchy.height + 1)):
            raise ParameterError(
                "the hierarchy of {column} has the levels 0 to {height}",
                remedy="choose levels from these",
                column=column,
                height=hierarchy.height,
            )
        groups = [
            Group(label=TOTAL_LABEL, parent=None, values=frozenset(hierarchy.values))
        ]

        def add(parent: int, leaves: Sequence[int], below: Sequence[int]) -> None:
            if not below:
                return
            level, finer = below[-1], below[:-1]
            inside: dict[str, list[int]] = {}
            for leaf in leaves:
                inside.setdefault(hierarchy.levels[level][leaf], []).append(leaf)
            for label, own in inside.items():
                if len(inside) == 1:
                    add(parent, own, finer)  # it would repeat the group around it
                    continue
                values = frozenset(hierarchy.values[leaf] for leaf in own)
                groups.append(Group(label=label, parent=parent, values=values))
                add(len(groups) - 1, own, finer)

        add(0, range(len(hierarchy.values)), shown)
        return cls(column=column, groups=tuple(groups))

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The groups directly inside each group that has some."""
        inside: dict[int, list[int]] = {}
        for number, group in enumerate(self.groups):
            if group.parent is not None:
                inside.setdefault(group.parent, []).append(number)
        return inside

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Number of groups that contain each group."""
        depths: list[int] = []
        for group in self.groups:
            depths.append(0 if group.parent is None else depths[group.parent] + 1)
        return tuple(depths)

    @cached_property
    def finest_group(self) -> dict[str, int]:
        """The smallest group that contains each value."""
        return {
            value: number
            for number, group in enumerate(self.groups)
            for value in group.values
        }

    def add_up(self, counts: Ints) -> Ints:
        """Add the counts of groups to those of their parents, along the first axis."""
        sums = counts.copy()
        for number in range(len(self.groups) - 1, 0, -1):
            parent = self.groups[number].parent
            assert parent is not None
            sums[parent] += sums[number]
        return sums

    def to_dict(self, *, values: bool) -> dict[str, Any]:
        """Return the axis as plain data for JSON.

        Args:
            values: whether the values of each group are listed.
        """
        return {
            "column": self.column,
            "groups": [
                {"label": group.label, "parent": group.parent}
                | ({"values": sorted(group.values)} if values else {})
                for group in self.groups
            ],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any], *, values: bool) -> Axis:
        """Read the output of `to_dict`, with or without values."""
        groups = tuple(
            Group(
                label=group["label"],
                parent=group["parent"],
                values=frozenset(group["values"] if values else ()),
            )
            for group in fields["groups"]
        )
        return cls(column=fields["column"], groups=groups)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The cells of a table, numbered with the last axis fastest.

    Raises: LimitError for too many cells; ParameterError for other than one to three
        different columns, or one without groups.
    """

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        check_columns(self.columns)
        for axis in self.axes:
            if len(axis.groups) < 3:
                raise ParameterError(
                    "column {column} has fewer than two groups in this table",
                    remedy="choose a finer level, or another column",
                    column=axis.column,
                )
        most = MAX_CELLS if len(self.axes) < MAX_AXES else MAX_CELLS_OF_THREE_AXES
        if self.size > most:
            raise LimitError(
                "the table has {cells} cells, and at most {most} can be protected",
                remedy="use coarser groups, or fewer levels or columns",
                cells=self.size,
                most=most,
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of groups of each axis."""
        return tuple(len(axis.groups) for axis in self.axes)

    @property
    def size(self) -> int:
        """Number of cells, with totals."""
        return int(np.prod(self.shape))

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the axes."""
        return tuple(axis.column for axis in self.axes)

    def labels(self, cell: int) -> tuple[str, ...]:
        """Return the label of a cell on each axis."""
        places = np.unravel_index(cell, self.shape)
        return tuple(
            axis.groups[int(place)].label
            for axis, place in zip(self.axes, places, strict=True)
        )

    def find_cell(self, labels: Sequence[str]) -> int:
        """Return the cell with these labels.

        Raises: ParameterError if there is none.
        """
        places = []
        for axis, label in itertools.zip_longest(self.axes, labels):
            listed = [group.label for group in axis.groups] if axis else []
            if label not in listed:
                raise ParameterError(
                    "an exception names a cell that the table does not have",
                    remedy="name a group of each column as the table labels it",
                )
            # If several groups have this label, choose the finest
            places.append(len(listed) - 1 - listed[::-1].index(label))
        return int(np.ravel_multi_index(places, self.shape))

    def is_ambiguous(self, labels: Sequence[str]) -> bool:
        """Return whether several cells have these labels."""
        return any(
            [group.label for group in axis.groups].count(label) > 1
            for axis, label in zip(self.axes, labels, strict=True)
        )

    def selected_values(self, cell: int) -> frozenset[tuple[str, frozenset[str]]]:
        """Return the values that a cell selects in each column that is not a total."""
        places = np.unravel_index(cell, self.shape)
        return frozenset(
            (axis.column, axis.groups[int(place)].values)
            for axis, place in zip(self.axes, places, strict=True)
            if place
        )

    @cached_property
    def equations(self) -> list[tuple[int, list[int]]]:
        """Each cell that is a sum of others along an axis, with those cells."""
        numbers = np.arange(self.size).reshape(self.shape)
        found = []
        for at, axis in enumerate(self.axes):
            lines = np.moveaxis(numbers, at, 0).reshape(len(axis.groups), -1)
            for parent, children in axis.children.items():
                for other in range(lines.shape[1]):
                    inside = [int(lines[child, other]) for child in children]
                    found.append((int(lines[parent, other]), inside))
        return found

    def add_up(self, finest: Ints) -> Ints:
        """Return the counts of all cells, given those of the finest groups."""
        counts = finest
        for at, axis in enumerate(self.axes):
            counts = np.moveaxis(axis.add_up(np.moveaxis(counts, at, 0)), 0, at)
        return counts.ravel()


def check_columns(names: Sequence[str]) -> None:
    """Refuse other than one to three different columns.

    Raises: ParameterError.
    """
    if len({*names} - {""}) != len(names) or not 1 <= len(names) <= MAX_AXES:
        raise ParameterError(
            "a table must have one to three different columns",
            remedy="choose one column, two or three",
        )
