"""Count equivalence classes by one number per combination of labels.

Classes are counted without sorting tuples. If labels have too many combinations, only
those that occur get a number. The numbers of the first half of the columns are kept for
all nodes that share these levels, and those of the second half as well.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, reduce
from operator import getitem

import numpy as np
import pandas as pd

from dpcore.anonymization._groups import SensitiveColumn
from dpcore.anonymization.fulldomain._grouper import Classes, Grouper
from dpcore.anonymization.fulldomain._members import Members
from dpcore.anonymization.fulldomain._people import people_sums_of
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.tables.classes import BoolArray, FloatArray, IntArray, run_starts
from dpcore.tables.value_counts import ValueCounts

MAX_NUMBERS_PER_TUPLE = 8
"""Largest ratio of label combinations to tuples that is counted densely.

It is twice that if people have several rows.
"""
MAX_CACHED_LABELS = 60_000_000
"""Labels that a counter keeps at most: 240 MB of int32."""
MAX_GROUP_COMBINATIONS = 16_384
"""Label combinations of a group of columns, at most, for a table of their steps."""
MAX_EXACT_SUM = 2**52
"""Sums of weights below it are exact as float64."""
MAX_INT32_NUMBERS = 2**31
"""Numbers that fit into int32; of more combinations, only occurring ones get one."""

CorrectionFlags = list[list[BoolArray]]
"""By column and level: the corrections that begin at this level or below."""


class CodedClasses:
    """The classes of one node as columns of label codes.

    Classes of coarser nodes are counted from them. Every array has one entry per class,
    but for the histograms of sensitive values, which have one per key.
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
        self._sensitive_values: dict[str, tuple[IntArray, FloatArray]] = {}
        self._pending: dict[int, tuple[CorrectionFlags, IntArray, FloatArray]] = {}

    def labels(self, column: int, level: int) -> IntArray:
        """Return each class's label code in a column at a level, int32."""
        if not any(self.classes.node):
            return self.table.labels(column, level)
        labels = self._labels.get((column, level))
        if labels is None:
            step = self.table.coarser_codes[column][self.classes.node[column]][level]
            labels = np.asarray(step.astype(np.int32).take(self.digits(column)))
            self._labels[column, level] = labels
            self.size += len(labels)
        return labels

    def number_combinations(self, node: Node, max_numbers: int) -> tuple[IntArray, int]:
        """Assign a number to each class's label combination; return also how many
        numbers exist.

        If there are more than `max_numbers`, only combinations that occur are numbered.
        """
        half = self.table.first_half_columns
        left, left_count = self._number_half(0, node[:half])
        right, right_count = self._number_half(half, node[half:])
        if left_count * right_count > max_numbers:
            return _renumber_occurring(left.astype(np.int64) * right_count + right)
        number = left * np.int32(right_count)
        number += right
        return number, left_count * right_count

    def _number_half(self, first_column: int, levels: Node) -> tuple[IntArray, int]:
        """Assign numbers to the label combinations of adjacent columns, and count the
        numbers.

        The combinations are those of adjacent columns, from `first_column` on.
        """
        known = self._halves.get((first_column, levels))
        if known is None:
            numbers: IntArray = np.zeros(len(self.keys), dtype="int32")
            combinations = 1
            for column, level in enumerate(levels, first_column):
                labels = self.table.label_counts[column][level]
                if labels > 1:
                    combinations *= labels
                    numbers = numbers.astype(
                        np.int64 if combinations > MAX_INT32_NUMBERS else np.int32,
                        copy=False,
                    )
                    numbers *= labels
                    numbers += self.labels(column, level)
                if combinations > MAX_INT32_NUMBERS:
                    numbers, combinations = _renumber_occurring(numbers)
            known = self._halves[first_column, levels] = (
                numbers.astype(np.int32, copy=False),
                combinations,
            )
            self.size += len(numbers)
        return known

    def bound_people_above(self, class_number: int) -> FloatArray:
        """Return, for each node, an upper bound on one class's people after merging.

        Column by column it is known from which level on another class shares its label.
        So each class is counted at the finest node at which it joins, and sums over all
        specializations give the class at every coarser node.
        """
        table = self.table
        index = np.full(
            len(self.keys), table.lattice.index(self.classes.node), dtype=np.int32
        )
        # In each column, find the lowest level at which a class shares its label with
        # the requested class; add the levels up as a node index.
        for columns, numbers in self._column_groups:
            steps = np.zeros(1, dtype=np.int64)
            for column in columns:
                paths = self._labels_above[column]
                own = paths[:, table.digits(self.keys[class_number], column)]
                met = (paths != own[:, None]).sum(axis=0)
                steps = (steps[:, None] + met * table.lattice.strides[column]).ravel()
            index += steps.astype(np.int32).take(numbers)
        weights = self.published if table.members is None else self.people(0)
        return table.lattice.sum_specializations(
            np.bincount(index, weights, table.lattice.size).astype(np.float64)
        )

    @cached_property
    def _labels_above(self) -> list[IntArray]:
        """Label codes per column, shape (levels, codes), from this node's level up."""
        steps = zip(self.table.coarser_codes, self.classes.node, strict=True)
        return [np.array(column[level][level:]) for column, level in steps]

    @cached_property
    def _column_groups(self) -> list[tuple[list[int], IntArray]]:
        """Groups of adjacent columns, with each class's label combination in them.

        Each group has few combinations.
        """
        widths = list(map(getitem, self.table.label_counts, self.classes.node))
        groups: list[list[int]] = [[]]
        for column in range(len(widths)):
            if (
                math.prod(widths[member] for member in (*groups[-1], column))
                > MAX_GROUP_COMBINATIONS
            ):
                groups.append([])
            groups[-1].append(column)
        return [
            (
                columns,
                self._number_half(
                    columns[0], self.classes.node[columns[0] : columns[-1] + 1]
                )[0],
            )
            for columns in groups
            if columns
        ]

    def digits(self, column: int) -> IntArray:
        """Return each class's code in one column, shape (classes,)."""
        if column not in self._digits:
            self._digits[column] = self.table.digits(self.keys, column)
        return self._digits[column]

    @cached_property
    def published(self) -> FloatArray:
        """Published rows of each class, as float weights, shape (classes,)."""
        return self.classes.sizes.astype(np.float64)

    @cached_property
    def population(self) -> FloatArray:
        """Population rows of each class, as float weights, shape (classes,)."""
        return self.classes.sum_by_class(self.classes.counts).astype(np.float64)

    @cached_property
    def packing_factor(self) -> float:
        """A power of two for packing two counts into one float weight.

        It is above the sum of published rows, and 0 if the counts do not fit exactly.
        """
        step = 2.0 ** int(self.published.sum()).bit_length()
        return (
            step
            if self.table.has_subset and step * self.population.sum() < MAX_EXACT_SUM
            else 0.0
        )

    @cached_property
    def packed_weights(self) -> FloatArray:
        """Published and population rows of each class, packed into one float."""
        return self.packing_factor * self.population + self.published

    def people(self, view: int) -> FloatArray:
        """Return the people of each class counted by a view, shape (classes,).

        All sensitive values count together. Views are those of `PeopleSums`.
        """
        if view not in self._figures:
            assert self.classes.people_by_view is not None
            self._figures[view] = self.classes.sum_by_class(
                self.classes.people_by_view[view]
            ).astype(np.float64)
        return self._figures[view]

    @cached_property
    def members(self) -> Members:
        """The owners of the published rows of each class."""
        members = self.table.members
        assert members is not None
        shown = members.select(self.table.published > 0)
        return replace(shown, entry=self.classes.entry_classes.take(shown.entry))

    def sensitive_values(self, column: str) -> tuple[IntArray, FloatArray]:
        """Return the sensitive code of each key, and its people as float weights."""
        if column not in self._sensitive_values:
            figures = self.classes.published
            if self.classes.people_by_view is not None:
                figures = self.classes.people_by_view[
                    1 + list(self.table.sensitive_bits).index(column)
                ]
            value = self.table.sensitive_bits[column].extract(self.classes.keys)
            self._sensitive_values[column] = value, figures.astype(np.float64)
        return self._sensitive_values[column]

    def people_corrections(self, view: int, node: Node) -> tuple[IntArray, FloatArray]:
        """Return keys with people counted twice at a node, and the corrections.

        They are those of a coarser node.
        """
        begun, keys, counts = self._pending_corrections(view)
        here = np.flatnonzero(reduce(np.bitwise_and, map(getitem, begun, node)))
        return keys[here], counts[here]

    def _pending_corrections(
        self, view: int
    ) -> tuple[CorrectionFlags, IntArray, FloatArray]:
        """Return start levels, keys and counts of a view's remaining corrections.

        They may begin at coarser nodes.
        """
        if view not in self._pending:
            folded = people_sums_of(self.table)
            pending = self.classes.pending_corrections
            assert folded is not None
            assert pending is not None
            chosen = pending[folded.view[pending] == view % len(folded.counts)]
            begun = [
                [folded.levels[column, chosen] <= level for level in range(levels)]
                for column, levels in enumerate(self.table.lattice.shape)
            ]
            keys = self.classes.entry_keys[folded.entry[chosen]]
            self._pending[view] = begun, keys, folded.count[chosen].astype(np.float64)
        return self._pending[view]


class CountedClasses:
    """The equivalence classes of one node with their counts, one entry each."""

    def __init__(self, coded: CodedClasses, node: Node, max_numbers: int) -> None:
        self.table = coded.table
        self.node = node
        self._coded = coded
        self._index, self._space = coded.number_combinations(node, max_numbers)
        self._histograms: dict[str, ValueCounts] = {}
        self._views: dict[int, FloatArray] = {}

    @property
    def secrets(self) -> Mapping[str, SensitiveColumn]:
        """The sensitive columns of the table."""
        return self.table.secrets

    @cached_property
    def class_keys(self) -> IntArray:
        """One key of each class, ascending."""
        return self.table.generalize(
            self._coded.keys.take(self._representatives),
            self._coded.classes.node,
            self.node,
        )

    @cached_property
    def _occupied_numbers(self) -> IntArray:
        """The label-combination number of each class, ascending."""
        if self.table.has_subset:
            return np.flatnonzero(self._population_by_number > 0)
        return np.flatnonzero(
            (
                self._published_by_number
                if self.table.members is None
                else self._people_by_number(0)
            )
            > 0
        )

    @cached_property
    def _published_by_number(self) -> FloatArray:
        if not self._coded.packing_factor:
            return np.asarray(
                np.bincount(self._index, self._coded.published, self._space),
                dtype=np.float64,
            )
        return (
            self._packed_counts_by_number
            - self._coded.packing_factor * self._population_by_number
        )

    @cached_property
    def _population_by_number(self) -> FloatArray:
        """Population rows by label-combination number, as float weights."""
        if not self._coded.packing_factor:
            return np.asarray(
                np.bincount(self._index, self._coded.population, self._space),
                dtype=np.float64,
            )
        return np.floor(self._packed_counts_by_number / self._coded.packing_factor)

    @cached_property
    def _packed_counts_by_number(self) -> FloatArray:
        """Packed published and population rows by number, see `packing_factor`."""
        return np.asarray(
            np.bincount(self._index, self._coded.packed_weights, self._space),
            dtype=np.float64,
        )

    @cached_property
    def _class_of_number(self) -> IntArray:
        """The class of each label-combination number; undefined for unused ones."""
        place = np.empty(self._space, dtype=np.int64)
        place[self._occupied_numbers] = np.arange(len(self._occupied_numbers))
        return place

    @cached_property
    def _class_of_entry(self) -> IntArray:
        """Index of the class that contains each finer class, shape (finer classes,)."""
        return self._class_of_number.take(self._index)

    @cached_property
    def sizes(self) -> IntArray:
        """Published rows of each class, int64."""
        return self._published_by_number.take(self._occupied_numbers).astype(np.int64)

    @cached_property
    def people(self) -> IntArray:
        """Published people of each class, int64."""
        return self.sizes if self.table.members is None else self._people_by_class(0)

    @cached_property
    def population(self) -> IntArray:
        """People of the population table in each class, int64."""
        if not self.table.has_subset:
            return self.people
        if self.table.members is not None:
            return self._people_by_class(-1)
        return self._population_by_number.take(self._occupied_numbers).astype(np.int64)

    def _people_by_number(self, view: int) -> FloatArray:
        """People counted by a view of `PeopleSums`, by label-combination number."""
        if view not in self._views:
            sums = np.bincount(self._index, self._coded.people(view), self._space)
            figures = np.asarray(sums, dtype=np.float64)
            keys, counts = self._coded.people_corrections(view, self.node)
            np.add.at(
                figures, self._index[self._coded.classes.key_classes[keys]], counts
            )
            self._views[view] = figures
        return self._views[view]

    def _people_by_class(self, view: int) -> IntArray:
        return (
            self._people_by_number(view).take(self._occupied_numbers).astype(np.int64)
        )

    def labels(self, column: int, selection: BoolArray | IntArray) -> IntArray:
        """Return the label codes of a column in the selected classes."""
        return self._coded.labels(column, self.node[column]).take(
            self._representatives[selection]
        )

    @cached_property
    def _representatives(self) -> IntArray:
        """The index of one finer class in each class."""
        places = np.empty(self._space, dtype=np.int64)
        places[self._index] = np.arange(len(self._index))
        return places.take(self._occupied_numbers)

    def suppresses_few(self, class_mask: BoolArray, max_people: int) -> bool:
        """Return whether the selected classes hold at most `max_people` people."""
        # This sum counts a person once in each of their classes
        total = int(self.people[class_mask].sum())
        if total <= max_people or self.table.members is None:
            return total <= max_people
        if int(self.table.fewest_people(np.array(total))) > max_people:
            return False
        return self.count_people_in(class_mask) <= max_people

    def count_people_in(self, class_mask: BoolArray) -> int:
        """Count the published people of the selected classes."""
        if self.table.members is None or not class_mask.any():
            return int(self.sizes[class_mask].sum())
        inside = np.zeros(self._space, dtype=bool)
        inside[self._occupied_numbers[class_mask]] = True
        return self._coded.members.count_people(inside.take(self._index))

    def is_merged_into(self, class_number: int) -> BoolArray:
        """Return whether each finer class belongs to the class at an index."""
        return np.asarray(self._index == self._occupied_numbers[class_number])

    @property
    def entry_classes(self) -> IntArray:
        """The index of the class of each key of the table, shape (entries,)."""
        return np.asarray(self._class_of_entry[self._coded.classes.entry_classes])

    def histogram(self, column: str) -> ValueCounts:
        """Count the published people of each class by sensitive value."""
        if column not in self._histograms:
            self._histograms[column] = self._histogram(
                column, self.table.members is not None
            )
        return self._histograms[column]

    def upper_histogram(self, column: str) -> ValueCounts:
        """Count people by sensitive value, once for each finer class they are in.

        It bounds how often finer classes together hold each value.
        """
        return (
            self.histogram(column)
            if self.table.members is None
            else self._histogram(column, False)
        )

    def _histogram(self, column: str, corrects: bool) -> ValueCounts:
        width = len(self.secrets[column].values)
        value, figures = self._coded.sensitive_values(column)
        most = MAX_NUMBERS_PER_TUPLE * len(value)
        # Index cells by label-combination number if there are few, else by class
        is_small = self._space * width <= most
        group, space = (
            (self._index, self._space)
            if is_small
            else (self._class_of_entry, len(self._occupied_numbers))
        )
        cells = (group * width).take(self._coded.classes.key_classes)
        cells += value
        if corrects:
            places, counts = self._coded.people_corrections(
                1 + list(self.secrets).index(column), self.node
            )
            cells = np.concatenate([cells, cells[places]])
            figures = np.concatenate([figures, counts])
        # Count with a dense array if the cells fit, else by sorting
        if space * width <= most:
            counted = np.asarray(
                np.bincount(cells, figures, space * width), dtype=np.float64
            )
            cells = np.flatnonzero(counted > 0)
            figures = counted.take(cells)
        else:
            order = cells.argsort()
            cells = cells[order]
            figures = figures[order]
            starts = run_starts(cells)
            cells = cells[starts]
            figures = np.add.reduceat(figures, starts)
            cells = cells[figures > 0]
            figures = figures[figures > 0]
        group = cells // width
        return ValueCounts(
            group=self._class_of_number.take(group) if is_small else group,
            value=cells - group * width,
            count=figures.astype(np.int64),
            class_count=len(self._occupied_numbers),
        )


class Counter:
    """Counts the classes of nodes at or above a floor that can only rise."""

    def __init__(self, table: Tuples) -> None:
        self.table = table
        self._grouper = Grouper(table)
        self.base = self._grouper.finest_classes()
        self._floor = CodedClasses(self.base)

    def count_classes(self, node: Node) -> CountedClasses:
        """Count the classes of a node at or above the floor."""
        if self._floor.size > MAX_CACHED_LABELS:
            self._floor = CodedClasses(self.base)  # with an empty cache of labels
        most = (
            MAX_NUMBERS_PER_TUPLE
            * len(self.base.class_keys)
            * (1 if self.table.members is None else 2)
        )
        return CountedClasses(self._floor, node, most)

    def bound_people_above(
        self, classes: CountedClasses, class_number: int
    ) -> FloatArray:
        """Return, for each node, an upper bound on one class's people after merging.

        Nodes below the floor are left out.
        """
        return self._floor.bound_people_above(
            int((classes.is_merged_into(class_number) * self.base.sizes).argmax())
        )

    def raise_floor(self, floor: Node) -> None:
        """Raise the floor: later calls must ask for nodes at or above it."""
        if floor != self.base.node:
            self.base = self._grouper.generalize_classes(self.base, floor)
            self._floor = CodedClasses(self.base)


def _renumber_occurring(numbers: IntArray) -> tuple[IntArray, int]:
    """Replace numbers by their ranks among the distinct ones, and count the ranks."""
    places, occurring = pd.factorize(numbers, sort=True)
    return places, len(occurring)
