"""How few tables stand for many, and how values that were looked at once are not looked
at again.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines import base
from dpcore.engines._cells import CellTables, cell_type, cells_of
from dpcore.engines._joint import choose_joint_tables
from dpcore.engines.base import Engine
from dpcore.engines.frame import FrameEngine
from dpcore.engines.streaming.engine import ArrowEngine
from dpcore.errors import ReadError, SchemaError
from dpcore.schema.domain import Domain
from tests.contracts.engine_kinds import parquet_engine

KEY = b"k" * 32
KINDS = (
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "int64",
    "uint64",
    "Int8",
    "UInt64",
    "uint64[pyarrow]",
)


def test_joint_tables_hold_what_they_stand_for() -> None:
    """A table without a column of its clique cannot be summed down to it; a large one
    costs memory.
    """
    rng = np.random.default_rng(0)
    for _ in range(200):
        names = tuple(f"c{place}" for place in range(rng.integers(1, 9)))
        domain = Domain(
            names=names, sizes=tuple(rng.integers(1, 40, len(names)).tolist())
        )
        cliques = [
            tuple(
                rng.permutation(names)[
                    : rng.integers(0, min(4, len(names)) + 1)
                ].tolist()
            )
            for _ in range(rng.integers(1, 30))
        ]
        most = int(rng.choice([0, 10, 1000, 65_535]))
        blocks = choose_joint_tables(cliques, domain, most)
        for clique, block in zip(cliques, blocks, strict=True):
            assert set(clique) <= set(block)
            assert domain.cells(block) <= most or set(clique) == set(block)
        assert len(set(blocks)) <= len(set(map(frozenset, cliques)))


def test_pairs_share_tables() -> None:
    """91 pairs that are counted one by one read the rows 91 times."""
    names = tuple(f"c{place}" for place in range(14))
    sizes = (98, 4, 8, 16, 5, 10, 6, 5, 2, 10, 66, 7, 2, 40)
    pairs = list(itertools.combinations(names, 2))
    assert (
        len(
            set(
                choose_joint_tables(
                    pairs, Domain(names=names, sizes=sizes), base.MAX_JOINT_CELLS
                )
            )
        )
        <= 20
    )
    assert (
        choose_joint_tables(pairs, Domain(names=names, sizes=(100,) * 14), 10_000)
        == pairs
    )


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {f"c{place}": rng.integers(0, 2 + 3 * place, 4_000) for place in range(6)}
    )


def schema(frame: pd.DataFrame) -> dp.Schema:
    columns = tuple(dp.Integer(name, low=0, high=19) for name in frame.columns)
    return dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))


def engines(frame: pd.DataFrame, folder: Path) -> list[Engine]:
    frame.to_parquet(folder / "rows.parquet", row_group_size=900)
    declared = schema(frame)
    return [
        FrameEngine(frame, declared, key=KEY),
        parquet_engine(folder, declared, key=KEY),
    ]


def test_counts_that_were_summed_down(
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A sum over a wrong axis, or a cell that never occurs, would move rows into
    another cell.
    """
    cliques = [
        c for size in range(4) for c in itertools.permutations(frame.columns, size)
    ][::5]
    groups = {"c4": np.arange(20) // 7, "c2": np.arange(20)[::-1].copy()}
    for engine, part, merged in itertools.product(
        engines(frame, tmp_path),
        [None, ("c3", "4"), ("c4", "19")],
        [{}, groups],
    ):
        rows = frame if part is None else frame[frame[part[0]] == int(part[1])]
        for counts in engine.counts(cliques, part=part, groups=merged):
            shape = tuple(
                int(merged[name].max()) + 1 if name in merged else 20
                for name in counts.clique
            )
            expected = np.zeros(shape, dtype=np.int64)
            cells = [
                merged[name][rows[name]] if name in merged else rows[name]
                for name in counts.clique
            ]
            np.add.at(expected, tuple(cells), 1)
            assert (counts.values == (expected if shape else len(rows))).all(), (
                counts.clique
            )
    monkeypatch.setattr(
        base,
        "project",
        lambda values, clique, onto: values[(0,) * (values.ndim - len(onto))],
    )
    (wrong,) = FrameEngine(frame, schema(frame), key=KEY).counts(
        [("c0",), ("c0", "c1")]
    )[:1]
    assert wrong.values.sum() != len(frame)


def test_a_cell_that_is_not_declared(frame: pd.DataFrame, tmp_path: Path) -> None:
    """Cells that the disk gave back otherwise would put rows into the cells of
    others.
    """
    _, engine = engines(frame, tmp_path)
    assert isinstance(engine, ArrowEngine)
    assert engine._coded is not None
    begin, size = engine._coded.pieces[0].place
    os.pwrite(
        engine._coded._file.fileno(),
        b"\xff" * 200,
        begin + size - 400,
    )  # among the cells of the last column
    with pytest.raises(ReadError, match="has changed"):
        engine.counts([("c5", "c0")])
    os.pwrite(engine._coded._file.fileno(), b"\xff" * engine._coded.bytes, 0)
    with pytest.raises(ReadError):
        engine.counts([("c5", "c0")])


def columns(rng: np.random.Generator) -> dp.Column:
    missing = bool(rng.integers(2))
    if rng.integers(2):
        low = int(rng.integers(-300, 300))
        width = int(rng.integers(1, 4))
        return dp.Integer(
            "a",
            low=low,
            high=low + int(rng.integers(300)),
            missing=missing,
            bin_width=width,
        )
    numbers = rng.choice(400, int(rng.integers(1, 258)), replace=False) - 100
    return dp.Categorical(
        "a",
        categories=tuple(numbers.tolist()),
        other=bool(rng.integers(2)),
        missing=missing,
    )


def values(rng: np.random.Generator, kind: str) -> pd.Series:
    limits = np.iinfo(kind.split("[")[0].lower())
    base = int(rng.choice([0, 100, limits.min, limits.max]))
    span = int(rng.choice([3, 100, 300, 70_000, 2**40]))
    numbers = [
        min(max(base + int(each), limits.min), limits.max)
        for each in rng.integers(-span, span, 30)
    ]
    column = pd.Series(np.array(numbers, dtype=limits.dtype)).astype(kind)
    if not isinstance(column.dtype, np.dtype):
        column[rng.random(30) < 0.3] = pd.NA
    return column


@pytest.mark.parametrize("kind", KINDS)
def test_cells_that_were_found_before(kind: str) -> None:
    """A value's cell would follow from the values of earlier rows."""
    rng = np.random.default_rng(2)
    refused = 0
    for _ in range(60):
        column = columns(rng)
        tables = CellTables()
        for _ in range(4):
            batch = values(rng, kind)
            try:
                expected: Any = column.encode(batch).tolist()
            except SchemaError:
                refused += 1
                with pytest.raises(SchemaError):
                    cells_of(column, batch, tables)
                continue
            cells = cells_of(column, batch, tables)
            assert cells.dtype == cell_type(column)
            assert cells.tolist() == expected
    assert 0 < refused < 240


def test_categories_that_were_found_before() -> None:
    """Batches with other dictionaries number their texts anew, and a missing text has
    no number.
    """
    column = dp.Categorical("a", categories=("x", "y"), other=True, missing=True)
    tables = CellTables()
    for texts in (["x", "y"], ["y", "x", None], ["z", "y", "y"], [None, None], ["x"]):
        batch = pd.Series(texts, dtype="str").astype("category")
        assert cells_of(column, batch, tables).tolist() == column.encode(batch).tolist()
    assert cells_of(
        column, pd.Series(pd.Categorical(["x"], categories=["y", "x"])), tables
    ).tolist() == [0]
