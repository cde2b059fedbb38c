"""Redirects for a sign-in that fails at the provider."""

import logging

from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workbench.server.web.headers import with_headers

_FAILED_QUERY = "?sign-in=failed"
_USER_COOKIE_PREFIX = "_streamlit_user="
_log = logging.getLogger("workbench.web")


class SignInRedirect:
    """Middleware that redirects a failed sign-in to the first page, which says so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http" and path.endswith("/auth/login"):
            await self._begin_sign_in(scope, receive, send)
        elif scope["type"] == "http" and path.endswith("/oauth2callback"):
            # without either parameter, the provider has ended a sign-out here
            answers = {b"state", b"error"} & {
                part.split(b"=")[0] for part in scope["query_string"].split(b"&")
            }
            await self._app(
                scope, receive, _with_failure_mark(send) if answers else send
            )
        else:
            await self._app(scope, receive, send)

    async def _begin_sign_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirect to the provider, or to the first page if the provider is silent."""
        failed = False

        async def unless_failed(message: Message) -> None:
            nonlocal failed
            if message["type"] == "http.response.start" and message["status"] >= 400:
                failed = True
            if not failed:
                await send(message)

        try:
            await self._app(scope, receive, unless_failed)
        # Streamlit cannot use the settings, and would show its own error page
        except Exception as error:
            _log.error("sign-in cannot begin: %s", type(error).__name__)
            failed = True
        if failed:
            _log.error(
                "sign-in cannot begin: the provider does not answer, or the settings "
                "are wrong"
            )
            await RedirectResponse(f"../{_FAILED_QUERY}", 303)(scope, receive, send)


def _with_failure_mark(send: Send) -> Send:
    """Wrap `send` so that a redirect that sets no user cookie is marked as failed."""

    def mark(headers: MutableHeaders) -> None:
        person = any(
            cookie.startswith(_USER_COOKIE_PREFIX)
            and not cookie.startswith(
                (f'{_USER_COOKIE_PREFIX}"', f"{_USER_COOKIE_PREFIX};")
            )
            for cookie in headers.getlist("set-cookie")
        )
        if not person and "location" in headers:
            _log.warning("sign-in failed: the provider sent nobody")
            headers["location"] += _FAILED_QUERY

    return with_headers(send, mark)
