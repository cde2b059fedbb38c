"""What the server answers under other names, in frames, and where it cannot start."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.workbench.server.web.client import (
    PATIENCE,
    ROOT,
    Server,
    Visitor,
    get,
    serving,
)
from workbench.server.web import focus

PUBLIC = "bench.streamlit.app"
FRAMED = {"Sec_Fetch_Dest": "iframe"}


@pytest.fixture(scope="module")
def public() -> Iterator[Server]:
    """A server with a public root under a path of its host, framed by pages of the same
    name.
    """
    with serving(
        WORKBENCH_ADDRESS=f"https://{PUBLIC}/~/+/",
        WORKBENCH_FRAMES="self",
        WORKBENCH_DEMO="1",
    ) as server:
        yield server


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/_stcore/health"])
@pytest.mark.parametrize("name", ["10.4.5.6:8501", "bench.example.org", "[::1]"])
def test_health_answers_under_any_name(server: Server, path: str, name: str) -> None:
    """The probe of a platform asks by number, and would have the server started anew
    for ever.
    """
    status, told, body = get(server.host, path, Host=name)
    assert (status, body.strip()) == (200, b"ok")
    if name != "[::1]":
        assert told["Set-Cookie"] is None
    for near in (
        f"{path}/x",
        f"/x{path}",
        "/_stcore/host-config",
        "/",
        f"/share/x{path}",
    ):
        assert get(server.host, near, Host="bench.example.org")[0] == 421


def test_a_foreign_name_gets_words(server: Server) -> None:
    """Whoever runs it would look at an empty page, also in the frame that a host puts
    around it.
    """
    for framed in ({}, {**FRAMED, "Sec_Fetch_Site": "cross-site"}):
        status, told, body = get(
            server.host, "/", Host="bench.example.org:8080", **framed
        )
        page = body.decode()
        assert status == 421
        assert "WORKBENCH_ADDRESS=&quot;http://bench.example.org:8080&quot;" in page
        assert told["X-Frame-Options"] is None
        assert "frame-ancestors *" in told["Content-Security-Policy"]
        assert told["Set-Cookie"] is None
        assert "<script" not in page
    encrypted = get(
        server.host, "/", Host="bench.example.org", X_Forwarded_Proto="https"
    )[2].decode()
    assert "WORKBENCH_ADDRESS=&quot;https://bench.example.org&quot;" in encrypted


def test_the_cloud_is_told_its_own_settings(server: Server) -> None:
    """With another root every link would open the first page, and the frame of the host
    stay empty.
    """
    page = get(server.host, "/", Host=PUBLIC)[2].decode()
    assert (
        f"WORKBENCH_ADDRESS = &quot;https://{PUBLIC}/~/+&quot;\nWORKBENCH_FRAMES = "
        "&quot;self&quot;"
    ) in page


def test_a_name_is_text(server: Server) -> None:
    """A page of our address would hold markup of a stranger."""
    page = get(server.host, "/", Host="<b>x</b>.example")[2].decode()
    assert "<b>" not in page
    assert "another name" in page


@pytest.mark.parametrize("path", ["/", "/synthesize", "/share/x", "/answer/x"])
@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", "none"])
def test_in_a_frame_there_are_words(server: Server, path: str, site: str) -> None:
    """Browsers show nothing of a page that refuses its frame; a page that does not
    lends its buttons out.
    """
    status, told, body = get(server.host, path, Sec_Fetch_Site=site, **FRAMED)
    assert status == 403
    assert b'<a href="" target="_blank" rel="noopener">Open in its own tab</a>' in body
    assert b"root" not in body
    assert told["X-Frame-Options"] is None


@pytest.mark.parametrize(
    "path", ["/", "/share/x", "/answer/x", "/answer/static/draw.js"]
)
def test_a_frame_of_the_same_site(public: Server, path: str) -> None:
    """A host that shows the app within a page of the same name would show nothing; any
    other page might.
    """
    ask = {"Host": PUBLIC, **FRAMED}
    status, told, body = get(public.host, path, Sec_Fetch_Site="same-origin", **ask)
    assert status != 403
    assert b"Open in its own tab" not in body
    assert told["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in told["Content-Security-Policy"]
    for site in ("cross-site", "same-site", "none"):
        assert get(public.host, path, Sec_Fetch_Site=site, **ask)[0] == 403
    # a browser that does not say which site
    assert get(public.host, path, **ask)[0] == 403


def test_a_proxy_may_ask_by_another_name(public: Server) -> None:
    """Behind a proxy that names the server otherwise pages would stay empty; other
    sites are kept out.
    """
    visitor = Visitor(public.host, origin=f"https://{PUBLIC}").run()
    assert "This is a demo" in visitor.text()
    assert get(public.host, "/", Origin=f"https://{PUBLIC}")[0] == 200
    for origin in ("https://evil.example", f"https://{PUBLIC}.evil.example", "null"):
        assert get(public.host, "/", Origin=origin)[0] == 403


def test_pages_without_the_guard_open_nothing() -> None:
    """The script of the pages, run alone, would hand tables to every site that reaches
    this computer.
    """
    for script in ("workbench/navigation.py", "pages/upload.py"):
        with serving(script) as plain:
            visitor = Visitor(plain.host).run()
            assert "Nothing guards these pages" in visitor.text()
            assert not visitor.elements("file_uploader")
            assert not visitor.elements("button")


def _ends(*options: str, **settings: str) -> str:
    """Start a server that cannot start; return what it says."""
    environment = {
        name: value for name, value in os.environ.items() if name != "DATABASE_URL"
    }
    ended = subprocess.run(
        [sys.executable, "-m", "streamlit", "run", "app.py", *options],
        cwd=ROOT,
        env={**environment, **settings},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr + ended.stdout
    return ended.stderr + ended.stdout


FREE = ("--server.port", "0")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WORKBENCH_ADDRESS", "bench.example.org"),
        ("WORKBENCH_ADDRESS", "https://user:pw@bench.example.org"),
        ("WORKBENCH_ADDRESS", "https://bench.example.org/?a=1"),
        ("WORKBENCH_FRAMES", "all"),
        ("WORKBENCH_DEMO", "yes"),
    ],
)
def test_a_setting_that_cannot_be_used(name: str, value: str) -> None:
    """Links would lead nowhere, or the pages be open to frames, until somebody
    complains.
    """
    said = _ends(*FREE, **{name: value})
    assert f"The server cannot start: {name} must be of the form" in said
    assert value not in said


def test_a_data_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """The first page would say that the ledger is out of reach, and nobody which
    folder.
    """
    (tmp_path / "file").touch()
    said = _ends(*FREE, WORKBENCH_DATA_DIR=str(tmp_path / "file"))
    assert f"cannot write to the data folder {tmp_path / 'file'}" in said
    assert "WORKBENCH_DATA_DIR" in said


def test_a_port_in_use(tmp_path: Path) -> None:
    """Streamlit would take the next port, and the address that README names show
    another program.
    """
    with closing(socket.socket()) as taken:
        # what another server has just left is not in use
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):  # somebody else has it: that will do too
            taken.bind(("127.0.0.1", 8501))
            taken.listen()
        said = _ends(WORKBENCH_DATA_DIR=str(tmp_path))
    assert "The server cannot start: port 8501 is in use" in said
    assert "make app PORT=8502" in said


@pytest.mark.parametrize("path", ["/", "/synthesize", "/links?data=1"])
def test_every_page_has_our_style_and_language(server: Server, path: str) -> None:
    """A page that was opened directly came compressed: checkbox sentences were cut, and
    a screen reader took German for English.
    """
    status, told, body = get(
        server.host,
        path,
        Accept_Encoding="gzip, deflate, br",
        Accept_Language="de",
        Accept="text/html",
    )
    assert status == 200
    assert told["Content-Encoding"] is None
    assert int(told["Content-Length"]) == len(body)
    assert b'<html lang="de"' in body
    assert focus.PAGE_STYLE in body
    assert body.count(focus.SCRIPT) == 1
