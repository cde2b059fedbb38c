"""Calls an ASGI application as a web server would, without a network."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")


def call(
    app: Any,
    method: str,
    path: str,
    body: bytes = b"",
    *,
    address: str = "192.0.2.1",
    query: str = "",
    accepted: str = "",
) -> Answer:
    """One request and its answer."""
    parts = [body[start : start + 65_536] for start in range(0, len(body), 65_536)] or [
        b""
    ]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": query.encode(),
        "headers": [(b"host", b"survey.test"), (b"accept-language", accepted.encode())],
        "client": (address, 1),
        "server": ("survey.test", 80),
    }
    # in a thread of its own: the browser tests leave a running loop in this one
    thread = threading.Thread(target=lambda: asyncio.run(app(scope, receive, send)))
    thread.start()
    thread.join()
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(
        sent[0]["status"], headers, b"".join(each.get("body", b"") for each in sent[1:])
    )
