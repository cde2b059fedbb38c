"""nginx as deploy/ configures it, before real servers: what a deployment of the review
exposed or broke.
"""

from __future__ import annotations

import http.client
import re
import signal
import ssl
import subprocess
from pathlib import Path

import pytest
from websockets.sync.client import connect

from tests import needs
from tests.deploy.certificate import write_certificate
from tests.deploy.proxy import NGINX, ROOT, proxy
from tests.workbench.server.web.client import (
    PATIENCE,
    Server,
    Visitor,
    get,
    serving,
)

pytestmark = pytest.mark.skipif(NGINX is None, reason=needs.NGINX)
MB = 2**20


def test_uploads_of_the_allowed_size_pass(server: Server, tmp_path: Path) -> None:
    """With nginx's own limit of 1 MB every real table ends in "AxiosError 413"."""
    with proxy(tmp_path, server.host) as host:
        visitor = Visitor(host).run()
        path = f"/_stcore/upload_file/{visitor.session}/1"
        assert visitor.put(path, b"x" * (49 * MB), "x.csv") == 204
        assert visitor.put(path, b"x" * (53 * MB), "x.csv") == 413
        assert not any((tmp_path / "body").iterdir())
    log = (tmp_path / "access").read_text()
    assert " PUT 204 " in log
    for secret in (
        visitor.session,
        visitor.cookies["workbench_visitor"],
        "upload_file",
    ):
        assert secret not in log + (tmp_path / "error").read_text()


@pytest.mark.proof
def test_two_servers_keep_each_browser(server: Server, tmp_path: Path) -> None:
    """Behind round robin 3 of 8 uploads were lost: the session is at the other
    server.
    """
    with serving() as other, proxy(tmp_path, server.host, other.host) as host:
        visitors = [Visitor(host).run() for _ in range(8)]
        assert [visitor.upload(b"age\n1\n2\n") for visitor in visitors] == [204] * 8
        for each in (server, other):
            assert "PUT /_stcore/upload_file/-/- 204" in each.said()
        _a_server_that_is_stopped_ends_in_order(other)


def _a_server_that_is_stopped_ends_in_order(server: Server) -> None:
    """Every restart would wait until the system kills the server, and with it a run
    that has paid.
    """
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(PATIENCE)
    assert "the server stops" in server.said()
    assert "Traceback" not in server.said()


def test_closed_addresses(server: Server, tmp_path: Path) -> None:
    """Strangers would read how much is uploaded, and drive the pages without a
    browser.
    """
    with proxy(tmp_path, server.host) as host:
        for path in (
            "/_stcore/metrics",
            "/_stcore/agent/x",
            "/_stcore//metrics",
            "/x/../_stcore/metrics",
        ):
            assert get(host, path)[0] in (400, 404), path
        assert get(host, "/", Host="evil.example")[0] == 421
        assert get(host, "/healthz")[0] == 200
        assert "nginx/" not in str(get(host, "/")[1])


@pytest.mark.proof
def test_a_path_below_the_name(tmp_path: Path) -> None:
    """Under a path of a shared name pages, uploads and answer links would go astray."""
    with (
        serving(STREAMLIT_SERVER_BASE_URL_PATH="bench") as below,
        proxy(tmp_path, below.host, path="/bench/") as host,
    ):
        visitor = Visitor(host, base="/bench").run()
        assert visitor.upload(b"age\n1\n2\n") == 204
        assert get(host, "/bench/")[0] == 200
        status, _, page = get(host, "/bench/answer/nothing")
        assert (status, b"This link does not work" in page) == (404, True)
        assert get(host, "/bench/answer/static/answer.css")[0] == 200
        assert get(host, "/answer/nothing")[0] == 404
        assert get(host, "/bench/_stcore/metrics")[0] == 404


def test_the_file_as_it_is_needs_the_version_that_the_page_names(
    tmp_path: Path,
) -> None:
    """An older nginx would not start, or a newer one refuse the line that is replaced
    in all other tests.
    """
    assert NGINX
    write_certificate(tmp_path, "127.0.0.1")
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    own = text.replace("/tmp/", f"{tmp_path}/").replace(
        "/etc/nginx/tls/", f"{tmp_path}/"
    )
    (tmp_path / "nginx.conf").write_text(own, encoding="utf-8")
    command = [
        NGINX,
        "-t",
        "-c",
        str(tmp_path / "nginx.conf"),
        "-e",
        str(tmp_path / "error"),
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    version = subprocess.run(
        [NGINX, "-v"], capture_output=True, text=True, check=True
    ).stderr
    is_new = tuple(map(int, re.findall(r"(\d+)\.(\d+)\.(\d+)", version)[0])) >= (
        1,
        27,
        3,
    )
    assert ("test is successful" if is_new else 'invalid parameter "resolve"') in said
    assert "since 1.27.3" in (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")


def test_over_an_encrypted_connection(server: Server, tmp_path: Path) -> None:
    """Cookies would leave the browser by a plain connection, and the websocket not
    open.
    """
    write_certificate(tmp_path, "127.0.0.1")
    trusted = ssl.create_default_context(cafile=str(tmp_path / "fullchain.pem"))
    with proxy(tmp_path, server.host, tls=True) as host:
        connection = http.client.HTTPSConnection(
            *host.split(":"), context=trusted, timeout=PATIENCE
        )
        cookies: list[str] = []
        for path in ("/", "/_stcore/health"):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            cookies += answer.headers.get_all("Set-Cookie") or []
            assert answer.headers["Strict-Transport-Security"]
            assert answer.headers["X-Frame-Options"] == "DENY"
        connection.close()
        assert {cookie.partition("=")[0] for cookie in cookies} == {
            "workbench_visitor",
            "_streamlit_xsrf",
        }
        assert all(cookie.lower().count("; secure") == 1 for cookie in cookies), cookies
        with connect(
            f"wss://{host}/_stcore/stream",
            ssl=trusted,
            origin=f"https://{host}",
            subprotocols=["streamlit", "none"],
            additional_headers={
                "Cookie": "; ".join(each.split(";")[0] for each in cookies)
            },
            proxy=None,
        ) as stream:
            assert stream.subprotocol == "streamlit"
