"""A client of Streamlit's protocol without a browser: what an attacker, or a load test,
would write.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[4]
PATIENCE = 300
"""Seconds in which a busy machine does anything of what is waited for here."""
_ENDS = (
    ForwardMsg.FINISHED_SUCCESSFULLY,
    ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
)


class Server:
    """The server as `make app` starts it, on a free port, with a ledger in a folder of
    its own.
    """

    def __init__(
        self, folder: Path, port: int, process: subprocess.Popen[bytes], log: Path
    ) -> None:
        self.folder = folder
        self.port = port
        self.process = process
        self.log = log
        self.host = f"127.0.0.1:{port}"

    def said(self) -> str:
        """The log so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")


@contextmanager
def serving(script: str = "app.py", **settings: str) -> Iterator[Server]:
    """A server, ended with the block."""
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {
            key: value for key, value in os.environ.items() if key != "DATABASE_URL"
        }
        log = folder / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "streamlit",
                    "run",
                    script,
                    "--server.port",
                    str(port),
                ],
                cwd=ROOT,
                env={
                    **environment,
                    "WORKBENCH_DATA_DIR": str(folder / "var"),
                    **settings,
                },
                stdout=out,
                stderr=out,
            )
        server = Server(folder, port, process, log)
        try:
            base = settings.get("STREAMLIT_SERVER_BASE_URL_PATH")
            wait_for(server.host, f"/{base}" if base else "")
            yield server
        finally:
            process.terminate()
            process.wait(PATIENCE)


def wait_for(host: str, base: str = "") -> None:
    """Until the server answers."""
    end = time.monotonic() + PATIENCE  # on a busy machine to start takes a minute
    while time.monotonic() < end:
        try:
            if get(host, f"{base}/_stcore/health")[0] == 200:
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"no answer from {host}")


def wait_until(
    holds: Callable[[], object], what: str, seconds: float = PATIENCE
) -> None:
    """Wait until something holds; look often, as it may hold for a short time only."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"it did not come to that: {what}"
        time.sleep(0.02)


def get(
    host: str,
    path: str,
    *,
    method: str = "GET",
    body: bytes | None = None,
    **headers: str,
) -> tuple[int, http.client.HTTPMessage, bytes]:
    """Status, headers and body of one request.

    Underscores in header names become dashes.
    """
    connection = http.client.HTTPConnection(*host.split(":"), timeout=PATIENCE)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body=body, headers=named)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


class Visitor:
    """A browser: it keeps cookies, opens one tab and presses buttons.

    Args:
        session: id of a session to ask for, as a browser does when its connection was
            lost.
        base: the path under which the pages are.
        headers: further headers of the websocket; `Origin` and `Cookie` replace the
            right ones.
    """

    def __init__(
        self,
        host: str,
        *,
        session: str = "",
        visit: bool = True,
        cookie: str = "",
        origin: str | None = "",
        base: str = "",
        **headers: str,
    ) -> None:
        self.host = host
        self.base = base
        self.cookies: dict[str, str] = {}
        if visit:
            for path in ("/", "/_stcore/health", "/_stcore/host-config"):
                _, told, _ = get(host, base + path, Cookie=self.cookie)
                for line in told.get_all("Set-Cookie") or []:
                    name, _, value = line.split(";")[0].partition("=")
                    self.cookies[name] = value
        if cookie:
            self.cookies = dict(part.split("=", 1) for part in cookie.split("; "))
        xsrf = self.cookies.get("_streamlit_xsrf", "none")
        protocols = ["streamlit", xsrf, *([session] if session else [])]
        sent = {"Cookie": self.cookie, **headers} if self.cookies else headers
        self.socket = connect(
            f"ws://{host}{base}/_stcore/stream",
            origin=f"http://{host}" if origin == "" else origin,
            subprotocols=protocols,
            additional_headers=sent,
            max_size=None,
            open_timeout=PATIENCE,
            proxy=None,
            legacy=True,
        )
        self.received: list[ForwardMsg] = []
        self.states: dict[str, WidgetState] = {}
        self.page = ""
        self.query = ""
        self.pages: dict[str, str] = {}
        self.session = ""

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def send(self, message: BackMsg) -> None:
        self.socket.send(message.SerializeToString())

    def run(
        self, *triggers: str, seconds: float = PATIENCE, fragment: str = ""
    ) -> Visitor:
        """Run the page once, with these buttons pressed, and take all that it sends.

        Args:
            fragment: id of the part of the page that is to be run alone.
        """
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        message.rerun_script.is_auto_rerun = bool(fragment)
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.query_string = self.query
        for state in self.states.values():
            message.rerun_script.widget_states.widgets.append(state)
        for widget in triggers:
            message.rerun_script.widget_states.widgets.append(
                WidgetState(id=widget, trigger_value=True)
            )
        self.send(message)
        return self.settle(seconds)

    def settle(self, seconds: float = PATIENCE) -> Visitor:
        """Take messages until the script has ended."""
        self.received = []
        end = time.monotonic() + seconds
        while True:
            data = self.socket.recv(timeout=max(0.01, end - time.monotonic()))
            message = ForwardMsg.FromString(data)
            self.received.append(message)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.session = message.new_session.initialize.session_id
                self.page = message.new_session.page_script_hash
            if kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
            if kind == "navigation":
                self.pages = {
                    each.url_pathname: each.page_script_hash
                    for each in message.navigation.app_pages
                }
            if kind == "script_finished" and message.script_finished in _ENDS:
                return self

    def again(self, seconds: float = PATIENCE) -> Visitor:
        """Run the part that the last run wants to be run again after a time; the page,
        if there is none.
        """
        wanted = [
            each.auto_rerun.fragment_id
            for each in self.received
            if each.HasField("auto_rerun")
        ]
        return self.run(fragment=wanted[-1] if wanted else "", seconds=seconds)

    def elements(self, kind: str) -> list[Any]:
        """All elements of a kind that the last run sent."""
        deltas = (
            each.delta for each in self.received if each.WhichOneof("type") == "delta"
        )
        news = (
            each.new_element
            for each in deltas
            if each.WhichOneof("type") == "new_element"
        )
        return [getattr(each, kind) for each in news if each.WhichOneof("type") == kind]

    def press(
        self, label: str, *, number: int = 0, seconds: float = PATIENCE
    ) -> Visitor:
        """Press a button of the last run."""
        found = [
            each for each in self.elements("button") if each.label.startswith(label)
        ]
        assert found, [each.label for each in self.elements("button")]
        return self.run(found[number].id, seconds=seconds)

    def go(self, page: str) -> Visitor:
        """Open another page of the navigation."""
        self.page = self.pages[page]
        return self.run()

    def text(self) -> str:
        """Everything that the last run sent, as text."""
        return "\n".join(map(str, self.received))

    def upload(
        self, content: bytes, name: str = "people.csv", *, settle: bool = True
    ) -> int:
        """Send a table to share, and tell the page; the status of the upload."""
        uploaders = {each.label: each.id for each in self.elements("file_uploader")}
        widget = uploaders["A table to share"]
        message = BackMsg()
        message.file_urls_request.request_id = "r"
        message.file_urls_request.session_id = self.session
        message.file_urls_request.file_names.append(name)
        self.send(message)
        while True:
            answer = ForwardMsg.FromString(self.socket.recv(timeout=PATIENCE))
            if answer.WhichOneof("type") == "file_urls_response":
                urls = answer.file_urls_response.file_urls[0]
                break
        status = self.put(urls.upload_url, content, name)
        state = WidgetState(id=widget)
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.file_id = urls.file_id
        info.name = name
        info.size = len(content)
        info.file_urls.CopyFrom(urls)
        self.states[widget] = state
        if settle:
            self.run()
            self.states.pop(widget)
        return status

    def make(self, label: str) -> str:
        """Press a download button whose file is made on demand; the address of the
        file.
        """
        button = next(
            each
            for each in self.elements("download_button")
            if each.label.startswith(label)
        )
        message = BackMsg()
        message.backend_operation_request.request_id = "m"
        message.backend_operation_request.session_id = self.session
        message.backend_operation_request.deferred_file.file_id = (
            button.deferred_file_id
        )
        self.send(message)
        while True:
            answer = ForwardMsg.FromString(self.socket.recv(timeout=PATIENCE))
            if answer.WhichOneof("type") == "backend_operation_response":
                return answer.backend_operation_response.deferred_file.url

    def put(self, path: str, content: bytes, name: str) -> int:
        """Send bytes to an upload address."""
        part = f'Content-Disposition: form-data; name="file"; filename="{name}"'
        head = f"--B\r\n{part}\r\nContent-Type: text/csv\r\n\r\n"
        body = head.encode() + content + b"\r\n--B--\r\n"
        return get(
            self.host,
            self.base + urllib.parse.urlsplit(path).path,
            method="PUT",
            body=body,
            Content_Type="multipart/form-data; boundary=B",
            X_Xsrftoken=self.cookies.get("_streamlit_xsrf", ""),
            Cookie=self.cookie,
        )[0]

    def close(self) -> None:
        self.socket.close()
