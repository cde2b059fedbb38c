"""Who asks on plain addresses: cookies as Streamlit signs them, and those of others."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from starlette.requests import HTTPConnection
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from workbench.server.web import who
from workbench.store.people.roles import LOCAL_PERSON

SECRETS = """
[auth]
redirect_uri = "https://bench.example/sub/oauth2callback"
cookie_secret = "a secret of the tests"
[roles]
stewards = ["ada@example.org"]
"""


def cookie(secret: str = "a secret of the tests", **fields: Any) -> str:
    said = {
        "email": "ada@example.org",
        "email_verified": True,
        "iat": time.time(),
        "origin": "https://bench.example",
        "is_logged_in": True,
        "provider": "default",
    }
    signed = create_signed_value(
        secret, "_streamlit_user", json.dumps({**said, **fields})
    )
    return f"_streamlit_user={signed.decode()}"


def _asks(*cookies: str) -> HTTPConnection:
    return HTTPConnection(
        {"type": "http", "headers": [(b"cookie", "; ".join(cookies).encode())]}
    )


def test_the_cookie_of_a_steward(write_secrets: Callable[[str], None]) -> None:
    """The pinned version of Streamlit would sign otherwise, and nobody be known on a
    link.
    """
    assert who.person(_asks()) == LOCAL_PERSON
    assert who.address(_asks(cookie())) is None
    write_secrets(SECRETS)
    found = who.person(_asks("other=1", cookie()))
    assert found is not None
    assert (found.address, found.role) == ("ada@example.org", "steward")
    assert who.person(_asks(cookie(email="eve@example.org"))) is None
    assert who.address(_asks(cookie(email="eve@example.org"))) == "eve@example.org"


def test_cookies_that_nobody_signed_in_with(
    write_secrets: Callable[[str], None],
) -> None:
    """A forged, altered or old cookie, or that of another server, would open the links
    of others.
    """
    write_secrets(SECRETS)
    good = cookie()
    for bad in (
        "",
        "_streamlit_user=",
        good[:-1],
        good.replace(".", "_"),
        "_streamlit_user=" + "x" * 10_000,
        "_streamlit_user=\xff",
        cookie(secret="another secret"),
        cookie(origin="https://evil.example"),
        cookie(is_logged_in=False),
        cookie(iat=time.time() - 40 * 86400),
        cookie(email_verified=False),
    ):
        assert who.person(_asks(bad)) is None, bad
        assert who.address(_asks(bad)) is None, bad


def test_secrets_that_break_let_nobody_in(write_secrets: Callable[[str], None]) -> None:
    """A typing error in the file of a running server would make every stranger its
    owner.
    """
    write_secrets(SECRETS)
    assert who.person(_asks(cookie())) is not None
    write_secrets(SECRETS + "[broken")
    assert who.person(_asks(cookie())) is None
    assert who.person(_asks()) is None
