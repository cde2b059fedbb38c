"""Risk in a sample survey, by sampling weights and by households.

A row with a sampling weight w stands for about w people of the population. The weights
of a group's people add up to an estimate of how many people of the population look like
them. It is an estimate: a group that is large by it is no promise, and k-anonymity is
never counted by it. Sources: Benedetti, Franconi (1998), Statistical and technological
solutions for controlled data dissemination; Franconi, Polettini (2004), Individual risk
estimation in mu-Argus, LNCS 3050.
"""

import numpy as np
import pandas as pd

from dpcore.errors import SchemaError, UsageError, missing_column_error
from dpcore.schema.values import MISSING
from dpcore.tables.classes import FloatArray, IntArray, class_index, leaves_of
from dpcore.tables.people import max_per_person


def sampling_weights(frame: pd.DataFrame, column: str) -> FloatArray:
    """Return the sampling weight of each row, (rows,).

    Raises: SchemaError for an unknown column, or one that is not a number above 0 in
        every row.
    """
    if column not in frame.columns:
        raise missing_column_error(column)
    values = frame[column]
    numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(
        values
    )
    weights = (
        values.to_numpy(dtype=np.float64, na_value=np.nan)
        if numeric
        else np.array([np.nan])
    )
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise SchemaError(
            "a sampling weight must be a number above 0 in every row, and {column} "
            "is not",
            remedy="choose another column",
            column=column,
        )
    return weights


def estimate_population_frequency(
    classes: IntArray,
    weights: FloatArray,
    person: IntArray | None = None,
) -> FloatArray:
    """Estimate each class's people in the population by summing sampling weights.

    A person of several rows counts once in each class, with their smallest weight
    there.

    Args:
        classes: (rows,) class of each row, without gaps.
        weights: (rows,) above 0.
        person: (rows,) person of each row; None if every row is a person.
    """
    if person is None:
        return np.asarray(np.bincount(classes, weights), dtype=np.float64)
    pairs = class_index([classes, person])
    order = np.lexsort((weights, pairs))
    lightest = order[np.diff(pairs[order], prepend=-1) > 0]
    return np.asarray(
        np.bincount(classes[lightest], weights[lightest]), dtype=np.float64
    )


def estimate_individual_risk(frequency: IntArray, population: FloatArray) -> FloatArray:
    """Estimate each class's mean of 1 / F, with F its people in the population.

    F is the number of their people in the population. Given f, it follows the negative
    binomial law P(F = h) = C(h - 1, f - 1) p^f (1 - p)^(h - f) with p = f / estimated
    F. The mean of 1 / F under it is p / f * 2F1(1, 1; f + 1; 1 - p), which is p / (1 -
    p) * log(1 / p) for f = 1. sdcMicro gives the same for f of 1 and 2, and an
    approximation above.

    Args:
        frequency: (classes,) people in the sample, at least 1.
        population: (classes,) estimated people of the population; not below the
            sample's.

    Raises: ParameterError for an empty class.
    """
    from scipy.special import hyp2f1

    if (frequency < 1).any():
        raise UsageError(
            "a class has at least one person", remedy="leave empty classes out"
        )
    share = np.minimum(1.0, frequency / population)
    return np.asarray(
        share / frequency * hyp2f1(1, 1, frequency + 1, 1 - share), dtype=np.float64
    )


def household_codes(frame: pd.DataFrame, column: str) -> IntArray:
    """Return the household number of each row, shape (rows,).

    A row without one is a household of its own.

    Raises: SchemaError for an unknown column, or a table without rows.
    """
    leaves = leaves_of(frame, column)
    codes = leaves.codes.copy()
    without = leaves.labels[codes] == MISSING
    codes[without] = len(leaves.labels) + np.arange(int(without.sum()))
    return class_index([codes])


def household_risk(
    risk: FloatArray, household: IntArray, person: IntArray | None = None
) -> FloatArray:
    """Return each row's risk that anyone in its household is found, shape (rows,).

    Finding one person finds all of them: 1 - prod (1 - r_i) over the people of the
    household, each with the largest risk of their rows, taken as independent. Source:
    Franconi, Polettini (2004), section 3; as in sdcMicro.

    Args:
        risk: (rows,) in [0, 1].
        household: (rows,) without gaps.
        person: (rows,) person of each row; None if every row is a person.
    """
    if person is not None:
        pairs = class_index([household, person])
        first = np.unique(pairs, return_index=True)[1]
        of_people = max_per_person(risk, person)[person[first]]
        own = household[first]
    else:
        of_people = risk
        own = household
    safe = np.ones(int(household.max()) + 1)
    np.multiply.at(safe, own, 1 - of_people)
    return np.asarray((1 - safe)[household])
