"""From a file to a link in German and in Chinese, as browsers that prefer these
languages see it.
"""

from __future__ import annotations

import random
import re
import string
from typing import Any

import pytest

from tests.e2e.browser import PHONE, Person
from workbench.language.catalogues import catalogue
from workbench.samples import patients

CUT = """[...document.querySelectorAll("button, h1, h2, h3, h4, label, p, li, summary, a, th")].filter(each =>
  each.innerText?.trim() && each.innerText !== "Skip to main content" && each.offsetParent
  && each.scrollWidth > each.clientWidth + 1
  && getComputedStyle(each).overflowX !== "visible" && getComputedStyle(each).overflowX !== "auto"
).map(each => each.tagName + " " + each.innerText.slice(0, 80))"""
"""Texts of which a part cannot be seen, but for the link that Streamlit shows to
keyboards alone.
"""


def german_visits() -> bytes:
    """A hospital's file as German programs write it: semicolons, days, commas in
    numbers, and Latin-1.
    """
    chance = random.Random(0)
    diagnoses = [
        "Bluthochdruck",
        "Oberschenkelbruch",
        "Lungenentzündung",
        "Blinddarmentzündung",
    ]
    lines = ["Patientennummer;Nachname;Geschlecht;Geburtsdatum;PLZ;Diagnose;Kosten"]
    for number in range(1_250):
        day = f"{chance.randint(1, 28):02d}.{chance.randint(1, 12):02d}.{chance.randint(1930, 2015)}"
        name = chance.choice(["Müller", "Schäfer", "Groß", "Vogel"])
        place = chance.choice(["01067", "04109", "99084"])
        cost = f"{chance.randint(1, 9)}.{chance.randint(0, 999):03d},{chance.randint(0, 99):02d}"
        lines.append(
            f"{10_000 + number};{name};{chance.choice('mw')};{day};{place};{chance.choice(diagnoses)};{cost}",
        )
    return "\r\n".join(lines).encode("latin-1")


class Reader:
    """What the messages are in a language: the longest part of each without a field."""

    def __init__(self, language: str) -> None:
        self._catalogue = catalogue(language)

    def __call__(self, message: str) -> str:
        parts = string.Formatter().parse(self._catalogue.gettext(message))
        return max(
            (re.sub(r"[*:]", "", text).strip() for text, *_field in parts), key=len
        )


def walk(
    person: Person, reads: Reader, file: bytes, name: str, rows: str, language: str
) -> str:
    """Bring a file, release what is proposed, and make a link to it."""
    page = person.page
    assert page.evaluate("document.documentElement.lang") == language
    person.bring(file, name, reads("A table to share")).sees(rows).rest()
    person.sees(reads("1 · Who is protected?")).rest()
    cap = page.get_by_role(
        "radiogroup", name=reads("Maximum number of rows that count per person")
    )
    if cap.count() and not cap.get_by_role("radio", checked=True).count():
        cap.get_by_role("radio", name="1", exact=True).click()
        person.rest()
    person.press(reads("See what you would get")).sees(
        reads("What you would get")
    ).rest()
    person.button(reads("Release for {cost}")).click()
    person.button(reads("Pay and release")).click()
    person.sees(reads("What is promised and what is not")).rest()
    person.press(reads("Show it to somebody"))
    title = page.get_by_label(reads("Title"))
    title.fill("1990")
    title.press("Enter")
    person.rest().press(reads("Make the link"))
    code = page.locator("[data-testid=stCode] code").first
    code.wait_for()
    assert page.evaluate("document.documentElement.lang") == language
    return code.inner_text().strip()


@pytest.mark.parametrize(
    ("locale", "language", "file", "name", "rows"),
    [
        ("de-DE", "de", german_visits(), "Krankenhaus.csv", "1.250"),
        (
            "zh-CN",
            "zh-Hans",
            patients().to_csv(index=False).encode("gb18030"),
            "住院患者.csv",
            "2,000",
        ),
    ],
    ids=["de", "zh"],
)
def test_from_a_file_to_a_link(
    visitor: Any,
    browser: Any,
    locale: str,
    language: str,
    file: bytes,
    name: str,
    rows: str,
) -> None:
    """A person who reads no English would get stuck between their file and what they
    may show to others.
    """
    reads = Reader(language)
    person = visitor(locale=locale)
    address = walk(person, reads, file, name, rows, language)
    for asked, shown in ((address, language), (address + "?lang=en", "en")):
        reader = Person(browser, person.server, **PHONE, locale=locale)
        reader.page.goto(asked)
        assert reader.page.evaluate("document.documentElement.lang") == shown
        assert (
            Reader(shown)("What is promised and what is not")
            in reader.page.locator("main").inner_text()
        )
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert reader.page.evaluate(CUT) == []
        reader.close()


def test_the_switch_is_kept_in_the_address(visitor: Any) -> None:
    """A reload, or the next page, would be in the language before; a screen reader
    would speak English.
    """
    person = visitor()
    page = person.page
    page.get_by_test_id("stSidebar").get_by_role("combobox").click()
    page.get_by_role("option", name="Deutsch").click()
    page.wait_for_url("**lang=de**")
    person.rest()
    page.wait_for_function("document.documentElement.lang === 'de'")
    person.link(Reader("de")("Learn")).click()
    page.wait_for_url("**/learn?lang=de")
    page.wait_for_function("document.documentElement.lang === 'de'")
    page.reload()
    person.link(Reader("de")("Learn")).wait_for()


def test_no_german_text_is_cut_on_a_telephone(visitor: Any) -> None:
    """German words are long: the end of a label would lie outside of its button."""
    person = visitor(**PHONE, locale="de-DE")
    pages = (
        "audit",
        "anonymize",
        "synthesize",
        "local_dp",
        "links",
        "evaluate",
        "ledger",
        "codebook",
        "learn",
    )
    for path in ("", *pages):
        person.visit(path)
        assert person.page.evaluate("document.documentElement.scrollWidth") <= 390, path
        assert person.page.evaluate(CUT) == [], path
