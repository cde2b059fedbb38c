"""Security headers of every answer.

They forbid frames, foreign scripts and addresses in the Referer.
"""

import base64
import functools
import hashlib
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench.server.web import focus
from workbench.store.settings import read_settings

POLICY = "Content-Security-Policy"
_FRAME_OPTIONS = {
    "frame-ancestors 'none'": "DENY",
    "frame-ancestors 'self'": "SAMEORIGIN",
}
"""What older browsers are told, by the directive of a policy; nothing where any page
may show a frame.
"""
_INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


@functools.cache
def headers() -> dict[str, str]:
    """Return the name and value of each header in `headers.toml`."""
    fields = tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    )
    policy = "; ".join(f"{name} {value}" for name, value in fields[POLICY].items())
    policy = f"{policy.format(inline=_inline_script_hashes())}; {frame_policy()}"
    return {**fields, POLICY: policy}


def frame_policy() -> str:
    """Return the frame-ancestors directive for WORKBENCH_FRAMES."""
    return f"frame-ancestors '{read_settings().frames}'"


def frame_options(policy: str) -> dict[str, str]:
    """Return the X-Frame-Options header that matches the policy, for older browsers."""
    options = [
        option for directive, option in _FRAME_OPTIONS.items() if directive in policy
    ]
    return {"X-Frame-Options": options[0]} if options else {}


def _inline_script_hashes() -> str:
    """Return the hashes of the inline scripts in Streamlit's page and in ours."""
    import streamlit

    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_bytes()
    digests = (
        hashlib.sha256(script).digest()
        for script in (*_INLINE_SCRIPT.findall(page), focus.SCRIPT)
    )
    return " ".join(
        f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests
    )


def with_headers(send: Send, change: Callable[[MutableHeaders], None]) -> Send:
    """Wrap the `send` of a middleware so that `change` may edit the headers."""

    async def send_changed(message: Message) -> None:
        if message["type"] == "http.response.start":
            change(MutableHeaders(scope=message))
        await send(message)

    return send_changed


class SecurityHeaders:
    """Middleware that adds the headers a route did not set itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        def add(sent: MutableHeaders) -> None:
            for name, value in headers().items():
                sent.setdefault(name, value)
            sent.update(frame_options(sent[POLICY]))

        await self._app(
            scope, receive, with_headers(send, add) if scope["type"] == "http" else send
        )
