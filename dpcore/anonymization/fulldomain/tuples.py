"""A table as its distinct quasi-identifier tuples with their counts, on which every
later step works.

Each tuple is one integer, its values side by side as groups of bits, followed by the
bits of the sensitive values and of the research subset. Generalizing a column replaces
one group of bits; equal integers are one equivalence class. The cost of every step
afterwards follows the distinct tuples, not the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from dpcore.anonymization.fulldomain.bits import Bits, side_by_side, zeros
from dpcore.anonymization.fulldomain.lattice import Lattice, Node
from dpcore.anonymization.fulldomain.members import Members
from dpcore.anonymization.groups import SensitiveColumn, by_code, secret_of
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.errors import SchemaError
from dpcore.tables.classes import BoolArray, FloatArray, IntArray, starts_of
from dpcore.tables.people import person_of
from dpcore.tables.rows import Held

SHOWN = Bits.at(0, 2)
"""The place of the flag of the rows to be published inside the keys, under a research
subset.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Tuples:
    """Distinct tuples of quasi-identifiers (and sensitive values, and subset
    membership), sorted by key.
    """

    names: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    used: tuple[IntArray, ...]
    """used[j]: the leaves of hierarchy j that occur; keys hold positions in it."""
    columns: tuple[Bits, ...]
    """The place of each quasi-identifier inside the keys."""
    secrets: Mapping[str, SensitiveColumn]
    fields: Mapping[str, Bits]
    """The place of each sensitive column inside the keys."""
    tail: int
    """Bits below the quasi-identifiers: those of sensitive values, and at bit 0 that of
    the subset.
    """
    has_subset: bool
    keys: IntArray
    """int64, ascending, distinct, level 0."""
    counts: IntArray
    """Rows of every key; int64."""
    members: Members | None
    """The owners of the rows; None where every row is a person."""

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice that the hierarchies span."""
        return Lattice.of(self.hierarchies)

    @cached_property
    def rows(self) -> int:
        """The rows to be published, of the research subset if there is one, else of the
        table.
        """
        return int(self.published.sum())

    @cached_property
    def people(self) -> int:
        """The people of the rows to be published."""
        return (
            self.rows
            if self.members is None
            else self.members.number_among(self.published > 0)
        )

    def fewest_people(self, each: IntArray) -> IntArray:
        """Return the people, at least, of some classes, where so many are counted in
        each of theirs.
        """
        return each if self.members is None else self.members.fewest(each)

    @cached_property
    def published(self) -> IntArray:
        """The published rows of every key, int64."""
        return self.counts * SHOWN.of(self.keys) if self.has_subset else self.counts

    @cached_property
    def codes(self) -> tuple[IntArray, ...]:
        """Codes of the labels, codes[j] by level (axis 0) and used leaf (axis 1) of
        column j.
        """
        return tuple(
            np.array(
                [pd.factorize(h.codes(level)[used])[0] for level in range(h.height + 1)]
            )
            for h, used in zip(self.hierarchies, self.used, strict=True)
        )

    @cached_property
    def leaves(self) -> tuple[tuple[IntArray, ...], ...]:
        """Hierarchy leaves below every label, leaves[j][level] of column j."""
        return tuple(
            tuple(
                by_code(code, h.leaf_counts(level)[used])
                for level, code in enumerate(codes)
            )
            for codes, h, used in zip(
                self.codes, self.hierarchies, self.used, strict=True
            )
        )

    @cached_property
    def marginals(self) -> tuple[tuple[IntArray, ...], ...]:
        """Published rows of every label, marginals[j][level] of column j."""
        result = []
        for column, codes in enumerate(self.codes):
            leaf = self.digits(self.keys, column)
            counts = np.bincount(leaf, self.published, len(codes[0])).astype(np.int64)
            result.append(
                tuple(np.bincount(code, counts).astype(np.int64) for code in codes)
            )
        return tuple(result)

    @cached_property
    def covered(self) -> tuple[IntArray, ...]:
        """Leaves below cells, summed over the published rows, covered[j][level] of
        column j.
        """
        return tuple(
            np.array([counts @ leaves for counts, leaves in zip(*levels, strict=True)])
            for levels in zip(self.marginals, self.leaves, strict=True)
        )

    @cached_property
    def coarser(self) -> tuple[tuple[tuple[IntArray, ...], ...], ...]:
        """Coarser codes, coarser[j][a][b] by code at level a of column j, where level b
        is not below a.
        """
        return tuple(
            tuple(
                tuple(
                    by_code(finer, codes[b]) if b >= a else codes[b]
                    for b in range(len(codes))
                )
                for a, finer in enumerate(codes)
            )
            for codes in self.codes
        )

    @cached_property
    def cheapest(self) -> tuple[tuple[tuple[FloatArray, FloatArray], ...], ...]:
        """Rows, and the least leaves that suppressing so many adds, cheapest[j][level]
        of column j.
        """
        result = []
        for hierarchy, leaves, marginals in zip(
            self.hierarchies, self.leaves, self.marginals, strict=True
        ):
            levels = []
            for below, rows in zip(leaves, marginals, strict=True):
                order = np.argsort(-below, kind="stable")
                cost = rows[order] * (len(hierarchy.values) - below[order])
                levels.append((from_zero(rows[order]), from_zero(cost)))
            result.append(tuple(levels))
        return tuple(result)

    @cached_property
    def bits(self) -> tuple[FloatArray, ...]:
        """Sums of n log2 n over the labels with n rows each, bits[j][level] of column
        j.
        """
        return tuple(
            np.array([n_log_n(counts).sum() for counts in levels])
            for levels in self.marginals
        )

    @cached_property
    def commonest(self) -> tuple[tuple[tuple[FloatArray, FloatArray], ...], ...]:
        """Rows of the most frequent labels, and the sums of n log2 n,
        commonest[j][level] of column j.
        """
        ordered = [
            [-np.sort(-counts) for counts in levels] for levels in self.marginals
        ]
        return tuple(
            tuple((from_zero(rows), from_zero(n_log_n(rows))) for rows in levels)
            for levels in ordered
        )

    @cached_property
    def collisions(self) -> FloatArray:
        """(nodes,) logarithms of the chance that two rows are of one class, were
        columns independent.
        """
        shares = [
            [marginal / max(self.rows, 1) for marginal in levels]
            for levels in self.marginals
        ]
        return self.lattice.outer_sum(
            [np.log([share @ share for share in levels]) for levels in shares]
        )

    @cached_property
    def widths(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of labels, widths[j][level] of column j."""
        return tuple(tuple(map(len, levels)) for levels in self.leaves)

    @cached_property
    def priority(self) -> tuple[int, ...]:
        """The columns, those with most values first, since generalizing these shrinks
        the table most.
        """
        present = [np.count_nonzero(marginals[0]) for marginals in self.marginals]
        return tuple(sorted(range(len(present)), key=lambda column: -present[column]))

    @cached_property
    def half(self) -> int:
        """The number of first columns with about as many combinations of levels as the
        rest.
        """
        reached = np.cumprod(self.lattice.shape, dtype=np.float64)
        return int(np.argmin(np.abs(np.log(reached) - np.log(reached[-1]) / 2))) + 1

    def digits(self, keys: IntArray, column: int) -> IntArray:
        """Return the codes of a column inside the keys."""
        return self.columns[column].of(keys)

    def labels(self, column: int, level: int) -> IntArray:
        """(tuples,) the code of each one's label in a column, int32, kept for the next
        question.
        """
        labels = self._labels.get((column, level))
        if labels is None:
            labels = (
                self.codes[column][level]
                .astype(np.int32)
                .take(self.digits(self._distinct, column))
            )
            self._labels[column, level] = labels
        return labels

    @property
    def number(self) -> int:
        """Distinct tuples of quasi-identifiers, whatever their sensitive values."""
        return len(self._distinct)

    @cached_property
    def _distinct(self) -> IntArray:
        """One key of each tuple of quasi-identifiers."""
        return self.keys[starts_of(self.keys >> self.tail)] if self.tail else self.keys

    @cached_property
    def _labels(self) -> dict[tuple[int, int], IntArray]:
        return {}

    def generalize(self, keys: IntArray, finer: Node, coarser: Node) -> IntArray:
        """Bring keys at one node to a coarser one, neither merged nor sorted."""
        for column, (a, b) in enumerate(zip(finer, coarser, strict=True)):
            if a != b:
                step = self.coarser[column][a][b] - np.arange(
                    len(self.coarser[column][a][b])
                )
                step = step.astype(keys.dtype)
                keys = keys + (step << self.columns[column].shift).take(
                    self.digits(keys, column)
                )
        return keys

    def without_rows(self) -> Tuples:
        """Return the layout of the keys without any key, enough to find the class of a
        row.
        """
        none = np.empty(0, dtype=np.int64)
        return replace(
            self, keys=none, counts=none, members=None, secrets={}, fields={}
        )

    def placed(self, frame: pd.DataFrame) -> dict[str, IntArray]:
        """Return by column the leaf (int64) of every row of the frame that was read, or
        of some of its rows.

        Raises: HierarchyError for a value without a path.
        """
        columns = zip(self.names, self.hierarchies, strict=True)
        return {name: hierarchy.placed(frame[name]) for name, hierarchy in columns}

    def row_keys(self, leaves: Mapping[str, IntArray]) -> tuple[IntArray, BoolArray]:
        """(rows,) int64 keys of rows with these leaves, without tails, and flags of
        those starred before.
        """
        keys = zeros(1, self.columns)
        for name, hierarchy, used, bits in zip(
            self.names,
            self.hierarchies,
            self.used,
            self.columns,
            strict=True,
        ):
            place = zeros(len(hierarchy.values), self.columns)
            place[used] = np.arange(len(used))
            keys = keys | (place[leaves[name]] << bits.shift)
        return keys, _starred(self.hierarchies, [leaves[name] for name in self.names])

    @classmethod
    def build(
        cls,
        frame: pd.DataFrame,
        hierarchies: Mapping[str, Hierarchy],
        *,
        sensitive: Mapping[str, Hierarchy | None] | Sequence[str] = (),
        subset: BoolArray | None = None,
        person: str | None = None,
        rows: IntArray | None = None,
        held: Held | None = None,
    ) -> Tuples:
        """Count the distinct tuples of a table.

        Args:
            frame: the table; under a research subset, the population table.
            hierarchies: one per quasi-identifier, by column name; their order is that
                of the lattice's levels.
            sensitive: sensitive columns, with a hierarchy where t-closeness needs one.
            subset: (rows,) boolean: the research subset that is to be published.
            person: the column that tells whose row it is; None where every row is a
                person.
            rows: (rows of the frame,) the rows of the table that each stands for, where
                the frame has distinct ones.
            held: who holds which of those; None where every row is a person.

        Rows whose quasi-identifiers are all `*` were suppressed before; they are in no
        class.

        Raises: SchemaError for a table without rows to publish; HierarchyError for
            values without a path, LimitError when people have too many different rows.
        """
        extra = (
            dict(sensitive)
            if isinstance(sensitive, Mapping)
            else dict.fromkeys(sensitive)
        )
        read = {
            name: hierarchy.read(frame[name]) for name, hierarchy in hierarchies.items()
        }
        covering = {name: hierarchy for name, (hierarchy, _) in read.items()}
        placed = {name: leaves for name, (_, leaves) in read.items()}
        kept = ~_starred([*covering.values()], [*placed.values()])
        shown = kept if subset is None else kept & subset
        if not shown.any():
            raise SchemaError(
                "every row is suppressed in these columns",
                remedy="choose another column",
            )
        whose = person_of(frame, person)
        places = kept.nonzero()[0]
        # rows that were suppressed before may leave too, so that they are of the table
        # of t-closeness
        seen = np.arange(len(kept)) if subset is None else subset.nonzero()[0]
        used = []
        numbers = []
        secrets = {}
        for name, hierarchy in covering.items():
            occurs = (
                np.bincount(placed[name][places], minlength=len(hierarchy.values)) > 0
            )
            used.append(occurs.nonzero()[0])
            numbers.append((np.cumsum(occurs) - 1)[placed[name]])
        for name, tree in extra.items():
            secrets[name], codes = secret_of(
                frame,
                name,
                tree,
                person=whose,
                published=seen,
                weights=rows,
                held=held,
            )
            numbers.append(codes)
        sizes = [*map(len, used), *(len(secret.values) for secret in secrets.values())]
        bits = side_by_side(sizes, below=int(subset is not None))
        keys = zeros(len(places), bits)
        keys |= False if subset is None else subset[places]
        for each, where in zip(numbers, bits, strict=True):
            keys |= each[places].astype(keys.dtype) << where.shift
        distinct, counts = count_keys(keys, None if rows is None else rows[places])
        members = None
        if held is not None:
            entry = np.zeros(len(frame), dtype=np.int64)
            entry[places] = np.searchsorted(distinct, keys)
            here = held.among(kept)
            members = Members.of(
                here.group, entry[here.place], len(distinct), held.people
            )
        elif whose is not None:
            members = Members.of(
                whose[places], np.searchsorted(distinct, keys), len(distinct)
            )
        return cls(
            names=tuple(covering),
            hierarchies=tuple(covering.values()),
            used=tuple(used),
            columns=bits[: len(covering)],
            secrets=secrets,
            fields=dict(zip(secrets, bits[len(covering) :], strict=True)),
            tail=bits[len(covering) - 1].shift,
            has_subset=subset is not None,
            keys=distinct,
            counts=counts,
            members=members,
        )


def _starred(hierarchies: Sequence[Hierarchy], leaves: Sequence[IntArray]) -> BoolArray:
    """Return marks of the rows that were suppressed before, (rows,).

    All leaves of such a row are `*`.
    """
    if any(hierarchy.suppressed < 0 for hierarchy in hierarchies):
        return np.zeros(len(leaves[0]), dtype=bool)
    pairs = zip(hierarchies, leaves, strict=True)
    return np.asarray(
        np.all([leaf == hierarchy.suppressed for hierarchy, leaf in pairs], axis=0)
    )


def count_keys(
    keys: IntArray, rows: IntArray | None = None
) -> tuple[IntArray, IntArray]:
    """Count the distinct keys, ascending, by how often each occurs or by the rows that
    it stands for.
    """
    if rows is None:
        ordered = np.sort(keys)
        starts = starts_of(ordered)
        return ordered[starts], np.diff(starts, append=len(ordered))
    order = keys.argsort()
    ordered = keys[order]
    starts = starts_of(ordered)
    return ordered[starts], np.add.reduceat(rows[order], starts)


def from_zero(steps: IntArray | FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, 2, ... steps."""
    return np.concatenate(([0.0], np.cumsum(steps)))


def n_log_n(counts: IntArray | FloatArray) -> FloatArray:
    """Return n log2 n, and 0 for 0."""
    return np.asarray(counts * np.log2(np.maximum(counts, 1)))
