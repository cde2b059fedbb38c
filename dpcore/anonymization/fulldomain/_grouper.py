"""Equivalence classes of a node, made by sorting the keys of a finer node."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpcore.anonymization._groups import SensitiveColumn
from dpcore.anonymization.fulldomain._people import people_sums_of
from dpcore.anonymization.fulldomain.lattice import Node
from dpcore.anonymization.fulldomain.tuples import KEY_BITS, PUBLISHED_BIT, Tuples
from dpcore.tables.classes import IntArray, run_starts
from dpcore.tables.value_counts import ValueCounts


@dataclass(frozen=True, eq=False)
class Classes:
    """The equivalence classes of one node, as a sorted array of keys.

    `keys` and `counts` are the distinct keys at this node with their rows. Keys that
    differ in the tail only (the sensitive values and the subset bit) belong to one
    class. If people have several rows, `people_by_view` counts people by view and key (see
    `PeopleSums`), and `pending_corrections` lists the corrections that may begin at coarser nodes.
    """

    table: Tuples
    node: Node
    keys: IntArray
    counts: IntArray
    people_by_view: IntArray | None = None
    pending_corrections: IntArray | None = None

    @property
    def secrets(self) -> Mapping[str, SensitiveColumn]:
        """The sensitive columns of the table."""
        return self.table.secrets

    @cached_property
    def starts(self) -> IntArray:
        """The index in `keys` of the first key of each class."""
        return run_starts(self.keys >> self.table.tail_bits)

    @cached_property
    def class_keys(self) -> IntArray:
        """The first key of each class."""
        return self.keys[self.starts] if self.table.tail_bits else self.keys

    @cached_property
    def published(self) -> IntArray:
        """Published rows of each key, int64."""
        return (
            self.counts * PUBLISHED_BIT.extract(self.keys)
            if self.table.has_subset
            else self.counts
        )

    @cached_property
    def key_classes(self) -> IntArray:
        """The class of each key."""
        return np.repeat(
            np.arange(len(self.starts)), np.diff(self.starts, append=len(self.keys))
        )

    @cached_property
    def sizes(self) -> IntArray:
        """Published rows of each class, int64."""
        return (
            np.add.reduceat(self.published, self.starts)
            if self.table.tail_bits
            else self.counts
        )

    @cached_property
    def people(self) -> IntArray:
        """Published people of each class, int64."""
        return (
            self.sizes
            if self.people_by_view is None
            else self.sum_by_class(self.people_by_view[0])
        )

    @cached_property
    def population(self) -> IntArray:
        """People of the population table in each class, int64."""
        if not self.table.has_subset:
            return self.people
        return self.sum_by_class(
            self.counts if self.people_by_view is None else self.people_by_view[-1]
        )

    def sum_by_class(self, figures: IntArray) -> IntArray:
        """Sum an array with one entry per key by class, shape (classes,)."""
        return (
            np.add.reduceat(figures, self.starts) if self.table.tail_bits else figures
        )

    @cached_property
    def entry_keys(self) -> IntArray:
        """Index in `keys` of each original entry of the table, shape (entries,)."""
        return np.searchsorted(
            self.keys,
            self.table.generalize(self.table.keys, (0,) * len(self.node), self.node),
        )

    @cached_property
    def entry_classes(self) -> IntArray:
        """Index of the class of each original entry of the table, shape (entries,)."""
        return np.asarray(
            self.key_classes[self.entry_keys]
            if self.table.tail_bits
            else self.entry_keys
        )

    def histogram(self, column: str) -> ValueCounts:
        """Count the published people of each class by sensitive value."""
        width = len(self.secrets[column].values)
        cells = self.key_classes * width + self.table.sensitive_bits[column].extract(
            self.keys
        )
        counts = self.published
        if self.people_by_view is not None:
            counts = self.people_by_view[1 + list(self.secrets).index(column)]
        if len(self.table.sensitive_bits) > 1:
            order = cells.argsort(kind="stable")
            cells = cells[order]
            counts = counts[order]
        if len(self.table.sensitive_bits) > 1 or self.table.has_subset:
            starts = run_starts(cells)
            cells = cells[starts]
            counts = np.add.reduceat(counts, starts)
            cells = cells[counts > 0]
            counts = counts[counts > 0]
        return ValueCounts(
            group=cells // width,
            value=cells % width,
            count=counts,
            class_count=len(self.starts),
        )


class Grouper:
    """Groups a table into classes at a node, from all tuples or a finer node."""

    def __init__(self, table: Tuples) -> None:
        self.table = table
        self._bottom = (0,) * len(table.names)
        self._count_bits = int(table.counts.sum()).bit_length()
        top = table.column_bits[0]
        self._packs = table.members is None and (
            top.shift + top.mask.bit_length() + self._count_bits <= KEY_BITS
        )

    def finest_classes(self) -> Classes:
        """Return the classes of the ungeneralized table."""
        table = self.table
        folded = people_sums_of(self.table)
        if folded is None:
            return Classes(table, self._bottom, table.keys, table.counts)
        pending = np.arange(len(folded.entry))
        return Classes(
            table, self._bottom, table.keys, table.counts, folded.counts, pending
        )

    def group_node(self, node: Node) -> Classes:
        """Return the equivalence classes of a node."""
        return (
            self.generalize_classes(self.finest_classes(), node)
            if any(node)
            else self.finest_classes()
        )

    def walk(self) -> Iterator[Classes]:
        """Yield the classes of every node, each built from the node one level below."""
        return self._walk(self.finest_classes(), 0)

    def _walk(self, current: Classes, depth: int) -> Iterator[Classes]:
        if depth == len(self.table.columns_by_values):
            yield current
            return
        column = self.table.columns_by_values[depth]
        yield from self._walk(current, depth + 1)
        for level in range(1, self.table.lattice.shape[column]):
            node = (*current.node[:column], level, *current.node[column + 1 :])
            current = self.generalize_classes(current, node)
            yield from self._walk(current, depth + 1)

    def generalize_classes(self, classes: Classes, node: Node) -> Classes:
        """Return the classes of a coarser node, built from those of a finer one."""
        keys = self.table.generalize(classes.keys, classes.node, node)
        if self._packs:
            # Key and count fit into one integer, which sorts faster than an argsort
            packed = (keys << self._count_bits) | classes.counts
            packed.sort()
            keys = packed >> self._count_bits
            counts = packed & ((1 << self._count_bits) - 1)
            starts = run_starts(keys)
            return Classes(
                self.table, node, keys[starts], np.add.reduceat(counts, starts)
            )
        order = keys.argsort()
        keys = keys[order]
        counts = classes.counts[order]
        starts = run_starts(keys)
        keys = keys[starts]
        counts = np.add.reduceat(counts, starts)
        if classes.people_by_view is None or classes.pending_corrections is None:
            return Classes(self.table, node, keys, counts)
        views = np.add.reduceat(classes.people_by_view[:, order], starts, axis=1)
        pending = self._apply_corrections(
            views, keys, classes.pending_corrections, classes.node, node
        )
        return Classes(self.table, node, keys, counts, views, pending)

    def _apply_corrections(
        self,
        views: IntArray,
        keys: IntArray,
        pending: IntArray,
        finer: Node,
        node: Node,
    ) -> IntArray:
        """Apply the corrections that start between two nodes; return the others."""
        table = self.table
        folded = people_sums_of(self.table)
        assert folded is not None
        # Select the corrections to start now, those of changed columns first
        now = np.arange(len(pending))
        for column in sorted(
            range(len(node)), key=lambda column: finer[column] == node[column]
        ):
            now = now[folded.levels[column].take(pending[now]) <= node[column]]
        if len(now):
            begun = pending[now]
            of_entries = table.generalize(
                table.keys[folded.entry[begun]], self._bottom, node
            )
            np.add.at(
                views,
                (folded.view[begun], np.searchsorted(keys, of_entries)),
                folded.count[begun],
            )
        return np.delete(pending, now)
