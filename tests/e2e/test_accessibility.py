"""Nobody is shut out: every page in light on a desk, and in the dark on a telephone,
each in one walk.
"""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.e2e.audit import the_columns_go_along_to_what_makes_it_safer
from tests.e2e.browser import PHONE
from tests.e2e.looks import (
    charts_beyond,
    cut_texts,
    every_page,
    is_below_the_edge,
    is_light,
    overlaps_on_paper,
    skipped_headings,
    too_wide,
    wordless_charts,
)
from tests.e2e.test_answer import Server
from tests.e2e.test_links import it_is_read_until_it_is_revoked, share
from tests.e2e.test_local_dp import part

FOREIGN = {"list": ("stSidebarNavItems",), "listitem": ('<li class="st-emotion',)}
"""Findings that no page can change, by rule and part of the markup: Streamlit's
navigation has a `div` between its list and the items.
"""


COLORS = ("color-contrast", "link-in-text-block")
"""The rules that depend on light or dark; the others look at what is the same in
both.
"""


def serious(page: Page, rules: tuple[str, ...] = ()) -> list[str]:
    """What axe-core calls serious or critical on the page as it is now, by all rules or
    by these.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found = page.evaluate(
        "async options => (await axe.run(options)).violations", options
    )
    return [
        f"{each['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
        if not any(part in node["html"] for part in FOREIGN.get(each["id"], ()))
    ]


PRINTED = ("Synthesize, result", "Anonymize", "Ledger", "Links")
FIRST_STEPS = {
    ("Data, empty", False): "A table to share",
    ("Synthesize", False): "Release for",
    ("Ledger", True): "Budget: spent",
}
"""The main step of a page, before and after something was released."""


def test_every_page_in_light(visitor, table, browser, tmp_path):
    """In one walk: people with weak eyes, or who listen, could not use a page;
    it would be wider than the screen, its main step below the edge, or a chart without
    words."""
    person = visitor()
    the_focus_goes_to_the_new_heading(person)
    problems = []
    released = False
    for seen in every_page(person, table):
        released = released or seen == "Synthesize, result"
        problems += [(seen, each) for each in serious(person.page)]
        if too_wide(person):
            problems.append((seen, "wider than the screen"))
        if released and seen in PRINTED:
            problems += [
                (seen, f"printed: {each}") for each in overlaps_on_paper(person)
            ]
        if skipped := skipped_headings(person):
            problems.append((seen, f"a level of headings is skipped before {skipped}"))
        problems += [
            (seen, f"a chart beyond its place: {each}")
            for each in charts_beyond(person)
        ]
        step = FIRST_STEPS.get((seen, released))
        if step and is_below_the_edge(person, step):
            problems.append((seen, "the main step is below the edge"))
        if released and seen in ("Synthesize", "Evaluate"):
            problems += [
                (seen, f"a chart without words: {each!r}")
                for each in wordless_charts(person)
            ]
    assert problems == []
    address = share(person.go("Synthesize"))
    what_strangers_see(address, browser, tmp_path)
    it_is_read_until_it_is_revoked(person, address, browser, tmp_path)


def what_strangers_see(address, browser, folder):
    """A stakeholder or a respondent could not read the one page that was made for
    them.
    """
    with Server(folder, "randomized response") as survey:
        page = browser.new_page()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for seen in (address, survey.link()):
                page.goto(seen)
                assert serious(page) == [], (scheme, seen)
        page.close()


def the_focus_goes_to_the_new_heading(person):
    """Who listens would begin at the navigation again; on a telephone one would land in
    the middle.
    """
    for page, heading in (
        ("Audit", "Is this anonymous?"),
        ("Ledger", None),
        ("Data", None),
    ):
        person.page.get_by_test_id("stMain").evaluate("each => each.scrollTo(0, 9999)")
        person.go(page)
        person.page.wait_for_function("document.activeElement.tagName === 'H1'")
        assert heading is None or heading in person.page.evaluate(
            "document.activeElement.innerText"
        )
        person.begins_at_its_top()


def test_every_page_in_the_dark_on_a_telephone(visitor, table):
    """Whoever reads at night would get a white screen, black letters on black, or words
    too pale to read; on a telephone one would have to scroll sideways to read.
    """
    person = visitor(**PHONE, color_scheme="dark")
    problems = [("the navigation", each) for each in navigation_in_the_dark(person)]
    for seen in every_page(person, table):
        problems += [(seen, each) for each in serious(person.page, COLORS)]
        if is_light(person):
            problems.append((seen, "not dark"))
        if too_wide(person):
            problems.append((seen, "too wide"))
        problems += [(seen, f"cut: {each}") for each in cut_texts(person)]
        problems += [
            (seen, f"a chart beyond its place: {each}")
            for each in charts_beyond(person)
        ]
        if seen == "Audit":
            the_columns_go_along_to_what_makes_it_safer(person)
        if seen == "Local answers":
            for name in ("Design a survey", "Answer", "Read the answers"):
                part(person, name).page.wait_for_timeout(500)
                if (
                    too_wide(person)
                    or person.page.evaluate("document.documentElement.scrollWidth")
                    > 390
                ):
                    problems.append((name, "too wide"))
    assert problems == []


def navigation_in_the_dark(person):
    """What is hard to read in the navigation, which is folded away on a telephone."""
    person.page.get_by_test_id("stExpandSidebarButton").click()
    person.link("Ledger").wait_for()
    person.stands_still()  # it slides in
    found = serious(person.page, COLORS)
    person.link("Data").click()
    person.rest()
    return found
