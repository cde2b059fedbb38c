"""From a fork to a link that somebody else opens, on a host that shows the app in a
frame, under a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.deploy.certificate import write_certificate
from tests.e2e.browser import CHROMIUM, Person, serving
from tests.e2e.cloud import NAME, OTHER, UNDER, Host, hosting
from tests.ports import free_port

TYPED = re.compile(r'^(\w+) = "([^"]+)"$', re.MULTILINE)
OPTIONS = {"ignore_https_errors": True, "viewport": {"width": 1280, "height": 1100}}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """The host, over an encrypted connection, as browsers tell of frames on such
    alone.
    """
    folder = tmp_path_factory.mktemp("tls")
    write_certificate(folder, NAME)
    with hosting(folder / "fullchain.pem", folder / "privkey.pem", free_port()) as host:
        yield host


@pytest.fixture(scope="module")
def far_browser(browser: Browser) -> Iterator[Browser]:
    """A browser to which both names lead here."""
    rules = f"MAP {NAME} 127.0.0.1, MAP {OTHER} 127.0.0.1"
    usual = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
    far = browser.browser_type.launch(
        executable_path=CHROMIUM,
        args=[*usual, f"--host-resolver-rules={rules}"],
    )
    yield far
    far.close()


class Visitor(Person):
    """Somebody whose browser shows the app within the frame of the host."""

    def enter(self, address: str) -> Visitor:
        """Open a page, and act within its frame."""
        self.tab = self.page
        self.tab.goto(address)
        self.tab.locator("iframe").wait_for()
        (frame,) = self.tab.main_frame.child_frames
        frame.wait_for_load_state()
        self.page = frame  # type: ignore[assignment]
        return self


def test_from_a_fork_to_a_link(host: Host, far_browser: Browser) -> None:
    """With no file edited, the page stayed empty, or each link opened the first page
    and not the release.
    """
    # a fork as it is: words, and what they say is typed as secrets
    with serving() as server:
        host.server = server.url.removeprefix("http://")
        stranger = Visitor(far_browser, host, **OPTIONS).enter(host.url)
        stranger.sees("does not know the name in the address")
        typed = dict(TYPED.findall(stranger.page.locator("pre").inner_text()))
        stranger.close()
    assert typed == {"WORKBENCH_ADDRESS": f"{host.url}/~/+", "WORKBENCH_FRAMES": "self"}
    with serving(**typed) as server:
        host.server = server.url.removeprefix("http://")
        steward = Visitor(far_browser, host, **OPTIONS).enter(host.url)
        steward.rest().sees("This is a demo").sees(
            "The disk of this host is not permanent"
        )
        assert steward.page.locator("input[type=file]").count() == 0
        steward.press("Open this sample: Census").sees("What is it for?").rest()
        steward.press("See what you would get").sees("What you would get").rest()
        steward.release().press("Show it to somebody").sees(
            "The page behind the link"
        ).rest()
        steward.page.get_by_label("Title").fill("Who lives here?")
        steward.page.get_by_label("Title").press("Enter")
        steward.rest().press("Make the link").sees("Copy it now")
        assert steward.page.get_by_text("only on this computer").count() == 0
        address = steward.page.get_by_test_id("stCode").first.inner_text().strip()
        assert address.startswith(f"{host.url}{UNDER}share/")

        stakeholder = Person(far_browser, host, java_script_enabled=False, **OPTIONS)
        answer = stakeholder.page.goto(address)
        assert answer is not None
        assert answer.status == 200
        stakeholder.page.get_by_role(
            "heading", name="What is promised and what is not"
        ).wait_for()
        assert stakeholder.page.locator("svg").count() >= 1
        # the shell: the first page
        assert stakeholder.page.locator("iframe").count() == 0

        elsewhere = Visitor(far_browser, host, **OPTIONS).enter(host.other)
        elsewhere.sees("Open this page in its own tab")
        with elsewhere.tab.expect_popup() as opened:
            elsewhere.page.get_by_role("link", name="Open in its own tab").click()
        opened.value.get_by_text("This is a demo").first.wait_for()
        assert opened.value.url == f"{host.url}{UNDER}"
        for person in (steward, stakeholder, elsewhere):
            person.close()
