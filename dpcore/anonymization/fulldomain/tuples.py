"""Represent a table by its distinct quasi-identifier tuples and their counts.

Each tuple is one integer: the values of the quasi-identifiers side by side as groups of
bits, then those of sensitive values and of the research subset. Generalizing a column
replaces one group of bits; equal integers are one equivalence class. The cost of every
later step depends on the distinct tuples, not on the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from dpcore.anonymization._groups import (
    SensitiveColumn,
    count_sensitive_column,
    reduce_to_labels,
)
from dpcore.anonymization.fulldomain._members import Members
from dpcore.anonymization.fulldomain.lattice import Lattice, Node
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.errors import SchemaError
from dpcore.tables.classes import BoolArray, FloatArray, IntArray, run_starts
from dpcore.tables.people import person_codes
from dpcore.tables.rows import TupleOwners

KEY_BITS = 63
"""Bits of a key in int64; the sign bit stays unused, so that keys sort as they are."""


@dataclass(frozen=True, kw_only=True)
class KeyBits:
    """The bits that a column occupies inside the integer keys."""

    shift: int
    mask: int

    @classmethod
    def at_shift(cls, shift: int, numbers: int) -> KeyBits:
        """Return enough bits, from `shift` up, for `numbers` different codes."""
        return cls(shift=shift, mask=(1 << _bit_width(numbers)) - 1)

    def extract(self, keys: IntArray) -> IntArray:
        """Extract the column's codes from keys."""
        return np.asarray((keys >> self.shift) & self.mask, dtype=np.int64)


def zero_keys(number: int, columns: Sequence[KeyBits]) -> IntArray:
    """Return keys of 0, as Python integers if the columns need over 63 bits."""
    top = columns[0]
    is_wide = top.shift + top.mask.bit_length() > KEY_BITS
    return np.zeros(number, dtype=object if is_wide else np.int64)


def lay_out_columns(sizes: Sequence[int], *, lowest_shift: int) -> tuple[KeyBits, ...]:
    """Give each column its own bits of a key, the last column the lowest.

    Args:
        sizes: different numbers in each column.
        lowest_shift: other bits below all columns.
    """
    widths = list(map(_bit_width, sizes))
    shifts = [lowest_shift + sum(widths[place + 1 :]) for place in range(len(widths))]
    return tuple(
        KeyBits.at_shift(shift, size) for shift, size in zip(shifts, sizes, strict=True)
    )


def _bit_width(values: int) -> int:
    """Return the number of bits for the codes of `values` values, at least one."""
    return max(1, (values - 1).bit_length())


PUBLISHED_BIT = KeyBits.at_shift(0, 2)
"""The flag of published rows inside the keys, if there is a research subset."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Tuples:
    """The distinct tuples of a table and their counts, sorted by integer key.

    A tuple holds quasi-identifiers, sensitive values and membership of the research
    subset.
    """

    names: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    used_leaves: tuple[IntArray, ...]
    """used[j]: the leaves of hierarchy j that occur; keys hold positions in it."""
    column_bits: tuple[KeyBits, ...]
    """The place of each quasi-identifier inside the keys."""
    secrets: Mapping[str, SensitiveColumn]
    sensitive_bits: Mapping[str, KeyBits]
    """The place of each sensitive column inside the keys."""
    tail_bits: int
    """Bits below the quasi-identifiers: sensitive values, and bit 0 for the subset."""
    has_subset: bool
    keys: IntArray
    """int64, ascending, distinct, level 0."""
    counts: IntArray
    """Rows of every key; int64."""
    members: Members | None
    """The owners of the rows; None where every row is a person."""
    floor: Node
    """The lowest level of each quasi-identifier that a search may choose."""

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice of the hierarchies."""
        return Lattice.from_hierarchies(self.hierarchies)

    @cached_property
    def rows(self) -> int:
        """The number of rows to be published.

        They are the rows of the research subset if there is one, else of the table.
        """
        return int(self.published.sum())

    @cached_property
    def people(self) -> int:
        """The number of people with rows to be published."""
        return (
            self.rows
            if self.members is None
            else self.members.count_people(self.published > 0)
        )

    def fewest_people(self, pairs: IntArray) -> IntArray:
        """Return the smallest number of people that can have so many pairs.

        A pair is a person and one of their classes.
        """
        return pairs if self.members is None else self.members.fewest_people(pairs)

    @cached_property
    def published(self) -> IntArray:
        """The published rows of every key, int64."""
        return (
            self.counts * PUBLISHED_BIT.extract(self.keys)
            if self.has_subset
            else self.counts
        )

    @cached_property
    def codes(self) -> tuple[IntArray, ...]:
        """Label codes: codes[j][level, leaf] of column j, over the leaves that occur.

        j is the column.
        """
        return tuple(
            np.array(
                [pd.factorize(h.codes(level)[used])[0] for level in range(h.height + 1)]
            )
            for h, used in zip(self.hierarchies, self.used_leaves, strict=True)
        )

    @cached_property
    def leaf_counts(self) -> tuple[tuple[IntArray, ...], ...]:
        """Number of hierarchy leaves below each label, as [j][level] of column j."""
        return tuple(
            tuple(
                reduce_to_labels(code, h.leaf_counts(level)[used])
                for level, code in enumerate(codes)
            )
            for codes, h, used in zip(
                self.codes, self.hierarchies, self.used_leaves, strict=True
            )
        )

    @cached_property
    def marginals(self) -> tuple[tuple[IntArray, ...], ...]:
        """Number of published rows with each label, as [j][level] of column j."""
        result = []
        for column, codes in enumerate(self.codes):
            leaf = self.digits(self.keys, column)
            counts = np.bincount(leaf, self.published, len(codes[0])).astype(np.int64)
            result.append(
                tuple(np.bincount(code, counts).astype(np.int64) for code in codes)
            )
        return tuple(result)

    @cached_property
    def covered_leaves(self) -> tuple[IntArray, ...]:
        """Leaves below a row's label, summed over published rows, as [j][level]."""
        return tuple(
            np.array([counts @ leaves for counts, leaves in zip(*levels, strict=True)])
            for levels in zip(self.marginals, self.leaf_counts, strict=True)
        )

    @cached_property
    def coarser_codes(self) -> tuple[tuple[tuple[IntArray, ...], ...], ...]:
        """Code at level b of each label at level a, as [j][a][b] of column j.

        If b is below a, it has the codes of the leaves instead, which nobody asks for.
        """
        return tuple(
            tuple(
                tuple(
                    reduce_to_labels(finer, codes[b]) if b >= a else codes[b]
                    for b in range(len(codes))
                )
                for a, finer in enumerate(codes)
            )
            for codes in self.codes
        )

    @cached_property
    def least_suppression_cost(
        self,
    ) -> tuple[tuple[tuple[FloatArray, FloatArray], ...], ...]:
        """Running totals of rows, and of the fewest leaves their suppression adds.

        They are indexed as [j][level] of column j.
        """
        result = []
        for hierarchy, leaves, marginals in zip(
            self.hierarchies, self.leaf_counts, self.marginals, strict=True
        ):
            levels = []
            for below, rows in zip(leaves, marginals, strict=True):
                order = np.argsort(-below, kind="stable")
                cost = rows[order] * (len(hierarchy.values) - below[order])
                levels.append(
                    (cumulative_from_zero(rows[order]), cumulative_from_zero(cost))
                )
            result.append(tuple(levels))
        return tuple(result)

    @cached_property
    def n_log_n_sums(self) -> tuple[FloatArray, ...]:
        """Sum of n log2 n over labels with n rows each, as [j][level] of column j."""
        return tuple(
            np.array([n_log_n(counts).sum() for counts in levels])
            for levels in self.marginals
        )

    @cached_property
    def most_frequent_labels(
        self,
    ) -> tuple[tuple[tuple[FloatArray, FloatArray], ...], ...]:
        """Running totals of rows and of n log2 n, from the most frequent label down.

        They are indexed as [j][level] of column j.
        """
        ordered = [
            [-np.sort(-counts) for counts in levels] for levels in self.marginals
        ]
        return tuple(
            tuple(
                (cumulative_from_zero(rows), cumulative_from_zero(n_log_n(rows)))
                for rows in levels
            )
            for levels in ordered
        )

    @cached_property
    def log_collision_chances(self) -> FloatArray:
        """Log probability that two rows share a class, for each node.

        It treats columns as independent.
        """
        shares = [
            [marginal / max(self.rows, 1) for marginal in levels]
            for levels in self.marginals
        ]
        return self.lattice.outer_sum(
            [np.log([share @ share for share in levels]) for levels in shares]
        )

    @cached_property
    def label_counts(self) -> tuple[tuple[int, ...], ...]:
        """Number of distinct labels, as [j][level] of column j."""
        return tuple(tuple(map(len, levels)) for levels in self.leaf_counts)

    @cached_property
    def columns_by_values(self) -> tuple[int, ...]:
        """The columns by descending number of values.

        Generalizing the first ones shrinks the table most.
        """
        present = [np.count_nonzero(marginals[0]) for marginals in self.marginals]
        return tuple(sorted(range(len(present)), key=lambda column: -present[column]))

    @cached_property
    def first_half_columns(self) -> int:
        """Number of leading columns that span about the square root of all nodes.

        Half is meant in logarithms, and about.
        """
        reached = np.cumprod(self.lattice.shape, dtype=np.float64)
        return int(np.argmin(np.abs(np.log(reached) - np.log(reached[-1]) / 2))) + 1

    def digits(self, keys: IntArray, column: int) -> IntArray:
        """Extract the codes of a column from keys."""
        return self.column_bits[column].extract(keys)

    def labels(self, column: int, level: int) -> IntArray:
        """Return each tuple's label code in a column at a level, int32, cached."""
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
    def distinct_tuples(self) -> int:
        """Number of distinct quasi-identifier tuples, without sensitive values."""
        return len(self._distinct)

    @cached_property
    def _distinct(self) -> IntArray:
        """One key of each quasi-identifier tuple."""
        return (
            self.keys[run_starts(self.keys >> self.tail_bits)]
            if self.tail_bits
            else self.keys
        )

    @cached_property
    def _labels(self) -> dict[tuple[int, int], IntArray]:
        return {}

    def generalize(self, keys: IntArray, finer: Node, coarser: Node) -> IntArray:
        """Convert keys of a finer node to a coarser one, without merging or sorting."""
        for column, (a, b) in enumerate(zip(finer, coarser, strict=True)):
            if a != b:
                step = self.coarser_codes[column][a][b] - np.arange(
                    len(self.coarser_codes[column][a][b])
                )
                step = step.astype(keys.dtype)
                keys = keys + (step << self.column_bits[column].shift).take(
                    self.digits(keys, column)
                )
        return keys

    def without_rows(self) -> Tuples:
        """Return the layout of the keys without any rows.

        It is enough to find the class of a row.
        """
        none = np.empty(0, dtype=np.int64)
        return replace(
            self, keys=none, counts=none, members=None, secrets={}, sensitive_bits={}
        )

    def find_leaves(self, frame: pd.DataFrame) -> dict[str, IntArray]:
        """Return the leaf (int64) of every row of a frame, by column.

        The frame is the one that was read, or some of its rows.

        Raises: HierarchyError for a value without a path.
        """
        columns = zip(self.names, self.hierarchies, strict=True)
        return {name: hierarchy.find_leaves(frame[name]) for name, hierarchy in columns}

    def row_keys(self, leaves: Mapping[str, IntArray]) -> tuple[IntArray, BoolArray]:
        """Return each row's key without its tail, and whether it was suppressed
        before.
        """
        keys = zero_keys(1, self.column_bits)
        for name, hierarchy, used, bits in zip(
            self.names,
            self.hierarchies,
            self.used_leaves,
            self.column_bits,
            strict=True,
        ):
            place = zero_keys(len(hierarchy.values), self.column_bits)
            place[used] = np.arange(len(used))
            keys = keys | (place[leaves[name]] << bits.shift)
        return keys, _mark_suppressed_before(
            self.hierarchies, [leaves[name] for name in self.names]
        )

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
        owners: TupleOwners | None = None,
        floor: Mapping[str, int] | None = None,
    ) -> Tuples:
        """Count the distinct tuples of a table.

        Args:
            frame: the table; under a research subset, the population table.
            hierarchies: one per quasi-identifier, by column name; their order is that
                of the lattice's levels.
            sensitive: sensitive columns, with a hierarchy if t-closeness needs one.
            subset: (rows,) boolean, the research subset that is to be published.
            person: the column that names the person of a row; None if every row is a
                person.
            rows: (rows of the frame,) how many rows of the table each stands for, if
                the frame has distinct ones.
            owners: who holds which of those; None if every row is a person.
            floor: lowest level that a search may choose, by column; 0 for others.

        Rows with `*` in all quasi-identifiers were suppressed before; they are in no
        class.

        Raises: SchemaError for a table without rows to publish; HierarchyError for
            values without a path; LimitError when people have too many different rows.
        """
        # Find the hierarchy leaf of every row, by column
        extra = (
            dict(sensitive)
            if isinstance(sensitive, Mapping)
            else dict.fromkeys(sensitive)
        )
        read = {
            name: hierarchy.read_column(frame[name])
            for name, hierarchy in hierarchies.items()
        }
        covering = {name: hierarchy for name, (hierarchy, _) in read.items()}
        placed = {name: leaves for name, (_, leaves) in read.items()}
        kept = ~_mark_suppressed_before([*covering.values()], [*placed.values()])
        shown = kept if subset is None else kept & subset
        if not shown.any():
            raise SchemaError(
                "every row is suppressed in these columns",
                remedy="choose another column",
            )
        whose = person_codes(frame, person)
        places = kept.nonzero()[0]
        # Rows suppressed before may be published too: they count in the distribution
        # of the whole table, with which t-closeness compares
        counted = np.arange(len(kept)) if subset is None else subset.nonzero()[0]
        # Number the leaves that occur, and the sensitive values
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
            secrets[name], codes = count_sensitive_column(
                frame,
                name,
                tree,
                person=whose,
                published=counted,
                weights=rows,
                owners=owners,
            )
            numbers.append(codes)
        # Put the numbers side by side into one key for each row, and count the keys
        sizes = [*map(len, used), *(len(secret.values) for secret in secrets.values())]
        bits = lay_out_columns(sizes, lowest_shift=int(subset is not None))
        keys = zero_keys(len(places), bits)
        keys |= False if subset is None else subset[places]
        for column_numbers, field in zip(numbers, bits, strict=True):
            keys |= column_numbers[places].astype(keys.dtype) << field.shift
        distinct, counts = count_keys(keys, None if rows is None else rows[places])
        # Find the owners of each entry
        members = None
        if owners is not None:
            entry = np.zeros(len(frame), dtype=np.int64)
            entry[places] = np.searchsorted(distinct, keys)
            here = owners.select(kept)
            members = Members.from_pairs(
                here.group, entry[here.tuple_index], len(distinct), owners.people
            )
        elif whose is not None:
            members = Members.from_pairs(
                whose[places], np.searchsorted(distinct, keys), len(distinct)
            )
        return cls(
            names=tuple(covering),
            hierarchies=tuple(covering.values()),
            used_leaves=tuple(used),
            column_bits=bits[: len(covering)],
            secrets=secrets,
            sensitive_bits=dict(zip(secrets, bits[len(covering) :], strict=True)),
            tail_bits=bits[len(covering) - 1].shift,
            has_subset=subset is not None,
            keys=distinct,
            counts=counts,
            members=members,
            floor=tuple((floor or {}).get(name, 0) for name in covering),
        )


def _mark_suppressed_before(
    hierarchies: Sequence[Hierarchy], leaves: Sequence[IntArray]
) -> BoolArray:
    """Return which rows were suppressed before: those with only `*` leaves."""
    if any(hierarchy.suppressed_leaf < 0 for hierarchy in hierarchies):
        return np.zeros(len(leaves[0]), dtype=bool)
    pairs = zip(hierarchies, leaves, strict=True)
    return np.asarray(
        np.all([leaf == hierarchy.suppressed_leaf for hierarchy, leaf in pairs], axis=0)
    )


def count_keys(
    keys: IntArray, rows: IntArray | None = None
) -> tuple[IntArray, IntArray]:
    """Return the distinct keys, ascending, with their rows."""
    if rows is None:
        ordered = np.sort(keys)
        starts = run_starts(ordered)
        return ordered[starts], np.diff(starts, append=len(ordered))
    order = keys.argsort()
    ordered = keys[order]
    starts = run_starts(ordered)
    return ordered[starts], np.add.reduceat(rows[order], starts)


def cumulative_from_zero(steps: IntArray | FloatArray) -> FloatArray:
    """Return the sums of the first 0, 1, 2, ... steps."""
    return np.concatenate(([0.0], np.cumsum(steps)))


def n_log_n(counts: IntArray | FloatArray) -> FloatArray:
    """Return n log2 n, and 0 for 0."""
    return np.asarray(counts * np.log2(np.maximum(counts, 1)))
