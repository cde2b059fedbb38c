"""k-anonymity of two linked tables, against who knows people and some of their events.

Somebody knows columns of a person, and of up to m of the person's events. Everybody
with these values who has these events is a group, and each group has at least k people
(k^m-anonymity of Terrovitis, Mamoulis, Kalnis 2008, "Privacy-preserving anonymization of
set-valued data", with the person's columns added). A column has one level in its whole
table. People in smaller groups are left out with all their events, again and again until
no group is too small.

A group of a coarser level holds every group of a finer one, so that whoever may stay at
a level may stay at each coarser one: levels are lowered one by one as long as at most
the given share of people is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dpcore.anonymization._thresholds import max_people_in_share
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.errors import (
    InfeasibleError,
    ParameterError,
    UsageError,
    missing_column_error,
    two_roles_error,
)
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.tables.classes import (
    BoolArray,
    IntArray,
    check_columns,
    class_index,
    last_rows,
)
from dpcore.tables.events import KnownEvents, check_known_events, join_events
from dpcore.tables.rows import LinkedMicrodata


@dataclass(frozen=True, kw_only=True)
class LinkedPlan:
    """How to anonymize two linked tables.

    Attributes:
        hierarchies: of each column of either table that others may know.
        unchanged_columns: further columns of either table, published as they are. All
            others are left out.
        k: people of a group, at least.
        known_events: how many events of a person somebody may know, 1 or 2.
        limit: share of the people who may be left out, at most.

    Raises: ParameterError without a known column, or for a number that is none of
        these; SchemaError for a column that is known and unchanged.
    """

    hierarchies: Mapping[str, Hierarchy]
    unchanged_columns: tuple[str, ...] = ()
    k: int
    known_events: int = 2
    limit: float = 0.02

    def __post_init__(self) -> None:
        check_columns(tuple(self.hierarchies))
        check_known_events(self.known_events)
        if self.k < 2:
            raise UsageError(f"k ({self.k}) must be at least 2", remedy="raise k")
        if not 0 <= self.limit <= 1:
            raise ParameterError(
                "the share of people who may be left out must be from 0 to 1",
                remedy="give a share, such as 0.02",
            )
        both = [name for name in self.unchanged_columns if name in self.hierarchies]
        if both:
            raise two_roles_error(both[0])

    @property
    def model(self) -> str:
        """What is promised, in a few words."""
        return f"{self.k}-anonymity against {self.known_events} known events"

    def to_json(self) -> str:
        """Return the plan as JSON text."""
        return json.dumps(
            {
                "hierarchies": {
                    name: hierarchy.levels
                    for name, hierarchy in self.hierarchies.items()
                },
                "unchanged": list(self.unchanged_columns),
                "k": self.k,
                "known_events": self.known_events,
                "limit": self.limit,
            },
            ensure_ascii=False,
            indent=1,
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinkedRecoding:
    """Two linked tables with coarser values, without the people who are left out.

    Attributes:
        people: a row for each person who stays, without the key.
        events: their events, likewise.
        parents: (events,) the place of each event's person in `people`.
        levels: the level of each known column.
        left_out_people: how many people are left out; private.
    """

    people: pd.DataFrame
    events: pd.DataFrame
    parents: IntArray
    levels: Mapping[str, int]
    left_out_people: int

    def smallest_group(self, known_events: int) -> int:
        """Return how many people the smallest group has.

        It is counted anew from the published values alone, another way than the
        levels were chosen.
        """
        names = [*self.levels]
        of_people = [name for name in names if name in self.people]
        of_events = [name for name in names if name in self.events]
        person = "\0person"
        everybody = self.people[of_people].assign(**{person: range(len(self.people))})

        def count(rows: pd.DataFrame, columns: Sequence[str]) -> int:
            if rows.empty or not columns:
                return len(everybody)
            groups = rows.groupby(list(columns), sort=False, dropna=False)[person]
            return int(groups.nunique().min())

        smallest = count(everybody, of_people)
        if not of_events:
            return smallest
        # equal events of a person tell no more than two of them
        events = self.events[of_events].assign(**{person: self.parents})
        copies = events.groupby([person, *of_events], dropna=False).cumcount()
        events = events[copies < known_events]
        events = events.assign(**{"\0event": range(len(events))})
        one = everybody.merge(events, on=person)
        smallest = min(smallest, count(one, [*of_people, *of_events]))
        if known_events > 1:
            two = one.merge(events, on=person, suffixes=("", "\0second"))
            two = two[two["\0event"] != two["\0event\0second"]]
            seconds = [f"{name}\0second" for name in of_events]
            smallest = min(smallest, count(two, [*of_people, *of_events, *seconds]))
        return smallest


def recode_linked(
    rows: LinkedMicrodata,
    plan: LinkedPlan,
    on_progress: OnProgress = ignore_stage_progress,
) -> LinkedRecoding:
    """Make the known columns of two linked tables as coarse as the plan needs.

    Args:
        rows: of both tables.
        plan: what others know, and how many people a group has.
        on_progress: called with the stage and the share of the levels that are decided.

    Raises: InfeasibleError if too many people would be left out even with all known
        columns at their highest level; HierarchyError for a value without a path;
        SchemaError for an unknown column; LimitError for too many pairs of events.
    """
    for name in plan.unchanged_columns:
        if name not in rows.frame and name not in rows.events:
            raise missing_column_error(name)
    groups = _Groups.of(rows, plan)
    most_left_out = max_people_in_share(plan.limit, len(rows.frame))

    def is_enough(levels: Mapping[str, int]) -> bool:
        return int((~groups.find_kept_people(levels)).sum()) <= most_left_out

    levels = {name: each.height for name, each in groups.hierarchies.items()}
    if not is_enough(levels):
        raise InfeasibleError(
            "even with known columns left out, groups of fewer than {k} people would "
            "have more people than may be left out",
            remedy="raise the share of people who may be left out, lower k, or ask "
            "about one known event",
            k=plan.k,
        )
    remaining = list(levels)
    steps = sum(levels.values())
    while remaining:  # the column that loses most is tried first
        name = max(remaining, key=lambda each: groups.loss(each, levels[each]))
        if levels[name] and is_enough(levels | {name: levels[name] - 1}):
            levels[name] -= 1
        else:
            remaining.remove(name)
        left = sum(levels[name] for name in remaining)
        on_progress("levels", 1 - left / max(1, steps))
    kept = groups.find_kept_people(levels)
    is_kept_event = kept[rows.parents]
    return LinkedRecoding(
        people=groups.publish(rows.frame[kept], levels, plan),
        events=groups.publish(rows.events[is_kept_event], levels, plan),
        parents=(np.cumsum(kept) - 1)[rows.parents[is_kept_event]],
        levels=levels,
        left_out_people=int((~kept).sum()),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Groups:
    """What somebody may know of each person, as leaves of hierarchies.

    Attributes:
        leaves: column -> (rows,) leaf of each row of its table.
        first, second: column -> (choices,) its leaf in the first and second known
            event; a column of people is in `first` alone.
        counts, person: (choices,) number of known events, and the person.
    """

    k: int
    hierarchies: Mapping[str, Hierarchy]
    leaves: Mapping[str, IntArray]
    first: Mapping[str, IntArray]
    second: Mapping[str, IntArray]
    counts: IntArray
    person: IntArray
    people: int

    @classmethod
    def of(cls, rows: LinkedMicrodata, plan: LinkedPlan) -> _Groups:
        number = len(rows.frame)
        without = np.flatnonzero(np.bincount(rows.parents, minlength=number) == 0)
        owner = np.concatenate([rows.parents, without])
        hierarchies = {}
        leaves = {}
        codes = {}
        for name, given in plan.hierarchies.items():
            is_of_event = name in rows.events
            table = rows.events if is_of_event else rows.frame
            if name not in table:
                raise missing_column_error(name)
            hierarchies[name], leaf = given.read_column(table[name])
            leaves[name] = leaf
            padding = np.zeros(len(without), dtype=np.int64)
            codes[name] = (
                np.concatenate([leaf, padding]) if is_of_event else leaf[owner]
            )
        of_events = [name for name in codes if name in rows.events]
        known = KnownEvents.choose(
            owner,
            [codes[name] for name in of_events],
            np.arange(len(owner)) < len(rows.parents),
            most=plan.known_events,
        )
        return cls(
            k=plan.k,
            hierarchies=hierarchies,
            leaves=leaves,
            first={name: codes[name][known.first] for name in codes},
            second={name: codes[name][known.second] for name in of_events},
            counts=known.counts,
            person=owner[known.first],
            people=number,
        )

    def find_kept_people(self, levels: Mapping[str, int]) -> BoolArray:
        """Return who may stay at these levels, shape (people,)."""
        columns = []
        for name, level in levels.items():
            coarser = self.hierarchies[name].codes(level)
            first = coarser[self.first[name]]
            columns.append(
                join_events(first, coarser[self.second[name]], self.counts)
                if name in self.second
                else first
            )
        # 1. Each group with each of its people, once.
        groups = class_index(columns)
        once = last_rows(class_index([groups, self.person]))
        group = groups[once]
        person = self.person[once]
        # 2. Leave out people of small groups, which makes other groups smaller.
        kept = np.ones(self.people, dtype=np.bool_)
        while True:
            stays = kept[person]
            sizes = np.bincount(group[stays], minlength=int(group.max()) + 1)
            small = stays & (sizes[group] < self.k)
            if not small.any():
                return kept
            kept[person[small]] = False

    def loss(self, name: str, level: int) -> float:
        """Return the share of a column's detail that is lost at a level, in [0, 1]."""
        return self._losses[name][level]

    @cached_property
    def _losses(self) -> Mapping[str, list[float]]:
        losses = {}
        for name, hierarchy in self.hierarchies.items():
            most = max(1, len(hierarchy.values) - 1)
            losses[name] = [
                float((hierarchy.leaf_counts(level)[self.leaves[name]] - 1).mean())
                / most
                if len(self.leaves[name])
                else 0.0
                for level in range(hierarchy.height + 1)
            ]
        return losses

    def publish(
        self, table: pd.DataFrame, levels: Mapping[str, int], plan: LinkedPlan
    ) -> pd.DataFrame:
        """Return the published columns of rows of one of the tables, in its order."""
        labels = {
            name: np.array(self.hierarchies[name].levels[level], dtype=object)[
                self.leaves[name][table.index]
            ]
            for name, level in levels.items()
            if name in table
        }
        published = {*levels, *plan.unchanged_columns}
        left = table[[name for name in table if name in published]]
        return left.assign(**labels).reset_index(drop=True)
