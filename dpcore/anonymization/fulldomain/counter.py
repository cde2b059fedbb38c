"""Equivalence classes of a node, counted by one number per tuple, without sorting.

Where labels have too many combinations, those that occur are numbered first. The
numbers of one half of the columns are kept for all nodes that share their levels.
"""

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from dpcore.anonymization.fulldomain.coded import CodedClasses
from dpcore.anonymization.fulldomain.grouper import Grouper
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.groups import SensitiveColumn
from dpcore.tables.classes import BoolArray, FloatArray, IntArray, starts_of
from dpcore.tables.value_counts import ValueCounts

COMBINATIONS = 8
"""Numbers that may be counted for each tuple, twice as many where people are."""
REMEMBERED = 60_000_000
"""Labels that a Counter keeps at most: 240 MB."""


class Counted:
    """The equivalence classes of one node, counted, with one entry per class."""

    def __init__(self, coded: CodedClasses, node: Node, most: int) -> None:
        self.table = coded.table
        self.node = node
        self._coded = coded
        self._index, self._space = coded.index(node, most)
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
            self._coded.keys.take(self._first), self._coded.classes.node, self.node
        )

    @cached_property
    def _occupied(self) -> IntArray:
        """The number of each class."""
        if self.table.has_subset:
            return np.flatnonzero(self._whole > 0)
        return np.flatnonzero(
            (self._dense if self.table.members is None else self._each(0)) > 0
        )

    @cached_property
    def _dense(self) -> FloatArray:
        if not self._coded.step:
            return np.asarray(
                np.bincount(self._index, self._coded.published, self._space),
                dtype=np.float64,
            )
        return self._both - self._coded.step * self._whole

    @cached_property
    def _whole(self) -> FloatArray:
        """Rows of the table by number."""
        if not self._coded.step:
            return np.asarray(
                np.bincount(self._index, self._coded.population, self._space),
                dtype=np.float64,
            )
        return np.floor(self._both / self._coded.step)

    @cached_property
    def _both(self) -> FloatArray:
        return np.asarray(
            np.bincount(self._index, self._coded.both, self._space), dtype=np.float64
        )

    @cached_property
    def _place(self) -> IntArray:
        """By number, the place of its class."""
        place = np.empty(self._space, dtype=np.int64)
        place[self._occupied] = np.arange(len(self._occupied))
        return place

    @cached_property
    def _class(self) -> IntArray:
        """(classes that were counted,) the class that each is in."""
        return self._place.take(self._index)

    @cached_property
    def sizes(self) -> IntArray:
        """Published rows of the research subset, or of the table if there is none,
        int64.
        """
        return self._dense.take(self._occupied).astype(np.int64)

    @cached_property
    def people(self) -> IntArray:
        """Published people, int64."""
        return self.sizes if self.table.members is None else self._people(0)

    @cached_property
    def population(self) -> IntArray:
        """People of the table, int64."""
        if not self.table.has_subset:
            return self.people
        if self.table.members is not None:
            return self._people(-1)
        return self._whole.take(self._occupied).astype(np.int64)

    def _each(self, view: int) -> FloatArray:
        """People of a view by number."""
        if view not in self._views:
            sums = np.bincount(self._index, self._coded.people(view), self._space)
            figures = np.asarray(sums, dtype=np.float64)
            keys, counts = self._coded.corrections(view, self.node)
            np.add.at(figures, self._index[self._coded.classes.owner[keys]], counts)
            self._views[view] = figures
        return self._views[view]

    def _people(self, view: int) -> IntArray:
        return self._each(view).take(self._occupied).astype(np.int64)

    def labels(self, column: int, marked: BoolArray | IntArray) -> IntArray:
        """Return the codes of a column's labels in some of the classes."""
        return self._coded.labels(column, self.node[column]).take(self._first[marked])

    @cached_property
    def _first(self) -> IntArray:
        """The place of one of the classes that were counted together, for each
        class.
        """
        places = np.empty(self._space, dtype=np.int64)
        places[self._index] = np.arange(len(self._index))
        return places.take(self._occupied)

    def suppresses_few(self, marked: BoolArray, allowed: int) -> bool:
        """Return whether at most `allowed` published people have a row in the marked
        classes.
        """
        # counts a person in each of their classes
        each = int(self.people[marked].sum())
        if each <= allowed or self.table.members is None:
            return each <= allowed
        if int(self.table.fewest_people(np.array(each))) > allowed:
            return False
        return self.people_in(marked) <= allowed

    def people_in(self, marked: BoolArray) -> int:
        """Return published people who have a row in one of the marked classes (one flag
        per class).
        """
        if self.table.members is None or not marked.any():
            return int(self.sizes[marked].sum())
        inside = np.zeros(self._space, dtype=bool)
        inside[self._occupied[marked]] = True
        return self._coded.members.number_among(inside.take(self._index))

    def inside(self, place: int) -> BoolArray:
        """(classes that were counted,) which of them are in one of the classes."""
        return np.asarray(self._index == self._occupied[place])

    @property
    def of_entries(self) -> IntArray:
        """(entries,) the class of each of the table's keys."""
        return np.asarray(self._class[self._coded.classes.of_entries])

    def histogram(self, column: str) -> ValueCounts:
        """Return published people by value of a sensitive column."""
        if column not in self._histograms:
            self._histograms[column] = self._histogram(
                column, self.table.members is not None
            )
        return self._histograms[column]

    def most_held(self, column: str) -> ValueCounts:
        """Return the same with each as often as finer classes may hold them
        together.
        """
        return (
            self.histogram(column)
            if self.table.members is None
            else self._histogram(column, False)
        )

    def _histogram(self, column: str, corrects: bool) -> ValueCounts:
        width = len(self.secrets[column].values)
        value, figures = self._coded.held(column)
        most = COMBINATIONS * len(value)
        # counted by number, and numbered by class at the end
        is_small = self._space * width <= most
        group, space = (
            (self._index, self._space)
            if is_small
            else (self._class, len(self._occupied))
        )
        cells = (group * width).take(self._coded.classes.owner)
        cells += value
        if corrects:
            places, counts = self._coded.corrections(
                1 + list(self.secrets).index(column), self.node
            )
            cells = np.concatenate([cells, cells[places]])
            figures = np.concatenate([figures, counts])
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
            starts = starts_of(cells)
            cells = cells[starts]
            figures = np.add.reduceat(figures, starts)
            cells = cells[figures > 0]
            figures = figures[figures > 0]
        group = cells // width
        return ValueCounts(
            group=self._place.take(group) if is_small else group,
            value=cells - group * width,
            count=figures.astype(np.int64),
            classes=len(self._occupied),
        )


class Counter:
    """Finds the classes of nodes that are not below a floor, which may rise."""

    def __init__(self, table: Tuples) -> None:
        self.table = table
        self._grouper = Grouper(table)
        self.base = self._grouper.finest()
        self._floor = CodedClasses(self.base)

    def classes(self, node: Node) -> Counted:
        """Return the classes of a node at or above the floor."""
        if self._floor.size > REMEMBERED:
            self._floor = CodedClasses(self.base)  # without labels
        most = (
            COMBINATIONS
            * len(self.base.class_keys)
            * (1 if self.table.members is None else 2)
        )
        return Counted(self._floor, node, most)

    def around(self, classes: Counted, place: int) -> FloatArray:
        """(shape of the lattice) the people, at most, with the rows of one of these
        classes, at each node.

        Nodes below the floor are left out.
        """
        return self._floor.around(
            int((classes.inside(place) * self.base.sizes).argmax())
        )

    def raise_floor(self, floor: Node) -> None:
        """From now on only nodes at or above this one are asked for."""
        if floor != self.base.node:
            self.base = self._grouper.generalized(self.base, floor)
            self._floor = CodedClasses(self.base)
