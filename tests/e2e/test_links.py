"""A release is shown to somebody: steward and stakeholder in two browsers, the second
on a phone's width.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import FrameLocator

import dpcore as dp
from tests.e2e.browser import PHONE, Person, serving

TITLE = "Ages of our patients"


def link_of(steward: Person) -> str:
    return steward.page.locator("[data-testid=stCode] code").first.inner_text().strip()


def framed(person: Person) -> FrameLocator:
    """The page within a page: of the tab's origin, a fault in it could read and press
    all of the tab.
    """
    frame = person.page.frame_locator("iframe").first.frame_locator("iframe").first
    frame.locator("body").wait_for()
    assert frame.locator("body").evaluate("() => window.origin") == "null"
    return frame


def share(steward: Person) -> str:
    """From a shown release to a link."""
    steward.press("Show it to somebody").sees("The page behind the link")
    steward.page.get_by_label("Title").fill(TITLE)
    steward.page.get_by_label("Title").press("Enter")
    steward.rest()
    return link_of(steward.press("Make the link").sees("Copy it now"))


def it_is_read_until_it_is_revoked(
    steward: Person, address: str, browser, folder: Path
) -> None:
    """A stakeholder, with a phone, no cookies and JavaScript turned off, could not
    read, ask, download or print what the steward has just shared; or still read it when
    the link is revoked.
    """
    stakeholder = Person(browser, steward.server, **PHONE, java_script_enabled=False)
    frame = framed(steward)
    frame.get_by_role("heading", name=TITLE).wait_for()
    assert frame.get_by_text("What is promised and what is not").count() == 1

    page = stakeholder.page
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 200
    assert page.locator("h1").inner_text() == TITLE
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("svg").count() == 1
    assert stakeholder.context.cookies() == []
    order = [
        "What came out",
        "How many people are",
        "What is promised and what is not",
        "How to read it",
        "Download",
        "How to cite it",
    ]
    assert page.locator("h2").all_inner_texts() == order

    page.get_by_role("group", name="Column").get_by_role("link").first.click()
    page.locator("select[name=q]").select_option(index=0)
    page.get_by_role("button", name="Ask").click()
    assert "Asked: age from" in page.locator("#answer").inner_text()
    assert re.search(r"\?lang=en&q=from-0%3D\d+#answer$", page.url)

    page.get_by_text("More conditions").click()
    page.get_by_label("from", exact=True).fill("20")
    page.get_by_label("to below", exact=True).fill("40")
    page.get_by_role("button", name="How many rows?").click()
    said = page.locator("#answer").inner_text()
    assert re.search(
        r"About [\d,]+ people\.\s+The true number lies between [\d,]+ and [\d,]+", said
    ), said
    assert page.get_by_label("from", exact=True).input_value() == "20"
    page.get_by_label("from", exact=True).fill("900")
    page.get_by_role("button", name="How many rows?").click()
    assert "is not a boundary between cells" in page.locator("#answer").inner_text()

    page.goto(address)
    with page.expect_download() as started:
        page.get_by_role("link", name="The release with its model").click()
    file = folder / "release.json"
    started.value.save_as(file)
    release = dp.read_release(file)
    for name in (
        "Counts with their intervals (CSV)",
        "Counts with their intervals (JSON)",
        "Drawn rows (CSV)",
        "Drawn rows (Excel)",
        "Drawn rows (Parquet)",
        "The guarantee",
    ):
        with page.expect_download() as started:
            page.get_by_role("link", name=name).click()
        assert Path(started.value.path()).stat().st_size > 100
    assert page.pdf().startswith(b"%PDF")
    # on paper is the table that its reader has opened, and there is nothing to press
    page.emulate_media(media="print")
    assert page.locator("figure table").first.bounding_box() is None
    page.emulate_media(media="screen")
    page.locator("figure summary").first.click()
    page.emulate_media(media="print")
    box = page.locator("figure table").first.bounding_box()
    assert box is not None
    assert box["height"] > 100
    assert not page.get_by_role("button").first.is_visible()
    page.emulate_media(media="screen")

    steward.press("Revoke").sees("revoked")
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 404
    assert "This link does not work" in page.content()
    unknown = page.goto(address[:-10] + "A" * 10)
    assert unknown is not None
    assert unknown.status == 404

    again = link_of(steward.press("Make again").sees("Copy it now"))
    assert again != address
    answer = page.goto(again)
    assert answer is not None
    assert answer.status == 200
    assert release.to_json() == json.dumps(json.loads(file.read_text()))
    assert stakeholder.outside == []
    stakeholder.close()


def test_a_file_becomes_a_report_without_database(browser, tmp_path: Path) -> None:
    """Somebody with the file alone opens it where there is no ledger, asks, and keeps
    the report.
    """
    import numpy as np
    import pandas as pd

    schema = dp.Schema(
        columns=(dp.Integer("age", low=0, high=99, bin_width=10),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    frame = pd.DataFrame({"age": np.arange(500) % 90})
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger()
    )
    text = curator.run(dp.Histogram("age"), dp.PureDP(epsilon="1")).to_json()
    with serving(DATABASE_URL="postgresql://nobody@127.0.0.1:9/none") as server:
        person = Person(browser, server).visit("ledger")
        person.page.get_by_text("Open a release").click()
        file = {
            "name": "release.json",
            "mimeType": "application/json",
            "buffer": text.encode(),
        }
        person.page.get_by_test_id("stExpanderDetails").locator(
            "input[type=file]"
        ).set_input_files(file)
        person.sees("The file is complete").rest()
        framed(person).get_by_text("What is promised").first.wait_for()
        person.sees("About ")
        with person.page.expect_download() as started:
            person.button("Download as one HTML file").click()
        report = Path(started.value.path()).read_text(encoding="utf-8")
        assert "<script" not in report
        assert "Histogram of age" in report
        assert person.outside == []
        broken = {
            **file,
            "buffer": text.replace('"epsilon": "1"', '"epsilon": "1/9"').encode(),
        }
        person.page.get_by_test_id("stExpanderDetails").locator(
            "input[type=file]"
        ).set_input_files(broken)
        person.sees("altered after it was made")
        person.close()


def test_nine_columns_fit_on_four_sheets(browser, tmp_path: Path) -> None:
    """A page of nine columns was printed on fifteen sheets."""

    from workbench.report import of_release
    from workbench.samples import census

    frame = census()
    schema = dp.suggest_schema(frame)
    names = schema.domain.names[:9]
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="3"), ledger=dp.MemoryLedger()
    )
    recipe = dp.Marginals(cliques=[(name,) for name in names])
    release = curator.run(recipe, loss=dp.PureDP(epsilon="1"))
    file = tmp_path / "nine.html"
    file.write_bytes(of_release.stand_alone_page(release))
    page = browser.new_page()
    page.goto(file.as_uri())
    printed = page.pdf(format="A4")
    page.close()
    assert len(release.marginals) == 9
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 4
