"""What people do, in a real browser, from an upload to a release and back."""

from __future__ import annotations

import io
import json
import re

import pandas as pd
from playwright.sync_api import expect

from tests.e2e.audit import it_is_audited_and_printed
from tests.e2e.browser import Person, wait_until
from tests.e2e.test_anonymize import it_is_made_and_taken_away

RUN_SECONDS = 600
"""How long a paid run over many cells may take on a slow machine."""


def count(server, state: str) -> int:
    return sum(each == state for _id, each, _units in server.lines())


def open_for_release(person: Person, table: bytes) -> Person:
    return person.open(table).go("Synthesize").sees("What you would get")


def choose_something_slow(person: Person) -> None:
    """Choose a table of 290,000 cells, which takes some seconds to add noise to."""
    person.press("A few columns together")
    person.choose_columns("age", "income", "hours")
    person.page.get_by_text("all together, one table").click()
    person.rest()


def test_adult_from_upload_to_releases(visitor, adult):
    """The whole point: a real table, audited, anonymized, then a histogram, a marginal
    and a synthetic table, judged and on file.
    """
    person = visitor().open(adult, "adult.csv")
    it_is_audited_and_printed(person.go("Audit"))
    it_is_made_and_taken_away(person.go("Anonymize"))
    person.go("Synthesize")
    person.release().sees("in 95 of 100 cases").press("Release something else")
    person.press("A few columns together")
    person.choose_columns("age", "sex")
    person.rest().release().sees("Marginals: age × sex").press("Release something else")
    person.press("A whole table")
    person.page.get_by_text("drop the relations", exact=False).first.click()
    person.rest().release().sees("Draw a table")
    person.go("Evaluate").sees("is farthest from the original")
    # three releases at 0.5, and the cells of numbers that were found at the opening
    person.go("Ledger").sees("spent 50.62")


def test_one_release_is_paid_once_and_kept(visitor, table, server):
    """An impatient click would pay twice, or under another table's name; F5 would give
    a fresh budget; what was paid for could not be taken away; the address of a page
    would push the one before out of reach of the Back button.
    """
    person = visitor()
    table = three_tables_open(person, table)
    before = count(server, "reserved")
    person.button("Release for").click()
    person.button("Pay and release").dblclick()
    person.sees("What is promised").rest()
    assert count(server, "reserved") == before + 1
    person.sees("spent 16.67\u202f% · reserved 0\u202f% · left 83.33\u202f%")
    assert name_of_the_table(person) == "table2.csv"
    downloads_have_content(person)
    the_way_back_is_not_a_trap(person)
    person.page.reload()
    person.sees("What is promised").sees("rows not loaded: upload the file").go(
        "Ledger"
    )
    person.sees("spent 16.67\u202f% · reserved 0\u202f% · left 83.33\u202f%")
    person.page.goto(person.server.url)  # no address to come from: the list leads back
    person.sees("My data sets").rest().press("Continue with table2").sees("The rows")
    person.page.locator("input[type=file]").set_input_files(
        {"name": "table2.csv", "mimeType": "text/csv", "buffer": table},
    )
    person.sees("The data set is open").rest().press("Open Histogram of age")
    person.sees("What is promised").sees(
        "spent 16.67\u202f% · reserved 0\u202f% · left 83.33\u202f%"
    )


def downloads_have_content(person: Person) -> None:
    def download(name: str) -> bytes:
        with person.page.expect_download() as waiting:
            person.page.get_by_test_id("stDownloadButton").filter(
                has_text=name
            ).get_by_role("button").click()
        return waiting.value.path().read_bytes()

    person.press("Download")
    rows = pd.read_csv(io.BytesIO(download("Drawn rows (CSV)")))
    assert list(rows.columns) == ["age"]
    assert len(rows) > 100
    assert len(pd.read_parquet(io.BytesIO(download("Drawn rows (Parquet)")))) == len(
        rows
    )
    guarantee = json.loads(download("The guarantee (JSON)"))
    assert guarantee["guarantee"]["loss"]["epsilon"] == "5831/5000"
    person.page.keyboard.press("Escape")
    person.go("Ledger")
    ledger = json.loads(download("Ledger (JSON)"))
    assert [line["state"] for line in ledger["lines"]] == [
        "opened",
        *("outside",) * 4,
        "reserved",
        "committed",
    ]
    person.go("Synthesize").sees("What is promised")


def the_way_back_is_not_a_trap(person: Person) -> None:
    assert "release=" in person.page.url
    person.go("Ledger")
    assert "data=" in person.page.url
    for _step in range(2):
        person.page.go_back()
        person.rest()
    assert "synthesize" in person.page.url
    person.sees("What is promised")


def test_two_tabs_cannot_overspend_and_the_keyboard_is_enough(visitor, table):
    """Two tabs would spend the same remainder, or the refused one see a budget of
    before its click above the refusal; whoever uses no mouse could not release
    anything.
    """
    first = visitor().open(table)
    second = visitor()
    press_by_keyboard(first, "Release a histogram").sees("What you would get").rest()
    first.say_epsilon("2.5")
    press_by_keyboard(first, "Release for").sees("Pay and release").rest()
    open_for_release(second, table).say_epsilon("2.5")
    second.button("Release for").click()
    second.sees("Pay and release")
    press_by_keyboard(first, "Pay and release").sees("What is promised")
    second.button("Pay and release").click()
    second.sees("What to do:")
    assert "left" in second.page.get_by_test_id("stAlert").first.inner_text()
    second.sees("spent 70.97\u202f% · reserved 0\u202f% · left 29.03\u202f%")
    second.go("Ledger").sees(
        "spent 70.97\u202f% · reserved 0\u202f% · left 29.03\u202f%"
    )


def press_by_keyboard(person: Person, text: str) -> Person:
    """Tab to a button or link with this text, and press it."""
    person.page.locator("button, a").filter(has_text=text).first.wait_for()
    for _step in range(60):
        person.page.keyboard.press("Tab")
        tag, focused = person.page.evaluate(
            "[document.activeElement.tagName, document.activeElement.innerText || '']",
        )
        # a focused page body holds every text
        if tag in ("BUTTON", "A") and text in focused:
            person.page.keyboard.press("Enter")
            return person
    raise AssertionError(f"{text!r} cannot be reached with the Tab key")


def three_tables_open(person: Person, table: bytes) -> bytes:
    """With three or more tables open, people paid under another table's name; the last
    one.
    """
    for number in range(3):
        if number:
            person.press("Open another table")
        extra = b"".join(
            b"\n%d,F,A,%d,7" % (20 + i, i % 60) for i in range(40 * number)
        )
        last = table.rstrip() + extra
        person.upload(last, f"table{number}.csv")
        if person.page.get_by_text("no, other people").count():
            person.page.get_by_text("no, other people").click()
            person.rest()
        person.know_all()
        person.press("Open the data set").sees("The data set is open")
    for page in ("Audit", "Ledger", "Synthesize"):
        person.go(page)
        assert name_of_the_table(person) == "table2.csv", page
        expect(person.page).to_have_title(re.compile(rf"{page}.*Privacy Workbench"))
    return last


def name_of_the_table(person: Person) -> str:
    """The table that the header says is worked on."""
    return person.page.get_by_role(
        "combobox", name="Data set", exact=True
    ).input_value()


def test_what_breaks_off_a_page_does_not_break_off_a_run(visitor, table, server):
    """A release would be paid for and lost, or stay held for ever, when somebody goes
    to another page, loads it again or closes it; people would look at a page that seems
    to hang, or at an old ledger.
    """
    person = open_for_release(visitor(), table)
    choose_something_slow(person)
    for step, epsilon in (("other page", "0.5"), ("loaded again, then closed", "0.4")):
        reserved = count(server, "reserved")
        committed = count(server, "committed")
        stored = server.releases()
        person.say_epsilon(epsilon).button("Release for").click()
        person.button("Pay and release").click()
        person.sees("You may leave this page")
        person.page.get_by_role("progressbar").wait_for()
        wait_until(
            lambda before=reserved: count(server, "reserved") == before + 1,
            "it is reserved",
        )
        if step == "other page":
            person.go("Ledger")
        else:
            person.page.reload()
            person.page.get_by_test_id("stAppViewContainer").wait_for()
            person.page.close()
        wait_until(
            lambda before=committed: count(server, "committed") == before + 1,
            "it is committed",
            RUN_SECONDS,
        )
        assert server.releases() == stored + 1
        assert count(server, "reserved") == reserved + 1
        if step == "other page":
            # nobody clicked: the page looks by itself
            person.sees("reserved 0\u202f%")
            person.go("Synthesize").sees("What is promised").press(
                "Release something else"
            )
