"""What the Audit page does in a real browser; the walks of other files come by here."""

from __future__ import annotations

import re

from tests.e2e.browser import Person


def sample(person: Person, number: int) -> Person:
    """Open one of the samples."""
    person.page.get_by_role("button", name="Open this sample").nth(number).click()
    return person.rest().press("Open the data set")


def bar(person: Person, label: str):
    """The line of a chart that can be clicked."""
    return person.page.locator(
        f"path[aria-roledescription=bar][aria-label='of: {label}']"
    )


def the_verdict_is_on_one_screen_and_a_click_takes_a_column_out(person: Person) -> None:
    """An auditor who has ten minutes would have to scroll for the answer; the chart
    would be a picture: nobody would find out which column makes people unique (the
    sample of a hospital).
    """
    for text in (
        "patient_id and name identify people.",
        "The change that helps most",
        "Make it safer",
    ):
        person.stands_on_one_screen(person.page.get_by_text(text).first, text)
    person.sees("are found with certainty").sees("Leaving out or adding one column")
    bar(person, "without birth_date").click()
    person.rest().sees("are unique as soon as somebody also knows birth_date")
    bar(person, "with birth_date").click()
    person.rest().sees("are unique as soon as somebody knows birth_date.")


def it_is_audited_and_printed(person: Person) -> None:
    """The report of Adult would lack the verdict, or carry something that a browser
    runs or fetches.
    """
    person.sees("of the people are unique as soon as somebody")
    with person.page.expect_download() as waiting:
        person.page.get_by_role("button", name="Download as one HTML file").click()
    page = waiting.value.path().read_text(encoding="utf-8")
    assert "of the people are unique as soon as somebody" in page
    assert not re.search(r"<(script|img|link|iframe)|https?://|\son\w+=", page)
    report = person.context.new_page()
    report.set_content(page)
    report.get_by_text("What attackers can expect").wait_for()
    report.close()


def the_columns_go_along_to_what_makes_it_safer(person: Person) -> None:
    """The next page would ask again, or make another change: of two columns one is left
    out here.
    """
    person.sees("Leaving out or adding one column")
    bar(person, "without city").click()
    person.rest().press("Make it safer").sees("Roles of the columns: others may know 1")
