"""Tables of scripts: names that are no texts, and cells of several values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpcore as dp
from dpcore.anonymization import KAnonymity, Plan, suggest_hierarchy
from dpcore.risk.roles import suggest_roles
from dpcore.schema.table import normalize_table


def test_whole_numbers_as_names() -> None:
    """A proposal was made, and the table then refused: "no column '1'"."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({place: rng.integers(0, 100, 200) for place in range(1, 4)})
    schema = dp.suggest_schema(frame)
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=9), ledger=dp.MemoryLedger()
    )
    table = curator.run(dp.Histogram("1"), dp.PureDP(epsilon=9)).table(("1",))
    assert table["rows"].sum() == pytest.approx(200, abs=40)
    assert [proposal.column for proposal in suggest_roles(frame)] == ["1", "2", "3"]
    assert dp.audit(frame, known=["1", "2"]).people == 200
    plan = Plan(
        roles={"1": "quasi-identifier", "2": "insensitive", "3": "identifier"},
        hierarchies={"1": suggest_hierarchy(frame[1].rename("1"))},
        models=(KAnonymity(k=5),),
        limit=0.1,
    )
    assert list(dp.anonymize(frame, plan).table.frame.columns) == ["1", "2"]
    assert list(frame.columns) == [1, 2, 3]


def test_names_in_several_lines_are_joined() -> None:
    """The names would be written as tuples."""
    names = pd.MultiIndex.from_tuples([("2020", "age"), ("2020", "pay"), ("id", "")])
    frame = pd.DataFrame([[30, 1, 2], [40, 2, 3]], columns=names)
    assert list(normalize_table(frame).columns) == ["2020 age", "2020 pay", "id"]


def test_names_that_become_the_same_are_refused() -> None:
    """One of two columns would be read twice."""
    frame = pd.DataFrame([[1, 2]] * 30, columns=[1, "1"])
    with pytest.raises(dp.SchemaError, match="more than one column '1'"):
        dp.suggest_schema(frame)


@pytest.mark.parametrize(
    "cells",
    [
        [[1], [2, 3]] * 20,
        [{"a": 1}, {"a": 2}] * 20,
        [np.array([1, 2]), None] * 20,
        pd.array([[1], [2]] * 20, dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    ],
)
def test_lists_are_refused_by_name(cells: object) -> None:
    """Two lists cannot be compared: a traceback about hashes."""
    frame = pd.DataFrame({"x": range(40), "several": cells})
    for call in (dp.suggest_schema, suggest_roles, dp.audit):
        with pytest.raises(dp.SchemaError, match="'several' holds lists"):
            call(frame)


def test_a_plain_table_is_taken_as_it_is() -> None:
    """Every table would be copied."""
    frame = pd.DataFrame({"x": [1, 2], "y": [(1, 2), (3, 4)]})
    assert normalize_table(frame) is frame
