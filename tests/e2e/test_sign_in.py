"""People who sign in with an OpenID provider on this computer, each in a browser of
their own.
"""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import time
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from tests.e2e.browser import (
    Person,
    Server,
    browser_of_somebody,
    serving,
    wait_until,
)
from tests.ports import free_port
from tests.workbench.server.web.client import Visitor, get

pytest.importorskip("authlib")
COOKIE_SECRET = "a secret of the tests, as long as it needs to be"


def table(seed: int) -> bytes:
    """One that no other test opens, nor one like it: who brings a table again is asked
    about it.
    """
    draw = random.Random(seed)
    rows = (
        b"%d,%d,%s\n"
        % (draw.randint(18, 90), draw.randint(1000, 9999), draw.choice((b"F", b"M")))
        for _ in range(300)
    )
    return b"age,pay,sex\n" + b"".join(rows)


TABLE = table(1)


class Workbench:
    """A server whose people sign in, and the provider that knows them."""

    def __init__(self, server: Server, secrets: Path, provider: int) -> None:
        self.server = server
        self.secrets = secrets
        self.provider = provider

    def allow(self, *stewards: str, analysts: tuple[str, ...] = ()) -> None:
        """Write the settings, and wait until the server has read them: Streamlit looks
        at the file again and again.
        """
        _write(self.secrets, self.server.url, self.provider, stewards, analysts)
        has_role = "bob@example.org" in stewards
        wait_until(
            lambda: _has_a_role(self, "bob@example.org") == has_role,
            "the settings are read",
        )

    def lines(self) -> list[tuple[str, str]]:
        """(state, who) of each line of the ledger."""
        file = self.server.folder / "workbench.sqlite"
        with sqlite3.connect(file, timeout=60) as database:
            rows = database.execute(
                "SELECT state, content FROM ledger_lines ORDER BY dataset, number"
            )
            return [
                (state, json.loads(content).get("by", "")) for state, content in rows
            ]


def _write(
    path: Path,
    url: str,
    provider: int,
    stewards: tuple[str, ...],
    analysts: tuple[str, ...],
) -> None:
    path.write_text(
        f"""
        [auth]
        redirect_uri = "{url}/oauth2callback"
        cookie_secret = "{COOKIE_SECRET}"
        client_id = "workbench"
        client_secret = "secret"
        server_metadata_url = "http://localhost:{provider}/.well-known/openid-configuration"
        [roles]
        stewards = {json.dumps(stewards)}
        analysts = {json.dumps(analysts)}
        trust_unconfirmed = true
        """,
        encoding="utf-8",
    )


@contextlib.contextmanager
def provider(port: int) -> Iterator[None]:
    """An OpenID provider that takes everybody's word."""
    import oidc_provider_mock

    with oidc_provider_mock.run_server_in_thread(port):
        yield


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    port = free_port()
    provider_port = free_port()
    secrets = tmp_path_factory.mktemp("secrets") / "secrets.toml"
    people = ("ada@example.org", "bob@example.org", "cy@example.org")
    _write(
        secrets, f"http://127.0.0.1:{port}", provider_port, people, ("ann@example.org",)
    )
    with serving(port=port, STREAMLIT_SECRETS_FILES=str(secrets)) as server:
        yield Workbench(server, secrets, provider_port)


@pytest.fixture(scope="module")
def provider_runs(workbench: Workbench) -> Iterator[None]:
    """The provider, once somebody found it down."""
    with provider(workbench.provider):
        yield


@pytest.fixture(scope="module")
def browsers(browser, known_browser) -> Iterator[list[BrowserContext]]:
    """Two browsers that keep the program of the pages from test to test, and nothing
    else.
    """
    second = browser_of_somebody(browser)
    yield [known_browser, second]
    second.close()


@pytest.fixture
def come(
    browser,
    browsers: list[BrowserContext],
    workbench: Workbench,
    provider_runs,
) -> Iterator[Callable[[], Person]]:
    """Opens a browser of somebody who has not signed in."""
    people: list[Person] = []

    def arrive() -> Person:
        known = browsers[len(people)] if len(people) < len(browsers) else None
        people.append(Person(browser, workbench.server, known))
        return people[-1].visit()

    yield arrive
    for person in people:
        person.close()


def shown(text: str) -> str:
    """An address as a page shows it, which is no link."""
    return text.replace("@", "\u2060@")


def sign_in(person: Person, address: str) -> Person:
    """Sign in with the provider."""
    person.button("Sign in").click()
    person.page.locator("input[name=sub]").fill(address)
    person.page.get_by_role("button", name="Authorize").click()
    person.page.get_by_test_id("stAppViewContainer").wait_for()
    return person.rest()


def test_a_provider_that_is_down_is_said(
    workbench: Workbench,
    browser,
    browsers,
    request: pytest.FixtureRequest,
) -> None:
    """A bare "Authentication error" would be all that a person reads.

    This is the first test of the file: later the provider runs, and the server knows
    it.
    """
    person = Person(browser, workbench.server, browsers[0]).visit()
    person.button("Sign in").click()
    person.sees("The sign-in failed")
    request.getfixturevalue("provider_runs")
    person.button("Sign in").click()
    person.page.get_by_role("button", name="Deny").click()
    person.sees("The sign-in failed").rest()
    sign_in(person, "ada@example.org").sees("steward")
    person.page.wait_for_url(lambda url: not urllib.parse.urlsplit(url).query)
    person.close()


def test_two_people_at_once_see_their_own_only(workbench: Workbench, come) -> None:
    """Somebody would learn from an upload whether a colleague holds the same table, or
    spend its budget.
    """
    ada = come().sees("Sign in to go on")
    bob = come()
    assert ada.page.locator("input[type=file]").count() == 0
    sign_in(ada, "ada@example.org").sees("steward")
    sign_in(bob, "Bob@Example.org").sees(shown("bob@example.org"))
    ada.open(TABLE)
    bob.upload(TABLE)
    assert not bob.page.get_by_text("was opened before").count()
    assert not bob.page.get_by_text("This looks like").count()
    bob.know_all().press("Open the data set").sees("The data set is open")
    ada.visit().sees("Continue with people.csv")
    assert ada.page.get_by_text("Continue with people.csv").count() == 1
    ada.bring(TABLE, "again.csv").sees("The data set is open")  # recognized: hers
    wrote = set(workbench.lines())
    assert {("opened", "ada@example.org"), ("opened", "bob@example.org")} <= wrote
    assert not any(who == "" for _, who in wrote)
    a_removed_person_spends_nothing_more(workbench, bob)


def a_removed_person_spends_nothing_more(workbench: Workbench, bob: Person) -> None:
    """Whoever left the team would go on with an open page, or with an old cookie."""
    bob.go("Synthesize")
    bob.button("Release for").click()
    pay = bob.button("Pay and release")
    pay.wait_for()
    before = workbench.lines()
    workbench.allow("ada@example.org")
    try:
        pay.click()
        bob.sees("but this account has no role here")
        assert workbench.lines() == before
        bob.visit().sees("but this account has no role here")
    finally:
        workbench.allow(
            "ada@example.org",
            "bob@example.org",
            "cy@example.org",
            analysts=("ann@example.org",),
        )


def test_an_analyst_sees_what_a_steward_shows(workbench: Workbench, come) -> None:
    """Somebody who may only look would read rows, or not even find what was made for
    them.
    """
    cy = sign_in(come(), "cy@example.org")
    ann = sign_in(come(), "ann@example.org")
    ann.sees("analyst").sees("Nothing is shown to you yet")
    assert ann.page.locator("input[type=file]").count() == 0
    cy.open(table(2), "shown.csv").go("Synthesize").release()
    cy.go("Ledger").page.get_by_label(
        "Address of a person with a role on this server"
    ).fill("nobody@example.org")
    cy.press("Show the releases").sees("does not have the needed role on this server")
    cy.page.get_by_label("Address of a person with a role on this server").fill(
        "ann@example.org"
    )
    cy.page.get_by_label("Name that they see").fill("Pay of people")
    cy.press("Show the releases").sees(
        shown("Stop showing the data set to ann@example.org")
    )
    ann.visit().press("Continue with Pay of people").press("Open Histogram of").sees(
        "What is promised and what is not",
    )
    assert (
        ann.button("Compare with the original").count()
        == ann.button("Is it good enough?").count()
        == 0
    )
    cy.go("Synthesize").press("Show it to somebody").sees("The page behind the link")
    title = "Who lives here?"
    cy.page.get_by_label("Title").fill(title)
    cy.page.get_by_label("Title").press("Enter")
    cy.rest()
    cy.page.get_by_text("people who sign in with one of these addresses").click()
    cy.rest().page.get_by_label("Addresses, one per line").fill("*@example.org")
    cy.page.keyboard.press("Control+Enter")
    address = (
        cy.rest()
        .press("Make the link")
        .sees("Copy it now")
        .page.locator("code")
        .first.inner_text()
    )
    ann.go("Links").sees("Links of this data set").sees(shown("*@example.org"))
    assert title in ann.page.locator("body").inner_text()
    for way in ("Revoke", "Make again", "Make the link"):
        assert ann.button(way).count() == 0
    host, path = address.removeprefix("http://").split("/", 1)
    assert get(host, f"/{path}")[0] == 404  # somebody who did not sign in
    answer = ann.page.goto(address)
    assert answer is not None
    assert answer.status == 200
    assert ann.page.locator("h1").inner_text() == title
    cy.button("Revoke").scroll_into_view_if_needed()
    # the frame above it has scrolled too, and takes no click meant for it
    cy.page.wait_for_timeout(1_000)
    cy.press("Revoke").sees("revoked")
    answer = ann.page.goto(address)
    assert answer is not None
    assert answer.status == 404
    before = workbench.lines()
    ann.visit("audit").sees("This page is for stewards")
    # without a browser: each would load the program again
    for path in ("anonymize", "ledger", "codebook"):
        assert "This page is for stewards" in of_the_same_person(ann).go(path).text()
    assert workbench.lines() == before
    cy.go("Ledger").press(shown("Stop showing the data set to ann@example.org"))
    assert (
        ann.visit().sees("Nothing is shown to you yet").button("Continue with").count()
        == 0
    )
    links = of_the_same_person(ann).go("links")
    assert "Open a data set first" in links.text()
    assert not links.elements("file_uploader")
    signing_out_ends_every_tab(cy)


def of_the_same_person(person: Person) -> Visitor:
    """Another tab of somebody who has signed in."""
    cookies = person.context.cookies()
    return Visitor(
        person.server.url.removeprefix("http://"),
        visit=False,
        cookie="; ".join(f"{each['name']}={each['value']}" for each in cookies),
    ).run()


def test_somebody_without_a_role_is_refused(come) -> None:
    """Everybody whom the provider knows would read tables of personal data."""
    eve = sign_in(come(), "eve@example.org").sees("but this account has no role here")
    assert eve.button("Open this sample").count() == 0
    eve.visit("audit").sees("but this account has no role here")
    eve.button("Sign out").click()
    eve.page.get_by_role("button", name="End session").click()
    eve.page.get_by_test_id("stAppViewContainer").wait_for()
    eve.rest().sees("Sign in to go on")


def signing_out_ends_every_tab(cy: Person) -> None:
    """A second tab would go on for whoever sits at the computer next."""
    cy.go("Audit").sees("unique")
    second = cy.context.new_page()
    second.goto(cy.server.url)
    second.get_by_role("button", name="Sign out").click()
    second.get_by_role("button", name="End session").click()
    second.get_by_role("button", name="Sign in").wait_for()
    cy.link("Ledger").click()
    cy.sees("Sign in to go on").visit().sees("Sign in to go on")


def _with_a_cookie(workbench: Workbench, **claims: object) -> Visitor:
    """Somebody who comes with this cookie, as Streamlit signs it; without a browser."""
    origin = workbench.server.url
    said = {
        "origin": origin,
        "is_logged_in": True,
        "provider": "default",
        "iat": time.time(),
        **claims,
    }
    signed = create_signed_value(
        COOKIE_SECRET, "_streamlit_user", json.dumps(said)
    ).decode()
    host = origin.removeprefix("http://")
    visitor = Visitor(host).cookie
    return Visitor(
        host, visit=False, cookie=f"{visitor}; _streamlit_user={signed}"
    ).run()


def _has_a_role(workbench: Workbench, address: str) -> bool:
    """Whether the server lets somebody in who has signed in."""
    visitor = _with_a_cookie(workbench, email=address)
    visitor.close()
    return "this account has no role here" not in visitor.text()


def test_a_sign_in_ends_by_itself(workbench: Workbench, provider_runs) -> None:
    """Streamlit's cookie lasts thirty days, on whatever computer it was left."""
    ada = {"email": "ada@example.org"}
    old = _with_a_cookie(workbench, **ada, iat=time.time() - 13 * 3600)
    assert "Your sign-in has expired" in old.text()
    unconfirmed = _with_a_cookie(workbench, **ada, email_verified=False)
    assert "did not confirm your address" in unconfirmed.text()
    good = _with_a_cookie(workbench, **ada)
    assert "steward" in good.text()
    sample = "Open this sample"
    let_in = [sample in each.text() for each in (old, unconfirmed, good)]
    assert let_in == [False, False, True]
