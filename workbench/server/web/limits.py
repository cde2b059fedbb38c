"""Limits on open tabs and uploads, per address and for all people not signed in.

A class of people may share one address. `deploy/nginx.conf` sets the same limits in
front of the server, and limits on time too.
"""

from collections import Counter

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from workbench.server.web import who

MAX_BODIES_PER_ADDRESS = 300
MAX_TABS_PER_ADDRESS = 300
"""Requests with a body, and open tabs, of one address."""
MAX_STRANGER_TABS = 1_000
"""Tabs of all who have not signed in, where people sign in."""


class ConnectionLimits:
    """Middleware that refuses a tab or a request body beyond the limits."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = (scope.get("client") or ("",))[0]
        most = dict[str, int]()
        if scope["type"] == "websocket":
            most[f"tabs of {address}"] = MAX_TABS_PER_ADDRESS
            if who.person(HTTPConnection(scope)) is None:
                most["tabs of strangers"] = MAX_STRANGER_TABS
        elif body_length(scope):
            most[f"bodies of {address}"] = MAX_BODIES_PER_ADDRESS
        if any(self._open[name] >= number for name, number in most.items()):
            await PlainTextResponse("Too much is open at once.\n", 429)(
                scope, receive, send
            )
            return
        self._open.update([*most])
        try:
            await self._app(scope, receive, send)
        finally:
            # the subtraction also removes names whose count falls to zero
            self._open -= Counter([*most])


def body_length(scope: Scope) -> int:
    """Return the announced length of a request's body in bytes.

    0 for no body, 1 if there is a body without a length.
    """
    headers = Headers(scope=scope) if scope["type"] == "http" else {}
    length = headers.get(
        "content-length", "1" if "transfer-encoding" in headers else "0"
    )
    return int(length) if length.isdecimal() and len(length) < 20 else 0
