"""Equivalence classes of a node, counted by one number per tuple, without sorting.

Where labels have too many combinations, the classes are sorted out. The numbers of one half of the columns
are kept for all nodes that share their levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import getitem

import numpy as np

from dpcore.anonymize.fulldomain.coded import CodedClasses
from dpcore.anonymize.fulldomain.grouper import Classes, ClassesOfNode, Grouper
from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.tables.classes import BoolArray, FloatArray, IntArray, starts_of
from dpcore.tables.value_counts import ValueCounts

COMBINATIONS = 8
"""Numbers that may be counted for each tuple, twice as many where people are; more are sorted."""
REMEMBERED = 60_000_000
"""Labels that a Counter keeps at most: 240 MB."""
SMALL = 8_000
"""Classes that take no longer to count than a node takes apart from that."""
AT_ONCE = 60_000
"""Numbers that are counted together: they stay in the processor's cache."""


class Counted(ClassesOfNode):
    """The equivalence classes of one node, counted."""

    def __init__(self, coded: CodedClasses, node: Node) -> None:
        self.table, self.node, self._coded = coded.table, node, coded
        self._index, self._shape = coded.index(node)
        self._space = math.prod(self._shape)
        self._histograms: dict[str, ValueCounts] = {}
        self._views: dict[int, FloatArray] = {}

    @cached_property
    def _occupied(self) -> IntArray:
        """The number of each class."""
        if self.table.has_subset:
            return np.flatnonzero(self._whole > 0)
        return np.flatnonzero((self._dense if self.table.members is None else self._each(0)) > 0)

    @cached_property
    def _dense(self) -> FloatArray:
        return np.asarray(np.bincount(self._index, self._coded.published, self._space), dtype=np.float64)

    @cached_property
    def _whole(self) -> FloatArray:
        """Rows of the table by number."""
        return np.asarray(np.bincount(self._index, self._coded.population, self._space), dtype=np.float64)

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
        return self._dense.take(self._occupied).astype(np.int64)

    @cached_property
    def people(self) -> IntArray:
        return self.sizes if self.table.members is None else self._people(0)

    @cached_property
    def population(self) -> IntArray:
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
        stride = math.prod(self._shape[column + 1 :])
        return np.asarray(self._occupied[marked] // stride % self._shape[column])

    def people_in(self, marked: BoolArray) -> int:
        if self.table.members is None or not marked.any():
            return super().people_in(marked)
        inside = np.zeros(self._space, dtype=bool)
        inside[self._occupied[marked]] = True
        return self._coded.members.number_among(inside.take(self._index))

    def inside(self, place: int) -> BoolArray:
        """(classes that were counted,) which of them are in one of the classes."""
        return np.asarray(self._index == self._occupied[place])

    @property
    def of_entries(self) -> IntArray:
        return np.asarray(self._class[self._coded.classes.of_entries])

    def histogram(self, column: str) -> ValueCounts:
        if column not in self._histograms:
            self._histograms[column] = self._histogram(column, self.table.members is not None)
        return self._histograms[column]

    def most_held(self, column: str) -> ValueCounts:
        return self.histogram(column) if self.table.members is None else self._histogram(column, False)

    def _histogram(self, column: str, corrects: bool) -> ValueCounts:
        width = len(self.secrets[column].values)
        value, figures = self._coded.held(column)
        most = COMBINATIONS * len(value)
        is_small = self._space * width <= most  # counted by number, and numbered by class at the end
        group, space = (self._index, self._space) if is_small else (self._class, len(self._occupied))
        cells = (group * width).take(self._coded.classes.owner)
        cells += value
        if corrects:
            places, counts = self._coded.corrections(1 + list(self.secrets).index(column), self.node)
            cells = np.concatenate([cells, cells[places]])
            figures = np.concatenate([figures, counts])
        if space * width <= most:
            counted = np.asarray(np.bincount(cells, figures, space * width), dtype=np.float64)
            cells = np.flatnonzero(counted > 0)
            figures = counted.take(cells)
        else:
            order = cells.argsort()
            cells, figures = cells[order], figures[order]
            starts = starts_of(cells)
            cells, figures = cells[starts], np.add.reduceat(figures, starts)
            cells, figures = cells[figures > 0], figures[figures > 0]
        group = cells // width
        return ValueCounts(
            group=self._place.take(group) if is_small else group,
            value=cells - group * width,
            count=figures.astype(np.int64),
            classes=len(self._occupied),
        )


@dataclass(frozen=True, kw_only=True)
class NodeFigures:
    """Figures of what some nodes publish, (nodes,) each, where classes of few rows are suppressed.

    Attributes:
        suppressed: rows.
        kept: classes.
        squares: the sum of the squared sizes of the kept classes.
    """

    suppressed: IntArray
    kept: IntArray
    squares: FloatArray

    def taken(self, nodes: BoolArray) -> NodeFigures:
        """Those of some of the nodes."""
        return NodeFigures(
            suppressed=self.suppressed[nodes], kept=self.kept[nodes], squares=self.squares[nodes]
        )


class Counter:
    """Finds the classes of nodes that are not below a floor, which may rise."""

    def __init__(self, table: Tuples) -> None:
        self.table = table
        self._grouper = Grouper(table)
        self.base = self._grouper.finest()
        self._floor = CodedClasses(self.base)

    def classes(self, node: Node) -> Counted | Classes:
        """Return the classes of a node at or above the floor."""
        if not self.is_counted(node):
            return self._grouper.generalized(self.base, node)
        return Counted(self._remembering(), node)

    def _remembering(self) -> CodedClasses:
        """Return the floor, and forget its labels where they are too many."""
        if self._floor.size > REMEMBERED:
            self._floor = CodedClasses(self.base)
        return self._floor

    @property
    def at_once(self) -> int:
        """Nodes whose figures are counted together with gain, at least one."""
        classes = len(self.base.class_keys)
        return AT_ONCE // classes if classes <= SMALL else 1

    def is_counted(self, node: Node) -> bool:
        """Return whether classes of a node are counted.

        Labels with too many combinations are sorted.
        """
        most = COMBINATIONS * len(self.base.class_keys) * (1 if self.table.members is None else 2)
        return math.prod(map(getitem, self.table.widths, node)) <= most

    def figures(self, nodes: Sequence[Node], least: int) -> NodeFigures:
        """Count the figures of some nodes, where classes of fewer rows than `least` are suppressed."""
        floor = self._remembering()
        number = np.empty((len(nodes), len(floor.keys)), dtype=np.int64)
        starts = np.zeros(len(nodes) + 1, dtype=np.int64)
        for place, node in enumerate(nodes):
            index, shape = floor.index(node)
            np.add(index, starts[place], out=number[place])
            starts[place + 1] = starts[place] + math.prod(shape)
        weights = np.broadcast_to(floor.published, number.shape)
        sizes = np.bincount(number.ravel(), weights.ravel(), starts[-1])
        is_kept = sizes >= least
        kept = sizes * is_kept
        rows = np.add.reduceat(kept, starts[:-1])
        return NodeFigures(
            suppressed=(floor.published.sum() - rows).astype(np.int64),
            kept=np.add.reduceat(is_kept, starts[:-1], dtype=np.int64),
            squares=np.add.reduceat(kept * kept, starts[:-1]),
        )

    def around(self, classes: Counted | Classes, place: int) -> FloatArray:
        """(shape of the lattice) the people, at most, with the rows of one of these classes, at each node.

        Nodes below the floor are left out.
        """
        if isinstance(classes, Counted):
            inside = classes.inside(place)
        else:
            keys = self.table.generalize(self.base.class_keys, self.base.node, classes.node)
            inside = keys >> self.table.tail == classes.class_keys[place] >> self.table.tail
        return self._floor.around(int((inside * self.base.sizes).argmax()))

    def raise_floor(self, floor: Node) -> None:
        """From now on only nodes at or above this one are asked for."""
        if floor != self.base.node:
            self.base = self._grouper.generalized(self.base, floor)
            self._floor = CodedClasses(self.base)
