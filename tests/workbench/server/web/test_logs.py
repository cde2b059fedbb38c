"""The log holds short lines of everything that writes to it, without values, ids and floods."""

from __future__ import annotations

import io
import logging
import re
import socket
import subprocess
import sys

import pytest

from tests.workbench.server.web.client import ROOT, Server, get, serving, wait_until
from workbench.server.web import logs
from workbench.server.web.requests import redact_path

SECRET = "Quetzalcoatl"
TOKEN = "t0ken" * 8 + "abc"


def _abort(server: Server, head: str) -> None:
    """Send the head of a request and one byte of its body, and leave."""
    with socket.create_connection(("127.0.0.1", server.port)) as stranger:
        stranger.sendall(
            f"{head}\r\nHost: {server.host}\r\nContent-Length: 90000\r\n\r\nx".encode()
        )


@pytest.mark.parametrize("number", [20, pytest.param(1_000, marks=pytest.mark.proof)])
def test_an_aborted_request_is_one_line(number: int) -> None:
    """A stranger fills the disk: each aborted post wrote 71 lines with paths of files, 64,000 in a minute."""
    with serving() as server:
        before = len(server.said().splitlines())
        for _ in range(number):
            _abort(server, f"POST /answer/{TOKEN} HTTP/1.1")
        assert get(server.host, "/healthz")[0] == 200
        # other requests of the minute are among its lines
        wanted = min(number, logs.MAX_LINES_PER_MINUTE - 20)
        wait_until(
            lambda: (
                len(re.findall("POST /answer/- (408|429)", server.said())) >= wanted
            ),
            "all of them are in the log",
        )
        lines = server.said().splitlines()[before:]
        assert wanted <= len(lines) <= max(number, 25)
        assert max(map(len, lines)) < 150
        assert "Traceback" not in server.said()
        assert TOKEN not in server.said()


FAULTS = f"""
import asyncio, logging, sys, threading, warnings
from workbench.server.web import logs

for name in ("uvicorn", "streamlit.late"):  # as both do, with handlers of their own
    logging.getLogger(name).addHandler(logging.StreamHandler())
    logging.getLogger(name).propagate = False
logging.getLogger("uvicorn.access").setLevel("INFO")
logs.set_up("info")
logging.getLogger("uvicorn.access").info("GET /share/{SECRET}")  # the requests are in a log of our own

def fail(*given):
    raise ValueError("{SECRET}")

class Lost:
    def __del__(self):
        fail()

async def lose():
    asyncio.get_running_loop().call_soon(fail, "{SECRET}")
    asyncio.create_task(asyncio.sleep(0)).add_done_callback(fail)
    await asyncio.sleep(0.01)

try:
    fail()
except ValueError as error:
    logging.getLogger("uvicorn.error").error("Exception in ASGI application\\n", exc_info=error)
    logging.getLogger("starlette").exception("Something failed: %s", error)
logging.getLogger("streamlit.late").warning(f"{SECRET} is strange")
logging.getLogger("workbench.x").warning("of session 01234567-89ab-cdef-0123-456789abcdef")
asyncio.run(lose())
warnings.warn("{SECRET}")
thread = threading.Thread(target=fail)
thread.start()
thread.join()
Lost()
fail()
"""


def test_whatever_writes_to_the_log_says_no_value() -> None:
    """Words of an exception, arguments of a callback or a warning of a library hold a cell of a table."""
    said = subprocess.run(
        [sys.executable, "-c", FAULTS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stderr
    assert SECRET not in said
    assert "0123" not in said.partition("of session")[2]
    ends = [re.sub(r":\d+", "", line.split(" ", 2)[2]) for line in said.splitlines()]
    assert ends == [
        "ERROR uvicorn.error: at <string> [ValueError]",
        "ERROR starlette: at <string> [ValueError]",
        "WARNING streamlit.late: at <string>",
        "WARNING workbench.x: of session -",
        "ERROR asyncio: at base_events [ValueError]",
        "ERROR asyncio: at base_events [ValueError]",
        "WARNING workbench.program: a library warns [UserWarning]",
        "ERROR workbench.program: a thread ended [ValueError]",
        "ERROR workbench.program: an error was lost [ValueError]",
        "CRITICAL workbench.program: the program ended [ValueError]",
    ]


def test_a_worker_writes_no_value() -> None:
    """A library that warns in a worker writes a cell of the table to the server's log."""
    script = (
        "from workbench.server.workers import process\n"
        "from tests.workbench.server.web.test_logs import warn\n"
        "process.run(warn)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    assert SECRET not in said
    assert "a library warns [UserWarning]" in said


def warn() -> None:
    """Warn with a value, as dateutil does of names of time zones."""
    import warnings

    warnings.warn(SECRET, stacklevel=1)


def test_a_flood_of_one_logger_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who sends many requests hides what the operator has to see, or fills the disk."""
    handler = logs._RateLimitedHandler()
    out = io.StringIO()
    handler.setStream(out)
    handler.setFormatter(logs._SafeFormatter())

    def say(name: str, minute: int) -> None:
        record = logging.LogRecord(name, logging.INFO, "", 0, "said", (), None)
        record.created = 60.0 * minute
        handler.emit(record)

    warned: list[str] = []
    monkeypatch.setattr(
        logs._log, "warning", lambda words, *given: warned.append(words % given)
    )
    for _ in range(logs.MAX_LINES_PER_MINUTE + 7):
        say("workbench.requests", 1)
    say("workbench.store", 1)
    assert len(out.getvalue().splitlines()) == logs.MAX_LINES_PER_MINUTE + 1
    assert "workbench.store: said" in out.getvalue()
    assert warned == [
        "too many lines of workbench.requests: no more of them in this minute"
    ]
    say("workbench.requests", 2)
    assert len(out.getvalue().splitlines()) == logs.MAX_LINES_PER_MINUTE + 2


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (f"/share/{TOKEN}", "/share/-"),
        (f"/bench/answer/{TOKEN}?x", "/bench/answer/-"),
        ("/answer/short", "/answer/-"),
        ("/answer/static/draw.js", "/answer/static/draw.js"),
        (f"/media/{TOKEN}?.csv", "/media/-?.csv"),
        (f"/media/{TOKEN}.csv", "/media/-.csv"),
        (
            "/_stcore/upload_file/01234567-89ab-cdef-0123-456789abcdef/1\n2",
            "/_stcore/upload_file/-/1?2",
        ),
    ],
)
def test_addresses_hold_no_id(path: str, shown: str) -> None:
    """An odd sign after an id left the id in the log."""
    assert redact_path(path) == shown
    assert not re.search(r"[^\x21-\x7e]", redact_path(path))
