"""Security headers of every answer, against frames, foreign scripts and leaked addresses."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench.web import focus

_INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


@functools.cache
def headers() -> dict[str, str]:
    """Name and value of each; the policy is the strictest that Streamlit's own pages work under."""
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' 'unsafe-eval' {_inline_scripts()}",  # Vega compiles its charts
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-src": "'self'",
        "frame-ancestors": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }


def _inline_scripts() -> str:
    """Hashes of the scripts within Streamlit's page and of ours, which are allowed by their content."""
    import streamlit

    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_bytes()
    digests = (hashlib.sha256(script).digest() for script in (*_INLINE_SCRIPT.findall(page), focus.SCRIPT))
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


class SecurityHeaders:
    """Middleware that adds them; a route that sets one of them itself keeps its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                for name, value in headers().items():
                    sent.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
