"""Sentences on what a group gives away about one person."""

from __future__ import annotations

import pytest

from dpcore.evaluation.table.one_person import OnePersonReport, SecretValue
from workbench.audit.person_view import group_sentences


def sentences(*chances: float, repeated: bool, people: int = 4) -> list[str]:
    """Of some people with values "a", "b", ... of one column."""
    secrets = tuple(
        SecretValue(value=value, group_chance=chance, table_chance=0.5)
        for value, chance in zip("abc", chances, strict=False)
    )
    return group_sentences(
        OnePersonReport(
            people=people,
            secrets={"ill": secrets},
            repeated=frozenset({"ill"} if repeated else ()),
        )
    )[1:]


@pytest.mark.parametrize(
    ("chances", "repeated", "said"),
    [
        (
            (1.0,),
            False,
            ["All of them share one value of ill: nothing is left to guess."],
        ),
        ((0.75, 0.25), False, ["ill is a with a chance of 75"]),
        ((0.75, 0.75), True, ["The person has a in ill at least once with a chance"]),
        ((1.0, 1.0, 0.5), True, ["All of them have a and b in ill at least once"]),
        ((), True, []),  # nobody of the group has an event
    ],
)
def test_the_sentence_says_how_a_value_is_had(
    chances: tuple[float, ...], repeated: bool, said: list[str]
) -> None:
    """A value that all have in some event would pass for an open one."""
    shown = sentences(*chances, repeated=repeated)
    assert len(shown) == len(said)
    for sentence, beginning in zip(shown, said, strict=True):
        assert sentence.startswith(beginning)


def test_one_person_is_not_called_all_of_them() -> None:
    """A group of one would read as a crowd that shares an illness."""
    assert sentences(1.0, 1.0, repeated=True, people=1) == [
        "This person has a and b in ill at least once."
    ]
    assert sentences(1.0, repeated=False, people=1) == [
        "Whoever knows this learns this person's ill for certain."
    ]


def test_a_value_of_everybody_leaves_others_open() -> None:
    """Nothing would be said to be left to guess above a list of chances."""
    (said,) = sentences(1.0, 0.5, repeated=True)
    assert said.endswith("at least once: whoever knows this learns it for certain.")
