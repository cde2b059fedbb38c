"""The log of requests; its addresses hold no ids, tokens or questions."""

import logging
import re
import time

from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = logging.getLogger("workbench.requests")
_QUIET_PATH = re.compile(r"/static/|/_stcore/health|/healthz|/readyz")
_LONG_PART = re.compile(r"[A-Za-z0-9_=-]{16,}")
_SECRET_PART = re.compile(r"(/(?:share|answer(?!/static/))/).*", re.DOTALL)
_UNPRINTABLE_SIGN = re.compile(r"[^\x21-\x7e]")


def redact_path(path: str) -> str:
    """Return an address for the log, with "-" for each part that may be an id or token."""
    return _UNPRINTABLE_SIGN.sub(
        "?", _LONG_PART.sub("-", _SECRET_PART.sub(r"\1-", path[:200]))
    )


class RequestLog:
    """Middleware that logs one line per request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        started = time.monotonic()
        status = 0
        size = 0

        async def counted(message: Message) -> None:
            nonlocal status, size
            events = {"websocket.accept": 101, "websocket.close": status or 403}
            status = events.get(message["type"]) or int(message.get("status", status))
            size += len(message.get("body") or message.get("bytes") or b"")
            await send(message)

        try:
            await self._app(scope, receive, counted)
        except ClientDisconnect:  # whoever sent it left, or was too slow
            refusal = PlainTextResponse(
                "The request was not whole.\n", 408, {"Connection": "close"}
            )
            await refusal(scope, receive, counted)
        finally:
            level = (
                logging.DEBUG
                if _QUIET_PATH.search(scope["path"]) and status < 400
                else logging.INFO
            )
            _log.log(
                level,
                "%s %s %d %d bytes %d ms",
                scope.get("method", "WEBSOCKET"),
                redact_path(scope["path"]),
                status,
                size,
                (time.monotonic() - started) * 1000,
            )
