"""Every table of the corpus through every page: refused with a sentence or worked on,
never an error page.
"""

from __future__ import annotations

import pytest

from tests.pages.corpus import CORPUS, GROUPS, group
from tests.pages.tab import Tab
from tests.tiers import ROOT
from workbench.session import TableChoice, page_script

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
OPENED = {"1,000 columns, two used"}
UNFORESEEN = "server's log lists it as"


def test_the_corpus_is_large_enough() -> None:
    """A walk of a few tables, or of half of the pages, would find few faults."""
    assert len(CORPUS) >= 100
    assert len(PAGES) >= 10


def _look(tab: Tab, where: str) -> None:
    assert not tab.at.exception, f"{where}: {[each.value for each in tab.at.exception]}"
    assert UNFORESEEN not in tab.errors, where
    assert "holds something that cannot be read" not in tab.errors, (
        f"{where}: {tab.errors}"
    )
    for each in tab.at.button:
        if each.disabled:
            said = [*tab.at.caption, *tab.at.error, *tab.at.info, *tab.at.warning]
            assert said, f"{where}: {each.label!r} is disabled and nothing says why"


@pytest.mark.proof
@pytest.mark.parametrize("number", range(GROUPS))
def test_every_table_through_every_page(app: Tab, number: int) -> None:
    """A valid table would end in an error page, and its owner not get any further."""
    for name, (content, file) in group(number).items():
        app.go("upload")
        if app.session.curator is not None and not app.session.own(TableChoice).is_open:
            app.press("Open another table")
        app.upload(content, file)
        _look(app, f"{name}: upload")
        if app.session.draft is None:
            assert app.errors, f"{name}: neither read nor refused"
            continue
        for each in app.at.get("button_group"):
            if each.label.startswith("Maximum number of rows") and each.value is None:
                each.set_value(1)
        app.know_all()
        button = app.button("Open the data set")
        if button.disabled:
            app.press("Open another table")
            _look(app, f"{name}: draft")
            continue
        button.click().run()
        _look(app, f"{name}: opening")
        if app.session.draft is not None:
            assert app.errors, f"{name}: neither opened nor refused"
            app.press("Open another table")
            continue
        for page in PAGES:
            app.at.switch_page(str(page_script(page))).run()
            _look(app, f"{name}: {page}")
