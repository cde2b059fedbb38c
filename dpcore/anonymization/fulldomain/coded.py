"""Classes of a node as one number for each label, from which coarser classes are
counted.
"""

import math
from dataclasses import replace
from functools import cached_property, reduce
from operator import getitem

import numpy as np
import pandas as pd

from dpcore.anonymization.fulldomain.grouper import Classes
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.members import Members
from dpcore.anonymization.fulldomain.people import folded_of
from dpcore.tables.classes import BoolArray, FloatArray, IntArray

Begun = list[list[BoolArray]]
"""By column and level: which corrections may have begun there."""

FEW = 16_384
"""Combinations of labels that are looked at one by one."""
EXACT = 2**52
"""Whole numbers below it are exact as real ones."""
FIT = 2**31
"""Numbers of one word of 32 bits; combinations that are more are numbered as they
occur.
"""


class CodedClasses:
    """The classes of one node, taken apart into their labels, to count those of coarser
    nodes from.

    Sensitive values are looked at for histograms only. All else has one entry per
    class.
    """

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.table = classes.table
        self.keys = classes.class_keys
        self.size = 0
        self._labels: dict[tuple[int, int], IntArray] = {}
        self._halves: dict[tuple[int, Node], tuple[IntArray, int]] = {}
        self._digits: dict[int, IntArray] = {}
        self._figures: dict[int, FloatArray] = {}
        self._held: dict[str, tuple[IntArray, FloatArray]] = {}
        self._pending: dict[int, tuple[Begun, IntArray, FloatArray]] = {}

    def labels(self, column: int, level: int) -> IntArray:
        """(classes,) the code of each one's label, int32."""
        if not any(self.classes.node):
            return self.table.labels(column, level)
        labels = self._labels.get((column, level))
        if labels is None:
            step = self.table.coarser[column][self.classes.node[column]][level]
            labels = np.asarray(step.astype(np.int32).take(self.digits(column)))
            self._labels[column, level] = labels
            self.size += len(labels)
        return labels

    def index(self, node: Node, most: int) -> tuple[IntArray, int]:
        """(classes,) one number for each combination of labels, and how many numbers
        there are.

        Where those are above `most`, only combinations that occur are numbered.
        """
        half = self.table.half
        (left, lefts), (right, rights) = (
            self._half(0, node[:half]),
            self._half(half, node[half:]),
        )
        if lefts * rights > most:
            return _as_they_occur(left.astype(np.int64) * rights + right)
        number = left * np.int32(rights)
        number += right
        return number, lefts * rights

    def _half(self, first: int, levels: Node) -> tuple[IntArray, int]:
        """(classes,) the number of each combination of labels of some columns, and how
        many there are.
        """
        known = self._halves.get((first, levels))
        if known is None:
            numbers: IntArray = np.zeros(len(self.keys), dtype="int32")
            combinations = 1
            for column, level in enumerate(levels, first):
                labels = self.table.widths[column][level]
                if labels > 1:
                    combinations *= labels
                    numbers = numbers.astype(
                        np.int64 if combinations > FIT else np.int32, copy=False
                    )
                    numbers *= labels
                    numbers += self.labels(column, level)
                if combinations > FIT:
                    numbers, combinations = _as_they_occur(numbers)
            known = self._halves[first, levels] = (
                numbers.astype(np.int32, copy=False),
                combinations,
            )
            self.size += len(numbers)
        return known

    def around(self, place: int) -> FloatArray:
        """(shape of the lattice) the people, at most, in the class of one of these at
        each coarser node.

        The node at which it meets another is known column by column.
        """
        table = self.table
        index = np.full(
            len(self.keys), table.lattice.index(self.classes.node), dtype=np.int32
        )
        for columns, numbers in self._groups:
            steps = np.zeros(1, dtype=np.int64)
            for column in columns:
                paths = self._paths[column]
                own = paths[:, table.digits(self.keys[place], column)]
                met = (paths != own[:, None]).sum(axis=0)
                steps = (steps[:, None] + met * table.lattice.strides[column]).ravel()
            index += steps.astype(np.int32).take(numbers)
        weights = self.published if table.members is None else self.people(0)
        return table.lattice.summed(
            np.bincount(index, weights, table.lattice.size).astype(np.float64)
        )

    @cached_property
    def _paths(self) -> list[IntArray]:
        """The label at each level from this node on (axis 0) of each code (axis 1), by
        column.
        """
        steps = zip(self.table.coarser, self.classes.node, strict=True)
        return [np.array(column[level][level:]) for column, level in steps]

    @cached_property
    def _groups(self) -> list[tuple[list[int], IntArray]]:
        """Columns side by side with few combinations of labels together, and (classes,)
        which each has.
        """
        widths = list(map(getitem, self.table.widths, self.classes.node))
        groups: list[list[int]] = [[]]
        for column in range(len(widths)):
            if math.prod(widths[each] for each in (*groups[-1], column)) > FEW:
                groups.append([])
            groups[-1].append(column)
        return [
            (
                columns,
                self._half(columns[0], self.classes.node[columns[0] : columns[-1] + 1])[
                    0
                ],
            )
            for columns in groups
            if columns
        ]

    def digits(self, column: int) -> IntArray:
        """(classes,) the code of each one in a column."""
        if column not in self._digits:
            self._digits[column] = self.table.digits(self.keys, column)
        return self._digits[column]

    @cached_property
    def published(self) -> FloatArray:
        """(classes,) published rows, as weights."""
        return self.classes.sizes.astype(np.float64)

    @cached_property
    def population(self) -> FloatArray:
        """(classes,) rows of the table, as weights."""
        return self.classes.of_classes(self.classes.counts).astype(np.float64)

    @cached_property
    def step(self) -> float:
        """More than all published rows, a power of two; 0 where both counts do not fit
        into one number.
        """
        step = 2.0 ** int(self.published.sum()).bit_length()
        return (
            step
            if self.table.has_subset and step * self.population.sum() < EXACT
            else 0.0
        )

    @cached_property
    def both(self) -> FloatArray:
        """(classes,) the two, as one weight."""
        return self.step * self.population + self.published

    def people(self, view: int) -> FloatArray:
        """(classes,) people of a view that every sensitive value is in, as weights."""
        if view not in self._figures:
            assert self.classes.views is not None
            self._figures[view] = self.classes.of_classes(
                self.classes.views[view]
            ).astype(np.float64)
        return self._figures[view]

    @cached_property
    def members(self) -> Members:
        """The owners of the published rows of each class."""
        members = self.table.members
        assert members is not None
        shown = members.among(self.table.published > 0)
        return replace(shown, entry=self.classes.of_entries.take(shown.entry))

    def held(self, column: str) -> tuple[IntArray, FloatArray]:
        """(keys,) the number of the value of a sensitive column, and the people who
        hold it, as weights.
        """
        if column not in self._held:
            figures = self.classes.published
            if self.classes.views is not None:
                figures = self.classes.views[1 + list(self.table.fields).index(column)]
            value = self.table.fields[column].of(self.classes.keys)
            self._held[column] = value, figures.astype(np.float64)
        return self._held[column]

    def corrections(self, view: int, node: Node) -> tuple[IntArray, FloatArray]:
        """Return the keys where people of a view are counted too often at a coarser
        node, and what to add.
        """
        begun, keys, counts = self._pending_of(view)
        here = np.flatnonzero(reduce(np.bitwise_and, map(getitem, begun, node)))
        return keys[here], counts[here]

    def _pending_of(self, view: int) -> tuple[Begun, IntArray, FloatArray]:
        """Return the levels, keys and counts of the corrections of a view that may
        begin at coarser nodes.
        """
        if view not in self._pending:
            folded = folded_of(self.table)
            pending = self.classes.pending
            assert folded is not None
            assert pending is not None
            these = pending[folded.view[pending] == view % len(folded.counts)]
            begun = [
                [folded.levels[column, these] <= level for level in range(levels)]
                for column, levels in enumerate(self.table.lattice.shape)
            ]
            keys = self.classes.of_keys[folded.entry[these]]
            self._pending[view] = begun, keys, folded.count[these].astype(np.float64)
        return self._pending[view]


def _as_they_occur(numbers: IntArray) -> tuple[IntArray, int]:
    """Return the place of each number among those that occur, in their order, and how
    many those are.
    """
    places, known = pd.factorize(numbers, sort=True)
    return places, len(known)
