"""Protection against clickjacking: pages are not shown in other sites' frames.

`headers.frame_policy` keeps browsers from showing them there, and a browser then shows
nothing at all. So a frame that is not allowed gets a page of words, and a link that
opens the page in a tab of its own.
"""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from workbench.server.web.words import text_page
from workbench.store.settings import Settings

_FRAME_DESTINATIONS = ("iframe", "frame", "embed", "object", "fencedframe")
"""What browsers say in Sec-Fetch-Dest of a page that will be shown within another
one.
"""


class FrameRefusal:
    """Middleware that answers a forbidden frame's request with a short text page."""

    def __init__(self, app: ASGIApp, *, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_refused(Headers(scope=scope)):
            answer = text_page(
                "Open this page in its own tab",
                [
                    "This page is shown within a page of another site. There it "
                    "could not recognize you, and "
                    "the other site could lay something over its buttons.",
                ],
                link="Open in its own tab",
                status=403,
            )
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_refused(self, headers: Headers) -> bool:
        if headers.get("sec-fetch-dest") not in _FRAME_DESTINATIONS:
            return False
        return (
            self._settings.frames == "none"
            or headers.get("sec-fetch-site") != "same-origin"
        )
