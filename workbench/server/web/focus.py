"""Add a script and a style to Streamlit's page.

The script sets the page's language, and the focus to the heading of a new page; the
style lays a page out for paper, and shows all of a badge.
"""

import gzip
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench.language.catalogues import choose_language

SCRIPT = Path(__file__).with_suffix(".js").read_bytes()
PAGE_STYLE = Path(__file__).with_name("pages.css").read_bytes()
_PAGE_ROOT = b'<div id="root">'
"""A part of Streamlit's page alone; all other answers are sent on unchanged."""


class PageScript:
    """Middleware that adds the script and style; `headers` allows the script's hash."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        language = choose_language(
            None, Headers(scope=scope).get("Accept-Language", "")
        )
        pending: list[Message] = []
        parts: list[bytes] = []

        async def send_with_script(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message):
                pending.append(message)
            elif pending:
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    body = b"".join(parts)
                    sent = MutableHeaders(scope=pending[0])
                    is_packed = "content-encoding" in sent
                    page = gzip.decompress(body) if is_packed else body
                    if _PAGE_ROOT in page:
                        page = page.replace(
                            b'lang="en"', f'lang="{language}"'.encode(), 1
                        )
                        ours = b"<style>%b</style><script>%b</script></head>"
                        body = page.replace(b"</head>", ours % (PAGE_STYLE, SCRIPT), 1)
                        sent["Content-Length"] = str(len(body))
                        # these headers describe the page without the script
                        del sent["ETag"], sent["Last-Modified"]
                        del sent["Content-Encoding"]
                    await send(pending[0])
                    await send({"type": "http.response.body", "body": body})
            else:
                await send(message)

        await self._app(scope, receive, send_with_script)


def _is_page(message: Message) -> bool:
    """Return whether a response is a whole page that can be read."""
    sent = MutableHeaders(scope=message)
    return (
        message["status"] == 200
        and sent.get("content-type", "").startswith("text/html")
        and sent.get("content-encoding", "gzip") == "gzip"
    )
