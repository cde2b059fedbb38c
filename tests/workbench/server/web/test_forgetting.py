"""What a tab sends lies in no file, and leaves the memory; the tab says so."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.workbench.server.web.client import Server, Visitor, serving, wait_until
from tests.workbench.server.web.memory import canaries, readable


def test_an_upload_is_in_no_temporary_file(server: Server) -> None:
    """Files over 1 MB lay in an unlinked temporary file, while the page said that
    nothing is written.
    """
    visitor = Visitor(server.host).run()
    visitor.put(
        f"/_stcore/upload_file/{visitor.session}/big",
        b"age,sex\n" + b"30,F\n" * 500_000,
        "x.csv",
    )
    handles = Path(f"/proc/{server.process.pid}/fd").iterdir()
    targets = [os.readlink(handle) for handle in handles if handle.is_symlink()]
    assert not [target for target in targets if "(deleted)" in target], targets


def test_small_objects_are_handed_out_by_the_c_library(server: Server) -> None:
    """Pages of Python's own allocator stayed while one object lived there, and the
    server grew for hours.
    """
    settings = Path(f"/proc/{server.process.pid}/environ").read_bytes().split(b"\0")
    assert b"PYTHONMALLOC=malloc" in settings
    # without the setting it starts itself anew, once
    wait_until(
        lambda: server.said().count("You can now view") >= 2, "it has started anew"
    )
    assert server.said().count("You can now view") == 2


MAY_BE_LEFT = 60
"""Of 3,000 values, in ends of memory that other objects use by now; 0 to 26 were
seen.
"""


def _table(values: list[bytes]) -> bytes:
    rows = (
        b"%d,%s,%s" % (20 + i % 50, b"FM"[i % 2 : i % 2 + 1], each)
        for i, each in enumerate(values)
    )
    return b"\n".join([b"age,sex,note", *rows])


def _opened(server: Server, values: list[bytes]) -> Visitor:
    """A tab that opened a table with these values, and looked at the audit."""
    visitor = Visitor(server.host).run()
    visitor.upload(_table(values))
    if any(each.label.startswith("All of this") for each in visitor.elements("button")):
        visitor.press("All of this")
    return visitor.press("Open the data set").go("audit")


def _left(
    server: Server,
    values: list[bytes],
    *,
    at_most: int,
    ended: int,
    seconds: float = 300,
) -> int:
    """How many values can be read once no more than `at_most` can, or the time is over.

    Args:
        ended: how often the log says by then that tabs ended; to look at all of the
            memory is dear.
    """
    end = time.monotonic() + seconds
    while (
        server.said().count(" closed tabs ended, ") < ended and time.monotonic() < end
    ):
        time.sleep(0.2)
    while (
        left := readable(server.process.pid, values)
    ) > at_most and time.monotonic() < end:
        time.sleep(2)
    return left


@pytest.mark.proof
def test_rows_are_gone_from_the_memory_of_an_idle_server() -> None:
    """All 3,000 of 3,000 values were readable for as long as nobody else came, closed
    tab or not.

    Two in a hundred may be left in ends of memory that other objects use.
    """
    first = canaries(3_000)
    second = canaries(3_000)
    with serving(
        STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="3",
        # as long as a slow machine needs for a page and for a look at all of the memory
        WORKBENCH_IDLE_MINUTES="1",
    ) as server:
        closed = _opened(server, first)
        assert readable(server.process.pid, first) > 2_900  # the look itself works
        closed.close()
        assert _left(server, first, at_most=MAY_BE_LEFT, ended=1) <= MAY_BE_LEFT
        idle = _opened(server, second)
        assert readable(server.process.pid, second) > 2_900
        assert _left(server, second, at_most=MAY_BE_LEFT, ended=2) <= MAY_BE_LEFT
        said = idle.run().text()
        assert "This tab was idle for a while, so the rows of people" in said
        assert "Open the same table again" in said
        assert "What others may know" not in said  # no table is open
        assert "removed from memory" not in idle.press("Understood").text()
        log = server.said()
        assert "canary" not in log
        assert "people.csv" not in log
        assert "workbench.work: a file of" in log
        assert "line 0: opened" in log
        assert "What others may know" in _again(idle, second).go("audit").text()


def _again(visitor: Visitor, values: list[bytes]) -> Visitor:
    """The way back: the same table in the same tab."""
    visitor.go("")
    visitor.upload(_table(values))
    return visitor.press("Open the data set")


def test_a_tab_that_lost_its_server_says_so(server: Server) -> None:
    """After a restart, or a long time away, the tab became an empty first page without
    a word.
    """
    first = Visitor(server.host).run()
    assert "This tab lost its connection to the server" not in first.text()
    cookie = first.cookie
    first.close()
    # in time: nothing happened
    back = Visitor(server.host, session=first.session, cookie=cookie).run()
    assert "This tab lost its connection to the server" not in back.text()
    late = Visitor(
        server.host, session="00000000-0000-0000-0000-000000000000", cookie=cookie
    ).run()
    assert (
        "This tab lost its connection to the server: the server was restarted"
        in late.text()
    )
    # it runs without a click
    assert [each for each in late.received if each.HasField("auto_rerun")]
    assert (
        "This tab lost its connection to the server: the server was restarted"
        in late.again().text()
    )
    assert "Open the same table again to continue" in late.text()
    assert (
        "This tab lost its connection to the server"
        not in late.press("Understood").text()
    )
