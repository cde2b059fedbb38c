"""Two linked tables of tests, and the same with one person more in both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import dpcore as dp

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
