"""One server and one browser for all tests here; each test opens tabs of its own."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import needs

HERE = Path(__file__).parent
QUICK = (
    "test_one_release_is_paid_once_and_kept",
    "test_hostile_names_ask_for_nothing_and_run_nothing",
)
"""The walks that are not left to `make proofs`."""
_numbers = itertools.count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what drives a browser, as a proof but for two walks, and skip it where there
    is none.
    """
    from tests.e2e.browser import CHROMIUM

    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            if item.name not in QUICK:
                item.add_marker(pytest.mark.proof)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason=needs.BROWSER))


if importlib.util.find_spec("playwright") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo
) -> Iterator[None]:
    """What was on each tab when a test failed: a browser on another machine cannot be
    asked afterwards.
    """
    report = yield
    if report.failed and report.when == "call":
        for number, person in enumerate(getattr(item, "people", ()), 1):
            report.sections.append((f"tab {number}", person.looks_at()))
    return report


@pytest.fixture(scope="package")
def server() -> Iterator[object]:
    from tests.e2e.browser import serving

    with serving() as server:
        yield server


@pytest.fixture(scope="package")
def browser() -> Iterator[object]:
    """Closed with the last test here: one that was left open until the last of all was
    waited for in vain.
    """
    from tests.e2e.browser import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def known_browser(browser) -> Iterator[object]:
    """A browser that keeps the program of the pages from test to test, which takes a
    second to compile.
    """
    from tests.e2e.browser import browser_of_somebody

    context = browser_of_somebody(browser)
    yield context
    context.close()


@pytest.fixture
def visitor(request, server, browser, known_browser) -> Iterator[Callable[..., object]]:
    """Opens tabs.

    When the test ends, none of them may have asked for another address or run a script.
    """
    from tests.e2e.browser import Person

    people: list[Person] = []
    request.node.people = people

    def come(path: str = "", **options: object) -> Person:
        known = None if people or options else known_browser
        people.append(Person(browser, server, known, **options))
        return people[-1].visit(path)

    yield come
    outside = [url for person in people for url in person.outside]
    scripts = [message for person in people for message in person.scripts]
    for person in people:
        person.close()
    assert outside == []
    assert scripts == []


@pytest.fixture
def table() -> bytes:
    """A small table that no other test has, and so a budget of its own."""
    return _table(next(_numbers), 300)


@pytest.fixture
def adult(request: pytest.FixtureRequest) -> bytes:
    """The real Adult table; an invented one of its shape where it is not beside the
    checkout.
    """
    from tests.conftest import SHARED
    from workbench.samples import census

    file = SHARED / "data" / "adult.csv"
    return file.read_bytes() if file.exists() else census().to_csv(index=False).encode()


def _table(number: int, rows: int) -> bytes:
    lines = [
        f"{18 + (i * 7 + number) % 60},{'FM'[i % 2]},{'ABCD'[i % 4]},{(i * 37) % 60},{(i * 53) % 40}"
        for i in range(rows)
    ]
    return "\n".join(
        [
            "age,sex,city,income,hours",
            *lines,
            f"{20 + number},F,A,{number % 60},{number % 40}",
        ],
    ).encode()
