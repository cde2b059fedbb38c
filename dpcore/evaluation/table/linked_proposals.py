"""Proposals for the columns of two linked tables. Internal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.hierarchies.suggest import suggest_together
from dpcore.evaluation.base import LinkedRowsEvaluation
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.risk.roles import SuggestedRole, suggest_roles
from dpcore.schema.schema import Schema
from dpcore.tables.rows import LinkedMicrodata


@dataclass(frozen=True, kw_only=True)
class LinkedRoles:
    """Proposed roles of the columns of two linked tables.

    Attributes:
        people: of all columns of people, the key with them.
        events: of all columns of events but the key.
    """

    people: tuple[SuggestedRole, ...]
    events: tuple[SuggestedRole, ...]

    @property
    def both(self) -> tuple[SuggestedRole, ...]:
        """The roles of the columns of both tables."""
        return (*self.people, *self.events)

    @property
    def known(self) -> tuple[str, ...]:
        """The columns that others may know, as proposed.

        If no column of events looks like one, these are all that are neither sensitive
        nor an identifier: who knows of an event knows something about it.
        """
        of_people, of_events = (
            [role.column for role in roles if role.role == "quasi-identifier"]
            for roles in (self.people, self.events)
        )
        return (*of_people, *(of_events or self._plain_events))

    @property
    def _plain_events(self) -> list[str]:
        return [
            role.column
            for role in self.events
            if role.role in ("insensitive", "undecided")
        ]


@dataclass(frozen=True, kw_only=True)
class LinkedRolesQuestion(LinkedRowsEvaluation[LinkedRoles]):
    """Evaluation that proposes a role for every column of two linked tables."""

    kind = "proposed roles of two tables"

    def compute(
        self,
        original: LinkedMicrodata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> LinkedRoles:
        """Return the proposals, in the order of the tables.

        A column of events is an identifier also if it is one among the first events of
        all people: each event of a person may repeat the person's number.
        """
        first = np.unique(original.parents, return_index=True)[1]
        proposals = zip(
            suggest_roles(original.events),
            suggest_roles(original.events.iloc[first]),
            strict=True,
        )
        return LinkedRoles(
            people=suggest_roles(original.frame),
            events=tuple(
                of_first if of_first.role == "identifier" else of_all
                for of_all, of_first in proposals
            ),
        )


@dataclass(frozen=True, kw_only=True)
class LinkedHierarchiesQuestion(LinkedRowsEvaluation[dict[str, Hierarchy]]):
    """Evaluation that proposes a hierarchy for each of `columns` of either table."""

    kind = "proposed hierarchies of two tables"

    columns: tuple[str, ...]

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return self.columns

    def compute(
        self,
        original: LinkedMicrodata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> dict[str, Hierarchy]:
        """Return one hierarchy for each column, with its reason."""
        of_events = [name for name in self.columns if name in original.events]
        others = [name for name in self.columns if name not in of_events]
        return {
            **suggest_together(original.frame, others),
            **suggest_together(original.events, of_events),
        }
