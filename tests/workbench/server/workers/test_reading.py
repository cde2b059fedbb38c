"""Strangers' files are read within a size and a time; regular expressions are linear in
their text.
"""

from __future__ import annotations

import io
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from dpcore.errors import LimitError, ReadError, SchemaError
from dpcore.io import Limits
from dpcore.schema import Integer, PrivacyUnit, Schema, suggest_schema
from dpcore.tables.sketch import SketchedTable
from workbench.language.columns import join_parts, split_parts
from workbench.server.workers import process, reading
from workbench.server.workers.callbacks import cancelled_by

KEY = b"k" * 32


def test_what_is_read_is_what_the_library_reads() -> None:
    """The process would lose a type, a note or the fingerprint on the way."""
    from dpcore.curator import Curator
    from dpcore.io import read_table
    from dpcore.schema import suggest_schema
    from tests.contracts.ledger_kinds import MemoryLedger

    data = "age,name,when\n30,ä,2020-01-01\n40,,2021-01-01\n".encode()
    ledger = MemoryLedger()
    found = reading.read(data, "x.csv", key=ledger.key)
    expected = read_table(data, "x.csv")
    pd.testing.assert_frame_equal(found.table.frame, expected.frame)
    assert found.table.notes == expected.notes
    assert found.schema == suggest_schema(expected.frame)
    assert found.dataset == Curator.account_fingerprint(expected.frame, ledger)
    assert found.sketched == SketchedTable.from_frame(expected.frame, ledger.key)
    assert reading.read(data, "x.csv").dataset == ""


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"", ReadError, "the file is empty; choose"),
        (b"a,b\n1\n1,2\n", ReadError, "fewer fields than the header, which has 2"),
        (b"a\n" + b"x" * 10_001 + b"\n", LimitError, "10,000 characters"),
        (b"x\n" + b"\n".join(b"%d" % (i**5) for i in range(1)) + b"\n", None, ""),
        (b"a,b\n,\n,\n", ReadError, "the table has no rows"),
    ],
)
def test_refusals_keep_their_kind_and_words(
    data: bytes, error: type[Exception] | None, words: str
) -> None:
    """A refusal would come back without its remedy, or as another error."""
    if error is None:
        assert reading.read(data, "x.csv", key=KEY).schema is not None
        return
    with pytest.raises(error, match=words) as caught:
        reading.read(data, "x.csv", key=KEY)
    assert caught.type is error
    assert caught.value.remedy


def test_a_file_that_unpacks_to_more_memory_is_refused() -> None:
    """1 MB of Parquet took 1.1 GB of the server, 200 columns that share a page never
    ended.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    part = pa.table({"a": ["x" * 9_900] * 100, "b": range(100)})
    with pq.ParquetWriter(out, part.schema, compression="zstd") as writer:
        for _ in range(1_100):  # a gigabyte once it is spread
            writer.write_table(part)
    data = out.getvalue()
    assert len(data) < 2**20
    limits = Limits(bytes=2**33)  # as if the footer had lied
    own = _memory()
    with pytest.raises(
        LimitError,
        match=r"more than (900 MB of memory|30 seconds of computing)",
    ):  # whichever is first
        reading.read(data, "x.parquet", key=KEY, limits=limits)
    assert _memory() - own < 200 * 2**20


def _memory() -> int:
    """Bytes of this process, as the system counts them."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_reading_ends_when_its_tab_is_closed() -> None:
    """A file of commas would be read for 171 s for nobody."""
    data = (
        b",".join(b"c%d" % i for i in range(1000))
        + b"\n"
        + (b"," * 999 + b"\n") * 20_000
    )
    started = time.monotonic()
    with (
        pytest.raises(ReadError, match="was stopped"),
        cancelled_by(lambda: time.monotonic() - started > 1),
    ):
        reading.read(data, "x.csv", key=KEY)
    # a busy machine may need a while to start the process that is stopped
    assert time.monotonic() - started < 60


def test_waiting_is_no_computing() -> None:
    """A file of 10 MB was refused as too long to read because the machine was busy with
    something else.
    """
    with pytest.raises(process.WorkEnded) as ended:
        process.run(compute_for_ever, seconds=1)
    assert ended.value.kind == "time"
    # to import what waits is computing too
    assert process.run(wait, 5.0, seconds=4) == 5.0


@pytest.mark.proof
def test_a_busy_server_says_so() -> None:
    """Its owner would be told to leave out columns of a file that is small enough."""
    with pytest.raises(process.WorkEnded) as ended:
        process.run(wait, 60.0, seconds=1)
    assert ended.value.kind == "busy"
    error = reading._reading_error(ended.value)
    assert "server is busy" in str(error)
    assert "try again in a minute" in str(error)


def compute_for_ever() -> None:
    """Compute until the system ends it."""
    while True:
        sum(range(10_000))


def wait(seconds: float) -> float:
    """Wait, as a process does that gets no time."""
    time.sleep(seconds)
    return seconds


def test_who_waits_for_other_files_sees_the_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A bar that does not move for a minute says nothing of the twenty files that go
    first.
    """
    go_on = threading.Event()
    places = list[int]()
    monkeypatch.setattr(
        reading, "_run_limited", lambda *_, **__: (go_on.wait(300), None, "")
    )
    others = [
        threading.Thread(target=reading.read, args=(b"", "x.csv")) for _ in range(2)
    ]
    for each in others:
        each.start()
    while reading._FILE_QUEUE._running < 2:
        time.sleep(0.01)

    def see(place: int) -> None:
        places.append(place)
        go_on.set()

    reading.read(b"", "x.csv", on_place=see)
    assert places[0] == 1
    for each in others:
        each.join()


def test_a_reader_that_was_killed_is_started_again() -> None:
    """The system may end the waiting process; then no file could be read until the
    server is restarted.
    """
    process.start_ahead()
    children = [
        int(name)
        for name in os.listdir("/proc")
        if name.isdecimal()
        and _parent(int(name)) == os.getpid()
        and b"workbench.server.workers.child" in _command(int(name))
    ]
    assert children
    for child in children:
        os.kill(child, signal.SIGKILL)
    while any(_state(child) not in ("", "Z") for child in children):
        time.sleep(0.01)
    assert reading.read(b"a\n1\n2\n", "x.csv").table.frame.shape == (2, 1)


def _state(process: int) -> str:
    """The state of a process by the system's letter; empty once it is gone."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _parent(process: int) -> int:
    try:
        with open(f"/proc/{process}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _command(process: int) -> bytes:
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def test_others_work_while_a_file_is_read() -> None:
    """A file would hold the interpreter: another person's page waited for as long as it
    was read, 26 s.
    """
    data = b"a,b\n" + b"1,x y z\n" * 400_000
    longest = 0.0
    done = threading.Event()

    def work() -> None:
        nonlocal longest
        while not done.is_set():
            # computed by this process meanwhile: a busy machine is no failure
            started = time.process_time()
            time.sleep(0.01)
            longest = max(longest, time.process_time() - started)

    other = threading.Thread(target=work)
    other.start()
    began = time.monotonic()
    reading.read(data, "x.csv", key=KEY)
    took = time.monotonic() - began
    done.set()
    other.join()
    assert longest < took / 2


@pytest.mark.parametrize("text", ['" " ', ' a" ', '"" ', " ", '"|', '""|"a', "x  "])
def test_categories_are_split_in_a_time_that_grows_with_the_text_alone(
    text: str,
) -> None:
    """One 5.6 MB file of categories with blanks stalled everybody for minutes."""
    times = []
    for length in (20_000, 80_000):
        whole = "x" + text * length + "|y"
        tries = []
        for _ in range(3):
            started = time.process_time()
            split_parts(whole)
            tries.append(time.process_time() - started)
        times.append(min(tries))
    # four times the text; a square would take sixteen times
    assert times[1] < 12 * max(times[0], 0.002)


@pytest.mark.parametrize(
    "parts",
    [
        ("a", "b"),
        ("a|b", 'say "x"', " blank ", ""),
        ('"', '""', "|"),
        ("a b  c", "\u00a0x"),
        ('"a" b', "c"),
    ],
)
def test_split_gives_back_what_join_joined(parts: tuple[str, ...]) -> None:
    """A category would change on its way through the grid."""
    assert split_parts(join_parts(parts)) == parts


DEEP = b"[" * 100_000 + b"]" * 100_000
WIDE = Schema(
    columns=tuple(
        Integer(f"c{place}", low=0, high=9, bin_width=1) for place in range(1_001)
    ),
    unit=PrivacyUnit(max_rows=1),
).to_json()


@pytest.mark.parametrize(
    ("read", "data", "error", "words"),
    [
        (reading.read_codebook, DEEP, LimitError, "nested more than 20 levels deep"),
        (
            reading.read_codebook,
            b"[" * 21 + b"]" * 21,
            LimitError,
            "nested more than 20 levels deep",
        ),
        (reading.read_codebook, b"9" * 9_000, LimitError, "more than 100 digits"),
        (reading.read_codebook, b" " * 5_000_001, LimitError, "more than 5 MB"),
        (reading.read_codebook, WIDE.encode(), LimitError, "more than 1,000 columns"),
        (reading.read_codebook, b"[1, 2", ReadError, "another kind"),
        (reading.read_codebook, b'{"version": [2]}', SchemaError, "version"),
        (reading.read_plan, DEEP, LimitError, "nested more than 20 levels deep"),
        (reading.read_plan, b"[" + b"9" * 9_000 + b"]", LimitError, "100 digits"),
        (reading.read_plan, b"1," * 2_000_001, LimitError, "2,000,000 values"),
        (reading.read_plan, b" " * 20_000_001, LimitError, "more than 20 MB"),
        (reading.read_plan, b"[1]", ReadError, "another kind"),
        (reading.read_hierarchy, b"a;*\n" * 2_000_000, LimitError, "values"),
        (reading.read_hierarchy, b"a" * 20_000_001, LimitError, "more than 20 MB"),
        (reading.read_reports, DEEP, ReadError, "line 1 is not a report"),
        (reading.read_reports, b"\n" * 50_000_001, LimitError, "more than 50 MB"),
    ],
)
def test_files_of_facts_have_limits(
    read: Callable[[bytes], object], data: bytes, error: type[Exception], words: str
) -> None:
    """A steward's hostile file would stop the server, stay in its memory, or end in
    "something went wrong".
    """
    with pytest.raises(error, match=words):
        read(data)


def test_files_of_facts_are_what_the_library_reads() -> None:
    """A codebook, a plan, a hierarchy or a report would lose something on its way."""
    import dpcore.local as dl
    from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
    from dpcore.anonymization.models import KAnonymity
    from dpcore.anonymization.plan import Plan

    schema = suggest_schema(
        pd.DataFrame({"age": [*range(50)] * 2, "sex": ["F", "M"] * 50})
    )
    read = reading.read_codebook(schema.to_json().encode("utf-8-sig"))
    assert read.to_json() == schema.to_json()
    hierarchy = Hierarchy.from_csv("F;*\nM;*\n")
    assert reading.read_hierarchy(b"F;*\nM;*\n") == hierarchy
    plan = Plan(
        roles={"sex": "quasi-identifier"},
        hierarchies={"sex": hierarchy},
        models=(KAnonymity(k=2),),
    )
    assert reading.read_plan(plan.to_json().encode()) == plan
    question = dl.Question(
        text="Tea?", categories=("yes", "no"), protocol="randomized response", epsilon=1
    )
    reports = question.protocol.perturb(question.encode(["yes", "no", "yes"]))
    lines = dl.to_json_lines(question, reports)
    again, same = reading.read_reports(lines.encode())
    assert again == question
    assert same.tolist() == reports.tolist()


def test_small_files_leave_nothing_in_the_memory_of_the_server() -> None:
    """45 MB of lists took 1.1 GB of the server, and it kept them."""
    data = b"[" + b"[1]," * 1_200_000 + b"[1]]"
    before = _resident_bytes()
    with pytest.raises(ReadError, match="another kind"):
        reading.read_codebook(data)
    assert _resident_bytes() < before + 50 * 2**20


def _resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()
