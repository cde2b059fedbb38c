"""A server that is killed in the middle of long work on a source that does not fit into
memory.
"""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.needs import need_spark
from tests.workbench.server.web.client import Server, Visitor, serving, wait_until

pytestmark = pytest.mark.proof
WAIT = 600
"""Seconds in which a slow machine passes over the source, or writes it."""
WRITE = "Write a table of any size"
ROWS = 4_000_000


def states(folder: Path) -> list[str]:
    """States of the lines of the paid run, and how many releases are stored."""
    with sqlite3.connect(folder / "workbench.sqlite", timeout=60) as database:
        of_runs = (
            "SELECT state FROM ledger_lines WHERE state IN ('reserved', 'failed', "
            "'committed') ORDER BY at"
        )
        stored = database.execute("SELECT count(*) FROM ledger_releases").fetchone()[0]
        return [*(state for (state,) in database.execute(of_runs)), f"{stored} stored"]


def lease(folder: Path, renewed: str) -> None:
    """Change when the lease of the run was renewed."""
    with sqlite3.connect(folder / "workbench.sqlite", timeout=60) as database:
        database.execute(f"UPDATE ledger_running SET renewed = {renewed}")


def descendants(process: int) -> set[int]:
    """All processes that came from one."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            fields = status.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                parents[int(status.parent.name)] = int(fields[1])
    children = {process}
    while (
        more := {each for each, parent in parents.items() if parent in children}
        - children
    ):
        children |= more
    return children


def words(visitor: Visitor) -> str:
    """What the page says."""
    kinds = ("markdown", "alert")
    return "\n".join(each.body for kind in kinds for each in visitor.elements(kind))


def opened(server: Server) -> Visitor:
    """A tab in which the source is open."""
    visitor = Visitor(server.host).run().press("Show its first rows", seconds=WAIT)
    return visitor.press("Open the data set", seconds=WAIT)


@contextmanager
def to_be_killed(folder: Path, **settings: str) -> Iterator[Server]:
    """A server with the source, which is killed at the end of the block and leaves no
    process behind.
    """
    with serving(WORKBENCH_DATA_DIR=str(folder / "var"), **settings) as server:
        yield server
        family = descendants(server.process.pid)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        wait_until(
            lambda: not any(Path(f"/proc/{each}/stat").exists() for each in family),
            "all of its processes are gone",
        )


@pytest.mark.parametrize("kind", ["parquet", "spark"])
def test_a_server_that_is_killed_in_a_pass_over_a_source(
    tmp_path: Path, kind: str
) -> None:
    """A charge would come twice or be held for ever, or half a release or folder pass
    for a whole one.
    """
    if kind == "spark":
        need_spark()
    place = tmp_path / "rows"
    out = tmp_path / "out"
    place.mkdir()
    rng = np.random.default_rng(1)
    columns = {"age": rng.integers(0, 90, ROWS), "sex": rng.choice(["F", "M"], ROWS)}
    pd.DataFrame(columns).to_parquet(place / "a.parquet", row_group_size=50_000)
    listed = f'[[source]]\nname = "Visits"\nkind = "{kind}"\nlocation = "{place}"\n'
    (tmp_path / "sources.toml").write_text(listed)
    settings = {
        "WORKBENCH_SOURCES": str(tmp_path / "sources.toml"),
        "WORKBENCH_OUTPUT": str(out),
    }
    with to_be_killed(tmp_path, **settings) as server:
        writing = opened(server).go("anonymize")
        paying = opened(server).go("synthesize").press("Release for", seconds=WAIT)
        _begin(writing, WRITE)
        wait_until(lambda: [*out.glob(".*.unfinished")], "it writes", WAIT)
        _begin(paying, "Pay and release")
        wait_until(
            lambda: states(tmp_path / "var") == ["reserved", "0 stored"],
            "it is reserved",
        )
    assert not [each for each in out.iterdir() if not each.name.startswith(".")]
    # however long the machine takes to start a server
    lease(tmp_path / "var", "renewed + 1000000")
    with serving(WORKBENCH_DATA_DIR=str(tmp_path / "var"), **settings) as server:
        visitor = Visitor(server.host).run().press("Continue with Visits").go("ledger")
        assert "In progress: Histogram" in words(visitor)
        assert "reserved 16.67" in visitor.text()
        lease(tmp_path / "var", "0")  # a minute later
        wait_until(lambda: "failed" in states(tmp_path / "var"), "it has failed")
        assert "In progress: Histogram" not in words(visitor.run())
        assert "spent 16.67" in visitor.text()
        assert states(tmp_path / "var") == ["reserved", "failed", "0 stored"]
        visitor = opened(server).go("anonymize").press(WRITE, seconds=WAIT)
        assert f"{ROWS:,} rows are in the folder" in words(visitor)
        (whole,) = (each for each in out.iterdir() if not each.name.startswith("."))
        assert pq.read_table(whole).num_rows == ROWS


def _begin(visitor: Visitor, label: str) -> None:
    """Press a button whose work nobody waits for."""
    button = next(
        each for each in visitor.elements("button") if each.label.startswith(label)
    )
    message = BackMsg()
    message.rerun_script.page_script_hash = visitor.page
    message.rerun_script.query_string = visitor.query
    message.rerun_script.widget_states.widgets.append(
        WidgetState(id=button.id, trigger_value=True)
    )
    visitor.send(message)
