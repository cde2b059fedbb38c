"""Known cells of drawn rows, and what they say about the other columns.

The known cells of all nodes below a node change the chances of its columns. They are
collected from the leaves up: each node sends its parent, for every cell of the columns
that they share, the chance of the known cells below. Rows with the same known cells
below a node send the same message, so that it is computed once.

Source: Koller, Friedman (2009), sections 10.2 and 12.3.2.3 (sum-product messages, and
drawing from a calibrated tree with evidence).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.schema.domain import Clique
from dpcore.synthesis._sampling import Integers, flat_cell_indices, sample_cells
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.synthesis.graph.propagation import divide_or_zero
from dpcore.tables.counts import Values, align_axes, project

MAX_CHANCES = 4_000_000
"""Chances of cells that are computed at a time, for some of the rows."""
MAX_MESSAGE_CELLS = 20_000_000
"""Numbers in the largest message that is kept."""


def split_rows(tree: JunctionTree, known: Mapping[str, Integers]) -> list[slice]:
    """Split rows with known cells into parts whose messages fit into memory."""
    rows = len(next(iter(known.values())))
    cells = max(
        tree.domain.cells(tuple(name for name in part if name not in known))
        for part in tree.separators
    )
    step = max(1, MAX_MESSAGE_CELLS // cells)
    return [slice(start, start + step) for start in range(0, rows, step)]


@dataclass(frozen=True, kw_only=True)
class _Message:
    """The chance of the known cells below a node, by what it shares with its parent.

    Attributes:
        columns: that both share and that are not known.
        classes: (rows,) rows with the same known cells below have the same class.
        chances: (classes, cells of each column), each class with a largest chance of 1.
    """

    columns: Clique
    classes: Integers
    chances: Values

    def read(
        self, rows: Integers, codes: Mapping[str, Integers], wanted: Clique
    ) -> Values:
        """Return (rows, cells of each wanted column), axes of length 1 for others.

        Args:
            rows: which rows.
            codes: cells of the columns that are not wanted.
            wanted: columns that get an axis.
        """
        chosen = tuple(name for name in self.columns if name not in wanted)
        kept = tuple(name for name in self.columns if name in wanted)
        axes = [1 + self.columns.index(name) for name in (*chosen, *kept)]
        turned = self.chances.transpose(0, *axes)
        index = (self.classes[rows], *(codes[name][rows] for name in chosen))
        return _align_rows(turned[index], kept, wanted)


class Evidence:
    """Messages of the known cells of all rows, on one calibrated tree."""

    def __init__(
        self,
        tree: JunctionTree,
        tables: Sequence[Values],
        known: Mapping[str, Integers],
    ) -> None:
        """Collect the messages from the leaves up.

        Args:
            tree: of the model.
            tables: expected counts, one array per node.
            known: column -> (rows,) cells.
        """
        self._tree = tree
        self._known = known
        self._messages: dict[int, _Message] = {}
        below: list[set[str]] = [known.keys() & set(node) for node in tree.nodes]
        for i in range(len(tree.nodes) - 1, 0, -1):
            part = set(tree.separators[i])
            # if the parent's known cells say all, the cells below say nothing more
            if below[i] - part and part - known.keys():
                self._messages[i] = self._collect(i, tables[i], sorted(below[i]))
                below[tree.parents[i]] |= below[i]

    def sample_node(
        self,
        i: int,
        new: Clique,
        lines: Integers,
        table: Values,
        codes: Mapping[str, Integers],
        rng: np.random.Generator,
        order: Integers,
    ) -> Integers:
        """Draw the new columns of node i; return the flat cell of each row.

        Args:
            i: of the node.
            new: its columns that are drawn.
            lines: (rows,) the line of each row in `table`.
            table: (lines, cells of new).
            codes: cells of all columns that are known or drawn by now.
            rng: of the post-processing.
            order: of the rows, see `sample_cells`.
        """
        # 1. Rows of one line and the same messages draw together.
        children = self._children(i)
        labels = lines
        for child in children:
            message = self._messages[child]
            drawn = tuple(name for name in message.columns if name not in new)
            cells = flat_cell_indices(
                [message.classes, *(codes[name] for name in drawn)],
                (len(message.chances), *self._tree.domain.shape(drawn)),
                len(lines),
            )
            labels = _number_pairs(labels, cells)
        _, first, labels = np.unique(labels, return_index=True, return_inverse=True)
        # 2. Multiply the lines by the messages, a part at a time.
        shape = self._tree.domain.shape(new)
        step = max(1, MAX_CHANCES // table.shape[1])
        flat = np.empty(len(lines), dtype=np.int64)
        ranked = labels[order]
        for start in range(0, len(first), step):
            rows = first[start : start + step]
            chances = table[lines[rows]].reshape(-1, *shape)
            for child in children:
                chances = chances * self._messages[child].read(rows, codes, new)
            chances = chances.reshape(len(rows), -1)
            # known cells that the model rules out count as unknown
            lost = ~chances.any(axis=1)
            chances[lost] = table[lines[rows[lost]]]
            here = order[(ranked >= start) & (ranked < start + step)]
            flat[here] = sample_cells(
                labels[here] - start, chances, rng, order=np.arange(len(here))
            )
        return flat

    def _children(self, i: int) -> list[int]:
        """Return the children of a node that send a message."""
        return [child for child in self._messages if self._tree.parents[child] == i]

    def _collect(self, i: int, table: Values, below: Sequence[str]) -> _Message:
        """Return the message of node i to its parent.

        Args:
            table: of the node.
            below: names of the known columns at or under the node.
        """
        node = self._tree.nodes[i]
        part = self._tree.separators[i]
        classes = self._known[below[0]]
        for name in below[1:]:
            classes = _number_pairs(classes, self._known[name])
        _, first, classes = np.unique(classes, return_index=True, return_inverse=True)
        given = tuple(name for name in node if name in self._known)
        shared = tuple(name for name in part if name not in self._known)
        free = shared + tuple(
            name for name in node if name not in given and name not in shared
        )
        sums = align_axes(project(table, node, part), part, node)
        conditional = divide_or_zero(table, np.broadcast_to(sums, table.shape))
        turned = project(conditional, node, given + free)
        shape = self._tree.domain.shape(free)
        chances = np.empty((len(first), *self._tree.domain.shape(shared)))
        inner = tuple(range(1 + len(shared), 1 + len(free)))
        step = max(1, MAX_CHANCES // max(1, self._tree.domain.cells(free)))
        for start in range(0, len(first), step):
            rows = first[start : start + step]
            index = tuple(self._known[name][rows] for name in given)
            product = np.broadcast_to(turned[index], (len(rows), *shape))
            for child in self._children(i):
                product = product * self._messages[child].read(rows, self._known, free)
            chances[start : start + step] = product.sum(axis=inner)
        largest = chances.reshape(len(first), -1).max(axis=1)
        chances[largest <= 0] = 1.0
        largest[largest <= 0] = 1.0
        chances /= largest.reshape(-1, *[1] * len(shared))
        return _Message(columns=shared, classes=classes, chances=chances)


def _number_pairs(first: Integers, second: Integers) -> Integers:
    """Return (rows,) a number from 0 for each distinct pair of numbers."""
    together = first.astype(np.int64) * (int(second.max(initial=0)) + 1) + second
    numbers: Integers = np.unique(together, return_inverse=True)[1]
    return numbers


def _align_rows(values: Values, columns: Clique, wanted: Clique) -> Values:
    """Reorder all axes but the first to `wanted`, with length 1 for others."""
    order = [1 + columns.index(name) for name in wanted if name in columns]
    turned = values.transpose(0, *order)
    sizes = iter(turned.shape[1:])
    return turned.reshape(
        len(values), *(next(sizes) if name in columns else 1 for name in wanted)
    )
