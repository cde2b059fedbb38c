"""Group of people who match known facts of one person, and its sensitive values."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.errors import UsageError, two_roles_error
from dpcore.evaluation.base import RowsEvaluation
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.schema import Schema
from dpcore.tables.classes import BoolArray, IntArray, leaves_of
from dpcore.tables.people import person_codes, select_one_row_per_person
from dpcore.tables.rows import Microdata

MAX_SHOWN_VALUES = 10
"""Values of a secret in a report, most likely first."""


@dataclass(frozen=True, kw_only=True)
class KnownFact:
    """Known fact about one column of a person: a value, a prefix, or two bounds.

    The bounds are numbers, both included.

    Raises: ParameterError if it says nothing, or several of these at once.
    """

    column: str
    value: str | None = None
    prefix: str | None = None
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if (
            sum(field is not None for field in (self.value, self.prefix, self.bounds))
            != 1
        ):
            raise UsageError(
                f"one thing has to be known of {self.column}", remedy="say one"
            )

    def mark_matching_rows(self, frame: pd.DataFrame) -> BoolArray:
        """Return a mask of the rows that match the fact.

        Raises: SchemaError for an unknown column.
        """
        leaves = leaves_of(frame, self.column)
        labels: list[str] = leaves.labels.tolist()
        if self.bounds is not None:
            numbers = pd.to_numeric(
                pd.Series(labels, dtype=object), errors="coerce"
            ).to_numpy()
            fits = (numbers >= self.bounds[0]) & (numbers <= self.bounds[1])
        elif self.prefix is not None:
            fits = np.array([label.startswith(self.prefix) for label in labels])
        else:
            fits = np.array([label == self.value for label in labels])
        agreeing: BoolArray = fits[leaves.codes]
        return agreeing


@dataclass(frozen=True, kw_only=True)
class SecretValue:
    """Possible sensitive value of the person, with its chance.

    If a person can have several values, their chances add up to more than 1.

    Attributes:
        group_chance: share of the people in the group who have the value in some row.
        table_chance: likewise of the whole table.
    """

    value: str
    group_chance: float
    table_chance: float


@dataclass(frozen=True, kw_only=True, eq=False)
class OnePersonReport:
    """Size of one person's group, and the chances of their sensitive values.

    Attributes:
        people: in the group that agrees with the known facts; 0 if nobody does.
        secrets: sensitive column -> its values in the group, most likely first.
        repeated: sensitive columns of which a person can have several values.
    """

    people: int
    secrets: Mapping[str, tuple[SecretValue, ...]]
    repeated: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class OnePersonQuestion(RowsEvaluation[OnePersonReport]):
    """Evaluation of what the `known` facts about a person reveal.

    A person with several rows has a value if some row of theirs has it. SEEDS E9.
    """

    kind = "what one person's group gives away"

    known: tuple[KnownFact, ...]
    sensitive: tuple[str, ...]

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return tuple(value.column for value in self.known)

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> OnePersonReport:
        """Return the report.

        Raises: ParameterError for no known fact; SchemaError for an unknown column.
        """
        if not self.known:
            raise UsageError(
                "nothing is known of this person", remedy="say at least one thing"
            )
        frame = original.frame
        twice = set(self.sensitive) & {value.column for value in self.known}
        if twice:
            raise two_roles_error(min(twice))
        rows = np.flatnonzero(
            np.logical_and.reduce(
                [value.mark_matching_rows(frame) for value in self.known]
            )
        )
        person = person_codes(frame, schema.unit.id_column)
        if person is None:
            people, all_people = len(rows), len(frame)
        else:
            people, all_people = len(np.unique(person[rows])), int(person.max()) + 1
        secrets = {
            name: find_likely_values(
                frame, name, rows, person, people=people, all_people=all_people
            )
            for name in self.sensitive
        }
        return OnePersonReport(
            people=people,
            secrets=secrets,
            repeated=frozenset(
                name
                for name in self.sensitive
                if len(select_one_row_per_person(leaves_of(frame, name).codes, person))
                > all_people
            ),
        )


def find_likely_values(
    frame: pd.DataFrame,
    name: str,
    rows: IntArray,
    person: IntArray | None,
    *,
    people: int,
    all_people: int,
) -> tuple[SecretValue, ...]:
    """Return the values that people of a group have in some row, most likely first.

    Args:
        rows: indices of the rows of the group.
        person: (rows of the frame,) the person of each; None if each is one.
        people: in the group, also those without rows.
        all_people: in the table, likewise.
    """
    leaves = leaves_of(frame, name)
    among = None if person is None else person[rows]
    here = _count_people_per_value(leaves.codes[rows], among, len(leaves.labels))
    everywhere = _count_people_per_value(leaves.codes, person, len(leaves.labels))
    order = [code for code in np.argsort(-here, kind="stable") if here[code]]
    return tuple(
        SecretValue(
            value=leaves.labels[code],
            group_chance=float(here[code] / people),
            table_chance=float(everywhere[code] / all_people),
        )
        for code in order[:MAX_SHOWN_VALUES]
    )


def _count_people_per_value(
    codes: IntArray, person: IntArray | None, values: int
) -> IntArray:
    """Return the number of people with each value."""
    return np.bincount(
        codes[select_one_row_per_person(codes, person)], minlength=values
    )
