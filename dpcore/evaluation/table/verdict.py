"""Verdict on the anonymity of a table, and the smallest changes that improve it.

Internal. A table is not anonymous if a column names people, if more than a few people
are unique by at most three of the columns that others may know, or if most people are
unique by all of these, or by these and one more column. A measured column (fractions,
whole numbers with wide gaps) does not count as one more: few people know its exact
value of somebody else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, combinations
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.risk.column_sets import ColumnSet
from dpcore.risk.identifiers import is_amount
from dpcore.tables.classes import (
    MAX_ROWS_IN_ONE_PASS,
    BoolArray,
    IntArray,
    class_index,
    count_codes,
    count_pairs,
    joint_keys,
    last_rows,
    unique_row_share,
)
from dpcore.tables.events import join_events
from dpcore.tables.people import count_people_and_unique_share
from dpcore.tables.rows import CodedRows

MAX_UNIQUES_OF_FEW_COLUMNS = 0.05
MAX_UNIQUES_OF_ALL_COLUMNS = 0.5
"""Shares of people that may be unique: the first by at most three known columns, the
second by all of them or one more.
"""
MIN_SHARE_OF_UNIQUES = 0.9
"""Share of all unique people that a named set of columns must make unique."""
MAX_CELLS_READ = 100_000_000
"""Approximate cells read in search of changes: a second or two."""
MAX_CHANGES_SHOWN = 3
MAX_PROPORTIONAL_ROWS = 1_000_000
"""Rows that stand for all if only shares matter, and most values of a column that may
be changed.
"""

Answer = Literal["no", "hardly", "yes"]


@dataclass(frozen=True, kw_only=True)
class Coarsening:
    """Change that makes one column coarser.

    Attributes:
        values, labels: numbers of different values before and after; one label leaves
            the column out.
        cost: share of the column's detail that is lost, in (0, 1].
    """

    column: str
    values_before: int
    values_after: int
    cost: float


@dataclass(frozen=True, kw_only=True)
class Improvement:
    """Changes of columns that improve the verdict; columns of names remain a problem.

    Attributes:
        steps: at most two; none if no other change is needed.
        unique_share: share of people who would be unique by all known columns.
    """

    steps: tuple[Coarsening, ...]
    answer: Answer
    unique_share: float


@dataclass(frozen=True, kw_only=True)
class TableVerdict:
    """Answer to the question "is this table anonymous?", with its reasons.

    Attributes:
        naming_columns: columns that name people. texts: columns of free text, which may.
        columns: the smallest set of known columns that makes nearly all people unique
            who are unique by all of them.
        unique_share: share of people who are unique by that set.
        worst_additional_column: the column that harms most once it is known too, and the share of people
            who are unique then; None if that is few.
        reveals_secret: whether some group reveals a sensitive value.
        improvements: to a better answer, cheapest first. If no change of one or two columns is
            enough or was found, the one with the fewest unique people, and the same
            answer. None after a yes.
    """

    answer: Answer
    naming_columns: tuple[str, ...]
    free_text_columns: tuple[str, ...]
    columns: tuple[str, ...]
    unique_share: float
    worst_additional_column: tuple[str, float] | None
    reveals_secret: bool
    improvements: tuple[Improvement, ...]


@dataclass(kw_only=True, eq=False)
class Knowledge:
    """Columns that attackers know, or may come to know, as codes.

    Attributes:
        values: column -> the value of each code. codes: column -> (rows,) code of the
            value.
        person: (rows,) number of the person; None if every row is one.
        counts: people of each row, if it stands for several.
        second_codes: column of events -> (rows,) code of its value in a second event
            that is known of the person; empty for one table. Rows hold both orders of
            two events.
        event_counts: (rows,) how many events of the person are known, up to 2; codes of
            events that are not known mean nothing.
        table_rows: rows of the table; None if these are its rows.
        cells_left: cells that may still be read in search of changes.
    """

    values: Mapping[str, pd.Series]
    codes: Mapping[str, IntArray]
    known: tuple[str, ...]
    others: tuple[str, ...]
    sensitive: tuple[str, ...]
    person: IntArray | None
    counts: IntArray | None
    second_codes: Mapping[str, IntArray] = field(default_factory=dict)
    event_counts: IntArray | None = None
    table_rows: int | None = None
    cells_left: int = field(default=MAX_CELLS_READ, init=False)

    @classmethod
    def from_rows(cls, coded: CodedRows, visible: BoolArray, **columns: Any) -> Self:
        """Return the columns of visible rows, with only the values that occur there."""
        codes = dict[str, IntArray]()
        values = dict[str, pd.Series]()
        for name in coded.values:
            column = coded.frame[name].to_numpy()
            column = column if visible.all() else column[visible]
            present = count_codes(column) > 0
            # Renumber the codes that occur, without gaps
            codes[name] = (
                column
                if present.all()
                else (np.cumsum(present) - 1).astype(column.dtype)[column]
            )
            values[name] = coded.values[name].iloc[np.flatnonzero(present)]
        person = None if coded.person is None else class_index([coded.person[visible]])
        counts = None if coded.counts is None else coded.counts[visible]
        return cls(values=values, codes=codes, person=person, counts=counts, **columns)

    def __len__(self) -> int:
        return len(self.codes[self.known[0]])

    @cached_property
    def tuples(self) -> Self:
        """Distinct tuples of the known columns, separately for each person.

        These are the rows themselves if most are different.
        """
        whose = [] if self.person is None else [self.person]
        index = class_index([*self.column_codes(self.known, {}), *whose])
        if index.max() > len(self) / 2:
            return self
        first = last_rows(index)  # any row of a tuple will do
        codes = {name: self.codes[name][first] for name in self.known}
        if self.person is not None:
            return replace(
                self,
                codes=codes,
                person=self.person[first],
                second_codes={
                    name: self.second_codes[name][first]
                    for name in self.known
                    if name in self.second_codes
                },
                event_counts=None
                if self.event_counts is None
                else self.event_counts[first],
            )
        return replace(
            self, codes=codes, counts=np.bincount(index, self.counts).astype(np.int64)
        )

    def share_unique(
        self, columns: Sequence[str], coarser: Mapping[str, IntArray]
    ) -> float:
        """Return the share of people who are alone in at least one of their classes."""
        table = self.tuples if {*columns} <= {*self.known} else self
        self.cells_left -= len(columns) * (len(table) + 5_000)
        return unique_share(
            table.column_codes(columns, coarser), table.person, table.counts
        )

    def column_codes(
        self, names: Sequence[str], coarser: Mapping[str, IntArray]
    ) -> list[IntArray]:
        """Return the codes of the named columns, one array per column.

        Those of a column of events tell both known events.

        Args:
            coarser: column -> other codes of its codes.
        """

        def take(name: str, codes: Mapping[str, IntArray]) -> IntArray:
            return coarser[name][codes[name]] if name in coarser else codes[name]

        return [
            join_events(
                take(name, self.codes),
                take(name, self.second_codes),
                self.event_counts,
            )
            if name in self.second_codes and self.event_counts is not None
            else take(name, self.codes)
            for name in names
        ]

    def rows_that_tell(self, name: str) -> IntArray | slice:
        """Return the rows in which a sensitive column says something.

        In a column of events, these are the rows of a known event; of a person's
        column, one of the two orders of two events.
        """
        if self.event_counts is None:
            return slice(None)
        if name in self.second_codes:
            return np.flatnonzero(self.event_counts > 0)
        return self.rows_of_sets

    @cached_property
    def rows_of_sets(self) -> IntArray | slice:
        """The rows without one of the two orders of two known events."""
        known = [name for name in self.known if name in self.second_codes]
        if not known or self.event_counts is None:
            return slice(None)
        number = len(self)
        codes = [
            np.concatenate([self.codes[name], self.second_codes[name]])
            for name in known
        ]
        events = class_index(codes)
        return np.flatnonzero(
            (self.event_counts < 2) | (events[:number] <= events[number:])
        )

    def count_values(self, name: str) -> IntArray:
        """Return how many rows have each value of a column, shape (values,)."""
        codes = self.codes[name]
        if name in self.second_codes and self.event_counts is not None:
            codes = codes[self.event_counts > 0]
        return np.bincount(codes, minlength=len(self.values[name]))

    def uniques_with_one_more(
        self, coarser: Mapping[str, IntArray]
    ) -> dict[str, float]:
        """Return the share of unique people if one more column is known, for each one.

        Returns: each other column -> share.
        """
        known = self.column_codes(self.known, coarser)
        if len(self) <= MAX_ROWS_IN_ONE_PASS:
            known = [class_index(known)]
        return {
            name: unique_share(
                [*known, *self.column_codes([name], coarser)], self.person, self.counts
            )
            for name in self.others
        }

    def uniques_without_one(self) -> dict[str, float]:
        """Return the share of unique people if one column is not known, for each one.

        Returns: each known column -> share; empty for an only column.
        """
        rest = {
            name: [column for column in self.known if column != name]
            for name in self.known
        }
        return {
            name: self.share_unique(names, {}) for name, names in rest.items() if names
        }

    def reveals_secret(self, classes: IntArray) -> bool:
        """Return whether all people of some class have the same sensitive value."""
        if (np.bincount(classes) == 1).any():
            return bool(self.sensitive)
        for name in self.sensitive:
            if name in self.second_codes:
                if self.count_shared_event_values(name, classes)[0]:
                    return True
                continue
            rows = self.rows_that_tell(name)
            owner = count_pairs(classes[rows], self.codes[name][rows])[0]
            if (np.bincount(owner) == 1).any():
                return True
        return False

    def count_shared_event_values(
        self, name: str, classes: IntArray
    ) -> tuple[int, float]:
        """Return how many groups share a value of events, and the share of people there.

        All people of such a group have the same value in some event, known or not.

        Args:
            name: column of events.
            classes: (rows,) group of each row.
        """
        assert self.person is not None
        assert self.event_counts is not None
        # 1. Each person with each value of their events, and each group with each of
        # its people, once.
        told = self.event_counts > 0
        owner, value, _ = count_pairs(self.person[told], self.codes[name][told])
        rows = self.rows_of_sets
        group, person, _ = count_pairs(class_index([classes[rows]]), self.person[rows])
        sizes = np.bincount(group)
        starts = np.cumsum(sizes) - sizes
        # 2. Only a value of so many people can be shared.
        frequent = np.bincount(value, minlength=1) >= sizes.min()
        place = np.cumsum(frequent) - 1
        owner, value = owner[frequent[value]], place[value[frequent[value]]]
        # 3. A bit for each value that somebody has, 64 values at a time.
        is_shared = np.zeros(len(sizes), dtype=np.bool_)
        for first in range(0, int(frequent.sum()), 64):
            here = (value >= first) & (value < first + 64)
            bits = np.zeros(int(person.max()) + 1, dtype=np.uint64)
            one = np.left_shift(np.uint64(1), (value[here] - first).astype(np.uint64))
            np.bitwise_or.at(bits, owner[here], one)
            is_shared |= np.bitwise_and.reduceat(bits[person], starts) > 0
        exposed = np.unique(person[is_shared[group]])
        return int(is_shared.sum()), len(exposed) / (int(person.max()) + 1)

    def answer_unless_no(self, coarser: Mapping[str, IntArray], crowd: float) -> Answer:
        """Return "yes" if all groups are large and reveal nothing, else "hardly".

        It is for a table whose answer is not "no".
        """
        return (
            "hardly"
            if self._has_exposed_group(coarser, crowd)
            or max(self.uniques_with_one_more(coarser).values(), default=0)
            > MAX_UNIQUES_OF_FEW_COLUMNS
            else "yes"
        )

    def _has_exposed_group(self, coarser: Mapping[str, IntArray], crowd: float) -> bool:
        """Return whether some group is too small, or reveals a sensitive value."""
        classes = class_index(self.column_codes(self.known, coarser))
        return bool(
            count_people_and_unique_share(classes, self.person, self.counts)[0].min()
            < crowd
        ) or self.reveals_secret(classes)


def unique_share(
    columns: Sequence[IntArray], person: IntArray | None, rows: IntArray | None = None
) -> float:
    """Return the share of people who are alone in at least one of their classes.

    Args:
        columns: codes of the columns that make the classes, each (rows,).
        person: (rows,) owner of each; None if every row is one person.
        rows: number of rows for which each stands, if several, all of different people.
    """
    if person is None and rows is None:
        return unique_row_share(columns)
    return count_people_and_unique_share(joint_keys(columns)[0], person, rows)[1]


def judge_anonymity(
    knowledge: Knowledge,
    naming_columns: Sequence[str],
    free_text_columns: Sequence[str],
    column_sets: Sequence[ColumnSet],
    uniques_with_one_more: Mapping[str, float],
    *,
    crowd: float,
) -> TableVerdict:
    """Return the verdict on the anonymity of a table.

    Args:
        knowledge: the table as attackers know it.
        naming_columns: columns that name people.
        free_text_columns: columns of free text.
        column_sets: of known columns, of each size up to the largest tried.
        uniques_with_one_more: `with_one_more` of the table as it is.
        crowd: people below which a group is small.
    """
    known = knowledge.known
    largest = max(len(column_set.columns) for column_set in column_sets)
    shares = {column_set.columns: column_set.uniques for column_set in column_sets} | {
        known: knowledge.share_unique(known, {})
    }
    least = MIN_SHARE_OF_UNIQUES * max(shares.values())
    columns = min(
        (columns for columns in shares if shares[columns] >= least),
        key=lambda columns: (len(columns), -shares[columns]),
    )
    known_soon = {
        name
        for name in uniques_with_one_more
        if uniques_with_one_more[name] > MAX_UNIQUES_OF_ALL_COLUMNS
        and not is_amount(
            knowledge.values[name], knowledge.table_rows or len(knowledge)
        )
    }
    worst = max(
        uniques_with_one_more,
        key=lambda name: (name in known_soon, uniques_with_one_more[name]),
        default=None,
    )
    limits = {
        columns: MAX_UNIQUES_OF_FEW_COLUMNS
        for columns in shares
        if len(columns) == largest
    } | {
        known: MAX_UNIQUES_OF_FEW_COLUMNS
        if len(known) <= largest
        else MAX_UNIQUES_OF_ALL_COLUMNS,
    }
    broken = {
        columns: limit for columns, limit in limits.items() if shares[columns] > limit
    }
    broken |= {(*known, name): MAX_UNIQUES_OF_ALL_COLUMNS for name in known_soon}
    answer = (
        "no"
        if naming_columns or free_text_columns or broken
        else knowledge.answer_unless_no({}, crowd)
    )
    return TableVerdict(
        answer=answer,
        naming_columns=tuple(naming_columns),
        free_text_columns=tuple(free_text_columns),
        columns=columns,
        unique_share=shares[columns],
        worst_additional_column=(worst, uniques_with_one_more[worst])
        if worst is not None
        and uniques_with_one_more[worst]
        > max(MAX_UNIQUES_OF_FEW_COLUMNS, shares[known])
        else None,
        reveals_secret=knowledge.reveals_secret(
            class_index(knowledge.column_codes(known, {}))
        ),
        improvements=()
        if answer == "yes"
        else tuple(_find_changes(knowledge, answer, broken, crowd)),
    )


def _find_changes(
    knowledge: Knowledge,
    answer: Answer,
    broken_limits: Mapping[tuple[str, ...], float],
    crowd: float,
) -> list[Improvement]:
    """Return changes of one or two columns that improve the verdict, cheapest first.

    Args:
        answer: as it is.
        broken_limits: set of columns -> share of people that may be unique by it.
    """
    limits = broken_limits or {(*knowledge.known, *knowledge.others): 1.0}

    @cache
    def hierarchy_of(name: str) -> tuple[Hierarchy, IntArray, IntArray]:
        """Return a column's hierarchy, the leaf of each value, and rows per value.

        The hierarchy is suggested from the values in proportion.
        """
        values = knowledge.values[name]
        rows = knowledge.count_values(name)
        times = np.maximum(
            1,
            rows * MAX_PROPORTIONAL_ROWS // max(MAX_PROPORTIONAL_ROWS, len(knowledge)),
        )
        return *suggest_hierarchy(
            values.repeat(times.tolist()).reset_index(drop=True)
        ).read_column(values), rows

    def coarser_codes(levels: Mapping[str, int]) -> dict[str, IntArray]:
        return {
            name: hierarchy_of(name)[0].codes(level)[hierarchy_of(name)[1]]
            for name, level in levels.items()
        }

    def is_enough(levels: Mapping[str, int]) -> bool:
        coarser = coarser_codes(levels)
        for columns, limit in limits.items():
            if (
                knowledge.cells_left < 0
                or knowledge.share_unique(columns, coarser) > limit
            ):
                return False
        return (
            bool(broken_limits) or knowledge.answer_unless_no(coarser, crowd) == "yes"
        )

    def coarsening(name: str, level: int) -> Coarsening:
        hierarchy, leaves, rows = hierarchy_of(name)
        mean = np.average(hierarchy.leaf_counts(level)[leaves], weights=rows)
        lost = (mean - 1) / max(1, len(hierarchy.values) - 1)
        labels = len(hierarchy.labels(level))
        return Coarsening(
            column=name,
            values_before=len(hierarchy.values),
            values_after=labels,
            cost=float(lost),
        )

    def lowest_levels(names: Sequence[str]) -> dict[str, int] | None:
        """Return levels that are enough, of which none can be lower.

        None if not even leaving the columns out is enough.
        """
        levels = {name: hierarchy_of(name)[0].height for name in names}
        if not is_enough(levels):
            return None
        remaining = list(names)
        while remaining:  # the column that costs most is tried first
            name = max(remaining, key=lambda name: coarsening(name, levels[name]).cost)
            if levels[name] > 1 and is_enough(levels | {name: levels[name] - 1}):
                levels[name] -= 1
            else:
                remaining.remove(name)
        return levels

    if answer == "no" and not broken_limits:
        return [_evaluate_change(knowledge, (), {}, crowd)]
    changeable = [
        name
        for name in knowledge.values
        if len(knowledge.values[name]) <= MAX_PROPORTIONAL_ROWS
    ]
    columns = dict.fromkeys(
        name for columns in limits for name in columns if name in changeable
    )
    # 1. Find sets of one or two columns, coarsened as little as possible, that are
    # enough.
    found = []
    for names in chain(combinations(columns, 1), combinations(columns, 2)):
        if knowledge.cells_left < 0:
            break
        if all(set(names) & set(columns) for columns in limits) and (
            levels := lowest_levels(names)
        ):
            found.append(
                (
                    tuple(coarsening(*item) for item in levels.items()),
                    coarser_codes(levels),
                )
            )
    # 2. Keep the cheapest sets that change no more columns than needed.
    ways = list[Improvement]()
    for steps, coarser in sorted(
        found, key=lambda option: sum(step.cost for step in option[0])
    ):
        if len(ways) < MAX_CHANGES_SHOWN and not any(
            _changed_columns(way.steps) < _changed_columns(steps) for way in ways
        ):
            ways.append(_evaluate_change(knowledge, steps, coarser, crowd))
    # 3. If none is enough, leave out the pair after which the fewest people are unique.
    pairs = list(
        combinations([name for name in knowledge.known if name in changeable], 2)
    )
    if (
        pairs
        and not ways
        and len(pairs) * len(knowledge.known) * (len(knowledge.tuples) + 5_000)
        < knowledge.cells_left
    ):
        without = [
            {name: hierarchy_of(name)[0].height for name in two} for two in pairs
        ]
        shares = [
            knowledge.share_unique(knowledge.known, coarser_codes(level))
            for level in without
        ]
        if min(shares) < knowledge.share_unique(knowledge.known, {}):
            steps = tuple(
                coarsening(*item) for item in without[int(np.argmin(shares))].items()
            )
            ways.append(
                Improvement(steps=steps, answer=answer, unique_share=min(shares))
            )
    return ways


def _changed_columns(steps: Sequence[Coarsening]) -> set[str]:
    return {step.column for step in steps}


def _evaluate_change(
    knowledge: Knowledge,
    steps: tuple[Coarsening, ...],
    coarser: Mapping[str, IntArray],
    crowd: float,
) -> Improvement:
    uniques = knowledge.share_unique(knowledge.known, coarser)
    return Improvement(
        steps=steps,
        answer=knowledge.answer_unless_no(coarser, crowd),
        unique_share=uniques,
    )
