"""Re-identification risk: how many people each row could belong to.

The classes are those of the columns an attacker is taken to know. A prosecutor knows
that a person is in the table, a journalist only that the person is in a larger
population, a marketer wants as many right guesses as possible. Source: Dankar, El Emam
(2010), Trans. Data Privacy 3; sample figures as in ARX.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from dpcore.errors import UsageError
from dpcore.tables.classes import FloatArray, IntArray, row_batches
from dpcore.tables.people import max_per_person, people_per_class

K_MAP_ERROR = 0.05
"""Of an estimated k-map, the chance that a class of k people of the population is seen
with more.
"""


@dataclass(frozen=True, kw_only=True)
class ReidentificationRisk:
    """Probabilities that an attacker's guess is right, and shares at risk.

    A class is as large as the people in it.

    Attributes:
        people: persons, or rows if each is a person. One with rows in several classes
            is exposed by the smallest of them.
        k: people of the smallest class.
        uniques: share of people who are alone in a class.
        highest, average, lowest: over the people, of 1 / class size (prosecutor).
        above: share of people whose prosecutor risk is above the threshold.
        journalist: highest 1 / class size in the population.
        marketer: expected share of people re-identified, matching each against the
            population.
    """

    people: int
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


def estimate_k_map(smallest: int, *, people: int, population: int) -> int:
    """Return a lower bound on k in the population, estimated from a sample.

    In at most 5 % of samples, a class of k people of the population would be seen with
    as many as `smallest`, by the Poisson law of mean k * people / population without 0,
    since only classes with somebody in them are seen. It is stricter than the law with
    0. Source: El Emam, Dankar (2008), J. Am. Med. Inform. Assoc. 15:627; ARX's
    zero-truncated estimator.

    Args:
        smallest: people of the smallest class of the sample.
        people: of the sample.
        population: people that it was drawn from.
    """
    from scipy.special import pdtrik

    def needed(k: int) -> int:
        mean = k * people / population
        quantile = float(
            pdtrik((1 - K_MAP_ERROR) + K_MAP_ERROR * math.exp(-mean), mean)
        )
        return min(k, 1 + max(1, math.ceil(quantile)))

    return bisect_right(range(1, population + 1), smallest, key=needed)


def measure_reidentification_risk(
    classes: IntArray,
    *,
    threshold: float,
    population: IntArray | None = None,
    person: IntArray | None = None,
) -> ReidentificationRisk:
    """Measure the risk of a table from the classes of its rows.

    >>> risk = measure_reidentification_risk(np.array([0, 0, 0, 1]), threshold=0.5)
    >>> risk.k, risk.uniques, risk.highest, risk.average
    (1, 0.25, 1.0, 0.5)

    Args:
        classes: (rows,) class of each row, without gaps in the numbers.
        threshold: risk in (0, 1] above which a person counts as exposed.
        population: class of each row of a population table, by the same numbering
            (`joint_classes`); each class is then at least as large as in the table.
            Without it the table is its own population.
        person: (rows,) number of each row's person, without gaps; None if every row is
            a person.

    Raises: ParameterError for a threshold outside (0, 1].
    """
    check_threshold(threshold)
    sizes = people_per_class(classes, person)
    crowd = sizes
    if population is not None:
        crowd = np.maximum(
            sizes, np.bincount(population, minlength=len(sizes))[: len(sizes)]
        )
    risk = 1 / np.maximum(sizes, 1)
    of_crowd = risk if crowd is sizes else 1 / np.maximum(crowd, 1)
    if person is None:
        return _risk_of_rows(classes, sizes, risk, of_crowd, threshold)
    of_crowd = max_per_person(of_crowd[classes], person)
    risk = max_per_person(risk[classes], person)
    return ReidentificationRisk(
        people=len(risk),
        classes=int((sizes > 0).sum()),
        k=int(sizes[sizes > 0].min()),
        uniques=float((risk == 1).mean()),
        highest=float(risk.max()),
        average=float(risk.mean()),
        lowest=float(risk.min()),
        threshold=threshold,
        above=float((risk > threshold).mean()),
        journalist=float(of_crowd.max()),
        marketer=float(of_crowd.mean()),
    )


def _risk_of_rows(
    classes: IntArray,
    sizes: IntArray,
    risk: FloatArray,
    crowd_risk: FloatArray,
    threshold: float,
) -> ReidentificationRisk:
    """Return the risk if every row is a person, in less memory.

    Args:
        sizes, risk, of_crowd: (classes,).
    """
    people = len(classes)
    present = sizes > 0

    def mean(of_class: FloatArray) -> float:
        parts = (of_class[classes[batch]].sum() for batch in row_batches(people))
        return float(sum(parts) / people)

    return ReidentificationRisk(
        people=people,
        classes=int(present.sum()),
        k=int(sizes[present].min()),
        uniques=float(sizes[risk == 1].sum() / people),
        highest=float(risk[present].max()),
        average=mean(risk),
        lowest=float(risk[present].min()),
        threshold=threshold,
        above=float(sizes[risk > threshold].sum() / people),
        journalist=float(crowd_risk[present].max()),
        marketer=mean(crowd_risk),
    )


def check_threshold(threshold: float) -> None:
    """Refuse a threshold outside (0, 1]. Raises: ParameterError."""
    if not 0 < threshold <= 1:
        raise UsageError(
            f"threshold ({threshold}) must be above 0 and at most 1",
            remedy="give a probability, such as 0.05",
        )
