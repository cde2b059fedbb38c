"""Every page under a made-up language: brackets and full-width colons around every
message.

The table is Greek, so that whatever is left in Latin letters outside of brackets is
English that no catalogue can reach.
"""

from __future__ import annotations

import gettext
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.architecture.modules import ROOT
from tests.pages.tab import Tab
from workbench import session
from workbench.language import messages
from workbench.language.catalogues import languages
from workbench.ui import examples

SHOWN = {
    "label",
    "help",
    "body",
    "alt",
    "caption",
    "captions",
    "options",
    "placeholder",
    "text",
    "content",
    "heading",
    "delta",
    "description",
}
MARKUP = re.compile(
    r":material/\w+:|:[a-z-]+(?=\[)|</?\w+[^>]*>|&\w+;|#[0-9A-Fa-f]{6}|\b[0-9a-f]{8}\b"
)
SAME_EVERYWHERE = {
    "CSV",
    "Excel",
    "Parquet",
    "JSON",
    "csv",
    "UTC",
    "Python",
    "NCP",
    "TSV",
    "HTML",
}
OWN_NAMES = re.compile("|".join([*languages().values(), r"\(missing\)"]))
"""Languages in the switch; the label of a cell, as files have it."""
BOOK = {"zip", "age", "disease", "⟦chance⟧", "⟦columns⟧", "⟦cells⟧"}
BOOK |= {"⟦rows that would have to change⟧", ("⟦error as a share of an average cell⟧")}
"""Columns of the guided example, and of the lesson that names columns of the invented
census: data.
"""
GREEK = "\n".join(
    [
        "ηλικία,φύλο,πόλη",
        *(f"{20 + i % 50},{'ΓΑ'[i % 2]},{'ΑΒΓΔ'[i % 4]}" for i in range(200)),
    ],
).encode()


class Pseudo(gettext.NullTranslations):
    """Every message in brackets, with full-width colons before blanks."""

    def gettext(self, message: str) -> str:
        return "⟦" + message.replace(": ", "： ") + "⟧"

    def ngettext(self, one: str, many: str, number: int) -> str:
        return self.gettext(one if number == 1 else many)


class PseudoTab(Tab):
    """A tab whose buttons are found by their English words."""

    def button(self, label: str):
        found = [
            each for each in self.at.button if english(each.label).startswith(label)
        ]
        assert found, (
            f"no button {label!r} among {[each.label for each in self.at.button]}"
        )
        return found[0]

    def set(self, kind: str, label: str, value: object) -> Tab:
        next(
            each for each in self.at.get(kind) if english(each.label).startswith(label)
        ).set_value(
            value,
        ).run()
        return self


def english(text: str) -> str:
    return re.sub("[⟦⟧]", "", text).replace("：", ":")


def bare(text: str) -> list[str]:
    """Latin words outside of brackets."""
    text = MARKUP.sub(" ", OWN_NAMES.sub(" ", text))
    while (shorter := re.sub("⟦[^⟦⟧]*⟧", " ", text)) != text:
        text = shorter
    return [
        word
        for word in re.findall(r"[A-Za-z][A-Za-z]+", text)
        if word not in SAME_EVERYWHERE
    ]


def strings(message: Any, shown: bool = False) -> Iterator[str]:
    """What a person reads of an element: labels, texts, options, headings of tables and
    of charts.
    """
    for field, value in message.ListFields():
        seen = shown or field.name in SHOWN
        if field.message_type is not None:
            for each in value if field.is_repeated else [value]:
                if field.message_type.name == "MapEntry" or isinstance(each, str):
                    continue
                yield from strings(each, seen)
        elif field.cpp_type == field.CPPTYPE_STRING and field.name == "spec":
            yield from titles(json.loads(value))
        elif (
            field.cpp_type == field.CPPTYPE_STRING
            and field.type == field.TYPE_STRING
            and seen
        ):
            yield from value if field.is_repeated else [value]


def titles(spec: Any) -> Iterator[str]:
    """Titles in the specification of a chart."""
    if isinstance(spec, dict):
        if "field" in spec and "title" not in spec and "axis" not in spec:
            yield str(spec["field"])
        for key, value in spec.items():
            if key in ("x2", "y2"):  # the other end of a mark: it has no title
                continue
            if key == "title" and isinstance(value, str):
                yield value
            elif key not in ("datasets", "data"):
                yield from titles(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from titles(value)


def elements(block: Any) -> Iterator[Any]:
    for child in getattr(block, "children", {}).values():
        yield child
        yield from elements(child)


def words_of(element: Any) -> list[str]:
    """Headings and cells of a table as they are shown, and what its select boxes
    offer.
    """
    frame = element.value
    config = json.loads(getattr(element.proto, "columns", "") or "{}")
    if set(frame.columns) <= BOOK:
        return []
    found = []
    for name in frame.columns:
        said = config.get(name, {})
        found.append(str(said.get("label", name)))
        if said.get("type_config", {}).get("options") is None:
            found += [str(cell) for cell in frame[name] if isinstance(cell, str)]
        else:
            options = said["type_config"]["options"]
            found += [
                str(each.get("label", each)) if isinstance(each, dict) else str(each)
                for each in options
            ]
    return found


def english_left(tab: Tab) -> set[str]:
    """Everything on the page that no catalogue can reach."""
    assert not tab.at.exception, [each.value for each in tab.at.exception]
    found = set()
    for element in elements(tab.at._tree):
        proto = getattr(element, "proto", None)
        if proto is not None:
            found |= {text for text in strings(proto) if bare(text)}
        if element.type in ("arrow_data_frame", "table", "dataframe"):
            found |= {text for text in words_of(element) if bare(text)}
    return found


@pytest.fixture
def tab(own_ledger, monkeypatch) -> PseudoTab:
    examples.compute_results.cache_clear()
    monkeypatch.setattr(messages, "catalogue", lambda _language: Pseudo())
    monkeypatch.setattr(session, "language", lambda: "made-up")
    opened = PseudoTab()
    opened.at.run()
    return opened


PAGES = [path.stem for path in sorted((ROOT / "pages").glob("*.py"))]


def test_the_check_sees_bare_english() -> None:
    """The tests below would see nothing."""
    assert bare("⟦Rows⟧ and 3 %") == ["and"]
    assert bare("⟦a ⟦b⟧ c⟧ ηλικία :material/lock: :gray[⟦x⟧]") == []


def test_no_bare_english_without_a_table(tab) -> None:
    """A person who reads another language would meet English before anything is
    open.
    """
    assert {page: left for page in PAGES if (left := english_left(tab.go(page)))} == {}


def test_no_bare_english_at_work(tab) -> None:
    """SEEDS G9: a catalogue would leave English sentences between its own: a Greek
    table with one release.
    """
    tab.open(GREEK, "πίνακας.csv").go("synthesize").release()
    assert {page: left for page in PAGES if (left := english_left(tab.go(page)))} == {}


def test_errors_are_translated(tab) -> None:
    """What went wrong would be said in English."""
    tab.go("upload").upload(b"", "κενό.csv")
    assert tab.at.error
    assert english_left(tab) == set()
