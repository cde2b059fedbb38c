"""Measure the information loss of a recoded table, alike for every method.

Each row has labels that may stand for several values; all figures are computed from how
many those are.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpcore.anonymization.recoded import Recoded
from dpcore.schema.values import SUPPRESSED
from dpcore.tables.classes import BoolArray, IntArray
from dpcore.tables.people import max_per_person, people_per_class


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Information loss of one recoded table; 0 is no loss.

    Attributes:
        suppressed_row_share: share of rows with labels that may stand for any value in every column.
        suppressed_people_share: share of people with such a row.
        k: people of the smallest class that is not suppressed; 0 when all rows are.
        discernibility: sum over the rows of the number of rows that look like it; a
            suppressed row looks like all.
        ncp: normalized certainty penalty, mean over columns and rows, on the values that
            occur. For columns cut into intervals it is width over width of the domain, for
            all others values over values.
        loss: geometric mean over the columns of the share of the declared domain covered by
            a label, scaled to [0, 1]. Source: ARX's loss metric with equal weights.
        column_ncp: ncp by column.
        column_suppressed: by column, share of cells with `*`.
        column_change: by column, total variation between the original distribution and the
            one expected by a reader who takes every value of a label for equally likely; in
            [0, 1].
    """

    rows: int
    classes: int
    suppressed_row_share: float
    suppressed_people_share: float
    k: int
    discernibility: int
    ncp: float
    loss: float
    column_ncp: Mapping[str, float]
    column_suppressed: Mapping[str, float]
    column_change: Mapping[str, float]


def measure_quality(recoded: Recoded, person: IntArray | None = None) -> Quality:
    """Measure the information loss of a recoded table.

    Args:
        recoded: the table.
        person: (rows,) number of the person, None if every row is a person.
    """
    sizes = recoded.sizes
    rows = int(sizes.sum())
    hidden = mark_suppressed_classes(recoded)
    kept = sizes[~hidden]
    suppressed = rows - int(kept.sum())
    losses = np.array(
        [recoded.mean(column.loss[column.label]) for column in recoded.columns]
    )
    people = people_per_class(recoded.classes, person)[~hidden]
    return Quality(
        rows=rows,
        classes=len(kept),
        suppressed_row_share=suppressed / rows,
        suppressed_people_share=float(
            max_per_person(hidden[recoded.classes].astype(np.int64), person).mean()
        ),
        k=int(people.min()) if len(people) else 0,
        discernibility=int((kept**2).sum()) + rows * suppressed,
        ncp=recoded.ncp,
        loss=float(np.exp(np.log1p(losses).mean()) - 1),
        column_ncp={
            column.name: recoded.mean(column.ncp[column.label])
            for column in recoded.columns
        },
        column_suppressed={
            column.name: recoded.mean((column.text == SUPPRESSED)[column.label])
            for column in recoded.columns
        },
        column_change={
            column.name: float(
                np.abs(column.rows_before - column.expected_rows_after).sum() / 2 / rows
            )
            for column in recoded.columns
        },
    )


def mark_suppressed_classes(recoded: Recoded) -> BoolArray:
    """Return which classes have `*` in every column, shape (classes,)."""
    starred = [(column.text == SUPPRESSED)[column.label] for column in recoded.columns]
    return np.asarray(np.all(starred, axis=0))
