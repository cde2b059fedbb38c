"""Two linked tables of tests, and the same with one person more in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

import dpcore as dp
from dpcore.tables.rows import LinkedMicrodata

RULES = {
    "orphans": ("leave out", "own person"),
    "without_key": ("leave out", "own person"),
    "repeated_people": ("keep one", "leave out"),
    "keys": ("as written", "as numbers"),
}


def linked_schema(
    max_rows: int = 3, *, with_missing: bool = False, order_by: str = "", **rules: str
) -> dp.LinkedSchema:
    """People with age and sex, and events with town and pay."""
    people = dp.Schema(
        columns=(
            dp.Integer("age", low=0, high=19, missing=with_missing),
            dp.Categorical("sex", categories=("F", "M"), missing=with_missing),
        ),
        unit=dp.PrivacyUnit(max_rows=1, id_column="id"),
    )
    events = dp.Schema(
        columns=(
            dp.Categorical("town", categories=tuple("abcde"), other=True, missing=True),
            dp.Integer("pay", low=0, high=9),
        ),
        unit=dp.PrivacyUnit(max_rows=max_rows, id_column="person"),
    )
    stated = {name: choices[0] for name, choices in RULES.items()} | rules
    return dp.LinkedSchema(
        people=people, events=events, rules=dp.LinkRules(**stated), order_by=order_by
    )


def random_schema(rng: np.random.Generator, max_rows: int) -> dp.LinkedSchema:
    """Random rules."""
    rules = {name: str(rng.choice(choices)) for name, choices in RULES.items()}
    return linked_schema(
        max_rows,
        with_missing=True,
        order_by=str(rng.choice(["", "pay"])),
        **rules,
    )


def people_rows(rng: np.random.Generator, keys: list[Any]) -> pd.DataFrame:
    number = len(keys)
    return pd.DataFrame(
        {
            "id": pd.Series(keys, dtype=object),
            "age": rng.integers(0, 20, number),
            "sex": pd.Series(rng.choice(["F", "M"], number), dtype=object),
        }
    )


def event_rows(rng: np.random.Generator, keys: list[Any]) -> pd.DataFrame:
    number = len(keys)
    return pd.DataFrame(
        {
            "person": pd.Series(keys, dtype=object),
            "town": pd.Series(rng.choice([*"abcdexyz", None], number), dtype=object),
            "pay": rng.integers(0, 10, number),
        }
    )


Tables = tuple[pd.DataFrame, pd.DataFrame]


def neighbors(
    rng: np.random.Generator,
    linked: dp.LinkedSchema,
    *,
    people: int = 25,
    most_events: int = 80,
    padded: bool = True,
) -> tuple[Tables, Tables]:
    """Two tables without and with one person, in orders of their own.

    Some events are orphans, some people are there twice, some rows have no key, and
    some keys are spelled in two ways.

    Args:
        padded: whether some keys of others have zeros before them; else all are whole
            numbers, and she may have the only key that is none.
    """
    width = 3 if padded else 0
    keys: list[Any] = [f"{rng.integers(0, people):0{width}d}" for _ in range(people)]
    owners: list[Any] = [
        str(rng.choice([f"{i:0{width}d}", str(i)]))
        for i in rng.integers(0, 2 * people, 60)
    ]
    keys += [None] * int(rng.integers(0, 3))
    owners += [None] * int(rng.integers(0, 3))
    tables = (people_rows(rng, keys), event_rows(rng, owners))
    # she: a key of her own, or a row without a key if each such row is a person
    hers = (int(rng.integers(0, 4)), int(rng.integers(0, most_events)))
    spellings: list[Any] = ["777", "0777"]
    if linked.rules.keys == "as written":
        spellings = ["777"]
    if not padded and rng.random() < 0.5:
        spellings = ["A777"]
    if rng.random() < 0.2:
        spellings = [None]
        if linked.rules.without_key == "own person":
            hers = (1, 0) if rng.random() < 0.5 else (0, 1)
    own = (
        people_rows(rng, [spellings[i % len(spellings)] for i in range(hers[0])]),
        event_rows(rng, [spellings[i % len(spellings)] for i in range(hers[1])]),
    )
    if rng.random() < 0.3:  # she alone is somewhere
        own[1]["town"] = "only hers"
    with_her = []
    for table, rows in zip(tables, own, strict=True):
        both = pd.concat([table, rows], ignore_index=True)
        order = rng.permutation(len(both))
        with_her.append(both.iloc[order].reset_index(drop=True))
    return tables, (with_her[0], with_her[1])


def linked_rows(seed: int, people: int = 9, most: int = 4) -> LinkedMicrodata:
    """Few people with few values, some without events, and some with equal ones."""
    rng = np.random.default_rng(seed)
    parents = np.repeat(np.arange(people), rng.integers(0, most + 1, people))
    rng.shuffle(parents)
    number = len(parents)
    return LinkedMicrodata(
        pd.DataFrame(
            {
                "id": [f"p{i}" for i in range(people)],
                "sex": rng.choice(["F", "M"], people),
                "age": rng.choice([30, 40, None], people),
                "illness": rng.choice(["a", "b"], people),
            }
        ),
        events=pd.DataFrame(
            {
                "ward": rng.choice(["A", "B", None], number),
                "nights": rng.integers(1, 3, number),
                "drug": rng.choice(["x", "y"], number),
            }
        ),
        parents=parents,
        left_out_rows=0,
    )


class KnownPeople:
    """The people as an attacker would write them down: no arrays, no codes."""

    def __init__(self, rows: LinkedMicrodata, known: tuple[str, ...]) -> None:
        events = rows.events.astype(object).where(rows.events.notna(), "?")
        people = rows.frame.astype(object).where(rows.frame.notna(), "?")
        self.of_person = [
            tuple(people[name][i] for name in known if name in people)
            for i in range(len(people))
        ]
        self.events = [
            [
                tuple(events[name][j] for name in known if name in events)
                for j in np.flatnonzero(rows.parents == i)
            ]
            for i in range(len(people))
        ]
        self.frame = people
        self.secrets = [
            [events["drug"][j] for j in np.flatnonzero(rows.parents == i)]
            for i in range(len(people))
        ]
        self.has_events = any(name in events for name in known)

    def knowledge(self, person: int, most: int) -> Iterator[Counter[Hashable]]:
        """All that somebody may know of a person's events."""
        yield Counter()
        if self.has_events:
            for number in range(1, most + 1):
                for some in combinations(self.events[person], number):
                    yield Counter(some)

    def alike(self, person: int, events: Counter[Hashable]) -> list[int]:
        """Everybody with the person's columns who has these events."""
        return [
            other
            for other in range(len(self.of_person))
            if self.of_person[other] == self.of_person[person]
            and not events - Counter(self.events[other])
        ]

    def smallest_groups(self, most: int) -> list[int]:
        """How many people the worst knowledge leaves, for each person."""
        return [
            min(
                len(self.alike(person, known)) for known in self.knowledge(person, most)
            )
            for person in range(len(self.of_person))
        ]
