"""Figures of a page with an id each, as AppTest sees them: fields of messages, tables,
metrics, charts.

A message is a template with named fields, so that "About {rows} rows." gives its number
the id "About {rows} rows.|rows" wherever it is shown. A table gives one id a column and
a chart one id a field: the heading above it and the name of the column. Digits that
stand in a template are static.
"""

from __future__ import annotations

import functools
import gettext
import io
import json
import math
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

from tests.pages.tab import Tab, page_within
from tests.pages.test_pseudo_locale import elements, strings
from workbench.language import messages
from workbench.ui import examples

OPEN, SHUT, MESSAGE, END = "⦃⦄⦅⦆"
# Hangul: printable, no Markdown, and in none of the tables
FIRST = 0xAC00
LAST = 0xD7A3
SIGNS = re.compile(f"[{OPEN}{SHUT}{MESSAGE}{END}{chr(FIRST)}-{chr(LAST)}]")
DIGIT = re.compile(r"\d")
NAMED = "{name}: {text}|"
"""The ids of what is said of a name begin with that name."""
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
ROUNDED = {
    "under 0.1 %": lambda share: 0 < share < 0.001,
    "under 1 %": lambda share: 0 < share < 0.01,
    "over 99 %": lambda share: 0.99 < share < 1,
    "fewer than 11": lambda people: 1 <= people <= 10,
}
WIDGETS = {
    "multiselect",
    "selectbox",
    "number_input",
    "slider",
    "select_slider",
    "text_input",
    "radio",
}
"""Their options and values are choices of the person; what they say of the table is in
messages.
"""


@dataclass(frozen=True)
class Figure:
    """A figure of a page.

    Attributes:
        id: template and field of a message, or heading and column of a table or chart.
        shown: the text of a field; a tuple of cells for a column of a table or chart.
    """

    id: str
    shown: str | tuple[Any, ...]


class Marking(gettext.NullTranslations):
    """English with a mark around every message and around every field in it."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self._made: dict[str, str] = {}

    def gettext(self, message: str) -> str:
        """The message with its marks."""
        if message not in self._made:
            self._made[message] = MESSAGE + "".join(self._parts(message)) + END
        return self._made[message]

    def ngettext(self, one: str, many: str, number: int) -> str:
        """The form of many with its marks, whatever the number, so that a figure has
        one id.
        """
        return self.gettext(many)

    def _parts(self, message: str) -> Iterator[str]:
        for literal, field, spec, conversion in string.Formatter().parse(message):
            yield literal.replace("{", "{{").replace("}", "}}")
            if field is not None:
                sign = chr(FIRST + len(self.ids))
                self.ids.append(f"{message}|{field}")
                rest = ("!" + conversion if conversion else "") + (
                    ":" + spec if spec else ""
                )
                yield f"{OPEN}{sign}{{{field}{rest}}}{SHUT}"


@pytest.fixture
def marking(monkeypatch: pytest.MonkeyPatch) -> Marking:
    """Messages with marks in all pages that are drawn from now on."""
    marks = Marking()
    monkeypatch.setattr(messages, "catalogue", lambda _language: marks)
    # what a guarantee holds is compared whole
    monkeypatch.setattr(messages, "_translate_stored", str)
    monkeypatch.setattr(
        examples,
        "compute_results",
        functools.cache(examples.compute_results.__wrapped__),
    )
    return marks


class MarkedTab(Tab):
    """A tab whose widgets are found by their labels without marks."""

    def button(self, label: str) -> Any:
        """The first button whose label begins with `label`."""
        return next(
            each
            for each in self.at.button
            if bare(each.label).casefold().startswith(label.casefold())
        )

    def words_of(self, label: str) -> str:
        """Return a label without marks."""
        return bare(label)

    def set(self, kind: str, label: str, value: object) -> Tab:
        """Give the first widget of a kind with this label a value."""
        label = label.lower()  # a mark comes before the capital
        widgets = (
            each
            for each in self.at.get(kind)
            if bare(each.label).lower().startswith(label)
        )
        next(widgets).set_value(value).run()
        return self


def bare(text: str) -> str:
    """A text as a person reads it: without marks, Markdown's escapes and narrow
    blanks.
    """
    return re.sub(r"\\([^A-Za-z0-9\s])", r"\1", SIGNS.sub("", text)).replace(
        "\u202f", " "
    )


def figures(tab: Tab, marks: Marking) -> list[Figure]:
    """Every figure of the page that `tab` shows, in the order of the page."""
    assert not tab.at.exception, [each.value for each in tab.at.exception]
    seen: list[Figure] = []
    heading = ""
    for element in elements(tab.at._tree):
        proto = getattr(element, "proto", None)
        if proto is None:
            continue
        if element.type in ("title", "header", "subheader"):
            heading = template(str(element.value), marks)
        if element.type in ("arrow_data_frame", "dataframe", "table"):
            seen += [
                Figure(f"{heading} > {name}", cells)
                for name, cells in columns_of(element)
                if any(DIGIT.search(str(cell)) for cell in cells)
            ]
        elif type(proto).__name__ == "VegaLiteChart":
            seen += [
                Figure(f"{heading} > {name}", cells) for name, cells in data_of(proto)
            ]
        elif element.type == "metric":
            label = template(proto.label, marks)
            texts = {"value": bare(proto.body), "delta": bare(proto.delta)}
            seen += [
                Figure(f"{label} > {part}", text)
                for part, text in texts.items()
                if DIGIT.search(text)
            ]
        elif element.type == "code" and DIGIT.search(bare(element.value)):
            seen.append(Figure(f"{heading} > code", bare(element.value)))
        elif element.type == "iframe":
            seen += of_html(page_within(element), marks)
        elif element.type not in WIDGETS:
            label = template(getattr(proto, "label", "") or "", marks)
            for text in strings(proto):
                seen += of_text(text, marks, label or heading)
    return list(dict.fromkeys(seen))


def of_text(text: str, marks: Marking, context: str) -> Iterator[Figure]:
    """Fields with digits of a text; digits outside of all messages have the label of
    their element as id.
    """
    stack: list[tuple[str, int]] = []
    depth = 0
    loose = ""
    place = 0
    named = ""
    while place < len(text):
        sign = text[place]
        if sign == OPEN and place + 1 < len(text):
            stack.append((marks.ids[ord(text[place + 1]) - FIRST], place + 2))
            place += 1
        elif sign == SHUT and stack:
            name, start = stack.pop()
            inside = text[start:place]
            if name == NAMED + "name":
                named = bare(inside)
            elif DIGIT.search(bare(inside)) and OPEN not in inside:
                yield Figure(name.replace(NAMED, f"{named}: |"), bare(inside))
        elif sign == MESSAGE:
            depth += 1
        elif sign == END:
            depth -= 1
        elif depth <= 0 and not stack:
            loose += sign
        place += 1
    if DIGIT.search(loose := bare(re.sub(r":material/\w+:|<[^>]*>", "", loose))):
        yield Figure(f"{context} > value", loose.strip())


class Reading(HTMLParser):
    """A page without scripts: its texts, and of each `<figure>` the table and the
    shapes that are drawn.
    """

    TEXTS = frozenset(
        ["p", "li", "h1", "h2", "figcaption", "summary", "label", "td", "th", "text"]
    )

    def __init__(self, marks: Marking) -> None:
        super().__init__()
        self.marks = marks
        self.seen = list[Figure]()
        self._open: list[list[str]] = []
        self._begin()

    def _begin(self) -> None:
        self._texts = list[str]()
        self._names = list[str]()
        self._cells = list[str]()
        self._shapes: dict[str, list[tuple[Any, ...]]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "figure":
            self._end()
        self._texts += [
            given[name] for name in ("aria-label", "placeholder") if name in given
        ]
        if tag in ("rect", "line"):
            sides = (
                ("x", "y", "width", "height")
                if tag == "rect"
                else ("x1", "y1", "x2", "y2")
            )
            shape = (
                *(float(given[side]) for side in sides),
                float(given.get("fill-opacity", 1)),
            )
            self._shapes.setdefault(given["class"], []).append(shape)
        if tag in self.TEXTS:
            where = f"{given['x']} {given['y']} " if tag == "text" else ""
            self._open.append([tag, where])

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1][1] += data

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1][0] == tag:
            _tag, text = self._open.pop()
            text = text.strip()
            if tag == "text":
                x, y, sign = [*text.split(" ", 2), ""][:3]
                if DIGIT.search(bare(sign)):
                    self._shapes.setdefault("sign", []).append(
                        (float(x), float(y), bare(sign))
                    )
            else:
                {"th": self._names, "td": self._cells}.get(tag, self._texts).append(
                    text
                )
        if tag in ("figure", "html"):
            self._end()

    def _end(self) -> None:
        """All of a figure, by the columns of its table that are no message."""
        before = " × ".join(bare(name) for name in self._names if MESSAGE not in name)
        before = before and f"{before}: "
        for text in self._texts:
            self.seen += [
                Figure(before + each.id, each.shown)
                for each in of_text(text, self.marks, "page")
            ]
        for place, name in enumerate(self._names):
            cells = tuple(map(bare, self._cells[place :: len(self._names)]))
            if any(map(DIGIT.search, cells)):
                self.seen.append(Figure(before + template(name, self.marks), cells))
        self.seen += [
            Figure(f"{before}drawn {kind}", tuple(each))
            for kind, each in self._shapes.items()
        ]
        self._begin()


def of_html(page: str, marks: Marking) -> list[Figure]:
    """Every figure of a page of HTML, drawn ones too, once each."""
    reading = Reading(marks)
    reading.feed(
        re.sub("<style>.*?</style>|<title>.*?</title>", "", page, flags=re.DOTALL)
    )
    return list(dict.fromkeys(reading.seen))


def template(text: str, marks: Marking) -> str:
    """A text of a page with its fields by their names."""
    whole = re.sub(
        f"{OPEN}(.)[^{OPEN}{SHUT}]*{SHUT}",
        lambda hit: "{" + _name(hit[1], marks) + "}",
        text,
    )
    return bare(whole)


def _name(sign: str, marks: Marking) -> str:
    return marks.ids[ord(sign) - FIRST].rpartition("|")[2]


def columns_of(element: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Heading and cells of each column of a table."""
    config = json.loads(getattr(element.proto, "columns", "") or "{}")
    frame = element.value
    for name in frame.columns:
        label = config.get(name, {}).get("label") or name
        yield bare(str(label)), tuple(_cell(cell) for cell in frame[name])


def data_of(proto: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Name and values of each field that a chart draws, from the data it was sent."""
    spec = json.loads(proto.spec)
    drawn = dict(_encoded(spec))
    for each in proto.datasets:
        frame = pa.ipc.open_stream(io.BytesIO(each.data.data)).read_pandas()
        for name in frame.columns:
            if name in drawn:
                yield bare(drawn[name]), tuple(_cell(cell) for cell in frame[name])


def _encoded(spec: Any) -> Iterator[tuple[str, str]]:
    """Fields of a chart with their titles."""
    if isinstance(spec, dict):
        if isinstance(spec.get("field"), str):
            yield spec["field"], str(spec.get("title") or spec["field"])
        for key, value in spec.items():
            if key != "datasets":
                yield from _encoded(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from _encoded(value)


def _cell(cell: Any) -> Any:
    return bare(cell) if isinstance(cell, str) else cell


def rounded(true: Iterable[float]) -> Callable[[Any], bool]:
    """Whether numbers are these to nine digits, as charts have them, or to three, as
    their tables do.
    """
    values = [float(each) for each in true]
    units = [
        10.0 ** (math.floor(math.log10(abs(each) + 1e-12)) - 2) + 1e-9
        for each in values
    ]
    return lambda shown: (
        agrees(shown, values)
        or (
            len(shown) == len(values)
            and all(
                abs(each - true) <= 0.5000001 * unit
                for each, true, unit in zip(shown, values, units, strict=True)
            )
        )
    )


def agrees(shown: Any, true: Any) -> bool:
    """Whether a shown figure is the true one to the digits that are shown; texts and
    lists must be equal.

    `true` may be a function of what is shown, where a sentence has more than one right
    form.
    """
    if callable(true):
        return bool(true(shown))
    if isinstance(true, (list, tuple)):
        return len(shown) == len(true) and all(map(agrees, shown, true))
    if isinstance(true, str) or isinstance(shown, bool) or true is None:
        return bool(shown == true)
    if not isinstance(shown, str):
        return math.isclose(float(shown), float(true), rel_tol=1e-9, abs_tol=1e-9)
    for words, holds in ROUNDED.items():
        if shown.startswith(words):
            return holds(float(true))
    hit = NUMBER.search(shown)
    if hit is None:
        return False
    text = hit[0].replace(",", "")
    unit = 0.01 if shown[hit.end() :].lstrip().startswith("%") else 1.0
    step = 10.0 ** -len(text.partition(".")[2])
    return abs(float(text) - float(true) / unit) <= step * 0.5000001


def check(
    seen: Iterable[Figure],
    facts: Mapping[str, Callable[[Any], Any]],
    static: Iterable[str],
    truth: Any,
) -> set[str]:
    """Compare every figure with what `facts` compute from the raw table; the ids that
    were compared.

    Args:
        seen: figures of a page.
        facts: id -> what is true, computed from `truth` by other code than the page's.
        static: ids that say nothing of the table or of a release, such as a threshold
            that was chosen.
        truth: the raw table, the release, and whatever else the facts need.
    """
    nameless = []
    wrong = []
    compared = set()
    for figure in seen:
        if figure.id in facts:
            compared.add(figure.id)
            true = facts[figure.id](truth)
            if not agrees(figure.shown, true):
                wrong.append((figure.id, figure.shown, true))
        elif figure.id not in static:
            nameless.append((figure.id, figure.shown))
    assert not nameless, f"figures that no test recomputes: {nameless}"
    assert not wrong, f"figures that are not true (id, shown, true): {wrong}"
    return compared
