"""Nobody is shut out: axe-core finds nothing serious on any page, in light and in dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.e2e.test_answer import Server
from tests.e2e.test_links import share
from tests.e2e.test_looks import every_page

FOREIGN = {"list": ("stSidebarNavItems",), "listitem": ('<li class="st-emotion',)}
"""Findings that no page can change, by rule and part of the markup: Streamlit's navigation has a `div`
between its list and the items."""


def serious(page: Page) -> list[str]:
    """What axe-core calls serious or critical on the page as it is now."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
        if not any(part in node["html"] for part in FOREIGN.get(each["id"], ()))
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(visitor, table, scheme):
    """People with weak eyes, or who listen to a page, could not use it (PEOPLE.md, accessibility)."""
    person = visitor(color_scheme=scheme)
    found = {seen: problems for seen in every_page(person, table) if (problems := serious(person.page))}
    assert found == {}, "\n".join(f"{seen}: {each}" for seen, all_ in found.items() for each in all_)


def test_axe_finds_nothing_serious_on_what_strangers_see(visitor, table, browser, tmp_path):
    """A stakeholder or a respondent could not read the one page that was made for them."""
    address = share(visitor().open(table).go("Synthesize").release())
    with Server(tmp_path, "randomized response") as survey:
        page = browser.new_page()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for seen in (address, survey.link()):
                page.goto(seen)
                assert serious(page) == [], (scheme, seen)
        page.close()


def test_the_focus_goes_to_the_new_heading(visitor):
    """Who listens to a page would begin at the navigation again; on a telephone one would land in the middle
    (PEOPLE.md, accessibility and mobile)."""
    person = visitor()
    for page, heading in (("Audit", "Is this anonymous?"), ("Ledger", None), ("Data", None)):
        person.page.get_by_test_id("stMain").evaluate("each => each.scrollTo(0, 9999)")
        person.go(page)
        person.page.wait_for_function("document.activeElement.tagName === 'H1'", timeout=30_000)
        assert heading is None or heading in person.page.evaluate("document.activeElement.innerText")
        assert person.page.get_by_test_id("stMain").evaluate("each => each.scrollTop") == 0
