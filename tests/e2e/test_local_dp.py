"""From the design of a survey to its decoded estimate, in a real browser."""

from __future__ import annotations

import csv
import json
from typing import Any

from tests.e2e.browser import PHONE, Person


def part(person: Person, name: str) -> Person:
    """Choose one of the parts of the page."""
    person.page.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).click()
    return person.rest()


def fill(person: Person, label: str, value: str) -> None:
    box = person.page.get_by_label(label, exact=True)
    box.fill(value)
    box.press("Control+Enter" if label.startswith("Possible") else "Enter")
    person.rest()


def test_from_design_to_estimate(visitor, server, browser):
    """A step between the question and its estimate would be missing: links, answers,
    key, or decoding.
    """
    person = visitor("local_dp")
    fill(person, "Question", "Tea or <b>coffee</b>?")
    fill(person, "Possible answers, one per line", "tea\ncoffee\nneither")
    fill(person, "exactly", "8")
    fill(person, "People who answer", "12")
    person.press("Make 12 links").sees("they cannot be shown again").sees(
        "work only on this computer"
    )
    with person.page.expect_download() as waiting:
        person.button("Links (CSV)").click()
    links = [
        row["link"]
        for row in csv.DictReader(waiting.value.path().read_text().splitlines())
    ]
    assert len(links) == 12
    assert all(link.startswith(f"{server.url}/answer/") for link in links)
    somebody_answers(browser, {**dict.fromkeys(links[:8], "coffee"), links[8]: "tea"})
    part(person, "Read the answers")
    person.sees("9 / 12").sees("Tea or <b>coffee</b>?").sees("Most people said coffee")
    with person.page.expect_download() as waiting:
        person.button("Reports as JSON lines").click()
    lines = waiting.value.path().read_text().splitlines()
    assert len(lines) == 9
    person.press("Close").press("Close the survey").sees("closed")
    late = browser.new_page()
    assert late.goto(links[10]).status == 404
    late.close()
    part(person, "Reports as JSON lines, one per answer")
    file = {
        "name": "r.jsonl",
        "mimeType": "application/json",
        "buffer": "\n".join(lines).encode(),
    }
    person.page.locator("input[type=file]").set_input_files(file)
    person.sees("9 reports by").rest()


def somebody_answers(browser: Any, said: dict[str, str]) -> None:
    """People who share a phone open a link each and answer; what leaves is what they
    were shown.
    """
    context = browser.new_context(**PHONE)
    page = context.new_page()
    posted: list[str] = []
    page.on(
        "request",
        lambda each: posted.append(each.post_data) if each.method == "POST" else None,
    )
    for link, label in said.items():
        posted.clear()
        page.goto(link)
        page.get_by_text("Tea or <b>coffee</b>?").wait_for()
        page.get_by_label(label, exact=True).check()
        page.get_by_role("button", name="Change it at random").click()
        shown = json.loads(page.locator("#report").inner_text())
        page.get_by_role("button", name="Send this").click()
        page.get_by_text("Sent. Thank you").wait_for()
        assert [json.loads(each) for each in posted] == [shown]
    context.close()
