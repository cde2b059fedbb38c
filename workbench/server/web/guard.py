"""The guard: it checks hosts, origins and the owner of each session.

Streamlit treats the id of a session as its key, and that id is in every upload address.
Here each browser gets a secret cookie. A digest of it is handed to Streamlit as the
user of a websocket, so that nobody resumes a session without the cookie; uploads and
downloads are bound to the same cookie.
"""

import hashlib
import logging
import re
import secrets
import threading
from collections import Counter
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dpcore.errors import DpcoreError
from workbench.server.web import holders, tabs, who
from workbench.server.web.headers import with_headers
from workbench.server.web.limits import body_length
from workbench.server.web.words import text_page
from workbench.store.settings import CLOUD_HOST_ENDING, CLOUD_PATH, Settings

guard_is_active = threading.Event()
"""Set where this process has the guard before its pages; without it they open
nothing.
"""

COOKIE = "workbench_visitor"
VISITOR_HEADER = "x-workbench-visitor"
"""Header that only this module writes; `server.trustedUserHeaders` names it."""
MAX_UPLOAD_BYTES = 110 * 2**20
"""Bytes that one tab may have sent and not yet opened."""
_SECRET_PATTERN = re.compile(r"[A-Za-z0-9_-]{43}")
_STREAM_PATH = "/_stcore/stream"
_UPLOAD_PATH = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")
_MEDIA_PATH = re.compile(r"(?<!/static)/media/([^/.]+)(?:\.[^/]*)?$")
"""Addresses of one session's downloads; fonts and icons lie under /static/media."""
_SIGN_OUT_PATH = "/auth/logout"
_METRICS_PATH = "/_stcore/metrics"
_AGENT_PATH = "/_stcore/agent"
PATHS_WITHOUT_COOKIE = ("/static/", "/answer/", "/share/", "/healthz", "/readyz")
_HOST_PATTERN = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?")
_ACCEPTED_MESSAGES = {
    "rerun_script",
    "stop_script",
    "app_heartbeat",
    "file_urls_request",
}
_ACCEPTED_OPERATIONS = {"deferred_file", "dataframe_chunk"}
"""Downloads that are made on demand, and further rows of a table on the page."""
_log = logging.getLogger("workbench.web")


class Guard:
    """Middleware that checks host, origin and session owner of each request."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        guard_is_active.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        guarded = {"http": self._handle_http, "websocket": self._handle_websocket}
        await guarded.get(scope["type"], self._app)(scope, receive, send)

    async def _handle_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        path = scope["path"]
        refusal = self._refusal(scope, headers) or self._upload_refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if not self._is_known_host(headers.get("host")):  # asks for its health
            await self._app(scope, receive, with_headers(send, _remove_cookies))
            return
        leaves = path.endswith(_SIGN_OUT_PATH)
        if leaves:  # in every tab of this browser
            tabs.sign_out(_visitor_digest(_cookie_secret(headers)))
            await run_in_threadpool(who.sign_out, HTTPConnection(scope))
        needs_cookie = _cookie_secret(headers) is None and not any(
            part in path for part in PATHS_WITHOUT_COOKIE
        )

        def add_cookie(sent: MutableHeaders) -> None:
            if needs_cookie or leaves:
                cookie = (
                    f"{COOKIE}={secrets.token_urlsafe(32)}; Path=/; HttpOnly; "
                    "SameSite=Lax"
                )
                sent.append("set-cookie", cookie)
            if _is_encrypted(scope, headers):
                _mark_cookies_secure(sent)

        upload = _UPLOAD_PATH.search(path)
        file = Counter({upload[1]: body_length(scope)} if upload else {})
        tabs.arriving_bytes.update(file)
        try:
            await self._app(scope, receive, with_headers(send, add_cookie))
        finally:
            tabs.arriving_bytes -= file

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        path = scope["path"]
        host = headers.get("host")
        origin = headers.get("origin")
        media = _MEDIA_PATH.search(path)
        if not self._is_known_host(host) and not is_health(path):
            return unknown_host_page(
                host or "", "https" if _is_encrypted(scope, headers) else "http"
            )
        if origin is not None and not self._is_own_origin(origin, host):
            return _refusal_response("Requests from other sites are refused.")
        closed = (
            [_AGENT_PATH] if self._settings.metrics else [_AGENT_PATH, _METRICS_PATH]
        )
        if any(path.endswith(suffix) or f"{suffix}/" in path for suffix in closed):
            return _refusal_response("Not found.", 404)
        if media and not tabs.is_file_offered(
            media[1], _visitor_digest(_cookie_secret(headers))
        ):
            return _refusal_response("Not found.", 404)
        return None

    def _upload_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Return a response that refuses an upload before reading any of it, or None.

        The browser, its tab and the announced size decide.
        """
        if "/_stcore/upload_file/" not in scope["path"]:
            return None
        person = who.person(HTTPConnection(scope))
        upload = _UPLOAD_PATH.search(scope["path"])
        if self._settings.demo:
            return _refusal_response("This is a demo: it takes no files.")
        if upload is None or not tabs.is_tab_of(
            upload[1], _visitor_digest(_cookie_secret(headers))
        ):
            return _refusal_response("Not found.", 404)
        if person is None or person.role != "steward":
            return _refusal_response("Only stewards may send files.")
        if "transfer-encoding" in headers:
            return _refusal_response("The size of the file is missing.", 411)
        if tabs.unread_upload_bytes(upload[1]) + body_length(scope) > MAX_UPLOAD_BYTES:
            return _refusal_response(
                "This tab has sent enough; open what it has sent first.", 413
            )
        try:
            holders.check_room(body_length(scope))
        except DpcoreError as error:
            return _refusal_response(str(error), 413)
        return None

    async def _handle_websocket(
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        headers = Headers(scope=scope)
        secret = _cookie_secret(headers)
        refusal = self._refusal(scope, headers)
        if not scope["path"].endswith(_STREAM_PATH):
            refusal = _refusal_response("Not found.")
        elif headers.get("origin") is None or secret is None:
            refusal = _refusal_response(
                "The cookie of this server, or the Origin, is missing."
            )
        if refusal is not None:
            _log.warning("websocket refused: %s", bytes(refusal.body).decode().strip())
            await refusal(scope, receive, send)
            return
        ours = (VISITOR_HEADER.encode(), tabs.LOST_HEADER.encode())
        named = [(name, value) for name, value in scope["headers"] if name not in ours]
        named.append((VISITOR_HEADER.encode(), _visitor_digest(secret).encode()))
        asked = headers.get("sec-websocket-protocol", "").split(",")
        if len(asked) > 2 and not tabs.is_tab_of(
            asked[2].strip(), _visitor_digest(secret)
        ):
            named.append((tabs.LOST_HEADER.encode(), b"1"))
            send = _with_rerun_request(send)
        await self._app({**scope, "headers": named}, _only_page_messages(receive), send)

    def _is_known_host(self, host: str | None) -> bool:
        name = urlsplit(f"//{host}").hostname if host else None
        hosts = self._settings.hosts
        return name is not None and ("*" in hosts or name.rstrip(".") in hosts)

    def _is_own_origin(self, origin: str, host: str | None) -> bool:
        """Return whether a request comes from one of our own pages.

        Its origin must be the name in the request, or the public root.
        """
        own = {
            host.lower() if host else "",
            urlsplit(self._settings.address).netloc.lower(),
        } - {""}
        return urlsplit(origin).netloc.lower() in own


def is_health(path: str) -> bool:
    """Return whether an address is a health check.

    Health checks are answered under every host name.
    """
    base = config.get_option("server.baseUrlPath").strip("/")
    return path in ("/healthz", "/readyz", f"/{base}/_stcore/health".replace("//", "/"))


def unknown_host_page(host: str, scheme: str) -> Response:
    """Return the page that answers a request under an unknown host name.

    It says what to set so that the server answers to that name.
    """
    name = host.lower() if _HOST_PATTERN.fullmatch(host) else ""
    lines = f'WORKBENCH_ADDRESS="{scheme}://{name or "NAME"}"'
    if name.partition(":")[0].endswith(CLOUD_HOST_ENDING):
        lines = (
            f'WORKBENCH_ADDRESS = "https://{name}{CLOUD_PATH}"\nWORKBENCH_FRAMES = '
            '"self"'
        )
    return text_page(
        "This server does not know the name in the address",
        [
            f"It was asked for {name or 'another name'}, and answers only to names "
            "that it was given, so "
            "that no other site can reach the tables in it.",
            (
                "If you run it: set this among its environment variables, or its "
                "secrets, and start it again."
            ),
        ],
        code=lines,
        text_after_code="More names go into WORKBENCH_HOSTS, with commas between. A proxy in "
        "front must pass the Host "
        "header on. docs/hosting.md says more.",
        status=421,
    )


_WHOLE_PAGE_FRAGMENT = "whole page"
"""The fragment that browsers are asked to run, as they run only parts of a page by
themselves.
"""


def _with_rerun_request(send: Send) -> Send:
    """Wrap `send` so that a tab that lost its session runs its page once.

    Otherwise it would show the old page until the next click.
    """

    async def send_and_ask(message: Message) -> None:
        await send(message)
        if message["type"] == "websocket.accept":
            ask = ForwardMsg()
            ask.auto_rerun.interval = 0.5  # until the page runs
            ask.auto_rerun.fragment_id = _WHOLE_PAGE_FRAGMENT
            await send({"type": "websocket.send", "bytes": ask.SerializeToString()})

    return send_and_ask


def _only_page_messages(receive: Receive) -> Receive:
    """Wrap `receive` so that it passes on only messages that a page sends."""

    async def receive_page() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            data = message.get("bytes")
            if data is None:  # Streamlit would end with a traceback
                return {"type": "websocket.disconnect", "code": 1003}
            try:
                asked = BackMsg.FromString(data)
            except Exception:
                return {"type": "websocket.disconnect", "code": 1002}
            kind = asked.WhichOneof("type")
            if asked.rerun_script.fragment_id == _WHOLE_PAGE_FRAGMENT:
                asked.rerun_script.fragment_id = ""
                asked.rerun_script.is_auto_rerun = False
                message = {**message, "bytes": asked.SerializeToString()}
            if kind == "backend_operation_request":
                kind = asked.backend_operation_request.WhichOneof("payload")
            if kind in _ACCEPTED_MESSAGES | _ACCEPTED_OPERATIONS:
                return message
            _log.warning("message refused: %s", kind)

    return receive_page


def _refusal_response(words: str, status: int = 403) -> Response:
    return PlainTextResponse(f"{words}\n", status)


def _cookie_secret(headers: Headers) -> str | None:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return cookie.value if cookie and _SECRET_PATTERN.fullmatch(cookie.value) else None


def _visitor_digest(secret: str | None) -> str:
    """Return the digest of a cookie's secret, which names a browser; empty if None."""
    return hashlib.sha256(secret.encode()).hexdigest() if secret else ""


def _remove_cookies(headers: MutableHeaders) -> None:
    del headers["set-cookie"]


def _mark_cookies_secure(headers: MutableHeaders) -> None:
    """Add the Secure attribute to all cookies that a response sets."""
    cookies = headers.getlist("set-cookie")
    del headers["set-cookie"]
    for cookie in cookies:
        named = {part.strip().lower() for part in cookie.split(";")}
        headers.append(
            "set-cookie", cookie if "secure" in named else f"{cookie}; Secure"
        )


def _is_encrypted(scope: Scope, headers: Headers) -> bool:
    return scope["scheme"] == "https" or headers.get("x-forwarded-proto") == "https"
