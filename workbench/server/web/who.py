"""Identify the person behind a request outside the pages, by sign-in cookies.

On pages, `person.person` answers the same question. Streamlit's internal names used
here are tested against the pinned version in tests/workbench/server/web/test_who.py.
"""

import logging
import math
from collections.abc import Mapping
from typing import Any

from starlette.requests import HTTPConnection

from dpcore.errors import DpcoreError, ParameterError
from workbench.store import start
from workbench.store.people import roles
from workbench.store.people.roles import Person

_log = logging.getLogger("workbench.web")


def person(connection: HTTPConnection) -> Person | None:
    """Return the person of a request, or None for a stranger.

    Without sign-in, it is the one person there is.
    """
    try:
        return roles.person_of(_claims(connection.cookies))
    except ParameterError as error:  # secrets that cannot be read let nobody in
        _log.error("nobody is let in: %s", error)
        return None


def address(connection: HTTPConnection) -> str | None:
    """Return the confirmed address of whoever signed in, or None.

    A role is not needed.
    """
    return roles.address_of(_claims(connection.cookies))


def sign_out(connection: HTTPConnection) -> None:
    """End the sign-ins of a request's person, including copies of the cookie."""
    claims = _claims(connection.cookies)
    signed_in = roles.address_of(claims)
    try:
        if signed_in is not None:
            start.sign_outs().end_sign_ins(signed_in, math.ceil(claims["iat"]))
    except DpcoreError as error:
        _log.error("a sign-out is not on file: %s", error)


def _claims(cookies: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the provider's claims from Streamlit's signed cookie; empty without one."""
    from streamlit.auth_util import get_origin_from_redirect_uri
    from streamlit.web.server.starlette import starlette_websocket as streamlit_cookies
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

    origin = get_origin_from_redirect_uri()
    if origin is None:  # nobody signs in
        return {}
    claims = streamlit_cookies._get_signed_cookie_with_chunks(
        dict(cookies), USER_COOKIE_NAME
    )
    return (
        streamlit_cookies._parse_decoded_user_cookie(claims, origin) if claims else {}
    )
