"""Resemblance of two events of one person, in a release and in the original.

One pair of events of each person is compared, chosen with a fixed seed. So a person
with many events counts as much as others, and it does not matter how many count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.evaluation._records import EVALUATION_SEED, Floats
from dpcore.evaluation.base import RowsEvaluation
from dpcore.evaluation.utility._cells import CodedTables
from dpcore.evaluation.utility.counts import unrelated_distance_limit
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.schema import Schema
from dpcore.schema.unit import PrivacyUnit
from dpcore.tables.classes import IntArray
from dpcore.tables.distance import total_variation
from dpcore.tables.people import person_codes
from dpcore.tables.rows import Microdata, PublicTable

COMPARED_TABLES = ("release", "bootstrap", "shuffled")


@dataclass(frozen=True, kw_only=True, eq=False)
class EventPairsReport:
    """How far the values of two events of one person are from those of the original.

    Attributes:
        columns: of events.
        distances: (3, columns): total variation distances of a column's two values, in
            wide cells: of the release, of a bootstrap and of unrelated events. It has
            no columns if nobody has two events in one of both tables.
        unrelated_limits: (columns,) distances of unrelated events that chance seldom
            exceeds.
    """

    columns: tuple[str, ...]
    distances: Floats
    unrelated_limits: Floats


@dataclass(frozen=True, kw_only=True)
class EventPairsQuestion(RowsEvaluation[EventPairsReport]):
    """Evaluation of how events of one person resemble each other. For the events' view.

    Attributes:
        pairs: of the release, as `choose_event_pairs` returns them, with values of
            `event_pair_schema`.
        columns: of events that are compared.
    """

    kind = "events of one person"
    counted_rows_only = True

    pairs: PublicTable
    columns: tuple[str, ...]

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return self.columns

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> EventPairsReport:
        """Return the report."""
        person = person_codes(original.frame, schema.unit.id_column)
        if person is None:  # nobody has two events
            person = np.arange(len(original.frame))
        own = choose_event_pairs(original.frame, person, self.columns)
        released = self.pairs.frame
        columns = [name for name in self.columns if name in released]
        if own.empty or released.empty or not columns:
            return EventPairsReport(
                columns=(), distances=np.zeros((3, 0)), unrelated_limits=np.zeros(0)
            )
        cells = CodedTables.encode(
            own,
            released,
            event_pair_schema(schema, columns),
            (*columns, *map(name_of_other_event, columns)),
        )
        distances = np.empty((len(COMPARED_TABLES), len(columns)))
        limits = np.empty(len(columns))
        for place in range(len(columns)):
            both = (place, place + len(columns))
            expected = cells.coarse_counts("original", *both)
            limits[place] = unrelated_distance_limit(expected)
            for line, table in enumerate(COMPARED_TABLES):
                distances[line, place] = total_variation(
                    expected, cells.coarse_counts(table, *both)
                )
        return EventPairsReport(
            columns=tuple(columns), distances=distances, unrelated_limits=limits
        )


def columns_of_one_value(schema: Schema) -> tuple[str, ...]:
    """Return the columns that do not count relative to another one."""
    return tuple(
        column.name
        for column in schema.columns
        if column.source_columns == (column.name,)
    )


def event_pair_schema(schema: Schema, columns: Sequence[str]) -> Schema:
    """Return the schema of pairs of events: each column, and again for another event.

    Args:
        columns: some of `columns_of_one_value`.
    """
    chosen = [schema.column(name) for name in columns]
    again = [
        dataclasses.replace(column, name=name_of_other_event(column.name))
        for column in chosen
    ]
    return Schema(columns=(*chosen, *again), unit=PrivacyUnit(max_rows=1))


def choose_event_pairs(
    events: pd.DataFrame, person: IntArray, columns: Sequence[str]
) -> pd.DataFrame:
    """Return a row with two different events of each person who has two.

    Args:
        person: (events,) number of each event's person.
    """
    rng = np.random.default_rng(EVALUATION_SEED)
    order = rng.permutation(len(events))
    order = order[np.argsort(person[order], kind="stable")]
    owners = person[order]
    is_first = np.append(True, owners[1:] != owners[:-1])[: len(owners)]
    first = np.flatnonzero(is_first[:-1] & ~is_first[1:])
    present = [name for name in columns if name in events]
    frames = [
        events[present].iloc[order[places]].reset_index(drop=True)
        for places in (first, first + 1)
    ]
    frames[1] = frames[1].rename(columns=name_of_other_event)
    return pd.concat(frames, axis="columns")


def name_of_other_event(name: str) -> str:
    """Return the name of a column's value in the other event of a pair."""
    return f"{name} (another event)"
