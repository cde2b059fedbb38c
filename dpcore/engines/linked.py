"""The rows of two linked tables, and the two views of them that are counted.

Every step looks at the rows of one person: a person who is added or removed changes
their own rows of each view alone. Types of columns follow from the rules, never from
rows, so that nobody changes how the values of others are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.engines.base import ignore_progress
from dpcore.engines.connect import engine_of
from dpcore.engines.frame import FrameEngine
from dpcore.errors import SchemaError, UsageError
from dpcore.schema.linked import (
    AS_NUMBERS,
    EVENT_NUMBER,
    EVENTS,
    KEEP_ONE,
    NUMBER_OF_EVENTS,
    OWN_PERSON,
    LinkedSchema,
)
from dpcore.schema.schema import Schema
from dpcore.schema.source import Source
from dpcore.schema.table import normalize_table
from dpcore.schema.unit import PrivacyUnit
from dpcore.schema.values import READ_AS_TEXT, READING_FROM_DATA, readable_text
from dpcore.tables.digests import find_counted_rows, read_ids, row_digests
from dpcore.tables.rows import LinkedMicrodata

Places = npt.NDArray[np.int64]
_WHOLE_NUMBER = re.compile("-?(0|[1-9][0-9]*)")
_DECIMAL_NUMBER = re.compile(
    r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?"
)
MAX_EXACT_ID = 2**53
"""From here on, two whole numbers can be one float."""


@dataclass(frozen=True, kw_only=True)
class LinkCounts:
    """Exact counts of what linking met, for the owner alone.

    Attributes:
        people_rows, event_rows: rows of each table.
        people: who are in the view of people.
        people_with_events: those of them with an event that counts.
        orphan_events, orphan_keys: events whose key no row of people has.
        people_without_key, events_without_key: rows without a key.
        repeated_people: keys with several rows of people.
        events_of_left_out: events of people who were left out for several rows.
        respelled_keys: keys that are several texts, if keys are read as numbers.
        events_over_cap: events beyond the m that count.
        counted_events: events in the view of events.
    """

    people_rows: int
    event_rows: int
    people: int
    people_with_events: int
    orphan_events: int
    orphan_keys: int
    people_without_key: int
    events_without_key: int
    repeated_people: int
    events_of_left_out: int
    respelled_keys: int
    events_over_cap: int
    counted_events: int

    @property
    def drops_most_events(self) -> bool:
        """Whether the cap drops more than half of the events that people have."""
        return self.events_over_cap > self.counted_events


@dataclass(frozen=True, kw_only=True)
class LinkedRows:
    """Two tables with a person for each row that is kept.

    Attributes:
        people: (people rows) a row for each person, with the text of the key; without
            the number of events.
        events: the events of these people, with the text of the key, all of them.
        parents: (events,) the place of each event's person in `people`.
        people_places: (people rows) the place of each in the table of people; -1 for a
            person without a row there.
        event_places: (events,) the place of each in the table of events.
        counts: what linking met, the cap not yet applied.
    """

    people: pd.DataFrame = field(repr=False)
    events: pd.DataFrame = field(repr=False)
    parents: Places = field(repr=False)
    people_places: Places = field(repr=False)
    event_places: Places = field(repr=False)
    counts: LinkCounts = field(repr=False)

    def views(
        self, linked: LinkedSchema, key: bytes
    ) -> tuple[pd.DataFrame, pd.DataFrame, LinkCounts]:
        """Return the rows of the two views, and the counts with the cap applied.

        Args:
            linked: with the number of events of a person that count.
            key: of the ledger.
        """
        counted, _ = find_counted_rows(self.events, key, linked.events.unit)
        assert counted is not None  # the unit names a key
        events = self.events.iloc[counted].reset_index(drop=True)
        parents = self.parents[counted]
        numbers = np.bincount(parents, minlength=len(self.people))
        people = self.people.assign(**{NUMBER_OF_EVENTS: numbers})
        of_person = people.drop(columns=linked.people_key)
        joined = pd.concat(
            [of_person.iloc[parents].reset_index(drop=True), events], axis="columns"
        )
        if linked.has_event_number:
            joined[EVENT_NUMBER] = _number_events(events, parents, linked, key)
        for view in (people, joined):
            view.attrs.update(self.people.attrs)
        counts = LinkCounts(
            **vars(self.counts)
            | {
                "people_with_events": int((numbers > 0).sum()),
                "events_over_cap": len(self.events) - len(events),
                "counted_events": len(events),
            }
        )
        return people, joined, counts


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkedFiles:
    """Two tables as they were read, with the kept rows and their people.

    Attributes:
        people, events: all rows and columns of each table.
        people_places, event_places, parents: as of `LinkedRows`.
    """

    people: pd.DataFrame = field(repr=False)
    events: pd.DataFrame = field(repr=False)
    people_places: Places = field(repr=False)
    event_places: Places = field(repr=False)
    parents: Places = field(repr=False)

    def to_microdata(self, linked: LinkedSchema, key: bytes) -> LinkedMicrodata:
        """Return the rows of people, and of all their events, with all columns.

        Args:
            key: of the ledger.
        """
        places = self.people_places
        people = self.people.iloc[places[places >= 0]].reset_index(drop=True)
        if len(people) < len(places):  # people without a row come last
            people = people.reindex(range(len(places)))
        events = self.events.iloc[self.event_places].reset_index(drop=True)
        events = events.drop(columns=linked.events_key)
        taken = {*people, *events}
        renamed = {}
        for name in events.columns.intersection(people.columns):
            new_name = f"{name} ({EVENTS})"
            while new_name in taken:
                new_name += f" ({EVENTS})"
            renamed[name] = new_name
            taken.add(new_name)
        return LinkedMicrodata(
            people,
            key,
            events=events.rename(columns=renamed),
            parents=self.parents,
            left_out_rows=int(
                len(self.people)
                - (places >= 0).sum()
                + len(self.events)
                - len(self.event_places)
            ),
        )


class ViewEngine(FrameEngine):
    """Engine of one view of two linked tables, which hands out the rows of both.

    Args:
        files: the rows of both tables.
        linked: the public facts about them.
    """

    def __init__(
        self,
        view: pd.DataFrame,
        schema: Schema,
        files: LinkedFiles,
        linked: LinkedSchema,
        *,
        key: bytes,
    ) -> None:
        # the account is filed under both files, and a view's fingerprint is not needed
        super().__init__(view, schema, key=key, compute=None)
        self._files = files
        self._linked = linked

    def linked_rows(self) -> LinkedMicrodata:
        """Return all rows of both tables that the rules keep, whatever number counts."""
        return self._files.to_microdata(self._linked, self._key)


def read_linked_table(
    table: pd.DataFrame | Source,
    schema: Schema,
    *,
    key: bytes,
    on_rows: Callable[[int], None] = ignore_progress,
) -> pd.DataFrame:
    """Return all rows of one of two linked tables.

    Args:
        table: a frame, or a connected source of any kind but Spark.
        schema: of the table.
        key: of the ledger.
        on_rows: called with how many rows a pass has read.

    Raises: ParameterError for Spark; RowsError if the rows do not fit into memory; the
        errors of engines.
    """
    if isinstance(table, pd.DataFrame):
        frame = normalize_table(table)
    elif table.kind == "spark":
        raise UsageError(
            "linked tables are joined in the memory of this program, and a table of "
            "Spark does not fit there",
            remedy="write both tables as Parquet with fewer rows, or join them in "
            "Spark and open one table with several rows a person",
        )
    else:
        # without the key in its unit, as rows without a key have a rule of their own
        plain = Schema(columns=schema.columns, unit=PrivacyUnit(max_rows=1))
        frame = engine_of(table, plain, key=key, on_rows=on_rows).rows().frame
    schema.check_names(frame)
    return frame.reset_index(drop=True)


def link_rows(
    people: pd.DataFrame, events: pd.DataFrame, linked: LinkedSchema, key: bytes
) -> LinkedRows:
    """Link two tables by their keys and the public rules.

    Args:
        people, events: rows as `read_linked_table` returns them.
        linked: schemas and rules.
        key: of the ledger.

    Raises: SchemaError for keys that may have been merged when they were read, or if no
        person or no event remains.
    """
    rules = linked.rules
    as_numbers = rules.keys == AS_NUMBERS
    of_people, people_texts = _read_keys(people, linked.people, as_numbers)
    of_events, event_texts = _read_keys(events, linked.events, as_numbers)
    owns = rules.without_key == OWN_PERSON
    # 1. One row for each person, or none if there are several.
    first = _keep_one_row(people, of_people, linked, key)
    all_keys = set(of_people.iloc[first])
    repeated = set(of_people[of_people.notna() & of_people.duplicated()])
    if rules.repeated_people != KEEP_ONE:
        first = first[~of_people.iloc[first].isin(repeated).to_numpy()]
    unnamed = np.flatnonzero(of_people.isna())
    # 2. The events of these people, of nobody, and without a key.
    has_key = of_events.notna().to_numpy()
    is_known = of_events.isin(set(of_people.iloc[first])).to_numpy() & has_key
    is_orphan = has_key & ~of_events.isin(all_keys).to_numpy()
    is_kept = is_known.copy()
    if rules.orphans == OWN_PERSON:
        is_kept |= is_orphan
    if owns:
        is_kept |= ~has_key
    # 3. People without values for events that need one.
    names = list(of_people.iloc[first])
    taken = first
    keys = of_events.copy()
    if owns:
        names += [_own_key("p", place) for place in unnamed]
        taken = np.concatenate([first, unnamed])
        keys[~has_key] = [_own_key("e", place) for place in np.flatnonzero(~has_key)]
    keys = keys[is_kept].reset_index(drop=True)
    added = list(dict.fromkeys(keys[~keys.isin(set(names))]))
    people_frame = _with_empty_people(people, taken, len(added), linked)
    people_frame[linked.people_key] = [*names, *added]
    places = {name: place for place, name in enumerate([*names, *added])}
    events_frame = events.loc[is_kept].reset_index(drop=True)
    events_frame = events_frame[_list_needed_columns(linked.events)].copy(deep=False)
    events_frame[linked.events_key] = keys
    for frame in (people_frame, events_frame):
        frame.attrs = {
            mark: True
            for mark in (READ_AS_TEXT, READING_FROM_DATA)
            if people.attrs.get(mark) or events.attrs.get(mark)
        }
    if not len(people_frame) or not len(events_frame):
        raise SchemaError(
            "no event belongs to a person by these keys and by the rules for rows "
            "that do not fit",
            remedy="check which columns are the keys, and how they are written",
        )
    counts = LinkCounts(
        people_rows=len(people),
        event_rows=len(events),
        people=len(people_frame),
        people_with_events=keys.nunique(),
        orphan_events=int(is_orphan.sum()),
        orphan_keys=int(of_events[is_orphan].nunique()),
        people_without_key=len(unnamed),
        events_without_key=int((~has_key).sum()),
        repeated_people=len(repeated),
        events_of_left_out=int((has_key & ~is_orphan & ~is_known).sum()),
        respelled_keys=_count_respelled_keys(
            pd.concat([of_people, of_events], ignore_index=True),
            pd.concat([people_texts, event_texts], ignore_index=True),
        ),
        events_over_cap=0,
        counted_events=len(events_frame),
    )
    return LinkedRows(
        people=people_frame,
        events=events_frame,
        parents=keys.map(places).to_numpy(dtype=np.int64),
        people_places=np.concatenate([taken, np.full(len(added), -1)]).astype(np.int64),
        event_places=np.flatnonzero(is_kept),
        counts=counts,
    )


def _keep_one_row(
    people: pd.DataFrame, keys: pd.Series, linked: LinkedSchema, key: bytes
) -> Places:
    """Return the place of the row of each key that has the lowest keyed rank."""
    with_key = np.flatnonzero(keys.notna())
    rows = people.iloc[with_key].assign(**{linked.people_key: keys.iloc[with_key]})
    rows.attrs.update(people.attrs)
    one = PrivacyUnit(max_rows=1, id_column=linked.people_key)
    kept, _ = find_counted_rows(rows, key, one)
    assert kept is not None  # the unit names a key
    return with_key[kept]


def _read_keys(
    frame: pd.DataFrame, schema: Schema, as_numbers: bool
) -> tuple[pd.Series, pd.Series]:
    """Return the key of each row as it is compared, and as it was written; None if
    missing.
    """
    column = frame[schema.unit.id_column]
    if column.dtype == "float64":
        numbers = column.dropna()
        # whole numbers beside missing ones, which pandas keeps as floats
        if ((numbers % 1 == 0) & (numbers.abs() < MAX_EXACT_ID)).all():
            attrs = column.attrs
            column = column.astype("Int64")
            column.attrs = attrs
    ids = read_ids(column)
    is_read = bool(column.attrs.get(READ_AS_TEXT))
    if is_read and column.dtype.kind in "bmM":
        raise SchemaError(
            "the keys in {column!r} are read as dates, times or yes and no",
            remedy="take a column of numbers or words as the key",
            column=str(column.name),
        )
    written = [value[1:] for value in ids.values]
    keys = list(map(_read_key, written)) if is_read else written
    compared = np.array(
        [_escape(_drop_zeros(key) if as_numbers else key) for key in keys], dtype=object
    )
    return (
        pd.Series(ids.spread_to_rows(compared, None), dtype=object),
        pd.Series(
            ids.spread_to_rows(np.array(written, dtype=object), None), dtype=object
        ),
    )


def _read_key(text: str) -> str:
    """Return a key of a text file in one form, whatever the keys of others look like.

    A file's column of numbers holds 1 where a column of texts holds "1.0".
    """
    plain = text.strip()
    number = plain.removeprefix("+")
    if _WHOLE_NUMBER.fullmatch(number):
        return number
    if _DECIMAL_NUMBER.fullmatch(number):
        return readable_text(f"t{number}")
    return plain


def _drop_zeros(text: str) -> str:
    """Return the number that a text of digits writes, as a text; others as they are."""
    plain = text.strip()
    return (plain.lstrip("0") or "0") if plain.isascii() and plain.isdigit() else text


def _escape(text: str) -> str:
    """Return a key that is no `_own_key`, whatever its text."""
    return f"\x00{text}" if text.startswith("\x00") else text


def _own_key(kind: str, place: np.int64) -> str:
    """Return the key of a person who is one row; no escaped text is equal to it."""
    return f"\x00{kind}{place}"


def _list_needed_columns(schema: Schema) -> list[str]:
    """Return the columns of a table that its view reads, the key first."""
    names = schema.source_columns(schema.domain.names)
    return list(dict.fromkeys([schema.unit.id_column or "", *names]))


def _with_empty_people(
    people: pd.DataFrame, taken: Places, number: int, linked: LinkedSchema
) -> pd.DataFrame:
    """Return the chosen rows of people, and after them people without values.

    If the rules may add such people, all columns hold Python objects, whether any was
    added or not: else one of them would turn whole numbers of all others into floats.
    """
    frame = people[_list_needed_columns(linked.people)]
    if not linked.rules.adds_people:
        return frame.iloc[taken].reset_index(drop=True)
    columns = {
        name: pd.Series(
            [*frame[name].iloc[taken].astype(object), *[None] * number], dtype=object
        )
        for name in frame
    }
    return pd.DataFrame(columns)


def _number_events(
    events: pd.DataFrame, parents: Places, linked: LinkedSchema, key: bytes
) -> Places:
    """Return the place from 1 of each event among those of its person.

    Events of one cell of the ordering column are in the order of their keyed digests.
    """
    column = linked.events.column(linked.order_by)
    cells = column.encode(column.values_of(events))
    order = np.lexsort((*row_digests(events, key).T, cells, parents))
    sizes = np.bincount(parents[order])
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    numbers = np.empty(len(events), dtype=np.int64)
    numbers[order] = np.arange(len(events)) - starts + 1
    return numbers


def _count_respelled_keys(compared: pd.Series, written: pd.Series) -> int:
    """Count the keys that are written in several ways."""
    texts = pd.DataFrame({"compared": compared, "written": written}).drop_duplicates()
    return int((texts.groupby("compared").size() > 1).sum())
