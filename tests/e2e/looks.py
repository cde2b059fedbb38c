"""A walk by every page, and what is seen of one: width, light, main step, and what
charts say.
"""

from __future__ import annotations

import io

from PIL import Image, ImageStat

from tests.e2e.browser import Person


def every_page(person: Person, table: bytes):
    """Show every page once, without and with a data set; yields the name of what is
    seen.
    """
    yield "Data, empty"
    for name in PAGES[1:]:
        person.go(name)
        yield f"{name}, empty"
    person.go("Data").upload(table)
    yield "Data, draft"
    person.know_all()
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
        if name == "Learn":
            person.page.get_by_text("The book's figures, measured again").click()
            person.rest().sees("k = 25").page.wait_for_timeout(500)
            yield "Learn, figures of the book"


PAGES = ("Data", "Audit", "Anonymize", "Synthesize", "Evaluate", "Ledger")
OTHERS = ("Codebook", "Links", "Local answers", "Learn")


def too_wide(person: Person) -> bool:
    """Whether one has to scroll sideways to read."""
    wide = person.page.evaluate(
        "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
        ".map(each => each.scrollWidth - each.clientWidth)",
    )
    return max(wide) > 0


def skipped_headings(person: Person) -> list[str]:
    """Headings more than one level below the one before: who listens looks for what is
    missing.
    """
    found: list[str] = person.page.get_by_test_id("stMain").evaluate(
        """main => {
            const seen = [...main.querySelectorAll('h1, h2, h3, h4, h5, h6')]
                .filter(each => each.checkVisibility())
            const level = each => Number(each.tagName[1])
            return seen.filter((each, i) => level(each) > (i ? level(seen[i - 1]) : 0) + 1)
                .map(each => each.textContent)
        }""",
    )
    return found


def overlaps_on_paper(person: Person) -> list[str]:
    """Texts that lie over each other when the page is printed."""
    page = person.page
    page.emulate_media(media="print")
    found: list[str] = page.get_by_test_id("stMain").evaluate(
        """main => {
            const texts = [...main.querySelectorAll('p, h1, h2, h3, button, li')].filter(each =>
                each.checkVisibility() && each.innerText.trim() && !each.querySelector('p, li')
                && !each.closest('[data-testid=stSlider]'))
            const box = each => each.getBoundingClientRect()
            const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3
                && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3
            return texts.flatMap((one, i) => texts.slice(i + 1)
                .filter(other => !one.contains(other) && meet(box(one), box(other)))
                .map(other => `${one.innerText.slice(0, 40)} over ${other.innerText.slice(0, 40)}`))
        }""",
    )
    page.emulate_media(media="screen")
    return found


def cut_texts(person: Person) -> list[str]:
    """Badges, figures and sentences to agree to that end in an ellipsis."""
    found: list[str] = person.page.get_by_test_id("stMain").evaluate(
        """main => [...main.querySelectorAll(
            '.stMarkdownBadge, [data-testid=stMetricValue] *, [data-testid=stCheckbox] *')]
            .filter(each => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1
                && getComputedStyle(each).textOverflow === 'ellipsis')
            .map(each => each.textContent)""",
    )
    return found


def charts_beyond(person: Person) -> list[str]:
    """Charts that reach beyond their container, or beyond the screen, where nobody can
    see the rest.
    """
    person.charts_are_drawn().page.wait_for_timeout(300)
    found: list[str] = person.page.locator(
        "[data-testid=stVegaLiteChart]"
    ).evaluate_all(
        """charts => charts.filter(each => each.checkVisibility({visibilityProperty: true})).flatMap(each => {
            const own = each.getBoundingClientRect()
            const end = Math.min(own.right, document.documentElement.clientWidth) + 1
            return [...each.querySelectorAll('canvas, svg')]
                .map(drawn => drawn.getBoundingClientRect())
                .filter(drawn => own.width && drawn.right > end)
                .map(drawn => `${Math.round(drawn.width)} in ${Math.round(own.width)}`)
        })""",
    )
    return found


def is_light(person: Person) -> bool:
    """Whether the screen is white, or has black letters on black."""
    image = Image.open(io.BytesIO(person.page.screenshot())).convert("L")
    return ImageStat.Stat(image).mean[0] >= 70 or image.getextrema()[1] <= 180


def is_below_the_edge(person: Person, step: str) -> bool:
    """Whether one has to scroll to find the main step of a page."""
    place = person.page.get_by_text(step).first
    place.wait_for()
    return place.bounding_box()["y"] >= 750


def wordless_charts(person: Person) -> list[str]:
    """Labels of charts of which a screen reader says nothing; there must be a chart."""
    person.charts_are_drawn().page.wait_for_timeout(500)
    labels = person.page.locator("[data-testid=stVegaLiteChart]").evaluate_all(
        "charts => charts.map(each => each.getAttribute('aria-label')"
        " || each.querySelector('[aria-label]')?.getAttribute('aria-label') || '')",
    )
    return [label for label in labels if len(label) <= 20] if labels else ["no chart"]
