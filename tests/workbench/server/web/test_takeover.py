"""A live session is nobody's but its browser's: raw websockets, on loopback and behind
nginx.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests import needs
from tests.deploy.proxy import NGINX, proxy
from tests.workbench.server.web.client import (
    Server,
    Visitor,
    get,
    serving,
    wait_until,
)

CANARY = "Quetzalcoatl"
NUMBERS = count()


@pytest.fixture(scope="module", params=["loopback", "nginx"])
def host(
    request: pytest.FixtureRequest,
    server: Server,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    if request.param == "loopback":
        yield server.host
        return
    if NGINX is None:
        pytest.skip(needs.NGINX)
    with proxy(tmp_path_factory.mktemp("nginx"), server.host) as host:
        yield host


def _table() -> bytes:
    """A table that was not opened before: the rows of one on file would open at once,
    as it was declared.
    """
    number = next(NUMBERS)
    rows = "".join(f"{30 + number + i % 9},F,{CANARY}-{number}\n" for i in range(60))
    return f"age,sex,city\n{rows}".encode()


def _owner(host: str) -> Visitor:
    owner = Visitor(host).run()
    assert owner.upload(_table()) == 204
    assert CANARY in owner.text()
    return owner


def _open(owner: Visitor) -> Visitor:
    """Open the table that was read, with all facts known from outside."""
    if any(each.label.startswith("All of this") for each in owner.elements("button")):
        owner.press("All of this")
    owner.press("Open the data set")
    assert "Open another table" in [each.label for each in owner.elements("button")]
    return owner


def _refused(host: str, **given: object) -> None:
    with pytest.raises(InvalidStatus) as refused:
        Visitor(host, **given)  # type: ignore[arg-type]
    assert refused.value.response.status_code == 403


def test_an_id_without_the_cookie_opens_nothing(host: str) -> None:
    """Whoever reads an access log could take over an open table and spend its
    budget.
    """
    owner = _owner(host)
    _refused(host, session=owner.session, visit=False, origin=None)
    _refused(host, session=owner.session, visit=False)
    _refused(host, session=owner.session, visit=False, cookie="workbench_visitor=short")
    _refused(host, session=owner.session, cookie=owner.cookie, visit=False, origin=None)
    owner.run()


def test_another_browser_gets_a_session_of_its_own(host: str) -> None:
    """A visitor with a cookie of his own could resume the session of somebody else."""
    owner = _owner(host)
    forged = {"x-workbench-visitor": "0" * 64, "X-Workbench-Visitor": "0" * 64}
    other = Visitor(host, session=owner.session, **forged).run()
    assert other.session != owner.session
    assert CANARY not in other.text()
    _open(owner)


def test_the_owner_comes_back(host: str) -> None:
    """A lost connection would lose the table."""
    owner = _owner(host)
    owner.close()
    again = Visitor(host, session=owner.session, cookie=owner.cookie, visit=False).run()
    assert again.session == owner.session
    assert CANARY in again.text()


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost:1"],
)
def test_pages_of_others_are_refused(host: str, origin: str) -> None:
    """A page of another site, or of another program on this computer, could act for its
    reader.
    """
    _refused(host, origin=origin)
    assert get(host, "/", Origin=origin)[0] == 403


def test_foreign_hosts_are_refused(host: str, server: Server) -> None:
    """A name that an attacker points to this computer would get past the check of
    origins.
    """
    status, _, words = get(host, "/", Host="evil.example")
    assert status == 421
    assert b"WORKBENCH_HOSTS" in words


def test_uploads_belong_to_the_tab(host: str) -> None:
    """Somebody else could put a file into a tab whose id he knows, or fill the memory
    through it.
    """
    owner = _owner(host)
    other = Visitor(host).run()
    path = f"/_stcore/upload_file/{owner.session}/{'0' * 8}"
    assert other.put(path, b"a,b\n1,2\n", "x.csv") == 404
    assert owner.put(path, b"a,b\n1,2\n", "x.csv") == 204


def test_one_tab_cannot_fill_the_memory(server: Server) -> None:
    """12 files of 45 MB would be kept for as long as a tab is open."""
    visitor = Visitor(server.host).run()
    big = b"x" * (45 * 2**20)
    statuses = [
        visitor.put(f"/_stcore/upload_file/{visitor.session}/{n}", big, "x")
        for n in range(4)
    ]
    assert statuses == [204, 204, 413, 413]


def test_downloads_are_their_tabs_alone(host: str, server: Server) -> None:
    """An internal download, with cell values in it, would lie open to everybody who has
    its address.
    """
    owner = _open(_owner(host)).go("codebook")
    url = owner.elements("download_button")[0].url
    assert url.startswith("/media/")
    status, _, codebook = get(host, url, Cookie=owner.cookie)
    assert status == 200
    assert CANARY.encode() in codebook
    assert get(host, url)[0] == 404
    assert get(host, url, Cookie=Visitor(host).cookie)[0] == 404
    owner.go("")
    assert get(host, url, Cookie=owner.cookie)[0] == 404  # no longer offered


def test_what_is_made_on_demand_is_its_tabs_alone(host: str) -> None:
    """The files that hold the most would be refused to their owner, or lie open to
    everybody.
    """
    owner = _open(_owner(host))
    url = owner.go("audit").make("Download as one HTML")
    assert url.startswith("/media/")
    status, _, page = get(host, url, Cookie=owner.cookie)
    assert status == 200
    assert b"unique" in page
    assert owner.make("Download as one HTML") == url
    assert get(host, url, Cookie=owner.cookie)[0] == 200  # also the second time
    assert get(host, url)[0] == 404
    assert get(host, url, Cookie=Visitor(host).run().cookie)[0] == 404
    owner.go("ledger")
    assert get(host, url, Cookie=owner.cookie)[0] == 404  # no longer offered


@pytest.mark.parametrize(
    "step",
    ["clear_cache", "debug_shutdown_runtime", "load_git_info", "set_run_on_save"],
)
def test_messages_for_developers_are_dropped(server: Server, step: str) -> None:
    """A stranger could clear what all tabs share, or ask for what is no business of
    his.
    """
    visitor = Visitor(server.host).run()
    message = BackMsg()
    setattr(message, step, True)
    before = server.said().count(f"message refused: {step}")
    visitor.send(message)
    visitor.run()
    assert server.said().count(f"message refused: {step}") == before + 1


@pytest.mark.parametrize("step", ["install_skills", "dismiss_skills_nudge"])
def test_of_operations_only_downloads_and_rows_pass(server: Server, step: str) -> None:
    """Any page could have the server write files for a developer's tools."""
    visitor = Visitor(server.host).run()
    message = BackMsg()
    message.backend_operation_request.request_id = "x"
    getattr(message.backend_operation_request, step).SetInParent()
    before = server.said().count(f"message refused: {step}")
    visitor.send(message)
    visitor.run()
    assert server.said().count(f"message refused: {step}") == before + 1


@pytest.mark.parametrize("data", ["text", b"\xff\xff\xff"])
def test_junk_ends_the_connection_alone(server: Server, data: object) -> None:
    """Junk would end with a traceback in the log, or end the server."""
    visitor = Visitor(server.host).run()
    visitor.socket.send(data)  # type: ignore[arg-type]
    with pytest.raises(ConnectionClosed):
        visitor.run()
    assert "Traceback" not in server.said()
    Visitor(server.host).run()


def test_headers(host: str) -> None:
    """The pages would work inside the frame of another site."""
    for path in ("/", "/synthesize", "/healthz", "/_stcore/health"):
        _, told, _ = get(host, path)
        assert told["X-Frame-Options"] == "DENY", path
        assert "frame-ancestors 'none'" in told["Content-Security-Policy"]
        assert told["X-Content-Type-Options"] == "nosniff"
        assert told["Referrer-Policy"] == "no-referrer"
    cookie = get(host, "/")[1]["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_health_and_readiness(host: str) -> None:
    """Whoever runs the server could not tell a broken database from a working one."""
    assert get(host, "/healthz")[0] == 200
    assert get(host, "/readyz")[0] == 200
    assert get(host, "/_stcore/metrics")[0] == 404


def test_the_log_holds_no_ids_and_no_values(host: str, server: Server) -> None:
    """An id of a session, a cookie or a value of the table in the log would be for
    every reader of it.
    """
    owner = _owner(host)
    get(host, f"/share/{'s' * 43}?token=geheim")
    said = server.said()
    assert "PUT /_stcore/upload_file/-/- 204" in said
    for secret in (
        owner.session,
        owner.cookies["workbench_visitor"],
        CANARY,
        "geheim",
        "s" * 43,
    ):
        assert secret not in said


def test_a_server_that_cannot_reach_its_ledger_says_so(tmp_path: Path) -> None:
    """With a wrong key the server would start, call itself healthy, and its log stay
    empty.
    """
    url = "postgresql://me:secret-word@127.0.0.1:1/ledger"
    with serving(DATABASE_URL=url) as broken:
        assert get(broken.host, "/healthz")[0] == 200
        status, _, words = get(broken.host, "/readyz")
        assert (status, words) == (503, b"not ready\n")
        told = "the ledger cannot be used: the ledger's database cannot be reached"
        # the chains are looked through beside the start
        wait_until(lambda: told in broken.said(), "the log says so")
        assert "secret-word" not in broken.said()
