"""A release as a file: whole, or refused in words, whatever a stranger has put into
it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore import release as released
from dpcore.errors import ReadError
from dpcore.synthesis.release.read import MAX_VALUES

SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=99, bin_width=10),
        dp.Categorical("sex", categories=("F", "M")),
        dp.Categorical("city", categories=("A", "B", "C")),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
RECIPES: dict[str, Any] = {
    "adaptive": dp.Adaptive(),
    "tree": dp.Tree(),
    "marginals": dp.Marginals(cliques=[("age", "sex"), ("city",)]),
    "gaussian": dp.Gaussian.for_schema(
        SCHEMA, label="sex", columns=["age"], one_hot=[]
    ),
    "statistics": dp.Statistics.for_column(SCHEMA, "age"),
}


def make(recipe: Any) -> dp.Release:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 99, 500),
            "sex": rng.choice(["F", "M"], 500),
            "city": rng.choice(list("ABC"), 500),
        },
    )
    curator = dp.Curator.open(
        frame, SCHEMA, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger()
    )
    return curator.run(recipe, dp.PureDP(epsilon="1"))


MARGINALS = make(RECIPES["marginals"])
ADAPTIVE = make(RECIPES["adaptive"])


def signed(fields: dict[str, Any]) -> bytes:
    """What a stranger writes who knows how the digest is made."""
    return json.dumps({**fields, "digest": released._digest(fields)}).encode()


def altered(
    change: Callable[[dict[str, Any]], Any], release: dp.Release = MARGINALS
) -> bytes:
    fields = json.loads(release.to_json())
    change(fields)
    return signed(fields)


@pytest.mark.parametrize("kind", RECIPES)
def test_a_file_is_the_release(kind: str, tmp_path: Path) -> None:
    """SEEDS E5: somebody without the table would get another release, or none."""
    release = make(RECIPES[kind])
    file = tmp_path / "release.json"
    file.write_text(release.to_json(), encoding="utf-8")
    for source in (file, str(file), file.read_bytes()):
        assert dp.read_release(source).to_json() == release.to_json()


def test_a_file_that_was_altered() -> None:
    """A smaller epsilon, or another count, would be taken for what was released."""
    text = MARGINALS.to_json()
    for old, new in (
        ('"epsilon": "1"', '"epsilon": "1/1000"'),
        ('"created": "2', '"created": "3'),
    ):
        assert old in text
        with pytest.raises(ReadError, match="altered after it was made"):
            dp.read_release(text.replace(old, new).encode())
    fields = json.loads(text)
    del fields["digest"]
    with pytest.raises(ReadError, match="another kind of file"):
        dp.read_release(json.dumps(fields).encode())


def test_a_file_of_a_newer_version() -> None:
    """It would be read as something that it is not."""
    with pytest.raises(ReadError, match="version 2, but this program reads version 1"):
        dp.read_release(altered(lambda fields: fields.update(version=2)))


def test_a_file_of_a_gigabyte(tmp_path: Path) -> None:
    """It would fill the memory before anybody looked at it."""
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(10**9)
    with pytest.raises(ReadError, match="too large"):
        dp.read_release(large)
    with pytest.raises(ReadError, match="too large"):
        dp.read_release(bytes(50_000_001))


BOMBS = {
    "deep": b"[" * 500_000,
    "deep objects": b'{"a":' * 300_000,
    "wide": b"[" + b"{}," * 3_000_000 + b"{}]",
    "numbers": b"[" + b"1," * 3_000_000 + b"1]",
    "a number of a million digits": b'{"version": ' + b"9" * 1_000_000 + b"}",
    "an exponent": b'{"version": 1, "digest": 1e999999}',
    "not a number": b'{"version": NaN}',
    "empty": b"",
    "null": b"null",
    "a list": b"[1]",
    "bytes": bytes(range(256)),
    "a table": b"age,sex\n1,F\n",
}


@pytest.mark.parametrize("name", BOMBS)
def test_json_that_is_no_release(name: str) -> None:
    """A small file that unfolds in memory, or ends the program, or shows a
    traceback.
    """
    with pytest.raises(ReadError):
        dp.read_release(BOMBS[name])


def packed(
    values: Any, dtype: str = "<f8", shape: list[int] | None = None
) -> dict[str, Any]:
    array = np.asarray(values)
    data = base64.b64encode(array.tobytes()).decode()
    return {
        "dtype": dtype,
        "shape": list(array.shape) if shape is None else shape,
        "data": data,
    }


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no schema": lambda fields: fields.pop("schema"),
    "a number for a schema": lambda fields: fields.update(schema=7),
    "a column that is not there": lambda fields: fields["marginals"][0].update(
        clique=["age", "salary"]
    ),
    "a table of another shape": lambda fields: fields["marginals"][0].update(
        values=packed(np.zeros((2, 2)))
    ),
    "a shape that is a lie": lambda fields: fields["marginals"][0].update(
        values=packed(np.zeros(4), shape=[100_000, 100_000]),
    ),
    "a negative shape": lambda fields: fields["marginals"][0].update(
        values=packed(np.zeros(20), shape=[-1])
    ),
    "objects": lambda fields: fields["marginals"][0].update(
        values=packed(np.zeros(20), dtype="|O")
    ),
    "texts": lambda fields: fields["marginals"][0].update(
        values=packed(np.zeros(20), dtype="<U2")
    ),
    "infinite counts": lambda fields: fields["marginals"][0].update(
        values=packed(np.full((10, 2), np.inf))
    ),
    "huge counts": lambda fields: fields["marginals"][0].update(
        values=packed(np.full((10, 2), 1e200))
    ),
    "a negative variance": lambda fields: fields["marginals"][0].update(variance=-1),
    "a law that nobody knows": lambda fields: fields["marginals"][0].update(
        noise="none at all"
    ),
    "a model that nobody knows": lambda fields: fields["model"].update(kind="pickle"),
    "a model of another table": lambda fields: fields["model"].update(
        sizes=[10, 2, 50_000]
    ),
    "a unit without rows": lambda fields: fields["schema"]["unit"].update(max_rows=0),
    "a million categories": lambda fields: fields["schema"]["columns"][2].update(
        categories=[str(i) for i in range(200_000)],
    ),
    "an endless range": lambda fields: fields["schema"]["columns"][0].update(
        high=10**12
    ),
    "a part of a column": lambda fields: fields.update(part=["age"]),
    "a part that is no text": lambda fields: fields.update(part=["age", 7]),
    "a day that is a number": lambda fields: fields.update(created=20_261_121),
    "a unit that is a list": lambda fields: fields["guarantee"].update(
        unit=["everybody"]
    ),
    "no loss": lambda fields: fields["guarantee"].update(loss={}),
    "a loss below 0": lambda fields: fields["guarantee"].update(loss={"epsilon": "-1"}),
    "a loss in words": lambda fields: fields["guarantee"].update(
        loss={"epsilon": "none"}
    ),
    "a recipe without a kind": lambda fields: fields.update(recipe={}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_fields_that_no_release_has(name: str) -> None:
    """A hostile file would fill the memory, or break the page that shows it."""
    with pytest.raises(ReadError):
        dp.read_release(altered(CHANGES[name]))


def outside(
    name: str = "sex",
    *,
    age: Iterable[int] = range(10),
    values: Any = None,
    sexes: Any = None,
) -> dict[str, Any]:
    """A pair outside the tree, as a file holds it."""
    values = np.zeros((10, 2)) if values is None else values
    table = {
        "clique": ["age", name],
        "values": packed(values),
        "variance": 1.0,
        "noise": "gaussian",
        "pooled": False,
    }
    groups = {
        "age": packed(np.array([*age], dtype=np.int64), "<i8"),
        name: sexes or packed(np.array([0, 1]), "<i8"),
    }
    return {"groups": groups, "tables": [table]}


def test_a_pair_outside_the_tree_is_read() -> None:
    """What follows would be refused for another reason than it says."""
    sizes = ADAPTIVE.model.grouping.group_domain.sizes
    assert sizes == (10, 2, 3)
    dp.read_release(
        altered(lambda fields: fields["model"].update(beyond=outside()), ADAPTIVE)
    )


def test_a_pair_far_below_zero_is_drawn() -> None:
    """A stranger's file would fill pages with nothing but NaN."""
    values = np.full((10, 2), 1e3)
    values[3] = -1e12
    change = outside(values=values)
    read = dp.read_release(
        altered(lambda fields: fields["model"].update(beyond=change), ADAPTIVE)
    )
    assert np.isfinite(read.model.marginal(("age", "sex"))).all()
    assert len(read.sample(2_000, seed=1)) == 2_000


def numbers(
    *rows: list[Any], sides: Iterable[float] = (-1.0,) * 5 + (1.0,) * 5
) -> dict[str, Any]:
    """Numbers of pairs, as a file holds them."""
    of = {"age": packed(np.array([*sides])), "city": packed(np.array([-1.0, 1.0, 0.0]))}
    return {"sides": of, "rows": [*rows] or [["age", "city", 3.0]]}


def test_numbers_of_pairs_are_read() -> None:
    """What follows would be refused for another reason than it says."""
    change = numbers(["age", "city", -1e12])
    read = dp.read_release(
        altered(lambda fields: fields["model"].update(concordances=change), ADAPTIVE)
    )
    assert np.isfinite(read.model.marginal(("age", "city"))).all()
    assert len(read.sample(2_000, seed=1)) == 2_000


GRAPH: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a node of all columns of many cells": lambda fields: fields["model"][
        "graph"
    ].update(
        sizes=[5_000, 5_000, 5_000],
        nodes=[["age", "sex", "city"]],
    ),
    "groups of another length": lambda fields: fields["model"]["grouping"][
        "groups"
    ].update(
        age=packed(np.arange(50_000), dtype="<i8"),
    ),
    "a group of a billion": lambda fields: fields["model"]["grouping"]["groups"].update(
        age=packed(np.array([0, 10**9, *range(8)]), dtype="<i8"),
    ),
    "a negative group": lambda fields: fields["model"]["grouping"]["groups"].update(
        age=packed(np.array([-(10**9), *range(9)]), dtype="<i8"),
    ),
    "a total without end": lambda fields: fields["model"]["graph"].update(total=1e300),
    "a pair beyond of another table": lambda fields: fields["model"].update(
        beyond=outside(values=np.zeros(7)),
    ),
    "groups beyond of another length": lambda fields: fields["model"].update(
        beyond=outside(age=range(9))
    ),
    "a group beyond of a billion": lambda fields: fields["model"].update(
        beyond=outside(age=[0, 10**9, *range(8)]),
    ),
    "a group beyond that is negative": lambda fields: fields["model"].update(
        beyond=outside(age=[-1, *range(9)]),
    ),
    "a group beyond that is no whole number": lambda fields: fields["model"].update(
        beyond=outside(sexes=packed(np.array([0.0, 1.0]))),
    ),
    "numbers of pairs without a side": lambda fields: fields["model"].update(
        concordances=numbers(sides=[0.0] * 10),
    ),
    "a pair with two numbers": lambda fields: fields["model"].update(
        concordances=numbers(["age", "city", 1.0], ["city", "age", 2.0]),
    ),
    "a number of a column with itself": lambda fields: fields["model"].update(
        concordances=numbers(["age", "age", 1.0]),
    ),
    "a number of a column without sides": lambda fields: fields["model"].update(
        concordances=numbers(["age", "sex", 1.0]),
    ),
    "sides of another length": lambda fields: fields["model"].update(
        concordances=numbers(sides=[1.0] * 9)
    ),
    "a number beyond all rows": lambda fields: fields["model"].update(
        concordances=numbers(["age", "city", 1e300]),
    ),
    "a column beyond that is not there": lambda fields: fields["model"].update(
        beyond=outside("salary")
    ),
    "a measurement of another table": lambda fields: fields["model"]["measurements"][
        1
    ].update(
        values=packed(np.zeros(7)),
    ),
}


@pytest.mark.parametrize("name", GRAPH)
def test_models_that_do_not_fit(name: str) -> None:
    """The model of a hostile file would be allocated before it was looked at."""
    with pytest.raises(ReadError):
        dp.read_release(altered(GRAPH[name], ADAPTIVE))


def test_errors_say_nothing_of_the_file() -> None:
    """A log or an error box would repeat what a stranger wrote."""
    for change in (
        lambda fields: fields["model"].update(kind="<script>alert(1)"),
        lambda fields: fields["marginals"][0].update(clique=["<script>alert(1)"]),
        lambda fields: fields.update(version="<script>alert(1)"),
    ):
        with pytest.raises(ReadError) as caught:
            dp.read_release(altered(change))
        assert "script" not in str(caught.value)
    assert MAX_VALUES == 2_000_000
