"""The release of two linked tables: people and their events, drawn together."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dpcore.accounting.composition import total_loss
from dpcore.accounting.loss import (
    ApproxDP,
    Loss,
    PureDP,
    loss_fields,
    loss_from_fields,
)
from dpcore.errors import ParameterError, UsageError
from dpcore.json_text import parse_json, refuse_malformed_fields
from dpcore.release import Guarantee, Release, check_rows
from dpcore.schema.linked import EVENT_NUMBER, NUMBER_OF_EVENTS
from dpcore.tables.counts import Integers

LINKED_RELEASE_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class DrawnTables:
    """Two drawn tables, and the same rows as the two views.

    Attributes:
        people: the key from 1, and the columns of people.
        events: the key of the person, and the columns of events, person by person.
        people_view, events_view: the columns that were measured, without keys.
    """

    people: pd.DataFrame
    events: pd.DataFrame
    people_view: pd.DataFrame
    events_view: pd.DataFrame


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkedRelease:
    """Releases of the two views of linked tables, which draw both tables together.

    Attributes:
        people: of the view of people, with the number of events.
        events: of the view of events, with the columns of the person.
        order_by: the column of events by which those of a person are sorted, or empty.
    """

    people: Release
    events: Release
    order_by: str = ""

    def __post_init__(self) -> None:
        if NUMBER_OF_EVENTS not in self.people.model_columns:
            raise UsageError(
                "the release of people draws no number of events",
                remedy="use a recipe that draws all columns",
            )
        of_events = {column.name: column for column in self.events.schema.columns}
        if any(
            of_events.get(column.name) != column
            for column in self.people.schema.columns
            if column.name in self.people.model_columns
        ):
            raise UsageError(
                "these are not the releases of two linked tables",
                remedy="use both releases of one call",
            )

    def __repr__(self) -> str:
        return f"LinkedRelease({self.people!r}, {self.events!r})"

    @property
    def halves(self) -> dict[str, Release]:
        """Both releases by the names of their views, that of people first."""
        return {"people": self.people, "events": self.events}

    @property
    def guarantee(self) -> Guarantee:
        """What both releases promise together: their losses add up."""
        losses = [
            _parse_loss(release.guarantee.loss)
            for release in (self.people, self.events)
        ]
        of_people = self.people.guarantee
        of_events = self.events.guarantee
        return dataclasses.replace(
            of_events,
            loss=loss_fields(total_loss(losses)),
            unit=(
                "add or remove one person with all rows in both tables; people: "
                f"{of_people.unit}; events: {of_events.unit}"
            ),
            from_data=_merge_marks(of_people.from_data, of_events.from_data),
            known_from={**of_people.known_from, **of_events.known_from},
            found={**of_people.found, **of_events.found},
            exact_tables=max(of_people.exact_tables, of_events.exact_tables),
            reading_from_data=of_people.reading_from_data
            or of_events.reading_from_data,
        )

    @property
    def total_loss(self) -> Loss:
        """The loss of both releases, and of the private searches for either.

        A search that both views use counts once.
        """
        releases = (self.people, self.events)
        stated = [release.guarantee.loss for release in releases]
        searches = dict.fromkeys(
            search
            for release in releases
            for search in release.guarantee.found.values()
        )
        rows = self.events.schema.unit.found
        paid = [
            *stated,
            *(search.loss for search in searches),
            *([{PureDP.name: rows}] if rows else []),
        ]
        return total_loss([_parse_loss(fields) for fields in paid])

    def sample(
        self, people: int | None = None, *, seed: int | None = None
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Draw people and their events. Free: nothing is charged.

        Each event has the key of one drawn person, and a person has as many events as
        was drawn with the person.

        Args:
            people: how many, from 0; None for as many as the noisy counts say.
            seed: for drawing the same rows again; it has no part in the privacy noise.

        Returns: the people, and the events; keys are numbers from 1.

        Raises: ParameterError for a number of rows that cannot be drawn.
        """
        drawn = self.draw_tables(people, seed=seed)
        return drawn.people, drawn.events

    def draw_tables(
        self, people: int | None = None, *, seed: int | None = None
    ) -> DrawnTables:
        """Draw as `sample` does; return the rows of the two views, too."""
        rng = np.random.default_rng(seed)
        # 1. Draw people, each with a number of events.
        rows = self.people.choose_row_count(people)
        codes, ranks = self.people.draw_ranked(rows, rng)
        numbers = codes[NUMBER_OF_EVENTS].astype(np.int64)
        check_rows(int(numbers.sum()))
        owner = np.repeat(np.arange(rows), numbers)
        known = {
            name: codes[name].astype(np.int64)[owner]
            for name in self.people.model_columns
            if name in self.events.model_columns
        }
        people_view = self.people.decode(codes, ranks, rng)
        # 2. Draw the events of each person given the columns of the person.
        places = _number_within(owner, numbers)
        if EVENT_NUMBER in self.events.model_columns:
            known[EVENT_NUMBER] = places
        of_person = people_view.iloc[owner].reset_index(drop=True)
        events = self._draw_events(known, of_person, rng)
        if self.order_by:
            order = np.lexsort((_rank_values(events[self.order_by]), owner))
            events = events.iloc[order].reset_index(drop=True)
        # 3. Name people by numbers that have nothing to do with the original keys.
        numbered = {EVENT_NUMBER: places + 1} if EVENT_NUMBER in known else {}
        return DrawnTables(
            people=_with_key(
                people_view.drop(columns=NUMBER_OF_EVENTS),
                self.people,
                np.arange(1, rows + 1),
            ),
            events=_with_key(events, self.events, owner + 1),
            people_view=people_view,
            events_view=pd.concat(
                [of_person.assign(**numbered), events], axis="columns"
            ),
        )

    def _draw_events(
        self,
        known: Mapping[str, Integers],
        of_person: pd.DataFrame,
        rng: np.random.Generator,
    ) -> pd.DataFrame:
        """Draw the columns of events, one row for each row of known cells."""
        is_empty = of_person.empty
        if is_empty:  # draw one row, for the types of its columns
            known = {name: np.zeros(1, dtype=np.int64) for name in known}
            of_person = of_person.reindex([0])
        codes, ranks = self.events.draw_known(known, rng)
        columns = {name: of_person[name] for name in known if name in of_person}
        events = self.events.decode(codes, ranks, rng, columns)
        return events.iloc[:0] if is_empty else events

    def to_json(self) -> str:
        """Return both releases as JSON text with a version."""
        fields = {
            "version": LINKED_RELEASE_VERSION,
            "people": json.loads(self.people.to_json()),
            "events": json.loads(self.events.to_json()),
            "order_by": self.order_by,
        }
        return json.dumps(fields)

    @staticmethod
    def is_in(text: str) -> bool:
        """Return whether JSON text is of this kind, not a release of one table.

        Raises: ReadError, LimitError.
        """
        fields = parse_json(text)
        return isinstance(fields, dict) and {"people", "events"} <= fields.keys()

    @classmethod
    def from_json(cls, text: str) -> LinkedRelease:
        """Read the output of `to_json`.

        Raises: ParameterError for another version, or an altered release.
        """
        fields = parse_json(text)
        with refuse_malformed_fields():
            return cls._from_fields(fields)

    @classmethod
    def _from_fields(cls, fields: Mapping[str, Any]) -> LinkedRelease:
        if fields["version"] != LINKED_RELEASE_VERSION:
            raise ParameterError(
                "the file has version {version}, but this program reads version "
                "{readable}",
                remedy="open it with the program that made it",
                version=fields["version"],
                readable=LINKED_RELEASE_VERSION,
            )
        return cls(
            people=Release.from_dict(fields["people"]),
            events=Release.from_dict(fields["events"]),
            order_by=fields["order_by"],
        )


def _parse_loss(fields: Mapping[str, str]) -> Loss:
    loss = loss_from_fields(fields)
    assert not isinstance(loss, ApproxDP)  # shares of a loss have no delta
    return loss


def _merge_marks(
    first: Mapping[str, tuple[str, ...]], second: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return the marks of both, by column."""
    return {
        name: tuple(dict.fromkeys((*first.get(name, ()), *second.get(name, ()))))
        for name in (*first, *second)
    }


def _number_within(owner: Integers, numbers: Integers) -> Integers:
    """Return the place from 0 of each event among those of its person."""
    starts = np.cumsum(numbers) - numbers
    places: Integers = np.arange(len(owner), dtype=np.int64) - starts[owner]
    return places


def _rank_values(values: pd.Series) -> Integers:
    """Return an integer for each value in their order; missing ones are last."""
    ranks = values.rank(method="dense").fillna(len(values) + 1)
    numbers: Integers = np.asarray(ranks, dtype=np.int64)
    return numbers


def _with_key(frame: pd.DataFrame, release: Release, keys: Integers) -> pd.DataFrame:
    """Return the rows with the key of the release's table as the first column."""
    frame = frame.copy(deep=False)
    frame.insert(0, release.schema.unit.id_column or "", keys)
    return frame
