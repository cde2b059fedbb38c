"""The linkage attack: joining a table with a list of known people.

Source: Sweeney (2002): a governor's hospital record, found with a voter list by zip
code, birth date and sex.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.schema.values import MISSING
from dpcore.tables.classes import BoolArray, joint_classes, leaves_of


@dataclass(frozen=True, kw_only=True)
class Linkage:
    """What an attacker finds by matching a table against a list of people.

    Attributes:
        matched_people: people of the list with at least one row that agrees on all the
            columns. A missing cell agrees with nothing.
        unique_matches: people of the list with exactly one such row, alone on their side too:
            named with certainty if both tables are complete.
        smallest_class_rows: rows of the smallest class that any person of the list matches; 0
            without a match.
        expected_correct: people the attacker names correctly on average by guessing inside each
            class, if everyone on the list who matches is in the table.
    """

    people: int
    matched_people: int
    unique_matches: int
    smallest_class_rows: int
    expected_correct: float


def attack_by_linkage(
    table: pd.DataFrame, people: pd.DataFrame, columns: Sequence[str]
) -> Linkage:
    """Match the table against the list on these columns, as an attacker would.

    Raises: ParameterError without columns; SchemaError for a column that either side
        lacks, or an empty side.
    """
    of_rows, of_people = joint_classes(table, people, columns)
    number = int(max(of_rows.max(), of_people.max())) + 1
    rows = np.bincount(of_rows[_mark_complete_rows(table, columns)], minlength=number)
    candidates = np.bincount(
        of_people[_mark_complete_rows(people, columns)], minlength=number
    )
    met = (rows > 0) & (candidates > 0)
    return Linkage(
        people=len(people),
        matched_people=int(candidates[met].sum()),
        unique_matches=int((met & (rows == 1) & (candidates == 1)).sum()),
        smallest_class_rows=int(rows[met].min(initial=len(table))) if met.any() else 0,
        expected_correct=float(
            (candidates[met] / np.maximum(rows[met], candidates[met])).sum()
        ),
    )


def _mark_complete_rows(frame: pd.DataFrame, columns: Sequence[str]) -> BoolArray:
    """Return which rows have no missing cell in these columns, shape (rows,)."""
    leaves = [leaves_of(frame, name) for name in columns]
    complete: BoolArray = np.all(
        [(column.labels != MISSING)[column.codes] for column in leaves], axis=0
    )
    return complete
