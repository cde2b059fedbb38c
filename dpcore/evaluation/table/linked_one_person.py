"""Group of people who match known facts of one person and of some of their events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.errors import UsageError, two_roles_error
from dpcore.evaluation.base import LinkedRowsEvaluation
from dpcore.evaluation.table.one_person import (
    KnownFact,
    OnePersonReport,
    find_likely_values,
)
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.schema import Schema
from dpcore.tables.events import check_known_events
from dpcore.tables.rows import LinkedMicrodata


@dataclass(frozen=True, kw_only=True)
class LinkedOnePersonQuestion(LinkedRowsEvaluation[OnePersonReport]):
    """Evaluation of what facts about a person and some of their events reveal.

    A person has a value of a sensitive column of events if some event of theirs has it.

    Attributes:
        known: facts about the person.
        events: facts about each known event, 1 or 2 of them; they are different events.
        sensitive: columns of either table.
    """

    kind = "what one person's events give away"

    known: tuple[KnownFact, ...]
    events: tuple[tuple[KnownFact, ...], ...]
    sensitive: tuple[str, ...]

    @property
    def _facts(self) -> list[KnownFact]:
        return [*self.known, *(fact for event in self.events for fact in event)]

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(fact.column for fact in self._facts))

    def compute(
        self,
        original: LinkedMicrodata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> OnePersonReport:
        """Return the report.

        Raises: ParameterError for no known fact, or for too many events; SchemaError
            for an unknown column.
        """
        if not self._facts or not all(self.events):
            raise UsageError(
                "nothing is known of this person, or of an event",
                remedy="say at least one thing",
            )
        if self.events:
            check_known_events(len(self.events))
        if twice := {*self.sensitive} & {*self.ledger_names}:
            raise two_roles_error(min(twice))
        number = len(original.frame)
        fits = np.ones(number, dtype=np.bool_)
        for fact in self.known:
            fits &= fact.mark_matching_rows(original.frame)
        # Two different events can be chosen if each fact has one, and both have two
        either = np.zeros(len(original.events), dtype=np.bool_)
        for event in self.events:
            here = np.logical_and.reduce(
                [fact.mark_matching_rows(original.events) for fact in event]
            )
            either |= here
            fits &= np.bincount(original.parents[here], minlength=number) > 0
        fits &= np.bincount(original.parents[either], minlength=number) >= len(
            self.events
        )
        people = int(fits.sum())
        secrets = {}
        for name in self.sensitive:
            of_events = name in original.events
            secrets[name] = find_likely_values(
                original.events if of_events else original.frame,
                name,
                np.flatnonzero(fits[original.parents] if of_events else fits),
                original.parents if of_events else None,
                people=people,
                all_people=number,
            )
        return OnePersonReport(
            people=people,
            secrets=secrets,
            repeated=frozenset({*self.sensitive}.intersection(original.events)),
        )
