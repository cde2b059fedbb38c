"""Two files about the same people, from the first page to a judged release."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from tests.e2e.browser import PHONE, Person
from tests.e2e.looks import charts_beyond, cut_texts, skipped_headings, too_wide

MOST_CLICKS = 9
"""From two files to a judged release; each choice of a file is one."""


def two_files(number: int) -> tuple[bytes, bytes]:
    """People and their events, which no other test has."""
    rng = np.random.default_rng(number)
    keys = np.array([f"p{i:05d}" for i in range(2_000 + number)])
    people = pd.DataFrame(
        {
            "patient": keys,
            "sex": rng.choice(["F", "M"], len(keys)),
            "age": rng.integers(0, 90, len(keys)),
        }
    )
    owners = np.repeat(keys, rng.integers(0, 5, len(keys)))
    events = pd.DataFrame(
        {
            "patient": owners,
            "ward": rng.choice(["surgery", "medicine", "children"], len(owners)),
            "nights": rng.integers(1, 15, len(owners)),
        }
    )
    return people.to_csv(index=False).encode(), events.to_csv(index=False).encode()


class CountedClicks:
    """A person whose clicks are counted."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.clicks = 0

    def click(self, name: str, then: str) -> None:
        """Press a button, and wait for a text."""
        self.person.click(self.person.button(name))
        self.clicks += 1
        self.person.sees(then).rest()

    def choose_file(self, label: str, content: bytes, name: str, then: str) -> None:
        """Choose a file for a field."""
        self.person.bring(content, name, label)
        self.clicks += 1
        self.person.sees(then).rest()


def release_both(person: Person, number: int) -> int:
    """Come from two files to a judged release; return the number of clicks."""
    people, events = two_files(number)
    counted = CountedClicks(person)
    counted.choose_file("A table to share", people, "patients.csv", "What is it for?")
    together = "How the files belong together"
    counted.choose_file("The second file", events, "stays.csv", together)
    looks_right(person, "declared")
    cap = person.page.get_by_role("radiogroup", name="Maximum number of rows")
    cap.get_by_role("radio", name="3", exact=True).click()
    counted.clicks += 1
    person.rest()
    counted.click("Leave out what does not fit", "What is publicly known")
    keys = person.page.get_by_role("radiogroup", name="Keys such as 007 and 7")
    keys.get_by_text("are two people").click()
    counted.clicks += 1
    person.rest()
    counted.click("See what you would get", "What you would get")
    looks_right(person, "planned")
    counted.click("Release for", "This cannot be undone")
    counted.click("Pay and release", "What is promised and what is not")
    looks_right(person, "released")
    counted.click("Compare with the original", "Two events of one person")
    looks_right(person, "judged")
    return counted.clicks


def looks_right(person: Person, where: str) -> None:
    assert not too_wide(person), where
    assert skipped_headings(person) == [], where
    assert cut_texts(person) == [], where
    assert charts_beyond(person) == [], where


@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desk", "phone"])
def test_two_files_are_judged_in_nine_clicks(visitor, server, screen) -> None:
    """Somebody with patients and stays would give up on the way, or pay twice."""
    before = server.releases()
    person = visitor(**screen)
    assert release_both(person, 1 + bool(screen)) <= MOST_CLICKS
    # the cells that were found privately count as one more
    paid = server.releases()
    assert paid - before in (2, 3)
    person.page.reload()
    person.sees("How good is it?").rest()
    assert server.releases() == paid
    person.go("Synthesize").press("Open People and their events")
    person.sees("Events of a person").sees("one person with all rows in both tables")
    person.page.reload()
    person.sees("Events of a person")


@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desk", "phone"])
def test_a_pair_is_audited_and_made_safer(visitor, screen) -> None:
    """What two events tell about a patient would be seen on no screen."""
    person = visitor(**screen)
    people, events = two_files(5 + bool(screen))
    person.bring(people, "patients.csv", "A table to share")
    person.sees("What is it for?").rest()
    person.bring(events, "stays.csv", "The second file")
    person.sees("How the files belong together").rest()
    cap = person.page.get_by_role("radiogroup", name="Maximum number of rows")
    cap.get_by_role("radio", name="3", exact=True).click()
    person.rest()
    person.press("Leave out what does not fit")
    keys = person.page.get_by_role("radiogroup", name="Keys such as 007 and 7")
    keys.get_by_text("are two people").click()
    person.rest()
    person.press("Open the data set").press("Audit: is it anonymous?")
    person.sees("The change that helps most").rest()
    looks_right(person, "audited")
    person.press("Make it safer").sees("People left out, at most").rest()
    person.press("Make both anonymized tables").sees("The smallest group has").rest()
    looks_right(person, "anonymized")
    person.press("Evaluate").sees("Two events of one person").sees("People left out")
    person.rest()
    looks_right(person, "anonymized and judged")


@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desk", "phone"])
def test_a_stakeholder_sees_both_tables(visitor, server, screen, tmp_path) -> None:
    """Whoever has the link would see half, or join tables that do not fit."""
    owner = visitor(**screen)
    release_both(owner, 11 + bool(screen))
    owner.go("Synthesize").press("Open People and their events")
    owner.sees("Events of a person").press("Show it to somebody")
    owner.sees("The page behind the link").rest()
    title = owner.page.get_by_label("Title")
    title.fill("Patients and their stays")
    title.press("Enter")
    owner.rest().page.get_by_text("Also an interactive page").click()
    owner.rest().press("Make the link").sees("Copy it now").rest()
    address = owner.page.locator("code").first.inner_text()
    page = owner.page.context.new_page()

    def fits() -> bool:
        return page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )

    page.goto(address)
    assert re.search(
        r"[\d,]+ people and [\d,]+ events were counted", page.inner_text(".lead")
    )
    assert fits()
    tables = {}
    for view in ("people", "events"):
        with page.expect_download() as download:
            page.get_by_role("link", name=f"Drawn {view} (CSV)").click()
        download.value.save_as(tmp_path / f"{view}.csv")
        tables[view] = pd.read_csv(tmp_path / f"{view}.csv")
    assert set(tables["events"]["patient"]) <= set(tables["people"]["patient"])
    assert tables["people"]["patient"].is_unique
    page.get_by_role("group", name="Table").get_by_role("link", name="Events").click()
    page.get_by_role("heading", name="How many events are").wait_for()
    page.get_by_role("link", name="ward", exact=True).click()
    page.get_by_role("button", name="Ask").click()
    assert re.search(r"About [\d,]+ events\.", page.inner_text("#answer"))
    assert fits()
    for view in ("people", "events"):
        page.goto(address)
        page.get_by_role("link", name=f"Explore {view}").click()
        bar = page.locator(".explore button.bar").first
        bar.click()
        assert re.search(rf"About [\d,]+ of [\d,]+ {view}", page.inner_text(".chosen"))
        assert fits()


def bring_at_once(person: Person, *files: tuple[str, bytes]) -> Person:
    """Choose several files for the field of the first page."""
    place = person.page.get_by_test_id("stFileUploader")
    place = place.filter(has_text="A table to share")
    place.locator("input[type=file]").set_input_files(
        [
            {"name": name, "mimeType": "text/csv", "buffer": content}
            for name, content in files
        ]
    )
    return person


@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desk", "phone"])
def test_files_at_once_are_a_pair_or_refused_by_name(visitor, screen) -> None:
    """Whoever drops two files would lose one; of three, nobody would know which."""
    people, events = two_files(21 + bool(screen))
    both = (("stays.csv", events), ("patients.csv", people))
    person = bring_at_once(visitor(**screen), *both, ("wards.csv", b"ward\nA\n"))
    person.sees("These are not two files: stays.csv, patients.csv, wards.csv").rest()
    looks_right(person, "refused")
    bring_at_once(person, *both).sees("How the files belong together").rest()
    person.sees("stays.csv, patients.csv")
    looks_right(person, "declared")


@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desk", "phone"])
def test_two_tables_are_planned_by_names(visitor, screen) -> None:
    """The plan of a pair would be cut off on a phone, or end on the way."""
    person = visitor(**screen)
    page = person.page
    page.get_by_text("Not allowed to upload the data?").click()
    person.rest()
    for label, names, button, then in (
        ("Names of the columns: one", "patient;sex", "Plan it", "a second table?"),
        (
            "Names of the columns of the second",
            "patient;ward",
            "Plan both tables",
            "How the tables belong together",
        ),
    ):
        page.get_by_label(label).fill(names)
        page.keyboard.press("Tab")
        person.rest().press(button).sees(then).rest()
        looks_right(person, button)
    person.sees("About how many people will there be?")
    person.sees("Choose a kind for at least one column of Table 1 and Table 2")
    assert person.button("See what you would get").is_disabled()
    person.press("Only Table 1").sees("a second table?")
