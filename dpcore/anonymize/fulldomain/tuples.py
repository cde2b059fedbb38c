"""A table as its distinct quasi-identifier tuples with their counts: what every later step works on.

Each tuple is one integer, its values side by side as groups of bits, followed by the bits of the sensitive
values and of the research subset. Generalizing a column replaces one group of bits; equal integers are one
equivalence class. The cost of every step afterwards follows the distinct tuples, not the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dpcore.anonymize.fulldomain.lattice import Lattice, Node
from dpcore.anonymize.fulldomain.people import Folded, Members
from dpcore.anonymize.groups import Secret, secret_of
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy
from dpcore.errors import LimitError, SchemaError
from dpcore.schema.values import SUPPRESSED
from dpcore.tables.classes import BoolArray, IntArray
from dpcore.tables.people import person_of

WORD = 63
"""Bits of a key; the sign bit stays unused so that keys sort as they are."""


@dataclass(frozen=True, kw_only=True)
class Bits:
    """Where the numbers of a column are inside the keys."""

    shift: int
    mask: int

    @classmethod
    def at(cls, shift: int, numbers: int) -> Bits:
        """Bits that hold so many different numbers; at least one bit."""
        return cls(shift=shift, mask=(1 << _bits(numbers)) - 1)

    def of(self, keys: IntArray) -> IntArray:
        """The numbers inside the keys."""
        return (keys >> self.shift) & self.mask


@dataclass(frozen=True, kw_only=True, eq=False)
class Tuples:
    """Distinct tuples of quasi-identifiers (and sensitive values, and subset membership), sorted by key."""

    names: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    used: tuple[IntArray, ...]
    """used[j]: the leaves of hierarchy j that occur; keys hold positions in it."""
    columns: tuple[Bits, ...]
    """Where each quasi-identifier is inside the keys."""
    secrets: Mapping[str, Secret]
    fields: Mapping[str, Bits]
    """Where each sensitive column is inside the keys."""
    tail: int
    """Bits below the quasi-identifiers: those of sensitive values, and at bit 0 that of the subset."""
    has_subset: bool
    keys: IntArray
    """int64, ascending, distinct, level 0."""
    counts: IntArray
    """Rows of every key; int64."""
    members: Members | None
    """Whose rows they are; None where every row is a person."""

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice that the hierarchies span."""
        return Lattice.of(self.hierarchies)

    @cached_property
    def rows(self) -> int:
        """The rows to be published: of the research subset if there is one, else of the table."""
        return int(self.published.sum())

    @cached_property
    def people(self) -> int:
        """The people of the rows to be published."""
        if self.members is None:
            return self.rows
        return self.members.among(self.published > 0).number()

    @cached_property
    def most_classes(self) -> int:
        """Classes that hold rows of one and the same person, at most."""
        return 1 if self.members is None else int(np.bincount(self.members.person).max())

    @cached_property
    def folded(self) -> Folded | None:
        """How people add up; None where every row is a person."""
        return None if self.members is None else Folded.of(self)

    @cached_property
    def published(self) -> IntArray:
        """The published rows of every key; int64."""
        return self.counts * (self.keys & 1) if self.has_subset else self.counts

    @cached_property
    def codes(self) -> tuple[IntArray, ...]:
        """codes[j]: the label's code by level (axis 0) and used leaf (axis 1) of column j."""
        return tuple(
            np.array([pd.factorize(h.codes(level)[used])[0] for level in range(h.height + 1)])
            for h, used in zip(self.hierarchies, self.used, strict=True)
        )

    @cached_property
    def leaves(self) -> tuple[tuple[IntArray, ...], ...]:
        """leaves[j][level]: for every label of column j the number of hierarchy leaves below it."""
        return tuple(
            tuple(_by_code(code, h.leaf_counts(level)[used]) for level, code in enumerate(codes))
            for codes, h, used in zip(self.codes, self.hierarchies, self.used, strict=True)
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
            for codes, shift in zip(self.codes, (bits.shift for bits in self.columns), strict=True)
        )

    @cached_property
    def priority(self) -> tuple[int, ...]:
        """The columns, those with most values first: generalizing them first shrinks the table most."""
        present = [np.count_nonzero(marginals[0]) for marginals in self.marginals]
        return tuple(sorted(range(len(present)), key=lambda column: -present[column]))

    def digits(self, keys: IntArray, column: int) -> IntArray:
        """The codes of a column inside the keys."""
        return self.columns[column].of(keys)

    def generalize(self, keys: IntArray, finer: Node, coarser: Node) -> IntArray:
        """Keys at one node brought to a coarser one; not merged, not sorted."""
        for column, (a, b) in enumerate(zip(finer, coarser, strict=True)):
            if a != b:
                keys = keys + self.steps[column][a][b][self.digits(keys, column)]
        return keys

    def row_keys(self, frame: pd.DataFrame) -> IntArray:
        """The key of every row of the frame that the table was built from, without its tail; int64."""
        keys = np.zeros(len(frame), dtype=np.int64)
        for name, hierarchy, used, bits in zip(
            self.names, self.hierarchies, self.used, self.columns, strict=True
        ):
            place = np.zeros(len(hierarchy.values), dtype=np.int64)
            place[used] = np.arange(len(used))
            keys |= place[hierarchy.placed(frame[name])] << bits.shift
        return keys

    @classmethod
    def build(
        cls,
        frame: pd.DataFrame,
        hierarchies: Mapping[str, Hierarchy],
        *,
        sensitive: Mapping[str, Hierarchy | None] | Sequence[str] = (),
        subset: BoolArray | None = None,
        person: str | None = None,
    ) -> Tuples:
        """Count the distinct tuples of a table.

        Args:
            frame: the table; under a research subset, the population table.
            hierarchies: one per quasi-identifier, by column name; their order is that of the lattice's
                levels.
            sensitive: sensitive columns, with a hierarchy where t-closeness needs one.
            subset: (rows,) boolean: the research subset that is to be published.
            person: the column that tells whose row it is; None where every row is a person.

        Rows whose quasi-identifiers are all `*` were suppressed before; they are in no class.

        Raises: SchemaError for a column that is not there or has two roles, or an empty table; HierarchyError
            for values without a path, LimitError when the columns have too many values together.
        """
        extra = dict(sensitive) if isinstance(sensitive, Mapping) else dict.fromkeys(sensitive)
        _check_columns(frame, hierarchies, extra)
        covering = {name: hierarchy.covering(frame[name]) for name, hierarchy in hierarchies.items()}
        placed = {name: hierarchy.placed(frame[name]) for name, hierarchy in covering.items()}
        kept = ~np.all([_starred(covering[name])[placed[name]] for name in covering], axis=0)
        shown = kept if subset is None else kept & subset
        if not shown.any():
            raise SchemaError(
                "the table has no rows that are still to be published",
                remedy="take a table that is not suppressed already, or another subset",
            )
        whose = person_of(frame, person)
        rows, seen = kept.nonzero()[0], shown.nonzero()[0]
        used, numbers, secrets = [], [], {}
        for name, hierarchy in covering.items():
            occurs = np.bincount(placed[name][rows], minlength=len(hierarchy.values)) > 0
            used.append(occurs.nonzero()[0])
            numbers.append((np.cumsum(occurs) - 1)[placed[name]])
        for name, tree in extra.items():
            secrets[name], codes = secret_of(frame, name, tree, person=whose, published=seen)
            numbers.append(codes)
        sizes = [*map(len, used), *(len(secret.values) for secret in secrets.values())]
        bits = _side_by_side(sizes, below=int(subset is not None))
        keys = np.zeros(len(rows), dtype=np.int64) if subset is None else subset[rows].astype(np.int64)
        for each, where in zip(numbers, bits, strict=True):
            keys |= each[rows] << where.shift
        found, counts = count_keys(keys)
        members = None
        if whose is not None:
            pairs = np.sort(whose[rows] * len(found) + np.searchsorted(found, keys))
            members = Members.of(pairs[run_starts(pairs)], len(found))
        return cls(
            names=tuple(covering),
            hierarchies=tuple(covering.values()),
            used=tuple(used),
            columns=bits[: len(covering)],
            secrets=secrets,
            fields=dict(zip(secrets, bits[len(covering) :], strict=True)),
            tail=bits[len(covering) - 1].shift,
            has_subset=subset is not None,
            keys=found,
            counts=counts,
            members=members,
        )


def _side_by_side(sizes: Sequence[int], *, below: int) -> tuple[Bits, ...]:
    """Bits for columns of so many numbers each, the last one lowest, above so many other bits."""
    widths = list(map(_bits, sizes))
    if sum(widths) + below > WORD:
        raise LimitError(
            "the quasi-identifiers have too many values together for full-domain search",
            remedy="take fewer columns, or local recoding",
        )
    shifts = [below + sum(widths[place + 1 :]) for place in range(len(widths))]
    return tuple(Bits.at(shift, size) for shift, size in zip(shifts, sizes, strict=True))


def _starred(hierarchy: Hierarchy) -> BoolArray:
    """(leaves,) which leaf is a cell that was suppressed before."""
    return np.array([value == SUPPRESSED for value in hierarchy.values])


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
    """From one number per leaf to one per label: the number of the label's leaves, which all share it."""
    result = np.empty(codes.max() + 1, dtype=np.int64)
    result[codes] = numbers
    return result


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
