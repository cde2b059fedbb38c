"""Limits on what one address, and all strangers together, may keep open at the server.

A class of people may share one address. `deploy/nginx.conf` limits the same before the server.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench.server.web import who

BODIES, TABS = 100, 300
"""Unfinished bodies, and open tabs, of one address."""
STRANGERS = 1_000
"""Tabs of all who have not signed in, where people sign in."""
PATIENCE, SLOWEST = 30.0, 20_000
"""Seconds that every body may take, and bytes a second with which a longer one has to come."""


class Limits:
    """Middleware that refuses one more tab or body, and gives up a body that comes too slowly."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address, length = (scope.get("client") or ("",))[0], body_length(scope)
        most: dict[str, int] = {}
        if scope["type"] == "websocket":
            most = {f"tabs of {address}": TABS}
            if who.person(HTTPConnection(scope)) is None:
                most["tabs of strangers"] = STRANGERS
        elif length:
            most = {f"bodies of {address}": BODIES}
        if any(self._open[name] >= number for name, number in most.items()):
            await PlainTextResponse("Too much is open at once.\n", 429)(scope, receive, send)
            return
        self._open.update([*most])
        end = time.monotonic() + PATIENCE + length / SLOWEST

        async def receive_in_time() -> Message:
            if length == 0 or not most:
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), end - time.monotonic())
            except TimeoutError:
                message = {"type": "http.disconnect"}
            if not message.get("more_body"):
                release()
            return message

        def release() -> None:
            self._open -= Counter([*most])  # also forgets names of which nothing is open
            most.clear()

        try:
            await self._app(scope, receive_in_time, send)
        finally:
            release()


def body_length(scope: Scope) -> int:
    """Return how many bytes a request announces, 1 where it does not say, and 0 for no body."""
    headers = Headers(scope=scope) if scope["type"] == "http" else {}
    length = headers.get("content-length", "1" if "transfer-encoding" in headers else "0")
    return int(length) if length.isdecimal() and len(length) < 20 else 0
