"""Equivalence classes of a node, made from those of a finer node.

One group of bits is recoded, then the keys are sorted and added up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpcore.anonymize.fulldomain.bits import WORD
from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.groups import SensitiveColumn
from dpcore.tables.classes import BoolArray, IntArray, starts_of
from dpcore.tables.value_counts import ValueCounts

REMEMBERED = 20_000_000
"""Keys that a Grouper keeps at most: 320 MB."""


class ClassesOfNode(ABC):
    """The equivalence classes of one node, as a search looks at them, with one entry per class."""

    table: Tuples
    node: Node

    @property
    def secrets(self) -> Mapping[str, SensitiveColumn]:
        """The sensitive columns of the table."""
        return self.table.secrets

    @property
    @abstractmethod
    def sizes(self) -> IntArray:
        """Published rows of the research subset, or of the table if there is none, int64."""

    @property
    @abstractmethod
    def people(self) -> IntArray:
        """Published people, int64."""

    @property
    @abstractmethod
    def population(self) -> IntArray:
        """People of the table, int64."""

    @abstractmethod
    def histogram(self, column: str) -> ValueCounts:
        """Return published people by value of a sensitive column."""

    @abstractmethod
    def most_held(self, column: str) -> ValueCounts | None:
        """Return the same with each as often as finer classes may hold them together, None if unknown."""

    @abstractmethod
    def labels(self, column: int, marked: BoolArray | IntArray) -> IntArray:
        """Return the codes of a column's labels in some of the classes."""

    @property
    @abstractmethod
    def of_entries(self) -> IntArray:
        """(entries,) the class of each of the table's keys."""

    def people_in(self, marked: BoolArray) -> int:
        """Return published people who have a row in one of the marked classes (one flag per class)."""
        table = self.table
        if table.members is None or not marked.any():
            return int(self.sizes[marked].sum())
        return table.members.number_among(marked[self.of_entries] & (table.published > 0))

    def suppresses_few(self, marked: BoolArray, allowed: int) -> bool:
        """Return whether at most `allowed` published people have a row in the marked classes."""
        each = int(self.people[marked].sum())  # counts a person in each of their classes
        if each <= allowed or self.table.members is None:
            return each <= allowed
        if int(self.table.fewest_people(np.array(each))) > allowed:
            return False
        return self.people_in(marked) <= allowed


@dataclass(frozen=True, eq=False)
class Classes(ClassesOfNode):
    """The equivalence classes of one node, sorted.

    `keys` and `counts` are the distinct keys at this node with their rows; keys that differ in the tail only
    (the sensitive values and the subset bit) belong to one class. Where people have several rows, `views` are
    people by view and key (see `Folded`), and `pending` the corrections that may begin at coarser nodes.
    """

    table: Tuples
    node: Node
    keys: IntArray
    counts: IntArray
    views: IntArray | None = None
    pending: IntArray | None = None

    @cached_property
    def starts(self) -> IntArray:
        """The place in `keys` at which each class starts."""
        return starts_of(self.keys >> self.table.tail)

    @cached_property
    def class_keys(self) -> IntArray:
        """One key of each class."""
        return self.keys[self.starts] if self.table.tail else self.keys

    @cached_property
    def published(self) -> IntArray:
        """Published rows of each key, int64."""
        return self.counts * (self.keys & 1) if self.table.has_subset else self.counts

    @cached_property
    def owner(self) -> IntArray:
        """The class of each key."""
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.keys)))

    @cached_property
    def sizes(self) -> IntArray:
        return np.add.reduceat(self.published, self.starts) if self.table.tail else self.counts

    @cached_property
    def people(self) -> IntArray:
        return self.sizes if self.views is None else self.of_classes(self.views[0])

    @cached_property
    def population(self) -> IntArray:
        if not self.table.has_subset:
            return self.people
        return self.of_classes(self.counts if self.views is None else self.views[-1])

    def of_classes(self, figures: IntArray) -> IntArray:
        """(classes,) the sums of figures per key."""
        return np.add.reduceat(figures, self.starts) if self.table.tail else figures

    def labels(self, column: int, marked: BoolArray | IntArray) -> IntArray:
        return self.table.digits(self.class_keys[marked], column)

    @cached_property
    def of_keys(self) -> IntArray:
        """(entries,) the place in `keys` of each of the table's keys."""
        return np.searchsorted(
            self.keys, self.table.generalize(self.table.keys, (0,) * len(self.node), self.node)
        )

    @cached_property
    def of_entries(self) -> IntArray:
        return np.asarray(self.owner[self.of_keys] if self.table.tail else self.of_keys)

    def most_held(self, column: str) -> ValueCounts | None:
        return self.histogram(column) if self.views is None else None

    def histogram(self, column: str) -> ValueCounts:
        width = len(self.secrets[column].values)
        cells = self.owner * width + self.table.fields[column].of(self.keys)
        counts = self.published
        if self.views is not None:
            counts = self.views[1 + list(self.secrets).index(column)]
        if len(self.table.fields) > 1:
            order = cells.argsort(kind="stable")
            cells, counts = cells[order], counts[order]
        if len(self.table.fields) > 1 or self.table.has_subset:
            starts = starts_of(cells)
            cells, counts = cells[starts], np.add.reduceat(counts, starts)
            cells, counts = cells[counts > 0], counts[counts > 0]
        return ValueCounts(group=cells // width, value=cells % width, count=counts, classes=len(self.starts))


class Grouper:
    """A finder of the classes of nodes, which remembers the groupings on the way, column by column."""

    def __init__(self, table: Tuples) -> None:
        self.table = table
        self._bottom = (0,) * len(table.names)
        self._known: dict[Node, Classes] = {}
        self._size = 0
        self._count_bits = int(table.counts.sum()).bit_length()
        top = table.columns[0]
        self._packs = table.members is None and (top.shift + top.mask.bit_length() + self._count_bits <= WORD)

    def finest(self) -> Classes:
        """Return the classes of the table as it is."""
        table, folded = self.table, self.table.folded
        if folded is None:
            return Classes(table, self._bottom, table.keys, table.counts)
        pending = np.arange(len(folded.entry))
        return Classes(table, self._bottom, table.keys, table.counts, folded.counts, pending)

    def classes(self, node: Node) -> Classes:
        """Group a node.

        The path to it generalizes the columns with most values first.
        """
        levels = list(self._bottom)
        current = self.finest()
        for column in self.table.priority:
            if node[column]:
                levels[column] = node[column]
                step = tuple(levels)
                known = self._known.get(step)
                if known is None:
                    known = self.generalized(current, step, on_path=True)
                    self._remember(known)
                current = known
        return current

    def walk(self) -> Iterator[Classes]:
        """Yield the classes of every node, each made from a neighbor one level below it."""
        return self._walk(self.finest(), 0)

    def _walk(self, current: Classes, depth: int) -> Iterator[Classes]:
        if depth == len(self.table.priority):
            yield current
            return
        column = self.table.priority[depth]
        yield from self._walk(current, depth + 1)
        for level in range(1, self.table.lattice.shape[column]):
            node = (*current.node[:column], level, *current.node[column + 1 :])
            current = self.generalized(current, node, on_path=True)
            yield from self._walk(current, depth + 1)

    def generalized(self, classes: Classes, node: Node, *, on_path: bool = False) -> Classes:
        """Group a coarser node from the classes of a finer one.

        With `on_path`, the order is that of `walk`.
        """
        keys = self.table.generalize(classes.keys, classes.node, node)
        if self._packs:
            packed = (keys << self._count_bits) | classes.counts
            packed.sort()
            keys, counts = packed >> self._count_bits, packed & ((1 << self._count_bits) - 1)
            starts = starts_of(keys)
            return Classes(self.table, node, keys[starts], np.add.reduceat(counts, starts))
        order = keys.argsort()
        keys, counts = keys[order], classes.counts[order]
        starts = starts_of(keys)
        keys, counts = keys[starts], np.add.reduceat(counts, starts)
        if classes.views is None or classes.pending is None:
            return Classes(self.table, node, keys, counts)
        views = np.add.reduceat(classes.views[:, order], starts, axis=1)
        pending = self._correct(views, keys, classes.pending, classes.node, node, on_path=on_path)
        return Classes(self.table, node, keys, counts, views, pending)

    def _correct(
        self, views: IntArray, keys: IntArray, pending: IntArray, finer: Node, node: Node, *, on_path: bool
    ) -> IntArray:
        """Add the corrections that begin between two nodes, and return what is pending then.

        On a path one column is generalized after the other, by priority, and those before stay as they are.
        """
        table, folded = self.table, self.table.folded
        assert folded is not None
        if on_path:
            turn = next(turn for turn, column in enumerate(table.priority) if finer[column] != node[column])
            column = table.priority[turn]
            if not finer[column]:
                for earlier in table.priority[:turn]:
                    pending = pending[folded.levels[earlier, pending] <= node[earlier]]
            begins = (folded.levels[column, pending] <= node[column]) & (folded.begin[pending] <= turn)
        else:
            begins = np.ones(len(pending), dtype=bool)
            for levels, level in zip(folded.levels, node, strict=True):
                begins &= levels[pending] <= level
        now = pending[begins]
        if len(now):
            of_entries = table.generalize(table.keys[folded.entry[now]], self._bottom, node)
            np.add.at(views, (folded.view[now], np.searchsorted(keys, of_entries)), folded.count[now])
        return np.asarray(pending[~begins])

    def _remember(self, classes: Classes) -> None:
        size = len(classes.keys) + (0 if classes.pending is None else len(classes.pending))
        self._size += size
        if self._size > REMEMBERED:
            self._known.clear()
            self._size = size
        self._known[classes.node] = classes
