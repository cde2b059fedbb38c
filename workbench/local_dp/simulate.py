"""Simulations of surveys on a table of true answers.

Internal: they read the answers and show the truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import dpcore.local as dl
from dpcore.errors import ParameterError, SchemaError
from dpcore.local.several import Way
from dpcore.schema.values import as_text

MAX_ANSWERS = 60  # different answers of a column; with more it is asked for its mean
MECHANISMS = (dl.RoundedResponse, dl.Duchi, dl.Piecewise)


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedSurvey:
    """A simulated survey of everybody in a column.

    Attributes:
        truth: (answers,) the true share of each answer.
        estimate: what the reports say.
    """

    question: dl.Question
    truth: npt.NDArray[np.float64]
    estimate: dl.Estimate

    @property
    def shares(self) -> pd.DataFrame:
        """True, reported and corrected shares per answer, with intervals."""
        frame = estimated_shares(self.question, self.estimate)
        frame.insert(1, "true", self.truth)
        frame.insert(2, "reported", self.estimate.support / self.estimate.people)
        return frame.drop(columns="as a distribution")


def is_asked_for_mean(column: pd.Series) -> bool:
    """Return whether a survey asks for the mean of a column, not for shares."""
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(
        column
    )
    return bool(numeric and column.nunique() > MAX_ANSWERS)


def simulate_surveys(
    columns: Sequence[pd.Series],
    *,
    protocol: str,
    epsilon: float,
    way: Way = "split",
) -> list[SimulatedSurvey]:
    """Simulate one survey question on each of several columns.

    Rows with a missing answer are left out.

    The possible answers are those of the columns, which a real survey would have to
    know beforehand.

    Args:
        columns: true answers, one per row, of the same people.
        protocol: name of the protocol.
        epsilon: epsilon of each person, over all questions.
        way: whether everybody answers all of them at a part of epsilon, or one that is
            drawn at all of it.

    Raises: SchemaError for a column with fewer than 2 or more than `MAX_ANSWERS`
        different answers.
    """
    # Keep only people who answer every question. Columns are numbered, as names may
    # repeat.
    given = pd.concat(columns, axis=1, keys=range(len(columns))).dropna()
    # "split" divides epsilon by the questions; otherwise each person answers one
    part = Fraction(repr(epsilon)) / (len(columns) if way == "split" else 1)
    questions = [
        dl.Question(
            text=name[:200],
            categories=_different_answers(name, given[place]),
            protocol=protocol,
            epsilon=part,
        )
        for place, name in enumerate(str(column.name) for column in columns)
    ]
    # Encode the true answers, randomize those of each person, then compute the
    # estimates.
    codes = [question.encode(given[place]) for place, question in enumerate(questions)]
    several = dl.SeveralQuestions(
        protocols=tuple(question.protocol for question in questions), way=way
    )
    return [
        SimulatedSurvey(
            question=question,
            truth=np.bincount(code, minlength=len(question.categories)) / len(code),
            estimate=estimate,
        )
        for question, code, estimate in zip(
            questions,
            codes,
            several.estimate(several.perturb(codes)),
            strict=True,
        )
    ]


def _different_answers(name: str, answers: pd.Series) -> list[Any]:
    """Return the different answers of a column, in order."""
    kinds = sorted(
        (
            answers if pd.api.types.is_numeric_dtype(answers) else as_text(answers)
        ).unique()
    )
    if len(kinds) < 2:
        raise SchemaError(
            "everybody gave the same answer in column {name}",
            remedy="choose another column",
            name=name,
        )
    if len(kinds) > MAX_ANSWERS:
        raise SchemaError(
            "column {name} has more than {most} different answers",
            remedy="choose another column",
            name=name,
            most=MAX_ANSWERS,
        )
    return kinds


def estimated_shares(question: dl.Question, estimate: dl.Estimate) -> pd.DataFrame:
    """Return corrected shares with intervals, and the nearest distribution."""
    low, high = estimate.interval(0.95)
    return pd.DataFrame(
        {
            "answer": question.categories,
            "corrected": estimate.frequencies,
            "low": low,
            "high": high,
            "as a distribution": estimate.distribution,
        },
    )


def simulate_means(
    column: pd.Series, *, low: float, high: float, epsilon: float
) -> pd.DataFrame:
    """Return the mean of a number column: true, rounded, and by each mechanism.

    It is rounded in two ways without privacy.

    Args:
        column: true numbers, one per row.
        low: public lower bound of the numbers.
        high: public upper bound of the numbers.
        epsilon: epsilon of each answer.

    Raises: ParameterError for numbers outside the bounds, or none at all.
    """
    values = column.dropna().to_numpy(dtype=np.float64)
    if not values.size:
        raise ParameterError(
            "the column holds no numbers", remedy="choose another column"
        )
    # Without privacy, numbers are rounded to a bound at random (unbiased), or to the
    # nearer bound.
    ends = dl.discretize(values, low=low, high=high)
    is_upper = values >= (low + high) / 2
    lines = [
        ("true", values.mean(), 0.0, False),
        ("rounded at the middle", low + (high - low) * is_upper.mean(), 0.0, False),
        ("rounded at random", low + (high - low) * ends.mean(), 0.0, False),
    ]
    # With privacy, each mechanism gives a mean with the larger side of its 95 %
    # interval.
    for kind in MECHANISMS:
        mechanism = kind(low=low, high=high, epsilon=repr(epsilon))
        estimate = mechanism.estimate(mechanism.perturb(values))
        below, above = estimate.interval(0.95)
        lines.append(
            (
                mechanism.name,
                estimate.mean,
                max(estimate.mean - below, above - estimate.mean),
                True,
            )
        )
    return pd.DataFrame(lines, columns=["way", "mean", "off", "private"])
