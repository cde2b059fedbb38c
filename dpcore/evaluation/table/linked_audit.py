"""Report on the risk of re-identification in two linked tables as they are. Internal.

Somebody knows columns of a person, and of up to k of the person's events, but not how
many events the person has. A group is everybody with these values who has these events
(k^m-anonymity of Terrovitis, Mamoulis, Kalnis 2008, "Privacy-preserving anonymization
of set-valued data", with the person's columns added). A person is exposed by the k
events that expose most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dpcore.errors import two_roles_error
from dpcore.evaluation.base import LinkedRowsEvaluation
from dpcore.evaluation.table.audit import (
    AuditReport,
    describe_risk,
    every_row_suppressed_error,
    mark_unsuppressed,
)
from dpcore.evaluation.table.linked_proposals import LinkedRoles
from dpcore.evaluation.table.verdict import Knowledge
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.risk.reidentification import check_threshold
from dpcore.schema.schema import Schema
from dpcore.tables.classes import BoolArray, check_columns
from dpcore.tables.events import KnownEvents, check_known_events
from dpcore.tables.rows import CodedRows, LinkedMicrodata, code_column


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkedAuditReport:
    """Risks of people in two linked tables.

    Attributes:
        report: as of one table. A row is a person with up to k of the person's events.
        left_out_rows: rows of either table that the rules of the pair leave out, and
            that are not looked at.
    """

    report: AuditReport
    left_out_rows: int


@dataclass(frozen=True, kw_only=True)
class LinkedAuditQuestion(LinkedRowsEvaluation[LinkedAuditReport]):
    """Evaluation of the risk of people, by their columns and some of their events.

    It looks at all events, whatever number of them counts in releases.

    Attributes:
        quasi_identifiers: columns of either table that somebody may know.
        sensitive: what should stay unknown; none of the quasi-identifiers.
        others: columns that may turn out to be known too.
        known_events: how many events of a person somebody may know, 1 or 2.
        threshold: risk above which a person counts as exposed.
        roles: assumed role of each column.
        hides_suppressed: whether rows with `*` in all known columns are suppressed and
            count nowhere; else `*` is a value like any other.
    """

    kind = "re-identification risk by events"

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    others: tuple[str, ...]
    known_events: int
    threshold: float
    roles: LinkedRoles
    hides_suppressed: bool = True

    @classmethod
    def of(
        cls,
        roles: LinkedRoles,
        schema: Schema,
        *,
        known: Sequence[str],
        sensitive: Sequence[str],
        known_events: int,
        threshold: float,
    ) -> LinkedAuditQuestion:
        """Build the audit, with all columns that are no identifiers as others.

        Args:
            schema: of the view of people; names the person.
        """
        left_out = {*known, *sensitive, schema.unit.id_column}
        return cls(
            quasi_identifiers=tuple(known),
            sensitive=tuple(sensitive),
            others=tuple(
                role.column
                for role in roles.both
                if role.column not in left_out and role.role != "identifier"
            ),
            known_events=known_events,
            threshold=threshold,
            roles=roles,
        )

    def __post_init__(self) -> None:
        check_columns(self.quasi_identifiers)
        check_threshold(self.threshold)
        both = [name for name in self.sensitive if name in self.quasi_identifiers]
        if both:
            raise two_roles_error(both[0])
        check_known_events(self.known_events)

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return self.quasi_identifiers

    def compute(
        self,
        original: LinkedMicrodata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> LinkedAuditReport:
        """Return the report.

        Raises: SchemaError for an unknown column, or if every row is suppressed;
            LimitError for too many pairs of events.
        """
        # 1. A row for each event, and one for each person without events.
        coded, has_event = self._code_rows(original)
        event_columns = [name for name in coded.values if name in original.events]
        visible = self._mark_visible(coded, event_columns, has_event)
        knowledge = Knowledge.from_rows(
            coded,
            visible,
            known=self.quasi_identifiers,
            others=self.others,
            sensitive=self.sensitive,
        )
        # 2. A row for each person without, with one, and with two of the events.
        expanded = choose_known_events(
            knowledge,
            event_columns,
            has_event[visible],
            known_events=self.known_events,
        )
        report = describe_risk(
            expanded,
            roles=self.roles.both,
            schema=schema,
            omitted_columns=(),
            suppressed=float(1 - visible.mean()),
            threshold=self.threshold,
        )
        return LinkedAuditReport(report=report, left_out_rows=original.left_out_rows)

    def _code_rows(self, original: LinkedMicrodata) -> tuple[CodedRows, BoolArray]:
        """Return the columns of a row for each event, and for each person without any.

        Returns: the codes, with arbitrary ones where there is no event, and a mask of
            the rows that are events.
        """
        number = len(original.frame)
        without = np.flatnonzero(np.bincount(original.parents, minlength=number) == 0)
        person = np.concatenate([original.parents, without])
        codes = {}
        values = {}
        for name in dict.fromkeys(
            (*self.quasi_identifiers, *self.sensitive, *self.others)
        ):
            if name in original.events and original.events.empty:
                codes[name] = np.zeros(len(person), dtype=np.int64)
                values[name] = pd.Series([None], name=name)
                continue
            if name in original.events:
                column = code_column(original.events, name)
                padding = np.zeros(len(without), dtype=column.codes.dtype)
                codes[name] = np.concatenate([column.codes, padding])
            else:
                column = code_column(original.frame, name)
                codes[name] = column.codes[person]
            values[name] = column.values
        coded = CodedRows(
            frame=pd.DataFrame(codes, copy=False), values=values, person=person
        )
        return coded, np.arange(len(person)) < len(original.parents)

    def _mark_visible(
        self, coded: CodedRows, event_columns: Sequence[str], has_event: BoolArray
    ) -> BoolArray:
        """Return a mask of the rows that are not suppressed.

        Without known columns of people, who has no events is seen as one of all people.

        Raises: SchemaError if every row is suppressed.
        """
        known = self.quasi_identifiers
        if not self.hides_suppressed:
            return np.ones(len(has_event), dtype=np.bool_)
        visible = np.zeros(len(has_event), dtype=np.bool_)
        if {*known} <= {*event_columns}:
            visible |= ~has_event
        for name in known:
            shown = mark_unsuppressed(coded.values[name])[coded.frame[name].to_numpy()]
            visible |= shown & has_event if name in event_columns else shown
        if not visible.any():
            raise every_row_suppressed_error()
        return visible


def choose_known_events(
    knowledge: Knowledge,
    event_columns: Sequence[str],
    has_event: BoolArray,
    *,
    known_events: int,
) -> Knowledge:
    """Return a row for each person with each choice of up to two of their events.

    Args:
        knowledge: rows of events, and of people without events.
        event_columns: its columns of events.
        has_event: (rows,) whether the row is an event.
        known_events: 1 or 2.

    Raises: LimitError for too many pairs.
    """
    assert knowledge.person is not None  # people are linked by a key
    known = KnownEvents.choose(
        knowledge.person,
        [knowledge.codes[name] for name in event_columns],
        has_event,
        most=known_events,
    )
    return replace(
        knowledge,
        codes={name: codes[known.first] for name, codes in knowledge.codes.items()},
        second_codes={
            name: knowledge.codes[name][known.second] for name in event_columns
        },
        person=knowledge.person[known.first],
        event_counts=known.counts,
        table_rows=len(knowledge),
    )
