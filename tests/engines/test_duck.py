"""A paid run and a page of one tab ask one engine of DuckDB at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.engines.streaming.engine import ArrowEngine
from tests.contracts.engine_kinds import duckdb_engine

KEY = b"k" * 32
ROWS = 400_000
SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=9),
        dp.Categorical("sex", categories=("F", "M")),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
LONG = 300
One = TypeVar("One")
Other = TypeVar("Other")


class Gone(Exception):
    """Nobody wants it any more."""


@pytest.fixture
def engine(tmp_path: Path) -> ArrowEngine:
    """Of several batches of rows."""
    frame = pd.DataFrame({"age": np.arange(ROWS) % 10, "sex": ["F", "M"] * (ROWS // 2)})
    frame.to_parquet(tmp_path / "people.parquet")
    source = DuckDBSource(kind="parquet", location=str(tmp_path / "people.parquet"))
    return duckdb_engine(source, SCHEMA, key=KEY)


@pytest.fixture
def curator(engine: ArrowEngine) -> dp.Curator:
    return dp.Curator.open(
        engine,
        SCHEMA,
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
        identity="people",
    )


def paid(curator: dp.Curator) -> dp.Release:
    return curator.run(dp.Histogram("age"), dp.PureDP(epsilon="0.25"))


def states(curator: dp.Curator) -> list[str]:
    return [line.state for line in curator.lines()]


def counted(engine: ArrowEngine) -> int:
    return int(engine.counts([("age",)])[0].values.sum())


def tupled(engine: ArrowEngine) -> int:
    return int(engine.tuples(["age", "sex"]).rows.sum())


def sampled(engine: ArrowEngine) -> int:
    return len(engine.sample(ROWS).frame)


def leave() -> None:
    raise Gone


def in_the_middle_of(
    first: Callable[[], One],
    second: Callable[[], Other],
    *,
    engine: ArrowEngine,
    told: Callable[[], object] = lambda: None,
) -> tuple[One, Other]:
    """What both give, where the second one begins when the first one is in a pass and
    not at its end.

    The first one goes on when the second one has read some rows or has ended.

    Args:
        told: what the second one calls while it reads.
    """
    here = threading.get_ident()
    begun = threading.Event()
    go_on = threading.Event()

    def on_rows(rows: int) -> None:
        if threading.get_ident() == here:
            told()
            go_on.set()
        elif not begun.is_set():
            begun.set()
            assert go_on.wait(LONG)

    engine._on_rows = on_rows
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(first)
        assert begun.wait(LONG)
        try:
            found = second()
        finally:
            go_on.set()
        return running.result(timeout=LONG), found


@pytest.mark.parametrize("ask", [counted, tupled, sampled])
def test_a_page_asks_during_a_paid_run(
    engine: ArrowEngine,
    curator: dp.Curator,
    ask: Callable[[ArrowEngine], int],
) -> None:
    """The run would fail as if its source had changed, its charge be kept, and the page
    read nothing.
    """

    def asked() -> int | dp.ReadError:
        try:
            return ask(engine)
        except dp.ReadError as error:
            return error

    release, found = in_the_middle_of(lambda: paid(curator), asked, engine=engine)
    assert isinstance(release, dp.Release)
    assert found == ROWS
    assert states(curator) == ["opened", "reserved", "committed"]


def test_a_paid_run_begins_while_a_page_reads(
    engine: ArrowEngine, curator: dp.Curator
) -> None:
    """The run would fail, its charge be kept: its connection had an open result."""
    found, release = in_the_middle_of(
        lambda: counted(engine), lambda: paid(curator), engine=engine
    )
    assert found == ROWS
    assert isinstance(release, dp.Release)
    assert states(curator) == ["opened", "reserved", "committed"]


@pytest.mark.parametrize("ask", [counted, tupled])
def test_a_click_ends_the_query_of_its_page_alone(
    engine: ArrowEngine,
    curator: dp.Curator,
    ask: Callable[[ArrowEngine], int],
) -> None:
    """To interrupt what both share would end the query of the paid run."""

    def asked() -> None:
        with pytest.raises(Gone):
            ask(engine)

    release, _ = in_the_middle_of(
        lambda: paid(curator), asked, engine=engine, told=leave
    )
    assert isinstance(release, dp.Release)
    assert states(curator) == ["opened", "reserved", "committed"]


def test_a_paid_run_can_be_stopped_while_a_page_reads(
    engine: ArrowEngine, curator: dp.Curator
) -> None:
    """A run is stopped by its listener alone, wherever it is; what was charged stays
    so.
    """

    def asked() -> None:
        with pytest.raises(Gone):
            paid(curator)

    found, _ = in_the_middle_of(
        lambda: counted(engine), asked, engine=engine, told=leave
    )
    assert found == ROWS
    assert states(curator) == ["opened", "reserved", "failed"]


def test_a_pass_that_was_left_holds_up_nobody(engine: ArrowEngine) -> None:
    """An error that is shown keeps all that was at work alive: a result of DuckDB must
    end all the same.
    """

    def leave_in_the_middle(rows: int) -> None:
        if rows:
            raise Gone

    going_on = engine._on_rows
    engine._on_rows = leave_in_the_middle
    with pytest.raises(Gone) as kept:
        tupled(engine)
    engine._on_rows = going_on
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(tupled, engine).result(timeout=LONG) == ROWS
    assert tupled(engine) == ROWS
    assert kept.value.__traceback__ is not None
