"""A paid run and a page of one tab ask one engine of DuckDB at the same time: they take turns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.engines.duck import DuckDBEngine
from dpcore.engines.duck_source import DuckDBSource

KEY = b"k" * 32
ROWS = 400_000
SCHEMA = dp.Schema(
    columns=(dp.Integer("age", low=0, high=9), dp.Categorical("sex", categories=("F", "M"))),
    unit=dp.PrivacyUnit(max_rows=1),
)
LONG = 30
One, Other = TypeVar("One"), TypeVar("Other")


class Gone(Exception):
    """Nobody wants it any more."""


@pytest.fixture
def engine(tmp_path: Path) -> DuckDBEngine:
    """Of several batches of rows."""
    pytest.importorskip("duckdb")
    frame = pd.DataFrame({"age": np.arange(ROWS) % 10, "sex": ["F", "M"] * (ROWS // 2)})
    frame.to_parquet(tmp_path / "people.parquet")
    source = DuckDBSource(kind="parquet", location=str(tmp_path / "people.parquet"))
    return DuckDBEngine(source, SCHEMA, key=KEY)


@pytest.fixture
def curator(engine: DuckDBEngine) -> dp.Curator:
    return dp.Curator.open(
        engine, SCHEMA, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger(), identity="people"
    )


def paid(curator: dp.Curator) -> dp.Release:
    return curator.run(dp.Histogram("age"), dp.PureDP(epsilon="0.25"))


def states(curator: dp.Curator) -> list[str]:
    return [line.state for line in curator.lines()]


def counted(engine: DuckDBEngine) -> int:
    return int(engine.counts([("age",)])[0].values.sum())


def tupled(engine: DuckDBEngine) -> int:
    return int(engine.tuples(["age", "sex"]).rows.sum())


def sampled(engine: DuckDBEngine) -> int:
    return len(engine.sample(ROWS).frame)


def leave() -> None:
    raise Gone


def in_the_middle_of(
    first: Callable[[], One],
    second: Callable[[], Other],
    *,
    engine: DuckDBEngine,
    told: Callable[[], object] = lambda: None,
) -> tuple[One, Other]:
    """What both give, where the second one begins when the first one has read some rows and not all.

    The first one goes on when the second one waits or has ended.

    Args: told: what the second one calls while it waits.
    """
    here = threading.get_ident()
    begun, go_on = threading.Event(), threading.Event()

    def on_rows(rows: int) -> None:
        if threading.get_ident() == here:
            told()
            go_on.set()
        elif rows and not begun.is_set():
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
    engine: DuckDBEngine, curator: dp.Curator, ask: Callable[[DuckDBEngine], int]
) -> None:
    """The run would fail as if its source had changed, its charge be kept, and the page read nothing."""

    def asked() -> int | dp.ReadError:
        try:
            return ask(engine)
        except dp.ReadError as error:
            return error

    release, found = in_the_middle_of(lambda: paid(curator), asked, engine=engine)
    assert isinstance(release, dp.Release)
    assert found == ROWS
    assert states(curator) == ["opened", "reserved", "committed"]


def test_a_paid_run_begins_while_a_page_reads(engine: DuckDBEngine, curator: dp.Curator) -> None:
    """The run would fail, its charge be kept: its connection had an open result."""
    found, release = in_the_middle_of(lambda: counted(engine), lambda: paid(curator), engine=engine)
    assert found == ROWS
    assert isinstance(release, dp.Release)
    assert states(curator) == ["opened", "reserved", "committed"]


def test_a_click_ends_the_query_of_its_page_alone(engine: DuckDBEngine, curator: dp.Curator) -> None:
    """To interrupt the connection would end the query of the paid run."""
    clicked = threading.Event()
    connection = engine._connection

    class Slow:
        """The same connection; a query of tuples does not end before the click."""

        def __getattr__(self, name: str) -> Any:
            return getattr(connection, name)

        def sql(self, query: str) -> Any:
            if "GROUP BY ALL" in query:
                assert clicked.wait(LONG)
            return connection.sql(query)

    def click() -> None:
        clicked.set()
        raise Gone

    def asked() -> None:
        with pytest.raises(Gone):
            tupled(engine)

    engine._connection = Slow()
    release, _ = in_the_middle_of(lambda: paid(curator), asked, engine=engine, told=click)
    assert isinstance(release, dp.Release)
    assert states(curator) == ["opened", "reserved", "committed"]


@pytest.mark.parametrize("ask", [counted, tupled, sampled])
def test_whoever_waits_for_a_turn_can_leave(engine: DuckDBEngine, ask: Callable[[DuckDBEngine], int]) -> None:
    """A page would wait for the end of a run of an hour, and every click with it."""

    def asked() -> None:
        with pytest.raises(Gone):
            ask(engine)

    found, _ = in_the_middle_of(lambda: counted(engine), asked, engine=engine, told=leave)
    assert found == ROWS


def test_a_paid_run_that_waits_for_its_turn_can_be_stopped(engine: DuckDBEngine, curator: dp.Curator) -> None:
    """A run is stopped by its listener alone, wherever it is; what was charged stays so."""

    def asked() -> None:
        with pytest.raises(Gone):
            paid(curator)

    found, _ = in_the_middle_of(lambda: counted(engine), asked, engine=engine, told=leave)
    assert found == ROWS
    assert states(curator) == ["opened", "reserved", "failed"]


def test_a_pass_that_was_left_holds_up_nobody(engine: DuckDBEngine) -> None:
    """An error that is shown keeps all that was at work alive: the turn, and a result of DuckDB, must end."""
    left = threading.Event()
    connection = engine._connection

    class Slow:
        """The same connection; the first batch of a result is not there before somebody has left."""

        def sql(self, query: str) -> Slow:
            self.result = connection.sql(query)
            return self

        def to_arrow_reader(self, *rows: int) -> Any:
            reader = self.result.to_arrow_reader(*rows)
            assert left.wait(LONG)
            return reader

        def interrupt(self) -> None:
            """It comes too late."""

    def leave_for_good(rows: int) -> None:
        left.set()
        raise Gone

    going_on, engine._on_rows = engine._on_rows, leave_for_good
    engine._connection = Slow()
    with pytest.raises(Gone) as kept:
        counted(engine)
    engine._on_rows, engine._connection = going_on, connection
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(counted, engine).result(timeout=LONG) == ROWS
    assert kept.value.__traceback__ is not None
