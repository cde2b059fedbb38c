from __future__ import annotations

import pandas as pd
import pytest

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.partition.recoding import recode_locally
from dpcore.errors import ParameterError, SchemaError
from dpcore.risk.linkage import attack_by_linkage
from tests.anonymization.oracle import gate

HOSPITAL = pd.DataFrame(
    {
        "zip": ["02138", "02138", "02139", "02139", "02139", "02141"],
        "birth": [
            "1945-07-31",
            "1950-01-02",
            "1950-01-02",
            "1950-01-02",
            "1961-05-05",
            "1961-05-05",
        ],
        "sex": ["m", "f", "f", "f", "m", "m"],
        "diagnosis": ["heart", "flu", "flu", "cancer", "flu", "heart"],
    },
)
VOTERS = pd.DataFrame(
    {
        "name": ["W.", "X.", "Y.", "Z."],
        "zip": ["02138", "02139", "02139", "02199"],
        "birth": ["1945-07-31", "1950-01-02", "1950-01-02", "1945-07-31"],
        "sex": ["m", "f", "f", "m"],
    },
)
COLUMNS = ["zip", "birth", "sex"]


def test_one_planted_person_is_found() -> None:
    """Broken: SEEDS B12; one voter agrees with exactly one record, two share two
    records, one is not there.
    """
    found = attack_by_linkage(HOSPITAL, VOTERS, COLUMNS)
    assert (
        found.people,
        found.matched_people,
        found.unique_matches,
        found.smallest_class_rows,
    ) == (4, 3, 1, 1)
    assert found.expected_correct == pytest.approx(1 + 2 * 1 / 2)


def test_two_candidates_for_one_record_are_not_certain() -> None:
    """Broken: a record that two people of the list match is called a certain find."""
    found = attack_by_linkage(HOSPITAL, pd.concat([VOTERS, VOTERS.head(1)]), COLUMNS)
    assert (found.matched_people, found.unique_matches, found.smallest_class_rows) == (
        4,
        0,
        1,
    )


def test_missing_cells_link_nothing_with_certainty() -> None:
    """Broken: a record and a voter without a zip code, and nothing else in common, are
    called one person.
    """
    table = HOSPITAL[["zip"]].astype(object)
    people = VOTERS[["name", "zip"]].astype(object)
    table.loc[len(table)] = [None]
    people.loc[len(people)] = ["V.", None]
    found = attack_by_linkage(table, people, ["zip"])
    assert (
        found.people,
        found.matched_people,
        found.unique_matches,
        found.smallest_class_rows,
    ) == (5, 3, 0, 2)
    # the twin: a code
    table.loc[len(table) - 1, "zip"] = people.loc[len(people) - 1, "zip"] = "02190"
    assert attack_by_linkage(table, people, ["zip"]).unique_matches == 1


def test_nobody_is_found_after_recoding() -> None:
    """Broken: SEEDS B12; after 2-anonymization some voter still meets a class of one
    row.
    """
    trees = {
        "zip": Hierarchy.from_csv(
            "02138;0213*;*\n02139;0213*;*\n02141;0214*;*\n02199;0219*;*"
        ),
        "birth": Hierarchy.from_csv(
            "1945-07-31;1940s;*\n1950-01-02;1950s;*\n1961-05-05;1960s;*"
        ),
        "sex": Hierarchy.from_csv("f;*\nm;*"),
    }
    recoded = recode_locally(HOSPITAL, trees, gate=gate(HOSPITAL, 2))
    printed = recoded.replace_columns(HOSPITAL)
    assert recoded.sizes.min() >= 2
    assert attack_by_linkage(printed, VOTERS, COLUMNS).unique_matches == 0
    # also the attacker who knows the labels and recodes the list in the same way
    for row in range(len(HOSPITAL)):
        known = printed.iloc[[row]]
        assert attack_by_linkage(printed, known, COLUMNS).smallest_class_rows >= 2


def test_no_common_person() -> None:
    """Broken: an empty join fails."""
    found = attack_by_linkage(HOSPITAL, VOTERS.tail(1), COLUMNS)
    assert (
        found.matched_people,
        found.unique_matches,
        found.smallest_class_rows,
        found.expected_correct,
    ) == (
        0,
        0,
        0,
        0.0,
    )


def test_numbers_and_their_text_meet() -> None:
    """Broken: the zip code 33617 of one file is not the 33617 of another that was read
    as text.
    """
    found = attack_by_linkage(
        pd.DataFrame({"zip": [33617, 33618]}), pd.DataFrame({"zip": ["33617"]}), ["zip"]
    )
    assert found.unique_matches == 1


def test_bad_requests_are_refused() -> None:
    """Broken: a column that one side lacks is joined on."""
    with pytest.raises(SchemaError):
        attack_by_linkage(HOSPITAL, VOTERS, ["diagnosis"])
    with pytest.raises(ParameterError):
        attack_by_linkage(HOSPITAL, VOTERS, [])
