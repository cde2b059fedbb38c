"""What a person in a real browser meets when the server goes and comes back."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.browser import Person, free_port, serving


def test_after_a_restart_the_tab_says_what_happened_and_the_way_back(browser, table, tmp_path: Path):
    """The open tab became an empty first page, without a word of what happened."""
    port, kept = free_port(), str(tmp_path / "var")
    with serving(port=port, WORKBENCH_DATA_DIR=kept) as server:
        person = Person(browser, server)
        a_bookmark_of_one_page(person)
        person.go("Data").press("Open another table").open(table).go("Synthesize").release()
        idle = Person(browser, server, person.context).visit()
    person.sees("Connection error", seconds=60)  # Streamlit's own words while nobody answers
    with serving(port=port, WORKBENCH_DATA_DIR=kept):
        person.sees("This tab lost its server", seconds=60).rest()
        person.sees("What was spent and released is kept. Open the same table again to go on.")
        person.sees("Histogram of age")  # what was released is shown still
        person.press("Understood").go("Data")
        person.upload(table).sees("The data set is open")
        assert "epsilon: spent 0.5" in person.page.locator("body").inner_text()
        person.go("Synthesize").sees("Histogram of")  # the release that was paid before
        idle.page.reload()
        idle.rest()
        assert "This tab lost its server" not in idle.page.locator("body").inner_text()  # it had no table
        person.close()


def a_bookmark_of_one_page(person: Person) -> None:
    """As the first address that a new server is asked for, it would break the navigation for everybody."""
    person.visit("ledger").sees("Here is every charge")
    assert "Share safely" in person.page.get_by_test_id("stSidebarNav").inner_text()
    person.press("Open a sample: Census").press("Open the data set").sees("spent 0 · held 0")
