"""What a person in a real browser meets when the server goes and comes back."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import suppress
from pathlib import Path

from tests.e2e.browser import Person, serving, wait_until
from tests.e2e.test_flows import choose_something_slow, count, open_for_release
from tests.ports import free_port


def test_after_a_restart_the_tab_says_what_happened_and_the_way_back(
    browser, table, tmp_path: Path
):
    """The open tab became an empty first page, without a word of what happened."""
    port = free_port()
    kept = str(tmp_path / "var")
    with serving(port=port, WORKBENCH_DATA_DIR=kept) as server:
        person = Person(browser, server)
        a_bookmark_of_one_page(person)
        person.go("Data").press("Open another table").open(table).go(
            "Synthesize"
        ).release()
        idle = Person(browser, server, person.context).visit()
    # Streamlit's own words while nobody answers
    person.sees("Connection error")
    with serving(port=port, WORKBENCH_DATA_DIR=kept):
        person.sees("This tab lost its connection to the server").rest()
        person.sees(
            "The record of what was spent and the releases are kept. Open the "
            "same table again to continue."
        )
        person.sees("Histogram of age")  # what was released is shown still
        person.press("Understood").go("Data")
        person.bring(table, "people.csv", "Drop a table here").sees(
            "The data set is open"
        )
        person.sees("spent 16.67")
        person.go("Synthesize").sees("Histogram of")  # the release that was paid before
        idle.page.reload()
        idle.rest()
        # it had no table
        assert (
            "This tab lost its connection to the server"
            not in idle.page.locator("body").inner_text()
        )
        person.close()


def a_bookmark_of_one_page(person: Person) -> None:
    """As the first address that a new server is asked for, it would break the
    navigation for everybody.
    """
    person.visit("ledger").sees("This page lists everything that was spent")
    assert "Share safely" in person.page.get_by_test_id("stSidebarNav").inner_text()
    person.press("Open this sample: Census").press("Open the data set").sees(
        "spent 0\u202f% · reserved 0\u202f%"
    )


def lease(folder: Path, renewed: str) -> None:
    """Change when the lease of the run was renewed."""
    with sqlite3.connect(folder / "workbench.sqlite", timeout=60) as database:
        database.execute(f"UPDATE ledger_running SET renewed = {renewed}")


def test_a_server_that_is_killed_in_a_paid_run_says_what_became_of_it(
    browser, table, tmp_path: Path
):
    """The charge would come twice, or be held for ever without a word."""
    port = free_port()
    kept = tmp_path / "var"
    with (
        suppress(ProcessLookupError),
        serving(port=port, WORKBENCH_DATA_DIR=str(kept)) as server,
    ):
        server.folder = kept
        person = open_for_release(Person(browser, server).visit(), table)
        choose_something_slow(person)
        person.button("Release for").click()
        person.button("Pay and release").click()
        wait_until(lambda: count(server, "reserved") == 1, "it is reserved")
        os.kill(server.process, signal.SIGKILL)
    # however long the machine takes to start a server
    lease(kept, "renewed + 1000000")
    with serving(port=port, WORKBENCH_DATA_DIR=str(kept)) as server:
        server.folder = kept
        person.sees("This tab lost its connection to the server").press(
            "Understood"
        ).go("Ledger")
        person.sees("In progress: Marginals")
        lease(kept, "0")  # a minute later
        wait_until(lambda: count(server, "failed") == 1, "it has failed")
        person.sees(
            "spent 16.67\u202f% · reserved 0\u202f% · left 83.33\u202f%"
        )  # by itself
        assert [
            state
            for _, state, _ in server.lines()
            if state in ("reserved", "committed", "failed")
        ] == [
            "reserved",
            "failed",
        ]
        assert server.releases() == 0
        person.close()
