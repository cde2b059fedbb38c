"""The verdict on the anonymity of a table, and the smallest changes that would improve
it. Internal.

It is not when a column names people, when more than a few people are unique by at most
three of the columns that others may know, or most people by all of these, or by these
and one more. A measured column (fractions, whole numbers with wide gaps) is no such
column more: few people know its exact value of somebody else.
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
    MANY_ROWS,
    BoolArray,
    IntArray,
    class_index,
    count_pairs,
    joint_keys,
    share_alone,
)
from dpcore.tables.people import count_crowds
from dpcore.tables.rows import CodedRows

FEW_UNIQUES = 0.05
MANY_UNIQUES = 0.5
"""Shares of people that may be unique: by at most three known columns, and by all of
them or one more.
"""
MIN_SHARE_OF_UNIQUES = 0.9
"""A set of columns is named for all when it makes this part of the unique people
unique.
"""
MAX_CELLS_READ = 100_000_000
"""Cells that are read in search of changes, about: a second or two."""
MAX_CHANGES_SHOWN = 3
MAX_PROPORTIONAL_ROWS = 1_000_000
"""Rows that stand for all where shares matter alone, and values of a column that may be
changed, at most.
"""

Answer = Literal["no", "hardly", "yes"]


@dataclass(frozen=True, kw_only=True)
class Coarsening:
    """A column made coarser.

    Attributes:
        values, labels: different values that it has, and would have; it is left out
            where that is one.
        cost: share of the column's detail that is lost, in (0, 1].
    """

    column: str
    values: int
    labels: int
    cost: float


@dataclass(frozen=True, kw_only=True)
class Way:
    """Changes after which the answer would be another, except for columns that name
    people.

    Attributes:
        steps: at most two; none where no other change is needed.
        uniques: share of people who would be unique by all known columns.
    """

    steps: tuple[Coarsening, ...]
    answer: Answer
    uniques: float


@dataclass(frozen=True, kw_only=True)
class TableVerdict:
    """The answer to "is this anonymous?" with its reasons, the worst truth first.

    Attributes:
        naming: columns that name people. texts: columns of free text, which may.
        columns: the smallest set of known columns by which nearly all are unique who
            are so by all of them.
        uniques: share of people who are unique by that set.
        more: the column that harms most once it is known too, and the share of people
            who are unique then; None where that is few.
        reveals: whether some group gives a sensitive value away.
        ways: to a better answer, cheapest first; where no change of one or two columns
            is enough or was found, the one that leaves the fewest people unique, and
            the same answer. None after a yes.
    """

    answer: Answer
    naming: tuple[str, ...]
    texts: tuple[str, ...]
    columns: tuple[str, ...]
    uniques: float
    more: tuple[str, float] | None
    reveals: bool
    ways: tuple[Way, ...]


@dataclass(kw_only=True, eq=False)
class Knowledge:
    """The columns that attackers know of a table, or may turn out to know, as codes.

    Attributes:
        values: column -> the value of each code. codes: column -> (rows,) code of the
            value.
        person: (rows,) number of the person; None where every row is one.
        counts: people of each row, where it stands for several.
    """

    values: Mapping[str, pd.Series]
    codes: Mapping[str, IntArray]
    known: tuple[str, ...]
    others: tuple[str, ...]
    sensitive: tuple[str, ...]
    person: IntArray | None
    counts: IntArray | None
    left: int = field(default=MAX_CELLS_READ, init=False)

    @classmethod
    def of(cls, coded: CodedRows, visible: BoolArray, **columns: Any) -> Self:
        """Return the columns of the rows that are marked, with the values that these
        have.
        """
        codes = dict[str, IntArray]()
        values = dict[str, pd.Series]()
        for name in coded.values:
            own = coded.frame[name].to_numpy()
            own = own if visible.all() else own[visible]
            present = np.bincount(own) > 0
            codes[name] = (
                own
                if present.all()
                else (np.cumsum(present) - 1).astype(own.dtype)[own]
            )
            values[name] = coded.values[name].iloc[np.flatnonzero(present)]
        person = None if coded.person is None else class_index([coded.person[visible]])
        counts = None if coded.counts is None else coded.counts[visible]
        return cls(values=values, codes=codes, person=person, counts=counts, **columns)

    def __len__(self) -> int:
        return len(self.codes[self.known[0]])

    @cached_property
    def tuples(self) -> Self:
        """The distinct tuples of the known columns, of each person where people may
        have several rows.

        These are the rows themselves where most are different.
        """
        columns = self.columns(self.known, {})
        whose = [] if self.person is None else [self.person]
        index = class_index([*columns, *whose])
        if index.max() > len(self) / 2:
            return self
        first = np.empty(int(index.max()) + 1, dtype=np.int64)
        first[index] = np.arange(len(index))
        codes = {
            name: codes[first] for name, codes in zip(self.known, columns, strict=True)
        }
        if self.person is not None:
            return replace(self, codes=codes, person=self.person[first])
        return replace(
            self, codes=codes, counts=np.bincount(index, self.counts).astype(np.int64)
        )

    def uniques(self, columns: Sequence[str], coarser: Mapping[str, IntArray]) -> float:
        """Return the share of people who are alone in a class of theirs."""
        table = self.tuples if {*columns} <= {*self.known} else self
        self.left -= len(columns) * (len(table) + 5_000)
        return unique_share(table.columns(columns, coarser), table.person, table.counts)

    def columns(
        self, names: Sequence[str], coarser: Mapping[str, IntArray]
    ) -> list[IntArray]:
        """Return the codes of some columns, each (rows,).

        Args:
            coarser: column -> other codes of its codes.
        """
        return [
            coarser[name][self.codes[name]] if name in coarser else self.codes[name]
            for name in names
        ]

    def with_one_more(self, coarser: Mapping[str, IntArray]) -> dict[str, float]:
        """Return the share of people who are unique once a column is known too, for
        each of the others.
        """
        known = self.columns(self.known, coarser)
        if len(self) <= MANY_ROWS:
            known = [class_index(known)]
        return {
            name: unique_share(
                [*known, *self.columns([name], coarser)], self.person, self.counts
            )
            for name in self.others
        }

    def without_one(self) -> dict[str, float]:
        """Return the share of people who are unique once a known column is not, none
        for an only column.
        """
        rest = {
            name: [column for column in self.known if column != name]
            for name in self.known
        }
        return {name: self.uniques(names, {}) for name, names in rest.items() if names}

    def reveals(self, classes: IntArray) -> bool:
        """Tell whether all people of some class share one value of a sensitive
        column.
        """
        if (np.bincount(classes) == 1).any():
            return bool(self.sensitive)
        owners = (count_pairs(classes, self.codes[name])[0] for name in self.sensitive)
        return any((np.bincount(owner) == 1).any() for owner in owners)

    def milder(self, coarser: Mapping[str, IntArray], crowd: float) -> Answer:
        """Return the answer where it is not no, yes where every group has a crowd and
        gives nothing away.
        """
        return (
            "hardly"
            if self._has_small(coarser, crowd)
            or max(self.with_one_more(coarser).values(), default=0) > FEW_UNIQUES
            else "yes"
        )

    def _has_small(self, coarser: Mapping[str, IntArray], crowd: float) -> bool:
        """Return whether some group has no crowd, or gives a sensitive value away."""
        classes = class_index(self.columns(self.known, coarser))
        return bool(
            count_crowds(classes, self.person, self.counts)[0].min() < crowd
        ) or self.reveals(classes)


def unique_share(
    columns: Sequence[IntArray], person: IntArray | None, rows: IntArray | None = None
) -> float:
    """Return the share of people who are alone in a class of theirs.

    Args:
        columns: codes of the columns that make the classes, each (rows,).
        person: (rows,) whose they are; None where every row is one.
        rows: how many rows each stands for, where it stands for several, all of
            different people.
    """
    if person is None and rows is None:
        return share_alone(columns)
    return count_crowds(joint_keys(columns)[0], person, rows)[1]


def judge(
    knowledge: Knowledge,
    naming: Sequence[str],
    texts: Sequence[str],
    sets: Sequence[ColumnSet],
    more: Mapping[str, float],
    *,
    crowd: float,
) -> TableVerdict:
    """Return the verdict on a table.

    Args:
        knowledge: the table as attackers know it.
        naming: columns that name people.
        texts: columns of free text.
        sets: of known columns, of each size up to the largest that was looked at.
        more: as `with_one_more` gives it for the table as it is.
        crowd: people below which a group is small.
    """
    known = knowledge.known
    largest = max(len(column_set.columns) for column_set in sets)
    shares = {column_set.columns: column_set.uniques for column_set in sets} | {
        known: knowledge.uniques(known, {})
    }
    least = MIN_SHARE_OF_UNIQUES * max(shares.values())
    columns = min(
        (columns for columns in shares if shares[columns] >= least),
        key=lambda columns: (len(columns), -shares[columns]),
    )
    known_soon = {
        name
        for name in more
        if more[name] > MANY_UNIQUES
        and not is_amount(knowledge.values[name], len(knowledge))
    }
    worst = max(more, key=lambda name: (name in known_soon, more[name]), default=None)
    limits = {columns: FEW_UNIQUES for columns in shares if len(columns) == largest} | {
        known: FEW_UNIQUES if len(known) <= largest else MANY_UNIQUES,
    }
    broken = {
        columns: limit for columns, limit in limits.items() if shares[columns] > limit
    }
    broken |= {(*known, name): MANY_UNIQUES for name in known_soon}
    answer = "no" if naming or texts or broken else knowledge.milder({}, crowd)
    return TableVerdict(
        answer=answer,
        naming=tuple(naming),
        texts=tuple(texts),
        columns=columns,
        uniques=shares[columns],
        more=(worst, more[worst])
        if worst is not None and more[worst] > max(FEW_UNIQUES, shares[known])
        else None,
        reveals=knowledge.reveals(class_index(knowledge.columns(known, {}))),
        ways=()
        if answer == "yes"
        else tuple(_find_changes(knowledge, answer, broken, crowd)),
    )


def _find_changes(
    knowledge: Knowledge,
    answer: Answer,
    broken: Mapping[tuple[str, ...], float],
    crowd: float,
) -> list[Way]:
    """Return changes of one or two columns after which the answer is better, the
    cheapest first.

    Args:
        answer: as it is.
        broken: set of columns -> share of people that may be unique by it.
    """
    limits = broken or {(*knowledge.known, *knowledge.others): 1.0}

    @cache
    def tree(name: str) -> tuple[Hierarchy, IntArray, IntArray]:
        """Return a hierarchy by the values in proportion, the leaf of each, and its
        rows.
        """
        values = knowledge.values[name]
        rows = np.bincount(knowledge.codes[name])
        times = np.maximum(
            1,
            rows * MAX_PROPORTIONAL_ROWS // max(MAX_PROPORTIONAL_ROWS, len(knowledge)),
        )
        return *suggest_hierarchy(
            values.repeat(times.tolist()).reset_index(drop=True)
        ).read_column(values), rows

    def coded(levels: Mapping[str, int]) -> dict[str, IntArray]:
        return {
            name: tree(name)[0].codes(level)[tree(name)[1]]
            for name, level in levels.items()
        }

    def holds(levels: Mapping[str, int]) -> bool:
        coarser = coded(levels)
        for columns, limit in limits.items():
            if knowledge.left < 0 or knowledge.uniques(columns, coarser) > limit:
                return False
        return bool(broken) or knowledge.milder(coarser, crowd) == "yes"

    def step(name: str, level: int) -> Coarsening:
        hierarchy, leaves, rows = tree(name)
        mean = np.average(hierarchy.leaf_counts(level)[leaves], weights=rows)
        lost = (mean - 1) / max(1, len(hierarchy.values) - 1)
        labels = len(hierarchy.labels(level))
        return Coarsening(
            column=name, values=len(hierarchy.values), labels=labels, cost=float(lost)
        )

    def least(names: Sequence[str]) -> dict[str, int] | None:
        """Return levels of which none can be lower, None where not even leaving the
        columns out is enough.
        """
        levels = {name: tree(name)[0].height for name in names}
        if not holds(levels):
            return None
        left = list(names)
        while left:  # the column that costs most is tried first
            name = max(left, key=lambda name: step(name, levels[name]).cost)
            if levels[name] > 1 and holds(levels | {name: levels[name] - 1}):
                levels[name] -= 1
            else:
                left.remove(name)
        return levels

    if answer == "no" and not broken:
        return [_change_of(knowledge, (), {}, crowd)]
    few = [
        name
        for name in knowledge.values
        if len(knowledge.values[name]) <= MAX_PROPORTIONAL_ROWS
    ]
    columns = dict.fromkeys(
        name for columns in limits for name in columns if name in few
    )
    found = []
    for names in chain(combinations(columns, 1), combinations(columns, 2)):
        if knowledge.left < 0:
            break
        if all(set(names) & set(columns) for columns in limits) and (
            levels := least(names)
        ):
            found.append((tuple(step(*item) for item in levels.items()), coded(levels)))
    ways = list[Way]()
    for steps, coarser in sorted(
        found, key=lambda option: sum(step.cost for step in option[0])
    ):
        if len(ways) < MAX_CHANGES_SHOWN and not any(
            _changed_columns(way.steps) < _changed_columns(steps) for way in ways
        ):
            ways.append(_change_of(knowledge, steps, coarser, crowd))
    pairs = list(combinations([name for name in knowledge.known if name in few], 2))
    if (
        pairs
        and not ways
        and len(pairs) * len(knowledge.known) * (len(knowledge.tuples) + 5_000)
        < knowledge.left
    ):
        without = [{name: tree(name)[0].height for name in two} for two in pairs]
        shares = [knowledge.uniques(knowledge.known, coded(level)) for level in without]
        if min(shares) < knowledge.uniques(knowledge.known, {}):
            steps = tuple(
                step(*item) for item in without[int(np.argmin(shares))].items()
            )
            ways.append(Way(steps=steps, answer=answer, uniques=min(shares)))
    return ways


def _changed_columns(steps: Sequence[Coarsening]) -> set[str]:
    return {step.column for step in steps}


def _change_of(
    knowledge: Knowledge,
    steps: tuple[Coarsening, ...],
    coarser: Mapping[str, IntArray],
    crowd: float,
) -> Way:
    uniques = knowledge.uniques(knowledge.known, coarser)
    return Way(steps=steps, answer=knowledge.milder(coarser, crowd), uniques=uniques)
