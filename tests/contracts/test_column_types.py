"""Every type that a column of a Parquet file may have, with more rows than it counts,
on each way in.

Each column goes all the way: read, suggested, opened, released, audited, and given
hierarchies.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcore as dp
from dpcore.errors import DpcoreError
from dpcore.evaluation import AuditQuestion, HierarchiesQuestion, RolesQuestion
from dpcore.io import read_table
from dpcore.schema.source import Source
from tests.contracts.ledger_kinds import sqlite_kind
from workbench import __main__ as commands
from workbench.store import start
from workbench.store.people.owners import Owners

FEW = 300
MORE = 40_000
MOST = 70_000
"""Rows beyond what 8 bits count, 16 bits with a sign, and 16 bits."""
DAY = datetime.date(2021, 3, 4)


def names_in_the_table(schema: dp.Schema) -> list[str]:
    """The columns that the table itself has: no times of its time stamps."""
    return [column.name for column in schema.columns if not getattr(column, "of", "")]


def numbers(kind: pa.DataType, scale: float = 1) -> Callable[[np.ndarray], pa.Array]:
    return lambda drawn: pa.array(drawn * scale).cast(kind)


def made_of(
    kind: pa.DataType, value: Callable[[int], Any]
) -> Callable[[np.ndarray], pa.Array]:
    return lambda drawn: pa.array([value(int(each)) for each in drawn], kind)


TYPES: dict[str, tuple[int, Callable[[np.ndarray], pa.Array]]] = {
    "int8": (FEW, numbers(pa.int8())),
    "decimal128(8, 2)": (FEW, made_of(pa.decimal128(8, 2), lambda n: Decimal(n) / 4)),
    "uint8": (FEW, numbers(pa.uint8())),
    "int16": (MORE, numbers(pa.int16())),
    "uint16": (MOST, numbers(pa.uint16())),
    "int32": (FEW, numbers(pa.int32())),
    "uint32": (FEW, numbers(pa.uint32())),
    "int64": (FEW, numbers(pa.int64())),
    "uint64": (FEW, numbers(pa.uint64())),
    "float16": (FEW, lambda drawn: pa.array((drawn / 4).astype(np.float16))),
    "float32": (FEW, numbers(pa.float32(), 0.25)),
    "float64": (FEW, numbers(pa.float64(), 0.25)),
    "decimal32": (FEW, made_of(pa.decimal32(6, 1), lambda n: Decimal(n) / 2)),
    "decimal64": (FEW, made_of(pa.decimal64(12, 1), lambda n: Decimal(n) / 2)),
    "decimal128(20, 0)": (FEW, made_of(pa.decimal128(20, 0), Decimal)),
    "decimal256": (FEW, made_of(pa.decimal256(40, 2), lambda n: Decimal(n) / 4)),
    "bool": (FEW, lambda drawn: pa.array(drawn % 2 == 1)),
    "string": (FEW, made_of(pa.string(), lambda n: f"v{n}")),
    "large_string": (FEW, made_of(pa.large_string(), lambda n: f"v{n}")),
    "string_view": (FEW, made_of(pa.string_view(), lambda n: f"v{n}")),
    "dictionary": (
        FEW,
        lambda drawn: pa.array([f"v{n}" for n in drawn]).dictionary_encode(),
    ),
    "date32": (FEW, made_of(pa.date32(), lambda n: DAY + datetime.timedelta(days=n))),
    "date64": (FEW, made_of(pa.date64(), lambda n: DAY + datetime.timedelta(days=n))),
    **{
        f"timestamp[{unit}{zone}]": (
            FEW,
            made_of(
                pa.timestamp(unit, tz=zone[2:] or None),
                lambda n: (
                    datetime.datetime(2021, 3, 4, 5) + datetime.timedelta(hours=n)
                ),
            ),
        )
        for unit, zone in (
            ("s", ""),
            ("ms", ""),
            ("us", ""),
            ("ns", ""),
            ("us", ", UTC"),
            ("ns", ", Asia/Tokyo"),
        )
    },
    "time32": (FEW, made_of(pa.time32("s"), lambda n: datetime.time(n % 24))),
    "time64": (FEW, made_of(pa.time64("us"), lambda n: datetime.time(n % 24, 1))),
    "duration": (
        FEW,
        made_of(pa.duration("us"), lambda n: datetime.timedelta(hours=n)),
    ),
    "null": (FEW, lambda drawn: pa.nulls(len(drawn))),
    "binary": (FEW, made_of(pa.binary(), lambda n: f"v{n}".encode())),
    "list": (FEW, made_of(pa.list_(pa.int8()), lambda n: [n % 9])),
    "struct": (FEW, made_of(pa.struct([("a", pa.int8())]), lambda n: {"a": n % 9})),
}
REFUSED = {"binary", "list", "struct", "null", "duration", "time32", "time64"}
"""Types that may be refused in words on some way; all others go all the way on each."""


class RefusedError(Exception):
    """A command said no."""


def table(name: str) -> pa.Table:
    """A column of the type for each kind of values: all 0, a flag, a few, many, with
    gaps.
    """
    rows, make = TYPES[name]
    rng = np.random.default_rng(8)
    most = 100
    kinds = {
        "zero": np.zeros(rows, dtype=np.int64),
        "flag": rng.integers(0, 2, rows),
        "few": rng.integers(0, 3, rows),
        "many": rng.integers(0, most, rows),
    }
    columns = {kind: make(drawn) for kind, drawn in kinds.items()}
    values = [
        None if rng.random() < 0.1 else value for value in columns["few"].to_pylist()
    ]
    gaps = pa.array(values, columns["few"].type)
    return pa.table(
        {**columns, "gaps": gaps, "sex": pa.array(rng.choice(["F", "M"], rows))}
    )


def all_the_way(curator: dp.Curator) -> None:
    """What the pages and commands ask of an open table."""
    names = names_in_the_table(curator.schema)
    for name in names:
        curator.run(dp.Histogram(name), dp.PureDP(epsilon=1))
    curator.run(dp.Adaptive(), dp.PureDP(epsilon=1)).sample(10)
    roles = curator.evaluate(RolesQuestion()).content
    known = tuple(names)
    report = curator.evaluate(
        AuditQuestion.of(roles, curator.schema, known=known, sensitive=())
    ).content
    assert report.people
    curator.evaluate(
        AuditQuestion.of(roles, curator.schema, known=("sex",), sensitive=[*known[:1]])
    )
    trees = curator.evaluate(HierarchiesQuestion(columns=known)).content
    assert set(trees) == {*known}


def opened(rows: pd.DataFrame | Source, seen: pd.DataFrame) -> dp.Curator:
    schema = dp.suggest_schema(seen)
    budget = dp.PureDP(epsilon=100)
    return dp.Curator.open(rows, schema, budget=budget, ledger=dp.MemoryLedger())


def upload(file: Path, kind: str) -> None:
    frame = read_table(file.read_bytes(), file.name).frame
    all_the_way(opened(frame, frame))


def source(file: Path, kind: str) -> None:
    table = Source(
        name="People",
        kind=kind,
        location=str(file),
        table="people" if kind == "duckdb" else "",
    )
    all_the_way(opened(table, dp.Curator.look(table, 1_000).frame))


def command(file: Path, kind: str) -> None:
    """An audit that knows every column, whatever it is taken for, and one by a
    published criterion.
    """
    schema = file.with_suffix(".json")
    schema.write_text(
        dp.suggest_schema(read_table(file.read_bytes(), file.name).frame).to_json()
    )
    names = names_in_the_table(dp.Schema.from_json(schema.read_text()))
    codes = (
        commands.main(["audit", str(file), "--schema", str(schema), "--known", *names]),
        commands.main(["audit", str(file), "--rule", "hipaa-safe-harbor"]),
    )
    if codes[0] or codes[1] == 3:
        raise RefusedError(codes)


WAYS: dict[str, tuple[Callable[[Path, str], None], str]] = {
    "upload": (upload, ""),
    "command": (command, ""),
    "Parquet source": (source, "parquet"),
    "DuckDB source": (source, "duckdb"),
}
NOT_IN_DUCKDB = {"float16", "decimal256", "null", "binary", "list", "struct"}
QUICK = {"int8", "decimal128(8, 2)", "uint8"}
CELLS = [
    pytest.param(name, way, marks=[pytest.mark.proof] * (name not in QUICK))
    for name in TYPES
    for way in WAYS
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "way"), CELLS)
def test_every_type_goes_all_the_way(
    name: str,
    way: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A flag in 8 bits, as pandas and warehouses write them, could not be opened; a
    price not be audited.
    """
    rows = table(name)
    file = tmp_path / "people.parquet"
    ask, kind = WAYS[way]
    try:
        pq.write_table(rows, file)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        pytest.skip("Parquet has no such type")
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        file = tmp_path / "people.duckdb"
        with duckdb.connect(str(file)) as base:
            try:
                base.execute(
                    "CREATE TABLE people AS SELECT * FROM "
                    f"'{tmp_path / 'people.parquet'}'"
                )
            except duckdb.Error:
                assert name in NOT_IN_DUCKDB
                pytest.skip("DuckDB has no such type")
    with sqlite_kind(tmp_path / "var") as ledger:
        store = ledger.open()
        monkeypatch.setattr(
            commands, "read_settings", lambda: replace(ledger.settings, sources=None)
        )
        monkeypatch.setattr(start, "ledger", lambda: store)
        monkeypatch.setattr(start, "owners", lambda: Owners(ledger._stores[-1]))
        problem = ""
        try:
            ask(file, kind)
        except (DpcoreError, RefusedError) as error:
            problem = str(error)
    said = capsys.readouterr().err
    assert not problem or name in REFUSED, (problem, said)
    for words in ("Traceback", "unexpected error", "could not be measured"):
        assert words not in said


def test_no_command_prints_a_traceback(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The words of another library may quote a value, and forty lines tell nobody what
    to do.
    """

    def fails(*_: object) -> None:
        raise ValueError("Xanthippe Quisling")

    pd.DataFrame({"a": [1, 2]}).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "schema.json").write_text(
        dp.suggest_schema(pd.DataFrame({"a": [1, 2]})).to_json()
    )
    monkeypatch.setattr(commands, "find_table", fails)
    asked = [str(tmp_path / "people.csv"), "--schema", str(tmp_path / "schema.json")]
    for words, code in (
        (["audit", *asked], 1),
        (["audit", str(tmp_path / "people.csv"), "--rule", "hipaa-safe-harbor"], 3),
        (["ledger", str(tmp_path / "people.csv")], 1),
    ):
        assert commands.main(words) == code
        said = capsys.readouterr()
        assert not said.out
        assert "Traceback" not in said.err
        assert "Quisling" not in said.err
        assert len(said.err.splitlines()) == 1
        assert json.dumps(said.err)
