"""What somebody would learn about one person: counted by hand on a small table, and
against plain pandas.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.errors import ParameterError, SchemaError
from dpcore.evaluation.table.one_person import KnownFact, OnePersonQuestion
from dpcore.tables.rows import Microdata

ROWS = pd.DataFrame(
    {
        "zip": ["33620", "33620", "33617", "33620", "33617"],
        "age": [41, 43, 24, 29, 41],
        "disease": ["cancer", "cancer", "flu", "flu", "asthma"],
    },
)
SCHEMA = dp.Schema(
    columns=(dp.Integer("age", low=0, high=99),), unit=dp.PrivacyUnit(max_rows=1)
)


def asked(frame: pd.DataFrame, *known: KnownFact, schema: dp.Schema = SCHEMA):
    return OnePersonQuestion(known=known, sensitive=("disease",)).compute(
        Microdata(frame), schema
    )


def test_the_group_and_its_secrets_by_hand() -> None:
    """SEEDS E9: zip 33620 and the early forties leave two people, both with cancer; two
    of five have it.
    """
    found = asked(
        ROWS,
        KnownFact(column="zip", value="33620"),
        KnownFact(column="age", bounds=(40, 44)),
    )
    assert found.people == 2
    assert found.repeated == frozenset()
    (secret,) = found.secrets["disease"]
    assert (secret.value, secret.group_chance, secret.table_chance) == (
        "cancer",
        1.0,
        0.4,
    )
    everybody_there = asked(ROWS, KnownFact(column="zip", prefix="336"))
    assert everybody_there.people == 5
    assert [each.group_chance for each in everybody_there.secrets["disease"]] == [
        0.4,
        0.4,
        0.2,
    ]
    nobody = asked(ROWS, KnownFact(column="zip", value="99999"))
    assert (nobody.people, nobody.secrets["disease"]) == (0, ())


def test_people_with_several_rows_count_once() -> None:
    """Ten visits of one person would look like a crowd to hide in."""
    frame = pd.concat(
        [ROWS.assign(id=range(5)), *[ROWS.iloc[[0]].assign(id=0)] * 9],
        ignore_index=True,
    )
    schema = dp.Schema(
        columns=SCHEMA.columns, unit=dp.PrivacyUnit(id_column="id", max_rows=10)
    )
    found = asked(frame, KnownFact(column="zip", value="33620"), schema=schema)
    assert found.people == 3
    assert found.secrets["disease"][0].group_chance == pytest.approx(2 / 3)
    assert found.secrets["disease"][0].table_chance == pytest.approx(2 / 5)


def test_a_person_has_a_value_if_some_row_has_it() -> None:
    """Two diseases of everybody would pass for one of half of the people."""
    frame = pd.concat([ROWS, ROWS.assign(disease="flu")], ignore_index=True)
    schema = dp.Schema(
        columns=SCHEMA.columns, unit=dp.PrivacyUnit(id_column="id", max_rows=2)
    )
    found = asked(
        frame.assign(id=[*range(5)] * 2),
        KnownFact(column="zip", value="33620"),
        schema=schema,
    )
    assert found.repeated == {"disease"}
    assert [(each.value, each.group_chance) for each in found.secrets["disease"]] == [
        ("flu", 1.0),
        ("cancer", pytest.approx(2 / 3)),
    ]


def test_as_pandas_counts() -> None:
    """The chances would be those of another group."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "zip": rng.integers(10, 14, 500).astype(str),
            "age": rng.integers(20, 60, 500),
            "disease": rng.choice(["a", "b", "c"], 500),
        },
    )
    found = asked(
        frame,
        KnownFact(column="zip", value="12"),
        KnownFact(column="age", bounds=(30, 39)),
    )
    group = frame[(frame["zip"] == "12") & frame["age"].between(30, 39)]
    assert found.people == len(group)
    shares = group["disease"].value_counts(normalize=True)
    assert {
        each.value: each.group_chance for each in found.secrets["disease"]
    } == pytest.approx(shares.to_dict())


def test_what_cannot_be_asked() -> None:
    """A question without knowledge, or about what is known already, would be answered
    with a number.
    """
    with pytest.raises(ParameterError):
        KnownFact(column="age")
    with pytest.raises(ParameterError):
        asked(ROWS)
    with pytest.raises(SchemaError):
        asked(ROWS, KnownFact(column="disease", value="flu"))
    with pytest.raises(SchemaError):
        asked(ROWS, KnownFact(column="height", value="1"))
