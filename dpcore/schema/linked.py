"""Two linked tables, of people and of their events, and the rules that link them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpcore.errors import ParameterError, SchemaError, UsageError
from dpcore.json_text import parse_json, refuse_malformed_fields
from dpcore.schema.column import Column
from dpcore.schema.interval import Integer
from dpcore.schema.schema import ExcludedColumn, Schema
from dpcore.schema.unit import PrivacyUnit

LINKED_VERSION = 1
NUMBER_OF_EVENTS = "number of events"
"""Column of both views: how many events of the person count."""
EVENT_NUMBER = "event number"
"""Column of the view of events: the place of the event among those of the person."""
EVENTS = "events"
"""Mark of a column of events in a joint list, if people have one of that name."""
MAX_EVENTS = 1_000
"""Events of a person that may count, at most: each number of them is a cell."""

LEAVE_OUT = "leave out"
OWN_PERSON = "own person"
KEEP_ONE = "keep one"
AS_WRITTEN = "as written"
AS_NUMBERS = "as numbers"
_CHOICES = {
    "orphans": (LEAVE_OUT, OWN_PERSON),
    "without_key": (LEAVE_OUT, OWN_PERSON),
    "repeated_people": (KEEP_ONE, LEAVE_OUT),
    "keys": (AS_WRITTEN, AS_NUMBERS),
}


@dataclass(frozen=True, kw_only=True)
class LinkRules:
    """Public rules for rows that do not fit; each looks at the rows of one person.

    None has a default, so that nothing is decided in silence.

    Attributes:
        orphans: events whose key no person has: "leave out", or "own person" for a
            person without values.
        without_key: rows of either table without a key: "leave out", or "own person"
            for each.
        repeated_people: several rows of people with one key: "keep one", by a keyed
            rank of its content, or "leave out" the person with all events.
        keys: whether 007 and 7 are two keys ("as written") or one ("as numbers").
    """

    orphans: str
    without_key: str
    repeated_people: str
    keys: str

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ParameterError(
                    "the rule {rule} must be one of: {choices}",
                    remedy="state a rule for each kind of row that does not fit",
                    rule=name,
                    choices=", ".join(choices),
                )

    @property
    def adds_people(self) -> bool:
        """Whether some events get a person without values."""
        return OWN_PERSON in (self.orphans, self.without_key)


@dataclass(frozen=True, kw_only=True)
class LinkedSchema:
    """The public facts about two linked tables, and the two views that are released.

    The unit of `people` names the key there, with one row a person. That of `events`
    names the key there; its `max_rows` is the number m of events of a person that
    count, public or found privately. A person with all rows in both tables is added or
    removed.

    Attributes:
        order_by: an ordered column of the events, by which the events of a person are
            numbered; empty if none tells their order.

    >>> from dpcore.schema import Categorical, Integer, PrivacyUnit, Schema
    >>> patients = Schema(
    ...     columns=(Categorical("sex", categories=("F", "M")),),
    ...     unit=PrivacyUnit(max_rows=1, id_column="patient"),
    ... )
    >>> stays = Schema(
    ...     columns=(Integer("days", low=0, high=29),),
    ...     unit=PrivacyUnit(max_rows=3, id_column="patient"),
    ... )
    >>> rules = LinkRules(
    ...     orphans="leave out",
    ...     without_key="leave out",
    ...     repeated_people="keep one",
    ...     keys="as written",
    ... )
    >>> linked = LinkedSchema(people=patients, events=stays, rules=rules)
    >>> linked.events_view.domain.names, linked.people_view.domain.sizes
    (('sex', 'number of events', 'days'), (2, 4))
    >>> LinkedSchema.from_json(linked.to_json()) == linked
    True
    """

    people: Schema
    events: Schema
    rules: LinkRules
    order_by: str = ""

    def __post_init__(self) -> None:
        self._check_units()
        self._check_names()
        if self.order_by and not self.events.column(self.order_by).is_interval:
            raise UsageError(
                f"column {self.order_by!r} has no order",
                remedy="name a column of dates or numbers of the events, or none",
            )
        lacking = [column.name for column in self.people.columns if not column.missing]
        if self.rules.adds_people and lacking:
            raise SchemaError(
                "events of no known person get a person without values, but columns "
                "have no cell for missing values: {columns}",
                remedy="declare that cell in these columns, or leave such events out",
                columns=", ".join(lacking),
            )

    @property
    def people_key(self) -> str:
        """Name of the key in the table of people."""
        return self.people.unit.id_column or ""

    @property
    def events_key(self) -> str:
        """Name of the key in the table of events."""
        return self.events.unit.id_column or ""

    @property
    def people_view(self) -> Schema:
        """The schema of the view of people: their columns and number of events."""
        return self._make_view(self.people.unit, self._columns_of_people)

    @property
    def events_view(self) -> Schema:
        """The schema of the view of events: columns of the person, then of the event."""
        number = (
            (_whole_numbers(EVENT_NUMBER, 1, self.events.unit),)
            if self.has_event_number
            else ()
        )
        return self._make_view(
            self.events.unit,
            (*self._columns_of_people, *number, *self.events.columns),
        )

    @property
    def has_event_number(self) -> bool:
        """Whether the view of events has the place of each among the person's."""
        return bool(self.order_by) and self.events.unit.max_rows > 1

    @property
    def account_unit(self) -> dict[str, object]:
        """The privacy unit for the account: the key in each table, m, and `keys`.

        These say who is one person, so that they never change for an account.
        """
        return self.events.unit.to_account() | {
            "linked": [self.people_key, self.rules.keys]
        }

    def facts_of_view(self, view: str) -> dict[str, object]:
        """Return the facts behind the rows of a view, for its lines in the ledger.

        Args:
            view: "people" or "events".
        """
        return {
            "view": view,
            "rules": dataclasses.asdict(self.rules),
            "order_by": self.order_by,
        }

    def with_unit(self, unit: PrivacyUnit) -> LinkedSchema:
        """Return the schema with another privacy unit of the events."""
        return dataclasses.replace(
            self, events=dataclasses.replace(self.events, unit=unit)
        )

    def without_private_texts(self) -> LinkedSchema:
        """Return the schema without texts that only the tables hold; see `Schema`."""
        return dataclasses.replace(
            self,
            people=self.people.without_private_texts(),
            events=self.events.without_private_texts(),
        )

    def to_json(self) -> str:
        """Return both schemas, the rules and the order as JSON text with a version."""
        content = {
            "version": LINKED_VERSION,
            "people": json.loads(self.people.to_json()),
            "events": json.loads(self.events.to_json()),
            "rules": dataclasses.asdict(self.rules),
            "order_by": self.order_by,
        }
        return json.dumps(content, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> LinkedSchema:
        """Read the output of `to_json`.

        Raises: as `Schema.from_json`; ParameterError for a rule that is not stated, or
            for tables that cannot be linked.
        """
        content = parse_json(text)
        with refuse_malformed_fields():
            _refuse_other_tables(content)
            if content["version"] != LINKED_VERSION:
                raise SchemaError(
                    (
                        "the file has version {version}, but this program reads "
                        "version {readable}"
                    ),
                    remedy="open it with the program that made it",
                    version=content["version"],
                    readable=LINKED_VERSION,
                )
            return cls(
                people=Schema.from_json(json.dumps(content["people"])),
                events=Schema.from_json(json.dumps(content["events"])),
                rules=LinkRules(**{name: content["rules"][name] for name in _CHOICES}),
                order_by=content.get("order_by", ""),
            )

    @property
    def _columns_of_people(self) -> tuple[Column, ...]:
        number = _whole_numbers(NUMBER_OF_EVENTS, 0, self.events.unit)
        return (*self.people.columns, number)

    def _make_view(self, unit: PrivacyUnit, columns: tuple[Column, ...]) -> Schema:
        """Return the schema of a view.

        What the data left out of either table, and how either file was read, holds for
        both views.
        """
        return Schema(
            columns=columns,
            unit=unit,
            excluded=self._excluded_columns(),
            declared_by=self.people.declared_by or self.events.declared_by,
            reading_from_data=self.people.reading_from_data
            or self.events.reading_from_data,
            unsaid={**self.people.unsaid, **self.events.unsaid},
        )

    def _excluded_columns(self) -> tuple[ExcludedColumn, ...]:
        """Return the columns that either table leaves out, with the marks of both."""
        excluded: dict[str, ExcludedColumn] = {}
        released = _names_of(self.people) | _names_of(self.events)
        for column in (*self.people.excluded, *self.events.excluded):
            known = excluded.get(column.name)
            if column.name not in released and not (known and known.from_data):
                excluded[column.name] = column
        return tuple(excluded.values())

    def _check_units(self) -> None:
        """Refuse tables without a key, several rows a person, or too many events."""
        if not self.people_key or not self.events_key:
            raise SchemaError(
                "two tables are linked by a key, and one of them names none",
                remedy="name the column that says who a row is about, in each table",
            )
        if self.people.unit.max_rows != 1 or self.people.unit.found:
            raise SchemaError(
                "the table of people has one row a person",
                remedy="declare one row per person there, and the number of events in "
                "the other table",
            )
        if self.events.unit.max_rows > MAX_EVENTS:
            raise SchemaError(
                "at most {most} events of a person can count",
                remedy="choose a smaller number",
                most=MAX_EVENTS,
            )

    def _check_names(self) -> None:
        """Refuse a name that a view would have twice."""
        of_people = _names_of(self.people)
        of_events = _names_of(self.events)
        keys = {self.people_key, self.events_key}
        added = {NUMBER_OF_EVENTS, EVENT_NUMBER}
        twice = (of_people & of_events) | (added & (of_people | of_events | keys))
        twice |= of_people & {column.name for column in self.events.left_out}
        twice |= of_events & {column.name for column in self.people.left_out}
        if twice:
            raise SchemaError(
                "a view of both tables would have two columns of one name: {columns}",
                remedy="rename them in one of the tables, or leave them out",
                columns=", ".join(sorted(twice)),
            )
        if keys & (of_people | of_events):
            raise SchemaError(
                "the key is declared as a column that is released: {columns}",
                remedy="leave the key out of the columns",
                columns=", ".join(sorted(keys & (of_people | of_events))),
            )


def _whole_numbers(name: str, low: int, unit: PrivacyUnit) -> Integer:
    """Return a column of numbers up to the number of events that count.

    If that was taken from the data, so was the column's largest value.
    """
    return Integer(
        name,
        low=low,
        high=unit.max_rows,
        bin_width=1,
        from_data=("high",) if unit.from_data else (),
    )


def _names_of(schema: Schema) -> set[str]:
    """Return the declared columns, and those of the table that they come from."""
    names = schema.domain.names
    return {*names, *schema.source_columns(names)}


def _refuse_other_tables(content: Mapping[str, Any]) -> None:
    """Refuse a description of more tables, or of keys of several persons.

    Raises: ParameterError.
    """
    known = {"version", "people", "events", "rules", "order_by"}
    if other := sorted(set(content) - known):
        raise ParameterError(
            "two tables can be linked, and there is more here: {names}. Each further "
            "table would need its own number of rows of a person and its own part of "
            "the loss.",
            remedy="release each pair of tables by itself, or join the others first",
            names=", ".join(other),
        )
