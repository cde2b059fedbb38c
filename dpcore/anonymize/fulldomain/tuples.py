"""A table as its distinct quasi-identifier tuples with their counts: what every later step works on.

Each tuple is one integer, its values side by side as groups of bits, followed by the bits of the sensitive
values and of the research subset. Generalizing a column replaces one group of bits; equal integers are one
equivalence class. The cost of every step afterwards follows the distinct tuples, not the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd

from dpcore.anonymize.fulldomain.lattice import Lattice, Node
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.errors import HierarchyError, LimitError, ParameterError, SchemaError
from dpcore.schema.values import SUPPRESSED
from dpcore.tables.classes import BoolArray, FloatArray, IntArray, leaves_of

WORD = 63
"""Bits of a key; the sign bit stays unused so that keys sort as they stand."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sensitive:
    """A sensitive column inside the keys: where its bits are, and how often each value occurs."""

    values: tuple[str, ...]
    hierarchy: Hierarchy | None
    shift: int
    mask: int
    counts: IntArray
    """Published rows of every value; int64."""

    @cached_property
    def logs(self) -> FloatArray:
        """Natural logarithms of 1, 2, ... up to the rows, the same on every processor; 0 for 0."""
        return np.array([0.0, *map(math.log, range(1, int(self.counts.sum()) + 1))])

    @cached_property
    def parents(self) -> tuple[IntArray, ...]:
        """parents[level]: by code at a level of the hierarchy, the code of the label one level above."""
        if self.hierarchy is None:
            raise ParameterError(
                "hierarchical distance needs a hierarchy of the sensitive column", remedy="give one"
            )
        codes = [self.hierarchy.codes(level) for level in range(self.hierarchy.height + 1)]
        return tuple(_by_code(finer, coarser) for finer, coarser in pairwise(codes))


@dataclass(frozen=True, kw_only=True, eq=False)
class Tuples:
    """Distinct tuples of quasi-identifiers (and sensitive values, and subset membership), sorted by key."""

    names: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    sensitive: Mapping[str, Sensitive]
    shifts: tuple[int, ...]
    """Where the bits of each quasi-identifier start."""
    tail: int
    """Bits below the quasi-identifiers: those of sensitive values, and at bit 0 that of the subset."""
    has_subset: bool
    keys: IntArray
    """int64, ascending, distinct, level 0."""
    counts: IntArray
    """Rows of every key; int64."""

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice that the hierarchies span."""
        return Lattice.of(self.hierarchies)

    @cached_property
    def masks(self) -> tuple[int, ...]:
        """The bits of each quasi-identifier, before shifting."""
        return tuple((1 << _bits(len(hierarchy.values))) - 1 for hierarchy in self.hierarchies)

    @cached_property
    def rows(self) -> int:
        """The rows to be published: of the research subset if there is one, else of the table."""
        return int(self.published.sum())

    @cached_property
    def published(self) -> IntArray:
        """The published rows of every key; int64."""
        return self.counts * (self.keys & 1) if self.has_subset else self.counts

    @cached_property
    def codes(self) -> tuple[IntArray, ...]:
        """codes[j]: the label's code by level (axis 0) and leaf (axis 1) of column j."""
        return tuple(np.array([h.codes(level) for level in range(h.height + 1)]) for h in self.hierarchies)

    @cached_property
    def leaves(self) -> tuple[tuple[IntArray, ...], ...]:
        """leaves[j][level]: for every label of column j the number of hierarchy leaves below it."""
        return tuple(
            tuple(_by_code(codes, h.leaf_counts(level)) for level, codes in enumerate(self.codes[column]))
            for column, h in enumerate(self.hierarchies)
        )

    @cached_property
    def marginals(self) -> tuple[tuple[IntArray, ...], ...]:
        """marginals[j][level]: published rows of every label of column j."""
        result = []
        for column, codes in enumerate(self.codes):
            leaf = self.digits(self.keys, column)
            counts = np.bincount(leaf, self.published, len(codes[0])).astype(np.int64)
            result.append(tuple(np.bincount(code, counts).astype(np.int64) for code in codes))
        return tuple(result)

    @cached_property
    def covered(self) -> tuple[IntArray, ...]:
        """covered[j][level]: the leaves below the cells of column j, summed over the published rows."""
        return tuple(
            np.array([counts @ leaves for counts, leaves in zip(*levels, strict=True)])
            for levels in zip(self.marginals, self.leaves, strict=True)
        )

    @cached_property
    def steps(self) -> tuple[tuple[tuple[IntArray, ...], ...], ...]:
        """steps[j][a][b]: by code at level a of column j, what to add to a key to have it at level b."""
        return tuple(
            tuple(
                tuple((_by_code(finer, coarser) - np.arange(finer.max() + 1)) << shift for coarser in codes)
                for finer in codes
            )
            for codes, shift in zip(self.codes, self.shifts, strict=True)
        )

    @cached_property
    def priority(self) -> tuple[int, ...]:
        """The columns, those with most values first: generalizing them first shrinks the table most."""
        present = [np.count_nonzero(marginals[0]) for marginals in self.marginals]
        return tuple(sorted(range(len(present)), key=lambda column: -present[column]))

    def digits(self, keys: IntArray, column: int) -> IntArray:
        """The codes of a column inside the keys."""
        return (keys >> self.shifts[column]) & self.masks[column]

    def generalize(self, keys: IntArray, finer: Node, coarser: Node) -> IntArray:
        """Keys at one node brought to a coarser one; not merged, not sorted."""
        for column, (a, b) in enumerate(zip(finer, coarser, strict=True)):
            if a != b:
                keys = keys + self.steps[column][a][b][self.digits(keys, column)]
        return keys

    def row_keys(self, frame: pd.DataFrame) -> IntArray:
        """The key of every row of a frame, without its tail; int64."""
        keys = np.zeros(len(frame), dtype=np.int64)
        for name, hierarchy, shift in zip(self.names, self.hierarchies, self.shifts, strict=True):
            keys |= _encode(frame[name], hierarchy) << shift
        return keys

    @classmethod
    def build(
        cls,
        frame: pd.DataFrame,
        hierarchies: Mapping[str, Hierarchy],
        *,
        sensitive: Mapping[str, Hierarchy | None] | Sequence[str] = (),
        subset: BoolArray | None = None,
    ) -> Tuples:
        """Count the distinct tuples of a table.

        Args:
            frame: the table; under a research subset, the population table.
            hierarchies: one a quasi-identifier, by column name; their order is that of the lattice's levels.
            sensitive: sensitive columns, with a hierarchy where t-closeness needs one.
            subset: (rows,) boolean: the research subset that is to be published.

        Rows whose quasi-identifiers are all `*` were suppressed before; they stay out of every class.

        Raises: SchemaError for a column that is not there or has two roles, or an empty table; HierarchyError
            for values without a path, LimitError when the columns have too many values together.
        """
        extra = dict(sensitive) if isinstance(sensitive, Mapping) else dict.fromkeys(sensitive)
        _check_columns(frame, hierarchies, extra)
        covering = {name: hierarchy.covering(frame[name]) for name, hierarchy in hierarchies.items()}
        secrets = {name: _secret(frame, name, hierarchy) for name, hierarchy in extra.items()}
        widths = [_bits(len(h.values)) for h in covering.values()]
        widths += [_bits(len(values)) for values, _, _ in secrets.values()]
        if sum(widths) + (subset is not None) > WORD:
            raise LimitError(
                "the quasi-identifiers have too many values together for full-domain search",
                remedy="take fewer columns, or local recoding",
            )
        ends = np.cumsum([*widths, subset is not None][::-1])[::-1]
        shifts = tuple(int(shift) for shift in ends[1:])

        keys = np.zeros(len(frame), dtype=np.int64) if subset is None else subset.astype(np.int64)
        starred = np.ones(len(frame), dtype=bool)
        for (name, hierarchy), shift in zip(covering.items(), shifts, strict=False):
            leaves = _encode(frame[name], hierarchy)
            keys |= leaves << shift
            star = hierarchy.values.index(SUPPRESSED) if SUPPRESSED in hierarchy.values else -1
            starred &= leaves == star
        kept = ~starred
        described = {}
        for (name, (values, levels, codes)), shift in zip(
            secrets.items(), shifts[len(covering) :], strict=True
        ):
            keys |= codes << shift
            counted = codes[kept if subset is None else kept & subset]
            described[name] = Sensitive(
                values=values,
                hierarchy=levels,
                shift=shift,
                mask=(1 << _bits(len(values))) - 1,
                counts=np.bincount(counted, minlength=len(values)),
            )
        if not (kept if subset is None else kept & subset).any():
            raise SchemaError(
                "the table has no rows that are still to be published",
                remedy="take a table that is not suppressed already, or another subset",
            )
        keys, counts = count_keys(keys[kept])
        return cls(
            names=tuple(covering),
            hierarchies=tuple(covering.values()),
            sensitive=described,
            shifts=shifts[: len(covering)],
            tail=int(ends[len(covering)]),
            has_subset=subset is not None,
            keys=keys,
            counts=counts,
        )


def count_keys(keys: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct keys, ascending, and how often each occurs."""
    ordered = np.sort(keys)
    starts = run_starts(ordered)
    return ordered[starts], np.diff(starts, append=len(ordered))


def run_starts(ordered: IntArray) -> IntArray:
    """Where each run of equal keys starts."""
    first = np.empty(len(ordered), dtype=bool)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first.nonzero()[0]


def _bits(values: int) -> int:
    """Bits that hold the codes of so many values; at least one."""
    return max(1, (values - 1).bit_length())


def _by_code(codes: IntArray, numbers: IntArray) -> IntArray:
    """From one number a leaf to one a label: the number of the label's leaves, which all share it."""
    result = np.empty(codes.max() + 1, dtype=np.int64)
    result[codes] = numbers
    return result


def _encode(series: pd.Series, hierarchy: Hierarchy) -> IntArray:
    leaves = hierarchy.encode(series)
    if len(leaves) and leaves.min() < 0:
        raise HierarchyError(
            "the hierarchy of {name} has no path for some values of the column",
            remedy="add a line for every value that check_coverage names",
            column=str(series.name),
            name=series.name,
        )
    return leaves


def _secret(
    frame: pd.DataFrame, name: str, hierarchy: Hierarchy | None
) -> tuple[tuple[str, ...], Hierarchy | None, IntArray]:
    """The values of a sensitive column (numbers in their order), its hierarchy, the code of every row."""
    if hierarchy is not None:
        covering = hierarchy.covering(frame[name])
        return covering.values, covering, _encode(frame[name], covering)
    leaves = leaves_of(frame, name)
    return tuple(leaves.labels), None, leaves.codes


def _check_columns(
    frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy], extra: Mapping[str, object]
) -> None:
    if not hierarchies:
        raise SchemaError("there is no quasi-identifier", remedy="give at least one column this role")
    for name in (*hierarchies, *extra):
        if name not in frame.columns:
            raise SchemaError("the table has no column {column}", remedy="check the names", column=name)
    both = sorted(set(hierarchies) & set(extra))
    if both:
        raise SchemaError(
            "{column} is sensitive and a quasi-identifier at once",
            remedy="give the column one of the two roles",
            column=both[0],
        )
    if not len(frame):
        raise SchemaError("the table has no rows", remedy="take a table with rows")
