"""Re-identification: how small the crowd is in which each row hides.

The classes are those of the columns an attacker is taken to know. A prosecutor knows that a person is in the
table, a journalist only that the person is in a larger population, a marketer wants as many right guesses as
possible. Source: Dankar, El Emam (2010), Trans. Data Privacy 3; sample figures as in ARX.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.errors import ParameterError
from dpcore.tables.classes import IntArray


@dataclass(frozen=True, kw_only=True)
class ReidentificationRisk:
    """Probabilities that a guess is right, and shares of rows.

    Attributes:
        k: rows of the smallest class.
        uniques: share of rows that are alone in their class.
        highest, average, lowest: over the rows, of 1 / class size (prosecutor).
        above: share of rows whose prosecutor risk is above the threshold.
        journalist: highest 1 / class size in the population.
        marketer: expected share of rows re-identified, matching each against the population.
    """

    rows: int
    classes: int
    k: int
    uniques: float
    highest: float
    average: float
    lowest: float
    threshold: float
    above: float
    journalist: float
    marketer: float


def reidentification_risk(
    classes: IntArray, *, threshold: float, population: IntArray | None = None
) -> ReidentificationRisk:
    """The risk of a table whose rows fall in these classes.

    Args:
        classes: (rows,) class of each row, without gaps in the numbers.
        threshold: risk in (0, 1] above which a row counts as exposed.
        population: class of each row of a population table, by the same numbering (`joint_classes`); each
            class is then at least as large as in the table. Without it the table is its own population.

    Raises: ParameterError for a threshold outside (0, 1].
    """
    if not 0 < threshold <= 1:
        raise ParameterError(
            "threshold ({threshold}) must be above 0 and at most 1",
            remedy="give a probability, such as 0.05",
            threshold=threshold,
        )
    sizes = np.bincount(classes)
    present = np.flatnonzero(sizes)
    crowd = sizes
    if population is not None:
        crowd = np.maximum(sizes, np.bincount(population, minlength=len(sizes))[: len(sizes)])
    sizes, crowd = sizes[present], crowd[present]
    rows = len(classes)
    return ReidentificationRisk(
        rows=rows,
        classes=len(sizes),
        k=int(sizes.min()),
        uniques=float((sizes == 1).sum() / rows),
        highest=float(1 / sizes.min()),
        average=len(sizes) / rows,
        lowest=float(1 / sizes.max()),
        threshold=threshold,
        above=float(sizes[1 / sizes > threshold].sum() / rows),
        journalist=float(1 / crowd.min()),
        marketer=float((sizes / crowd).sum() / rows),
    )
