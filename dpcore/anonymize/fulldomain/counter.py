"""Equivalence classes of a node, counted without sorting: the labels of each tuple make one number.

Where labels have too many combinations, the classes are sorted out. The numbers of one half of the columns
are kept for all nodes that share their levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import getitem

import numpy as np

from dpcore.anonymize.fulldomain.grouper import Classes, ClassesOfNode, Grouper
from dpcore.anonymize.fulldomain.lattice import Node
from dpcore.anonymize.fulldomain.people import Members
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.groups import Histogram
from dpcore.tables.classes import BoolArray, FloatArray, IntArray, starts_of

Begun = list[list[BoolArray]]
"""By column and level: which corrections may have begun there."""

COMBINATIONS = 8
"""Numbers that may be counted for each tuple; more are sorted."""
REMEMBERED = 60_000_000
"""Labels that a Counter keeps at most: 240 MB."""
FEW = 4_096
"""Combinations of labels that are looked at one by one."""
SMALL = 8_000
"""Classes that take no longer to count than a node takes apart from that."""
AT_ONCE = 60_000
"""Numbers that are counted together: they stay in the processor's cache."""


class CodedClasses:
    """The classes of one node, taken apart into their labels, to count those of coarser nodes from. Sensitive
    values are looked at for histograms only: all else has one entry per class."""

    def __init__(self, classes: Classes) -> None:
        self.classes, self.table = classes, classes.table
        self.keys = classes.class_keys
        self.size = 0
        self._labels: dict[tuple[int, int], IntArray] = {}
        self._halves: dict[tuple[int, Node], IntArray] = {}
        self._digits: dict[int, IntArray] = {}
        self._figures: dict[int, FloatArray] = {}
        self._held: dict[str, tuple[IntArray, FloatArray]] = {}
        self._pending: dict[int, tuple[Begun, IntArray, FloatArray]] = {}

    def labels(self, column: int, level: int) -> IntArray:
        """(classes,) the code of each one's label; int32."""
        if not any(self.classes.node):
            return self.table.labels(column, level)
        found = self._labels.get((column, level))
        if found is None:
            step = self.table.coarser[column][self.classes.node[column]][level]
            found = np.asarray(step.astype(np.int32).take(self.digits(column)))
            self._labels[column, level] = found
            self.size += len(found)
        return found

    def index(self, node: Node) -> tuple[IntArray, tuple[int, ...]]:
        """(classes,) one number for each combination of labels, and the labels of every column."""
        shape = tuple(map(getitem, self.table.widths, node))
        half = self.table.half
        left, right = self._half(0, node[:half]), self._half(half, node[half:])
        number = left * np.int32(math.prod(shape[half:]))
        number += right
        return number, shape

    def _half(self, first: int, levels: Node) -> IntArray:
        """(classes,) the number of each combination of labels of some columns; int32."""
        found = self._halves.get((first, levels))
        if found is None:
            found = np.zeros(len(self.keys), dtype=np.int32)
            for column, level in enumerate(levels, first):
                labels = self.table.widths[column][level]
                if labels > 1:
                    found *= np.int32(labels)
                    found += self.labels(column, level)
            self._halves[first, levels] = found
            self.size += len(found)
        return found

    def around(self, place: int) -> FloatArray:
        """(shape of the lattice) at each node that is not below this one: the people, at most, in the class
        of one of these. The node at which it meets another is known column by column."""
        table = self.table
        index = np.full(len(self.keys), table.lattice.index(self.classes.node), dtype=np.int32)
        for columns, numbers in self._groups:
            steps = np.zeros(1, dtype=np.int64)
            for column in columns:
                paths = self._paths[column]
                own = paths[:, table.digits(self.keys[place], column)]
                met = (paths != own[:, None]).sum(axis=0)
                steps = (steps[:, None] + met * table.lattice.strides[column]).ravel()
            index += steps.astype(np.int32).take(numbers)
        weights = self.published if table.members is None else self.people(0)
        return table.lattice.summed(np.bincount(index, weights, table.lattice.size).astype(np.float64))

    @cached_property
    def _paths(self) -> list[IntArray]:
        """By column: the label at each level from this node on (axis 0) of each code (axis 1)."""
        steps = zip(self.table.coarser, self.classes.node, strict=True)
        return [np.array(column[level][level:]) for column, level in steps]

    @cached_property
    def _groups(self) -> list[tuple[list[int], IntArray]]:
        """Columns side by side with few combinations of labels together, and (classes,) which each has."""
        widths = list(map(getitem, self.table.widths, self.classes.node))
        groups: list[list[int]] = [[]]
        for column in range(len(widths)):
            if math.prod(widths[each] for each in (*groups[-1], column)) > FEW:
                groups.append([])
            groups[-1].append(column)
        return [
            (columns, self._half(columns[0], self.classes.node[columns[0] : columns[-1] + 1]))
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

    def people(self, view: int) -> FloatArray:
        """(classes,) people of a view that every sensitive value is in, as weights."""
        if view not in self._figures:
            assert self.classes.views is not None
            self._figures[view] = self.classes.of_classes(self.classes.views[view]).astype(np.float64)
        return self._figures[view]

    @cached_property
    def members(self) -> Members:
        """Whose published rows are in which class."""
        members = self.table.members
        assert members is not None
        shown = members.among(self.table.published > 0)
        return replace(shown, entry=self.classes.of_entries.take(shown.entry))

    def held(self, column: str) -> tuple[IntArray, FloatArray]:
        """(keys,) the number of the value of a sensitive column, and the people who hold it, as weights."""
        if column not in self._held:
            figures = self.classes.published
            if self.classes.views is not None:
                figures = self.classes.views[1 + list(self.table.fields).index(column)]
            value = self.table.fields[column].of(self.classes.keys)
            self._held[column] = value, figures.astype(np.float64)
        return self._held[column]

    def pending(self, view: int) -> tuple[Begun, IntArray, FloatArray]:
        """Corrections of a view that may begin at coarser nodes: from which levels on, at which key, how
        many."""
        if view not in self._pending:
            folded, pending = self.table.folded, self.classes.pending
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


class Counted(ClassesOfNode):
    """The equivalence classes of one node, counted."""

    def __init__(self, coded: CodedClasses, node: Node) -> None:
        self.table, self.node, self._coded = coded.table, node, coded
        self._index, self._shape = coded.index(node)
        self._space = math.prod(self._shape)
        self._histograms: dict[str, Histogram] = {}
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
    def _class(self) -> IntArray:
        """(classes that were counted,) the class that each is in."""
        place = np.empty(self._space, dtype=np.int64)
        place[self._occupied] = np.arange(len(self._occupied))
        return place.take(self._index)

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
        """People by number, each as often as the classes that are counted hold them."""
        if view not in self._views:
            figures = np.bincount(self._index, self._coded.people(view), self._space)
            self._views[view] = np.asarray(figures, dtype=np.float64)
        return self._views[view]

    def _people(self, view: int) -> IntArray:
        figures = self._each(view).copy()
        keys, counts = self._corrections(view)
        np.add.at(figures, self._index[self._coded.classes.owner[keys]], counts)
        return figures.take(self._occupied).astype(np.int64)

    def _corrections(self, view: int) -> tuple[IntArray, FloatArray]:
        """The keys where people of a view are counted too often, and what to add."""
        begun, keys, counts = self._coded.pending(view)
        here = np.flatnonzero(np.bitwise_and.reduce(list(map(getitem, begun, self.node))))
        return keys[here], counts[here]

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

    def histogram(self, column: str) -> Histogram:
        if column not in self._histograms:
            self._histograms[column] = self._histogram(column)
        return self._histograms[column]

    def _histogram(self, column: str) -> Histogram:
        width = len(self.secrets[column].values)
        value, figures = self._coded.held(column)
        cells = (self._class * width).take(self._coded.classes.owner)
        cells += value
        if self.table.members is not None:
            places, counts = self._corrections(1 + list(self.secrets).index(column))
            cells = np.concatenate([cells, cells[places]])
            figures = np.concatenate([figures, counts])
        space = len(self._occupied) * width
        if space <= COMBINATIONS * len(cells):
            counted = np.asarray(np.bincount(cells, figures, space), dtype=np.float64)
            cells = np.flatnonzero(counted > 0)
            figures = counted.take(cells)
        else:
            order = cells.argsort()
            cells, figures = cells[order], figures[order]
            starts = starts_of(cells)
            cells, figures = cells[starts], np.add.reduceat(figures, starts)
            cells, figures = cells[figures > 0], figures[figures > 0]
        return Histogram(
            group=cells // width,
            value=cells % width,
            count=figures.astype(np.int64),
            classes=len(self._occupied),
        )


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What some nodes publish, (nodes,) each, where classes of few rows are suppressed.

    Attributes:
        suppressed: rows.
        kept: classes.
        squares: the sum of the squared sizes of the kept classes.
    """

    suppressed: IntArray
    kept: IntArray
    squares: FloatArray

    def taken(self, nodes: BoolArray) -> Figures:
        """Those of some of the nodes."""
        return Figures(suppressed=self.suppressed[nodes], kept=self.kept[nodes], squares=self.squares[nodes])


class Counter:
    """Finds the classes of nodes that are not below a floor, which may rise."""

    def __init__(self, table: Tuples) -> None:
        self.table = table
        self._grouper = Grouper(table)
        self.base = self._grouper.finest()
        self._floor = CodedClasses(self.base)

    def classes(self, node: Node) -> Counted | Classes:
        """The classes of a node at or above the floor."""
        if not self.is_counted(node):
            return self._grouper.generalized(self.base, node)
        return Counted(self._remembering(), node)

    def _remembering(self) -> CodedClasses:
        """The floor, whose labels are forgotten where they are too many."""
        if self._floor.size > REMEMBERED:
            self._floor = CodedClasses(self.base)
        return self._floor

    @property
    def at_once(self) -> int:
        """Nodes whose figures are counted together with gain; at least one."""
        classes = len(self.base.class_keys)
        return AT_ONCE // classes if classes <= SMALL else 1

    def is_counted(self, node: Node) -> bool:
        """Whether classes of a node are counted; labels with too many combinations are sorted."""
        return math.prod(map(getitem, self.table.widths, node)) <= COMBINATIONS * len(self.base.class_keys)

    def figures(self, nodes: Sequence[Node], least: int) -> Figures:
        """The figures of some nodes that are counted, where classes of fewer rows than `least` are
        suppressed."""
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
        return Figures(
            suppressed=(floor.published.sum() - rows).astype(np.int64),
            kept=np.add.reduceat(is_kept, starts[:-1], dtype=np.int64),
            squares=np.add.reduceat(kept * kept, starts[:-1]),
        )

    def around(self, classes: Counted | Classes, place: int) -> FloatArray:
        """(shape of the lattice) at each node above the floor: the people, at most, in the class that holds
        one of these classes' rows."""
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
