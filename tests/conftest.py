"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import needs
from tests.same_noise import SAME_NOISE

settings.register_profile(  # a busy machine is no failure
    "full", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("full"), max_examples=25)
settings.load_profile("quick")

SKIPPED = "workbench/skipped"
"""Where pytest's cache keeps which tests the last run skipped."""
TESTS = Path(__file__).resolve().parent
SHARED = TESTS.parents[1] / "shared"


def _together(item: pytest.Item) -> str:
    """What starts something large that one worker should start for all of it; empty for
    other tests.
    """
    if "spark" in item.nodeid:
        return "spark"
    if "e2e" in item.path.parts:
        return item.path.name
    return "server" if {"web", "deploy"} & {*item.path.parts} else ""


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """What starts Spark is a proof.

    With `--skipped`, what the run before skipped is taken alone.
    """
    if config.getoption("--skipped"):
        skipped = set(config.cache.get(SKIPPED, []))
        items[:] = [
            each
            for each in items
            if {each.nodeid, each.nodeid.partition("::")[0]} & skipped
        ]
    for item in items:
        if _together(item) == "spark":
            item.add_marker(pytest.mark.proof)


@pytest.hookimpl(trylast=True, specname="pytest_collection_modifyitems")
def deal(items: list[pytest.Item]) -> None:
    """Long tests first, dealt to the workers: xdist gives each worker an even share of
    the list, in order.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers == 1:
        return
    sizes = Counter(map(_together, items))
    del sizes[""]
    hands = {
        name: place % workers for place, (name, _) in enumerate(sorted(sizes.items()))
    }
    short = [item for item in items if not _together(item)]
    share = len(items) // workers
    dealt = list[pytest.Item]()
    for worker in range(workers):
        long = [item for item in items if hands.get(_together(item)) == worker]
        rest = len(short) if worker == workers - 1 else max(0, share - len(long))
        dealt += [*long, *short[:rest]]
        short = short[rest:]
    items[:] = dealt


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--skipped` runs what the run before skipped, as pytest's own `--lf` runs what
    failed.
    """
    parser.addoption(
        "--skipped",
        action="store_true",
        help="run the tests that the last run here skipped",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Let our filters of warnings come after those of Authlib."""
    import authlib.deprecate  # noqa: F401 - it asks for its warnings to be shown, unless our filters come later


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count what does not apply by itself: nothing that could be installed would make
    it run.
    """
    if report.skipped and needs.NOT_APPLICABLE in _reason(report):
        return needs.NOT_APPLICABLE, "-", needs.NOT_APPLICABLE.upper()
    return None


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test was skipped."""
    return (
        str(report.longrepr[2])
        if isinstance(report.longrepr, tuple)
        else str(report.longrepr)
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what was skipped, by reason, and what the quick tier left out; keep which
    tests were skipped.
    """
    if config.option.collectonly:
        return
    skipped = terminalreporter.stats.get("skipped", [])
    config.cache.set(SKIPPED, sorted({report.nodeid for report in skipped}))
    counts = Counter(
        next(
            (
                name
                for name in needs.REASONS
                if name.partition(":")[0] in _reason(report)
            ),
            _reason(report),
        )
        for report in skipped
    )
    for reason, count in counts.most_common():
        terminalreporter.write_line(f"{count} skipped for want of {reason}")
    if "not proof" in config.getoption("markexpr"):
        terminalreporter.write_line(
            (
                "Browser walks, Spark, laws and properties in full were left out: make "
                "proofs"
            ),
        )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Before any fixture of the test draws noise."""
    SAME_NOISE.begin(item.path.relative_to(TESTS))
    return (yield)


def pytest_collection_finish() -> None:
    """What was imported stays until the end: the collector need not look through it
    again and again.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Streamlit leaves its page as the main module, and processes that later tests
    start would run it.
    """
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session")
def server() -> Iterator[object]:
    """One server for the tests of its door and of what is put before it; each is a
    visitor of its own.
    """
    from tests.workbench.server.web.client import serving

    with serving() as server:
        yield server


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference tables beside the checkout; a test that needs it is
    skipped without it.
    """
    if not (SHARED / "data" / "adult.csv").exists():
        pytest.skip(needs.SHARED)
    return SHARED


@pytest.fixture(autouse=True)
def database_of_tests() -> Iterator[None]:
    """Reading the settings takes DATABASE_URL away, which later tests need."""
    url = os.environ.get("DATABASE_URL")
    yield
    if url is not None:
        os.environ["DATABASE_URL"] = url
