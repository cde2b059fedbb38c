"""How two events of one person resemble each other, against what is known of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.evaluation.utility.event_pairs import (
    EventPairsQuestion,
    EventPairsReport,
    choose_event_pairs,
    columns_of_one_value,
    name_of_other_event,
)
from dpcore.tables.rows import Microdata, PublicTable

SCHEMA = dp.Schema(
    columns=(
        dp.Categorical("ward", categories=("A", "B")),
        dp.Integer("nights", low=0, high=9),
    ),
    unit=dp.PrivacyUnit(max_rows=5, id_column="id"),
)
COLUMNS = ("ward", "nights")
NO_DISTANCE = 0.05
"""Distance of two columns of wards of 12,000 people, 8 standard deviations."""


def stays(seed: int, *, loyal: bool, people: int = 20_000) -> pd.DataFrame:
    """Stays of people, all in one ward if they are loyal."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), rng.integers(0, 5, people))
    ward = (
        rng.integers(0, 2, people)[person] if loyal else rng.integers(0, 2, len(person))
    )
    return pd.DataFrame(
        {
            "id": person,
            "ward": np.array(["A", "B"])[ward],
            "nights": rng.integers(0, 10, len(person)),
        }
    )


def ask(original: pd.DataFrame, release: pd.DataFrame) -> EventPairsReport:
    pairs = choose_event_pairs(release, release["id"].to_numpy(), COLUMNS)
    question = EventPairsQuestion(pairs=PublicTable(pairs), columns=COLUMNS)
    return question.compute(Microdata(original), SCHEMA)


def test_pairs_are_two_events_of_each_person_who_has_two() -> None:
    """An event beside itself, or events of two people, would look alike by mistake."""
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(300), rng.integers(0, 5, 300))
    events = pd.DataFrame({"event": np.arange(len(person))})
    shuffled = rng.permutation(len(person))
    pairs = choose_event_pairs(events, person[shuffled], ["event"])
    first, second = (pairs[name] for name in ("event", name_of_other_event("event")))
    owners = person[shuffled][first]
    assert (owners == person[shuffled][second]).all()
    assert (first != second).all()
    assert sorted(owners) == np.flatnonzero(np.bincount(person) > 1).tolist()
    # any two events may be chosen, in either order
    assert (first < second).any()
    assert (first > second).any()
    assert choose_event_pairs(events.head(0), person[:0], ["event"]).empty


def test_each_person_counts_once_whatever_the_largest_number() -> None:
    """Releases count few events of a person, and would differ for that alone."""
    everybody = stays(1, loyal=True)
    few = everybody.groupby("id").head(2)
    value, by_chance, independent = ask(everybody, few).distances[:, 0]
    assert independent == pytest.approx(0.5, abs=0.05)
    assert value < NO_DISTANCE
    assert by_chance < NO_DISTANCE


@pytest.mark.parametrize("loyal", [True, False])
def test_lost_resemblance_is_as_far_as_unrelated_events(loyal: bool) -> None:
    """Patients who go from ward to ward would pass for those who stay in one."""
    released = stays(2, loyal=loyal)
    report = ask(stays(1, loyal=True), released)
    assert report.columns == COLUMNS
    value, by_chance, independent = report.distances[:, 0]
    assert by_chance < NO_DISTANCE
    if loyal:
        assert value < NO_DISTANCE
    else:
        assert value == pytest.approx(independent, abs=NO_DISTANCE)
    # nights of a person do not resemble each other in either table
    assert report.distances[:, 1].max() < 0.1


@pytest.mark.parametrize("seed", range(5))
def test_independent_events_do_not_exceed_chance(seed: int) -> None:
    """Noise of many cells would pass for events that resemble each other."""
    report = ask(
        stays(seed, loyal=seed % 2 == 0, people=500), stays(seed + 9, loyal=True)
    )
    ward, nights = report.distances[2] > report.unrelated_limits
    assert not nights
    assert ward == (seed % 2 == 0)


def test_nobody_with_two_events_has_no_resemblance() -> None:
    """An average of nothing would be a number."""
    one = stays(1, loyal=True).drop_duplicates("id")
    many = stays(2, loyal=True)
    assert ask(one, many).columns == ()
    assert ask(many, one).columns == ()


def test_a_column_that_counts_from_another_one_is_not_compared() -> None:
    """Its value in one event would be counted from the start of the other one."""
    schema = dp.Schema(
        columns=(
            dp.Integer("start", low=0, high=9),
            dp.Difference("end", start="start", high=9, unit="whole"),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    assert columns_of_one_value(schema) == ("start",)
