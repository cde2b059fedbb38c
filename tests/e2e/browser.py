"""A server of the app, and a person in a real browser before it."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Locator,
    Page,
    expect,
    sync_playwright,
)
from playwright.sync_api import (
    TimeoutError as NotInTime,
)

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
SECOND = 1000
PATIENCE = 240 * SECOND
"""How long a walk waits for what must come, on a machine that does much else."""
expect.set_options(timeout=PATIENCE)
PHONE = {
    "viewport": {"width": 390, "height": 800},
    "has_touch": True,
    "is_mobile": True,
    "user_agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Mobile Safari/604.1",
}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WITHOUT = (
    # pages of its own in each window: a second of computing
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "LensOverlay",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "PaintHolding",
    "MediaRouter",
    "ThirdPartyStoragePartitioning",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
)
"""Features of Chromium that tests do without.

All but the first two are those that Playwright turns off: only the last list that
Chromium is given counts.
"""


class Server:
    """The app under its own address, with a ledger in a folder of its own."""

    def __init__(self, folder: Path, port: int, process: int) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self.process = process

    @property
    def _file(self) -> Path:
        return self.folder / "workbench.sqlite"

    def lines(self) -> list[tuple[str, str, int]]:
        """(request id, state, units) of every line of the ledger."""
        with sqlite3.connect(self._file, timeout=PATIENCE / SECOND) as database:
            return database.execute(
                (
                    "SELECT request_id, state, units FROM ledger_lines ORDER BY "
                    "dataset, "
                    "number"
                ),
            ).fetchall()

    def computing(self) -> set[int]:
        """Processes that compute something for it now: children of the one that waits
        for work.
        """
        parents = {}
        for status in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has just ended
                fields = status.read_text().rpartition(")")[2].split()
                if fields[0] != "Z":
                    parents[int(status.parent.name)] = int(fields[1])
        return {
            process
            for process, parent in parents.items()
            if parents.get(parent) == self.process
        }

    def releases(self) -> int:
        """How many releases are stored."""
        with sqlite3.connect(self._file, timeout=PATIENCE / SECOND) as database:
            return database.execute("SELECT count(*) FROM ledger_releases").fetchone()[
                0
            ]


@contextmanager
def serving(script: str = "app.py", port: int = 0, **settings: str) -> Iterator[Server]:
    """Start the app as `make app` does, with these settings in its environment."""
    port = port or free_port()
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            name: value for name, value in os.environ.items() if name != "DATABASE_URL"
        }
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "streamlit",
                "run",
                script,
                "--server.port",
                str(port),
            ],
            cwd=ROOT,
            env={**environment, "WORKBENCH_DATA_DIR": folder, **settings},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            server = Server(Path(folder), port, process.pid)
            _wait_for(server.url)
            yield server
        finally:
            process.terminate()
            process.wait(PATIENCE // SECOND)


def _wait_for(url: str) -> None:
    end = (
        time.monotonic() + PATIENCE / SECOND
    )  # to start takes a minute where it is busy
    while True:
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=2).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def wait_until(
    holds: Callable[[], object], what: str, seconds: float = PATIENCE / SECOND
) -> None:
    """Wait until something holds; look often, as it may hold for a short time only."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"it did not come to that: {what}"
        time.sleep(0.05)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium that asks for nothing by itself."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                f"--disable-features={','.join(WITHOUT)}",
            ],
        )
        yield browser
        browser.close()


def browser_of_somebody(browser: Browser, **context: object) -> BrowserContext:
    """A browser of its own: cookies, storage and cache are nobody else's."""
    usual = {"viewport": {"width": 1280, "height": 800}, "accept_downloads": True}
    return browser.new_context(**{**usual, **context})


def _scroll_to(place: Locator) -> bool:
    """Scroll to a place; return whether it was still there."""
    try:
        place.scroll_into_view_if_needed()
    except Error as error:
        if "not attached" not in str(error):
            raise
        return False
    return True


class Person:
    """One tab, and what a person does in it.

    Everything that the tab sends or receives is kept.

    Args:
        context: the browser of somebody, which outlives the tab; without, one of its
            own with `options`.
    """

    def __init__(
        self,
        browser: Browser,
        server: Server,
        context: BrowserContext | None = None,
        **options: object,
    ) -> None:
        self.server = server
        self._own = context is None
        self.context = context or browser_of_somebody(browser, **options)
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.requests: list[str] = []
        self.scripts: list[str] = []
        self.received: list[bytes] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on(
            "dialog",
            lambda dialog: (self.scripts.append(dialog.message), dialog.dismiss()),
        )
        self.page.on("websocket", self._listen)

    def _listen(self, websocket) -> None:
        websocket.on(
            "framereceived",
            lambda frame: self.received.append(
                frame if isinstance(frame, bytes) else frame.encode()
            ),
        )

    @property
    def outside(self) -> list[str]:
        """Addresses other than the app's own that the tab asked for."""
        own = (
            self.server.url,
            self.server.url.replace("http", "ws", 1),
            "data:",
            "blob:",
        )
        return [url for url in self.requests if not url.startswith(own)]

    def visit(self, path: str = "") -> Person:
        """Open an address of the app."""
        self.page.goto(f"{self.server.url}/{path}")
        self.page.get_by_test_id("stAppViewContainer").wait_for()
        return self.rest()

    def rest(self) -> Person:
        """Wait until no script runs and nothing moves any more."""
        self.page.wait_for_selector(
            "[data-testid=stApp][data-test-script-state=notRunning]",
        )
        self.page.wait_for_timeout(150)
        self.page.wait_for_selector(
            "[data-testid=stApp][data-test-script-state=notRunning]",
        )
        return self

    def sees(self, text: str) -> Person:
        """Wait for a text on the page."""
        self.page.get_by_text(text).first.wait_for()
        return self

    def button(self, name: str) -> Locator:
        """A button by the beginning of its label."""
        return self.page.get_by_role("button", name=name).first

    def stands_on_one_screen(self, place: Locator, what: str) -> Person:
        """Wait until a place is above the edge of the screen, on a page that may be
        drawn part by part.
        """
        place.wait_for()
        size = self.page.viewport_size
        assert size is not None

        def is_there() -> bool:
            box = place.bounding_box()
            return box is not None and box["y"] + box["height"] < size["height"]

        wait_until(is_there, f"{what} is above the edge")
        return self

    def begins_at_its_top(self) -> Person:
        """Wait until the page is not scrolled."""
        self.page.wait_for_function(
            "document.querySelector('[data-testid=stMain]').scrollTop === 0"
        )
        return self

    def stands_still(self) -> Person:
        """Wait until what slides or fades has come to its end."""
        self.page.wait_for_function(
            "document.getAnimations().every(each => each.playState !== 'running'"
            " || each.effect.getComputedTiming().endTime === Infinity)"
        )
        return self

    def charts_are_drawn(self) -> Person:
        """Wait until each chart that is to be seen holds a drawing."""
        self.page.wait_for_function(
            "[...document.querySelectorAll('[data-testid=stVegaLiteChart]')].every("
            "each => !each.checkVisibility() || each.querySelector('canvas, svg'))"
        )
        return self

    def link(self, name: str) -> Locator:
        """A page in the navigation."""
        return self.page.get_by_test_id("stSidebarNav").get_by_role("link", name=name)

    def press(self, name: str) -> Person:
        """Press a button."""
        self.click(self.button(name))
        return self.rest()

    def click(self, place: Locator) -> None:
        """Click a place that has been on the screen for two frames.

        Chromium finds what is under the pointer by the last frame. A frame with a page
        of its own that was scrolled away since would get the click.
        """
        # a page that is drawn anew while it is scrolled takes the place away
        wait_until(lambda: _scroll_to(place), "the place can be scrolled to")
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        place.click()

    def go(self, name: str) -> Person:
        """Choose a page in the navigation; on a narrow screen it is folded away at
        first.
        """
        opener = self.page.get_by_test_id("stExpandSidebarButton")
        if opener.is_visible():
            opener.click()
        self.link(name).click()
        # by the run of that page
        expect(self.page).to_have_title(re.compile(name))
        return self.rest()

    def upload(self, content: bytes, name: str = "people.csv") -> Person:
        """Choose a file on the Data page, to share something of it."""
        self.bring(content, name)
        # known tables open at once
        read = re.compile("Who is protected\\?|The data set is open")
        self.page.get_by_text(read).first.wait_for()
        return self.rest()

    def bring(
        self, content: bytes, name: str, field: str = "A table to share"
    ) -> Person:
        """Choose a file for one of the fields of the first page."""
        file = {"name": name, "mimeType": "text/csv", "buffer": content}
        place = self.page.get_by_test_id("stFileUploader").filter(has_text=field)
        place.locator("input[type=file]").set_input_files(file)
        return self

    def open(self, content: bytes, name: str = "people.csv") -> Person:
        """Upload a table and open it as suggested, all of it known from outside."""
        self.upload(content, name)
        if self.page.get_by_text("The data set is open").count():
            return self
        return self.know_all().press("Open the data set").sees("The data set is open")

    def choose_rows(self) -> Person:
        """Choose how many rows of a person count, where it is asked and not said
        yet.
        """
        self.rest()
        cap = self.page.get_by_role("radiogroup", name="Maximum number of rows")
        if cap.count() and not cap.get_by_role("radio", checked=True).count():
            cap.get_by_role("radio", name="1", exact=True).click()
            self.rest()
        return self

    def know_all(self) -> Person:
        """Answer each question on what is known from outside, so that nothing counts as
        taken from it.
        """
        self.choose_rows()
        answers = (
            "Yes, this is plainly public",
            "Use the round bounds",
            "Use this as the source",
        )
        while True:
            label = next((each for each in answers if self.button(each).count()), None)
            if label is None:
                return self
            if label != answers[-1]:
                with suppress(NotInTime):  # a button of the run before goes away
                    self.button(label).click(timeout=3 * SECOND)
                self.rest()
                continue
            self.page.get_by_label("Known from").fill("a test")
            self.page.keyboard.press("Enter")
            self.rest().press(label)

    def release(self) -> Person:
        """Pay for what the Synthesize page offers, and wait for the result."""
        self.click(self.button("Release for"))
        self.click(self.button("Pay and release"))
        return self.sees("What is promised and what is not").rest()

    def choose_columns(self, *names: str) -> Person:
        """Choose columns that should be counted together."""
        box = self.page.get_by_label("Columns that should be counted together")
        for name in names:
            box.fill(name)  # the list holds only what would be seen of it
            self.page.get_by_role("option", name=name, exact=True).click()
        self.page.keyboard.press("Escape")
        return self.rest()

    def say_epsilon(self, epsilon: str) -> Person:
        """Type the epsilon to spend."""
        box = self.page.get_by_label("epsilon", exact=True)
        box.fill(epsilon)
        box.press("Enter")
        return self.rest()

    def looks_at(self) -> str:
        """What the tab shows: its address, where the focus is, whether a script runs,
        and all words.
        """
        try:
            seen = self.page.evaluate("""[location.href, document.activeElement.outerHTML.slice(0, 300),
                document.querySelector('[data-testid=stApp]')?.dataset.testScriptState,
                document.body.innerText]""")
        except Error as error:
            return str(error)
        return "\n".join(
            line for part in seen for line in str(part).splitlines() if line.strip()
        )

    def close(self) -> None:
        """Close the tab; its browser keeps the program of the pages, and nothing of
        what was done there.
        """
        if self._own:
            self.context.close()
            return
        self.context.clear_cookies()
        for page in self.context.pages:
            with suppress(Error):  # a page of no address has no storage
                page.evaluate("[localStorage.clear(), sessionStorage.clear()]")
            page.close()
