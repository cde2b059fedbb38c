"""The three ways to begin, by keyboard alone and on a telephone, from the first page to
what comes out.
"""

from __future__ import annotations

from tests.e2e.browser import PHONE, Person
from tests.e2e.test_flows import press_by_keyboard

SCREEN = {"viewport": {"width": 390, "height": 844}}


def test_the_keyboard_is_enough_for_each_way(visitor):
    """Whoever uses no mouse could not check a table, share one, or ask a question."""
    person = visitor()
    press_by_keyboard(person, "Check this sample: Hospital visits").sees(
        "people are unique"
    ).rest()
    person.visit()
    press_by_keyboard(person, "Ask a question").sees("Ask without learning").rest()
    press_by_keyboard(person, "Make 1,000 links").sees("The survey is open")
    person.visit()
    press_by_keyboard(person, "Open this sample: Census").sees("What is it for?").rest()
    press_by_keyboard(person, "See what you would get").sees(
        "What you would get"
    ).rest()
    press_by_keyboard(person, "Release for").sees("Pay and release").rest()
    press_by_keyboard(person, "Pay and release").sees("What is promised").rest()
    press_by_keyboard(person, "Show it to somebody").sees("Make the link").rest()
    person.page.get_by_label("Title").fill("Who lives here?")
    person.page.get_by_label("Title").press("Enter")
    person.rest()
    press_by_keyboard(person, "Make the link").sees("/share/")


def test_the_three_ways_stand_beside_each_other(visitor):
    """The third way lay below the fold of a usual screen, beside an empty half."""
    person = visitor()
    tops = {
        round(person.page.get_by_role("heading", name=name).bounding_box()["y"])
        for name in ("Check a table", "Share numbers or a table", "Collect answers")
    }
    assert len(tops) == 1


def test_a_telephone_shows_the_heading_and_the_price_first(visitor, table):
    """On a telephone a page opened in its middle, and price and button lay three
    screens down.
    """
    person = visitor(**{**PHONE, **SCREEN})
    the_page_begins_at_its_heading(person, "first page")
    person.bring(table, "people.csv", "A table to check").sees(
        "Is this anonymous?"
    ).rest()
    the_page_begins_at_its_heading(person, "verdict")
    person.go("Data").sees("What is it for?").rest()
    is_on_the_first_screen(person, "See what you would get")
    person.page.get_by_test_id("stMain").evaluate("each => each.scrollTo(0, 9999)")
    person.press("See what you would get").sees("What you would get").rest()
    the_page_begins_at_its_heading(person, "before paying")
    is_on_the_first_screen(person, "Release for")
    person.release()
    the_page_begins_at_its_heading(person, "result")
    person.go("Data").press("Open another table")
    the_page_begins_at_its_heading(person, "another table")


def the_page_begins_at_its_heading(person: Person, where: str) -> None:
    person.page.wait_for_timeout(300)
    person.begins_at_its_top()
    box = person.page.locator("h1").first.bounding_box()
    assert box is not None
    assert 0 < box["y"] < 400, where


def is_on_the_first_screen(person: Person, button: str) -> None:
    person.stands_on_one_screen(person.button(button), button)
