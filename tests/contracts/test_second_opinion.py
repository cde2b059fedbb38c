"""Cells and texts by a second, independent rule: one conversion that is wrong is wrong
in every engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpcore as dp
from dpcore.engines.base import Engine
from dpcore.engines.frame import FrameEngine
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.io.read import read_table
from dpcore.tables import arrow
from tests.contracts.engine_kinds import duckdb_engine, parquet_engine

KEY = b"k" * 32
CUTS = (0.0, 0.1, 0.3, 1.0)
LABELS = ("19.99", "0.1", "-1.5", "3", "12.1", "0.1000000000000000001")
SHORT = [
    *map(
        Decimal,
        ("0.00", "0.10", "0.30", "1.00", "1.50", "-1.50", "3.00", "12.10", "19.99"),
    )
]
LONG = [
    "0.1",
    "0.0999999999999999999",
    "0.1000000000000000001",
    "0.3",
    "0.2999999999999999999",
    "1",
    "0.9999999999999999999",
    "-0.0000000000000000001",
    "0",
    "99999.9999999999999999999"[:25],
    "3",
    "19.99",
]
KINDS: dict[str, tuple[list[Any], pa.DataType]] = {
    "prices": (
        [*SHORT, *(Decimal(cents).scaleb(-2) for cents in range(0, 130))],
        pa.decimal128(8, 2),
    ),
    "long": ([*map(Decimal, LONG)], pa.decimal128(25, 19)),
    "wide": ([*map(Decimal, LONG)], pa.decimal256(50, 25)),
    "whole": ([Decimal(each) for each in (0, 1, 3, -2, 10**17)], pa.decimal128(18, 0)),
    "huge": (
        [Decimal(each) for each in (0, 1, 3, 10**37, 10**37 + 1)],
        pa.decimal128(38, 0),
    ),
    "floats": (
        [0.0, -0.0, 0.1, 0.3, 1.0, 1.5, -1.5, 3.0, 12.1, 19.99, 1e300],
        pa.float64(),
    ),
    "floats of 32 bits": ([0.1, 0.3, 1.5, 3.0, 19.99], pa.float32()),
    "long whole": ([0, 3, -5, 2**53 + 1, 2**62], pa.int64()),
    "unsigned": ([0, 3, 2**63, 2**64 - 1], pa.uint64()),
}


def number(value: Any, kind: pa.DataType) -> Decimal:
    """A value as the number that people write for it."""
    if isinstance(value, float):
        return Decimal(str(np.float32(value)) if kind == pa.float32() else repr(value))
    return Decimal(value)


def real_cell(value: Decimal | None) -> int:
    """Below 0, from 0, from .1, from .3, from 1 on, missing."""
    if value is None:
        return len(CUTS) + 1
    return sum(value >= Decimal(str(cut)) for cut in CUTS)


def label_cell(value: Decimal | None) -> int:
    """The category that is the same number, other, missing."""
    if value is None:
        return len(LABELS) + 1
    return next(
        (place for place, label in enumerate(LABELS) if Decimal(label) == value),
        len(LABELS),
    )


def declared(name: str) -> tuple[dp.Schema, dp.Schema]:
    unit = dp.PrivacyUnit(max_rows=1)
    real = dp.Real(name, low=-2.0, high=20.0, cuts=CUTS, missing=True)
    label = dp.Categorical(name, categories=LABELS, other=True, missing=True)
    return dp.Schema(columns=(real,), unit=unit), dp.Schema(columns=(label,), unit=unit)


def opened(place: Path, kind: pa.DataType) -> dict[str, Callable[[dp.Schema], Engine]]:
    """Every engine on one file that can hold its type."""
    engines: dict[str, Callable[[dp.Schema], Engine]] = {
        "upload": lambda schema: FrameEngine(
            read_table(place.read_bytes(), place.name).frame,
            schema,
            key=KEY,
        ),
        "frame": lambda schema: FrameEngine(
            pq.read_table(place).to_pandas(types_mapper=arrow.nullable_dtypes().get),
            schema,
            key=KEY,
        ),
        "parquet": lambda schema: parquet_engine(place, schema, key=KEY),
        "duckdb": lambda schema: duckdb_engine(
            DuckDBSource(kind="parquet", location=str(place)),
            schema,
            key=KEY,
        ),
    }
    if pa.types.is_decimal256(kind):
        del engines["duckdb"]  # which refuses them
    return engines


def differences(folder: Path) -> list[str]:
    """Where an engine counts other cells, or knows other texts, than the rules above,
    in random tables.
    """
    rng = np.random.default_rng(21)
    found = []
    for name, (pool, kind) in KINDS.items():
        values = [
            None if rng.random() < 0.1 else pool[place]
            for place in rng.integers(0, len(pool), 150)
        ]
        place = folder / f"{name}.parquet"
        pq.write_table(
            pa.table({name: pa.array(values, kind)}), place, row_group_size=40
        )
        numbers = [None if value is None else number(value, kind) for value in values]
        for rule, schema in zip((real_cell, label_cell), declared(name), strict=True):
            expected = Counter(map(rule, numbers))
            for engine, make in opened(place, kind).items():
                held = make(schema)
                counts = held.counts([(name,)])[0].values
                if (
                    Counter({cell: int(n) for cell, n in enumerate(counts) if n})
                    != expected
                ):
                    found.append(f"{engine}: {name}: cells of {rule.__name__}")
                texts = {Decimal(text): rows for text, rows in held.texts(name).items()}
                if texts != Counter(each for each in numbers if each is not None):
                    found.append(f"{engine}: {name}: texts")
    return found


def test_every_engine_counts_the_cells_of_a_second_rule(tmp_path: Path) -> None:
    """19.99 was another number than 19.99, and .1 fell below a cut at .1, in all
    engines alike.
    """
    assert differences(tmp_path) == []


def test_a_cast_to_floats_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second opinion that agrees with decimals as floats is none."""
    plain = arrow.to_plain

    def cast(column: Any) -> Any:
        return (
            column.cast(pa.float64())
            if pa.types.is_decimal(column.type)
            else plain(column)
        )

    monkeypatch.setattr(arrow, "to_plain", cast)
    monkeypatch.setattr(
        "tests.contracts.test_second_opinion.KINDS", {"prices": KINDS["prices"]}
    )
    assert "parquet: prices: texts" in differences(tmp_path)
