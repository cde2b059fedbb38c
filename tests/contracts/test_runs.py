"""How a run goes and how it ends, for every engine: neither follows exact facts of the rows.

Whether a charge ends in a release, and which passes are made over the rows, is seen by others: in the ledger,
by the clock. A person must not change it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines import base, work
from dpcore.engines.base import Scanner
from dpcore.engines.joint import joint, passes
from dpcore.engines.work import Counting, Summing
from dpcore.errors import LimitError
from dpcore.schema.domain import Domain
from dpcore.tables.counts import check_cells
from dpcore.tables.sums import levels
from tests.contracts.engine_kinds import ENGINES

KEY = b"k" * 32
LOSS = dp.PureDP(epsilon="1/2")


def wide(columns: int, rows: int) -> tuple[pd.DataFrame, dp.Schema]:
    """Constant columns, rare facts that nobody has, columns of some cells, and one of 10,000 categories."""
    rng = np.random.default_rng(columns)
    values: dict[str, Any] = {"code": [f"k{cell}" for cell in rng.integers(0, 10_000, rows)]}
    declared: list[dp.Column] = [
        dp.Categorical("code", categories=tuple(f"k{cell}" for cell in range(10_000)))
    ]
    for place in range(columns - 1):
        name, cells = f"c{place}", (1, 2, 5)[place % 3]
        values[name] = rng.integers(0, cells, rows) if cells == 5 else np.zeros(rows, dtype=np.int64)
        if cells == 1:
            declared.append(dp.Categorical(name, categories=(0,)))
        else:
            declared.append(dp.Integer(name, low=0, high=cells - 1))
    return pd.DataFrame(values), dp.Schema(columns=tuple(declared), unit=dp.PrivacyUnit(max_rows=1))


@pytest.mark.parametrize(
    ("kind", "columns"), [*((kind, 200) for kind in ENGINES), ("frame", 1000), ("parquet", 1000)]
)
def test_hundreds_of_columns_end_in_a_release(kind: str, columns: int, tmp_path: Path) -> None:
    """Columns of one cell once made tables with more axes than there may be: paid, and no release."""
    frame, schema = wide(columns, 39)
    ledger = dp.MemoryLedger()
    engine = ENGINES[kind][1](tmp_path, frame, schema, key=ledger.key)
    curator = dp.Curator.open(engine, schema, budget=LOSS, ledger=ledger, identity="wide")
    release = curator.run(dp.Independent(columns=schema.domain.names), LOSS)
    assert [line.state for line in curator.lines()] == ["opened", "reserved", "committed"]
    assert len(release.marginals) == columns
    for name in ("code", "c0", "c1", "c2"):
        (counts,) = engine.counts([(name,)])
        assert (counts.values == np.bincount(schema.encode(frame)[name], minlength=counts.values.size)).all()
