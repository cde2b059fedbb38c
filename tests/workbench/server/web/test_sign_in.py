"""The way of a sign-in, from the button to the cookie and its end, with a provider on
this computer.
"""

from __future__ import annotations

import asyncio
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import HTTPConnection
from streamlit.auth_util import encode_provider_token
from streamlit.web.server.starlette.starlette_auth_routes import create_auth_routes

from tests.ports import free_port
from workbench.server.web import who
from workbench.server.web.guard import Guard
from workbench.server.web.signing import SignInRedirect
from workbench.store import start
from workbench.store.database.store import Store
from workbench.store.people import roles
from workbench.store.people.sign_outs import SignOuts
from workbench.store.settings import Settings

httpx = pytest.importorskip("httpx")
mock = pytest.importorskip("oidc_provider_mock")
provider_app = pytest.importorskip("oidc_provider_mock._app")
PAGE = "http://bench.test"
ADA = "ada@example.org"


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """An OpenID provider that takes everybody's word."""
    port = free_port()
    with mock.run_server_in_thread(port):
        yield f"http://localhost:{port}"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The database of the server, which remembers nobody of other tests."""
    opened = Store(Settings(data_dir=tmp_path / "var"))
    monkeypatch.setattr(start, "sign_outs", lambda: SignOuts(opened))
    monkeypatch.setattr(roles, "_ended_sign_ins", {})
    return opened


@dataclass
class Browser:
    """Somebody's browser, which follows no redirect by itself."""

    provider: str

    def __post_init__(self) -> None:
        pages = Starlette(
            routes=create_auth_routes("/"),
            middleware=[
                Middleware(Guard, settings=Settings(hosts=("bench.test",))),
                Middleware(SignInRedirect),
                Middleware(SessionMiddleware, secret_key="s"),
            ],
        )
        self._pages = httpx.ASGITransport(app=pages)
        self.cookies = httpx.Cookies()

    def get(self, url: str) -> Any:
        """Ask the server for an address."""

        async def ask() -> Any:
            client = httpx.AsyncClient(
                transport=self._pages, base_url=PAGE, cookies=self.cookies
            )
            async with client:
                answer = await client.get(url)
                self.cookies = client.cookies
                return answer

        return asyncio.run(ask())

    def begin(self, address: str = ADA, **claims: Any) -> str:
        """Press Sign in and let the provider confirm an address; the address of the way
        back.
        """
        user = {"email": address, **claims}
        httpx.put(f"{self.provider}/users/{address}", json=user).raise_for_status()
        there = self.get(
            f"/auth/login?provider={encode_provider_token('default')}"
        ).headers["location"]
        back = httpx.post(there, data={"sub": address}).headers["location"]
        assert back.startswith(f"{PAGE}/oauth2callback?")
        return back

    def sign_in(self, **claims: Any) -> roles.Person | None:
        """Sign in, and say who the server takes this browser for."""
        self.get(self.begin(**{"email_verified": True, **claims}))
        return self.person()

    def person(self) -> roles.Person | None:
        """Say who the server takes this browser for."""
        header = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return who.person(
            HTTPConnection({"type": "http", "headers": [(b"cookie", header.encode())]})
        )


@pytest.fixture
def arrive(
    provider: str, store: Store, write_secrets: Callable[[str], None]
) -> Callable[..., Browser]:
    """Opens browsers at a server with this provider."""

    def open_browser(more: str = "") -> Browser:
        write_secrets(
            f"""
            [auth]
            redirect_uri = "{PAGE}/oauth2callback"
            cookie_secret = "a secret of the tests, as long as it needs to be"
            client_id = "workbench"
            client_secret = "secret"
            server_metadata_url = "{provider}/.well-known/openid-configuration"
            [roles]
            stewards = ["{ADA}"]
            {more}
            """,
        )
        return Browser(provider)

    return open_browser


def test_a_confirmed_address_comes_in(arrive: Callable[..., Browser]) -> None:
    """Nobody would come in, or the twins below be refused for another reason."""
    assert arrive().sign_in() == roles.Person(address=ADA, role="steward")


@pytest.mark.parametrize("said", [False, "false", 0, 1, None, "absent"])
def test_an_address_that_nobody_confirmed_stays_out(
    arrive: Callable[..., Browser], said: Any
) -> None:
    """Whoever can write another's address into a profile would get that person's data
    sets.
    """
    browser = arrive()
    browser.get(browser.begin(**({} if said == "absent" else {"email_verified": said})))
    assert browser.person() is None


def test_a_provider_without_that_word_is_trusted_by_a_setting_only(
    arrive: Callable[..., Browser],
) -> None:
    """Servers of such providers could let nobody in; with the setting, a no must still
    be one.
    """
    browser = arrive("trust_unconfirmed = true")
    browser.get(browser.begin())
    assert browser.person() is not None
    assert arrive("trust_unconfirmed = true").sign_in(email_verified=False) is None


OTHERS = {
    "audience": {"aud": ["another application"]},
    "time": {"exp": -3600},
    "issuer": {"iss": "https://e"},
}


def _another(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Let the provider answer with a token that was made for another request, time or
    application.
    """
    if what == "nonce":
        stored = provider_app.AuthorizationCode
        monkeypatch.setattr(
            provider_app,
            "AuthorizationCode",
            lambda **of: replace(stored(**of), nonce="x"),
        )
        return
    settle = provider_app.OpenIDCode.get_jwt_config
    other = lambda *given: {**settle(*given), **OTHERS[what]}  # noqa: E731
    monkeypatch.setattr(provider_app.OpenIDCode, "get_jwt_config", other)


@pytest.mark.parametrize("what", ["nonce", *OTHERS])
def test_a_token_that_was_not_made_for_this_sign_in(
    arrive: Callable[..., Browser],
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    """A token of another application, or one that was caught, would open the data."""
    browser = arrive()
    _another(monkeypatch, what)
    assert browser.sign_in() is None


def test_a_code_is_good_for_one_browser_and_once(
    arrive: Callable[..., Browser],
) -> None:
    """Whoever reads the address of the way back would come in as that person."""
    ada = arrive()
    eve = arrive()
    back = ada.begin(email_verified=True)
    eve.get(back)
    assert eve.person() is None  # another browser
    state = urllib.parse.parse_qs(urllib.parse.urlsplit(back).query)["state"][0]
    own = eve.begin("eve@example.org", email_verified=True)
    caught = back.replace(
        state, urllib.parse.parse_qs(urllib.parse.urlsplit(own).query)["state"][0]
    )
    ada.get(back)
    assert ada.person() is not None
    eve.get(caught)  # her own request, and the code that was used
    assert eve.person() is None
    ada.cookies.delete("_streamlit_user")
    ada.get(back)
    assert ada.person() is None


def test_a_copied_cookie_is_dead_after_the_sign_out(
    arrive: Callable[..., Browser], store: Store
) -> None:
    """Whoever copied it would come in for twelve hours, on this server or another
    one.
    """
    ada = arrive()
    assert ada.sign_in() is not None
    copy = arrive()
    copy.cookies.update(ada.cookies)
    assert copy.person() is not None
    ada.get("/auth/logout")
    assert ada.person() is None
    assert copy.person() is None
    roles._ended_sign_ins.clear()  # another server, which has not looked yet
    assert copy.person() is not None
    SignOuts(store).settle()
    assert copy.person() is None


def test_a_sign_in_of_later_goes_on(
    arrive: Callable[..., Browser], store: Store
) -> None:
    """Whoever signs out could not sign in again, or an older sign-out would count for
    more.
    """
    ends = SignOuts(store)
    now = int(time.time())
    ends.end_sign_ins(ADA, now - 100)
    ends.end_sign_ins(ADA, now - 200)
    roles._ended_sign_ins.clear()
    ends.settle()
    assert roles._ended_sign_ins == {ADA: now - 100}
    assert arrive().sign_in() is not None
