"""The door of the server: which hosts and pages may knock, and whose session is whose.

Streamlit takes the id of a session for its key, and that id is in every upload address. Here each browser
gets a secret cookie. A digest of it is handed to Streamlit as the user of a websocket, so that nobody resumes
a session without the cookie; uploads and downloads are held to the same cookie.
"""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from workbench.web import tabs

COOKIE = "workbench_visitor"
VISITOR = "x-workbench-visitor"
"""Header that only this module writes; `server.trustedUserHeaders` names it."""
UPLOADS = 110 * 2**20
"""Bytes that one tab may have sent and not yet opened."""
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
_STREAM = "/_stcore/stream"
_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+$")
_MEDIA = re.compile(r"(?<!/static)/media/([^/.]+)(?:\.[^/]*)?$")
"""What is offered to one session; fonts and icons lie under /static/media."""
_CLOSED = ("/_stcore/metrics", "/_stcore/agent")
_WITHOUT_COOKIE = ("/static/", "/answer/", "/healthz", "/readyz")
_TAKEN = {"rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request"}
_log = logging.getLogger("workbench.web")


class Guard:
    """Middleware around the whole server.

    Args:
        hosts: names by which this server may be asked for, without ports; "*" for any.
        metrics: whether Streamlit's metrics address is open.
    """

    def __init__(self, app: ASGIApp, *, hosts: tuple[str, ...], metrics: bool = False) -> None:
        self._app = app
        self._hosts = hosts
        self._closed = _CLOSED[1:] if metrics else _CLOSED

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        refusal = self._refusal(headers, path, secret=_secret(headers))
        if refusal is not None:
            status, words = refusal
            await PlainTextResponse(words, status)(scope, receive, send)
            return
        needs_cookie = _secret(headers) is None and not any(part in path for part in _WITHOUT_COOKIE)

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and needs_cookie:
                secure = "; Secure" if _is_encrypted(scope, headers) else ""
                cookie = f"{COOKIE}={secrets.token_urlsafe(32)}; Path=/; HttpOnly; SameSite=Lax{secure}"
                MutableHeaders(scope=message).append("set-cookie", cookie)
            await send(message)

        await self._app(scope, receive, send_with_cookie)

    def _refusal(self, headers: Headers, path: str, *, secret: str | None) -> tuple[int, str] | None:
        if not self._is_host(headers.get("host")):
            return 421, (
                "This server does not answer to the name in the address. Whoever runs it can add the name "
                "to WORKBENCH_HOSTS; a proxy in front must pass the Host header on.\n"
            )
        origin = headers.get("origin")
        if origin is not None and not _is_same(origin, headers.get("host")):
            return 403, "Pages of other sites may not ask this server.\n"
        if any(path.endswith(closed) or f"{closed}/" in path for closed in self._closed):
            return 404, "Not found.\n"
        if (upload := _UPLOAD.search(path)) and not tabs.is_tab_of(upload[1], _visitor(secret)):
            return 404, "Not found.\n"
        if upload and tabs.stored_bytes(upload[1]) + _length(headers) > UPLOADS:
            return 413, "This tab has sent enough; open what it has sent first.\n"
        if (media := _MEDIA.search(path)) and not tabs.is_offered(media[1], _visitor(secret)):
            return 404, "Not found.\n"
        return None

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        secret, origin = _secret(headers), headers.get("origin")
        problem = None
        if not scope["path"].endswith(_STREAM):
            problem = "no such address"
        elif not self._is_host(headers.get("host")):
            problem = "the Host is not among WORKBENCH_HOSTS"
        elif origin is None or not _is_same(origin, headers.get("host")):
            problem = "the Origin is not the Host; a proxy in front must pass the Host header on"
        elif secret is None:
            problem = "the cookie of this server is missing"
        if problem is not None:
            _log.warning("websocket refused: %s", problem)
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        named = [(name, value) for name, value in scope["headers"] if name != VISITOR.encode()]
        named.append((VISITOR.encode(), _visitor(secret).encode()))
        await self._app({**scope, "headers": named}, _only_pages(receive), send)

    def _is_host(self, host: str | None) -> bool:
        name = urlsplit(f"//{host}").hostname if host else None
        return name is not None and ("*" in self._hosts or name.rstrip(".") in self._hosts)


def _only_pages(receive: Receive) -> Receive:
    """Messages that a page sends by itself; those for developers, such as clear_cache, are left out."""

    async def receive_page() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive":
                return message
            data = message.get("bytes")
            if data is None:  # Streamlit would end with a traceback
                return {"type": "websocket.disconnect", "code": 1003}
            try:
                kind = BackMsg.FromString(data).WhichOneof("type")
            except Exception:
                return {"type": "websocket.disconnect", "code": 1002}
            if kind in _TAKEN:
                return message
            _log.warning("message refused: %s", kind)

    return receive_page


def _secret(headers: Headers) -> str | None:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return cookie.value if cookie and _SECRET.fullmatch(cookie.value) else None


def _length(headers: Headers) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


def _visitor(secret: str | None) -> str:
    """What the rest of the server knows a browser by; empty for none."""
    return hashlib.sha256(secret.encode()).hexdigest() if secret else ""


def _is_same(origin: str, host: str | None) -> bool:
    return host is not None and urlsplit(origin).netloc.lower() == host.lower()


def _is_encrypted(scope: Scope, headers: Headers) -> bool:
    return scope["scheme"] == "https" or headers.get("x-forwarded-proto") == "https"
