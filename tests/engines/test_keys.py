"""Rows of a connected source are digested under a key of its own, from which no other
is found.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines.connect import Connection
from dpcore.engines.frame import FrameEngine
from dpcore.schema.source import Source

FRAME = pd.DataFrame({"sex": ["F", "M"] * 10, "person": [f"p{i}" for i in range(20)]})
SCHEMA = dp.Schema(
    columns=(dp.Categorical("sex", categories=("F", "M")),),
    unit=dp.PrivacyUnit(max_rows=1, id_column="person"),
)


@pytest.mark.parametrize("kind", Connection.kinds())
def test_a_source_gets_a_key_of_its_own(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machines of a cluster that reads a source could tell the fingerprints of all
    other tables.
    """
    got: list[bytes] = []

    def opened(
        source: Source, schema: dp.Schema, *, key: bytes, on_rows: Any
    ) -> FrameEngine:
        got.append(key)
        return FrameEngine(FRAME, schema, key=key)

    monkeypatch.setattr(Connection.kinds()[kind], "open", opened)
    ledger = dp.MemoryLedger()
    for name in ("Visits", "Visits", "Stays"):
        table = "people" if kind in ("duckdb", "postgres") else ""
        source = Source(name=name, kind=kind, location="nowhere", table=table)
        dp.Curator.open(source, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=ledger)
    first, again, other = got
    assert first == again, (
        "the same source would count other rows of a person the next time"
    )
    assert len({first, other, ledger.key}) == 3
    assert ledger.key not in first
    assert first not in ledger.key
    assert len(first) == 32


def test_rows_of_a_source_are_not_digested_under_the_main_key(tmp_path: Path) -> None:
    """Its fingerprint would be that of the same table that somebody uploads, under
    everybody's key.
    """
    FRAME.to_parquet(tmp_path / "people.parquet")
    source = Source(
        name="People", kind="parquet", location=str(tmp_path / "people.parquet")
    )
    ledger = dp.MemoryLedger()
    curator = dp.Curator.open(
        source, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=ledger
    )
    uploaded = FrameEngine(FRAME, SCHEMA, key=ledger.key)
    engine = curator._engine
    assert engine.fingerprint != uploaded.fingerprint
    assert (
        FrameEngine(FRAME, SCHEMA, key=engine._key).fingerprint == engine.fingerprint
    )  # twin: the same table
