"""What a tab held is gone when its time is over, also on a server that nobody visits; uploads when read."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from tests.workbench.web.client import Server, Visitor, get, serving

ROWS = 3_000
_CANARY = b"Xolotl"


def _table(mark: str) -> bytes:
    """Every row has a note of its own, which is in no schema, and a word that is a category."""
    rows = (f"{20 + i % 50},{'FM'[i % 2]},Xolotl-{mark}-{i}-{i * 7919}" for i in range(ROWS))
    return "\n".join(["age,sex,note", *rows]).encode()


def _copies(server: Server, pattern: bytes) -> int:
    """How many different values of the table stand in the memory of the server."""
    found: set[bytes] = set()
    maps = Path(f"/proc/{server.process.pid}/maps").read_text().splitlines()
    with open(f"/proc/{server.process.pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            bounds, rights = line.split()[:2]
            if not rights.startswith("rw"):
                continue
            start, end = (int(each, 16) for each in bounds.split("-"))
            try:
                memory.seek(start)
                found.update(re.findall(pattern, memory.read(end - start)))
            except (OSError, OverflowError):
                continue
    return len(found)


def test_a_closed_tab_is_forgotten_on_an_idle_server() -> None:
    """The rows of a closed tab stayed readable in the memory of an idle server, without an end."""
    with serving(STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="2") as server:
        pattern = rb"Xolotl-row-\d+-\d+"
        visitor = Visitor(server.host).run()
        visitor.upload(_table("row"))
        labels = [each.label for each in visitor.elements("button")]
        if any(label.startswith("All of this") for label in labels):
            visitor.press("All of this")
        visitor.press("Open the data set")
        assert _copies(server, pattern) >= ROWS
        visitor.close()
        end = time.monotonic() + 60
        while (left := _copies(server, pattern)) > ROWS // 100 and time.monotonic() < end:
            time.sleep(1)
        assert left <= ROWS // 100
        assert get(server.host, "/healthz")[0] == 200


def test_a_refused_file_is_forgotten_at_once(server: Server) -> None:
    """A file that was refused stayed in memory for as long as its tab was open; 12 of them were 515 MB."""
    visitor = Visitor(server.host).run()
    visitor.upload(_table("refused") + b"\n1,2")
    assert "fewer fields" in visitor.text()
    visitor.run()
    end = time.monotonic() + 30  # given back every five seconds
    while (left := _copies(server, rb"Xolotl-refused-\d+-\d+")) > ROWS // 10 and time.monotonic() < end:
        time.sleep(1)
    assert left <= ROWS // 10
    assert os.path.exists(f"/proc/{server.process.pid}")


def test_an_upload_is_in_no_temporary_file(server: Server) -> None:
    """Files over 1 MB lay in an unlinked temporary file, while the page said that nothing is written."""
    visitor = Visitor(server.host).run()
    visitor.put(f"/_stcore/upload_file/{visitor.session}/big", _table("disk") * 30, "x.csv")
    handles = Path(f"/proc/{server.process.pid}/fd").iterdir()
    targets = [os.readlink(handle) for handle in handles if handle.is_symlink()]
    assert not [target for target in targets if "(deleted)" in target], targets
