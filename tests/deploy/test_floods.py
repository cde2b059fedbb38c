"""One address that keeps open what it can shuts nobody else out, behind nginx and at
the server itself.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import selectors
import socket
import threading
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import dpcore.local as dl
from tests import needs
from tests.deploy.proxy import NGINX, proxy
from tests.workbench.server.web.client import PATIENCE, Server, serving, wait_until
from workbench.server.web import limits
from workbench.store.database.store import Store
from workbench.store.links.surveys import Surveys
from workbench.store.settings import Settings

ATTACKER = "127.0.0.66"
OTHER = "127.0.0.7"
CLASS = "127.0.0.8"
"""Addresses of this computer, of which each is a visitor of its own."""
HEADERS = (
    "GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: "
    "http://{host}\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
    "AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    "Sec-WebSocket-Protocol: streamlit, none\r\nCookie: "
    f"workbench_visitor={'x' * 43}\r\n\r\n"
)
BODY = "POST /answer/AAAA HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100000\r\n\r\nx"
UPLOAD = (
    "PUT /_stcore/upload_file/a/b HTTP/1.1\r\nHost: {host}\r\nContent-Length: "
    "40000000\r\n\r\nx"
)
HALF = "GET /healthz HTTP/1.1\r\nHost: {host}\r\n"


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server and its proxy."""
    if NGINX is None:
        pytest.skip(needs.NGINX)
    with (
        serving() as server,
        proxy(tmp_path_factory.mktemp("nginx"), server.host) as host,
    ):
        yield server, host


def status(
    host: str, path: str, source: str, body: bytes | None = None, **headers: str
) -> int:
    """The status that an address gets."""
    name, port = host.split(":")
    connection = http.client.HTTPConnection(
        name, int(port), timeout=PATIENCE, source_address=(source, 0)
    )
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST" if body else "GET", path, body=body, headers=named)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def begin(host: str, words: str) -> socket.socket:
    """Open a connection of the attacker that has sent these words."""
    name, port = host.split(":")
    opened = socket.create_connection(
        (name, int(port)), timeout=PATIENCE, source_address=(ATTACKER, 0)
    )
    opened.sendall(words.format(host=host).encode())
    return opened


@contextmanager
def held(host: str, words: str, number: int) -> Iterator[list[socket.socket]]:
    """Open so many such connections, until the block ends."""
    with ExitStack() as stack:
        yield [stack.enter_context(begin(host, words)) for _ in range(number)]


def answered(opened: list[socket.socket], number: int) -> list[socket.socket]:
    """Those connections that have an answer, once so many have; whichever the server
    read last.
    """
    with selectors.DefaultSelector() as waiting:
        for one in opened:
            waiting.register(one, selectors.EVENT_READ)
        wait_until(lambda: len(waiting.select(0)) >= number, f"{number} have an answer")
        return [key.fileobj for key, _ in waiting.select(0)]  # type: ignore[misc]


@contextmanager
def kept_up(host: str, words: str, number: int) -> Iterator[None]:
    """Keep so many open, and open a new one for each that is refused, until the block
    ends.
    """
    over = threading.Event()
    full = threading.Event()

    def attack() -> None:
        opened = selectors.DefaultSelector()
        while not over.is_set():
            answered = [key.fileobj for key, _ in opened.select(0)]
            for one in answered:
                opened.unregister(one)
                one.close()  # type: ignore[union-attr]
            with contextlib.suppress(OSError):
                opened.register(begin(host, words), selectors.EVENT_READ)
            if len(opened.get_map()) >= number or answered:
                full.set()
                over.wait(0.01)
        for key in [*opened.get_map().values()]:
            key.fileobj.close()  # type: ignore[union-attr]

    attacker = threading.Thread(target=attack)
    attacker.start()
    try:
        assert full.wait(PATIENCE)
        yield
    finally:
        over.set()
        attacker.join()


@pytest.mark.proof
@pytest.mark.parametrize(
    "words", [BODY, UPLOAD, HALF], ids=["bodies", "uploads", "headers"]
)
def test_600_slow_requests_shut_nobody_out(
    behind: tuple[Server, str], words: str
) -> None:
    """520 posts that never end kept everybody else out for as long as their sender
    wished.
    """
    server, host = behind
    for each in (host, server.host):
        with kept_up(each, words, 600):
            assert [status(each, "/healthz", OTHER) for _ in range(5)] == [200] * 5
            assert status(each, "/", OTHER) == 200
            assert status(each, "/answer/AAAA", OTHER, b"x") == 404


@pytest.mark.proof
def test_1000_websockets_shut_nobody_out(behind: tuple[Server, str]) -> None:
    """The 511th websocket of anybody was reset: one address had taken all connections
    of the proxy.
    """
    server, host = behind
    for each in (host, server.host):
        with held(each, HEADERS, 1_000) as opened:
            got = Counter(one.recv(12).split()[1] for one in opened)
            assert got == {
                b"101": limits.MAX_TABS_PER_ADDRESS,
                b"429": 1_000 - limits.MAX_TABS_PER_ADDRESS,
            }
            assert status(each, "/healthz", OTHER) == 200
            name, port = each.split(":")
            with socket.create_connection(
                (name, int(port)), timeout=PATIENCE, source_address=(OTHER, 0)
            ) as other:
                other.sendall(HEADERS.format(host=each).encode())
                assert other.recv(12).split()[1] == b"101"


def test_the_server_limits_unfinished_bodies(server: Server) -> None:
    """Without a proxy, or past its limits, bodies that never end fill the server."""
    with held(server.host, BODY, limits.MAX_BODIES_PER_ADDRESS + 20) as opened:
        assert [one.recv(12).split()[1] for one in answered(opened, 20)] == [
            b"429"
        ] * 20
        assert status(server.host, "/answer/AAAA", OTHER, b"x") == 404


@pytest.mark.proof
def test_a_class_behind_one_address_answers(behind: tuple[Server, str]) -> None:
    """A limit against floods would shut out a school, whose telephones all come from
    one address.
    """
    server, host = behind
    surveys = Surveys(Store(Settings(data_dir=server.folder / "var")))
    question = dl.Question(
        text="Smoke?", categories=["yes", "no"], protocol="optimized unary", epsilon="1"
    )
    key, tokens = surveys.make(question, people=200, days=1)

    def answer(token: str) -> list[int]:
        plain = question.protocol.to_plain(question.protocol.perturb([0]))[0]
        body = json.dumps(
            {"protocol": question.protocol.kind, "epsilon": "1", "report": plain}
        ).encode()
        files = ("draw.js", "answer.js", "answer.css")
        return [
            status(host, f"/answer/{token}", CLASS),
            *(status(host, f"/answer/static/{name}", CLASS) for name in files),
            status(host, f"/answer/{token}", CLASS, body),
        ]

    with ThreadPoolExecutor(200) as phones:
        assert list(phones.map(answer, tokens)) == [[200] * 5] * 200
    survey = surveys.survey_of(key)
    assert survey is not None
    assert survey.answered == 200


@pytest.mark.proof
def test_a_class_behind_one_address_opens_the_pages(behind: tuple[Server, str]) -> None:
    """Pages would stay empty in a classroom, where each browser takes six files at
    once.
    """
    _, host = behind
    page = urllib.request.urlopen(f"http://{host}/").read().decode()
    script = "/" + re.findall(r'src="\./(static/js/index[^"]*)"', page)[0]
    with ThreadPoolExecutor(600) as browsers:
        assert Counter(
            browsers.map(lambda _: status(host, script, CLASS), range(1_200))
        ) == {200: 1_200}


def test_a_forwarded_address_counts_from_the_proxy_alone(
    server: Server, tmp_path: Path
) -> None:
    """Who invents an address for every request would be limited by nothing."""

    def flood(host: str, source: str) -> Counter[int]:
        return Counter(
            status(
                host,
                "/share/x",
                source,
                X_Forwarded_For=f"10.0.{number // 200}.{number % 200}",
            )
            for number in range(250)
        )

    assert flood(server.host, "127.0.0.9")[429] > 0
    if NGINX is not None:
        with proxy(tmp_path, server.host) as host:
            assert flood(host, "127.0.0.10")[429] > 0
            assert status(host, "/share/x", "127.0.0.11") == 404
