"""Admit browsers by a printed address, for a server that opens local files.

The address is good for one browser. Other accounts on the computer reach its ports too,
but do not know the address.
"""

import secrets

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from workbench.server.web.guard import PATHS_WITHOUT_COOKIE
from workbench.server.web.ports import local_address

COOKIE = "workbench_admitted"
_PATHS_WITHOUT_ADMISSION = (*PATHS_WITHOUT_COOKIE, "/_stcore/health")


class Admission:
    """Middleware that refuses every browser without the printed token."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._admitted: set[str] = set()
        self._print_next_address()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_page = scope["type"] == "http"
        if scope["type"] == "lifespan" or (
            is_page and any(part in scope["path"] for part in _PATHS_WITHOUT_ADMISSION)
        ):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        if connection.cookies.get(COOKIE) in self._admitted:
            await self._app(scope, receive, send)
            return
        answer: Response = PlainTextResponse(
            (
                "This server opens files of this computer: use the last address that "
                "it "
                "printed.\n"
            ),
            403,
        )
        token = connection.query_params.get("token", "")
        if is_page and secrets.compare_digest(token.encode(), self._token.encode()):
            answer = RedirectResponse("./", 303)
            self._admitted.add(secret := secrets.token_urlsafe(32))
            answer.set_cookie(COOKIE, secret, httponly=True, samesite="lax")
            self._print_next_address()
        await answer(scope, receive, send)

    def _print_next_address(self) -> None:
        self._token = secrets.token_urlsafe(32)
        print(f"\n  Open {local_address()}?token={self._token}\n", flush=True)
