"""The pages can be read in the dark and on a telephone, and fit on one screen."""

from __future__ import annotations

import io

import pytest

from tests.e2e.browser import PHONE, Person


def every_page(person: Person, table: bytes):
    """Show every page once, without and with a data set; yields the name of what is seen."""
    yield "Data, empty"
    for name in PAGES[1:]:
        person.go(name)
        yield f"{name}, empty"
    person.go("Data").upload(table)
    yield "Data, draft"
    if person.button("All of this is known").count():
        person.press("All of this is known")
    person.press("Open the data set").sees("The data set is open")
    yield "Data, open"
    person.go("Synthesize").sees("What you would get")
    yield "Synthesize"
    person.release()
    yield "Synthesize, result"
    for name in (*PAGES, *OTHERS):
        person.go(name).page.wait_for_timeout(500)
        person.rest()
        yield name


PAGES = ("Data", "Audit", "Anonymize", "Synthesize", "Evaluate", "Ledger")
OTHERS = ("Codebook", "Links", "Local answers", "Learn")


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desk", "phone"])
def test_no_page_is_wider_than_the_screen(visitor, table, device):
    """On a telephone one would have to scroll sideways to read."""
    person = visitor(**device)
    for seen in every_page(person, table):
        wide = person.page.evaluate(
            "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
            ".map(each => each.scrollWidth - each.clientWidth)"
        )
        assert max(wide) <= 0, (seen, wide)


def test_dark_mode_is_dark(visitor, table):
    """Whoever reads at night would get a white screen, or black letters on black."""
    from PIL import Image, ImageStat

    person = visitor(color_scheme="dark")
    for seen in every_page(person, table):
        image = Image.open(io.BytesIO(person.page.screenshot())).convert("L")
        assert ImageStat.Stat(image).mean[0] < 70, seen
        assert image.getextrema()[1] > 180, seen


@pytest.mark.parametrize(
    ("page", "step"),
    [("Data", "Open this sample"), ("Synthesize", "Release for"), ("Ledger", "epsilon: spent")],
)
def test_the_first_screen_says_what_can_be_done(visitor, table, page, step):
    """The main step of a page would be below the edge of the screen."""
    person = visitor()
    if page != "Data":
        person.open(table).go(page)
    place = person.page.get_by_text(step).first
    place.wait_for()
    assert place.bounding_box()["y"] < 750


def test_every_chart_has_words(visitor, table):
    """A screen reader would say nothing of a chart."""
    person = visitor().open(table).go("Synthesize").release()
    for page in ("Synthesize", "Evaluate"):
        person.go(page).page.wait_for_timeout(1000)
        labels = person.page.locator("[data-testid=stVegaLiteChart]").evaluate_all(
            "charts => charts.map(each => each.getAttribute('aria-label')"
            " || each.querySelector('[aria-label]')?.getAttribute('aria-label') || '')"
        )
        assert labels
        assert all(len(label) > 20 for label in labels), labels
