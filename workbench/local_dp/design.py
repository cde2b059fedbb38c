"""Design of a survey and its expected error."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import pandas as pd

import dpcore.local as dl
from dpcore.errors import DpcoreError

Z_95 = NormalDist().inv_cdf(0.975)  # standard errors in half a 95 % interval
# Epsilons at which the error curves are drawn.
CURVE_EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
MAX_POSSIBLE_ANSWERS = 100
"""Possible answers of a question on the page; a person reads no longer form."""


@dataclass(kw_only=True)
class LocalState:
    """State of the Local answers page in a tab.

    Attributes:
        question: the last question that was designed.
        survey_keys: the question of each survey made in this tab, by its owner's key.
        invitations: owner's key and tokens of the last survey, or its error.
    """

    question: dl.Question | None = None
    survey_keys: dict[str, str] = field(default_factory=dict)
    invitations: tuple[str | DpcoreError, list[str]] | None = None


def parse_answers(text: str) -> list[str]:
    """Return the possible answers, one per line; empty lines are left out."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def chance_of_truth(epsilon: float, categories: int) -> float:
    """Return the probability of a true answer under randomized response."""
    # p = e^eps / (e^eps + categories - 1); 700 keeps exp within a float's range
    return 1 / (1 + (categories - 1) * math.exp(-min(epsilon, 700)))


def epsilon_of(chance: float, categories: int) -> float:
    """Return the epsilon that gives this probability of a true answer, at most 40."""
    # the inverse of chance_of_truth: e^eps = chance * (categories - 1) / (1 - chance)
    odds = chance * (categories - 1) / max(1 - chance, 1e-17)
    return min(40.0, max(0.0, round(math.log(max(odds, 1.0)), 6)))


def half_width(standard_error: float) -> float:
    """Return half of a 95 % interval."""
    return Z_95 * standard_error


def people_needed(option: dl.ProtocolOption, people: int, half: float) -> int:
    """Return how many people are needed for an interval of this half-width.

    `option` was computed for `people`.
    """
    # Standard errors fall with the square root of the number of people.
    return math.ceil(people * (half_width(option.largest_error) / half) ** 2)


def expected_errors(
    categories: int, surveys: Iterable[tuple[int, float]]
) -> pd.DataFrame:
    """Return a table of the largest half-width for each protocol and survey.

    Args:
        categories: possible answers.
        surveys: people and epsilon of each.
    """
    return pd.DataFrame(
        [
            (option.protocol.kind, people, epsilon, half_width(option.largest_error))
            for people, epsilon in surveys
            for option in dl.recommend_protocols(categories, repr(epsilon), people)
        ],
        columns=["protocol", "people", "epsilon", "error"],
    )


def sizes_near(people: int) -> list[int]:
    """Return numbers of people from a tenth to ten times the given one."""
    return sorted({max(1, round(people * 10 ** (step / 5))) for step in range(-5, 6)})


def links_csv(root: str, tokens: Iterable[str]) -> str:
    """Write one link per line, below a header."""
    return "".join(["link\r\n", *(f"{root}{token}\r\n" for token in tokens)])


def support_chances(
    protocol: dl.Protocol, labels: Sequence[str], answer: int
) -> list[float]:
    """Return the probability that a report supports each answer, given the true one."""
    return [
        float(protocol.p if code == answer else protocol.q)
        for code in range(len(labels))
    ]
