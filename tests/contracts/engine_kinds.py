"""One table behind every engine: how each kind of them is made from a frame, for the contract suite."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.engines.base import Engine
from dpcore.engines.frame import FrameEngine
from dpcore.engines.parquet import ParquetEngine
from dpcore.schema.schema import Schema
from dpcore.schema.values import READ_AS_TEXT

Make = Callable[..., Engine]
_NUMBERS = itertools.count()


def in_memory(folder: Path, frame: pd.DataFrame, schema: Schema, *, key: bytes) -> Engine:
    return FrameEngine(frame, schema, key=key)


def as_parquet(folder: Path, frame: pd.DataFrame, schema: Schema, *, key: bytes) -> Engine:
    return ParquetEngine(written(folder, frame), schema, key=key)


ENGINES = {"frame": (FrameEngine, in_memory), "parquet": (ParquetEngine, as_parquet)}


def written(folder: Path, frame: pd.DataFrame) -> Path:
    """The frame as a folder of Parquet files: an empty one, one in row groups of 70 rows, one in a folder."""
    if frame.attrs.get(READ_AS_TEXT):
        pytest.skip("Parquet knows its types")
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        pytest.skip("no Parquet file holds values of several types in one column")
    place = folder / str(next(_NUMBERS))
    (place / "more").mkdir(parents=True)
    half = len(table) // 2
    pq.write_table(table.slice(0, 0), place / "a.parquet")
    pq.write_table(table.slice(0, half), place / "b.parquet", row_group_size=70)
    pq.write_table(table.slice(half), place / "more" / "c.parquet")
    (place / "_SUCCESS").touch()
    return place
