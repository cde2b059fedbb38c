"""The way in to a server that opens files of its computer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from websockets.exceptions import InvalidStatus

from tests.workbench.server.web.client import Visitor, get, serving
from workbench.server.web.admission import COOKIE, Admission

PRINTED = re.compile(r"Open http://127\.0\.0\.1:\d+(/\?token=[\w-]{43})\n")


async def _page(_: object) -> PlainTextResponse:
    return PlainTextResponse("rows")


async def _stream(socket: object) -> None:
    await socket.accept()
    await socket.close()


@pytest.fixture
def app(capsys: pytest.CaptureFixture[str]) -> Admission:
    routes = [Route("/{path:path}", _page), WebSocketRoute("/_stcore/stream", _stream)]
    return Admission(Starlette(routes=routes))


def test_who_brings_a_printed_address_is_let_in(
    app: Admission, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everybody with an account on the computer would open the files of whoever started
    the server.
    """
    printed = PRINTED.search(capsys.readouterr().out)
    assert printed
    stranger = TestClient(app)
    owner = TestClient(app)
    for path in ("/", "/audit", "/?token=", "/?token=%C3%A4", "/?token=" + "a" * 43):
        assert (stranger.get(path).status_code, dict(stranger.cookies)) == (403, {})
    with (
        pytest.raises(WebSocketDisconnect),
        stranger.websocket_connect("/_stcore/stream" + printed[1][1:]),
    ):
        pass
    assert stranger.get("/healthz").text == "rows"
    assert owner.get(printed[1]).text == "rows"
    assert "token" not in str(owner.get("/audit").url)
    with owner.websocket_connect("/_stcore/stream"):
        pass
    forged = TestClient(app, cookies={COOKIE: "a" * 43})
    assert forged.get("/").status_code == 403


def test_an_address_is_good_once(
    app: Admission, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever reads it in a history would come in; or the owner's next browser would
    not.
    """
    first = PRINTED.search(capsys.readouterr().out)
    assert first
    assert TestClient(app).get(first[1]).status_code == 200
    assert TestClient(app).get(first[1]).status_code == 403
    second = PRINTED.search(capsys.readouterr().out)
    assert second
    assert TestClient(app).get(second[1]).status_code == 200


@pytest.mark.proof  # a server of its own
def test_the_server_opens_files_for_its_person_alone(tmp_path: Path) -> None:
    """The guard of files would stand beside the way that pages take."""
    (tmp_path / "large.csv").write_text("age\n" + "31\n" * 50)
    with serving(WORKBENCH_FILES=str(tmp_path)) as server:
        assert get(server.host, "/")[0] == 403
        with pytest.raises(InvalidStatus):
            Visitor(server.host)
        printed = PRINTED.search(server.said())
        assert printed
        _, headers, _ = get(server.host, printed[1])
        cookies = "; ".join(
            line.split(";")[0] for line in headers.get_all("Set-Cookie")
        )
        visitor = Visitor(server.host, visit=False, cookie=cookies).run()
        assert "large.csv" in str(visitor.received)
        assert server.said().count(printed[1]) == 1  # no log of requests repeats it
