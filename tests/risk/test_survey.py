"""Sampling weights and households: sums written out, printed tables, people instead of
rows.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.errors import ParameterError, SchemaError
from dpcore.risk.survey import (
    estimate_individual_risk,
    estimate_population_frequency,
    household_codes,
    household_risk,
    sampling_weights,
)
from tests.tiers import examples


@pytest.mark.parametrize(
    ("frequency", "population"), [(1, 3.0), (1, 40.0), (2, 5.5), (4, 31.0), (30, 90.0)]
)
def test_the_mean_of_the_law_written_out(frequency: int, population: float) -> None:
    """Broken: the closed form is not the mean of 1 / F under the negative binomial law
    it claims.
    """
    share = frequency / population
    total = probability = share**frequency
    total /= frequency
    for people in range(frequency + 1, 20_000):
        probability *= (people - 1) / (people - frequency) * (1 - share)
        total += probability / people
    found = estimate_individual_risk(np.array([frequency]), np.array([population]))
    assert found[0] == pytest.approx(total, rel=1e-9)


def test_the_printed_risks() -> None:
    """Broken: the individual risks of the International Household Survey Network's
    guide (example 4.3, from sdcMicro) come out otherwise.
    """
    frequency = np.array([2, 1, 2, 1, 1, 2])
    population = np.array([360.0, 215, 152, 186, 180, 262])
    printed = [
        0.005424520,
        0.025096439,
        0.012563425,
        0.028247279,
        0.029010932,
        0.007403834,
    ]
    assert estimate_individual_risk(frequency, population) == pytest.approx(
        printed, abs=1e-9
    )


def test_a_sample_that_is_the_population() -> None:
    """Broken: weights of 1 or less say anything but 1 / people; an empty class is
    divided by.
    """
    assert estimate_individual_risk(
        np.array([1, 4]), np.array([1.0, 2.0])
    ).tolist() == [1, 0.25]
    with pytest.raises(ParameterError):
        estimate_individual_risk(np.array([0]), np.array([1.0]))


def test_a_person_weighs_once_in_each_class() -> None:
    """Broken: three rows of one person count for three people of the population."""
    classes = np.array([0, 0, 0, 1, 1])
    weights = np.array([10.0, 8, 8, 5, 7])
    assert estimate_population_frequency(classes, weights).tolist() == [26, 12]
    person = np.array([0, 0, 0, 0, 1])
    assert estimate_population_frequency(classes, weights, person).tolist() == [8, 12]


PEOPLE = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 10)),
    min_size=1,
    max_size=9,
)


@examples(60)
@given(people=PEOPLE)
def test_a_household_is_found_with_any_of_its_people(
    people: list[tuple[int, int, int]],
) -> None:
    """Broken: the risk is not that of finding at least one of them, summed over all
    ways to find some; or a person of two rows counts as two.
    """
    household = np.unique([each[0] for each in people], return_inverse=True)[1]
    person = np.unique([each[1] for each in people], return_inverse=True)[1]
    risk = np.array([each[2] / 10 for each in people])
    found = household_risk(risk, household, person)
    largest = {who: max(risk[person == who]) for who in set(person)}
    for row, home in enumerate(household):
        members = sorted({int(who) for who in person[household == home]})
        chance = 0.0
        for hit in itertools.product([True, False], repeat=len(members)):
            if any(hit):
                chance += math.prod(
                    largest[who] if is_hit else 1 - largest[who]
                    for who, is_hit in zip(members, hit, strict=True)
                )
        assert found[row] == pytest.approx(chance)


def test_households_without_a_number_are_apart() -> None:
    """Broken: all people whose household is not known become one family."""
    frame = pd.DataFrame({"home": ["a", None, "a", None]})
    homes = household_codes(frame, "home")
    assert homes[0] == homes[2]
    assert len(set(homes)) == 3
    risk = np.array([0.5, 0.5, 0.5, 0.1])
    assert household_risk(risk, homes).tolist() == pytest.approx([0.75, 0.5, 0.75, 0.1])


@pytest.mark.parametrize(
    "weights",
    [["a", "b"], [1, None], [1, 0], [1, -2], [1, float("inf")], [True, False]],
)
def test_weights_that_are_none(weights: list) -> None:
    """Broken: a column of something else is taken for weights."""
    with pytest.raises(SchemaError, match="sampling weight"):
        sampling_weights(pd.DataFrame({"w": weights}), "w")
    with pytest.raises(SchemaError, match="no column"):
        sampling_weights(pd.DataFrame({"w": [1]}), "v")
