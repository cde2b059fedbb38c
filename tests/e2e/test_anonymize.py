"""From an upload to an anonymized table, in a real browser."""

from __future__ import annotations

import io
import json

import pandas as pd

from dpcore.io import read_table
from tests.e2e.audit import (
    sample,
    the_verdict_is_on_one_screen_and_a_click_takes_a_column_out,
)
from tests.e2e.browser import Person


def sliders(person: Person) -> list[str]:
    """What k and the suppression limit are at."""
    limit = (
        person.page.get_by_role("slider").first.get_attribute("aria-valuetext") or ""
    )
    box = person.page.get_by_role(
        "spinbutton", name="Everybody is in a group of at least"
    )
    return [box.input_value(), limit]


def choose_method(person: Person, name: str) -> None:
    """Choose another method than the suggested one, and wait for what it would
    bring.
    """
    person.page.get_by_role("combobox", name="Method", exact=True).click()
    person.page.get_by_role("option", name=name).click()
    person.rest().sees("The smallest group has")


def point(person: Person, k: int, limit: str):
    """A point of the frontier, drawn large enough to be hit."""
    return person.page.locator(
        (
            f"path[aria-roledescription=point][aria-label^='k: {k};'][aria-label*='at "
            f"most: {limit};']"
        ),
    ).first


def download(person: Person, name: str) -> bytes:
    with person.page.expect_download() as waiting:
        person.page.get_by_test_id("stDownloadButton").get_by_role(
            "button", name=name, exact=True
        ).click()
    return waiting.value.path().read_bytes()


def test_clicks_on_charts_choose_columns_and_a_point(visitor):
    """The frontier would be a picture, and the figures below would be about another
    k.
    """
    person = sample(visitor(), 1).go("Audit")
    the_verdict_is_on_one_screen_and_a_click_takes_a_column_out(person)
    person.go("Anonymize").sees("Click a point to choose it.")
    assert sliders(person) == ["5", "2\u202f%"]
    # no other point hides these
    for k, limit in ((10, "0\u202f%"), (3, "0\u202f%"), (25, "0\u202f%")):
        point(person, k, limit).click(force=True)
        person.rest().sees("Chosen: information loss")
        assert sliders(person) == [str(k), limit]
    person.sees("The smallest group has")
    person.page.get_by_text("birth_date").first.wait_for(state="attached")
    a_guided_example_can_be_read(person)
    a_hierarchy_is_exported_and_imported_again(person)


def test_the_first_screen_has_the_deed_and_methods_are_beside_each_other(visitor):
    """What a k costs, or the button, would be below the edge; that another method keeps
    more, nowhere.
    """
    person = sample(visitor(), 0).go("Anonymize")
    for text in ("What each k costs", "Make the anonymized table", "Method"):
        person.stands_on_one_screen(person.page.get_by_text(text).first, text)
    person.sees("The smallest group has")
    person.page.get_by_text("Compare the methods").first.click()
    person.press("Compare the methods").sees("does not hold numbers only")


def it_is_made_and_taken_away(person: Person) -> None:
    """A steward could not leave with a table that keeps its promise and the plan that
    makes it (Adult).
    """
    person.sees("The smallest group has")
    person.sees("combinations of levels; trying all of them takes about")
    # what is suggested depends on how fast the computer is
    choose_method(person, "full-domain:")
    person.press("Make the anonymized table").sees("The anonymized table is ready")
    plan = json.loads(download(person, "Plan (JSON, internal)"))
    assert plan["method"] == "full-domain"
    known = [name for name, role in plan["roles"].items() if role == "quasi-identifier"]
    assert set(plan["node"]) == set(known)
    table = pd.read_csv(
        io.BytesIO(download(person, "CSV")), dtype=str, keep_default_na=False
    )
    assert len(pd.read_parquet(io.BytesIO(download(person, "Parquet")))) == len(table)
    workbook = read_table(download(person, "Excel"), "anonymized.xlsx").frame
    assert workbook.shape == table.shape
    kept = table[(table[known] != "*").any(axis=1)]
    assert len(kept) >= 0.98 * len(table)
    assert kept.groupby(known).size().min() >= 5


def a_hierarchy_is_exported_and_imported_again(person: Person) -> None:
    """A hierarchy that was made with work could not be kept for the next table."""
    person.page.get_by_text("How values become coarser", exact=True).click()
    person.sees("Codes of one length")
    file = download(person, "How values become coarser (CSV)").decode()
    assert file.splitlines()[0].count(";") >= 2
    assert all(line.endswith(";*") for line in file.splitlines())
    offer = {"name": "zip.csv", "mimeType": "text/csv"}
    # the other one takes a plan
    upload = person.page.locator("input[type=file][accept*='.csv']")
    upload.set_input_files({**offer, "buffer": file.splitlines()[0].encode()})
    person.rest().sees("The file has no line for these values of the column")
    coarse = "\n".join(f"{line.split(';')[0]};010**;*" for line in file.splitlines())
    upload.set_input_files({**offer, "buffer": coarse.encode()})
    person.rest().sees("From a file")
    person.press("Undo").sees("Codes of one length")


def a_guided_example_can_be_read(person: Person) -> None:
    """A learner would find an empty fold."""
    person.page.get_by_text("A guided example").click()
    for text in (
        "Table: 6.1",
        "By zip: k = 4, l = 3, entropy l = 2.83.",
        "Table: 6.6b",
    ):
        person.sees(text)
