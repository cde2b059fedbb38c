"""What attackers see of exact tables, and what they are taken to know besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

UNLISTED = "\0"  # stands for all values that no published table lists


@dataclass(frozen=True, kw_only=True)
class AttackedTable:
    """A published table, as an attacker sees it.

    Attributes:
        columns: of its axes.
        groups: for each axis, the values in each of its groups; None for everybody.
        counts: (cells,) in the order of the groups, the last axis fastest; None is
            hidden.
        threshold: the rule's.
        needed: count that must be possible for a hidden cell; 0 for the threshold.
        secret_pairs: pairs (cell, group of cells around it) that must not be known to
            be equal.
        excepted_cells: cells that may be told.
        occupied_cells: cells that attackers know to hold people.
        complete_columns: columns of which nobody has a value outside the groups.
        hide_zeros, hide_full: the rule's, for what it implies together with others.
        hides_small_alone: whether a hidden cell is small, or protects small groups, and
            readers know that.
        tables_before: how many tables were known when it was published.
        key: of the table, different for each one.
        known: keys of the tables that were known; empty if only their number is.
        bundle: mark of the tables that were published together with it; empty if it was
            published alone.
        counts_then: the shown counts when it was published, if people came or left
            since; else empty.
        wanted: counts that must be possible for some hidden cells, beyond the
            threshold.
        is_past: whether the counts are those of people at an earlier time.
        moved_cells: of a past table, finest cells whose people may be others today.
        changes: of a past table, sets of cells. Nobody may learn that few people came
            into such a set, or left it.
        ranges: the fewest and most people of cells whose counts are published rounded.
            Such a cell is hidden by itself.
        name: of the table; empty for the new one.
    """

    columns: tuple[str, ...]
    groups: tuple[tuple[frozenset[str] | None, ...], ...]
    counts: tuple[int | None, ...]
    threshold: int
    needed: int = 0
    secret_pairs: tuple[tuple[int, int], ...] = ()
    excepted_cells: frozenset[int] = frozenset()
    occupied_cells: frozenset[int] = frozenset()
    complete_columns: frozenset[str] = frozenset()
    hide_zeros: bool = False
    hide_full: bool = False
    hides_small_alone: bool = False
    tables_before: int = 0
    key: str = ""
    known: frozenset[str] = frozenset()
    bundle: str = ""
    counts_then: tuple[int | None, ...] = ()
    wanted: Mapping[int, int] = field(default_factory=dict)
    is_past: bool = False
    moved_cells: tuple[int, ...] = ()
    changes: tuple[tuple[int, ...], ...] = ()
    ranges: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    name: str = ""

    def is_published_with(self, other: AttackedTable) -> bool:
        """Return whether both tables were published together."""
        return self is other or (bool(self.bundle) and self.bundle == other.bundle)

    def was_known_to(self, other: AttackedTable) -> bool:
        """Return whether another table was protected together with this earlier one.

        Two accounts may have published tables without knowing of each other.
        """
        if other.known:
            return self.key in other.known
        return self.tables_before < other.tables_before

    @property
    def is_changed(self) -> bool:
        """Whether people came or left since."""
        return bool(self.counts_then)

    def needed_in(self, cell: int) -> int:
        """Return the count that must be possible for a hidden cell."""
        return max(self.needed or self.threshold, self.wanted.get(cell, 0))


@dataclass(frozen=True, kw_only=True)
class KnownMap:
    """Which values of two columns go together, as readers know, such as from a map.

    Attributes:
        usual: pairs of values that any number of people may have.
        rare: other pairs that occur, such as errors or small areas, with the most
            people of each.
        inner: the column whose values tell those of the other one, such as the town
            of a district; empty if both cross, or many people are in rare pairs.
        errors: rare pairs of which the owner says that they are errors of coding.
        is_doubtful: whether only some readers may have the map.
    """

    columns: tuple[str, str]
    usual: frozenset[tuple[str, str]]
    rare: Mapping[tuple[str, str], int]
    inner: str = ""
    errors: frozenset[tuple[str, str]] = frozenset()
    is_doubtful: bool = False

    @property
    def nesting(self) -> tuple[str, str] | None:
        """The inner and the outer column; None if both cross."""
        if not self.inner:
            return None
        first, second = self.columns
        return (first, second) if self.inner == first else (second, first)
